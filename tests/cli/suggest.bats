# imp suggest.
bats_require_minimum_version 1.5.0 # run --separate-stderr

setup() {
    load vectors
    cd "$BATS_TEST_TMPDIR"
    npy x.npy '(40 * (np.arange(100) % 4)[:, None] + np.random.RandomState(3).randn(100, 3)).astype("float32")'
}

@test "suggest: groups first, then the least sure and smaller groups in turn" {
    run --separate-stderr "$IMP" suggest x.npy --json
    json '[s["reason"] for s in o["suggestions"]] == ["typical"] * 4 + ["unsure", "typical"] * 3'
    json 'sorted(s["point"] % 4 for s in o["suggestions"][:4]) == [0, 1, 2, 3]'
    npy y.npy 'np.where(np.arange(100) < 4, np.arange(100), -1)'
    run --separate-stderr "$IMP" suggest x.npy --labels y.npy --count 3 --json
    json 'len(o["suggestions"]) == 3 and o["suggestions"][0]["reason"] == "unsure"'
    json 'o["labels"] == [i % 4 for i in range(100)] and o["expected_accuracy"] > 0.9'
    run --separate-stderr "$IMP" suggest x.npy --labels y.npy
    [ "${lines[0]}" = "4 of 100 points have labels, and 4 of 4 groups" ]
}

@test "suggest: bad input gets a sentence" {
    npy y.npy 'np.arange(5)'
    run --separate-stderr "$IMP" suggest x.npy --labels y.npy
    [ "$status" -eq 1 ]
    [ "$stderr" = "imp suggest: y.npy has 5 numbers for the 100 points of x.npy; each needs one" ]
    npy y.npy 'np.full(100, -3)'
    run --separate-stderr "$IMP" suggest x.npy --labels y.npy
    [ "$status" -eq 1 ]
    [[ $stderr == *"the answer for point 0 is -3"* ]]
}
