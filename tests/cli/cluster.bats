# imp cluster and imp metrics.
bats_require_minimum_version 1.5.0 # run --separate-stderr

setup() {
    load vectors
    cd "$BATS_TEST_TMPDIR"
    # Four blobs of 25 points, mixed.
    npy y.npy 'np.arange(100) % 4'
    npy x.npy '(40 * (np.arange(100) % 4)[:, None] + np.random.RandomState(3).randn(100, 3)).astype("float32")'
}

@test "cluster: finds blobs by any rule, however lambda is chosen" {
    for method in imp dp-means; do
        for lambda in "" "--lambda auto" "--lambda 200" "--clusters 4" \
            "--validation x.npy --validation-labels y.npy"; do
            # shellcheck disable=SC2086 # words are options
            run "$IMP" cluster x.npy --method $method $lambda --labels y.npy --json
            [ "$status" -eq 0 ]
            json "o['method'] == '$method' and o['clusters'] == 4"
            json 'o["sizes"] == [25, 25, 25, 25] and len(o["assignments"]) == 100'
            json 'o["objective"] > 4 * o["lambda"]'
            json 'o["metrics"]["purity"] == o["metrics"]["ari"] == 1 and o["metrics"]["clusters"] == 4'
            json 'all(abs(v - 1) < 1e-9 for k, v in o["metrics"].items() if k[:3] in ("nmi", "ami"))'
        done
    done
}

@test "cluster: orders, steps and seeds" {
    for order in given random farthest-first; do
        run "$IMP" cluster x.npy --order $order --seed 5 --lambda 200 --steps 2 --json
        json 'o["clusters"] == 4 and o["steps"] == 2'
    done
    run --separate-stderr "$IMP" cluster x.npy --order sideways
    [ "$status" -eq 2 ]
    [[ $stderr == "imp cluster: option '--order' needs auto, given, random or farthest-first"* ]]
}

@test "cluster: a table for people" {
    run --separate-stderr "$IMP" cluster x.npy --clusters 4 --labels y.npy
    [ "$status" -eq 0 ]
    [[ ${lines[0]} == "imp: 4 clusters of 100 points, lambda "*", objective "*", 5 passes" ]]
    [[ $output == *"purity   1.000000 (of K = 4)"* ]]
    [[ $output == *"AMI      1.000000 (arithmetic)"* ]]
}

@test "cluster: bad input gets a sentence" {
    run --separate-stderr "$IMP" cluster
    [ "$status" -eq 2 ]
    run --separate-stderr "$IMP" cluster x.npy --sigma 0
    [ "$status" -eq 1 ]
    [ "$stderr" = "imp cluster: sigma is 0; a variance is a finite number above 0" ]
    run --separate-stderr "$IMP" cluster x.npy --lambda 3 --clusters 4
    [ "$status" -eq 2 ]
    run --separate-stderr "$IMP" cluster x.npy --clusters 101
    [ "$status" -eq 1 ]
    [ "$stderr" = "imp cluster: 101 clusters are wanted of 100 points" ]
    npy x.npy 'np.array([[0.0], [np.inf]])'
    run --separate-stderr "$IMP" cluster x.npy
    [ "$status" -eq 1 ]
    [ "$stderr" = "imp cluster: point row 1, column 0 is infinite; every value must be a finite number" ]
    npy x.npy 'np.zeros((0, 3))'
    run --separate-stderr "$IMP" cluster x.npy
    [ "$status" -eq 1 ]
    [ "$stderr" = "imp cluster: there are no points to cluster; at least 1 is needed" ]
}

@test "metrics: all of them, with the confusion matrix" {
    npy a.npy 'np.array([0, 0, 1, 1, 2, 2])'
    npy b.npy 'np.array([0, 0, 1, 2, 2, 2])'
    run "$IMP" metrics a.npy b.npy --json
    [ "$status" -eq 0 ]
    json 'abs(o["accuracy"] - 5/6) < 1e-12 and o["accuracy_interval"] > 0'
    json 'abs(o["purity"] - 5/6) < 1e-12'
    json 'abs(o["nmi"] - 0.7396673768007592) < 1e-9 and abs(o["ari"] - 4/9) < 1e-9'
    json 'o["labels"] == [0, 1, 2] and o["confusion"] == [[2, 0, 0], [0, 1, 1], [0, 0, 2]]'
    run --separate-stderr "$IMP" metrics a.npy b.npy
    [ "$status" -eq 0 ]
    [[ ${lines[0]} == "accuracy 0.833333 +- 0."* ]]
}

@test "metrics: bad input gets a sentence" {
    npy a.npy 'np.array([0, 0, 1])'
    npy b.npy 'np.array([0, 0])'
    run --separate-stderr "$IMP" metrics a.npy b.npy
    [ "$status" -eq 1 ]
    [ "$stderr" = "imp metrics: a.npy has 3 labels and b.npy has 2; they must be of the same points" ]
}
