# Completion in bash, the shell that runs this: what Tab would offer. Other shells are in
# completion_long.bats.

setup() {
    cd "$BATS_TEST_TMPDIR"
    # shellcheck source=/dev/null
    source <("$IMP" help --completion bash)
}

# What is offered behind the words given; the last is what has been typed of the next one.
offered() {
    COMP_WORDS=(imp "$@")
    COMP_CWORD=$#
    _imp
    echo "${COMPREPLY[*]}"
}

@test "commands are offered first" {
    [ "$(offered tra)" = train ]
    [ "$(offered cl)" = "classify cluster" ]
    [ "$(offered --v)" = --version ]
    all=$("$IMP" --help | sed -nE 's/^  ([a-z-]+) .*/\1/p')
    [ "$(offered '' | tr ' ' '\n')" = "$all" ]
}

@test "every option of every command is offered" {
    for command in $("$IMP" --help | sed -nE 's/^  ([a-z-]+) .*/\1/p'); do
        options=$("$IMP" "$command" --help-all | sed -nE 's/^  (-., )?(--[a-z-]+).*/\2/p')
        found=$(offered "$command" -- | tr ' ' '\n' | grep -vx -e --help-all)
        [ "$(sort <<<"$found")" = "$(sort <<<"$options")" ]
    done
}

@test "actions are offered, then what they take" {
    actions=$("$IMP" data --help | sed -n '/^Actions/,/^$/p' | sed -nE 's/^  ([a-z]+) .*/\1/p')
    [ "$(offered data '' | tr ' ' '\n')" = "$actions" ]
    [[ $actions == *info* ]]
    [ "$(offered data info gly)" = glyphs ]
    [ "$(offered data get om)" = omniglot ]
    [ "$(offered model ex)" = export ]
    [ "$(offered help clu)" = cluster ]
    [ "$(offered paper uns)" = unsupervised ]
}

@test "choices, methods and recipes are offered" {
    [ "$(offered train --task '')" = "classes super-classes" ]
    [ "$(offered train --recipe omniglot-alphabets-)" = omniglot-alphabets-8 ]
    [ "$(offered classify --method prot)" = prototypes ]
    [ "$(offered help --completion '')" = "none bash zsh fish" ]
}

@test "a value behind an equals sign is completed like one behind a space" {
    [ "$(offered train --task = sup)" = super-classes ]
    [ "$(offered train --task =)" = "classes super-classes" ]
}

@test "files are offered where a file is wanted, folders where a folder is" {
    mkdir folder "two words"
    touch file.npy
    [ "$(offered fit --support fi)" = file.npy ]
    [ "$(offered fit -o fo)" = folder ]
    [ "$(offered train --out f)" = folder ]
    [ "$(offered predict fi)" = file.npy ]
    [ "$(offered train --recipe fi)" = file.npy ]
    COMP_WORDS=(imp fit --support two) COMP_CWORD=3
    _imp
    [ "${#COMPREPLY[@]}" -eq 1 ]
}

@test "nothing is offered for a number" {
    touch file.npy
    [ -z "$(offered train --way '')" ]
    [ -z "$(offered train --rate fi)" ]
}
