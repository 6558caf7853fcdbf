#!/usr/bin/env bash
# Fails if a function that the library exports appears in no example or has no comment in its header,
# or an example is not in the list of examples.
set -euo pipefail
cd "$(dirname "$0")/../.."

faults=0
while read -r function; do
    # Programs write the defaults that the header makes of an initialiser.
    shown=${function/_options_init/_defaults}
    if ! grep -qw "$shown" examples/*.c; then
        echo "$function() appears in no example"
        faults=$((faults + 1))
    fi
done <tests/install/symbols.txt

# A comment is good for all declarations up to the next empty line.
for header in include/imp/*.h; do
    undocumented=$(awk '/^$/ { documented = 0 }
                        /\*\/$/ { documented = 1 }
                        /^IMP_API/ && !documented' "$header")
    if [ -n "$undocumented" ]; then
        echo "$header does not say what these do:"
        echo "$undocumented"
        faults=$((faults + 1))
    fi
done

for example in examples/*.c examples/*.cpp; do
    if ! grep -qF "$(basename "$example")" examples/README.md; then
        echo "$example is not in examples/README.md"
        faults=$((faults + 1))
    fi
done
[ "$faults" -eq 0 ]
