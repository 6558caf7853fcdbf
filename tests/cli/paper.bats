# `imp paper` in small: two updates instead of thousands, on generated characters where Omniglot
# itself is not what matters.
bats_require_minimum_version 1.5.0 # run --separate-stderr

setup() {
    load pictures
    load preload
    cd "$BATS_TEST_TMPDIR" || return
    export HOME=$PWD/home
    unset XDG_CACHE_HOME
    tiny=(--data glyphs --updates 2 --episodes 5 --seeds 1 --runs runs --out out)
}

# Prints a result without how long it took.
result() {
    /usr/bin/python3 - "$1" <<'END'
import json, sys
result = json.load(open(sys.argv[1]))
del result["seconds"], result["images_per_second"]
print(json.dumps(result, indent=1))
END
}

@test "a table is trained, measured and reported, and then is done" {
    run --separate-stderr "$IMP" paper tied "${tiny[@]}"
    [ "$status" -eq 0 ]
    [ -z "$output" ]
    [[ $stderr == *"ablation-imp-seed1: training begins"*"2/2  loss "* ]]
    [[ $stderr == *"the report is out/omniglot/README.md" ]]
    [ "$(ls out/omniglot | tr '\n' ' ')" = \
        "README.md ablation-imp-seed1.json ablation-imp-tied-seed1.json " ]
    grep -q '^| one variance | IMP, tied | 93.5 ± 0.3 | [0-9.]* ± [0-9.]* | [0-9.]* ± [0-9.]* | -[0-9.]* |  | 1 | 2 |' \
        out/omniglot/README.md
    run --separate-stderr "$IMP" paper --list "${tiny[@]}" tied
    [ "$status" -eq 0 ]
    [ "${lines[0]}" = Omniglot ]
    [[ ${lines[2]} =~ ^\ +ablation-imp-seed1\ +done ]]
    [[ ${lines[4]} == "2 runs are done, 0 begun, 0 not begun; "* ]]

    # --again measures anew, and trains nothing that is trained
    before=$(stat -c %i out/omniglot/*.json)
    run --separate-stderr "$IMP" paper tied "${tiny[@]}" --again
    [ "$status" -eq 0 ]
    [[ $stderr == *"ablation-imp-seed1: measuring"* && $stderr != *training* ]]
    [ "$(stat -c %i out/omniglot/*.json)" != "$before" ]

    # otherwise nothing is made twice, with or without the runs
    rm -r runs
    before=$(stat -c %Y.%i out/omniglot/*.json)
    run --separate-stderr "$IMP" paper tied "${tiny[@]}"
    [ "$status" -eq 0 ]
    [[ $stderr != *training* ]]
    [ "$(stat -c %Y.%i out/omniglot/*.json)" = "$before" ]
}

@test "the recorded command lines give the recorded figures" {
    "$IMP" paper tied "${tiny[@]}" --quiet
    read -ra eval <<<"$(/usr/bin/python3 - <<'END'
import json
result = json.load(open("out/omniglot/ablation-imp-seed1.json"))
print(result["evaluations"][0]["command"].replace("imp ", "", 1)
      .replace("DATA", "glyphs").replace("--model ", "--model runs/"))
END
)"
    "$IMP" "${eval[@]}" --json >again.json
    /usr/bin/python3 - <<'END'
import json
ours = json.load(open("out/omniglot/ablation-imp-seed1.json"))["evaluations"][0]["accuracy"]
again = json.load(open("again.json"))["results"][0]
assert ours == again["accuracy"]
ours = json.load(open("out/omniglot/ablation-imp-seed1.json"))["evaluations"][0]["open_accuracy"]
assert ours == again["open_accuracy"]
END
    read -ra train <<<"$(/usr/bin/python3 - <<'END'
import json
result = json.load(open("out/omniglot/ablation-imp-tied-seed1.json"))
print(result["command"].replace("imp ", "", 1).replace("DATA", "glyphs"))
END
)"
    "$IMP" "${train[@]}" --quiet
    cmp ablation-imp-tied-seed1/model.safetensors \
        runs/ablation-imp-tied-seed1/model.safetensors
}

@test "stopped by Ctrl-C and called again, the results are the same" {
    wanted=(tied --data glyphs --updates 6 --episodes 5 --seeds 1)
    "$IMP" paper "${wanted[@]}" --runs whole --out whole-out --quiet
    run --separate-stderr interrupted_at parts/ablation-imp-seed1 \
        "$IMP" paper "${wanted[@]}" --runs parts --out parts-out
    [ "$status" -eq 130 ]
    [ "${stderr_lines[-1]}" = "stopped; the same command continues" ]
    run --separate-stderr "$IMP" paper --list "${wanted[@]}" --runs parts --out parts-out
    [[ ${lines[3]} =~ ^\ +ablation-imp-seed1\ +begun,\ 1\ of\ 6\ updates ]]
    "$IMP" paper "${wanted[@]}" --runs parts --out parts-out --quiet
    for file in whole-out/omniglot/*.json; do
        [ "$(result "$file")" = "$(result "parts-out/${file#*/}")" ]
    done
}

@test "a run made by hand is taken up, one with other settings is not" {
    "$IMP" train --recipe omniglot-semi-5way-1shot --data glyphs --method imp-tied --updates 2 \
        --halve-from 0 --halve-every 0 --seed 1 --out runs/ablation-imp-tied-seed1 --quiet
    "$IMP" train --recipe omniglot-semi-5way-1shot --data glyphs --updates 2 --halve-from 0 \
        --halve-every 0 --alpha 0.2 --seed 1 --out runs/ablation-imp-seed1 --quiet
    run --separate-stderr "$IMP" paper tied "${tiny[@]}"
    [ "$status" -eq 1 ]
    [[ $stderr == *"imp paper: ablation-imp-seed1: the run in 'runs/ablation-imp-seed1' has a different 'alpha' than the table needs; "* ]]
    [[ $stderr == *"ablation-imp-tied-seed1: measuring"* ]]
    [[ $stderr == *"imp paper: 1 of the runs and pictures failed" ]]
    [[ $stderr != *training* ]]
    [ -e out/omniglot/ablation-imp-tied-seed1.json ]
    # What is listed is text, whatever it is called.
    mv runs $'red\e[31m'
    run --separate-stderr "$IMP" paper --list tied "${tiny[@]}" --runs $'red\e[31m'
    [ "$status" -eq 1 ]
    [[ $output == *"the run in 'red?[31m/ablation-imp-seed1' has a different 'alpha'"* ]]
}

@test "the figure of lambda is drawn, with its numbers" {
    "$IMP" paper lambda "${tiny[@]}" --quiet
    [ "$(head -n 1 out/omniglot/lambda.csv)" = method,seeds,lambda,accuracy,interval ]
    [ "$(grep -c '^IMP,1,' out/omniglot/lambda.csv)" -eq 20 ]
    [ "$(grep -c "^DP-means on prototypes' embedding,1," out/omniglot/lambda.csv)" -eq 20 ]
    [ "$(head -c 4 out/omniglot/lambda.png | tail -c 3)" = PNG ]
    grep -q "<svg" out/omniglot/lambda.svg
    grep -q '^!\[.*\](lambda.svg)$' out/omniglot/README.md
}

@test "--train-nothing measures what is there" {
    run --separate-stderr "$IMP" paper all --train-nothing "${tiny[@]}"
    [ "$status" -eq 0 ]
    [ "$(ls out/omniglot)" = README.md ]
    grep -q "^Met: 0 of IMP's figures; not met: 0; " out/omniglot/README.md
}

@test "a result without the open accuracy is measured again, from the same model" {
    "$IMP" paper tied "${tiny[@]}" --quiet
    cp out/omniglot/ablation-imp-seed1.json whole.json
    /usr/bin/python3 - <<'END'
import json
path = "out/omniglot/ablation-imp-seed1.json"
result = json.load(open(path))
for evaluation in result["evaluations"]:
    del evaluation["open_accuracy"], evaluation["unlabeled_clusters"]
json.dump(result, open(path, "w"))
END
    run --separate-stderr "$IMP" paper --list tied "${tiny[@]}"
    [[ $output =~ ablation-imp-seed1\ +trained,\ measured\ in\ part ]]
    [[ $output =~ ablation-imp-tied-seed1\ +done ]]
    run --separate-stderr "$IMP" paper tied "${tiny[@]}"
    [ "$status" -eq 0 ]
    [[ $stderr == *"ablation-imp-seed1: measuring"* && $stderr != *training* ]]
    [ "$(result out/omniglot/ablation-imp-seed1.json)" = "$(result whole.json)" ]
}

@test "single runs are named, and the list tells of them alone" {
    run --separate-stderr "$IMP" paper ablation-imp-tied ablation-imp-seed1 "${tiny[@]}" --list
    [ "$status" -eq 0 ]
    [ "$(grep -c "not begun, 2 updates" <<<"$output")" -eq 2 ]
    [[ $output != *alphabets* && $output != *mini* ]]
    run --separate-stderr "$IMP" paper ablation-imp-tied-seed1 "${tiny[@]}"
    [ "$status" -eq 0 ]
    [[ $stderr != *"ablation-imp-seed1"* ]]
    [ "$(ls out/omniglot | tr '\n' ' ')" = "README.md ablation-imp-tied-seed1.json " ]
    run --separate-stderr "$IMP" paper --list tied "${tiny[@]}"
    [[ $output =~ ablation-imp-seed1\ +not\ begun && $output =~ ablation-imp-tied-seed1\ +done ]]
    run --separate-stderr "$IMP" paper mini-5way-1shot-imp "${tiny[@]}"
    [ "$status" -eq 2 ]
    [ "$stderr" = "imp paper: the run 'mini-5way-1shot-imp' needs a dataset that is not given; name it with --data" ]
}

@test "a damaged result is a sentence" {
    mkdir -p out/omniglot
    echo '{"run": "ablation-imp"}' >out/omniglot/ablation-imp-seed1.json
    run --separate-stderr "$IMP" paper tied --train-nothing "${tiny[@]}"
    [ "$status" -eq 1 ]
    [[ $stderr == "imp paper: ablation-imp-seed1: out/omniglot/ablation-imp-seed1.json: 'seed' is missing or not a number"* ]]
}

@test "mistakes are sentences" {
    run --separate-stderr "$IMP" paper
    [ "$status" -eq 2 ]
    [ "$stderr" = "imp paper: give a TABLE, RUNs, or 'all'; 'imp paper --list' lists them" ]
    run --separate-stderr "$IMP" paper alphabts
    [ "$status" -eq 2 ]
    [ "$stderr" = "imp paper: there is no table or run 'alphabts'; did you mean 'alphabets'?" ]
    run --separate-stderr "$IMP" paper nonsense
    [ "$status" -eq 2 ]
    [[ $stderr == "imp paper: there is no table or run 'nonsense'; tables are all, alphabets, "* ]]
    run --separate-stderr "$IMP" paper ablation-imp alphabets
    [ "$status" -eq 2 ]
    [ "$stderr" = "imp paper: 'alphabets' is not a run and must be the only argument; only runs can be combined" ]
    run --separate-stderr "$IMP" paper ablation-imp ablation-inp
    [ "$status" -eq 2 ]
    [ "$stderr" = "imp paper: there is no run 'ablation-inp'; did you mean 'ablation-imp'?" ]
    run --separate-stderr "$IMP" paper ablation-imp-seed9
    [ "$status" -eq 2 ]
    [[ $stderr == "imp paper: there is no table or run 'ablation-imp-seed9'; "* ]]
    touch file
    run --separate-stderr "$IMP" paper tied --out file/out --runs runs
    [ "$status" -eq 1 ]
    [ "$stderr" = "imp paper: cannot make the folder 'file/out': Not a directory" ]
}

@test "the list estimates before anything is there" {
    run --separate-stderr "$IMP" paper --list
    [ "$status" -eq 0 ]
    [ "${lines[1]}" = \
        "There are no result files in 'results/omniglot'; name the folder above theirs with --out." ]
    [[ $output == *"mini-ImageNet"*"no result files in 'results/mini-imagenet'"* ]]
    [[ ${lines[3]} =~ ^\ +alphabets-imp-seed1\ +not\ begun,\ [0-9]+\ updates\ +about\ [0-9:]+$ ]]
    [[ $output == *" 0 begun, "*"estimated at "*" images/s" ]]
}

@test "results of other settings, and somebody's README, are left alone" {
    "$IMP" paper tied "${tiny[@]}" --quiet
    run --separate-stderr "$IMP" paper tied "${tiny[@]}" --updates 3 --runs other
    [ "$status" -eq 1 ]
    [[ $stderr == "imp paper: ablation-imp-seed1: 'out/omniglot/ablation-imp-seed1.json' is the result of a run with a different 'updates' than the table needs; "* ]]
    [ ! -e other/ablation-imp-seed1 ]
    mkdir omniglot
    echo mine >omniglot/README.md
    run --separate-stderr "$IMP" paper tied "${tiny[@]}" --out . --train-nothing
    [ "$status" -eq 1 ]
    [[ $stderr == *"imp paper: './omniglot/README.md' is not a report of the paper's tables and is left alone; "* ]]
    [ "$(cat omniglot/README.md)" = mine ]
}

@test "a list of all tables counts what any of them lacks" {
    "$IMP" paper tied "${tiny[@]}" --quiet
    rm -r runs
    run --separate-stderr "$IMP" paper --list tied "${tiny[@]}"
    [[ $output =~ ablation-imp-seed1\ +done ]]
    run --separate-stderr "$IMP" paper --list "${tiny[@]}"
    [[ $output =~ ablation-imp-seed1\ +done\ in\ part ]]
    [[ $output =~ ablation-imp-tied-seed1\ +done ]]
}

@test "several datasets have their own tables, folders and reports" {
    make_mini mini 10 40 9
    "$IMP" data pack mini-imagenet:mini mini.pack
    both=("${tiny[@]}" --data mini.pack)
    run --separate-stderr "$IMP" paper tied "${both[@]}"
    [ "$status" -eq 0 ]
    [ "$(ls out/mini-imagenet | tr '\n' ' ')" = "README.md mini-ablation-imp-tied-seed1.json \
mini-semi-5way-1shot-imp-seed1.json " ]
    grep -q '^| one variance | IMP, tied | 48.6 ± 0.4 | [0-9.]* ± [0-9.]* |' \
        out/mini-imagenet/README.md
    grep -q '^| one variance | IMP, tied | 93.5 ± 0.3 | [0-9.]* ± [0-9.]* |' out/omniglot/README.md
    [[ $stderr == *"the report is out/omniglot/README.md"*"the report is out/mini-imagenet/README.md" ]]
    run --separate-stderr "$IMP" paper --list tied "${both[@]}"
    [ "$status" -eq 0 ]
    [[ $output =~ mini-ablation-imp-tied-seed1\ +done ]]
    # of one of them alone
    run --separate-stderr "$IMP" paper --list tied --data mini.pack --out out --runs runs
    [[ $output != *Omniglot* && $output == *mini-ImageNet* ]]
    run --separate-stderr "$IMP" paper alphabets --data mini.pack --out out --runs runs
    [ "$status" -eq 2 ]
    [ "$stderr" = "imp paper: the table 'alphabets' needs a dataset that is not given; name it with --data" ]
    run --separate-stderr "$IMP" paper tied --data mini-imagenet:mini --data mini.pack
    [ "$status" -eq 2 ]
    [ "$stderr" = "imp paper: 'mini-imagenet:mini' and 'mini.pack' are both mini-ImageNet; give one of them" ]
}
