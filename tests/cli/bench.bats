#!/usr/bin/env bats
# imp bench: what it prints and how it answers; never how fast it is.

@test "bench prints a table" {
    run "$IMP" bench --images 4 --size 16 --seconds 0 --threads 1
    [ "$status" -eq 0 ]
    [[ $output == *"conv4, 4 images of 1x16x16"* ]]
    [[ $output == *training* && $output == *evaluation* ]]
}

@test "bench --json says what it measured and with how many threads" {
    run "$IMP" bench --images 4 --size 16 --seconds 0 --threads 2 --json
    [ "$status" -eq 0 ]
    [[ $output == *'"threads": 2'* && $output == *'"images_per_second"'* ]]
}

@test "a network that does not fit the images is one sentence" {
    run "$IMP" bench --size 8
    [ "$status" -eq 1 ]
    [[ $output == "imp bench: pool 4 would shrink 1x1 to nothing"* ]]
}

@test "an instruction set nobody knows is one sentence" {
    IMP_ISA=sse9 run "$IMP" bench --images 1 --size 16 --seconds 0
    [ "$status" -eq 1 ]
    [[ $output == "imp bench: IMP_ISA is 'sse9'"* ]]
}

@test "bench --serve takes an update apart" {
    cd "$BATS_TEST_TMPDIR"
    run "$IMP" bench --serve <<< $'update characters 2 1 0 run\nupdate letters 2 1 0 other'
    [ "$status" -eq 0 ]
    [ "${#lines[@]}" -eq 2 ]
    [ "$(wc -l <run/log.jsonl)" -ge 5 ]
    /usr/bin/python3 -c '
import json, sys
a = json.loads(sys.argv[1])
assert a["n"] == 12 and a["threads"] == 1 and a["updates"] >= 3
assert min(a[k] for k in ("bare_ms", "network_ms", "method_ms", "optimizer_ms", "rest_ms")) > 0
assert a["update_ms"] > a["network_ms"] and a["beyond_network"] > 0
' "${lines[0]}"
    [[ ${lines[1]} == *'"unavailable"'*'should be '*'update characters|alphabets WAY'* ]]
}

@test "bench --serve answers each line with a line" {
    run "$IMP" bench --serve <<< $'hello\ntrain 2 1 16 16 1 0\neval 0 1 16 16 1 0\nnonsense\nquit\nhello'
    [ "$status" -eq 0 ]
    [ "${#lines[@]}" -eq 4 ]
    [[ ${lines[0]} == *'"isa"'* ]]
    [[ ${lines[1]} == *'"what":"train"'* && ${lines[1]} == *'"steps"'* ]]
    [[ ${lines[2]} == *'"unavailable":"0 images cannot be timed'* ]]
    [[ ${lines[3]} == *'"unavailable"'* ]]
}

@test "bench --serve times other networks, too" {
    run "$IMP" bench --serve <<< $'train 2 3 21 21 1 0 resnet12:4\neval 2 1 9 9 1 0 conv3x3:4\ntrain 2 1 9 9 1 0 resnet13'
    [ "$status" -eq 0 ]
    [[ ${lines[0]} == *'"network":"resnet12:4"'*'"c":3'*'"steps"'* ]]
    [[ ${lines[1]} == *'"network":"conv3x3:4"'*'"steps"'* ]]
    [[ ${lines[2]} == *'"unavailable":'*'resnet13'* ]]
}
