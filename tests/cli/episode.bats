# imp episode draw: one task as JSON or as a sheet, many in a file.
bats_require_minimum_version 1.5.0 # run --separate-stderr

setup() {
    small=(--alphabets 10 --fewest-characters 4 --most-characters 6 --drawings 10 --size 12)
}

@test "draw prints one episode as JSON, the same every time" {
    run --separate-stderr "$IMP" episode draw glyphs "${small[@]}" --index 4711 --unlabeled 2 \
        --distractors 2
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    first=$output
    run "$IMP" episode draw glyphs "${small[@]}" --index 4711 --unlabeled 2 --distractors 2 --threads 1
    [ "$output" = "$first" ]
    /usr/bin/python3 -c '
import json, sys
episode = json.loads(sys.argv[1])
assert episode["index"] == 4711 and episode["way"] == 5 and len(episode["classes"]) == 7
images = sum((episode[part]["images"] for part in ("supports", "queries", "unlabeled")), [])
assert len(images) == len(set(images)) == 5 + 25 + 14
for image, label in zip(episode["supports"]["images"], episode["supports"]["labels"]):
    assert image.startswith(episode["classes"][label] + "/")
' "$first"
}

@test "training, validation and testing draw different classes" {
    for purpose in training validation testing; do
        run "$IMP" episode draw glyphs "${small[@]}" --for $purpose --way 2
        [ "$status" -eq 0 ]
        echo "$output" >>"$BATS_TEST_TMPDIR/all"
    done
    # Glyphs are split by their alphabets.
    /usr/bin/python3 -c '
import json, sys
drawn = [{name.split("/")[0] for name in json.loads(line)["classes"]} for line in open(sys.argv[1])]
assert len(drawn) == 3 and all(drawn), drawn
assert sum(map(len, drawn)) == len(set.union(*drawn)), drawn
' "$BATS_TEST_TMPDIR/all"
}

@test "saved episodes are those that are drawn" {
    run "$IMP" episode draw glyphs "${small[@]}" --save "$BATS_TEST_TMPDIR/e.jsonl" --count 5 \
        --index 3
    [ "$status" -eq 0 ]
    [ "$(wc -l <"$BATS_TEST_TMPDIR/e.jsonl")" -eq 6 ]
    run "$IMP" episode draw glyphs "${small[@]}" --index 7
    [ "$output" = "$(tail -n 1 "$BATS_TEST_TMPDIR/e.jsonl")" ]
}

@test "draw --sheet writes a PNG" {
    run "$IMP" episode draw glyphs "${small[@]}" --task super-classes --way 3 --modes 4 \
        --sheet "$BATS_TEST_TMPDIR/e.png"
    [ "$status" -eq 0 ]
    [ -z "$output" ]
    [ "$(head -c 4 "$BATS_TEST_TMPDIR/e.png" | tail -c 3)" = PNG ]
}

@test "an impossible episode names the class and its counts" {
    run --separate-stderr "$IMP" episode draw glyphs "${small[@]}" --shot 6 --queries 5
    [ "$status" -eq 1 ]
    [ "$stderr" = "imp episode: alphabet01/character01 has 10 images; 6 + 5 are needed" ]
}

@test "too few alphabets are counted" {
    run --separate-stderr "$IMP" episode draw glyphs "${small[@]}" --kind super-classes --modes 2 \
        --for validation
    [ "$status" -eq 1 ]
    [ "$stderr" = "imp episode: there are 2 super-classes in the val split; 10-way episodes need 10" ]
}

@test "data is not written over" {
    cd "$BATS_TEST_TMPDIR"
    "$IMP" data pack glyphs d.pack "${small[@]}"
    cp d.pack before
    for option in --save --sheet; do
        run --separate-stderr "$IMP" episode draw d.pack $option d.pack
        [ "$status" -eq 2 ]
        [ "$stderr" = "imp episode: 'd.pack' is an input and cannot be the output as well; name another file" ]
    done
    cmp d.pack before
}

@test "on a sheet only what has no label is gray" {
    "$IMP" episode draw glyphs "${small[@]}" --way 9 --shot 1 --queries 1 --unlabeled 1 \
        --sheet "$BATS_TEST_TMPDIR/e.png"
    /usr/bin/python3 - "$BATS_TEST_TMPDIR/e.png" <<'END'
import sys
from PIL import Image
sheet = Image.open(sys.argv[1])
side = 12 + 2 * 2
marks = [[sheet.getpixel((column * side, row * side)) for column in range(3)] for row in range(9)]
gray = (127, 127, 127)
assert all(row[1:] == [(255, 255, 255), gray] for row in marks), marks
assert len({row[0] for row in marks} | {gray}) == 10, marks
END
}

@test "wrong command lines are refused" {
    run --separate-stderr "$IMP" episode paint glyphs
    [ "$status" -eq 2 ]
    [ "$stderr" = "imp episode: unknown action 'paint'; there is only draw" ]
    run --separate-stderr "$IMP" episode draw glyphs "${small[@]}" --count 3
    [ "$status" -eq 2 ]
    [ "$stderr" = "imp episode: --count needs --save" ]
}
