#!/usr/bin/env bash
# Runs an example in a folder of its own. Its last line must be the one its first comment promises.
#
#   tests/install/run-example.sh PROGRAM SOURCE
set -euo pipefail

program=$(realpath "$1")
promised=$(sed -nE 's/^ \* Last line: //p' "$2")
[ -n "$promised" ] || {
    echo "$2 does not say what its last line is"
    exit 1
}

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
output=$("$program")
echo "$output"
last=$(tail -n 1 <<<"$output")
[ "$last" = "$promised" ] || {
    echo "the last line is not the promised one: $promised"
    exit 1
}
