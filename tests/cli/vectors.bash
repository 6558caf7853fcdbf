# For the tests of the commands on embedded points: small arrays as .npy files.

# npy FILE EXPRESSION: saves a NumPy expression. One that reads no file is evaluated once for all
# tests of a file: importing NumPy takes longer than most of them.
npy() {
    local kept
    kept=$BATS_FILE_TMPDIR/$(md5sum <<<"$2").npy
    if [[ $2 == *load* ]] || [ ! -f "$kept" ]; then
        /usr/bin/python3 -c 'import sys, numpy
numpy.save(sys.argv[1], eval(sys.argv[2], {"np": numpy}))' "$1" "$2" || return
        [[ $2 == *load* ]] || cp "$1" "$kept"
    else
        cp "$kept" "$1"
    fi
}

# value EXPRESSION: prints what a Python expression makes of the object in $output, called o.
value() {
    /usr/bin/python3 -I -S -c 'import sys, json
o = json.loads(sys.argv[1])
print(eval(sys.argv[2]))' "$output" "$1"
}

# json EXPRESSION: fails unless the expression is True.
json() {
    result=$(value "$1") || return
    [ "$result" = True ] || { echo "$1 is $result" && return 1; }
}

# Two classes on a line, far apart, the second with two modes; a heap of unlabelled points.
small_episode() {
    cd "$BATS_TEST_TMPDIR"
    npy s.npy 'np.array([[0, 0], [1, 0], [30, 0], [60, 0]], "float32")'
    npy y.npy 'np.array([0, 0, 1, 1])'
    npy u.npy 'np.array([[100, 100], [101, 100], [0.5, 0]], "float32")'
    npy q.npy 'np.array([[0, 1], [31, 1], [59, 0], [99, 99]], "float32")'
}
