# imp train --data vectors:X.npy,y.npy: a network on top of vectors, from data to answers.
bats_require_minimum_version 1.5.0 # run --separate-stderr

setup_file() {
    load vectors
    cd "$BATS_FILE_TMPDIR"
    # Two features of eight tell four classes apart; the others are wider.
    npy y.npy 'np.arange(160) % 4'
    npy x.npy 'np.hstack([np.stack([np.arange(160) % 2, np.arange(160) // 2 % 2], 1)
        + 0.1 * np.random.RandomState(1).rand(160, 2), 40 * np.random.RandomState(2).rand(160, 6)])'
    /usr/bin/python3 -c 'import numpy
numpy.savetxt("y.txt", numpy.array(["cat", "dog", "owl", "elk"])[numpy.load("y.npy")], "%s")'
    mkdir shards
    npy shards/a.npy 'np.load("x.npy")[:100].astype("f4")'
    npy shards/b.npy 'np.asfortranarray(np.load("x.npy")[100:])'
    "$IMP" train --quiet --data vectors:x.npy,y.npy --network linear:3 --updates 400 --rate 0.01 \
        --out run
}

setup() {
    load vectors
    cd "$BATS_FILE_TMPDIR"
    small=(--network linear:3 --updates 4)
}

@test "train on vectors: what was chosen is said" {
    run --separate-stderr "$IMP" train --data vectors:x.npy,y.npy --out said "${small[@]}"
    [ "$status" -eq 0 ]
    [ "${stderr_lines[0]}" = \
        "160 points in 4 classes, 24 in each that trains; settings chosen where not given:" ]
    [ "${stderr_lines[1]}" = "  network   8 numbers to standard,linear:3" ]
    [ "${stderr_lines[2]}" = "  split     by points, because there are few classes: parts of \
each train, validate and test" ]
    [ "${stderr_lines[3]}" = "            (--split points:0.6/0.2/0.2)" ]
    [ "${stderr_lines[4]}" = "  episodes  4-way 5-shot, up to 5 queries of each class" ]
    [[ $stderr == *" points/s  "* ]]
    grep -qF '"network": "standard,linear:3"' said/settings.json
}

@test "train on vectors: the network learns what the vectors do not tell" {
    run "$IMP" eval --model run/model.safetensors --json --quiet --episodes 100
    json 'o["results"][0]["accuracy"]["mean"] > 0.95'
    "$IMP" train --quiet --data vectors:x.npy,y.npy --network standard --updates 50 --out sigma
    run "$IMP" eval --model sigma/model.safetensors --json --quiet --episodes 100
    json 'o["results"][0]["accuracy"]["mean"] < 0.8'
}

@test "train on vectors: text labels, shards, half floats and Fortran order are the same set" {
    "$IMP" train --quiet --data vectors:shards,y.npy --out shards-run "${small[@]}" --seed 3
    npy half.npy 'np.load("x.npy").astype("f2")'
    "$IMP" train --quiet --data vectors:half.npy,y.txt --out text-run "${small[@]}" --seed 3
    run "$IMP" data info vectors:shards,y.txt
    [[ "$output" == *"vectors      160 of 8 numbers"* ]]
    [[ "$output" == *"cat@val (8)"* ]]
}

@test "train on vectors: a run that is resumed ends in the same bits" {
    common=(--quiet --data vectors:x.npy,y.npy --network linear:3 --halve-from 100 --halve-every 0
        --validate-every 4)
    "$IMP" train "${common[@]}" --out half --updates 4
    "$IMP" train --quiet --resume half --updates 8
    "$IMP" train "${common[@]}" --out whole --updates 8 --threads 1
    cmp half/model.safetensors whole/model.safetensors
    run "$IMP" model info half/model.safetensors
    [[ "$output" == *"vectors     8 numbers"* ]]
}

@test "train on vectors: what cannot be is a sentence" {
    run "$IMP" train --data vectors:x.npy --out no
    [ "$status" -eq 1 ]
    [[ "$output" == *"is not two files: vectors:POINTS.npy,LABELS.npy"* ]]
    run "$IMP" train --data vectors:x.npy,y.npy --out no --size 28
    [[ "$output" == *"a size goes with pictures"* ]]
    run "$IMP" train --data vectors:x.npy,y.npy --out no --augment-flip 0.5
    [[ "$output" == *"augmentation is for pictures"* ]]
    run "$IMP" train --data vectors:x.npy,y.npy --out no --network flatten,linear:4,standard
    [[ "$output" == *"'standard' is the first layer"* ]]
    npy one.npy 'np.zeros(160, int)'
    run "$IMP" train --data vectors:x.npy,one.npy --out no
    [[ "$output" == *"training needs at least two"* ]]
    npy narrow.npy 'np.load("x.npy")[:, :5]'
    run "$IMP" eval --model run/model.safetensors --data vectors:narrow.npy,y.npy
    [[ "$output" == *"needs vectors of 8 numbers, but those of 'vectors:narrow.npy,y.npy' have 5"* ]]
    [ ! -e no ]
}

@test "a model of vectors embeds points, as ONNX does, and not pictures" {
    run --separate-stderr "$IMP" embed x.npy --model run/model.safetensors -o z.npy
    [ "$status" -eq 0 ]
    [[ "$stderr" == "for imp fit and imp classify: --sigma-l "* ]]
    /usr/bin/python3 -c 'import numpy
assert numpy.load("z.npy").shape == (160, 3) and numpy.load("z.npy").dtype == "float32"'
    "$IMP" embed shards --model run/model.safetensors -o zs.npy
    cmp z.npy zs.npy
    "$IMP" embed <(cat x.npy) --model run/model.safetensors -o zp.npy # its name does not end in .npy
    cmp z.npy zp.npy
    "$IMP" model export run/model.safetensors --onnx run/model.onnx
    [ -s run/model.onnx ]
    run "$IMP" embed x.npy -o no.npy
    [[ "$output" == *"give the model that embeds them with --model FILE"* ]]
    npy narrow.npy 'np.load("x.npy")[:, :5]'
    run "$IMP" embed narrow.npy --model run/model.safetensors -o no.npy
    [[ "$output" == *"its points have 5 dimensions, but run/model.safetensors needs 8"* ]]
    run "$IMP" embed x.npy --model run/model.safetensors -o x.npy
    [ "$status" -eq 2 ]
    [ ! -e no.npy ]
}

@test "a model of vectors classifies, fits, predicts and adds points" {
    model=(--model run/model.safetensors)
    run --separate-stderr "$IMP" classify "${model[@]}" --support x.npy --labels y.txt --query shards \
        --truth y.txt --json
    [ "$status" -eq 0 ]
    json 'o["accuracy"] > 0.95 and len(o["clusters"][0]["mean"]) == 3'
    "$IMP" fit "${model[@]}" --support x.npy --labels y.txt -o m.safetensors >/dev/null
    "$IMP" add "${model[@]}" m.safetensors --unlabeled shards >/dev/null
    run --separate-stderr "$IMP" predict "${model[@]}" m.safetensors x.npy --truth y.txt --json
    json 'o["accuracy"] > 0.95'
    run "$IMP" fit "${model[@]}" --support x.npy --support x.npy --labels y.npy -o no.safetensors
    [[ "$output" == *"--model embeds points with one view, but these have 2"* ]]
    [ ! -e no.safetensors ]
}

@test "a model of vectors: points of which it makes infinity are refused, with their row" {
    model=(--model run/model.safetensors)
    npy huge.npy 'np.where((np.arange(160) == 57)[:, None], 3e38, np.load("x.npy")).astype("f4")'
    refused="huge.npy: what the model makes of row 57 is not finite"
    for preset in auto paper; do
        run "$IMP" fit --support x.npy --labels y.npy --unlabeled huge.npy "${model[@]}" --preset $preset \
            -o huge.safetensors
        [ "$status" -eq 1 ]
        [[ "$output" == *"$refused"* ]]
        [ ! -e huge.safetensors ]
    done
    run "$IMP" fit --support huge.npy --labels y.npy "${model[@]}" -o huge.safetensors
    [ "$status" -eq 1 ]
    [[ "$output" == *"$refused"* ]]
}

@test "train on vectors: without standard streams, nothing is written into other files" {
    "$IMP" train --quiet --data vectors:x.npy,y.npy --out open "${small[@]}"
    for closed in '2>&-' '>&- 2>&-' '<&- >&- 2>&-'; do
        rm -rf closed
        bash -c '"$@" '"$closed" - "$IMP" train --data vectors:x.npy,y.npy --out closed "${small[@]}" \
            3>&-
        cmp open/model.safetensors closed/model.safetensors
        [ "$(wc -l <closed/log.jsonl)" -eq "$(wc -l <open/log.jsonl)" ]
        [ "$(wc -l <closed/log.csv)" -eq "$(wc -l <open/log.csv)" ]
        "$IMP" plot closed -o closed.svg
    done
}
