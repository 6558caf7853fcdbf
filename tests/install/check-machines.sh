#!/usr/bin/env bash
# A machine on which imp would be wrong is refused by a sentence when it is compiled.
#
#   tests/install/check-machines.sh COMPILER
set -euo pipefail
cd "$(dirname "$0")/../.."

compiler=${1:?usage: tests/install/check-machines.sh COMPILER}
sentence="imp needs a 64-bit little-endian machine"

# FLAG...: is refused with the sentence.
refused() {
    if said=$("$compiler" "$@" -ffreestanding -fsyntax-only -Iinclude -Isrc src/base/version.c 2>&1) ||
        [[ $said != *"$sentence"* ]]; then
        echo "compiled with '$*' it says: $said"
        exit 1
    fi
}

"$compiler" -ffreestanding -fsyntax-only -Iinclude -Isrc src/base/version.c
refused -U__BYTE_ORDER__ -D__BYTE_ORDER__=__ORDER_BIG_ENDIAN__ -Wno-builtin-macro-redefined
case $("$compiler" -dumpmachine) in
x86_64-*) refused -m32 ;;
esac
