# Every command of docs/pictures.md, as it stands there.
#
# What takes minutes is told to take moments: training makes few updates of a small network, and
# where no model is built in a small one takes its place.

setup() {
    load pictures
    cd "$BATS_TEST_TMPDIR" || return
    root=$BATS_TEST_DIRNAME/../..
    built_in=$root/models/omniglot-alphabets.safetensors
    [ -f "$built_in" ] || small_model small
}

imp() {
    local more=()
    case $1 in
    train) more=(--quiet --updates 3 --network conv3x3:4,bn,relu,pool) ;;
    classify | cluster | embed)
        [ -f "$built_in" ] || [[ " $* " == *" --model "* ]] ||
            more=(--model "$BATS_TEST_TMPDIR/small/model.safetensors")
        ;;
    esac
    "$IMP" "$@" "${more[@]}"
}

@test "docs/pictures.md: every command works" {
    sed -n '/^```sh$/,/^```$/p' "$root/docs/pictures.md" | grep -v '^```' >commands
    [ "$(grep -c '^imp ' commands)" -ge 12 ]
    set -e
    # shellcheck disable=SC1091 # made above
    source ./commands >output 2>said
    [ "$(ls new | wc -l)" -eq 40 ]
    [ -s answers.html ] && [ -s groups.html ] && [ -s letters.safetensors ]
    [ "$(find sorted -name '*.png' | wc -l)" -eq 40 ]
    [ "$(wc -l <q.txt)" -eq 40 ]
    grep -q "clusters of 4 classes" output
    grep -q "compared with the sub-folders of letters" output
    # What embed says of the built-in model is what the page says, and what it gives to fit.
    [ ! -f "$built_in" ] || [ "$(grep -c -- "$(grep -m 1 -o -- '--sigma-l .*' said)" \
        "$root/docs/pictures.md")" -eq 2 ]
}

@test "docs/pictures.md: its pictures are there" {
    names=$(grep -o '](\([a-z-]*\.png\))' "$root/docs/pictures.md" | tr -d '()]')
    [ "$(wc -w <<<"$names")" -ge 2 ]
    for name in $names; do
        [ -s "$root/docs/$name" ]
    done
}
