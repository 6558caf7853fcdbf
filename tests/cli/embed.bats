# imp embed: pictures into vectors.
bats_require_minimum_version 1.5.0 # run --separate-stderr

setup_file() {
    load pictures
    cd "$BATS_FILE_TMPDIR"
    small_model run
    draw shapes 1 3
}

setup() {
    load vectors
    load pictures
    cd "$BATS_FILE_TMPDIR"
    model=(--model run/model.safetensors)
}

@test "embed: a row for each picture, and their paths beside" {
    run --separate-stderr "$IMP" embed shapes/ring shapes/cross/2.png "${model[@]}" \
        -o "$BATS_TEST_TMPDIR/x.npy"
    [ "$status" -eq 0 ]
    [ -z "$output" ]
    [[ "$stderr" =~ ^"for imp fit and imp classify: --sigma-l "[0-9.]+" --sigma-u "[0-9.]+\
" --alpha 0.1"$ ]]
    [ "$(cat "$BATS_TEST_TMPDIR/x.txt")" = "shapes/ring/1.png
shapes/ring/2.png
shapes/ring/3.png
shapes/cross/2.png" ]
    /usr/bin/python3 -c 'import numpy, sys
x = numpy.load(sys.argv[1])
assert x.shape == (4, 128) and x.dtype == "float32", x.shape' "$BATS_TEST_TMPDIR/x.npy"
    "$IMP" embed shapes/ring/1.png "${model[@]}" -o "$BATS_TEST_TMPDIR/y" \
        --names "$BATS_TEST_TMPDIR/names"
    [ "$(cat "$BATS_TEST_TMPDIR/names")" = shapes/ring/1.png ]
    [ ! -e "$BATS_TEST_TMPDIR/y.txt" ]
}

@test "embed: the model is not written over" {
    cp run/model.safetensors "$BATS_TEST_TMPDIR/m"
    for output in "-o $BATS_TEST_TMPDIR/m" "-o $BATS_TEST_TMPDIR/x --names $BATS_TEST_TMPDIR/m"; do
        # shellcheck disable=SC2086 # words are options
        run --separate-stderr "$IMP" embed shapes --model "$BATS_TEST_TMPDIR/m" $output
        [ "$status" -eq 2 ]
        [ "$stderr" = "imp embed: '$BATS_TEST_TMPDIR/m' is an input and cannot be the output as well; name \
another file" ]
    done
    for command in "classify --support shapes" cluster; do
        # shellcheck disable=SC2086 # words are options
        run --separate-stderr "$IMP" $command shapes --model "$BATS_TEST_TMPDIR/m" \
            --html "$BATS_TEST_TMPDIR/m"
        [ "$status" -eq 2 ]
    done
    cmp run/model.safetensors "$BATS_TEST_TMPDIR/m"
}

@test "embed: vectors depend on nothing but the picture" {
    "$IMP" embed shapes "${model[@]}" -o "$BATS_TEST_TMPDIR/all.npy" --threads 2
    "$IMP" embed shapes/ring/3.png "${model[@]}" -o "$BATS_TEST_TMPDIR/one.npy" --threads 1
    /usr/bin/python3 -c 'import numpy, sys
assert (numpy.load(sys.argv[1])[8] == numpy.load(sys.argv[2])[0]).all()' \
        "$BATS_TEST_TMPDIR/all.npy" "$BATS_TEST_TMPDIR/one.npy"
}

@test "embed: size, format, colour, depth and ink of a file make no difference" {
    cd "$BATS_TEST_TMPDIR"
    from=$BATS_FILE_TMPDIR/shapes/cross/1.png
    mkdir same
    cp "$from" same/0.png
    convert 'i.convert("RGB")' "$from" same/1.png
    convert 'Image.merge("LA", (i.point(lambda v: 0), ImageOps.invert(i)))' "$from" same/2.png
    convert 'i.convert("I").point(lambda v: v * 257).convert("I;16")' "$from" same/3.png
    convert 'i.resize((240, 240), Image.NEAREST)' "$from" same/4.png
    convert 'ImageOps.invert(i)' "$from" same/5.png
    convert 'i.convert("P")' "$from" same/6.png
    convert 'i.convert("RGB").resize((480, 480), Image.NEAREST)' "$from" same/7.JPEG
    "$IMP" embed same --model "$BATS_FILE_TMPDIR/run/model.safetensors" -o x.npy
    /usr/bin/python3 -c 'import numpy
x = numpy.load("x.npy")
scale = numpy.abs(x[0]).max()
difference = numpy.abs(x - x[0]).max(1) / scale
assert (difference[[0, 1, 2, 3, 4, 6]] == 0).all(), difference
assert (difference < 0.02).all(), difference  # rounded the other way, and a JPEG'
    "$IMP" embed same --model "$BATS_FILE_TMPDIR/run/model.safetensors" -o y.npy --ink as-is
    "$IMP" embed same --model "$BATS_FILE_TMPDIR/run/model.safetensors" -o z.npy --ink invert
    /usr/bin/python3 -c 'import numpy
x, y, z = (numpy.load(name + ".npy") for name in "xyz")
assert (y[5] == x[5]).all() and not (y[0] == x[0]).all()
assert (z[0] == x[0]).all() and (z[5] == y[0]).all()'
}

@test "embed: a folder of classes gives labels, and the vectors classify as the pictures do" {
    draw new 7 9
    "$IMP" embed shapes "${model[@]}" -o s.npy --labels y.npy
    "$IMP" embed new "${model[@]}" -o q.npy
    /usr/bin/python3 -c 'import numpy
assert numpy.load("y.npy").tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2]'
    run "$IMP" classify --support s.npy --labels y.npy --query q.npy --sigma-l 3 --alpha 0.2 --json
    from_vectors=$(value '[o["lambda"], o["predictions"], o["probabilities"]]')
    run "$IMP" classify --support shapes new "${model[@]}" --sigma-l 3 --alpha 0.2 --json
    [ "$(value '[o["lambda"], [o["classes"].index(p["answer"]) for p in o["pictures"]],
        [p["probabilities"] for p in o["pictures"]]]')" = "$from_vectors" ]
}

@test "embed: imp fit with what it says makes the clusters of imp classify" {
    draw more 4 6
    mkdir -p more/_unlabeled
    mv more/ring more/_unlabeled
    "$IMP" train --quiet --out given --size 16 --alphabets 10 --way 2 --queries 2 --updates 3 \
        --validate-every 0 --network conv3x3:8,bn,relu,pool,pool --sigma-l 0.3 --alpha 0.4 \
        --cluster-steps 2 --lambda 0.5
    for name in run given; do
        run --separate-stderr "$IMP" embed more --model $name/model.safetensors -o s.npy \
            --labels y.npy
        read -ra options <<<"${stderr#*: }"
        [ "${#options[@]}" -eq "$([ $name = run ] && echo 6 || echo 10)" ]
        run "$IMP" fit --support s.npy --labels y.npy "${options[@]}" -o m.safetensors --json
        fitted=$(value '[len(o["clusters"]), "%.8g" % o["lambda"]]')
        run "$IMP" classify --support more more --model $name/model.safetensors --json
        [ "$(value '[len(o["clusters"]), "%.8g" % o["lambda"]]')" = "$fitted" ]
    done
}

@test "embed: a broken picture stops, or is left out" {
    cd "$BATS_TEST_TMPDIR"
    cp -r "$BATS_FILE_TMPDIR/shapes" .
    echo text >shapes/cross/2.png
    ln -s nowhere.png shapes/ring/0.png
    echo notes >shapes/ring/notes.txt
    model=(--model "$BATS_FILE_TMPDIR/run/model.safetensors")
    run --separate-stderr "$IMP" embed shapes "${model[@]}" -o x.npy
    [ "$status" -eq 1 ]
    [ "$stderr" = "imp embed: shapes/cross/2.png: the file is not a picture of a known kind (PNG, JPEG, WebP, HEIF, TIFF, GIF, BMP)" ]
    [ ! -e x.npy ]
    run --separate-stderr "$IMP" embed shapes "${model[@]}" -o x.npy --labels y.npy --skip-broken
    [ "$status" -eq 0 ]
    [ "$stderr" = "imp embed: left out: shapes/cross/2.png: the file is not a picture of a known kind \
(PNG, JPEG, WebP, HEIF, TIFF, GIF, BMP)
imp embed: left out: cannot read 'shapes/ring/0.png': No such file or directory
${stderr_lines[-1]}" ]
    [ "$(wc -l <x.txt)" -eq 8 ]
    /usr/bin/python3 -c 'import numpy
assert numpy.load("y.npy").tolist() == [0, 0, 0, 1, 1, 2, 2, 2]
assert len(numpy.load("x.npy")) == 8'
    run --separate-stderr "$IMP" embed shapes/cross/2.png "${model[@]}" -o x.npy --skip-broken
    [ "$status" -eq 1 ]
    [ "${stderr_lines[-1]}" = "imp embed: none of the pictures could be read" ]
}

@test "embed: what is passed over, and coloured for the built-in model, is told" {
    needs_built_in_model
    cp -r shapes "$BATS_TEST_TMPDIR"
    cd "$BATS_TEST_TMPDIR"
    touch shapes/a.svg
    paint shapes
    run --separate-stderr "$IMP" embed shapes -o x.npy
    [ "$status" -eq 0 ]
    [[ $stderr == "imp embed: 1 picture is ignored: only $endings are read
  shapes/a.svg
imp embed: $doubt
for imp fit and imp classify: "* ]]
}

fails() { # STATUS SENTENCE ARGUMENT...
    run --separate-stderr "$IMP" embed "${@:3}"
    [ "$status" -eq "$1" ]
    [ -z "$output" ]
    [ "$stderr" = "imp embed: $2" ]
}

@test "embed: where the files go is looked at before the work, and no file takes another's place" {
    mkdir "$BATS_TEST_TMPDIR/here"
    cd "$BATS_TEST_TMPDIR/here"
    cp -r "$BATS_FILE_TMPDIR/shapes" .
    late=(--model none.safetensors) # would be told about as soon as the work began
    own="each needs a file of its own"
    fails 2 "-o needs the name of a .npy file, but 'shapes/ring/1.png' is a picture" shapes "${late[@]}" \
        -o shapes/ring/1.png
    fails 2 "--names needs the name of a text file, but 'a.JPG' is a picture" shapes "${late[@]}" \
        -o x.npy --names a.JPG
    fails 2 "-o and --names would both be 'x.npy'; $own" shapes "${late[@]}" -o x.npy --names x.npy
    fails 2 "-o and --labels would both be 'shapes/../x.npy'; $own" shapes "${late[@]}" -o x.npy \
        --labels shapes/../x.npy
    fails 2 "--names and --labels would both be 'x.txt'; $own" shapes "${late[@]}" -o x.npy \
        --labels x.txt
    fails 1 "cannot write 'no/x.npy': No such file or directory" shapes "${late[@]}" -o no/x.npy
    fails 1 "cannot write 'no/names': No such file or directory" shapes "${late[@]}" -o x.npy \
        --names no/names
    [ "$(ls -A)" = shapes ]
    diff -r shapes "$BATS_FILE_TMPDIR/shapes"
}

@test "embed: vectors may lie on disk while they are made" {
    "$IMP" embed shapes "${model[@]}" -o "$BATS_TEST_TMPDIR/one.npy"
    "$IMP" embed shapes "${model[@]}" -o "$BATS_TEST_TMPDIR/two.npy" --memory 0
    cmp "$BATS_TEST_TMPDIR/one.npy" "$BATS_TEST_TMPDIR/two.npy"
    [ "$(ls -A "$BATS_TEST_TMPDIR" | tr '\n' ' ')" = "one.npy one.txt two.npy two.txt " ]
}

@test "embed: what is missing is a sentence" {
    fails 2 "needs PICTURE|FOLDER...; got 0 arguments" -o x.npy
    fails 2 "give -o FILE, where to write the vectors" shapes
    fails 2 "--labels needs one folder, whose sub-folders are the classes" \
        shapes/ring/1.png -o x.npy --labels y.npy
    fails 1 "cannot read 'nowhere': No such file or directory" nowhere "${model[@]}" -o x.npy
    fails 1 "cannot read 'none.safetensors': No such file or directory" shapes \
        --model none.safetensors -o x.npy
    mkdir -p "$BATS_TEST_TMPDIR/empty"
    cd "$BATS_TEST_TMPDIR"
    fails 1 "there are no pictures ($endings) in the folder 'empty'" empty -o x.npy
    name=$'a\nb.png'
    cp "$BATS_FILE_TMPDIR/shapes/ring/1.png" "$name"
    fails 1 "the path 'a?b.png' contains a line break, so it cannot be a line of 'x.txt'; rename the file" "$name" \
        --model "$BATS_FILE_TMPDIR/run/model.safetensors" -o x.npy
}

@test "embed: without --model the built-in one is used, or asked for" {
    run --separate-stderr "$IMP" embed shapes -o "$BATS_TEST_TMPDIR/x.npy"
    if [ -f "$BATS_TEST_DIRNAME/../../models/omniglot-alphabets.safetensors" ]; then
        [ "$status" -eq 0 ]
        "$IMP" embed shapes -o "$BATS_TEST_TMPDIR/y.npy" \
            --model "$BATS_TEST_DIRNAME/../../models/omniglot-alphabets.safetensors"
        cmp "$BATS_TEST_TMPDIR/x.npy" "$BATS_TEST_TMPDIR/y.npy"
    else
        [ "$status" -eq 2 ]
        [ "$stderr" = "imp embed: give --model FILE, written by 'imp train': no model is built \
into this command" ]
    fi
}
