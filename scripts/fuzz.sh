#!/usr/bin/env bash
# Runs the fuzzers, each for some minutes and one on each processor at a time, and prints how many
# inputs each has tried.
#
#   scripts/fuzz.sh MINUTES [NAME...]     all of tests/fuzz unless some are named
#
# The programs are those of the preset `fuzz`, which must be built. Inputs that increase coverage stay
# in build/fuzz/corpus for the next run; a failing input is written beside it.
set -uo pipefail
cd "$(dirname "$0")/.." || exit

minutes=${1:?usage: scripts/fuzz.sh MINUTES [NAME...]}
shift

if [ $# -eq 0 ]; then
    for source in tests/fuzz/*.c; do
        set -- "$@" "$(basename "$source" .c)"
    done
fi
if [ $# -gt 1 ]; then
    printf '%s\n' "$@" | xargs -n 1 -P "$(nproc)" scripts/fuzz.sh "$minutes"
    exit
fi

name=$1
seconds=$(awk -v minutes="$minutes" 'BEGIN { printf "%d", minutes * 60 }')
corpus=build/fuzz/corpus/fuzz_$name
options=()
work=$(mktemp -d)
log=$work/log
export TMPDIR=$work # a fuzzer that crashes leaves its files behind
trap 'rm -rf "$work"' EXIT
mkdir -p "$corpus"
[ ! -f "tests/fuzz/$name.dict" ] || options+=("-dict=tests/fuzz/$name.dict")
[ ! -d "tests/fuzz/corpus/$name" ] || cp -n "tests/fuzz/corpus/$name"/* "$corpus"
# The time limit of an input is there to end hangs: the machine may be busy.
if build/fuzz/tests/fuzz/fuzz_"$name" -max_total_time="$seconds" -timeout=100 -rss_limit_mb=2048 \
    -print_final_stats=1 -artifact_prefix="$corpus-" "${options[@]}" "$corpus" >"$log" 2>&1; then
    echo "$name: $(sed -nE 's/^stat::number_of_executed_units: *//p' "$log") executions," \
        "$(find "$corpus" -type f | wc -l) inputs kept"
else
    cat "$log"
    echo "$name: FAILED; the input is in build/fuzz/corpus"
    exit 1
fi
