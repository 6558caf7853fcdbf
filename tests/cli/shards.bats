# Points in folders of .npy files and in pipes: the same answers as from one file.
bats_require_minimum_version 1.5.0 # run --separate-stderr

setup() {
    load vectors
    load preload
    cd "$BATS_TEST_TMPDIR"
    npy x.npy '(40 * (np.arange(100) % 4)[:, None] + np.random.RandomState(3).randn(100, 3)).astype("float32")'
    mkdir parts
    /usr/bin/python3 -c 'import numpy as np
x = np.load("x.npy")
for i, part in enumerate(np.split(x, [7, 7, 60])):
    np.save(f"parts/{i}.npy", part.astype("float64") if i == 2 else part)'
}

@test "shards: a folder of files is one set of points" {
    for words in "cluster --method dp-means --lambda 200" "cluster --clusters 4 --order random"; do
        # shellcheck disable=SC2086 # words are options
        run "$IMP" ${words%% *} x.npy ${words#* } --json
        whole=$output
        # shellcheck disable=SC2086
        run "$IMP" ${words%% *} parts ${words#* } --json
        [ "$status" -eq 0 ]
        [ "$output" = "$whole" ]
    done
}

@test "shards: fit and predict take folders, predict also a pipe" {
    npy y.npy 'np.arange(100) % 4'
    "$IMP" fit --support x.npy --labels y.npy --unlabeled parts -o m.safetensors >one
    "$IMP" fit --support parts --labels y.npy --unlabeled x.npy -o n.safetensors >two
    diff one two
    cmp m.safetensors n.safetensors
    for json in "" --json; do
        # shellcheck disable=SC2086
        "$IMP" predict m.safetensors x.npy $json >one
        # shellcheck disable=SC2086
        "$IMP" predict m.safetensors parts $json >two
        # shellcheck disable=SC2086
        "$IMP" predict m.safetensors <(cat x.npy) $json >three
        diff one two
        diff one three
    done
}

@test "shards: what does not fit together is named" {
    npy parts/3.npy 'np.zeros((4, 2))'
    run --separate-stderr "$IMP" cluster parts
    [ "$status" -eq 1 ]
    [[ $stderr == "imp cluster: parts/3.npy: its points have 2 dimensions, those of 'parts/0.npy' have 3" ]]
    npy parts/3.npy 'np.array([[1, 2, np.nan]])'
    run --separate-stderr "$IMP" cluster parts
    [ "$status" -eq 1 ]
    [[ $stderr == "imp cluster: parts/3.npy: row 0, column 2 is not a number (NaN)"* ]]
}

@test "shards: answers go to files block by block, and numbers of points to disk" {
    "$IMP" cluster x.npy --method dp-means --lambda 200 --json >one
    "$IMP" cluster parts --method dp-means --lambda 200 --memory 0 -o labels.npy --json >two
    /usr/bin/python3 -c 'import json, numpy as np
one, two = json.load(open("one")), json.load(open("two"))
assert one.pop("assignments") == np.load("labels.npy").tolist() and one == two'
    run "$IMP" cluster parts --lambda 200 -o labels.npy
    [[ $output != *"point   cluster"* ]]
    [ "$(ls -A | tr '\n' ' ')" = "labels.npy one parts two x.npy " ]

    npy y.npy 'np.arange(100) % 4'
    "$IMP" fit --support x.npy --labels y.npy -o m.safetensors >/dev/null
    "$IMP" predict m.safetensors parts --json >whole
    "$IMP" predict m.safetensors <(cat x.npy) -o found.npy >/dev/null
    /usr/bin/python3 -c 'import json, numpy as np
assert json.load(open("whole"))["predictions"] == np.load("found.npy").tolist()'
    # texts as lines, from a pipe as from a file
    seq 0 99 | awk '{ print "class " $1 % 4 }' >y.txt
    "$IMP" fit --support x.npy --labels y.txt -o texts.safetensors >/dev/null
    "$IMP" predict texts.safetensors x.npy -o file.txt >file
    "$IMP" predict texts.safetensors <(cat x.npy) -o pipe.txt >pipe
    cmp file.txt pipe.txt
    cmp file pipe
    [[ $(head -n 1 pipe.txt) == "class "? ]]
    # what goes wrong leaves what was there
    cp found.npy before.npy
    run --separate-stderr "$IMP" predict m.safetensors <(head -c 700 x.npy) -o found.npy
    [ "$status" -eq 1 ]
    [[ $stderr == "imp predict: "*": it was cut short"* ]]
    cmp found.npy before.npy
    run --separate-stderr "$IMP" predict m.safetensors x.npy -o x.npy
    [ "$status" -ne 0 ]
}

@test "shards: DP-means that is interrupted goes on where it was" {
    words=(cluster parts --method dp-means --lambda 200)
    "$IMP" "${words[@]}" -o whole.npy --json >whole
    run --separate-stderr interrupted_at . "$IMP" "${words[@]}" -o found.npy --memory 0
    [ "$status" -eq 130 ]
    [ "$stderr" = "imp cluster: interrupted: pass 1 was ended, and 'found.npy.state' is from where \
it can be resumed" ]
    [ ! -e found.npy ]
    run --separate-stderr "$IMP" "${words[@]}" --steps 1 -o found.npy --resume
    [ "$status" -eq 1 ]
    [[ $stderr == *"is of a clustering of other points or by other options"* ]]
    "$IMP" "${words[@]}" -o found.npy --resume --json >found
    cmp whole.npy found.npy
    cmp whole found
    [ ! -e found.npy.state ]
    run --separate-stderr "$IMP" cluster parts -o found.npy --resume
    [ "$status" -eq 2 ]
    [[ $stderr == *"--resume goes with --method dp-means"* ]]
}
