# imp data: looking at datasets, splitting, packing, fetching.
bats_require_minimum_version 1.5.0 # run --separate-stderr

setup() {
    load pictures
    load preload
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
    [[ $output == *"b/text.jpg: the file is not a picture of a known kind (PNG, JPEG, WebP, HEIF, TIFF, GIF, BMP)"* ]]
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
assert info["broken"][1].startswith("caf\ufffd/2.png: the file is no"), info
' "$BATS_TEST_TMPDIR/json"
}

@test "what would unpack to a thousand times its size is refused before it does" {
    cd "$BATS_TEST_TMPDIR"
    mkdir -p d/a
    "$IMP" data show glyphs d/a/good.png "${small[@]}" --rows 1 --columns 1
    /usr/bin/python3 - <<'END'
import io, struct, tarfile, zipfile, zlib
def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
def png(surplus):
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 28, 28, 8, 0, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(bytes(28 * 29 + surplus), 9)) + chunk(b"IEND", b""))
good = open("d/a/good.png", "rb").read()
open("d/a/little.png", "wb").write(png(1000))
open("d/a/surplus.png", "wb").write(png(100 << 20))
bomb = b"\x89PNG" + bytes(100 << 20)
with zipfile.ZipFile("bomb.zip", "w", zipfile.ZIP_DEFLATED) as file:
    for i in range(5):
        file.writestr("a/%d.png" % i, bomb)
    file.writestr("a/good.png", good)
    file.writestr("a/zero.png", bytes(100 << 20))
with tarfile.open("bomb.tar.gz", "w:gz") as file:
    for name, content in ("notes.txt", bytes(100 << 20)), ("a/good.png", good):
        member = tarfile.TarInfo(name)
        member.size = len(content)
        file.addfile(member, io.BytesIO(content))
END
    run --separate-stderr "$IMP" data info d
    [ "$status" -eq 1 ]
    [[ $output == *"1 broken, left out:"*"a/surplus.png: broken PNG: it holds far more data than its pixels need"* ]]
    run --separate-stderr "$IMP" data info bomb.zip
    [ "$status" -eq 1 ]
    [[ $output == *"6 broken, left out:"* ]]
    [ "$(grep -c "unpacks to more than a hundred times its size" <<<"$output")" -eq 6 ]
    run --separate-stderr "$IMP" data info bomb.tar.gz
    [ "$status" -eq 1 ]
    [ "$stderr" = "imp data: the archive 'bomb.tar.gz' unpacks to more than a hundred times its size" ]
}

@test "of a file that is no picture no more than the beginning is read" {
    cd "$BATS_TEST_TMPDIR"
    mkdir -p d/a
    "$IMP" data show glyphs d/a/good.png "${small[@]}" --rows 1 --columns 1
    truncate -s 900M d/a/zero.png
    # All of it would not fit in the memory that there is.
    run --separate-stderr bash -c 'grep -qa __asan_init "$IMP" || ulimit -v 600000
        "$IMP" data info d --threads 1'
    [ "$status" -eq 1 ]
    [[ $output == *"a/zero.png: the file is not a picture of a known kind"* ]]
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

@test "a pack may be named as what it holds, and as nothing else" {
    cd "$BATS_TEST_TMPDIR"
    "$IMP" data export glyphs birds "${small[@]}"
    "$IMP" data pack birds birds.pack
    [ "$("$IMP" data info folder:birds.pack)" = "$("$IMP" data info birds.pack)" ]
    run --separate-stderr "$IMP" data info mini-imagenet:birds.pack
    [ "$status" -eq 1 ]
    [ "$stderr" = "imp data: 'birds.pack' is a pack of folder, not of mini-imagenet" ]
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
    refused="is an input and cannot be the output as well; name another file"
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
        [[ $stderr == "imp data: 'birds/alphabet01/character01/01.png' is part of the input '"*"birds"*"'; \
name another file" ]]
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
        run --separate-stderr interrupted_at $folder/alphabet02 \
            "$IMP" data export glyphs $folder --alphabets 3 --size 28
        [ "$status" -eq 130 ]
        [ "$output" = "" ]
        [ "$stderr" = "imp data: interrupted; nothing unfinished is left behind" ]
    done
    [ ! -e new ]
    [ -d empty ] && [ -z "$(ls -A empty)" ]
}

@test "an interrupted get leaves nothing" {
    cd "$BATS_TEST_TMPDIR"
    /usr/bin/python3 -u - >log 2>&1 3>&- <<'END' &
import http.server, threading
class Stalls(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        self.wfile.write(b"some")
        threading.Event().wait()
server = http.server.HTTPServer(("127.0.0.1", 0), Stalls)
print("port", server.server_port)
server.serve_forever()
END
    server=$!
    until port=$(sed -nE 's/^port ([0-9]+)$/\1/p' log) && [ -n "$port" ]; do
        kill -0 $server
        sleep 0.02
    done
    "$IMP" data get omniglot to --from "http://127.0.0.1:$port" 2>err &
    get=$!
    until [ -n "$(ls -A to 2>/dev/null)" ]; do kill -0 $get; sleep 0.02; done
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
    until port=$(sed -nE 's/.*port ([0-9]+).*/\1/p' "$BATS_TEST_TMPDIR/log") && [ -n "$port" ]; do
        kill -0 $server
        sleep 0.05
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

@test "mini-imagenet is its three lists and its pictures, to look at, split, pack and train on" {
    cd "$BATS_TEST_TMPDIR"
    make_mini mini 5 6 84
    run --separate-stderr "$IMP" data info mini-imagenet:mini
    [ "$status" -eq 0 ]
    [ "${lines[0]}" = "kind         mini-imagenet" ]
    [[ ${lines[1]} == "images       90, RGB, 84 x 84 pixels" ]]
    "$IMP" data show mini-imagenet:mini sheet.png --rows 15 --columns 6
    [ -s sheet.png ]
    "$IMP" data split mini-imagenet:mini lists
    [ "$(tr '\n' ' ' <lists/val.txt)" = "n06 n07 n08 n09 n10 " ]
    "$IMP" data pack mini-imagenet:mini mini.pack
    [ "$("$IMP" data info mini.pack)" = "$("$IMP" data info mini-imagenet:mini)" ]
    run --separate-stderr "$IMP" train --recipe mini-imagenet-5way-1shot --data mini.pack --updates 1 \
        --validate-every 0 --out run
    [ "$status" -eq 0 ]
    run --separate-stderr "$IMP" data info mini-imagenet:mini/images
    [ "$status" -eq 1 ]
    [[ $stderr == *"is not mini-ImageNet: it has no train.csv"* ]]
    run --separate-stderr "$IMP" data get mini-imagenet mini
    [ "$status" -eq 2 ]
    [[ $stderr == *"cannot be downloaded, because"*"mini-imagenet:FOLDER"* ]]
}
