#!/usr/bin/env bash
# Compares the exported symbols of libimp.so with tests/install/symbols.txt, and the libraries it
# needs with tests/install/libraries.txt.
#
#   scripts/symbols.sh [--update] LIBRARY
#
# An unintended change breaks programs linked to the library, or gives them a dependency; record an
# intended one with --update (`make symbols`).
set -euo pipefail

lists=$(dirname "$0")/../tests/install
update=no
if [ "${1:-}" = --update ]; then
    update=yes
    shift
fi
library=${1:?usage: scripts/symbols.sh [--update] LIBRARY}

exported() {
    nm -D --defined-only --format=posix "$library" | cut -d ' ' -f 1 | LC_ALL=C sort
}

# Without their versions, and without those of the compiler and the C library.
needed() {
    LC_ALL=C readelf --dynamic "$library" | sed -nE 's/.*\(NEEDED\).*\[(lib[^]]*)\.so[^]]*\]/\1/p' |
        grep -vxE 'libc|libm|libgomp|libomp|libgcc_s|lib(a|t|ub)san' | LC_ALL=C sort
}

compare() { # LIST WHAT
    if [ "$update" = yes ]; then
        cat >"$lists/$1"
    elif ! diff -u --label expected "$lists/$1" --label found -; then
        echo "$2 have changed; if that is intended, run 'make symbols'" >&2
        return 1
    fi
}

status=0
exported | compare symbols.txt "the exported symbols" || status=1
needed | compare libraries.txt "the libraries that libimp needs" || status=1
exit $status
