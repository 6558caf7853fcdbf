# Labels as people have them, answers as files, the truth beside them, and several views.
bats_require_minimum_version 1.5.0 # run --separate-stderr

setup() {
    load vectors
    cd "$BATS_TEST_TMPDIR"
    npy s.npy 'np.array([[0, 0], [1, 0], [0, 1], [9, 0], [10, 0], [9, 1]], "float32")'
    npy q.npy 'np.array([[1, 1], [10, 1], [9, 2]], "float32")'
    printf 'cat\ncat\ncat\ndog\ndog\ndog\n' >names.txt
    npy names.npy 'np.array(["cat"] * 3 + ["dog"] * 3)'
    npy gaps.npy 'np.array([7, 7, 7, 30, 30, 30], "int8")'
    files=(--support s.npy --query q.npy)
}

@test "names: texts and numbers with gaps are answers" {
    run "$IMP" classify "${files[@]}" --labels names.txt
    [[ "${lines[-3]}" == *" cat "* && "${lines[-1]}" == *" dog "* ]]
    run --separate-stderr "$IMP" classify "${files[@]}" --labels names.npy --json
    json 'o["predictions"] == ["cat", "dog", "dog"] and o["classes"] == ["cat", "dog"]'
    run --separate-stderr "$IMP" classify "${files[@]}" --labels gaps.npy --json
    json 'o["predictions"] == [7, 30, 30] and o["classes"] == [7, 30]'
    json '[c["label"] for c in o["clusters"]] == [7, 30]'
}

@test "names: -o writes the answers, and --truth counts them" {
    printf 'cat\ndog\ncat\n' >truth.txt
    run "$IMP" classify "${files[@]}" --labels names.txt -o a.npy --truth truth.txt
    [ "$status" -eq 0 ]
    [[ "$output" == *"accuracy 66.67%: 2 of the 3 with a true class are right"* ]]
    [[ "$output" == *"cat           1       1"* ]]
    /usr/bin/python3 -c 'import numpy
assert list(numpy.load("a.npy")) == ["cat", "dog", "dog"]'
    "$IMP" classify "${files[@]}" --labels names.txt -o a.txt >/dev/null
    [ "$(cat a.txt)" = $'cat\ndog\ndog' ]
    npy truth.npy 'np.array([7, -1, 5])'
    run --separate-stderr "$IMP" classify "${files[@]}" --labels gaps.npy --truth truth.npy --json \
        -o b.npy
    json 'o["known"] == 2 and o["accuracy"] == 0.5 and o["confusion"] == [[1, 0], [0, 0], [0, 1]]'
    /usr/bin/python3 -c 'import numpy
assert list(numpy.load("b.npy")) == [7, 30, 30]'
    run "$IMP" classify "${files[@]}" --labels gaps.npy --truth gaps.npy
    [[ "$output" == *"gaps.npy has 6 labels for 3 points"* ]]
    run "$IMP" classify "${files[@]}" --labels gaps.npy -o q.npy
    [ "$status" -eq 2 ]
}

@test "names: a mixture keeps them, predicts with them, and learns new ones" {
    "$IMP" fit --support s.npy --labels names.txt -o m.safetensors >/dev/null
    run --separate-stderr "$IMP" predict m.safetensors q.npy --json -o p.npy
    json 'o["predictions"] == ["cat", "dog", "dog"] and o["classes"] == ["cat", "dog"]'
    npy more.npy 'np.array([[50, 50], [51, 50]], "float32")'
    printf 'ape\nape\n' >more.txt
    "$IMP" add m.safetensors --support more.npy --labels more.txt >/dev/null
    printf 'ape\n\n' >truth.txt
    run "$IMP" predict m.safetensors more.npy --truth truth.txt
    [[ "$output" == *" ape "* && "$output" == *"accuracy 100.00%: 1 of the 1"* ]]
    run --separate-stderr "$IMP" predict m.safetensors more.npy --json --truth truth.txt
    json 'o["classes"] == ["cat", "dog", "ape"] and o["accuracy"] == 1'
}

@test "views: two files are views of the same points, and noise weighs little" {
    npy y.npy 'np.arange(80) % 4'
    npy a.npy 'np.random.RandomState(1).randn(80, 2) * [1, .5] + np.stack([6 * (np.arange(80) % 2), np.zeros(80)], 1)'
    npy b.npy '100 * (np.random.RandomState(2).randn(80, 1) + 6 * (np.arange(80) // 2 % 2)[:, None])'
    npy c.npy '30 * np.random.RandomState(3).randn(80, 4)'
    run --separate-stderr "$IMP" classify --support a.npy --support b.npy --support c.npy \
        --labels y.npy --query a.npy --query b.npy --query c.npy --truth y.npy --json
    [ "$status" -eq 0 ]
    [[ "$stderr" == *"weights of the views: "* ]]
    json 'o["accuracy"] > 0.95 and len(o["choice"]["views"]) == 3'
    json 'o["choice"]["views"][2]["weight"] < 0.15'
    run --separate-stderr "$IMP" classify --support a.npy --labels y.npy --query a.npy --truth y.npy \
        --json
    json 'o["accuracy"] < 0.8'

    "$IMP" fit --support a.npy --support b.npy --labels y.npy -o m.safetensors >fit.txt
    grep -q "^view 1: 1 dimension, metric" fit.txt
    run --separate-stderr "$IMP" predict m.safetensors a.npy b.npy --truth y.npy --json
    json 'o["accuracy"] > 0.95'
    "$IMP" add m.safetensors --unlabeled a.npy --unlabeled b.npy >/dev/null
    run "$IMP" predict m.safetensors a.npy
    [[ "$output" == *"the mixture has 2 views"* ]]
    run "$IMP" predict m.safetensors b.npy a.npy
    [[ "$output" == *"b.npy: its points have 1 dimensions, but the mixture's view has 2"* ]]
    run "$IMP" add m.safetensors --unlabeled a.npy
    [[ "$output" == *"the points have 1 view, but the mixture has 2"* ]]
    npy short.npy 'np.zeros((3, 1))'
    run "$IMP" fit --support a.npy --support short.npy --labels y.npy -o no.safetensors
    [[ "$output" == *"short.npy has 3 points and a.npy has 80; views must list the same points"* ]]
    run "$IMP" classify --support a.npy --support b.npy --labels y.npy --query a.npy --query b.npy \
        --method prototypes
    [[ "$output" == *"several views need the method imp without --preset paper"* ]]
    [ ! -e no.safetensors ]
}
