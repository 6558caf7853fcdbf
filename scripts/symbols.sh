#!/usr/bin/env bash
# Compares the symbols that a build of libimp.so exports with tests/install/symbols.txt.
#
#   scripts/symbols.sh [--update] LIBRARY
#
# An unintended change breaks programs that are linked to the library; an intended one is recorded
# with --update (`make symbols`).
set -euo pipefail

list=$(dirname "$0")/../tests/install/symbols.txt
update=no
if [ "${1:-}" = --update ]; then
    update=yes
    shift
fi
library=${1:?usage: scripts/symbols.sh [--update] LIBRARY}

exported=$(nm -D --defined-only --format=posix "$library" | cut -d ' ' -f 1 | LC_ALL=C sort)
if [ "$update" = yes ]; then
    echo "$exported" >"$list"
elif ! diff -u --label expected "$list" --label exported - <<<"$exported"; then
    echo "the exported symbols have changed; if that is meant, run 'make symbols'" >&2
    exit 1
fi
