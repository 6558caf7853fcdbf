# imp data: looking at datasets, splitting, packing, fetching.
bats_require_minimum_version 1.5.0 # run --separate-stderr

setup() {
    small=(--alphabets 5 --fewest-characters 3 --most-characters 4 --drawings 2 --size 12)
}

@test "info counts classes per split and ends with a fingerprint" {
    run --separate-stderr "$IMP" data info glyphs "${small[@]}"
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    [[ $output == *"in 5 super-classes"* ]]
    [[ $output =~ fingerprint\ +[0-9a-f]{64} ]]
    [[ $output == *"train "*"val "*"test "* ]]
}

@test "info --json is JSON with the same fingerprint on any number of threads" {
    one=$("$IMP" data info glyphs "${small[@]}" --threads 1 --json)
    two=$("$IMP" data info glyphs "${small[@]}" --threads 2 --json)
    [ "$one" = "$two" ]
    /usr/bin/python3 -c '
import json, sys
info = json.loads(sys.argv[1])
assert info["super_classes"] == 5 and info["broken"] == []
assert sum(split["classes"] for split in info["splits"].values()) == info["classes"]
' "$one"
}

@test "info lists every broken picture, goes on, and exits with 1" {
    mkdir -p "$BATS_TEST_TMPDIR/d/a" "$BATS_TEST_TMPDIR/d/b"
    "$IMP" data show glyphs "$BATS_TEST_TMPDIR/d/a/good.png" "${small[@]}" --rows 1 --columns 1
    cp "$BATS_TEST_TMPDIR/d/a/good.png" "$BATS_TEST_TMPDIR/d/b/good.png"
    head -c 60 "$BATS_TEST_TMPDIR/d/a/good.png" >"$BATS_TEST_TMPDIR/d/a/short.png"
    echo text >"$BATS_TEST_TMPDIR/d/b/text.jpg"
    run --separate-stderr "$IMP" data info "$BATS_TEST_TMPDIR/d"
    [ "$status" -eq 1 ]
    [[ $output == *"2 broken, left out:"* ]]
    [[ $output == *"a/short.png: broken PNG"* ]]
    [[ $output == *"b/text.jpg: the file is neither a PNG nor a JPEG picture"* ]]
    [[ $output == *"images       2,"* ]]
}

@test "info --json is JSON also where a name is not UTF-8" {
    mkdir -p "$BATS_TEST_TMPDIR/d/a é" "$BATS_TEST_TMPDIR/d/"$'caf\xe9'
    "$IMP" data show glyphs "$BATS_TEST_TMPDIR/d/a é/1 2.png" "${small[@]}" --rows 1 --columns 1
    cp "$BATS_TEST_TMPDIR/d/a é/1 2.png" "$BATS_TEST_TMPDIR/d/"$'caf\xe9/1.png'
    echo text >"$BATS_TEST_TMPDIR/d/"$'caf\xe9/2.png'
    ln -s nowhere.png "$BATS_TEST_TMPDIR/d/a é/3.png"
    status=0
    "$IMP" data info "$BATS_TEST_TMPDIR/d" --json >"$BATS_TEST_TMPDIR/json" || status=$?
    [ "$status" -eq 1 ]
    /usr/bin/python3 -c '
import json, sys
info = json.load(open(sys.argv[1], encoding="utf-8"))
assert info["images"] == 2 and len(info["broken"]) == 2, info
assert info["broken"][0].startswith("a é/3.png: cannot read"), info
assert info["broken"][1].startswith("caf\ufffd/2.png: the file is neither"), info
' "$BATS_TEST_TMPDIR/json"
}

@test "show writes a PNG" {
    run "$IMP" data show glyphs "$BATS_TEST_TMPDIR/sheet.png" "${small[@]}" --rows 3 --columns 4
    [ "$status" -eq 0 ]
    /usr/bin/python3 -c '
import sys
begin = open(sys.argv[1], "rb").read(24)
width, height = int.from_bytes(begin[16:20], "big"), int.from_bytes(begin[20:], "big")
assert begin[1:4] == b"PNG" and width * 3 == height * 4, (width, height)
' "$BATS_TEST_TMPDIR/sheet.png"
}

@test "split writes lists that split the same way" {
    lists=$BATS_TEST_TMPDIR/a/new/folder
    run "$IMP" data split glyphs "$lists" "${small[@]}" --split modes:0.4/0/0.6
    [ "$status" -eq 0 ]
    before=$("$IMP" data info glyphs "${small[@]}" --split modes:0.4/0/0.6)
    after=$("$IMP" data info glyphs "${small[@]}" --split "lists:$lists")
    [ "$before" = "$after" ]
}

@test "a pack has the same fingerprint, and damage is noticed" {
    pack=$BATS_TEST_TMPDIR/glyphs.pack
    run "$IMP" data pack glyphs "$pack" "${small[@]}"
    [ "$status" -eq 0 ]
    [ "$("$IMP" data info glyphs "${small[@]}")" = "$("$IMP" data info "$pack")" ]
    printf 'x' | dd of="$pack" bs=1 seek=5000 conv=notrunc status=none
    run --separate-stderr "$IMP" data info "$pack"
    [ "$status" -eq 1 ]
    [[ $stderr == *"the pack is damaged"* ]]
}

@test "export writes a folder that is the same data, with ink on paper" {
    cd "$BATS_TEST_TMPDIR"
    "$IMP" data export glyphs drawings "${small[@]}"
    [ -f drawings/alphabet01/character01/01.png ]
    /usr/bin/python3 -c 'from PIL import Image
image = Image.open("drawings/alphabet01/character01/01.png")
assert image.size == (12, 12) and image.mode == "L" and image.getpixel((0, 0)) == 255'
    fingerprint() { "$IMP" data info "$@" | grep fingerprint; }
    [ "$(fingerprint drawings --ink invert)" = "$(fingerprint glyphs "${small[@]}")" ]
    "$IMP" data export drawings again --rotations 4
    [ "$(fingerprint again)" = "$(fingerprint drawings)" ]
    "$IMP" data pack drawings inverted.pack --ink invert
    "$IMP" data export inverted.pack unpacked
    [ "$(fingerprint unpacked)" = "$(fingerprint drawings)" ]
    run --separate-stderr "$IMP" data export drawings-not-yet-looked-for again
    [ "$status" -eq 1 ]
    [ "$stderr" = "imp data: the folder 'again' is not empty; name one that is new or empty" ]
}

@test "what is read is not written over" {
    cd "$BATS_TEST_TMPDIR"
    "$IMP" data export glyphs birds "${small[@]}"
    (cd birds && /usr/bin/python3 -m zipfile -c ../birds.zip alphabet0*)
    "$IMP" data pack birds birds.pack
    ln -s birds.pack link
    find birds birds.zip birds.pack -type f -exec md5sum {} + >before
    refused="is read and cannot be written as well; name another file"
    for data in birds.zip birds.pack pack:birds.pack; do
        run --separate-stderr "$IMP" data pack $data "./${data#pack:}"
        [ "$status" -eq 2 ]
        [ "$stderr" = "imp data: './${data#pack:}' $refused" ]
    done
    run --separate-stderr "$IMP" data show birds.pack link
    [ "$status" -eq 2 ]
    [ "$stderr" = "imp data: 'link' $refused" ]
    for data in birds folder:birds/ "$PWD/birds"; do
        run --separate-stderr "$IMP" data show "$data" birds/alphabet01/character01/01.png
        [ "$status" -eq 2 ]
        [[ $stderr == "imp data: 'birds/alphabet01/character01/01.png' is part of '"*"birds"*"', \
which is read; name another file" ]]
    done
    md5sum --check --quiet before
    # A name that nothing has yet costs nothing.
    "$IMP" data show birds birds/sheet.png
    touch glyphs
    "$IMP" data pack glyphs glyphs "${small[@]}"
}

@test "an interrupted export leaves nothing" {
    cd "$BATS_TEST_TMPDIR"
    mkdir empty
    for folder in new empty; do
        "$IMP" data export glyphs $folder --alphabets 30 --size 28 >out 2>err &
        until [ -d $folder/alphabet01 ]; do kill -0 $!; done
        kill -INT $!
        status=0
        wait $! || status=$?
        [ "$status" -eq 130 ]
        [ ! -s out ]
        [ "$(cat err)" = "imp data: interrupted; nothing half made is left" ]
    done
    [ ! -e new ]
    [ -d empty ] && [ -z "$(ls -A empty)" ]
}

@test "an interrupted get leaves nothing" {
    cd "$BATS_TEST_TMPDIR"
    /usr/bin/python3 -u - >log 2>&1 3>&- <<'END' &
import http.server, time
class Stalls(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        self.wfile.write(b"some")
        time.sleep(60)
server = http.server.HTTPServer(("127.0.0.1", 0), Stalls)
print("port", server.server_port)
server.serve_forever()
END
    server=$!
    until port=$(sed -nE 's/^port ([0-9]+)$/\1/p' log) && [ -n "$port" ]; do kill -0 $server; done
    "$IMP" data get omniglot to --from "http://127.0.0.1:$port" 2>err &
    get=$!
    until [ -n "$(ls -A to 2>/dev/null)" ]; do kill -0 $get; done
    kill -INT $get
    status=0
    wait $get || status=$?
    kill $server
    [ "$status" -eq 130 ]
    [[ $(cat err) == "imp data: "*stopped* ]]
    [ -z "$(ls -A to)" ]
}

@test "get refuses what has the wrong checksum and leaves nothing" {
    mkdir "$BATS_TEST_TMPDIR/www"
    echo wrong >"$BATS_TEST_TMPDIR/www/images_background.zip"
    /usr/bin/python3 -u -m http.server 0 --bind 127.0.0.1 -d "$BATS_TEST_TMPDIR/www" \
        >"$BATS_TEST_TMPDIR/log" 2>&1 3>&- &
    server=$!
    for _ in $(seq 100); do
        port=$(sed -nE 's/.*port ([0-9]+).*/\1/p' "$BATS_TEST_TMPDIR/log")
        [ -z "$port" ] || break
        sleep 0.1
    done
    run --separate-stderr "$IMP" data get omniglot "$BATS_TEST_TMPDIR/to" \
        --from "http://127.0.0.1:$port"
    kill "$server"
    [ "$status" -eq 1 ]
    [[ $stderr == *"68d2efa1b9178cc56df9314c21c6e718"* ]]
    [ -z "$(ls -A "$BATS_TEST_TMPDIR/to")" ]
}

@test "wrong command lines are refused" {
    run --separate-stderr "$IMP" data inform glyphs
    [ "$status" -eq 2 ]
    [ "$stderr" = "imp data: unknown action 'inform'; did you mean 'info'?" ]
    run --separate-stderr "$IMP" data pack glyphs
    [ "$status" -eq 2 ]
    [ "$stderr" = "imp data: 'pack' needs DATA FILE; got 1 argument" ]
    run --separate-stderr "$IMP" data get mnist here
    [ "$status" -eq 2 ]
    run --separate-stderr "$IMP" data info glyphs:here
    [ "$status" -eq 1 ]
    [ "$stderr" = "imp data: 'glyphs:here': glyphs are made, not read, and have no path" ]
    run --separate-stderr "$IMP" data info /nowhere/at/all
    [ "$status" -eq 1 ]
    [ "$stderr" = "imp data: cannot read '/nowhere/at/all': No such file or directory" ]
}
