#!/usr/bin/env bash
# Fails if a file includes a header of a layer that its own layer may not use.
#
# A folder of src/ is a layer; its headers are included as "layer/name.h". A public header belongs to
# the layer whose manual it is and is included as <imp/name.h>.
set -euo pipefail
cd "$(dirname "$0")/.."

declare -A may_use=(
    [base]=""
    [kernels]="base"
    [nn]="kernels base"
    [data]="base"
    [episode]="data base"
    [methods]="kernels base"
    [learners]="methods episode data nn kernels base"
    [settings]="learners methods episode data nn kernels base"
    [model]="settings learners methods episode data nn kernels base"
    [evaluate]="model settings learners methods episode data nn kernels base"
    [train]="evaluate model settings learners methods episode data nn kernels base"
    [draw]="base"
    [label]="methods data kernels base"
    [serve]="label draw data base"
    [paper]="draw train evaluate model settings learners methods episode data nn kernels base"
    [cli]="serve label paper draw train evaluate model settings learners methods episode data nn kernels base"
    [mpi]="cli kernels base"
)

declare -A layer_of=(
    [export]=base [memory]=base [option]=base [status]=base [threads]=base [version]=base
    [encoder]=nn [network]=nn [optimizer]=nn
    [dataset]=data
    [episode]=episode
    [cluster]=methods [method]=methods [metrics]=methods [mixture]=methods [rule]=methods [suggest]=methods
    [work]=methods
    [settings]=settings
    [model]=model
    [evaluate]=evaluate
    [train]=train
    [imp]=train # all of the library
)

faults=0
fault() {
    echo "$1" >&2
    faults=$((faults + 1))
}

# check LAYER FILE LINE TEXT: checks that a file of the layer may include the header on this line.
check() {
    local layer=$1 file=$2 line=$3 header used
    header=${4#*[\"<]}
    header=${header%%[\">]*}
    used=${header%%/*}
    if [ "$used" = "$header" ]; then
        fault "$file:$line: \"$header\" lacks its layer; write \"$layer/$header\""
        return
    fi
    if [ "$used" = imp ]; then
        header=${header#imp/}
        header=${header%.h}
        used=${layer_of[$header]:-}
        if [ -z "$used" ]; then
            fault "$file:$line: <imp/$header.h> is no layer's; scripts/check-layers.sh lists them"
            return
        fi
    fi
    if [[ " $layer ${may_use[$layer]} " != *" $used "* ]]; then
        fault "$file:$line: layer $layer may not use layer $used ($header)"
    fi
}

for folder in src/*/; do
    layer=$(basename "$folder")
    if [ -z "${may_use[$layer]+known}" ]; then
        fault "src/$layer: not a known layer; scripts/check-layers.sh lists them"
        continue
    fi
    while IFS=: read -r file line text; do
        check "$layer" "$file" "$line" "$text"
    done < <(grep -rnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*("|<imp/)' --include='*.[ch]' \
        "$folder")
done

for file in include/imp/*.h; do
    header=$(basename "$file" .h)
    if [ -z "${layer_of[$header]+known}" ]; then
        fault "$file: of no known layer; scripts/check-layers.sh lists them"
        continue
    fi
    while IFS=: read -r line text; do
        # An application sees only include/, so a public header cannot include anything else of ours.
        if [[ $text == *\"* ]]; then
            fault "$file:$line: a public header includes only <imp/...> and the C library"
        else
            check "${layer_of[$header]}" "$file" "$line" "$text"
        fi
    done < <(grep -nE '^[[:space:]]*#[[:space:]]*include[[:space:]]*("|<imp/)' "$file")
done

[ "$faults" -eq 0 ]
