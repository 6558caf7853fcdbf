# Pages that people read: commands that are meant to be typed work and print what is shown, figures
# are those of the result files, links lead somewhere.

setup_file() {
    root=$(realpath "$BATS_TEST_DIRNAME/../..")
    export root
}

@test "docs/vectors.md" {
    /usr/bin/python3 "$BATS_TEST_DIRNAME/run_tutorial.py" "$root/docs/vectors.md" "$IMP"
}

@test "docs/episodes.md" {
    /usr/bin/python3 "$BATS_TEST_DIRNAME/run_tutorial.py" "$root/docs/episodes.md" "$IMP"
}

@test "README.md states what the result files say" {
    /usr/bin/python3 "$BATS_TEST_DIRNAME/check_docs.py" figures "$root"
}

@test "links lead somewhere" {
    /usr/bin/python3 "$BATS_TEST_DIRNAME/check_docs.py" links "$root"
}

@test "every promise has its test" {
    /usr/bin/python3 "$BATS_TEST_DIRNAME/check_docs.py" promises "$root"
}

@test "docs/idea.svg shows what imp classify answers" {
    /usr/bin/python3 "$BATS_TEST_DIRNAME/check_docs.py" idea "$root" "$IMP"
}
