# imp fit, imp predict and imp add.
bats_require_minimum_version 1.5.0 # run --separate-stderr

setup() {
    load vectors
    small_episode
}

@test "fit, predict: the answers of classify" {
    run --separate-stderr "$IMP" fit --preset paper --support s.npy --labels y.npy --unlabeled u.npy \
        -o m.safetensors
    [ "$status" -eq 0 ]
    [[ ${lines[0]} == *" clusters of 2 classes in 2 dimensions" ]]
    run "$IMP" classify --preset paper --support s.npy --labels y.npy --unlabeled u.npy --query q.npy --json
    expected=$(value '[o["predictions"], o["probabilities"]]')
    run "$IMP" predict m.safetensors q.npy --json
    [ "$status" -eq 0 ]
    [ "$(value '[o["predictions"], o["probabilities"]]')" = "$expected" ]
    json 'len(o["clusters"]) == len(o["distances"]) == 4 and abs(o["distances"][0] - 1.25) < 1e-5'
    run "$IMP" predict m.safetensors q.npy --json --open-set
    json 'o["predictions"] == [0, 1, 1, -1]'
    run "$IMP" predict m.safetensors q.npy --open-set
    [ "$status" -eq 0 ]
    [[ ${lines[-1]} == *none* ]]
}

@test "add: in place or to another file, to the same bits as at once" {
    "$IMP" fit --preset paper --support s.npy --labels y.npy -o m.safetensors
    cp m.safetensors once.safetensors
    npy more.npy 'np.array([[0, 2], [200, 0], [201, 0], [300, 300]], "float32")'
    npy classes.npy 'np.array([0, 2, 2, -1])'
    run "$IMP" add once.safetensors --support more.npy --labels classes.npy
    [ "$status" -eq 0 ]
    [[ ${lines[0]} == *" of 3 classes in 2 dimensions" ]]

    npy a.npy 'np.load("more.npy")[:2]'
    npy a_classes.npy 'np.load("classes.npy")[:2]'
    npy b.npy 'np.load("more.npy")[2:3]'
    npy b_classes.npy 'np.load("classes.npy")[2:3]'
    npy c.npy 'np.load("more.npy")[3:]'
    "$IMP" add m.safetensors --support a.npy --labels a_classes.npy -o two.safetensors
    "$IMP" add two.safetensors --support b.npy --labels b_classes.npy --unlabeled c.npy
    cmp once.safetensors two.safetensors

    run "$IMP" predict once.safetensors more.npy --json --open-set
    json 'o["predictions"] == [0, 2, 2, -1]'
}

@test "fit: describes itself in JSON" {
    run "$IMP" fit --preset paper --support s.npy --labels y.npy -o m.safetensors --json --sigma-l 1
    json 'o["dimensions"] == 2 and o["classes"] == 2 and o["sigma_l"] == 1 and o["lambda"] > 0'
    json '[c["label"] for c in o["clusters"]] == [0, 1, 1]'
}

@test "model info describes a mixture as fit did" {
    "$IMP" fit --support s.npy --labels y.npy --unlabeled u.npy -o m.safetensors >told.txt
    grep -q '^metric .*; held-out loss ' told.txt
    run --separate-stderr "$IMP" model info m.safetensors
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    [ "$output" = "$(cat told.txt)" ]
    "$IMP" fit --support s.npy --labels y.npy --unlabeled u.npy -o m.safetensors --json >told.txt
    run --separate-stderr "$IMP" model info m.safetensors --json
    [ "$output" = "$(cat told.txt)" ]
    head -c 200 m.safetensors >half.safetensors
    run --separate-stderr "$IMP" model info half.safetensors
    [ "$status" -eq 1 ]
    [[ $stderr == "imp model: half.safetensors: "* ]]
}

@test "fit, predict, add: bad input gets a sentence and leaves files alone" {
    run --separate-stderr "$IMP" fit --preset paper --support s.npy --labels y.npy
    [ "$status" -eq 2 ]
    [ "$stderr" = "imp fit: give -o FILE, where to write the mixture" ]
    run --separate-stderr "$IMP" fit -o m.safetensors
    [ "$status" -eq 2 ]
    for half in "--labels y.npy" "--support s.npy" "--labels y.npy --unlabeled u.npy"; do
        for command in "fit -o m.safetensors" "add m.safetensors"; do
            # shellcheck disable=SC2086 # words are options
            run --separate-stderr "$IMP" $command $half
            [ "$status" -eq 2 ]
            [ "$stderr" = "imp ${command%% *}: --support FILE and --labels FILE must be given together; \
points without labels go to --unlabeled" ]
        done
    done
    run --separate-stderr "$IMP" fit --preset paper --support s.npy --labels y.npy -o m.safetensors --sigma-u 1e308
    [ "$status" -eq 2 ]
    [ "$stderr" = "imp fit: option '--sigma-u' needs a number from 1e-30 to 1e+30, or auto, not '1e308'" ]
    npy bad.npy 'np.array([[0, 0], [0, np.nan]])'
    run --separate-stderr "$IMP" fit --preset paper --support s.npy --labels y.npy --unlabeled bad.npy -o m.safetensors
    [ "$status" -eq 1 ]
    [ "$stderr" = "imp fit: bad.npy: row 1, column 1 is not a number (NaN); every value must be a \
finite number" ]
    run --separate-stderr "$IMP" fit --unlabeled u.npy -o m.safetensors
    [ "$status" -eq 1 ]
    [ "$stderr" = "imp fit: no point has a label, so lambda cannot be estimated; give lambda" ]
    [ ! -e m.safetensors ]

    "$IMP" fit --preset paper --support s.npy --labels y.npy -o m.safetensors
    cp m.safetensors before.safetensors
    npy y.npy 'np.array([0, 0, 1, -3])'
    run --separate-stderr "$IMP" add m.safetensors --support s.npy --labels y.npy
    [ "$status" -eq 1 ]
    [ "$stderr" = "imp add: y.npy: label 3 is -3; labels are 0 or more, and -1 means no label" ]
    cmp m.safetensors before.safetensors
    npy q.npy 'np.zeros((2, 5))'
    run --separate-stderr "$IMP" predict m.safetensors q.npy
    [ "$status" -eq 1 ]
    [ "$stderr" = "imp predict: the points have 5 dimensions, the mixture has 2" ]
    run --separate-stderr "$IMP" predict q.npy q.npy
    [ "$status" -eq 1 ]
    [[ $stderr == "imp predict: "*q.npy* ]]
}

@test "fit, add: points are not written over, nor half of them left out" {
    "$IMP" fit --preset paper --support s.npy --labels y.npy -o=m.safetensors
    md5sum ./*.npy m.safetensors >before
    for file in s.npy y.npy u.npy; do
        for command in fit "add m.safetensors"; do
            # shellcheck disable=SC2086 # words are options
            run --separate-stderr "$IMP" $command --support s.npy --labels y.npy --unlabeled u.npy \
                -o ../${PWD##*/}/$file
            [ "$status" -eq 2 ]
            [ "$stderr" = "imp ${command%% *}: '../${PWD##*/}/$file' is an input and cannot be the \
output as well; name another file" ]
        done
    done
    for command in "fit -o n.safetensors" "add m.safetensors"; do
        # shellcheck disable=SC2086 # words are options
        run --separate-stderr "$IMP" $command --support s.npy --labels y.npy --labels again.npy
        [ "$status" -eq 2 ]
        [ "$stderr" = "imp ${command%% *}: option '--labels' is given twice" ]
        # shellcheck disable=SC2086 # words are options
        run --separate-stderr "$IMP" $command --support s.npy --labels y.npy --unlabeled u.npy \
            --unlabeled s.npy
        [ "$status" -ne 0 ]
    done
    md5sum --check --quiet before
    [ ! -e n.safetensors ]
}

@test "fit, predict: one point, one class, no queries, extreme variances" {
    npy one.npy 'np.array([[1, 2]], "float32")'
    npy zero.npy 'np.array([0])'
    npy none.npy 'np.zeros((0, 2))'
    for sigma in 1e-30 5 1e30; do
        "$IMP" fit --preset paper --support one.npy --labels zero.npy -o m.safetensors --sigma-l $sigma
        run "$IMP" predict m.safetensors q.npy --json
        json 'o["predictions"] == [0, 0, 0, 0] and o["probabilities"] == [[1]] * 4'
        run "$IMP" predict m.safetensors none.npy --json
        json 'o["predictions"] == o["probabilities"] == o["distances"] == o["clusters"] == []'
    done
}

@test "add: what several add at once is all there" {
    "$IMP" fit --preset paper --support s.npy --labels y.npy -o m.safetensors
    npy one.npy 'np.array([[0, 0]], "float32")'
    npy zero.npy 'np.array([0])'
    for _ in 1 2 3 4 5 6 7 8; do
        "$IMP" add m.safetensors --support one.npy --labels zero.npy >/dev/null &
    done
    wait
    run "$IMP" add m.safetensors --support one.npy --labels zero.npy --json
    [ "$status" -eq 0 ]
    json 'o["clusters"][0]["weight"] == 2 + 8 + 1'
}

@test "predict: queries are read as they are needed, and from a pipe as well" {
    "$IMP" fit --support s.npy --labels y.npy -o m.safetensors
    npy q.npy 'np.random.RandomState(5).randn(70000, 2) * 40' # more than a block
    "$IMP" predict m.safetensors q.npy > file.txt
    "$IMP" predict m.safetensors <(cat q.npy) > pipe.txt
    cmp file.txt pipe.txt
    [ "$(wc -l < file.txt)" -eq 70001 ]
    "$IMP" predict m.safetensors q.npy --json > all.json
    npy last.npy 'np.load("q.npy")[-500:]'
    "$IMP" predict m.safetensors last.npy --json > last.json
    /usr/bin/python3 -c 'import json
a, b = json.load(open("all.json")), json.load(open("last.json"))
assert list(a) == list(b) == ["predictions", "probabilities", "distances", "clusters"]
assert all(len(a[k]) == 70000 for k in a)
assert all(a[k][-500:] == b[k] for k in ("predictions", "distances", "clusters"))
assert all(abs(p - r) < 1e-6 for x, y in zip(a["probabilities"][-500:], b["probabilities"]) for p, r in zip(x, y))'

    npy bad.npy 'np.where(np.arange(140000).reshape(70000, 2) == 139001, np.inf, 1.0)'
    run --separate-stderr "$IMP" predict m.safetensors bad.npy
    [ "$status" -eq 1 ]
    [ -z "$output" ]
    [ "$stderr" = "imp predict: bad.npy: row 69500, column 1 is infinite; every value must be a finite number" ]
}

@test "fit, classify, add, predict: an output that cannot be written is refused before the work" {
    "$IMP" fit --support s.npy --labels y.npy -o m.safetensors
    points=(--support s.npy --labels y.npy)
    for words in "fit ${points[*]}" "classify ${points[*]} --query q.npy" \
        "add m.safetensors ${points[*]}" "predict m.safetensors q.npy"; do
        for place in missing/m .; do
            # shellcheck disable=SC2086 # words are options
            run --separate-stderr "$IMP" $words -o "$place"
            [ "$status" -eq 1 ]
            [[ $stderr == "imp ${words%% *}: cannot write '$place': "* ]]
            [ "${#stderr_lines[@]}" -eq 1 ]
        done
    done
    # nothing was read
    run --separate-stderr "$IMP" fit --support absent.npy --labels y.npy -o missing/m
    [[ $stderr == "imp fit: cannot write 'missing/m': "* ]]
    run --separate-stderr "$IMP" predict absent.safetensors q.npy -o missing/m
    [[ $stderr == "imp predict: cannot write 'missing/m': "* ]]
}

@test "predict: an interrupted one leaves nothing behind" {
    "$IMP" fit --preset paper --support s.npy --labels y.npy -o m.safetensors
    npy many.npy 'np.random.RandomState(1).randn(300000, 2).astype("float32")'
    mkfifo points
    "$IMP" predict m.safetensors points -o answers.npy >/dev/null 2>said 3>&- &
    pid=$!
    exec 4>points
    head -c 100000 many.npy >&4
    until compgen -G '.imp-*.tmp' >/dev/null; do
        kill -0 "$pid" # fails the test if it ended
        sleep 0.05
    done
    kill -TERM "$pid"
    tail -c +100001 many.npy >&4 || : # it does not read all of them
    exec 4>&-
    status=0
    wait "$pid" || status=$?
    [ "$status" -eq 130 ]
    [ "$(<said)" = "imp predict: interrupted; nothing unfinished is left behind" ]
    [ ! -e answers.npy ]
    ! compgen -G '.imp-*.tmp'
}
