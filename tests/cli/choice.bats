# imp classify, fit, predict and add where points choose how they are compared.
bats_require_minimum_version 1.5.0 # run --separate-stderr

setup() {
    load vectors
    cd "$BATS_TEST_TMPDIR"
    /usr/bin/python3 - <<'END'
import numpy as np
r = np.random.default_rng(1)
y = np.arange(24) % 3
def points(labels):
    x = r.normal(size=(len(labels), 6)) + 4 * np.eye(6)[labels]
    return (x * [1, 1, 1, 1, 50, 3000]).astype("float32")
truth = np.arange(300) % 3
for name, array in {"s": points(y), "y": y, "q": points(truth), "t": truth, "u": points(truth)}.items():
    np.save(name, array)
END
}

@test "choice: the same answers on every scale, and right ones" {
    run --separate-stderr "$IMP" classify --support s.npy --labels y.npy --query q.npy --json
    [ "$status" -eq 0 ]
    [[ $stderr == "imp classify: 24 held-out points chose: metric standard"* ]]
    json 'sum(p == i % 3 for i, p in enumerate(o["predictions"])) > 270'
    json 'o["choice"]["metric"] == "standard" and o["choice"]["held_out"] == 24'
    json 'len(o["choice"]["candidates"]) >= 4'
    expected=$(value 'o["predictions"]')
    for factor in 100 0.001 1e-30; do
        npy a.npy "np.load('s.npy') * np.float32($factor)"
        npy b.npy "np.load('q.npy') * np.float32($factor)"
        run --separate-stderr "$IMP" classify --support a.npy --labels y.npy --query b.npy --json
        [ "$(value 'o["predictions"]')" = "$expected" ]
    done
    run --separate-stderr "$IMP" classify --preset paper --support s.npy --labels y.npy --query q.npy --json
    [ -z "$stderr" ]
    json 'sum(p == i % 3 for i, p in enumerate(o["predictions"])) < 200'
}

@test "choice: kept in the file, told, grown from, and the same on any number of threads" {
    run --separate-stderr "$IMP" fit --support s.npy --labels y.npy --unlabeled u.npy -o m.safetensors
    [ "$status" -eq 0 ]
    [[ $output == *"metric standard"*"held-out loss"*"tried scaled, whitened: loss"* ]]
    for threads in 1 3; do
        OMP_NUM_THREADS=$threads "$IMP" fit --support s.npy --labels y.npy --unlabeled u.npy \
            -o $threads.safetensors
        cmp m.safetensors $threads.safetensors
    done
    run --separate-stderr "$IMP" classify --support s.npy --labels y.npy --unlabeled u.npy --query q.npy --json
    expected=$(value '[o["predictions"], o["probabilities"]]')
    run --separate-stderr "$IMP" predict m.safetensors q.npy --json
    [ "$(value '[o["predictions"], o["probabilities"]]')" = "$expected" ]
    "$IMP" add m.safetensors --support q.npy --labels t.npy -o grown.safetensors
    run --separate-stderr "$IMP" predict grown.safetensors u.npy --json
    json 'sum(p == i % 3 for i, p in enumerate(o["predictions"])) > 270'
}

@test "choice: the open-set rate is kept" {
    "$IMP" fit --support q.npy --labels t.npy -o m.safetensors
    run --separate-stderr "$IMP" predict m.safetensors u.npy --open-set --json
    json '0.01 < sum(p == -1 for p in o["predictions"]) / 300 < 0.12'
    json 'all(len(p) == 4 for p in o["probabilities"])'
    run --separate-stderr "$IMP" predict m.safetensors u.npy --open-set --open-set-rate 0.4 --json
    json '0.3 < sum(p == -1 for p in o["predictions"]) / 300 < 0.5'
    run --separate-stderr "$IMP" predict m.safetensors u.npy --open-set --open-set-rate 2
    [ "$status" -eq 2 ]
    [ -z "$("$IMP" predict m.safetensors u.npy --open-set 2>&1 >/dev/null)" ]
    run --separate-stderr "$IMP" predict m.safetensors u.npy --open-set-rate 0.001
    [ "$stderr" = "imp predict: 300 labelled points promise open-set rates from 0.0033 on; \
the threshold for 0.001, which needs 999 points, is extrapolated" ]
    # The rate alone is enough.
    run --separate-stderr "$IMP" classify --support q.npy --labels t.npy --query u.npy --open-set-rate 0.4 --json
    json '0.3 < sum(p == -1 for p in o["predictions"]) / 300 < 0.5'
}

@test "choice: one label of each class is a warning" {
    npy one.npy 'np.load("s.npy")[:3]'
    npy zero.npy 'np.array([0, 1, 2])'
    run --separate-stderr "$IMP" classify --support one.npy --labels zero.npy --query q.npy
    [ "$status" -eq 0 ]
    [[ $stderr == "imp classify: the metric ("* ]]
    run --separate-stderr "$IMP" classify --support one.npy --labels zero.npy --query q.npy --open-set
    [[ $stderr == *"--open-set has no effect"* ]]
}

@test "choice: a metric goes with no paper's rule" {
    run --separate-stderr "$IMP" fit --support s.npy --labels y.npy --preset paper --metric unit -o m.safetensors
    [ "$status" -eq 1 ]
    [[ $stderr == "imp fit: a metric or a weight of unlabelled points is given together with the paper's rule"* ]]
    [ ! -e m.safetensors ]
}
