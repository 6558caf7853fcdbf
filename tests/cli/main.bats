# The command without any of its commands: version, help, and what was mistyped.
bats_require_minimum_version 1.5.0 # run --separate-stderr

@test "--version tells the version of the header" {
    run "$IMP" --version
    [ "$status" -eq 0 ]
    version=$(sed -nE 's/#define IMP_VERSION_STRING "(.*)"/\1/p' \
        "$BATS_TEST_DIRNAME/../../include/imp/version.h")
    [ "$output" = "imp $version" ]
}

@test "--help, -h and help list the commands on stdout" {
    for word in --help -h help; do
        run --separate-stderr "$IMP" "$word"
        [ "$status" -eq 0 ]
        [ "${lines[0]}" = "Usage: imp COMMAND [OPTION]..." ]
        [[ $output == *"  help        Explain a command"* ]]
        [ -z "$stderr" ]
    done
}

@test "without a command the help goes to stderr and the status is 2" {
    run --separate-stderr "$IMP"
    [ "$status" -eq 2 ]
    [ -z "$output" ]
    [[ $stderr == "Usage: imp COMMAND"* ]]
}

@test "a mistyped command gets a suggestion" {
    run --separate-stderr "$IMP" hlep
    [ "$status" -eq 2 ]
    [ -z "$output" ]
    [ "$stderr" = "imp: unknown command 'hlep'; did you mean 'help'?" ]
}

@test "a word like no command gets none" {
    run --separate-stderr "$IMP" xylophone
    [ "$status" -eq 2 ]
    [ "$stderr" = "imp: unknown command 'xylophone'; 'imp --help' lists the commands" ]
}

@test "an unknown option before the command is refused" {
    run --separate-stderr "$IMP" --verbose help
    [ "$status" -eq 2 ]
    [ "$stderr" = "imp: unknown option '--verbose'; only --help and --version may come before a command" ]
    for word in --verison --versoin -version; do
        run --separate-stderr "$IMP" $word
        [ "$status" -eq 2 ]
        [ "$stderr" = "imp: unknown option '$word'; did you mean '--version'?" ]
    done
}

@test "a shell without completions gets the list of those that have some" {
    run --separate-stderr "$IMP" help --completion tcsh
    [ "$status" -eq 2 ]
    [ "$stderr" = "imp help: option '--completion' needs none, bash, zsh or fish, not 'tcsh'" ]
}

@test "of folders of known pictures only one is taken, and a second is refused" {
    run --separate-stderr "$IMP" classify --support a --support b c.png
    [ "$status" -eq 2 ]
    [ "$stderr" = "imp classify: give one --support folder and one --unlabeled folder; several views are for points" ]
}

@test "a mistyped option of a command gets a suggestion" {
    run --separate-stderr "$IMP" help --hepl
    [ "$status" -eq 2 ]
    [ "$stderr" = "imp help: unknown option '--hepl'; did you mean '--help'?" ]
}

@test "too many arguments are refused" {
    run --separate-stderr "$IMP" help help again
    [ "$status" -eq 2 ]
    [ "$stderr" = "imp help: unexpected argument 'again'" ]
}

@test "every command explains itself on a screen of 80 columns and 40 lines, with examples" {
    run "$IMP" --help
    commands=$(sed -nE 's/^  ([a-z-]+) .*/\1/p' <<<"$output")
    [ -n "$commands" ]
    for command in $commands; do
        run --separate-stderr "$IMP" "$command" --help
        [ "$status" -eq 0 ]
        [ -z "$stderr" ]
        [[ ${lines[0]} == "Usage: imp $command "* ]]
        [[ $output == *"Examples"*"  imp $command"* ]]
        [ -z "$(grep -E '^.{81}' <<<"$output")" ]
        [ "$(wc -l <<<"$output")" -le 40 ]

        by_option=$output
        run "$IMP" help "$command"
        [ "$output" = "$by_option" ]
        run --separate-stderr "$IMP" "$command" --help-all
        [ "$status" -eq 0 ]
        [ "$(wc -l <<<"$output")" -ge "$(wc -l <<<"$by_option")" ]
    done
}

# Whether process PID runs the command and catches SIGTERM, as it does from its beginning.
catches_signals() {
    [ "$(readlink "/proc/$1/exe")" = "$(readlink -f "$IMP")" ] &&
        ((0x$(sed -n 's/^SigCgt:[[:space:]]*//p' "/proc/$1/status") & 1 << 14))
}

# interrupted SIGNAL WORD...: sends the command the signal as soon as it catches signals, whatever
# this shell does with them.
interrupted() {
    /usr/bin/python3 -c '
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])' "$IMP" "${@:2}" 2>err &
    until catches_signals $!; do kill -0 $!; sleep 0.02; done
    kill -"$1" $!
    status=0
    wait $! || status=$?
    stderr=$(cat err)
}

@test "an interrupted command says so" {
    cd "$BATS_TEST_TMPDIR"
    mkfifo pipe.npy
    interrupted INT cluster pipe.npy
    [ "$status" -eq 130 ]
    [ "$stderr" = "imp cluster: interrupted" ]
    interrupted TERM predict pipe.npy pipe.npy
    [ "$status" -eq 143 ]
    [ "$stderr" = "imp predict: interrupted" ]
    interrupted INT demo --quiet --episodes 1000000 --updates 1
    [ "$status" -eq 130 ]
    [ "$stderr" = "imp demo: interrupted" ]
    [ ! -e demo.png ]
}

@test "a full disk is an error" {
    [ -w /dev/full ] || skip "there is no /dev/full"
    run bash -c '"$IMP" --help > /dev/full'
    [ "$status" -eq 1 ]
    [ "$output" = "imp: cannot write to standard output: No space left on device" ]
}

@test "an empty name, as of an unset variable, is refused before anything is touched" {
    cd "$BATS_TEST_TMPDIR"
    run --separate-stderr "$IMP" train --data glyphs --out ""
    [ "$status" -eq 2 ]
    [ "$stderr" = "imp train: option '--out' needs FOLDER, not an empty value" ]
    run --separate-stderr "$IMP" train --data glyphs --out=
    [ "$status" -eq 2 ]
    run --separate-stderr "$IMP" add "" --support s.npy --labels y.npy
    [ "$status" -eq 2 ]
    [ "$stderr" = "imp add: argument 1 is empty" ]
    run --separate-stderr "$IMP" fit --support s.npy --support "" --labels y.npy -o m.safetensors
    [ "$status" -eq 2 ]
    [ "$stderr" = "imp fit: option '--support' needs FILE, not an empty value" ]
    run --separate-stderr "$IMP" data info csv:
    [ "$status" -eq 1 ]
    [[ $stderr == *"'csv:': the path of the dataset is empty"* ]]
    [ ! -e /settings.json ]
}

@test "a wrong IMP_ISA is refused by every command" {
    mapfile -t commands < <("$IMP" --help | sed -nE 's/^  ([a-z]+)  .*/\1/p')
    [ "${#commands[@]}" -ge 16 ]
    for command in "${commands[@]}"; do
        IMP_ISA=bogus run --separate-stderr "$IMP" "$command" --help
        [ "$status" -eq 1 ]
        [ "$stderr" = "imp $command: IMP_ISA is 'bogus'; it can be avx512, avx2 or portable, or \
unset for the best" ]
    done
    IMP_ISA=portable run "$IMP" train --help
    [ "$status" -eq 0 ]
}
