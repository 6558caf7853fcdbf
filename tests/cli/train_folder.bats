# imp train --data FOLDER: anyone's own pictures, without any other option.
bats_require_minimum_version 1.5.0 # run --separate-stderr

setup_file() {
    load pictures
    cd "$BATS_FILE_TMPDIR"
    draw shapes 1 4
}

setup() {
    load pictures
    cd "$BATS_TEST_TMPDIR"
    small=(--network conv3x3:4,bn,relu,pool --updates 4)
}

@test "train on a folder: what was chosen is said, and is in the settings" {
    run --separate-stderr "$IMP" train --data "$BATS_FILE_TMPDIR/shapes" --out run "${small[@]}"
    [ "$status" -eq 0 ]
    [ "${stderr_lines[0]}" = "12 pictures in 3 classes, 4 in each; settings chosen where not given:" ]
    [ "${stderr_lines[1]}" = \
        "  pictures  28x28, gray, inverted because the background is light, not rotated" ]
    [ "${stderr_lines[2]}" = \
        "  split     3 labels train, 0 validate, 0 test (--split classes:1/0/0)" ]
    [ "${stderr_lines[3]}" = "  episodes  3-way 2-shot, up to 5 queries of each class" ]
    [ "${stderr_lines[4]}" = "  training  4 updates, not validated: the last model is kept" ]
    for setting in '"size": 28' '"colour": "gray"' '"ink": "invert"' '"way": 3' '"shot": 2' \
        '"split": "classes:1/0/0"' '"validate-every": 0' '"updates": 4'; do
        grep -qF "$setting" run/settings.json
    done
    "$IMP" train --quiet --resume run --updates 6
    run "$IMP" classify --support "$BATS_FILE_TMPDIR/shapes" --model run/model.safetensors \
        "$BATS_FILE_TMPDIR/shapes/ring/1.png"
    [ "$status" -eq 0 ]
}

@test "eval on a folder: a model of alphabets tells classes apart where there are no super-classes" {
    "$IMP" train --quiet --size 16 --alphabets 10 --network conv3x3:4,bn,relu,pool --task super-classes --way 2 \
        --modes 3 --queries 2 --updates 2 --validate-every 0 --out alphabets
    run --separate-stderr "$IMP" eval --model alphabets/model.safetensors --way 3 --episodes 3 \
        --data "$BATS_FILE_TMPDIR/shapes"
    [ "$status" -eq 0 ]
    [[ $stderr == *"; labels are classes, as there are no super-classes"* ]]
    [[ $output == "3 testing episodes"* ]]
}

@test "train on a folder: the help and the manual say that its defaults are chosen" {
    for option in --help --help-all; do
        "$IMP" train $option | grep -qxF "Data (for a folder, the command chooses what is not given)"
        [ "$("$IMP" train $option | grep -c '(likewise)$')" -eq 3 ]
    done
    "$IMP" help --man train | tr '\n' ' ' | grep -q "the command instead chooses the size and ink"
}

@test "train on a folder: what is given stays, and quiet is quiet" {
    run --separate-stderr "$IMP" train --quiet --data "folder:$BATS_FILE_TMPDIR/shapes" --out run \
        "${small[@]}" --size 20 --way 2 --shot 1 --ink as-is --colour rgb --split own
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    for setting in '"size": 20' '"way": 2' '"shot": 1' '"ink": "as-is"' '"colour": "rgb"' \
        '"split": "own"'; do
        grep -qF "$setting" run/settings.json
    done
}

@test "train on a folder: many classes validate, and the smallest decides the shot" {
    for number in 0 1 2 3 4 5 6 7; do
        cp -r "$BATS_FILE_TMPDIR/shapes/ring" "a$number"
    done
    rm a3/3.png a3/4.png
    mkdir data
    mv a? data
    echo "not a picture" >data/a1/notes.txt
    convert 'i.convert("RGB").resize((90, 30))' data/a2/1.png data/a2/5.jpg
    run --separate-stderr "$IMP" train --data data --out run "${small[@]}"
    [ "$status" -eq 0 ]
    [ "${stderr_lines[0]}" = \
        "31 pictures in 8 classes, 2 to 5 in each; settings chosen where not given:" ]
    [ "${stderr_lines[2]}" = \
        "  split     6 labels train, 2 validate, 0 test (--split classes:0.75/0.25/0)" ]
    [ "${stderr_lines[3]}" = "  episodes  5-way 1-shot, up to 5 queries of each class" ]
    [ "${stderr_lines[4]}" = "  training  4 updates, validated every 1 by 2-way episodes" ]
}

noise() { # FOLDER SIZE: coloured pictures of that size
    for class in a b; do
        mkdir -p "$1/$class"
        for number in 1 2; do
            convert "Image.merge('RGB', [Image.effect_noise(($2), 90) for _ in range(3)])" \
                "$BATS_FILE_TMPDIR/shapes/ring/1.png" "$1/$class/$number.jpg"
        done
    done
}

@test "train on a folder: photographs are larger, in colour, not inverted and never enlarged" {
    noise small 60,40
    run --separate-stderr "$IMP" train --data small --out small-run "${small[@]}" --updates 1
    [ "$status" -eq 0 ]
    [ "${stderr_lines[1]}" = "  pictures  40x40, RGB, not rotated" ]
    noise data 120,90
    run --separate-stderr "$IMP" train --data data --out run "${small[@]}" --updates 1
    [ "$status" -eq 0 ]
    [ "${stderr_lines[1]}" = "  pictures  84x84, RGB, not rotated" ]
    grep -qF '"sigma-l": 15.0' run/settings.json
    grep -Eq '"alpha": 1\.0+1?e-0?5' run/settings.json
}

@test "train on a folder: unlabelled pictures and empty sub-folders are left out, and that is said" {
    cp -r "$BATS_FILE_TMPDIR/shapes" data
    "$IMP" data info data --json | grep -v unlabeled >before
    cp data/ring/1.png data/loose.png
    mkdir -p data/_unlabeled/deep/er/still data/nothing/in/it data/none
    cp data/ring/[12].png data/_unlabeled
    cp data/ring/3.png data/_unlabeled/deep/er/still
    echo notes >data/none/notes.txt
    run --separate-stderr "$IMP" train --data data --out run "${small[@]}"
    [ "$status" -eq 0 ]
    [ "${stderr_lines[0]}" = "12 pictures in 3 classes, 4 in each; settings chosen where not given:" ]
    [ "${stderr_lines[1]}" = "  left out  4 unlabelled pictures are not used" ]
    [ "${stderr_lines[2]}" = "  left out  2 sub-folders have no pictures: 'none', ..." ]
    [[ "${stderr_lines[3]}" = "  pictures  28x28, gray, inverted"* ]]
    "$IMP" data info data --json | diff - <(sed '/^  "images"/a\  "unlabeled": 4,' before)
    "$IMP" data info data | grep -q '^unlabelled   4, without a class, not used$'
    rm -r data/_unlabeled data/none
    /usr/bin/python3 -m zipfile -c data.zip data
    run --separate-stderr "$IMP" train --data data.zip --out zip "${small[@]}"
    [ "${stderr_lines[1]}" = "  left out  1 unlabelled picture is not used" ]
    run --separate-stderr "$IMP" train --data data --out one "${small[@]}"
    [ "${stderr_lines[2]}" = "  left out  1 sub-folder has no pictures: 'nothing'" ]
}

@test "train on a folder: pictures of kinds that are not read are counted and listed" {
    cp -r "$BATS_FILE_TMPDIR/shapes" data
    touch data/ring/a.svg data/ring/b.avif
    run --separate-stderr "$IMP" train --data data --out run "${small[@]}"
    [ "$status" -eq 0 ]
    [ "${stderr_lines[1]}" = \
        "  left out  2 pictures in formats that are not read: 'ring/a.svg', 'ring/b.avif'" ]
    "$IMP" data info data | grep -qx \
        "left out     2 pictures in formats that are not read: 'ring/a.svg', 'ring/b.avif'"
    "$IMP" data info data --json | grep -q '"passed_over": 2'
}

@test "train on a folder: a zip is one too" {
    (cd "$BATS_FILE_TMPDIR" && /usr/bin/python3 -m zipfile -c "$BATS_TEST_TMPDIR/s.zip" shapes)
    run --separate-stderr "$IMP" train --data s.zip --out run "${small[@]}"
    [ "$status" -eq 0 ]
    [ "${stderr_lines[0]}" = "12 pictures in 3 classes, 4 in each; settings chosen where not given:" ]
}

@test "train on a folder: a broken picture is left out where that is wanted, and named" {
    cp -r "$BATS_FILE_TMPDIR/shapes" data
    echo text >data/ring/broken.png
    run --separate-stderr "$IMP" train --data data --out run "${small[@]}"
    [ "$status" -eq 1 ]
    [[ $stderr == *"ring/broken.png: the file is not a picture"* ]]
    run --separate-stderr "$IMP" train --data data --out run "${small[@]}" --skip-broken
    [ "$status" -eq 0 ]
    [[ ${stderr_lines[0]} == "imp train: left out: "*"ring/broken.png: the file is not a picture"* ]]
}

@test "train on a folder: --minutes fits updates and schedule into a time" {
    run --separate-stderr "$IMP" train --data "$BATS_FILE_TMPDIR/shapes" --out run --minutes 0.02 \
        --network conv3x3:4,bn,relu,pool
    [ "$status" -eq 0 ]
    [[ $stderr == *"  training  as many updates as fit into 0.02 minutes"* ]]
    [[ $stderr =~ ([0-9]+)\ updates\ fit\ into\ 0.02\ minutes ]]
    grep -qF "\"updates\": ${BASH_REMATCH[1]}," run/settings.json
    [ -s run/model.safetensors ]
    run --separate-stderr "$IMP" train --data "$BATS_FILE_TMPDIR/shapes" --out no --minutes 1 --updates 5
    [ "$status" -eq 2 ]
    [ "$stderr" = "imp train: --minutes determines the number of updates; give either --minutes or --updates" ]
    [ ! -e no ]
}

fails() { # SENTENCE ARGUMENT...
    run --separate-stderr "$IMP" train --out run "${small[@]}" "${@:2}"
    [ "$status" -eq 1 ]
    [ "${stderr_lines[-1]}" = "imp train: $1" ]
    [ ! -e run ]
}

@test "train on a folder: too little is a sentence" {
    mkdir empty
    fails "empty: there are no pictures ($endings)" --data empty
    mkdir -p one
    cp -r "$BATS_FILE_TMPDIR/shapes/ring" one/ring
    fails "'one' has only one class, 'ring'; training needs at least two" \
        --data one
    mkdir -p one/bars
    cp "$BATS_FILE_TMPDIR/shapes/bars/1.png" one/bars
    fails "the class 'bars' of 'one' has one picture; training needs at least two of each class, a \
support and a query" --data one
    mkdir -p heap/_unlabeled
    cp "$BATS_FILE_TMPDIR/shapes/bars/1.png" heap/stray.png
    cp "$BATS_FILE_TMPDIR/shapes/bars/1.png" heap/_unlabeled
    fails "no picture in 'heap' is in a class; pictures belong in CLASS/PICTURE or \
SUPER-CLASS/CLASS/PICTURE" --data heap
    echo text >one/bars/2.png
    fails "one: bars/2.png: the file is not a picture of a known kind (PNG, JPEG, WebP, HEIF, TIFF, GIF, BMP)" --data one
    fails "cannot read 'nowhere': No such file or directory" --data nowhere
}
