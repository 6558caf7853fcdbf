# imp label in a real browser: every interaction, and a pile of a hundred thousand.
bats_require_minimum_version 1.5.0

setup() {
    load vectors
    cd "$BATS_TEST_TMPDIR"
    [ -x /usr/bin/chromium ] || skip "there is no chromium"
    command -v npm >/dev/null || skip "there is no npm"
    npm install --silent --no-save --prefix "$BATS_FILE_TMPDIR" playwright-core >/dev/null 2>&1 ||
        skip "npm has no playwright-core to give"
    export NODE_PATH=$BATS_FILE_TMPDIR/node_modules
}

teardown() {
    [ -z "${server:-}" ] || kill "$server" 2>/dev/null || true
}

serve() {
    "$IMP" label "$@" --no-browser >address 2>log 3>&- &
    server=$!
    until [ -s address ]; do
        kill -0 "$server" || { cat log; return 1; }
        sleep 0.1
    done
}

@test "label: every interaction in a browser" {
    [ -f "$IMP_SHARED/data/omniglot/images_evaluation.zip" ] || skip "there is no Omniglot"
    /usr/bin/python3 -c '
import os, sys, zipfile
archive = zipfile.ZipFile(sys.argv[1])
names = sorted(n for n in archive.namelist() if n.endswith(".png"))
for name in names[:8000:8]:
    _, alphabet, character, file = name.split("/")
    os.makedirs(f"pile/{alphabet}", exist_ok=True)
    with open(f"pile/{alphabet}/{character}-{file}", "wb") as out:
        out.write(archive.read(name))
' "$IMP_SHARED/data/omniglot/images_evaluation.zip"
    serve pile
    run node "$BATS_TEST_DIRNAME/../browser/label.js" "$(cat address)"
    echo "$output"
    [ "$status" -eq 0 ]
}

@test "label: a hundred thousand items are scrolled without stalling" {
    npy many.npy 'np.random.default_rng(1).normal(0, 1, (100000, 16)).astype("f4")'
    serve many.npy
    run node "$BATS_TEST_DIRNAME/../browser/label_many.js" "$(cat address)"
    echo "$output"
    [ "$status" -eq 0 ]
}
