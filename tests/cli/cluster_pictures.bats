# imp cluster FOLDER: a pile of pictures into groups.
bats_require_minimum_version 1.5.0 # run --separate-stderr

setup_file() {
    load pictures
    cd "$BATS_FILE_TMPDIR"
    small_model run
    draw shapes 1 5
    mkdir pile
    for shape in bars cross ring; do
        for number in 1 2 3 4 5; do cp shapes/$shape/$number.png pile/$shape$number.png; done
    done
}

setup() {
    load vectors
    load pictures
    load preload
    cd "$BATS_FILE_TMPDIR"
    model=(--model "$BATS_FILE_TMPDIR/run/model.safetensors")
}

@test "cluster pictures: every picture is in one group, alike ones in the same" {
    run --separate-stderr "$IMP" cluster pile "${model[@]}" --clusters 3 --json
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    json 'list(o) == ["model", "method", "lambda", "sigma", "groups", "passed_over"]'
    json 'sorted(sum(o["groups"], [])) == sorted("pile/%s%d.png" % (s, i) for s in ("bars", "cross", "ring") for i in range(1, 6))'
    json 'all(len({p[5:8] for p in g}) == 1 for g in o["groups"])'
    json '[len(g) for g in o["groups"]] == sorted((len(g) for g in o["groups"]), reverse=True)'
}

@test "cluster pictures: lambda is the estimate of Algorithm 1, each picture a class" {
    run "$IMP" cluster pile "${model[@]}" --json
    found=$output
    "$IMP" embed pile "${model[@]}" -o x.npy
    "$IMP" model info run/model.safetensors --json >info.json
    /usr/bin/python3 - "$found" <<'END'
import json, math, numpy, sys
o, info, x = json.loads(sys.argv[1]), json.load(open("info.json")), numpy.load("x.npy")
sigma, alpha, d = info["sigma_l"], info["alpha"], x.shape[1]
rho = x.astype(float).var(0, ddof=1).mean()
expected = -2 * sigma * math.log(alpha) + d * sigma * math.log1p(rho / sigma)
assert abs(o["sigma"] - sigma) < 1e-6 * sigma
assert abs(o["lambda"] - expected) < 1e-5 * expected, (o["lambda"], expected)
END
    run "$IMP" cluster pile "${model[@]}" --json --lambda 1e9
    json 'len(o["groups"]) == 1 and o["lambda"] == 1e9'
    run "$IMP" cluster pile "${model[@]}" --json --lambda 0 --method dp-means
    json 'len(o["groups"]) == 15 and o["method"] == "dp-means" and "sigma" not in o'
}

@test "cluster pictures: sub-folders are what the groups are measured by" {
    run "$IMP" cluster shapes "${model[@]}" --clusters 3 --json
    json 'o["metrics"]["points"] == 15 and o["metrics"]["classes"] == 3 and o["metrics"]["purity"] == 1'
    run --separate-stderr "$IMP" cluster shapes "${model[@]}" --clusters 3
    [ "$status" -eq 0 ]
    [[ ${lines[0]} == "imp: 3 groups of 15 pictures, lambda "* ]]
    [ "${lines[1]}" = "compared with the sub-folders of shapes:" ]
    [[ $output == *"purity   1.000000 (of K = 3)"* ]]
    [[ $output == *"group 3: 5 pictures
  shapes/"* ]]
    run "$IMP" cluster pile "${model[@]}" --clusters 3
    [[ $output != *purity* ]]
}

@test "cluster pictures: copies, of equal names too, and never over what is there" {
    cd "$BATS_TEST_TMPDIR"
    before=$(cd "$BATS_FILE_TMPDIR/shapes" && cat */*.png | sha256sum)
    "$IMP" cluster "$BATS_FILE_TMPDIR/shapes" "${model[@]}" --lambda 1e9 --copy-to sorted >/dev/null
    [ "$(ls sorted)" = group-1 ]
    [ "$(ls sorted/group-1 | tr '\n' ' ')" = "1-2.png 1-3.png 1.png 2-2.png 2-3.png 2.png \
3-2.png 3-3.png 3.png 4-2.png 4-3.png 4.png 5-2.png 5-3.png 5.png " ]
    sums() { sha256sum "$@" | cut -d' ' -f1 | sort; }
    [ "$(sums sorted/group-1/*)" = "$(sums "$BATS_FILE_TMPDIR"/shapes/*/*.png)" ]
    [ "$(cd "$BATS_FILE_TMPDIR/shapes" && cat */*.png | sha256sum)" = "$before" ]

    run --separate-stderr "$IMP" cluster "$BATS_FILE_TMPDIR/shapes" "${model[@]}" --copy-to sorted
    [ "$status" -eq 1 ]
    [ -z "$output" ]
    [ "$stderr" = "imp cluster: the folder 'sorted' is not empty; name one that is new or empty" ]
    mkdir empty
    "$IMP" cluster "$BATS_FILE_TMPDIR/shapes" "${model[@]}" --lambda 0 --method dp-means \
        --copy-to empty >/dev/null
    [ "$(ls empty | wc -l)" -eq 15 ]
    [ -f empty/group-07/*.png ]
    touch file
    run --separate-stderr "$IMP" cluster "$BATS_FILE_TMPDIR/shapes" "${model[@]}" --copy-to file/x
    [ "$status" -eq 1 ]
    [ "$stderr" = "imp cluster: cannot make the folder 'file/x': Not a directory" ]
}

@test "cluster pictures: an interrupted copy leaves nothing" {
    cd "$BATS_TEST_TMPDIR"
    mkdir empty
    for folder in new empty; do
        run --separate-stderr interrupted_at $folder/group-2 \
            "$IMP" cluster "$BATS_FILE_TMPDIR/pile" "${model[@]}" --clusters 3 --copy-to $folder
        [ "$status" -eq 130 ]
        [ "$output" = "" ]
        [ "$stderr" = "imp cluster: interrupted; nothing unfinished is left behind" ]
    done
    [ ! -e new ]
    [ -d empty ] && [ -z "$(ls -A empty)" ]
}

@test "cluster pictures: links lead to the pictures, from wherever" {
    cd "$BATS_FILE_TMPDIR"
    "$IMP" cluster pile "${model[@]}" --clusters 3 --link-to "$BATS_TEST_TMPDIR/links" >/dev/null
    [ "$(ls "$BATS_TEST_TMPDIR/links" | tr '\n' ' ')" = "group-1 group-2 group-3 " ]
    for link in "$BATS_TEST_TMPDIR"/links/*/*; do
        [ -L "$link" ]
        cmp "$link" "pile/$(basename "$link")"
    done
    [ "$(ls "$BATS_TEST_TMPDIR"/links/* | grep -c png)" -eq 15 ]
}

@test "cluster pictures: the page shows every picture once, group by group" {
    "$IMP" cluster shapes "${model[@]}" --clusters 3 --html "$BATS_TEST_TMPDIR/page.html" >/dev/null
    /usr/bin/python3 - "$BATS_TEST_TMPDIR/page.html" <<'END'
import re, sys
text = open(sys.argv[1], encoding="utf-8").read()
# all in their groups, and four of each group above
assert len(re.findall(r'<img [^>]*src="data:image/png;base64,', text)) == 15 + 12
assert set(re.findall(r'<li id="p(\d+)"', text)) == {str(i) for i in range(15)}
assert text.count("<section ") == 3 and text.count('class="dot"') == 15
assert text.count("<small>1.png</small>") == 3
assert "Group 3 <small>5 pictures, 5 from " in text and "<dd>1.000</dd>" in text
assert not re.search(r"https?:|url\(|<script", text)
END
}

@test "cluster pictures: thousands are several pages, with a map of their density" {
    cd "$BATS_TEST_TMPDIR"
    "$IMP" data export glyphs many --alphabets 4 --fewest-characters 26 --most-characters 26 --drawings 20 \
        --size 16
    "$IMP" cluster many "${model[@]}" --clusters 60 --html 'a #1.html' >table
    /usr/bin/python3 - <<'END'
import re
pages = [open(name, encoding="utf-8").read() for name in ("a #1.html", "a #1-2.html")]
ids = [set(re.findall(r' id="(\w+)"', page)) for page in pages]
pictures = [i for page in ids for i in page if i.startswith("p")]
assert sorted(pictures) == sorted(f"p{i}" for i in range(2080)), len(pictures)
assert len([i for i in ids[0] if i.startswith("p")]) == 2000
links = re.findall(r'href="([^"]*)"', pages[0])
assert "./a%20%231-2.html" in links
for link in links:
    page, _, anchor = link.partition("#")
    assert page in ("", "./a%20%231-2.html"), link
    assert anchor == "" or anchor in ids[page != ""], link
assert any(link.startswith("./a%20%231-2.html#g") for link in links)
svg = re.search(r"<svg.*</svg>", pages[0], re.S)[0]
assert "circle" not in svg and svg.count('class="cell') > 20 and "<svg" not in pages[1]
boxes = []  # of names, by the size of their letters on a wide screen
for x, y, name in re.findall(r'<text x="([\d.]+)" y="([\d.]+)"[^>]*>([^<]*)', svg):
    x, y, half = float(x), float(y), 4 * len(name)
    assert all(abs(x - a) >= half + b or abs(y - c) >= 13 for a, b, c in boxes), name
    boxes.append((x, half, y))
assert len(boxes) >= 5, len(boxes)
END
}

@test "cluster pictures: coloured ones are not what the built-in model knows" {
    needs_built_in_model
    cp -r shapes "$BATS_TEST_TMPDIR"
    cd "$BATS_TEST_TMPDIR"
    paint shapes
    run --separate-stderr "$IMP" cluster shapes --html page.html
    [ "$status" -eq 0 ]
    [ "$stderr" = "imp cluster: $doubt" ]
    grep -qF "knows only drawings, and these pictures are coloured; train a model" page.html
}

fails() { # STATUS SENTENCE ARGUMENT...
    run --separate-stderr "$IMP" cluster "${@:3}"
    [ "$status" -eq "$1" ]
    [ -z "$output" ]
    [ "$stderr" = "imp cluster: $2" ]
}

@test "cluster pictures: where output goes is looked at before the work" {
    mkdir "$BATS_TEST_TMPDIR/here"
    cd "$BATS_TEST_TMPDIR/here"
    cp -r "$BATS_FILE_TMPDIR/pile" .
    mkdir full
    touch full/file
    ln -s pile same
    late=(--model none.safetensors) # would be told about as soon as the work began
    fails 2 "--html needs the name of a page, but 'pile/ring1.png' is a picture" pile "${late[@]}" \
        --html pile/ring1.png
    fails 1 "cannot write 'no/such/x.html': No such file or directory" pile "${late[@]}" \
        --html no/such/x.html
    for way in --copy-to --link-to; do
        fails 1 "the folder 'full' is not empty; name one that is new or empty" pile "${late[@]}" \
            $way full
        fails 2 "'pile/sorted' is inside 'pile' and would be sorted itself next time; name a folder outside it" pile \
            "${late[@]}" $way pile/sorted
        fails 2 "'same/sorted/' is inside './pile' and would be sorted itself next time; name a folder outside it" ./pile \
            "${late[@]}" $way same/sorted/
    done
    fails 1 "cannot read 'none.safetensors': No such file or directory" pile "${late[@]}" \
        --copy-to pile-sorted
    diff -r pile "$BATS_FILE_TMPDIR/pile"
    [ "$(ls -A | tr '\n' ' ')" = "full pile same " ]
}

@test "cluster pictures: what is wrong is a sentence" {
    fails 2 "--labels, --truth, pairs and --validation are for points; the labels of pictures are their \
sub-folders" pile "${model[@]}" --labels y.npy
    fails 2 "give either --copy-to or --link-to, not both" pile "${model[@]}" --copy-to a --link-to b
    fails 2 "--copy-to, --link-to and --html need a folder of pictures" x.npy --html page.html
    fails 2 "'pile/ring1.png' is a picture; give the folder that holds the pictures" pile/ring*.png
    fails 2 "unexpected argument 'shapes'" pile shapes
    fails 1 "16 clusters are wanted of 15 points" pile "${model[@]}" --clusters 16
    mkdir -p "$BATS_TEST_TMPDIR/empty"
    fails 1 "there are no pictures ($endings) in the folder '$BATS_TEST_TMPDIR/empty'" \
        "$BATS_TEST_TMPDIR/empty" "${model[@]}"
}

@test "cluster pictures: one picture is one group" {
    mkdir -p "$BATS_TEST_TMPDIR/one"
    cp pile/ring1.png "$BATS_TEST_TMPDIR/one"
    run "$IMP" cluster "$BATS_TEST_TMPDIR/one" "${model[@]}" --html "$BATS_TEST_TMPDIR/page.html"
    [ "$status" -eq 0 ]
    [[ ${lines[0]} == "imp: 1 group of 1 picture, lambda "* ]]
    grep -q "1 picture in 1 group" "$BATS_TEST_TMPDIR/page.html"
}
