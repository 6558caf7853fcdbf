# `imp train`: runs, recipes, resuming, and what goes wrong. Killing is in unit/train/test_kill.c.
bats_require_minimum_version 1.5.0 # run --separate-stderr

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    tiny=(--size 16 --alphabets 10 --network conv3x3:4,bn,relu,pool --task alphabets --way 2
        --modes 3 --queries 2 --updates 12 --validate-every 6 --validation-episodes 3
        --checkpoint-every 5 --log-every 4)
}

@test "a run leaves settings, logs, a checkpoint and a model" {
    run --separate-stderr "$IMP" train --out run "${tiny[@]}"
    [ "$status" -eq 0 ]
    [ -z "$output" ]
    [[ $stderr == *"12/12  loss "*"accuracy "*"clusters "*"sigma "*"validation "*"images/s"* ]]
    [[ $stderr == *"the model is run/model.safetensors"* ]]
    [ "$(ls -A run | tr '\n' ' ')" = \
        "checkpoint.safetensors log.csv log.jsonl model.safetensors settings.json " ]
    [ "$(cut -d, -f1 run/log.csv | tr '\n' ' ')" = "update 4 6 8 12 " ]
    [ "$(wc -l <run/log.jsonl)" -eq 4 ]
    grep -q '"way": 2' run/settings.json
}

@test "--quiet says nothing" {
    run --separate-stderr "$IMP" train --quiet --out run "${tiny[@]}"
    [ "$status" -eq 0 ]
    [ -z "$output" ]
    [ -z "$stderr" ]
}

@test "the threads do not change a bit" {
    "$IMP" train --quiet --out one --threads 1 "${tiny[@]}"
    "$IMP" train --quiet --out three --threads 3 "${tiny[@]}"
    cmp one/model.safetensors three/model.safetensors
}

@test "a finished run can be extended, and is then the longer run" {
    "$IMP" train --quiet --out long "${tiny[@]}" --updates 18
    "$IMP" train --quiet --out short "${tiny[@]}"
    "$IMP" train --quiet --resume short --updates 18
    cmp long/model.safetensors short/model.safetensors
    grep -q '"updates": 18' short/settings.json
    "$IMP" train --quiet --resume short
    cmp long/model.safetensors short/model.safetensors
}

@test "a run resumed to be validated more seldom forgets what it would not have seen" {
    "$IMP" train --quiet --out whole "${tiny[@]}" --validate-every 12 --validation-episodes 4
    "$IMP" train --quiet --out last "${tiny[@]}" --validate-every 0
    for updates in 9 12; do # in the middle, and when it is over
        "$IMP" train --quiet --out "run$updates" "${tiny[@]}" --updates $updates
        cp -r "run$updates" "none$updates"
        "$IMP" train --quiet --resume "run$updates" --updates 12 \
            --validate-every 12 --validation-episodes 4
        cmp whole/model.safetensors "run$updates/model.safetensors"
        "$IMP" train --quiet --resume "none$updates" --updates 12 --validate-every 0
        cmp last/model.safetensors "none$updates/model.safetensors"
    done
    "$IMP" train --quiet --resume last --validate-every 12 --validation-episodes 4
    cmp whole/model.safetensors last/model.safetensors
    "$IMP" train --quiet --resume last # the settings are the checkpoint's by now
    cmp whole/model.safetensors last/model.safetensors
}

@test "a run resumed to be validated by more episodes judges its best model anew" {
    # Without batch norm nothing changes at this rate, so that the first model is as good as any.
    still=("${tiny[@]/bn,/}" --rate 1e-12)
    "$IMP" train --quiet --out whole "${still[@]}" --validation-episodes 40
    "$IMP" train --quiet --out run "${still[@]}"
    run "$IMP" train --resume run --validation-episodes 40
    [ "$status" -eq 0 ]
    [[ $output == *" at update 6; "* ]]
    cmp whole/model.safetensors run/model.safetensors
}

@test "validation that cannot be is refused before anything changes" {
    "$IMP" train --quiet --out run "${tiny[@]}" --way 6 --validate-every 0
    before=$(cat run/* | sha256sum)
    run --separate-stderr "$IMP" train --resume run --validate-every 6 --updates 18
    [ "$status" -eq 1 ]
    [[ $stderr == "imp train: validation episodes cannot be drawn (--validation-way "* ]]
    [ "$(cat run/* | sha256sum)" = "$before" ]
}

@test "a folder that holds a run is not overwritten" {
    "$IMP" train --quiet --out run "${tiny[@]}"
    before=$(cat run/* | sha256sum)
    run --separate-stderr "$IMP" train --out run "${tiny[@]}"
    [ "$status" -eq 1 ]
    [ "$stderr" = "imp train: 'run' already holds a run; resume it, or choose another folder" ]
    [ "$(cat run/* | sha256sum)" = "$before" ]
}

@test "what decides the result cannot be changed in the middle of a run" {
    "$IMP" train --quiet --out run "${tiny[@]}"
    run --separate-stderr "$IMP" train --resume run --way 3
    [ "$status" -eq 1 ]
    [ "$stderr" = "imp train: 'way' cannot be changed in the middle of a run" ]
    run --separate-stderr "$IMP" train --resume nowhere
    [ "$status" -eq 1 ]
    [[ $stderr == "imp train: there is no run in 'nowhere' to resume"* ]]
    run --separate-stderr "$IMP" train --resume run --out other
    [ "$status" -eq 2 ]
}

@test "a folder that cannot be written is a sentence" {
    touch file
    run --separate-stderr "$IMP" train --out file/run "${tiny[@]}"
    [ "$status" -eq 1 ]
    [ "$stderr" = "imp train: cannot make the folder 'file/run': Not a directory" ]
    mkdir locked
    chmod a-w locked
    [ -w locked ] && skip "this user may write everywhere"
    run --separate-stderr "$IMP" train --out locked "${tiny[@]}"
    [ "$status" -eq 1 ]
    [[ $stderr == "imp train: cannot write 'locked/settings.json': "* ]]
}

@test "a full disk leaves the last checkpoint intact" {
    "$IMP" train --quiet --out run "${tiny[@]}"
    before=$(sha256sum <run/checkpoint.safetensors)
    # A limit on the size of files stands for the disk: writing fails in the middle.
    run --separate-stderr bash -c \
        'trap "" XFSZ; ulimit -f 2; exec "$IMP" train --quiet --resume run --updates 30'
    [ "$status" -eq 1 ]
    [[ $stderr == "imp train: cannot write 'run/checkpoint.safetensors': "* ]]
    [ "$(sha256sum <run/checkpoint.safetensors)" = "$before" ]
    "$IMP" train --quiet --resume run --updates 30
}

@test "a broken checkpoint is a sentence, and stays as it is" {
    "$IMP" train --quiet --out run "${tiny[@]}"
    truncate -s -100 run/checkpoint.safetensors
    before=$(cat run/* | sha256sum)
    run --separate-stderr "$IMP" train --resume run
    [ "$status" -eq 1 ]
    [[ $stderr == "imp train: run/checkpoint.safetensors: "* ]]
    [ "$(cat run/* | sha256sum)" = "$before" ]
}

@test "a loss that explodes ends the run at its update and names the last checkpoint" {
    run --separate-stderr "$IMP" train --quiet --out run "${tiny[@]}" --rate 1e20
    [ "$status" -eq 1 ]
    [[ $stderr == "imp train: update 2: "*"; the last good checkpoint, of update 0, is 'run/checkpoint.safetensors'" ]]
    run --separate-stderr "$IMP" train --quiet --out limited "${tiny[@]}" --loss-limit 0.0001
    [ "$status" -eq 1 ]
    [[ $stderr == "imp train: update 1: the loss is "*", beyond its limit of 0.0001;"* ]]
}

@test "a threshold below 0 is refused, and auto is offered" {
    run --separate-stderr "$IMP" train --quiet --out run "${tiny[@]}" --lambda -0.5
    [ "$status" -eq 2 ]
    [ "$stderr" = "imp train: option '--lambda' needs a number of at least 0, or auto, not '-0.5'" ]
    [ ! -e run ]
}

@test "the data may move, but other data is refused" {
    "$IMP" train --quiet --out run "${tiny[@]}"
    "$IMP" data pack glyphs same.pack --size 16 --alphabets 10
    "$IMP" data pack glyphs other.pack --size 16 --alphabets 11
    "$IMP" train --quiet --resume run --data same.pack --updates 14
    run --separate-stderr "$IMP" train --resume run --data other.pack
    [ "$status" -eq 1 ]
    [[ $stderr == "imp train: the data is not what was trained on: its fingerprint is "* ]]
    "$IMP" data pack glyphs split.pack --size 16 --alphabets 10 --split super-classes:0.2/0.4/0.4
    run --separate-stderr "$IMP" train --resume run --data split.pack --updates 16
    [ "$status" -eq 1 ]
    [[ $stderr == "imp train: the classes are not split as they were in training, "* ]]
}

@test "a recipe sets what it says, and the command line goes before it" {
    cat >mine.recipe <<'END'
# Mine.
size = 16
alphabets = 10   # few
network = conv3x3:4,bn,relu,pool
task = alphabets
way = 2
modes = 3
updates = 3
validate-every = 0
END
    "$IMP" train --quiet --recipe ./mine.recipe --modes 2 --out run
    grep -q '"modes": 2' run/settings.json
    grep -q '"updates": 3' run/settings.json
    echo 'way = many' >>mine.recipe
    run --separate-stderr "$IMP" train --recipe ./mine.recipe --out other
    [ "$status" -eq 1 ]
    [ "$stderr" = "imp train: ./mine.recipe, line 10: 'way' needs an integer from 0 to 1e+06, not 'many'" ]
    run --separate-stderr "$IMP" train --recipe omniglot --out other
    [ "$status" -eq 1 ]
    [[ $stderr == "imp train: there is no recipe 'omniglot'; there are glyphs-alphabets, "* ]]
}

@test "--list-recipes lists what is built in" {
    run --separate-stderr "$IMP" train --list-recipes
    [ "$status" -eq 0 ]
    [ "${#lines[@]}" -eq "$(ls "$BATS_TEST_DIRNAME"/../../recipes/*.recipe | wc -l)" ]
    [[ $output == *"omniglot-alphabets"* ]]
}

@test "episodes that cannot be drawn are refused before anything is written" {
    run --separate-stderr "$IMP" train --out run "${tiny[@]}" --way 9
    [ "$status" -eq 1 ]
    [ ! -e run ]
    run --separate-stderr "$IMP" train "${tiny[@]}"
    [ "$status" -eq 2 ]
    [[ $stderr == "imp train: needs --out FOLDER"* ]]
}

@test "data whose name is not UTF-8 is refused, as settings could not keep it" {
    folder=$'caf\xe9'
    "$IMP" data export glyphs "$folder" --alphabets 5 --fewest-characters 4 --most-characters 4
    run --separate-stderr "$IMP" train --quiet --data "$folder" --updates 1 --out run
    [ "$status" -eq 1 ]
    [ "$stderr" = "imp train: 'data' is '$folder', which is not UTF-8, and so cannot be kept with a \
run; rename it, or make a symbolic link to it" ]
    [ ! -e run ]
    ln -s "$folder" link
    "$IMP" train --quiet --data link --network conv3x3:4,bn,relu,pool --updates 1 --out run
    run --separate-stderr "$IMP" train --quiet --resume run --data "$folder" --updates 2
    [ "$status" -eq 1 ]
    [[ $stderr == *"which is not UTF-8"* ]]
}

@test "the folder of a stopped run can be pasted" {
    folder="it's my run"
    "$IMP" train --out "$folder" "${tiny[@]}" --updates 100000 --validate-every 0 2>err &
    until [ -s "$folder/log.csv" ]; do kill -0 $!; done
    kill -INT $!
    status=0
    wait $! || status=$?
    [ "$status" -eq 130 ]
    line=$(tail -n 1 err)
    eval "words=(${line#*go on with: })"
    # shellcheck disable=SC2154 # made by eval
    [ "${words[*]:0:3}" = "imp train --resume" ]
    [ "${words[3]}" = "$folder" ]
    [ ${#words[@]} -eq 4 ]
}

@test "a name cannot tell the terminal what to do" {
    folder=$'red\e[31m'
    "$IMP" data export glyphs "$folder" --alphabets 5 --fewest-characters 4 --most-characters 4
    mkdir "$folder/"$'no\npictures'
    "$IMP" train --data "$folder" --network conv3x3:4,bn,relu,pool --updates 1 --out run 2>err
    grep -qF "  left out  1 sub-folder has no pictures: 'no?pictures'" err
    "$IMP" model info run/model.safetensors >out
    "$IMP" eval --model run/model.safetensors --episodes 2 --way 2 >>out
    "$IMP" eval --model run/model.safetensors --episodes 2 --unsupervised --way 2 --lambda 3 >>out
    [ "$(grep -cF 'red?[31m' out)" -eq 3 ]
    ! grep -q $'\e' out
}

@test "one update is told as one" {
    run --separate-stderr "$IMP" train --out one "${tiny[@]}" --updates 1
    [ "$status" -eq 0 ]
    [[ $stderr == *"1 update in 0:"* ]]
}
