# --embedder: files of any kind through a program, which may crash, hang or lie (docs/embedders.md).

bats_require_minimum_version 1.5.0

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    export XDG_CACHE_HOME=$BATS_TEST_TMPDIR/cache
    program="/usr/bin/python3 $BATS_TEST_DIRNAME/../embedder.py --log $BATS_TEST_TMPDIR/log"
    mkdir -p known/vowels known/hisses new
    for i in 1 2 3; do
        printf 'aeiou %*s aeiu' "$i" '' >"known/vowels/$i.txt"
        printf 'sszz %*s zsss' "$i" '' >"known/hisses/$i.txt"
    done
    echo "iou aea" >new/one.txt
    echo "zszs sz" >new/two.md
    echo "ssszzz" >new/three
}

# starts: how often the program was started; files: for how many files it was asked.
starts() { grep -c '^start' log; }
files() { grep -c '^file' log; }

# classify OPTION...: the answers, as NAME CLASS.
classify() {
    "$IMP" classify --support known new --embedder "$program $1" --json "${@:2}" |
        /usr/bin/python3 -c 'import json, os, sys
for p in sorted(json.load(sys.stdin)["pictures"], key=lambda p: p["picture"]):
    print(os.path.basename(p["picture"]), p["answer"])'
}

right="one.txt vowels
three hisses
two.md hisses"

@test "text files are classified and clustered" {
    [ "$(classify)" = "$right" ]
    run --separate-stderr "$IMP" cluster known --embedder "$program"
    [ "$status" -eq 0 ]
    [[ $output == "imp: 2 groups of 6 files"* ]]
    [[ $output == *"purity   1.000000"* ]]
    "$IMP" cluster known --embedder "$program" --copy-to sorted --html page.html >/dev/null
    [ "$(find sorted -type f | wc -l)" -eq 6 ]
    grep -q "aeiou" page.html
}

@test "vectors are those that the program gives, scaled to length 1" {
    "$IMP" embed new -o x.npy --embedder "$program" 2>/dev/null
    /usr/bin/python3 - <<'CHECK'
import numpy
x, names = numpy.load("x.npy"), open("x.txt").read().split()
assert names == ["new/one.txt", "new/three", "new/two.md"], names
for row, name in zip(x, names):
    text = open(name).read()
    counts = numpy.array([text.count(c) for c in "abcdefghijklmnopqrstuvwxyz"], float)
    assert abs(row - counts / numpy.linalg.norm(counts)).max() < 1e-6
CHECK
}

@test "what was embedded before is not asked for again, whatever it is called" {
    classify >/dev/null
    [ "$(starts)" -eq 1 ] && [ "$(files)" -eq 9 ]
    mv known renamed && mv renamed known && cp new/one.txt new/same.txt
    [ "$(classify | grep -v same)" = "$right" ]
    [ "$(files)" -eq 9 ]
    echo "sss" >new/three # another content
    classify >/dev/null
    [ "$(files)" -eq 10 ]
    classify "--version 2" >/dev/null # another embedder
    [ "$(files)" -eq 20 ]
    classify "" --no-cache >/dev/null
    [ "$(files)" -eq 30 ]
}

@test "a program that names its files is not even started, until they change" {
    echo 1 >weights
    classify "--files weights" >/dev/null
    [ "$(starts)" -eq 1 ]
    [ "$(classify "--files weights")" = "$right" ]
    [ "$(starts)" -eq 1 ]
    echo 22 >weights
    classify "--files weights" >/dev/null
    [ "$(starts)" -eq 2 ]
    rm weights
    classify "--files weights" >/dev/null
    [ "$(starts)" -eq 3 ]
}

@test "several commands use the cache at once" {
    for i in 1 2 3 4 5 6; do
        mkdir "many$i"
        for k in 1 2 3 4 5 6 7 8; do echo "text $i $k abc" >"many$i/$k.txt"; done
    done
    for i in 1 2 3 4 5 6; do
        "$IMP" embed "many$i" -o "$i.npy" --embedder "$program --batch 1" 2>/dev/null &
    done
    wait
    [ "$(files)" -eq 48 ]
    for i in 1 2 3 4 5 6; do
        "$IMP" embed "many$i" -o "again.npy" --embedder "$program --batch 1" 2>/dev/null
        cmp "$i.npy" again.npy
    done
    [ "$(files)" -eq 48 ] # nobody's vectors were lost
}

@test "a damaged cache is no harm" {
    classify >/dev/null
    for file in cache/imp/embeddings/*.vectors; do
        size=$(stat -c %s "$file")
        printf x | dd of="$file" bs=1 seek=100 conv=notrunc 2>/dev/null
        truncate -s $((size - 5)) "$file"
    done
    [ "$(classify)" = "$right" ]
    [ "$(files)" -eq 11 ] # one was damaged, one cut
    [ "$(classify)" = "$right" ]
    [ "$(files)" -eq 11 ]
    echo nonsense >"$file"
    [ "$(classify)" = "$right" ]
    [ "$(files)" -eq 20 ]
    rm -r cache && echo "no folder" >cache
    [ "$(classify)" = "$right" ]
}

# fails STATUS SENTENCE OPTION...: classify with the program and this option ends so.
fails() {
    run --separate-stderr "$IMP" classify --support known new --embedder "$program $3" "${@:4}"
    [ "$status" -eq "$1" ]
    [[ $stderr == *"$2"* ]] || { echo "$stderr" && false; }
}

@test "a crash is a file's fault; the others go on" {
    fails 1 "new/three: the embedder failed on this file: it crashed with signal 11" "--crash new/three"
    run --separate-stderr classify "--crash new/three" --skip-broken
    [ "$output" = "${right/three hisses$'\n'/}" ]
    [[ $stderr == *"imp classify: left out: new/three: the embedder failed on this file"* ]]
    for i in 1 2 3 4 5 6 7; do echo "more $i" >"new/more$i"; done
    fails 1 "it failed 8 times, the last time on 'new/more" "--crash new/" --skip-broken
}

@test "a hang ends after --embedder-timeout" {
    fails 1 "new/three: the embedder failed on this file: it has been silent for 5 seconds" \
        "--hang new/three" --embedder-timeout 5
    # Nobody is left behind.
    ! pgrep -f "embedder.py --log $BATS_TEST_TMPDIR/log" >/dev/null
}

@test "a wrong length, an unknown record and nonsense are told" {
    fails 1 "new/three: the embedder failed on this file: it answered with a vector of 100 bytes; 26 dimensions need 104" "--short new/three"
    fails 1 "it answered with a vector of 108 bytes" "--long new/three"
    fails 1 "it answered with a record of type 0x68; the types are 'v' and 'e'" "--garbage new/three"
    fails 1 "new/three: number 3 of the embedder's vector is not finite" "--nan new/three"
}

@test "an error of the program is the file's" {
    fails 1 "imp classify: new/three: it is not to my liking" "--error new/three"
    run --separate-stderr classify "--error new/three" --skip-broken
    [ "$output" = "${right/three hisses$'\n'/}" ]
    [ "$(starts)" -eq 2 ] # once for each call
}

@test "what does not greet is no embedder" {
    fails 1 "its first line is not JSON" "--hello nonsense"
    fails 1 "\"imp-embedder\": 1 is missing" "--hello '{}'"
    fails 1 "its protocol version is not 1" "--hello '{\"imp-embedder\": 2}'"
    fails 1 "\"name\" and \"version\" must be strings" "--hello '{\"imp-embedder\": 1, \"name\": \"a\"}'"
    fails 1 "\"dimensions\" must be an integer" \
        "--hello '{\"imp-embedder\": 1, \"name\": \"a\", \"version\": \"1\", \"dimensions\": 0}'"
    program=false fails 1 "the embedder 'false '"
    program="no-such-program" fails 1 "the shell did not find it"
}

@test "a model of an embedder's vectors remembers whose they are, and goes with no other" {
    "$IMP" embed known -o x.npy --labels y.npy --embedder "$program" 2>err
    grep -qx 'for imp train: --embedded-by "letters 1"' err
    "$IMP" train --data vectors:x.npy,y.npy --network linear:8 --embedded-by "letters 1" --updates 20 \
        --way 2 --shot 1 --queries 1 --split points:1/0/0 --validate-every 0 --out run >/dev/null 2>&1
    "$IMP" model info run/model.safetensors | grep -qx 'vectors     26 numbers by letters 1'
    [ "$(strings run/model.safetensors | grep -c embedder.py)" -eq 0 ] # a name, never a command
    [ "$(classify "" --model run/model.safetensors)" = "$right" ]

    # The same vectors through the same network, by hand.
    "$IMP" embed known -o files.npy --embedder "$program" --model run/model.safetensors 2>/dev/null
    "$IMP" embed x.npy -o points.npy --model run/model.safetensors 2>/dev/null
    cmp files.npy points.npy
    run --separate-stderr "$IMP" embed known -o some.npy --model run/model.safetensors --skip-broken \
        --no-cache --embedder "$program --error hisses/2"
    [ "$status" -eq 0 ]
    [ "$(/usr/bin/python3 -c 'import numpy; print(len(numpy.load("some.npy")))')" -eq 5 ]

    fails 1 "run/model.safetensors: the model was trained on vectors from 'letters 1', but the embedder is 'letters 2'" \
        "--version 2" --model run/model.safetensors
    fails 1 "the model needs vectors of 26 dimensions, but those of the embedder 'letters 1' have 5" \
        "--hello '{\"imp-embedder\": 1, \"name\": \"letters\", \"version\": \"1\", \"dimensions\": 5}'" \
        --model run/model.safetensors
    run --separate-stderr "$IMP" embed known/vowels/1.txt -o z.npy --model run/model.safetensors
    [ "$status" -eq 1 ]
    [[ $stderr == *"the model needs vectors of 26 dimensions from letters 1; for pictures and files, give the embedder"* ]]
    run --separate-stderr "$IMP" train --data glyphs --embedded-by "letters 1" --out other
    [ "$status" -eq 1 ]
    [[ $stderr == *"embedded-by goes with vectors"* ]]
    [ ! -e other ]
}

@test "a model of pictures needs no embedder" {
    model=$(find "$BATS_TEST_DIRNAME/../../models" -name '*.safetensors' | head -1)
    fails 1 "the model embeds pictures of 28x28 itself, and there is an embedder as well; give one of them" \
        "" --model "$model"
}

@test "members of archives reach it as files, which are gone afterwards" {
    mkdir temporary
    /usr/bin/python3 -c 'import shutil
shutil.make_archive("known", "zip", ".", "known")
shutil.make_archive("new", "gztar", "new")'
    run --separate-stderr env TMPDIR="$BATS_TEST_TMPDIR/temporary" "$IMP" classify --support known.zip \
        new.tar.gz --embedder "$program" --json
    [ "$status" -eq 0 ]
    /usr/bin/python3 - "$output" <<'CHECK'
import json, sys
found = json.loads(sys.argv[1])
assert found["classes"] == ["hisses", "vowels"], found["classes"]
answers = {p["picture"]: p["answer"] for p in found["pictures"]}
assert answers == {"new.tar.gz/one.txt": "vowels", "new.tar.gz/two.md": "hisses",
                   "new.tar.gz/three": "hisses"}, answers
CHECK
    grep -q '^file .*\.md$' log # the ending is kept
    [ -z "$(ls temporary)" ]
    [ "$(classify)" = "$right" ]
    [ "$(files)" -eq 9 ] # by content, from wherever it comes
}

@test "Ctrl-C ends it, and leaves nothing" {
    mkdir temporary
    /usr/bin/python3 -c 'import shutil; shutil.make_archive("new", "zip", "new")'
    TMPDIR=$BATS_TEST_TMPDIR/temporary "$IMP" classify --support known new.zip \
        --embedder "$program --hang temporary" 2>err &
    process=$!
    until grep -q 'file 0' log 2>/dev/null; do
        kill -0 "$process"
        sleep 0.1
    done
    kill -TERM "$process"
    status=0
    wait "$process" || status=$?
    [ "$status" -eq 130 ]
    grep -q "interrupted" err
    [ -z "$(ls temporary)" ]
}
