# Points in folders of .npy files and in pipes: the same answers as from one file.
bats_require_minimum_version 1.5.0 # run --separate-stderr

setup() {
    load vectors
    load preload
    cd "$BATS_TEST_TMPDIR"
    npy x.npy '(40 * (np.arange(100) % 4)[:, None] + np.random.RandomState(3).randn(100, 3)).astype("float32")'
    mkdir parts
    /usr/bin/python3 -c 'import numpy as np
x = np.load("x.npy")
for i, part in enumerate(np.split(x, [7, 7, 60])):
    np.save(f"parts/{i}.npy", part.astype("float64") if i == 2 else part)'
}

# Runs a command that cannot write a byte to a file.
without_room() {
    bash -c 'trap "" XFSZ; ulimit -f 0; exec "$@"' - "$@"
}

@test "shards: a folder of files is one set of points" {
    for words in "cluster --method dp-means --lambda 200" "cluster --clusters 4 --order random"; do
        # shellcheck disable=SC2086 # words are options
        run "$IMP" ${words%% *} x.npy ${words#* } --json
        whole=$output
        # shellcheck disable=SC2086
        run "$IMP" ${words%% *} parts ${words#* } --json
        [ "$status" -eq 0 ]
        [ "$output" = "$whole" ]
    done
}

@test "shards: fit and predict take folders, predict also a pipe" {
    npy y.npy 'np.arange(100) % 4'
    "$IMP" fit --support x.npy --labels y.npy --unlabeled parts -o m.safetensors >one
    "$IMP" fit --support parts --labels y.npy --unlabeled x.npy -o n.safetensors >two
    diff one two
    cmp m.safetensors n.safetensors
    for json in "" --json; do
        # shellcheck disable=SC2086
        "$IMP" predict m.safetensors x.npy $json >one
        # shellcheck disable=SC2086
        "$IMP" predict m.safetensors parts $json >two
        # shellcheck disable=SC2086
        "$IMP" predict m.safetensors <(cat x.npy) $json >three
        diff one two
        diff one three
    done
}

@test "shards: fit reads unlabelled points in blocks, to the same bits" {
    /usr/bin/python3 -c 'import numpy as np, os
draw = np.random.RandomState(1)
u = (4 * (np.arange(9000) % 5)[:, None] + draw.randn(9000, 6)).astype("float32")
np.save("u.npy", u)
np.save("left.npy", u[:, :2])
os.mkdir("many"), os.mkdir("right")
for i, part in enumerate(np.split(u, 4)):
    np.save(f"many/{i}.npy", part)
    np.save(f"right/{i}.npy", part[:, 2:])
s = (4 * (np.arange(20) % 5)[:, None] + draw.randn(20, 6)).astype("float32")
np.save("s.npy", s), np.save("s2.npy", s[:, :2]), np.save("s4.npy", s[:, 2:])
np.save("y.npy", np.arange(20) % 5)'
    for words in "" "--unlabeled-weight 0.5 --whiten yes" "--preset paper" "--lambda 9"; do
        # shellcheck disable=SC2086
        "$IMP" fit --support s.npy --labels y.npy --unlabeled u.npy $words -o one.safetensors >one
        # shellcheck disable=SC2086
        "$IMP" fit --support s.npy --labels y.npy --unlabeled many $words --memory 0 \
            -o two.safetensors >two
        cmp one.safetensors two.safetensors
        diff one two
        "$IMP" fit --support s.npy --labels y.npy --unlabeled <(cat u.npy) $words \
            -o two.safetensors >two
        cmp one.safetensors two.safetensors
    done
    "$IMP" fit --support s2.npy --support s4.npy --labels y.npy --unlabeled left.npy \
        --unlabeled right --memory 0 -o two.safetensors >/dev/null
    "$IMP" predict two.safetensors left.npy right >one
    "$IMP" predict two.safetensors <(cat left.npy) right >two
    diff one two
    [ "$(ls -A | grep -c tmp)" -eq 0 ]

    # a point that is none, where nobody looks but the blocks
    npy many/4.npy 'np.array([[1, 2, np.nan, 4, 5, 6]], "float32")'
    run --separate-stderr "$IMP" fit --support s.npy --labels y.npy --unlabeled many -o n.safetensors
    [ "$status" -eq 1 ]
    [[ $stderr == "imp fit: many/4.npy: row 0, column 2 is not a number (NaN)"* ]]
    [ ! -e n.safetensors ]
}

@test "shards: a fit that is interrupted goes on where it was" {
    npy u.npy '(4 * (np.arange(9000) % 5)[:, None] + np.random.RandomState(1).randn(9000, 6)).astype("float32")'
    npy s.npy '(4 * (np.arange(20) % 5)[:, None] + np.random.RandomState(2).randn(20, 6)).astype("float32")'
    npy y.npy 'np.arange(20) % 5'
    words=(fit --support s.npy --labels y.npy --unlabeled u.npy --preset paper --memory 0)
    "$IMP" "${words[@]}" -o whole.safetensors >whole
    run --separate-stderr interrupted_at . "$IMP" "${words[@]}" -o m.safetensors
    [ "$status" -eq 130 ]
    [ "$stderr" = "imp fit: interrupted: 'm.safetensors.state' is from where the fit can be resumed" ]
    [ ! -e m.safetensors ]
    run --separate-stderr "$IMP" "${words[@]}" --alpha 0.5 -o m.safetensors --resume
    [ "$status" -eq 1 ]
    [[ $stderr == *"is of a clustering of other points or by other options"* ]]
    # a result that cannot be written costs nothing but the rest of the work
    run --separate-stderr without_room "$IMP" "${words[@]}" -o m.safetensors --resume
    [ "$status" -eq 1 ]
    [ -e m.safetensors.state ]
    "$IMP" "${words[@]}" -o m.safetensors --resume >found
    cmp whole.safetensors m.safetensors
    cmp whole found
    [ ! -e m.safetensors.state ]
}

@test "shards: the memory of fit does not grow with unlabelled points" {
    /usr/bin/python3 - <<'END'
import os, resource, subprocess
import numpy as np
draw = np.random.RandomState(1)
centers = 3 * draw.randn(8, 64)
kind = np.arange(200000) % 8
np.save("s.npy", (centers[kind[:80]] + draw.randn(80, 64)).astype("float32"))
np.save("y.npy", kind[:80])
np.save("u.npy", (centers[kind] + draw.randn(len(kind), 64)).astype("float32"))
np.save("few.npy", np.load("u.npy", mmap_mode="r")[:20000])
most = []
# A sanitizer keeps what was freed, unless it is told not to.
env = {**os.environ, "ASAN_OPTIONS": "quarantine_size_mb=1:thread_local_quarantine_size_kb=64"}
for file in "few.npy", "u.npy":
    for words in ["--unlabeled-weight", "0.5"], ["--preset", "paper"]:
        child = subprocess.Popen([os.environ["IMP"], "fit", "--support", "s.npy", "--labels", "y.npy",
                                  "--unlabeled", file, *words, "--memory", "0", "-o", "m.safetensors"],
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=env)
        _, status, usage = os.wait4(child.pid, 0)
        assert status == 0
        most.append(usage.ru_maxrss >> 10)
print(most)
assert max(most[2] - most[0], most[3] - most[1]) < 20, most # MB; the points are 46 MB more
END
}

@test "shards: what does not fit together is named" {
    npy parts/3.npy 'np.zeros((4, 2))'
    run --separate-stderr "$IMP" cluster parts
    [ "$status" -eq 1 ]
    [[ $stderr == "imp cluster: parts/3.npy: its points have 2 dimensions, those of 'parts/0.npy' have 3" ]]
    npy parts/3.npy 'np.array([[1, 2, np.nan]])'
    run --separate-stderr "$IMP" cluster parts
    [ "$status" -eq 1 ]
    [[ $stderr == "imp cluster: parts/3.npy: row 0, column 2 is not a number (NaN)"* ]]
}

@test "shards: a pipe in a folder is refused, not waited for" {
    mkfifo parts/9.npy
    npy y.npy 'np.arange(100) % 4'
    for words in "cluster parts --lambda 200" \
        "fit --support x.npy --labels y.npy --unlabeled parts -o m.safetensors"; do
        # shellcheck disable=SC2086 # words are options
        run --separate-stderr timeout 60 "$IMP" $words
        [ "$status" -eq 1 ]
        [ "$stderr" = "imp ${words%% *}: 'parts/9.npy' is a device or a pipe; a folder of points is \
made of files" ]
    done
}

@test "shards: answers go to files block by block, and numbers of points to disk" {
    "$IMP" cluster x.npy --method dp-means --lambda 200 --json >one
    "$IMP" cluster parts --method dp-means --lambda 200 --memory 0 -o labels.npy --json >two
    /usr/bin/python3 -c 'import json, numpy as np
one, two = json.load(open("one")), json.load(open("two"))
assert one.pop("assignments") == np.load("labels.npy").tolist() and one == two'
    run "$IMP" cluster parts --lambda 200 -o labels.npy
    [[ $output != *"point   cluster"* ]]
    [ "$(ls -A | tr '\n' ' ')" = "labels.npy one parts two x.npy " ]

    npy y.npy 'np.arange(100) % 4'
    "$IMP" fit --support x.npy --labels y.npy -o m.safetensors >/dev/null
    "$IMP" predict m.safetensors parts --json >whole
    "$IMP" predict m.safetensors <(cat x.npy) -o found.npy >/dev/null
    /usr/bin/python3 -c 'import json, numpy as np
assert json.load(open("whole"))["predictions"] == np.load("found.npy").tolist()'
    # texts as lines, from a pipe as from a file
    seq 0 99 | awk '{ print "class " $1 % 4 }' >y.txt
    "$IMP" fit --support x.npy --labels y.txt -o texts.safetensors >/dev/null
    "$IMP" predict texts.safetensors x.npy -o file.txt >file
    "$IMP" predict texts.safetensors <(cat x.npy) -o pipe.txt >pipe
    cmp file.txt pipe.txt
    cmp file pipe
    [[ $(head -n 1 pipe.txt) == "class "? ]]
    # what goes wrong leaves what was there
    cp found.npy before.npy
    run --separate-stderr "$IMP" predict m.safetensors <(head -c 700 x.npy) -o found.npy
    [ "$status" -eq 1 ]
    [[ $stderr == "imp predict: "*": it was cut short"* ]]
    cmp found.npy before.npy
    run --separate-stderr "$IMP" predict m.safetensors x.npy -o x.npy
    [ "$status" -ne 0 ]
}

@test "shards: a clustering that is interrupted goes on where it was" {
    words=(cluster parts --lambda 200)
    "$IMP" "${words[@]}" -o whole.npy --json >whole
    run --separate-stderr interrupted_at . "$IMP" "${words[@]}" -o found.npy --memory 0
    [ "$status" -eq 130 ]
    [ -e found.npy.state ]
    run --separate-stderr "$IMP" "${words[@]}" --method dp-means -o found.npy --resume
    [[ $stderr == *"is of a clustering of other points or by other options"* ]]
    "$IMP" "${words[@]}" -o found.npy --resume --json >found
    cmp whole.npy found.npy
    cmp whole found
    rm found.npy

    words=(cluster parts --method dp-means --lambda 200)
    "$IMP" "${words[@]}" -o whole.npy --json >whole
    run --separate-stderr interrupted_at . "$IMP" "${words[@]}" -o found.npy --memory 0
    [ "$status" -eq 130 ]
    [ "$stderr" = "imp cluster: interrupted: pass 1 was ended, and 'found.npy.state' is from where \
it can be resumed" ]
    [ ! -e found.npy ]
    run --separate-stderr "$IMP" "${words[@]}" --steps 1 -o found.npy --resume
    [ "$status" -eq 1 ]
    [[ $stderr == *"is of a clustering of other points or by other options"* ]]
    run --separate-stderr without_room "$IMP" "${words[@]}" -o found.npy --resume
    [ "$status" -eq 1 ]
    [ -e found.npy.state ]
    "$IMP" "${words[@]}" -o found.npy --resume --json >found
    cmp whole.npy found.npy
    cmp whole found
    [ ! -e found.npy.state ]
    run --separate-stderr "$IMP" cluster parts --resume
    [ "$status" -eq 2 ]
    [[ $stderr == *"--resume goes with -o FILE"* ]]
}

@test "shards: a file that happens to be called as a state is stays what it is" {
    npy s.npy 'np.load("x.npy")[:60]'
    npy y.npy 'np.arange(60) % 4'
    echo notes >found.npy.state
    cp s.npy m.safetensors.state
    run --separate-stderr "$IMP" cluster parts --lambda 200 -o found.npy
    [ "$status" -eq 1 ]
    [[ $stderr == "imp cluster: 'found.npy.state' is not what a stopped run left, "* ]]
    run --separate-stderr "$IMP" fit --support s.npy --labels y.npy --unlabeled parts -o m.safetensors
    [ "$status" -eq 1 ]
    [[ $stderr == "imp fit: 'm.safetensors.state' is not what a stopped run left, "* ]]
    [ "$(cat found.npy.state)" = notes ]
    cmp s.npy m.safetensors.state
    [ ! -e found.npy ] && [ ! -e m.safetensors ]
}
