# imp classify --support FOLDER: pictures by a folder of pictures.
bats_require_minimum_version 1.5.0 # run --separate-stderr

setup_file() {
    load pictures
    cd "$BATS_FILE_TMPDIR"
    small_model run
    draw known 1 4
    draw new 5 7
    draw others 1 5 blot
}

setup() {
    load vectors
    load pictures
    cd "$BATS_FILE_TMPDIR"
    model=(--model "$BATS_FILE_TMPDIR/run/model.safetensors")
}

# The answers are the names of the folders that the pictures are in.
all_right='all(p["answer"] == p["picture"].split("/")[-2] for p in o["pictures"])'

@test "classify pictures: the names of the sub-folders are the answers" {
    run --separate-stderr "$IMP" classify --support known new "${model[@]}" --json
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    json 'list(o) == ["model", "method", "lambda", "classes", "clusters", "pictures", "known", "accuracy", "confusion", "passed_over"]'
    json 'o["classes"] == ["bars", "cross", "ring"] and o["method"] == "imp"'
    json 'list(o["clusters"][0]) == ["class", "sigma", "weight"]'
    json 'list(o["pictures"][0]) == ["picture", "answer", "probability", "probabilities", "cluster", "nearest"]'
    json '[p["picture"] for p in o["pictures"]] == ["new/%s/%d.png" % (c, i) for c in o["classes"] for i in (5, 6, 7)]'
    json "$all_right"
    json 'o["known"] == 9 and o["accuracy"] == 1 and o["confusion"] == [[3, 0, 0], [0, 3, 0], [0, 0, 3]]'
    json 'all(abs(sum(p["probabilities"]) - 1) < 1e-6 and p["probability"] == max(p["probabilities"]) for p in o["pictures"])'
    json 'all(o["clusters"][p["cluster"]]["class"] == p["answer"] for p in o["pictures"])'
    json 'all(p["nearest"]["picture"].startswith("known/" + p["nearest"]["class"]) and p["nearest"]["distance"] > 0 for p in o["pictures"])'
}

@test "classify pictures: a table for people" {
    run --separate-stderr "$IMP" classify --support known/ new/ring/6.png new/bars "${model[@]}"
    [ "$status" -eq 0 ]
    [[ ${lines[0]} == "imp: "*" clusters of 3 classes, lambda "* ]]
    [[ ${lines[1]} =~ ^"picture         answer  probability  nearest"$ ]]
    [[ $output =~ "new/ring/6.png  ring         "[01]\.[0-9]{4}"  known/"[a-z]+/[1-4].png ]]
    [ "${#lines[@]}" -eq 6 ]
    # The least certain comes first.
    [ "$(printf '%s\n' "${lines[@]:2}" | awk '{print $3}')" = \
        "$(printf '%s\n' "${lines[@]:2}" | awk '{print $3}' | sort -n)" ]
}

@test "classify pictures: accuracy and confusion where queries lie in folders of classes" {
    cd "$BATS_TEST_TMPDIR"
    cp -r "$BATS_FILE_TMPDIR/new" mixed
    mkdir mixed/other
    cp mixed/bars/5.png mixed/other # in no class
    mv mixed/bars/6.png mixed/ring/wrong.png
    own=(--model "$BATS_FILE_TMPDIR/run/model.safetensors")
    run --separate-stderr "$IMP" classify --support "$BATS_FILE_TMPDIR/known" mixed "${own[@]}"
    [ "$status" -eq 0 ]
    [[ $output == *"accuracy 88.89%: 8 of the 9 in folders named after classes are right"* ]]
    [[ ${lines[-3]} =~ ^bars\ +2\ +0\ +0$ ]]
    [[ ${lines[-1]} =~ ^ring\ +1\ +0\ +3$ ]]
    run "$IMP" classify --support "$BATS_FILE_TMPDIR/known" mixed --json "${own[@]}"
    json 'o["known"] == 9 and abs(o["accuracy"] - 8 / 9) < 1e-12 and o["confusion"][2] == [1, 0, 3]'
}

@test "classify pictures: copies and links go to folders of the answers, and a table to a file" {
    "$IMP" classify --support known new "${model[@]}" --copy-to "$BATS_TEST_TMPDIR/copies" \
        --csv "$BATS_TEST_TMPDIR/answers.csv" >/dev/null
    cd "$BATS_TEST_TMPDIR"
    [ "$(ls copies | tr '\n' ' ')" = "bars cross ring " ]
    [ "$(find copies -type f | wc -l)" -eq 9 ]
    cmp copies/ring/6.png "$BATS_FILE_TMPDIR/new/ring/6.png"
    /usr/bin/python3 - <<'END'
import csv
rows = list(csv.DictReader(open("answers.csv")))
assert len(rows) == 9 and all(r["answer"] == r["class"] == r["picture"].split("/")[1] for r in rows)
assert all(0 < float(r["probability"]) <= 1 and r["nearest"].startswith("known/") for r in rows)
END
    cd "$BATS_FILE_TMPDIR"
    "$IMP" classify --support known new "${model[@]}" --link-to "$BATS_TEST_TMPDIR/links" >/dev/null
    [ "$(find "$BATS_TEST_TMPDIR/links" -type l | wc -l)" -eq 9 ]
    run --separate-stderr "$IMP" classify --support known new "${model[@]}" --copy-to "$BATS_TEST_TMPDIR/links"
    [ "$status" -eq 1 ]
    run --separate-stderr "$IMP" classify --support known new --copy-to new/x "${model[@]}"
    [ "$status" -eq 2 ]
}

@test "classify pictures: what is unlike all that is known is doubted" {
    cd "$BATS_TEST_TMPDIR"
    /usr/bin/python3 -c 'import os, random
from PIL import Image
os.makedirs("noise")
for i in range(4):
    r = random.Random(i)
    Image.frombytes("L", (48, 48), bytes(r.randrange(256) for _ in range(48 * 48))).save("noise/%d.png" % i)'
    run --separate-stderr "$IMP" classify --support "$BATS_FILE_TMPDIR/known" noise --model \
        "$BATS_FILE_TMPDIR/run/model.safetensors"
    [ "$status" -eq 0 ]
    [[ $stderr == *"imp classify: 4 of the 4 pictures are unlike all known ones ("* ]]
}

@test "classify pictures: a picture of the supports is its own nearest" {
    run "$IMP" classify --support known known/cross/2.png "${model[@]}" --json
    json 'o["pictures"][0]["nearest"] == {"picture": "known/cross/2.png", "class": "cross", "distance": 0}'
}

@test "classify pictures: methods and parameters come from the model and can be given" {
    run "$IMP" model info run/model.safetensors --json
    sigma=$(value 'o["sigma_l"]')
    run "$IMP" classify --support known new "${model[@]}" --json
    json "all(abs(c['sigma'] - $sigma) < 1e-6 for c in o['clusters'])"
    run "$IMP" classify --support known new "${model[@]}" --json --sigma-l 2 --lambda 0
    json 'all(c["sigma"] == 2 for c in o["clusters"]) and len(o["clusters"]) > 3 and o["lambda"] == 0'
    for method in prototypes neighbors soft-kmeans dp-means em; do
        run "$IMP" classify --support known new "${model[@]}" --json --method $method
        json "o['method'] == '$method' and $all_right"
    done
}

@test "classify pictures: unlabelled ones lie beside, in _unlabeled, or elsewhere" {
    cd "$BATS_TEST_TMPDIR"
    model+=(--sigma-l 1 --sigma-u 1)
    for where in . _unlabeled; do
        cp -r "$BATS_FILE_TMPDIR/known" support
        mkdir -p support/$where
        cp "$BATS_FILE_TMPDIR"/others/blot/[1-4].png support/$where
        run "$IMP" classify --support support "$BATS_FILE_TMPDIR"/new "${model[@]}" --json
        json 'o["classes"] == ["bars", "cross", "ring"]'
        json 'None in [c["class"] for c in o["clusters"]]'
        first=${first:-$(value '[p["probabilities"] for p in o["pictures"]]')}
        [ "$(value '[p["probabilities"] for p in o["pictures"]]')" = "$first" ]
        rm -r support
    done
    cp -r "$BATS_FILE_TMPDIR/others/blot" elsewhere
    rm elsewhere/5.png
    run "$IMP" classify --support "$BATS_FILE_TMPDIR/known" --unlabeled elsewhere \
        "$BATS_FILE_TMPDIR/new" "${model[@]}" --json
    [ "$(value '[p["probabilities"] for p in o["pictures"]]')" = "$first" ]
}

@test "classify pictures: in the open set something may be none of these" {
    open=(--support known --unlabeled others/blot others/blot/5.png new "${model[@]}" --open-set
        --sigma-l 1 --sigma-u 1)
    run "$IMP" classify "${open[@]}" --json
    json 'o["pictures"][0]["answer"] is None and len(o["pictures"][0]["probabilities"]) == 4'
    json 'all(p["answer"] == p["picture"].split("/")[-2] for p in o["pictures"][1:])'
    run "$IMP" classify "${open[@]}"
    [[ $output == *"others/blot/5.png  none of these  "* ]]
    [[ $output == *"new/bars/5.png     bars           "* ]]
}

@test "classify pictures: an open set without unlabelled pictures is told to be closed" {
    run --separate-stderr "$IMP" classify --support known new "${model[@]}" --open-set
    [ "$status" -eq 0 ]
    [ "$stderr" = "imp classify: --open-set has no effect, because every cluster has a label; \
give pictures that belong to no class with --unlabeled FOLDER" ]
    run --separate-stderr "$IMP" classify --support known --unlabeled others/blot new \
        "${model[@]}" --open-set --sigma-l 1 --sigma-u 1
    [ -z "$stderr" ]
}

@test "classify pictures: what is passed over is told" {
    cd "$BATS_TEST_TMPDIR"
    cp -r "$BATS_FILE_TMPDIR"/{known,new} .
    mkdir known/{.hidden,_unlabeled,gifs}
    touch known/gifs/1.svg known/gifs/2.SVG new/3.psd new/notes.txt known/notes
    run --separate-stderr "$IMP" classify --support known new "${model[@]}"
    [ "$status" -eq 0 ]
    [ "$stderr" = "imp classify: the sub-folder 'gifs' has no pictures ($endings) and is not a class
imp classify: 3 pictures are ignored: only $endings are read
  known/gifs/1.svg
  known/gifs/2.SVG
  new/3.psd" ]
    rm known/gifs/* new/3.psd
    mkdir known/also
    run --separate-stderr "$IMP" classify --support known new "${model[@]}"
    [ "$stderr" = "imp classify: 2 sub-folders, including 'also', have no pictures ($endings) and \
are not classes" ]
}

@test "classify pictures: coloured ones are not what the built-in model knows" {
    needs_built_in_model
    cd "$BATS_TEST_TMPDIR"
    cp -r "$BATS_FILE_TMPDIR"/{known,new} .
    run --separate-stderr "$IMP" classify --support known new --html page.html
    [ -z "$stderr" ]
    run ! grep -q "knows only drawings" page.html
    paint known
    run --separate-stderr "$IMP" classify --support known new --html page.html
    [ "$status" -eq 0 ]
    [ "${stderr_lines[0]}" = "imp classify: $doubt" ]
    grep -qF "knows only drawings, and these pictures are coloured; train a model" page.html
    run --separate-stderr "$IMP" classify --support known new "${model[@]}"
    [[ $stderr != *"knows only drawings"* ]]
}

@test "classify pictures: names of any bytes" {
    cd "$BATS_TEST_TMPDIR"
    mkdir s
    cp -r "$BATS_FILE_TMPDIR/known/ring" 's/o "o"'
    cp -r "$BATS_FILE_TMPDIR/known/bars" s/$'caf\xe9'
    cp -r "$BATS_FILE_TMPDIR/known/cross" 's/café crème'
    cp "$BATS_FILE_TMPDIR/new/cross/5.png" $'n\xe9w <x>.png'
    run "$IMP" classify --support s $'n\xe9w <x>.png' "${model[@]}" --json --html page.html
    [ "$status" -eq 0 ]
    json 'o["classes"] == ["caf\u00e9 cr\u00e8me", "caf\ufffd", "o \"o\""]'
    json 'o["pictures"][0]["picture"] == "n\ufffdw <x>.png" and o["pictures"][0]["answer"] == o["classes"][0]'
    /usr/bin/python3 -c 'text = open("page.html", encoding="utf-8").read()
assert "n\ufffdw &lt;x&gt;.png" in text and "<x>" not in text
assert "o &quot;o&quot;" in text and "café crème" in text'
}

@test "classify pictures: names cannot break lines nor command the terminal" {
    cd "$BATS_TEST_TMPDIR"
    mkdir s n
    cp -r "$BATS_FILE_TMPDIR/known/ring" s/$'r\nng'
    cp "$BATS_FILE_TMPDIR/new/ring/5.png" n/$'a\033[2J\xc2\x9bé.png'
    run --separate-stderr "$IMP" classify --support s n "${model[@]}"
    [ "$status" -eq 0 ]
    [ "${#lines[@]}" -eq 3 ]
    [ "${lines[1]}" = "picture        answer  probability  nearest" ]
    [[ ${lines[2]} =~ ^"n/a?[2J?é.png  r?ng         1.0000  s/r?ng/"[1-4].png$ ]]
    run --separate-stderr "$IMP" cluster s "${model[@]}" --lambda 1e9
    [[ ${lines[-1]} =~ ^"  s/r?ng/"[1-4].png$ ]]
    echo text >n/$'b\tc.png'
    run --separate-stderr "$IMP" classify --support s n "${model[@]}"
    [ "$stderr" = "imp classify: n/b?c.png: the file is not a picture of a known kind (PNG, JPEG, WebP, HEIF, TIFF, GIF, BMP)" ]
}

fails() { # STATUS SENTENCE ARGUMENT...
    run --separate-stderr "$IMP" classify "${@:3}"
    [ "$status" -eq "$1" ]
    [ -z "$output" ]
    [ "$stderr" = "imp classify: $2" ]
}

@test "classify pictures: what is wrong is a sentence" {
    fails 2 "give --support FOLDER, whose sub-folders are the classes" new "${model[@]}"
    fails 2 "give the pictures to classify from those in 'known': PICTURE|FOLDER..." --support known
    fails 1 "cannot read 'nowhere': No such file or directory" --support nowhere new
    fails 1 "'new/ring/5.png' is neither a folder nor an archive (.zip, .tar, .tar.gz, .tgz)" --support new/ring/5.png new
    fails 1 "the folder 'known/ring' has no sub-folders with pictures; they are the \
classes" --support known/ring new
    points="--labels and --query are for points; the sub-folders of 'known' are the \
labels, and the pictures to classify are arguments"
    fails 2 "$points" --support known --query new
    fails 2 "$points" --support known --labels y.npy new/ring/5.png
    fails 2 "unexpected argument 'new'" --support s.npy --labels y.npy --query q.npy new
    fails 1 "'imq' is not a method; did you mean 'imp'?" --support known new "${model[@]}" \
        --method imq
    fails 2 "--html shows pictures, not points" --support s.npy --labels y.npy --query q.npy \
        --html x.html
    # Both before the work begins, which would tell about the model.
    fails 1 "cannot write 'no/such/x.html': No such file or directory" --support known new \
        --model none.safetensors --html no/such/x.html
    fails 2 "--html needs the name of a page, but 'new/bars/5.png' is a picture" --support known \
        --model none.safetensors --html new/bars/5.png new/bars/6.png
}

@test "classify pictures: a class may lose all its pictures" {
    cd "$BATS_TEST_TMPDIR"
    cp -r "$BATS_FILE_TMPDIR/known" .
    rm known/ring/[2-4].png
    echo text >known/ring/1.png
    run --separate-stderr "$IMP" classify --support known known/bars "${model[@]}" --skip-broken
    [ "$status" -eq 1 ]
    [ "${stderr_lines[-1]}" = "imp classify: the class 'ring' has no picture that can be read" ]
}

@test "classify pictures: one class, one picture" {
    cd "$BATS_TEST_TMPDIR"
    mkdir -p one/only
    cp "$BATS_FILE_TMPDIR/known/ring/1.png" one/only
    run --separate-stderr "$IMP" classify --support one "$BATS_FILE_TMPDIR/new/bars/5.png" "${model[@]}" --json
    [[ $stderr == *"'only' is the only class, so every answer is 'only' with probability 1; add another class"* ]]
    json 'o["pictures"][0]["answer"] == "only" and o["pictures"][0]["probability"] == 1'
}

@test "classify pictures: the page holds every picture and nothing from outside" {
    "$IMP" classify --support known --unlabeled others/blot new "${model[@]}" --open-set \
        --html "$BATS_TEST_TMPDIR/page.html" >table
    /usr/bin/python3 - "$BATS_TEST_TMPDIR/page.html" <<'END'
import base64, html.parser, io, re, sys
from PIL import Image
images, ids, links = [], set(), set()
class Reader(html.parser.HTMLParser):
    def handle_starttag(self, tag, given):
        given = dict(given)
        if tag == "img":
            assert given["alt"] and given["src"].startswith("data:image/png;base64,")
            image = Image.open(io.BytesIO(base64.b64decode(given["src"].split(",")[1])))
            assert image.size == (int(given["width"]), int(given["height"]))
            images.append(given["alt"])
        assert tag not in ("script", "link", "iframe"), tag
        if "id" in given:
            assert given["id"] not in ids
            ids.add(given["id"])
        if "href" in given:
            assert given["href"].startswith("#")
            links.add(given["href"][1:])
text = open(sys.argv[1], encoding="utf-8").read()
Reader().feed(text)
# 12 + 5 supports, and 9 pictures with their nearest one each
assert len(images) == 17 + 9 + 9, len(images)
assert len(set(images)) == 12 + 5 + 9
assert links <= ids and {f"p{i}" for i in range(9)} <= ids
assert not re.search(r"https?:|url\(", text)
assert text.count("<title>") == 1 + 26 + text.count('class="cross"')
END
}

@test "classify pictures: the page names the nearest below the support folder, and both ends of names" {
    cd "$BATS_TEST_TMPDIR"
    cp -r "$BATS_FILE_TMPDIR/known" l2
    cp -r "$BATS_FILE_TMPDIR/others/blot" l2b
    cp "$BATS_FILE_TMPDIR/new/ring/5.png" .
    for support in l2 l2//; do
        "$IMP" classify --support $support --unlabeled l2b l2b/1.png l2/ring/2.png 5.png \
            "${model[@]}" --html page.html >/dev/null
        grep -qF "nearest: l2b/1.png<" page.html
        grep -qF "nearest: ring/2.png<" page.html
    done
    # What is too long for its line loses its middle.
    cp 5.png holiday-in-the-mountains-0005.png
    "$IMP" classify --support l2 holiday-in-the-mountains-0005.png "${model[@]}" --html page.html >/dev/null
    grep -qF 'title="holiday-in-the-mountains-0005.png">holiday-i…s-0005.png</div>' page.html
}

@test "classify pictures: real drawings" {
    [ -f "$IMP_SHARED/data/omniglot/images_evaluation.zip" ] || skip "there is no Omniglot"
    cd "$BATS_TEST_TMPDIR"
    /usr/bin/python3 - "$IMP_SHARED/data/omniglot/images_evaluation.zip" <<'END'
import os, sys, zipfile
archive = zipfile.ZipFile(sys.argv[1])
for name in archive.namelist():
    for character in ("Angelic/character08", "Kannada/character10", "Tibetan/character38",
                      "ULOG/character19", "Malayalam/character02"):
        number = name[-6:-4]
        if f"/{character}/" in name and name.endswith(".png") and number <= "07":
            folder = ("known/" if number <= "03" else "new/") + character.split("/")[0]
            os.makedirs(folder, exist_ok=True)
            open(f"{folder}/{number}.png", "wb").write(archive.read(name))
END
    [ ! -f "$BATS_TEST_DIRNAME/../../models/omniglot-alphabets.safetensors" ] || model=()
    run "$IMP" classify --support known new "${model[@]}" --json
    [ "$status" -eq 0 ]
    json 'len(o["pictures"]) == 20'
    right=$(value 'sum(p["answer"] == p["picture"].split("/")[-2] for p in o["pictures"])')
    # By chance 4 would be.
    echo "$right right"
    [ "$right" -ge "$([ ${#model[@]} -eq 0 ] && echo 19 || echo 13)" ]
}
