#!/usr/bin/env bash
# Fails if a function that the library exports appears in no example, or an example is not in the
# list of examples.
set -euo pipefail
cd "$(dirname "$0")/../.."

faults=0
while read -r function; do
    if ! grep -qw "$function" examples/*.c; then
        echo "$function() appears in no example"
        faults=$((faults + 1))
    fi
done <tests/install/symbols.txt

for example in examples/*.c; do
    if ! grep -qF "$(basename "$example")" examples/README.md; then
        echo "$example is not in examples/README.md"
        faults=$((faults + 1))
    fi
done
[ "$faults" -eq 0 ]
