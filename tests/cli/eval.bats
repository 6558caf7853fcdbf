# `imp eval` and `imp model` on a small trained model, and `imp demo` in small.
bats_require_minimum_version 1.5.0 # run --separate-stderr

setup_file() {
    cd "$BATS_FILE_TMPDIR" || return
    "$IMP" train --quiet --out run --size 16 --alphabets 12 \
        --network conv3x3:8,bn,relu,pool,conv3x3:8,bn,relu,pool --task alphabets --way 2 --modes 4 \
        --queries 2 --updates 30 --validate-every 15 --validation-episodes 5
}

setup() {
    cd "$BATS_FILE_TMPDIR" || return
    model=run/model.safetensors
}

@test "eval tells accuracy, interval, clusters, mode, fingerprint and seed" {
    run --separate-stderr "$IMP" eval --model $model --episodes 20 --seed 7
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    [[ ${lines[0]} == "20 testing episodes, seed 7, of glyphs ("*"), batch norm with running statistics" ]]
    [[ ${lines[2]} =~ ^imp\ +[0-9.]+%\ ±\ [0-9.]+\ +[0-9.]+\ +[0-9.]+\ +[0-9.]+$ ]]
}

@test "eval --batch-norm episode normalises each episode by itself, and says so" {
    "$IMP" eval --model $model --episodes 20 >default
    "$IMP" eval --model $model --episodes 20 --batch-norm running >running
    "$IMP" eval --model $model --episodes 20 --batch-norm episode --threads 1 >episode
    "$IMP" eval --model $model --episodes 20 --batch-norm episode --threads 3 >threads
    cmp default running
    cmp episode threads
    [[ $(head -n 1 episode) == *", batch norm with statistics of each episode" ]]
    [ "$(tail -n 1 episode)" != "$(tail -n 1 running)" ]
    "$IMP" eval --model $model --episodes 2 --batch-norm episode --json |
        grep -q '"batch_norm": "statistics of each episode"'
    run --separate-stderr "$IMP" eval --model $model --batch-norm batch
    [ "$status" -eq 2 ]
}

@test "eval gives the same numbers on any number of threads" {
    for threads in 1 2 8; do
        "$IMP" eval --model $model --episodes 30 --threads $threads --method imp,prototypes,em \
            >"threads$threads"
    done
    cmp threads1 threads2
    cmp threads1 threads8
}

@test "eval --json is JSON that says where it came from" {
    run --separate-stderr "$IMP" eval --model $model --episodes 5 --method imp,dp-means --json \
        --lambda-sweep 1:10:4
    [ "$status" -eq 0 ]
    /usr/bin/python3 -c '
import json, sys
report = json.load(sys.stdin)
assert report["episodes"] == 5 and report["seed"] == 1 and report["validation_episodes"] == 0
assert len(report["fingerprint"]) == 64 and report["batch_norm"] == "running statistics"
assert report["command"].startswith("imp eval --model")
found = [(r["method"], r["lambda"]) for r in report["results"]]
assert found == [(m, l) for m in ("imp", "dp-means") for l in (1.0, 4.0, 7.0, 10.0)], found
assert all(0 <= r["accuracy"]["mean"] <= 1 and r["accuracy"]["interval"] >= 0 for r in report["results"])
' <<<"$output"
}

@test "eval takes other episodes than the training's" {
    run --separate-stderr "$IMP" eval --model $model --for validation --episodes 5
    [ "$status" -eq 0 ]
    [[ ${lines[0]} == "5 validation episodes, "* ]]
    for options in "" "--for validation" "--pool train" "--pool val" "--seed 2" "--task characters" \
        "--task characters --way 8"; do
        # shellcheck disable=SC2086 # words to split
        "$IMP" eval --model $model --episodes 5 --json $options >report
        /usr/bin/python3 -c '
import json
print(json.load(open("report"))["results"][0]["loss"])' >>losses
    done
    # Also validation and a test of its split: purposes have seeds of their own.
    [ "$(sort -u losses | wc -l)" -eq 7 ]
}

@test "eval tells both accuracies where clusters without a label come about" {
    semi=(--task classes --way 3 --shot 1 --queries 2 --unlabeled 2 --distractors 2 --alpha 1e9)
    run --separate-stderr "$IMP" eval --model $model --episodes 10 "${semi[@]}" \
        --method imp,prototypes
    [ "$status" -eq 0 ]
    [[ ${lines[1]} =~ ^method\ +accuracy\ +open\ +clusters ]]
    [[ ${lines[2]} =~ ^imp\ +[0-9.]+%\ ±\ [0-9.]+\ +[0-9.]+%\ ±\ [0-9.]+\ +[0-9.]+ ]]
    [[ ${lines[4]} == "accuracy is among the classes only; open counts a query "* ]]
    "$IMP" eval --model $model --episodes 10 "${semi[@]}" --method imp,prototypes --json |
        /usr/bin/python3 -c '
import json, sys
imp, prototypes = json.load(sys.stdin)["results"]
assert imp["unlabeled_clusters"] > 0 and imp["open_accuracy"]["mean"] < imp["accuracy"]["mean"], imp
assert imp["open_accuracy"]["interval"] >= 0 and prototypes["unlabeled_clusters"] == 0
assert prototypes["open_accuracy"] == prototypes["accuracy"]
'
    run --separate-stderr "$IMP" eval --model $model --episodes 3
    [[ $output != *open* ]]
}

@test "eval --unsupervised clusters, with lambda given, swept or chosen" {
    run --separate-stderr "$IMP" eval --model $model --unsupervised --way 4 --episodes 5 --lambda 3
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    [[ ${lines[0]} == "5 testing episodes without labels, seed 1, of glyphs ("* ]]
    [[ ${lines[2]} =~ ^imp\ +3.000\ +[0-9.]+\ ±\ [0-9.]+\ .*\ [0-9.]+$ ]]
    run --separate-stderr "$IMP" eval --model $model --unsupervised --way 4 --shot 3 --episodes 5 \
        --lambda auto --lambda-episodes 3 --method imp,dp-means
    [ "$status" -eq 0 ]
    [ "${lines[1]}" = "lambda chosen by AMI on 3 validation episodes" ]
    [[ ${lines[3]} == "imp "* && ${lines[4]} == "dp-means "* ]]
    "$IMP" eval --model $model --unsupervised --way 4 --episodes 5 --json --lambda-sweep 1:5:3 |
        /usr/bin/python3 -c '
import json, sys
report = json.load(sys.stdin)
assert report["batch_norm"] == "running statistics" and report["validation_episodes"] == 0
assert [r["lambda"] for r in report["results"]] == [1, 3, 5]
assert all(0 <= r["purity"]["mean"] <= 1 and r["ami"]["interval"] >= 0 for r in report["results"])
'
}

@test "eval --unsupervised gives the same numbers on any number of threads" {
    for mode in running episode; do
        for threads in 1 3; do
            "$IMP" eval --model $model --unsupervised --way 4 --episodes 5 --lambda-episodes 4 \
                --threads $threads --batch-norm $mode >"$mode$threads"
        done
        cmp ${mode}1 ${mode}3
    done
    head -n 1 episode1 | grep -q "batch norm with statistics of each episode$"
    ! cmp -s <(tail -n 1 running1) <(tail -n 1 episode1)
}

@test "eval --json is JSON also where a name is not UTF-8, or the command line is long" {
    name=$'caf\xe9'
    cp $model "$name"
    mkdir -p "$(printf 'é%.0s' {1..120})"
    long=()
    for _ in {1..20}; do long+=(--model ééé*é/../$model); done
    for way in "" "--unsupervised --lambda 3"; do
        # shellcheck disable=SC2086 # words are options
        run --separate-stderr "$IMP" eval --model "$name" --data glyphs --episodes 2 --json $way
        [ "$status" -eq 0 ]
        /usr/bin/python3 -c 'import json, sys
o = json.loads(sys.argv[1])
assert o["model"] == "caf\ufffd" and "--model caf\ufffd --data" in o["command"], o' "$output"
        # Of two command lines, one of them a byte longer, one is cut within a letter.
        for seed in 1 11; do
            # shellcheck disable=SC2086 # words are options
            "$IMP" eval --json --seed $seed "${long[@]}" --episodes 2 $way |
                /usr/bin/python3 -c 'import json, sys
assert len(json.load(sys.stdin)["command"]) > 1000'
        done
    done
}

@test "eval's mistakes are sentences" {
    for way in "" --unsupervised; do
        # shellcheck disable=SC2086 # words are options
        run --separate-stderr "$IMP" eval --model $model --method "" $way
        [ "$status" -eq 2 ]
        [ -z "$output" ]
        [ "$stderr" = "imp eval: option '--method' needs NAME, not an empty value" ]
    done
    run --separate-stderr "$IMP" eval --model $model --unsupervised --method prototypes
    [ "$status" -eq 2 ]
    [ "$stderr" = "imp eval: 'prototypes' does not cluster without labels; imp and dp-means do; choose with --method" ]
    run --separate-stderr "$IMP" eval
    [ "$status" -eq 2 ]
    [[ $stderr == "imp eval: "*"--model FILE" ]]
    run --separate-stderr "$IMP" eval --model $model --size 20
    [ "$status" -eq 1 ]
    [[ $stderr == "imp eval: 'run/model.safetensors' needs images of 1x16x16, "* ]]
    run --separate-stderr "$IMP" eval --model $model --method unknown
    [ "$status" -eq 1 ]
    [[ $stderr == "imp eval: 'unknown' is not a method; there are imp, "* ]]
    run --separate-stderr "$IMP" eval --model $model --lambda-sweep 5
    [ "$status" -eq 2 ]
    run --separate-stderr "$IMP" eval --model run/log.csv
    [ "$status" -eq 1 ]
    [[ $stderr == "imp eval: run/log.csv: "* ]]
}

# accuracy OPTION...: of the model on the drawings in `letters`.
accuracy() {
    "$IMP" eval --data letters --task classes --way 5 --shot 1 --episodes 40 --json "$@" 2>said |
        /usr/bin/python3 -c 'import json, sys
r = json.load(sys.stdin)
print("%.6f" % r["results"][0]["accuracy"]["mean"], r["settings"]["rotations"], r["settings"]["split"])'
}

@test "eval: a folder that the model was not trained on is met as classify would meet it" {
    cd "$BATS_TEST_TMPDIR"
    "$IMP" train --quiet --out turned --data glyphs --size 16 --alphabets 10 --rotations 4 --updates 20 \
        --validate-every 0 --network conv3x3:8,bn,relu,pool,flatten
    "$IMP" data export glyphs letters --alphabets 2 --fewest-characters 4 --most-characters 4 \
        --drawings 8 --size 40 >/dev/null
    model=(--model turned/model.safetensors)
    dark=$(accuracy "${model[@]}")
    grep -q "pictures become 16x16, gray, inverted because the background is light; not rotated" said
    [ "$dark" = "$(accuracy "${model[@]}" --ink invert --rotations 1 --split classes:0/0/1 --colour gray)" ]
    [[ $dark == *" 1 classes:0/0/1" ]]
    # Chalk on a board comes to the same, but for how pixels are rounded.
    /usr/bin/python3 -c 'import glob
from PIL import Image, ImageOps
for path in glob.glob("letters/*/*/*.png"):
    ImageOps.invert(Image.open(path).convert("L")).save(path)'
    chalk=$(accuracy "${model[@]}")
    grep -q "gray, as they are; not rotated" said
    /usr/bin/python3 -c 'import sys
assert abs(float(sys.argv[1]) - float(sys.argv[2])) <= 0.01, sys.argv' "${chalk%% *}" "${dark%% *}"
    # What is typed counts.
    [[ $(accuracy "${model[@]}" --rotations 4) == *" 4 classes:0/0/1" ]]

    run --separate-stderr "$IMP" eval "${model[@]}" --data letters --task classes --split classes:1/0/0
    [ "$status" -eq 1 ]
    [[ ${stderr_lines[-1]} == *"'letters' has 8 classes, none of them for testing (split classes:1/0/0); --split \
classes:0/0/1 makes all of them test classes, and --pool train draws from the training classes" ]]
}

@test "eval: without --model it is the built-in one" {
    load pictures
    needs_built_in_model
    cd "$BATS_TEST_TMPDIR"
    "$IMP" data export glyphs letters --alphabets 2 --fewest-characters 4 --most-characters 4 \
        --drawings 8 --size 40 >/dev/null
    [[ $(accuracy) == 0.[6-9]* ]]
}

@test "eval: what the model was trained on is not all tested on" {
    cd "$BATS_TEST_TMPDIR"
    "$IMP" data export glyphs letters --alphabets 2 --fewest-characters 4 --most-characters 4 \
        --drawings 8 --size 40 >/dev/null
    "$IMP" train --quiet --out run --data letters --updates 3 --network conv3x3:4,bn,relu,pool
    mv letters moved
    run --separate-stderr "$IMP" eval --model run/model.safetensors --data moved --way 2
    [ "$status" -eq 1 ]
    [[ ${stderr_lines[-1]} == *"'moved' holds the pictures that the model was trained on; --split "* ]]
}

@test "model info tells what a file holds" {
    run --separate-stderr "$IMP" model info $model
    [ "$status" -eq 0 ]
    [[ ${lines[0]} == "network     conv3x3:8,"* ]]
    [[ ${lines[1]} == "images      1x16x16, byte / 255" ]]
    [[ ${lines[3]} == "method      imp, sigma_l "* ]]
    run --separate-stderr "$IMP" model info --json $model
    /usr/bin/python3 -c '
import json, sys
about = json.load(sys.stdin)
assert about["method"] == "imp" and about["input"] == [1, 16, 16] and about["embedding"] == 128
assert len(about["sha256"]) == 64
' <<<"$output"
}

@test "a model one bit of which is another is refused" {
    run "$IMP" model info $model
    [[ ${lines[-1]} =~ ^checksum\ +[0-9a-f]{64}$ ]]
    /usr/bin/python3 - $model <<'END'
import sys
data = bytearray(open(sys.argv[1], "rb").read())
data[-5] ^= 1
open("damaged.safetensors", "wb").write(data)
END
    run --separate-stderr "$IMP" model info damaged.safetensors
    [ "$status" -eq 1 ]
    [[ $stderr == "imp model: damaged.safetensors: it is damaged: "* ]]
}

@test "a checkpoint can be shown as a model" {
    run --separate-stderr "$IMP" model info run/checkpoint.safetensors
    [ "$status" -eq 0 ]
}

@test "model import reads a state dict and makes a model of it" {
    run --separate-stderr "$IMP" model import $model --network conv4 --size 16 --out imported
    [ "$status" -eq 1 ]
    /usr/bin/python3 - $model <<'END'
import json, struct, sys
data = open(sys.argv[1], "rb").read()
size = struct.unpack("<Q", data[:8])[0]
header = json.loads(data[8:8 + size])
names = [n for n in header if n.startswith("blocks.")]
body, out = b"", {}
for name in names:
    begin, end = header[name]["data_offsets"]
    out[name] = dict(header[name], data_offsets=[len(body), len(body) + end - begin])
    body += data[8 + size + begin:8 + size + end]
text = json.dumps(out).encode()
text += b" " * (-len(text) % 8)
open("state_dict.safetensors", "wb").write(struct.pack("<Q", len(text)) + text + body)
END
    run --separate-stderr "$IMP" model import state_dict.safetensors \
        --network conv3x3:8,bn,relu,pool,conv3x3:8,bn,relu,pool --size 16 --method prototypes \
        --out imported.safetensors
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    run --separate-stderr "$IMP" eval --model imported.safetensors --alphabets 12 --task alphabets \
        --way 2 --modes 4 --episodes 10
    [ "$status" -eq 0 ]
    [[ $output == *"prototypes "* ]]
}

@test "eval --learn-sigma begins where training would, on a model that did not learn it" {
    "$IMP" train --quiet --out plain --size 16 --alphabets 12 --method prototypes \
        --network conv3x3:8,bn,relu,pool,conv3x3:8,bn,relu,pool --task alphabets --way 2 --modes 4 \
        --queries 2 --updates 1 --validate-every 0
    loss() {
        "$IMP" eval --model plain/model.safetensors --episodes 5 --json "$@" |
            sed -n 's/.*"loss": \([^,]*\),*/\1/p'
    }
    learned=$(loss --learn-sigma)
    [ -n "$learned" ]
    [ "$learned" = "$(loss --learn-sigma --sigma-l 5)" ]
    [ "$learned" != "$(loss)" ]
}

@test "eval --unsupervised takes as many steps as it is told to" {
    clusters=(eval --model $model --unsupervised --way 8 --episodes 20 --lambda 10 --sigma-u 9)
    "$IMP" "${clusters[@]}" --cluster-steps 5 >five
    "$IMP" "${clusters[@]}" --cluster-steps 1 >one
    "$IMP" "${clusters[@]}" >own
    cmp five own
    ! cmp -s one own
}

@test "model export writes ONNX" {
    run --separate-stderr "$IMP" model export $model --onnx embedding.onnx
    [ "$status" -eq 0 ]
    [ -s embedding.onnx ]
    run --separate-stderr "$IMP" model export $model
    [ "$status" -eq 2 ]
}

@test "model import and export do not write over what they read" {
    cp $model here.safetensors
    for words in "export here.safetensors --onnx" "import here.safetensors --out"; do
        # shellcheck disable=SC2086 # words are options
        run --separate-stderr "$IMP" model $words here.safetensors
        [ "$status" -eq 2 ]
        [ "$stderr" = "imp model: 'here.safetensors' is an input and cannot be the output as well; name \
another file" ]
        cmp $model here.safetensors
    done
}

@test "demo compares, draws and speaks" {
    run --separate-stderr "$IMP" demo --updates 2 --episodes 2 --picture small.png
    [ "$status" -eq 0 ]
    [[ $output == *"method"*"accuracy"*"clusters per class"*"training"* ]]
    [[ $output == *"Next, train for longer"* ]]
    [ "$(head -c 4 small.png | tail -c 3)" = PNG ]
}

@test "demo refuses a picture of an unknown kind before it trains" {
    run --separate-stderr "$IMP" demo --picture small.jpg
    [ "$status" -eq 2 ]
    [[ $stderr == *"'small.jpg'"*".png or .svg"* ]]
}
