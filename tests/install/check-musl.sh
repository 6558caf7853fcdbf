#!/usr/bin/env bash
# The layers that other programs take apart, base, kernels, nn, learners and methods, compile with
# musl's headers: they use nothing that is the GNU C library's own.
#
#   tests/install/check-musl.sh
#
# Exits with 77 where there is no musl-gcc.
set -euo pipefail
cd "$(dirname "$0")/../.."

command -v musl-gcc >/dev/null || {
    echo "there is no musl-gcc"
    exit 77
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# musl-gcc sees none of the system's headers; these libraries have the same for every C library.
mkdir "$work/include"
for header in jansson.h jansson_config.h nettle; do
    found=$(find /usr/include -name "$header" | head -n 1)
    [ -n "$found" ] || { echo "there is no $header"; exit 77; }
    ln -s "$found" "$work/include/$header"
done

flags=(-std=gnu11 -O1 -Wall -Wextra -Werror -Wno-psabi -Iinclude -Isrc -I"$work/include")
count=0
for layer in base nn learners methods; do
    [ -d "src/$layer" ] || continue
    for source in src/"$layer"/*.c; do
        musl-gcc "${flags[@]}" -c "$source" -o "$work/object.o"
        count=$((count + 1))
    done
done
for source in src/kernels/*.c; do
    musl-gcc "${flags[@]}" -DIMP_VARIANT=portable -c "$source" -o "$work/object.o"
    count=$((count + 1))
done
echo "$count files compile with musl"
