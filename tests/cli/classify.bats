# imp classify: queries by a few labelled points.
bats_require_minimum_version 1.5.0 # run --separate-stderr

setup() {
    load vectors
    small_episode
}

# The names of all methods, as the command lists them.
methods() {
    "$IMP" classify --support s.npy --labels y.npy --query q.npy --method wardrobe 2>&1 |
        sed -n 's/.*there are //p' | sed 's/,\| and//g'
}

@test "classify: JSON holds method, lambda, clusters in order, predictions, probabilities" {
    run --separate-stderr "$IMP" classify --preset paper --support s.npy --labels y.npy --query q.npy \
        --sigma-l 1 --json
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    json 'list(o) == ["method", "lambda", "clusters", "predictions", "probabilities"]'
    json 'o["method"] == "imp" and o["lambda"] > 0'
    json '[c["label"] for c in o["clusters"]] == [0, 1, 1]'
    json 'list(o["clusters"][0]) == ["label", "sigma", "weight", "mean"]'
    json 'o["clusters"][0]["mean"] == [0.5, 0] and o["clusters"][0]["weight"] == 2'
    json 'o["clusters"][0]["sigma"] == 1'
    json 'o["predictions"] == [0, 1, 1, 1]'
    json 'all(abs(sum(row) - 1) < 1e-6 for row in o["probabilities"])'
}

@test "classify: lambda can be given" {
    run "$IMP" classify --preset paper --support s.npy --labels y.npy --query q.npy --json --lambda 1e6
    json 'o["lambda"] == 1e6 and len(o["clusters"]) == 2'
    run "$IMP" classify --preset paper --support s.npy --labels y.npy --query q.npy --json --lambda 0
    json 'len(o["clusters"]) >= 4'
}

@test "classify: unlabelled points come from a file or as labels of -1" {
    run "$IMP" classify --preset paper --support s.npy --labels y.npy --query q.npy --unlabeled u.npy --json
    json '-1 in [c["label"] for c in o["clusters"]] and o["predictions"][3] == 1'
    from_file=$output
    npy s.npy 'np.concatenate([np.load("u.npy"), np.load("s.npy")])'
    npy y.npy 'np.array([-1, -1, -1, 0, 0, 1, 1])'
    run "$IMP" classify --preset paper --support s.npy --labels y.npy --query q.npy --json
    [ "$output" = "$from_file" ]
}

@test "classify: open set answers none of these" {
    run "$IMP" classify --preset paper --support s.npy --labels y.npy --query q.npy --unlabeled u.npy --json \
        --open-set
    json 'o["predictions"] == [0, 1, 1, -1]'
    json 'all(len(row) == 3 for row in o["probabilities"])'
    run "$IMP" classify --preset paper --support s.npy --labels y.npy --query q.npy --unlabeled u.npy --open-set
    [[ ${lines[-1]} == *3*none*1.0000 ]]
    run --separate-stderr "$IMP" classify --preset paper --support s.npy --labels y.npy --query q.npy --open-set
    [ "$status" -eq 0 ]
    [ "$stderr" = "imp classify: --open-set has no effect, because every cluster has a label; \
give points that belong to no class with --unlabeled FILE" ]
}

@test "classify: every method answers" {
    [ "$(methods | wc -w)" -ge 13 ]
    for method in $(methods); do
        run "$IMP" classify --preset paper --support s.npy --labels y.npy --query q.npy --unlabeled u.npy --json \
            --method "$method"
        [ "$status" -eq 0 ]
        json "o['method'] == '$method' and o['predictions'][0] == 0"
    done
    run "$IMP" classify --preset paper --support s.npy --labels y.npy --query q.npy --json --method prototypes
    json 'o["lambda"] is None and o["clusters"][0]["sigma"] == 1'
}

@test "classify: one point, one class, no queries, extreme variances" {
    npy one.npy 'np.array([[1, 2]], "float32")'
    npy zero.npy 'np.array([0])'
    npy none.npy 'np.zeros((0, 2), "float32")'
    for method in $(methods); do
        run "$IMP" classify --preset paper --support one.npy --labels zero.npy --query q.npy --json \
            --method "$method" --lambda auto
        json 'o["predictions"] == [0, 0, 0, 0] and o["probabilities"] == [[1]] * 4'
        run "$IMP" classify --preset paper --support s.npy --labels y.npy --query none.npy --json \
            --method "$method"
        [ "$status" -eq 0 ]
        json 'o["predictions"] == [] and o["probabilities"] == []'
        for sigma in 1e-30 1e30; do
            run "$IMP" classify --preset paper --support s.npy --labels y.npy --unlabeled u.npy --query q.npy \
                --json --method "$method" --sigma-l $sigma --sigma-u $sigma
            [ "$status" -eq 0 ]
            json 'all(abs(sum(row) - 1) < 1e-6 for row in o["probabilities"])'
        done
    done
}

@test "classify: without --json a table with a line per query" {
    run --separate-stderr "$IMP" classify --preset paper --support s.npy --labels y.npy --query q.npy --sigma-l 1
    [ "$status" -eq 0 ]
    [[ ${lines[0]} == "imp: 3 clusters of 2 classes, lambda "* ]]
    [ "${#lines[@]}" -eq 6 ]
    [[ ${lines[2]} == *"0"*"0"*"1.0000" ]]
}

@test "classify: float64 points and other integer labels are taken" {
    npy s.npy 'np.load("s.npy").astype("float64")'
    npy y.npy 'np.load("y.npy").astype("uint8")'
    run "$IMP" classify --preset paper --support s.npy --labels y.npy --query q.npy --json
    json 'o["predictions"] == [0, 1, 1, 1]'
}

fails() { # STATUS SENTENCE ARGUMENT...
    run --separate-stderr "$IMP" classify "${@:3}"
    [ "$status" -eq "$1" ]
    [ -z "$output" ]
    [ "$stderr" = "imp classify: $2" ]
}

@test "classify: what only pictures have is refused with points" {
    for option in --skip-broken "--ink invert" "--threads 1"; do
        # shellcheck disable=SC2086 # words are options
        fails 2 "${option%% *} is for pictures; points are classified as they are" \
            --support s.npy --labels y.npy --query q.npy $option
    done
}

@test "classify: bad input gets a sentence" {
    needs="give --support FOLDER PICTURE..., or for points --support FILE, --labels FILE and --query \
FILE"
    fails 2 "$needs"
    fails 2 "$needs" --support s.npy
    fails 1 "'imq' is not a method; did you mean 'imp'?" \
        --support s.npy --labels y.npy --query q.npy --method imq
    fails 1 "'wardrobe' is not a method; there are imp, imp-tied, prototypes, neighbors, soft-kmeans, \
soft-kmeans-cluster, soft-kmeans-masked, dp-means, map-dp, em, nca, fixed-modes and gibbs" \
        --support s.npy --labels y.npy --query q.npy --method wardrobe
    fails 2 "option '--sigma-l' needs a number from 1e-30 to 1e+30, or auto, not '0'" \
        --support s.npy --labels y.npy --query q.npy --sigma-l 0
    fails 2 "option '--sigma-u' needs a number from 1e-30 to 1e+30, or auto, not '1e-300'" \
        --support s.npy --labels y.npy --query q.npy --sigma-u 1e-300
    fails 2 "option '--alpha' needs a number from 1e-300 to 1e+300, or auto, not '-1'" \
        --support s.npy --labels y.npy --query q.npy --alpha -1
    fails 2 "option '--lambda' needs a number of at least 0, or auto, not 'x'" \
        --support s.npy --labels y.npy --query q.npy --lambda x

    npy bad.npy 'np.array([[0, 0], [np.nan, 0], [1, 1], [2, 2]])'
    fails 1 "bad.npy: row 1, column 0 is not a number (NaN); every value must be a finite number" \
        --support bad.npy --labels y.npy --query q.npy
    fails 1 "bad.npy: row 1, column 0 is not a number (NaN); every value must be a finite number" \
        --support s.npy --labels y.npy --query q.npy --unlabeled bad.npy
    npy bad.npy 'np.array([[0, 0], [1, -1e300]])'
    fails 1 "bad.npy: row 1, column 1 is -1e+300; points are kept as 32-bit floats, which go up to \
3.40282e+38" --support s.npy --labels y.npy --query bad.npy
    lost="all values are so small that 32-bit floats, as which points are kept, lose them; multiply all points by a number"
    npy lost.npy 'np.load("s.npy").astype(float) * 1e-60'
    fails 1 "lost.npy: $lost" --support lost.npy --labels y.npy --query q.npy
    npy lost.npy 'np.asfortranarray(np.load("lost.npy"))'
    fails 1 "lost.npy: $lost" --support s.npy --labels y.npy --query lost.npy
    # Some values may be that small.
    npy some.npy 'np.array([[0, 1e-60], [1, -1e-300]])'
    "$IMP" classify --support s.npy --labels y.npy --query some.npy >/dev/null
    fails 1 "'imp' has no option 'learn-sigma'; prototypes and fixed-modes have" \
        --support s.npy --labels y.npy --query q.npy --learn-sigma
    npy bad.npy 'np.zeros((4, 0), "float32")'
    fails 1 "the points have no dimensions; they need at least 1" \
        --support bad.npy --labels y.npy --query bad.npy
    npy bad.npy 'np.zeros(4)'
    fails 1 "bad.npy: its shape is (4,); points are rows and columns, (points, dimensions)" \
        --support bad.npy --labels y.npy --query q.npy
    npy bad.npy 'np.zeros((4, 3))'
    fails 1 "bad.npy: its points have 3 dimensions, but the supports have 2" \
        --support s.npy --labels y.npy --query bad.npy
    npy bad.npy 'np.array([0, -2, 1, 1])'
    fails 1 "bad.npy: label 1 is -2; labels are 0 or more, and -1 means no label" \
        --support s.npy --labels bad.npy --query q.npy
    npy bad.npy 'np.array([0, 1])'
    fails 1 "bad.npy has 2 labels for the 4 points of s.npy; each needs one" \
        --support s.npy --labels bad.npy --query q.npy
    npy bad.npy 'np.array([0, 1, 0.5, 1])'
    fails 1 "bad.npy: it holds float64 of shape (4,); labels are integers or texts, one per \
point" --support s.npy --labels bad.npy --query q.npy
    npy bad.npy 'np.full(4, -1)'
    fails 1 "bad.npy: no point has a label; every class needs at least one" \
        --support s.npy --labels bad.npy --query q.npy
    run "$IMP" classify --preset paper --support nowhere.npy --labels y.npy --query q.npy
    [ "$status" -eq 1 ]
    [[ $output == "imp classify: "*nowhere.npy* ]]
}

@test "classify: the reference episodes" {
    episodes=("$BATS_TEST_DIRNAME"/../data/golden/episodes/*)
    [ ! -d "$IMP_SHARED/golden" ] || episodes+=("$IMP_SHARED"/golden/episodes/*)
    for folder in "${episodes[@]}"; do
        unlabeled=()
        [ ! -f "$folder/unlabeled.npy" ] || unlabeled=(--unlabeled "$folder/unlabeled.npy")
        read -r alpha sigma_l sigma_u < <(/usr/bin/python3 -c 'import json, sys
p = json.load(open(sys.argv[1]))["parameters"]
print(p["alpha"], p["sigma_l"], p["sigma_u"])' "$folder/expected.json")
        run "$IMP" classify --preset paper --support "$folder/support.npy" --labels "$folder/labels.npy" \
            --query "$folder/query.npy" "${unlabeled[@]}" --alpha "$alpha" --sigma-l "$sigma_l" \
            --sigma-u "$sigma_u" --json
        [ "$status" -eq 0 ]
        printf '%s' "$output" >found.json
        /usr/bin/python3 -c 'import json, sys, numpy
found, all = json.load(open("found.json")), json.load(open(sys.argv[1]))
expected = all["methods"]["imp"]
assert found["predictions"] == expected["predictions"]
assert numpy.allclose(found["probabilities"], expected["probabilities"], atol=1e-4)
assert len(found["clusters"]) == len(expected["clusters"])
assert abs(found["lambda"] - expected["lambda"]) < 1e-5 * expected["lambda"]
for a, b in zip(found["clusters"], expected["clusters"]):
    assert a["label"] == b["label"] and abs(a["sigma"] - b["sigma"]) < 1e-6
    assert numpy.allclose(a["mean"], b["mean"], atol=1e-4)' "$folder/expected.json"
    done
}
