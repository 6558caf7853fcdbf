# `imp paper` on Omniglot itself, in small, and the figure that takes a while to lay out.
bats_require_minimum_version 1.5.0 # run --separate-stderr

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    omniglot=${IMP_SHARED:-}/data/omniglot
    [ -d "$omniglot" ] || skip "Omniglot is not in \$IMP_SHARED/data/omniglot"
    tiny=(--data "omniglot:$omniglot" --updates 2 --episodes 4 --seeds 1 --runs runs --out out)
}

@test "every table is made of Omniglot" {
    run --separate-stderr "$IMP" paper modes "${tiny[@]}"
    [ "$status" -eq 0 ]
    [ "$(grep -c ' modes | [A-Za-z]* | [0-9.]* ± [0-9.]* | [0-9.]* ± ' out/omniglot/README.md)" -eq 6 ]
    run --separate-stderr "$IMP" paper alphabets "${tiny[@]}"
    [ "$status" -eq 0 ]
    [[ $stderr == *"alphabets-imp-seed1: measuring --task characters --way 20 --shot 1"* ]]
    # the model on which lambda is chosen is the one that was measured before
    run --separate-stderr "$IMP" paper unsupervised "${tiny[@]}" --train-nothing
    [ "$status" -eq 0 ]
    [ "$(grep -c '^| [A-Za-z]*, [0-9]*-way | [A-Za-z-]* | 0.[0-9]* | 0.[0-9]* ± ' out/omniglot/README.md)" \
        -eq 18 ]
    /usr/bin/python3 - <<'END'
import json
result = json.load(open("out/omniglot/alphabets-imp-seed1.json"))
assert result["fingerprint"].startswith("4f7e6f51aa15"), result["fingerprint"]
lambdas = [e["lambda"] for e in result["evaluations"] if "purity" in e]
assert len(lambdas) == 3 and min(lambdas) > 0
END
}

@test "the embedding is drawn once" {
    run --separate-stderr "$IMP" paper embedding "${tiny[@]}"
    [ "$status" -eq 0 ]
    [ "$(wc -l <out/omniglot/embedding.csv)" -eq $((1 + 2 * 10 * 10 * 10)) ]
    [ "$(head -c 4 out/omniglot/embedding.png | tail -c 3)" = PNG ]
    grep -q '(embedding.svg)$' out/omniglot/README.md
    rm -r runs
    run --separate-stderr "$IMP" paper embedding "${tiny[@]}"
    [ "$status" -eq 0 ]
    [[ $stderr != *training* && $stderr != *drawing* ]]
}
