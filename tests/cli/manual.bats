# The man pages: that they tell everything, and that the programs that show them have no complaint.

setup() {
    cd "$BATS_TEST_TMPDIR"
    commands=$("$IMP" --help | sed -nE 's/^  ([a-z-]+) .*/\1/p')
    "$IMP" help --man >imp.1
    for command in $commands; do
        "$IMP" help --man "$command" >"imp-$command.1"
    done
}

@test "imp(1) names every command, and what all of them share" {
    for command in $commands; do
        grep -qF "imp\\-$command (1)" imp.1
    done
    for section in NAME SYNOPSIS DESCRIPTION COMMANDS "EXIT STATUS" ENVIRONMENT FILES EXAMPLES \
        "SEE ALSO"; do
        grep -qx "\.SH $section" imp.1
    done
    grep -q IMP_ISA imp.1
}

@test "a command's page has all of its options, ranges, defaults and examples" {
    for command in $commands; do
        "$IMP" "$command" --help-all | sed -nE 's/^  (-., )?--([a-z-]+).*/\2/p' | sed 's/-/\\-/g' |
            while read -r option; do
                grep -qF "\\-\\-$option\\fR" "imp-$command.1"
            done
        [ "$(sed -n '/^\.SH EXAMPLES/,/^\.fi/p' "imp-$command.1" | grep -c '^imp ')" -ge 2 ]
    done
    grep -q "(an integer of at least 0; default 20000)" imp-train.1
    tr '\n' ' ' <imp-train.1 | grep -q "(classes or super-classes; default"
}

@test "the version and its date are in the title" {
    header=$BATS_TEST_DIRNAME/../../include/imp/version.h
    version=$(sed -nE 's/#define IMP_VERSION_STRING "(.*)"/\1/p' "$header")
    date=$(sed -nE 's/#define IMP_VERSION_DATE "([0-9-]*)".*/\1/p' "$header")
    [ "$(head -n 1 imp-train.1)" = ".TH IMP\\-TRAIN 1 \"$date\" \"imp $version\" \"User Commands\"" ]
}

@test "man and groff have no complaint" {
    command -v groff >/dev/null || skip "there is no groff"
    for page in *.1; do
        run groff -ww -man -Tutf8 -z "$page"
        [ "$status" -eq 0 ]
        [ -z "$output" ]
    done
    command -v man >/dev/null || skip "there is no man"
    for page in *.1; do
        man --warnings -E UTF-8 -l -Tutf8 -Z "$page" 2>complaints >/dev/null
        [ ! -s complaints ]
    done
}

@test "mandoc has no complaint" {
    command -v mandoc >/dev/null || skip "there is no mandoc"
    run mandoc -Tlint -Wstyle *.1
    echo "$output"
    [ "$status" -eq 0 ]
    [ -z "$output" ]
}

@test "the page of a command that there is not is refused" {
    run "$IMP" help --man trian
    [ "$status" -eq 2 ]
    [ "$output" = "imp: unknown command 'trian'; did you mean 'train'?" ]
    run "$IMP" help --completion bash train
    [ "$status" -eq 2 ]
}
