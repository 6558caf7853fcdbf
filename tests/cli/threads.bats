# Threads as a system gives them: fewer than asked for, or none.
bats_require_minimum_version 1.5.0 # run --separate-stderr

setup() {
    cd "$BATS_TEST_TMPDIR" || return
}

# A sanitizer reserves more memory than any limit that means something to the program.
limit_memory() { # KILOBYTES COMMAND...
    (
        ulimit -v "$1" || exit 77
        shift
        "$@"
    )
}

sanitized() {
    grep -qa -e __asan_init -e __tsan_init "$IMP"
}

@test "with too little memory for its threads a command does its work on fewer" {
    ! sanitized || skip "the sanitizer needs more memory than the limit allows"
    run --separate-stderr "$IMP" data info glyphs --alphabets 20 --threads 1 --json
    [ "$status" -eq 0 ]
    expected=$output
    run --separate-stderr limit_memory 400000 \
        "$IMP" data info glyphs --alphabets 20 --threads 1024 --json
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    [ "$output" = "$expected" ]
}

@test "OMP_NUM_THREADS is how many threads a command uses that is not told" {
    run env OMP_NUM_THREADS=1 strace -f -qq -e trace=clone,clone3 true
    [ "$status" -eq 0 ] || skip "there is no strace"
    # The leak sanitizer cannot look at a process that is traced already.
    run --separate-stderr env ASAN_OPTIONS=detect_leaks=0 OMP_NUM_THREADS=3 \
        strace -f -qq -e trace=clone,clone3 -o calls "$IMP" data info glyphs --alphabets 6 --json
    [ "$status" -eq 0 ]
    [ "$(grep -c 'clone3\?(' calls)" -eq 2 ]
}
