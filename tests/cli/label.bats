# imp label: a page that asks, and a project that remembers; here as a browser and a stranger meet it.
bats_require_minimum_version 1.5.0 # run --separate-stderr

setup() {
    load vectors
    cd "$BATS_TEST_TMPDIR"
    npy pile.npy 'np.concatenate([np.random.default_rng(k).normal(10 * k, 1, (20, 4)) for k in range(3)]).astype("f4")'
    npy truth.npy 'np.repeat(np.arange(3), 20)'
}

teardown() {
    [ -z "${server:-}" ] || kill "$server" 2>/dev/null || true
}

# Starts the page of the project; $address is where, $host what Host must be.
serve() {
    rm -f address
    "$IMP" label pile.npy --no-browser "$@" >address 2>log 3>&- &
    server=$!
    until [ -s address ]; do
        kill -0 "$server" || { cat log; return 1; }
        sleep 0.05
    done
    address=$(cat address)
    host=${address#http://}
    host=${host%%/*}
}

# post PATH JSON: prints the answer and, in a last line, the status.
post() {
    curl -sS -w '\n%{http_code}' -X POST -H 'Content-Type: application/json' -d "$2" "$address$1"
}

@test "label: answers are on the disk when the page says so, and come back after kill -9" {
    serve
    [[ $address == http://127.0.0.1:*/* ]]
    run post change '{"change":"label","items":[0],"class":"small","asked":"typical"}'
    [ "${lines[-1]}" = 200 ]
    post change '{"change":"label","items":[20,21,22],"class":"büro <b>"}' >/dev/null
    kill -9 "$server"
    wait "$server" || true
    serve
    grep -q "60 items, 4 named" log
    run curl -sS "${address}state"
    json 'o["answered"] == 4 and [c["name"] for c in o["classes"]] == ["none of these", "small", "büro <b>"]'
    json 'o["question"]["item"] not in (0, 20, 21, 22) and o["history"][0]["count"] == 3'
    kill -INT "$server"
    wait "$server"
}

@test "label: a stranger gets nothing" {
    serve
    status_of() { curl -s -o /dev/null -w '%{http_code}' "$@"; }
    [ "$(status_of "$address")" = 200 ]
    [ "$(status_of "http://$host/")" = 403 ]
    [ "$(status_of "http://$host/state")" = 403 ]
    [ "$(status_of "${address%??}x/state")" = 403 ]
    [ "$(status_of -H 'Host: rebound.example' "${address}state")" = 403 ]
    [ "$(status_of -H 'Origin: http://elsewhere.example' "${address}state")" = 403 ]
    [ "$(status_of -H 'Origin: null' -X POST -H 'Content-Type: application/json' -d '{}' "${address}change")" = 403 ]
    [ "$(status_of -H 'Sec-Fetch-Site: cross-site' -X POST -H 'Content-Type: application/json' -d '{}' "${address}change")" = 403 ]
    [ "$(status_of -X POST -d '{"change":"undo"}' "${address}change")" = 403 ] # as a form would
    [ "$(status_of -X DELETE "${address}state")" = 405 ]
    [ "$(status_of "${address}../../etc/passwd" --path-as-is)" = 404 ]
    [ "$(status_of "${address}picture?item=99999&side=10")" = 400 ]
    head -c 20000000 /dev/zero >large
    [ "$(status_of -X POST -H 'Content-Type: application/json' --data-binary @large "${address}change")" = 413 ]
    run curl -sSI -X GET "$address"
    [[ $output == *"default-src 'none'"*"script-src 'self'"* ]]
    [[ $output == *"nosniff"* && $output == *"no-referrer"* && $output == *"frame-ancestors 'none'"* ]]
    run curl -sS "${address}state"
    json 'o["answered"] == 0 and o["revision"] == 0'
}

@test "label: a hundred slow connections do not keep others out, and an endless body is given up" {
    serve
    run /usr/bin/python3 - "$address" <<'CHECK'
import socket, sys, threading, time, urllib.parse
where = urllib.parse.urlparse(sys.argv[1])
connect = lambda: socket.create_connection((where.hostname, where.port), 1000)
slow = [connect() for _ in range(100)]
for one in slow:
    one.sendall(b"GET / HTTP/1.1\r\nHost:")
def trickle():
    while True:
        for one in slow:
            one.sendall(b" ")
        time.sleep(1)
threading.Thread(target=trickle, daemon=True).start()
head = f" HTTP/1.1\r\nHost: {where.netloc}\r\n"
asking = connect()
asking.sendall(f"GET {where.path}state{head}\r\n".encode())
print(asking.recv(12))
endless = connect()
endless.sendall(f"POST {where.path}change{head}Content-Type: application/json\r\n"
                "Transfer-Encoding: chunked\r\n\r\n".encode())
sent, chunk = 0, b"10000\r\n" + 65536 * b" " + b"\r\n"
try:
    while sent < 1 << 30:
        endless.sendall(chunk)
        sent += 65536
except OSError:
    print("given up")
CHECK
    echo "$output"
    [ "${lines[0]}" = "b'HTTP/1.1 200'" ]
    [ "${lines[1]}" = "given up" ]
}

@test "label: what makes no sense is refused with a sentence, and a question answered elsewhere too" {
    serve
    run post change '{"change":"label","items":[60],"class":"x"}'
    [[ ${lines[0]} == *"not a number from 0 to 59"* && ${lines[-1]} = 400 ]]
    run post change 'nonsense'
    [ "${lines[-1]}" = 400 ]
    run post nowhere '{}'
    [ "${lines[-1]}" = 404 ]
    post change '{"change":"label","items":[5],"class":"x","asked":"typical","revision":0}' >/dev/null
    run post change '{"change":"label","items":[5],"class":"y","asked":"typical","revision":0}'
    [[ ${lines[0]} == *"named 'x' in another window"* && ${lines[-1]} = 409 ]]
    run "$IMP" label pile.npy --no-browser
    [ "$status" -eq 1 ]
    [[ $output == *"open in another 'imp label'"* ]]
}

@test "label: lists, groups, the map and more like these" {
    serve
    count() { curl -sS "$address$1" | wc -c; }
    [ "$(count 'items?view=all')" -eq 240 ]
    [ "$(count labels)" -eq 240 ]
    [ "$(count map)" -eq 240 ]
    post change '{"change":"label","items":[0],"class":"small"}' >/dev/null
    [ "$(count 'items?view=unsure')" -eq 236 ]
    [ "$(count 'items?view=answered')" -eq 4 ]
    run curl -sS "${address}groups"
    json 'sum(g["size"] for g in o) == 60 and all(len(g["samples"]) <= 4 for g in o)'
    curl -sS -X POST -H 'Content-Type: application/json' -d '{"yes":[20],"no":[0]}' "${address}similar" >similar
    run /usr/bin/python3 -c 'import numpy as np; s = np.fromfile("similar", "u4"); print(set(s[:19]) <= set(range(20, 40)))'
    [ "$output" = True ]
}

@test "label: a full disk refuses the answer, and nothing is lost" {
    (ulimit -f 8; trap '' XFSZ; serve; echo "$address" >where; echo "$server" >pid)
    address=$(cat where)
    server=$(cat pid)
    items=$(seq -s, 0 59)
    for ((k = 0; k < 40; k++)); do
        run post change "{\"change\":\"label\",\"items\":[$items],\"class\":\"kind $k\"}"
        [ "${lines[-1]}" = 200 ] || break
    done
    [ "${lines[-1]}" = 507 ]
    [[ ${lines[0]} == *"cannot write to the project"* ]]
    last=$((k - 1))
    kill -9 "$server"
    serve
    run curl -sS "${address}state"
    json "o['answered'] == 60 and o['classes'][-1]['name'] == 'kind $last'"
}

@test "label: exports, and labels to begin with" {
    printf 'name,class\nrow 0,small\nrow 20,"a ""b"", c"\nrow 40,large\nsomebody,else\n' >start.csv
    run --separate-stderr "$IMP" label pile.npy --labels start.csv --export csv:out.csv --export json:out.json \
        --export mixture:m.safetensors
    [ "$status" -eq 0 ]
    [[ $stderr == *"1 of the labels in 'start.csv' name nothing in this pile"* ]]
    grep -q '^"row 25","a ""b"", c",no,' out.csv
    grep -q '^"row 40","large",yes,1.0000$' out.csv
    run cat out.json
    json 'len(o["items"]) == 60 and sum(i["answered"] for i in o["items"]) == 3'
    run --separate-stderr "$IMP" predict m.safetensors pile.npy --json
    json 'o["predictions"] == [0] * 20 + [1] * 20 + [2] * 20'
    run "$IMP" label pile.npy --project other.imp-label --labels out.json --export csv:again.csv
    [ "$status" -eq 0 ]
    cmp out.csv again.csv
    run "$IMP" label pile.npy --export copy:sorted
    [[ $status -eq 1 && $output == *"vectors are not files"* ]]
    run "$IMP" label pile.npy --export tar:x
    [[ $status -eq 1 && $output == *"csv, json, copy"* ]]
    run "$IMP" label pile.npy --project ''
    [ "$status" -eq 2 ]
}

@test "label: pictures become folders; a kind that is no folder's name is refused" {
    "$IMP" data export glyphs:alphabets=2,characters=2,drawings=4 --out drawn >/dev/null 2>&1 ||
        /usr/bin/python3 -c '
import os
import numpy as np
from PIL import Image
for k in range(2):
    os.makedirs(f"drawn/{k}")
    for i in range(6):
        a = np.full((28, 28), 255, "u1")
        a[4 + i:24, 4 + 14 * k:8 + 14 * k] = 0
        Image.fromarray(a).save(f"drawn/{k}/{i}.png")
'
    first=$(cd drawn && find . -name '*.png' | sort | head -1 | cut -c3-)
    printf 'name,class\n%s,one\n' "$first" >start.csv
    run "$IMP" label drawn --labels start.csv --export copy:sorted --export link:linked --export support:support
    [ "$status" -eq 0 ]
    [ "$(find sorted/one -type f | wc -l)" -eq "$(find drawn -name '*.png' | wc -l)" ]
    [ "$(find linked -type l | wc -l)" -eq "$(find drawn -name '*.png' | wc -l)" ]
    [ "$(find support/one -type f | wc -l)" -eq 1 ]
    run --separate-stderr "$IMP" label drawn --project third.imp-label --labels support --export csv:third.csv
    [ "$status" -eq 0 ]
    [ "$(grep -c ',"one",yes,' third.csv)" -eq 1 ]
    run "$IMP" classify --support support sorted/one/*.png --json
    [ "$status" -eq 0 ]
    printf 'name,class\n%s,../one\n' "$first" >bad.csv
    run "$IMP" label drawn --project bad.imp-label --labels bad.csv --export copy:bad
    [[ $status -eq 1 && $output == *"cannot be the name of a folder"* ]]
    [ ! -e bad ] && [ ! -e one ]
}

@test "label: the simulation reaches all answers, in JSON and as a figure" {
    run --separate-stderr "$IMP" label pile.npy --simulate truth.npy --answers 20 --json -o curve.svg
    [ "$status" -eq 0 ]
    json 'len(o["asked"]["right"]) == 20 and o["asked"]["right"][-1] == 1 and len(o["random"]["right"]) == 20'
    [ -s curve.svg ]
    [ ! -e pile.npy.imp-label ]
    npy truth.npy 'np.repeat(np.arange(3), 20) - 1'
    run "$IMP" label pile.npy --simulate truth.npy
    [[ $status -eq 1 && $output == *"does not say what 'row 0' is"* ]]
}

@test "label: texts by an embedder are shown as texts, pictures as pictures" {
    mkdir mails
    for k in 1 2 3 4 5 6; do echo "mail $k about <b>things</b>" >"mails/$k.txt"; done
    embedder="/usr/bin/python3 $BATS_TEST_DIRNAME/../embedder.py"
    "$IMP" label mails --embedder "$embedder" --no-cache --no-browser >address 2>log 3>&- &
    server=$!
    until [ -s address ]; do kill -0 "$server" || { cat log; return 1; }; sleep 0.05; done
    address=$(cat address)
    run curl -sS "${address}state"
    json 'o["kind"] == "files" and o["items"] == 6'
    run curl -sS "${address}names?items=0,5"
    json 'o[0]["text"].startswith("mail 1 about <b>") and o[1]["name"] == "6.txt"'
    run curl -s -o /dev/null -w '%{http_code}' "${address}picture?item=0&side=96"
    [ "$output" = 404 ]
}
