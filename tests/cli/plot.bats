# `imp plot`: the logs of runs as charts, and events for TensorBoard.
bats_require_minimum_version 1.5.0 # run --separate-stderr

setup_file() {
    cd "$BATS_FILE_TMPDIR" || return
    tiny=(--size 16 --alphabets 10 --network conv3x3:4,bn,relu,pool --task super-classes --way 2
        --modes 3 --queries 2 --updates 12 --validate-every 4 --validation-episodes 3 --log-every 2)
    "$IMP" train --quiet --out imp "${tiny[@]}" --tensorboard
    "$IMP" train --quiet --out prototypes "${tiny[@]}" --method prototypes --validate-every 0
}

setup() {
    cd "$BATS_FILE_TMPDIR" || return
}

@test "runs are drawn as a picture of each kind" {
    run --separate-stderr "$IMP" plot imp prototypes/ -o both.png
    [ "$status" -eq 0 ]
    [ "$output" = both.png ]
    [ -z "$stderr" ]
    "$IMP" plot imp -o one.png
    "$IMP" plot imp -o one.svg
    /usr/bin/python3 - <<'CHECK'
from PIL import Image
import xml.etree.ElementTree as tree
assert Image.open("both.png").size == Image.open("one.png").size == (1280, 800)
assert Image.open("both.png").tobytes() != Image.open("one.png").tobytes()
assert tree.parse("one.svg").getroot().get("width") == "1280px"
CHECK
    cp one.svg before.svg
    "$IMP" plot imp -o one.svg
    cmp before.svg one.svg
}

@test "a run without sigma and validation has fewer charts" {
    "$IMP" plot prototypes -o few.svg
    grep -q 'width="1280px" height="800px"' few.svg # loss, accuracy, clusters
}

@test "a page tells how far runs are, and follows those that are being trained" {
    "$IMP" plot imp prototypes -o page.html --follow # both are finished: it ends at once
    grep -q '<td>imp</td><td>finished</td><td>12 of 12</td>' page.html
    grep -q '<td>prototypes</td><td>finished</td>' page.html
    [ "$(grep -c 'class="chart"' page.html)" -eq 4 ]
    run ! grep -q 'http-equiv="refresh"' page.html
    # A lock on the log, as a run holds it, makes it one that is being trained.
    coproc holder { flock imp/log.jsonl sh -c 'echo locked; read -r _'; }
    process=$holder_PID
    read -r word <&"${holder[0]}"
    [ "$word" = locked ]
    "$IMP" plot imp -o page.html
    grep -q '<td>imp</td><td>being trained</td>' page.html
    echo >&"${holder[1]}"
    wait "$process"
    sed '$d' imp/log.jsonl >cut && mkdir -p stopped && cp imp/* stopped && mv cut stopped/log.jsonl
    printf '{"update": 11, "lo' >>stopped/log.jsonl # a line that is being written
    "$IMP" plot stopped -o page.html
    grep -q '<td>stopped</td><td>stopped</td><td>10 of 12</td>' page.html
}

@test "what cannot be drawn is a sentence" {
    fails() { # STATUS SENTENCE ARGUMENT...
        run --separate-stderr "$IMP" plot "${@:3}"
        [ "$status" -eq "$1" ]
        [ "$stderr" = "imp plot: $2" ]
    }
    fails 1 "there is no run in 'nowhere': it has no settings.json" nowhere
    fails 2 "cannot plot to 'x.pdf': its name must end in .png, .svg or .html" imp -o x.pdf
    fails 2 "--follow needs a page: -o training.html" imp --follow
    mkdir -p broken && cp imp/settings.json broken
    echo "no log" >broken/log.jsonl
    run --separate-stderr "$IMP" plot broken
    [ "$status" -eq 1 ]
    [[ $stderr == "imp plot: broken/log.jsonl: line 1: "* ]]
    : >broken/log.jsonl
    fails 1 "there is nothing to plot yet: the logs are empty" broken
    before=$(sha256sum imp/log.csv)
    run --separate-stderr "$IMP" plot imp -o imp/log.csv
    [ "$status" -eq 2 ]
    [ "$(sha256sum imp/log.csv)" = "$before" ]
}

@test "events have the log's numbers, and a resumed run goes on in another file" {
    "$IMP" train --quiet --resume imp --updates 14 --tensorboard
    /usr/bin/python3 - <<'CHECK'
import csv, glob, math, struct

def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF

def masked(data):
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF

def fields(data):
    def varint(at):
        value = shift = 0
        while True:
            value |= (data[at] & 127) << shift
            shift += 7
            at += 1
            if data[at - 1] < 128:
                return value, at
    at = 0
    while at < len(data):
        tag, at = varint(at)
        if tag & 7 == 0:
            value, at = varint(at)
        else:
            size = {1: 8, 5: 4}.get(tag & 7)
            if size is None:
                size, at = varint(at)
            value, at = data[at:at + size], at + size
        yield tag >> 3, value

assert masked(b"123456789") == (((0xE3069283 >> 15) | (0xE3069283 << 17)) + 0xA282EAD8) & 0xFFFFFFFF
files, found, restarts = sorted(glob.glob("imp/events.out.tfevents.*")), {}, []
assert len(files) == 2, files
for name in files:
    data, at, first = open(name, "rb").read(), 0, True
    while at < len(data):
        (size,) = struct.unpack_from("<Q", data, at)
        assert struct.unpack_from("<I", data, at + 8)[0] == masked(data[at:at + 8])
        event = data[at + 12:at + 12 + size]
        assert struct.unpack_from("<I", data, at + 12 + size)[0] == masked(event)
        at += size + 16
        event = dict(fields(event))
        if first:
            assert event[3] == b"brain.Event:2"
            first = False
        elif 7 in event:
            restarts.append(event[2])
        else:
            for _, value in fields(event[5]):
                value = dict(fields(value))
                found[value[1].decode(), event[2]] = struct.unpack("<f", value[2])[0]
assert restarts == [13], restarts
rows = list(csv.DictReader(open("imp/log.csv")))
columns = {"loss": "loss", "accuracy/training": "accuracy", "accuracy/validation": "validation",
           "clusters": "clusters", "sigma/labelled": "sigma_l", "optimizer/rate": "rate"}
for tag, column in columns.items():
    for row in rows:
        value = found.get((tag, int(row["update"])))
        assert (value is None) == (row[column] == ""), (tag, row)
        assert value is None or math.isclose(value, float(row[column]), rel_tol=1e-6), (tag, row)
CHECK
}
