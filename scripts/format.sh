#!/usr/bin/env bash
# Formats all C and C++ files according to .clang-format; with --check, only lists those that are not.
set -euo pipefail
cd "$(dirname "$0")/.."

mapfile -d '' files < <(find bench examples include src tests \( -name '*.[ch]' -o -name '*.[ch]pp' \) -print0 | sort -z)
case ${1:-} in
'') clang-format -i "${files[@]}" ;;
--check)
    # All at once, and one by one only if something is wrong.
    clang-format --dry-run --Werror "${files[@]}" 2>/dev/null && exit
    status=0
    # Looks for the files to name only if there are any.
    printf '%s\0' "${files[@]}" |
        xargs -0 -n 40 -P "$(nproc)" clang-format --dry-run --Werror 2>/dev/null && exit
    for file in "${files[@]}"; do
        if ! clang-format --dry-run --Werror "$file" 2>/dev/null; then
            echo "$file is not formatted; run 'make format'" >&2
            status=1
        fi
    done
    exit $status
    ;;
*)
    echo "usage: scripts/format.sh [--check]" >&2
    exit 2
    ;;
esac
