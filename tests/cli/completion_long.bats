# Completion in zsh and fish, which few machines that build imp have.

setup() {
    cd "$BATS_TEST_TMPDIR"
    touch points.npy
}

# The arguments that imp is run with after LINE, tabs included, was typed into an interactive zsh.
typed_into_zsh() { # LINE
    cat >type.zsh <<'END'
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "PROMPT= RPROMPT= ; fpath=($PWD \$fpath); autoload -Uz compinit; compinit -u -D"
zpty -w shell 'imp() { print -r -- "ran<$*>"; }; print ready'
zpty -r shell output '*ready*ready*'
zpty -w shell "$1"
zpty -r shell output '*ran<*>*'
print -r -- ${${output##*ran<}%%>*}
END
    timeout 600 zsh -f type.zsh "$1"
}

@test "zsh" {
    command -v zsh >/dev/null || skip "there is no zsh"
    "$IMP" help --completion zsh >_imp
    zsh -n _imp
    [ "$(typed_into_zsh $'imp tra\t')" = "train" ]
    [ "$(typed_into_zsh $'imp train --recipe gly\t')" = "train --recipe glyphs-alphabets" ]
    [ "$(typed_into_zsh $'imp train --task=sup\t')" = "train --task=super-classes" ]
    [ "$(typed_into_zsh $'imp train --list-r\t')" = "train --list-recipes" ]
    [ "$(typed_into_zsh $'imp data inf\tgly\t')" = "data info glyphs" ]
    [ "$(typed_into_zsh $'imp help clu\t')" = "help cluster" ]
    [ "$(typed_into_zsh $'imp fit --support po\t')" = "fit --support points.npy" ]
    [ "$(typed_into_zsh $'imp fit -o po\t')" = "fit -o points.npy" ]
}

# What fish offers behind LINE, without the descriptions.
offered_by_fish() { # LINE
    fish --no-config -c "source imp.fish; complete -C '$1'" | cut -f 1 | tr '\n' ' '
}

@test "fish" {
    command -v fish >/dev/null || skip "there is no fish"
    "$IMP" help --completion fish >imp.fish
    fish -n imp.fish
    [ "$(offered_by_fish 'imp tra')" = "train " ]
    [ "$(offered_by_fish 'imp train --recipe gly')" = "glyphs-alphabets " ]
    [ "$(offered_by_fish 'imp train --task ')" = "classes super-classes " ]
    [ "$(offered_by_fish 'imp train --list-r')" = "--list-recipes " ]
    [[ $(offered_by_fish 'imp data ') == *"info "* ]]
    [ "$(offered_by_fish 'imp data info gly')" = "glyphs " ]
    [ "$(offered_by_fish 'imp help clu')" = "cluster " ]
    [ "$(offered_by_fish 'imp fit --support po')" = "points.npy " ]
    [ -z "$(offered_by_fish 'imp train --way ')" ]
}
