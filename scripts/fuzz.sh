#!/usr/bin/env bash
# Runs the fuzzers, each for some minutes, and prints how many inputs each has tried.
#
#   scripts/fuzz.sh MINUTES [NAME...]     all of tests/fuzz unless some are named
#
# The programs are those of the preset `fuzz`, which must be built. Inputs that increase coverage stay
# in build/fuzz/corpus for the next run; a failing input is written beside it.
set -uo pipefail
cd "$(dirname "$0")/.." || exit

minutes=${1:?usage: scripts/fuzz.sh MINUTES [NAME...]}
shift
seconds=$(awk -v minutes="$minutes" 'BEGIN { printf "%d", minutes * 60 }')
programs=build/fuzz/tests/fuzz
failed=0

if [ $# -eq 0 ]; then
    for source in tests/fuzz/*.c; do
        set -- "$@" "$(basename "$source" .c)"
    done
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
for name in "$@"; do
    corpus=build/fuzz/corpus/fuzz_$name
    options=()
    mkdir -p "$corpus"
    [ ! -f "tests/fuzz/$name.dict" ] || options+=("-dict=tests/fuzz/$name.dict")
    [ ! -d "tests/fuzz/corpus/$name" ] || cp -n "tests/fuzz/corpus/$name"/* "$corpus"
    if "$programs/fuzz_$name" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 \
        -print_final_stats=1 -artifact_prefix="$corpus-" "${options[@]}" "$corpus" >"$log" 2>&1; then
        echo "$name: $(sed -nE 's/^stat::number_of_executed_units: *//p' "$log") executions," \
            "$(find "$corpus" -type f | wc -l) inputs kept"
    else
        cat "$log"
        echo "$name: FAILED; the input is in build/fuzz/corpus"
        failed=1
    fi
done
exit $failed
