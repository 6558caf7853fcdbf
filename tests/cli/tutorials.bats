# The pages of docs/ whose commands are meant to be typed: they work, and print what is shown.

@test "docs/vectors.md" {
    /usr/bin/python3 "$BATS_TEST_DIRNAME/run_tutorial.py" \
        "$BATS_TEST_DIRNAME/../../docs/vectors.md" "$IMP"
}

@test "docs/episodes.md" {
    /usr/bin/python3 "$BATS_TEST_DIRNAME/run_tutorial.py" \
        "$BATS_TEST_DIRNAME/../../docs/episodes.md" "$IMP"
}
