#!/usr/bin/env bash
# Fails if a source file includes a header of a layer that its own layer may not use.
#
# Headers of this project are included as "layer/name.h" from src/ and as <imp/name.h> from include/;
# every layer may use the latter, and itself.
set -euo pipefail
cd "$(dirname "$0")/.."

declare -A may_use=(
    [base]=""
    [kernels]="base"
    [nn]="kernels base"
    [data]="base"
    [draw]="base"
    [episode]="data base"
    [methods]="kernels base"
    [train]="methods episode draw data nn kernels base"
    [paper]="train methods episode draw data nn kernels base"
    [cli]="paper train methods episode draw data nn kernels base"
)

faults=0
fault() {
    echo "$1" >&2
    faults=$((faults + 1))
}

for folder in src/*/; do
    layer=$(basename "$folder")
    if [ -z "${may_use[$layer]+known}" ]; then
        fault "src/$layer: not a known layer; scripts/check-layers.sh lists them"
        continue
    fi
    while IFS=: read -r file line text; do
        header=$(sed -E 's/[^"]*"([^"]*)".*/\1/' <<<"$text")
        used=${header%%/*}
        if [ "$used" = "$header" ]; then
            fault "$file:$line: \"$header\" lacks its layer; write \"$layer/$header\""
        elif [[ " $layer ${may_use[$layer]} " != *" $used "* ]]; then
            fault "$file:$line: layer $layer may not use layer $used ($header)"
        fi
    done < <(grep -rnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' --include='*.[ch]' "$folder")
done

# An application sees only include/, so a public header cannot lean on anything else of ours.
while IFS=: read -r file line _; do
    fault "$file:$line: a public header includes only <imp/...> and the C library"
done < <(grep -nE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' include/imp/*.h)

[ "$faults" -eq 0 ]
