# For tests that put something between the command and the system.

# signalled_at SIGNAL FOLDER COMMAND...: becomes the command, which gets the signal when it has made
# the folder, or a file for scratch in it.
signalled_at() {
    exec env INTERRUPT_BY="$(kill -l "$1")" INTERRUPT_AT="$2" \
        LD_PRELOAD="$IMP_TEST_PROGRAMS/interrupt_at.so" "${@:3}"
}

# interrupted_at FOLDER COMMAND...: runs the command, which gets SIGINT then.
interrupted_at() {
    (signalled_at INT "$@")
}
