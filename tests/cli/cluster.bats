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
            run --separate-stderr "$IMP" cluster x.npy --method $method $lambda --truth y.npy --json
            [ "$status" -eq 0 ]
            json "o['method'] == '$method' and o['clusters'] == 4"
            json 'o["sizes"] == [25, 25, 25, 25] and len(o["assignments"]) == 100'
            json 'o["objective"] > 4 * o["lambda"]'
            json 'o["metrics"]["purity"] == o["metrics"]["ari"] == 1 and o["metrics"]["clusters"] == 4'
            json 'all(abs(v - 1) < 1e-9 for k, v in o["metrics"].items() if k[:3] in ("nmi", "ami"))'
        done
    done
}

@test "cluster: spherical noise in many dimensions is counted by its likelihood" {
    npy wide.npy '(np.random.RandomState(3).randn(400, 256) + 6 / np.sqrt(2) * np.eye(256)[np.arange(400) % 10]).astype("float32")'
    run --separate-stderr "$IMP" cluster wide.npy --json
    [ "$status" -eq 0 ]
    [ "$stderr" = "imp cluster: 400 of 400 points chose: they are most likely spherical noise around 10 centers" ]
    json 'o["clusters"] == 10 and o["choice"]["by"] == "likely" and o["choice"]["apart"] is None'
    json '10 < o["choice"]["groups"] < 400'
}

@test "cluster, metrics: labels may be texts" {
    npy names.npy 'np.array(["ape", "bee", "cat", "dog"])[np.arange(100) % 4]'
    /usr/bin/python3 -c 'import numpy
numpy.savetxt("names.txt", numpy.load("names.npy"), "%s")'
    for names in names.npy names.txt; do
        run --separate-stderr "$IMP" cluster x.npy --truth $names --json
        json 'o["metrics"]["ari"] == 1 and o["metrics"]["classes"] == 4'
        run "$IMP" metrics y.npy $names --json
        json 'o["ari"] == 1'
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
    run --separate-stderr "$IMP" cluster x.npy --clusters 4 --truth y.npy
    [ "$status" -eq 0 ]
    [[ ${lines[0]} == "imp: 4 clusters of 100 points, lambda "*", objective "*", 5 passes" ]]
    [[ $output == *"purity   1.000000 (of K = 4)"* ]]
    [[ $output == *"AMI      1.000000 (arithmetic)"* ]]
    [[ $output == *$'\naccuracy 1.000000 +- 0.000000\npoints   100\n'* ]]
    [[ $output == *$'               0       1       2       3  found\n       0      25       0       0       0\n'* ]]
}

@test "cluster: accuracy and confusion matrix by the class of most of a cluster's points" {
    # Of the points of class 3, every second is called 1.
    npy y.npy 'np.where(np.arange(100) % 8 == 7, 1, np.arange(100) % 4)'
    run "$IMP" cluster x.npy --clusters 4 --truth y.npy --json
    json 'o["metrics"]["accuracy"] == 0.88 and o["metrics"]["labels"] == [0, 1, 2, 3]'
    json 'o["metrics"]["confusion"] == [[25, 0, 0, 0], [0, 25, 0, 12], [0, 0, 25, 0], [0, 0, 0, 13]]'
    # Of as many points, the smaller class.
    npy y.npy '[0, 1] * 50'
    run "$IMP" cluster x.npy --lambda 1e9 --truth y.npy --json
    json 'o["metrics"]["accuracy"] == 0.5 and o["metrics"]["confusion"] == [[50, 0], [50, 0]]'
    # More than fit a terminal.
    npy y.npy 'np.arange(100) // 2'
    run "$IMP" cluster x.npy --clusters 4 --truth y.npy
    [[ $output == *$'\nconfusion matrix of 50 labels: --json shows it\n'* ]]
}

@test "cluster: about as many clusters as are wanted" {
    npy x.npy 'np.random.RandomState(0).randn(300, 8).astype("float32")'
    for method in imp dp-means; do
        run "$IMP" cluster x.npy --clusters 50 --method $method --json
        json '45 <= o["clusters"] <= 55 and max(o["sizes"]) < 100'
    done
    run "$IMP" cluster x.npy --clusters 50 --sigma 2 --json
    json 'o["sigma"] == 2'
}

@test "cluster: points of label -1 are not counted, other negative labels are" {
    npy y.npy 'np.where(np.arange(100) < 10, -1, np.arange(100) % 4 - 3)'
    run "$IMP" cluster x.npy --clusters 4 --truth y.npy --json
    json 'o["metrics"]["points"] == 67 and o["metrics"]["classes"] == 3'
    json 'o["metrics"]["purity"] == 1 and o["metrics"]["clusters"] == 4'
    run "$IMP" cluster x.npy --clusters 4 --truth y.npy
    [[ $output == *"purity   1.000000 (of K = 4)"* ]]
    run "$IMP" cluster x.npy --validation x.npy --validation-labels y.npy --json
    # Where the points of label -1 go costs nothing, so the fewest clusters are those of three labels.
    json 'o["clusters"] == 3'

    npy y.npy 'np.full(100, -1)'
    run --separate-stderr "$IMP" cluster x.npy --clusters 4 --truth y.npy
    [ "$status" -eq 1 ]
    [ "$stderr" = "imp cluster: y.npy: every label is -1, so there is nothing to evaluate against" ]
    run --separate-stderr "$IMP" cluster x.npy --validation x.npy --validation-labels y.npy
    [ "$status" -eq 1 ]
    [ "$stderr" = "imp cluster: x.npy has no points with a label in y.npy; choosing lambda needs \
some" ]
}

@test "cluster: what is known of some points" {
    npy known.npy 'np.where(np.arange(100) % 10 == 0, np.arange(100) % 4, -1)'
    run --separate-stderr "$IMP" cluster x.npy --labels known.npy --truth y.npy --json
    json 'o["metrics"]["ari"] == 1 and sorted(set(o["labels"])) == [-1, 0, 2]'
    # Points that are nowhere near each other, and ones that are.
    npy together.npy 'np.array([[0, 1], [1, 2]])'
    npy apart.npy 'np.array([[4, 8]], "int32")'
    run --separate-stderr "$IMP" cluster x.npy --must-link together.npy --cannot-link apart.npy --json
    json 'o["assignments"][0] == o["assignments"][1] == o["assignments"][2]'
    json 'o["assignments"][4] != o["assignments"][8]'
    npy apart.npy 'np.array([[2, 0]])'
    run --separate-stderr "$IMP" cluster x.npy --must-link together.npy --cannot-link apart.npy
    [ "$status" -eq 1 ]
    [ "$stderr" = "imp cluster: points 2 and 0 must be apart, but other pairs put them together" ]
    npy apart.npy 'np.array([[2, 0.5]])'
    run --separate-stderr "$IMP" cluster x.npy --cannot-link apart.npy
    [ "$stderr" = "imp cluster: apart.npy: pair 0 is (2, 0.5); points are indices from 0 to 16777216" ]
}

@test "cluster: one point, and extreme variances" {
    npy one.npy 'np.array([[1, 2]], "float32")'
    run --separate-stderr "$IMP" cluster one.npy --json
    json 'o["clusters"] == 1 and o["assignments"] == [0] and o["means"] == [[1, 2]]'
    for sigma in 1e-30 1e30; do
        run --separate-stderr "$IMP" cluster x.npy --sigma $sigma --json
        [ "$status" -eq 0 ]
        json 'o["clusters"] >= 1 and sum(o["sizes"]) == 100'
    done
    for sigma in 1e-300 1e308; do
        run --separate-stderr "$IMP" cluster x.npy --sigma $sigma
        [ "$status" -eq 2 ]
        [[ $stderr == *" needs a number from 1e-30 to 1e+30, or auto, not '$sigma'" ]]
    done
}

@test "cluster: bad input gets a sentence" {
    run --separate-stderr "$IMP" cluster
    [ "$status" -eq 2 ]
    run --separate-stderr "$IMP" cluster x.npy --sigma 0
    [ "$status" -eq 2 ]
    [ "$stderr" = "imp cluster: option '--sigma' needs a number from 1e-30 to 1e+30, or auto, not '0'" ]
    run --separate-stderr "$IMP" cluster x.npy --method em
    [ "$status" -eq 1 ]
    [ "$stderr" = "imp cluster: 'em' does not cluster without labels; imp and dp-means do" ]
    run --separate-stderr "$IMP" cluster x.npy --lambda 3 --clusters 4
    [ "$status" -eq 2 ]
    run --separate-stderr "$IMP" cluster x.npy --clusters 101
    [ "$status" -eq 1 ]
    [ "$stderr" = "imp cluster: 101 clusters are wanted of 100 points" ]
    npy x.npy 'np.array([[0.0], [np.inf]])'
    run --separate-stderr "$IMP" cluster x.npy
    [ "$status" -eq 1 ]
    [ "$stderr" = "imp cluster: x.npy: row 1, column 0 is infinite; every value must be a finite number" ]
    npy x.npy 'np.zeros((0, 3))'
    run --separate-stderr "$IMP" cluster x.npy
    [ "$status" -eq 1 ]
    [ "$stderr" = "imp cluster: there are no points to cluster; at least 1 is needed" ]
}

@test "cluster: what only pictures have is refused with points" {
    for option in "--model m.safetensors" --skip-broken "--ink invert"; do
        # shellcheck disable=SC2086 # words are options
        run --separate-stderr "$IMP" cluster x.npy $option
        [ "$status" -eq 2 ]
        [ -z "$output" ]
        [ "$stderr" = "imp cluster: ${option%% *} is for pictures; points are clustered as they are" ]
    done
    run --separate-stderr "$IMP" cluster x.npy --threads 1 --ink own
    [ "$status" -eq 0 ]
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

@test "metrics: negative labels are labels like others" {
    npy a.npy 'np.array([-1, -1, -2, 0])'
    npy b.npy 'np.array([5, 0, 5, 0])'
    run "$IMP" metrics a.npy b.npy --json
    json 'o["points"] == 4 and o["classes"] == 3 and o["clusters"] == 2 and o["purity"] == 0.5'
    json 'o["labels"] == [-2, -1, 0, 5] and o["accuracy"] == 0.25'
}

@test "metrics: no confusion matrix of more than 1000 labels" {
    npy a.npy 'np.arange(200)'
    npy b.npy 'np.arange(200)'
    run "$IMP" metrics a.npy b.npy --json
    json 'o["label_count"] == 200 and len(o["confusion"]) == 200 and o["ari"] == 1'
    npy a.npy 'np.arange(1001)'
    npy b.npy 'np.arange(1001)'
    run "$IMP" metrics a.npy b.npy --json
    json 'o["label_count"] == 1001 and o["confusion"] is None and o["ari"] == 1'
    run "$IMP" metrics a.npy b.npy
    [ "${lines[-1]}" = "confusion matrix of 1001 labels: too large to show" ]
}

@test "metrics: bad input gets a sentence" {
    npy a.npy 'np.array([0, 0, 1])'
    npy b.npy 'np.array([0, 0])'
    run --separate-stderr "$IMP" metrics a.npy b.npy
    [ "$status" -eq 1 ]
    [ "$stderr" = "imp metrics: a.npy has 3 labels and b.npy has 2; they must label the same points" ]
}

@test "points are read as they are needed, and from a pipe as well" {
    npy x.npy 'np.random.RandomState(4).randn(700, 5)'
    for options in "--clusters 9" "--method dp-means --lambda 4 --order random" "--lambda 6 --sigma 1"; do
        # shellcheck disable=SC2086 # the options are words
        "$IMP" cluster x.npy $options --json > file.json
        # shellcheck disable=SC2086
        "$IMP" cluster <(cat x.npy) $options --json > pipe.json
        cmp file.json pipe.json
    done
    npy bad.npy 'np.where(np.arange(2100).reshape(700, 3) == 1301, np.nan, 1.0)'
    run --separate-stderr "$IMP" cluster bad.npy --lambda 1
    [ "$status" -eq 1 ]
    [ -z "$output" ]
    [ "$stderr" = "imp cluster: bad.npy: row 433, column 2 is not a number (NaN); every value must be a finite number" ]
}

@test "memory does not grow with the points" {
    # 200 MB of zeros, which take no room on the disk
    /usr/bin/python3 -c 'import numpy as np
np.lib.format.open_memmap("x.npy", "w+", "float32", (100000, 512)).flush()'
    # What the address sanitizer keeps of freed memory does not count.
    export ASAN_OPTIONS=$ASAN_OPTIONS:quarantine_size_mb=1
    for method in imp dp-means; do
        run /usr/bin/python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)' \
            "$IMP" cluster x.npy --lambda 1 --steps 1 --method $method
        [ "$status" -eq 0 ]
        [ "$output" -lt 140 ]
    done
}

@test "cluster: quadratic work is told of before it begins" {
    cd "$BATS_TEST_TMPDIR"
    npy x.npy 'np.random.default_rng(0).normal(size=(30000, 2)).astype("float32")'
    run --separate-stderr "$IMP" cluster x.npy --method dp-means --lambda 0 -o y.npy
    [ "$status" -eq 0 ]
    [[ $stderr == "imp cluster: 30000 points will make about 30000 clusters, so time grows with the square of the points: about 9e+08 distances in each pass; "* ]]
    run --separate-stderr "$IMP" cluster x.npy --method dp-means --lambda 100 -o y.npy
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
}
