#!/usr/bin/env bash
# The layers that other programs take apart, base, kernels, nn, learners and methods, are built with
# musl: they use nothing that is the GNU C library's own. The examples that need no other layer run.
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
compile() { # SOURCE OBJECT FLAG...: notes what to compile
    echo "${flags[@]}" "${@:3}" -c "$1" -o "$work/$2.o" >>"$work/commands"
}

for layer in base nn learners methods; do
    for source in src/"$layer"/*.c; do
        compile "$source" "$layer-$(basename "$source" .c)"
    done
done
compile src/kernels/dispatch.c dispatch
for source in src/kernels/*.c; do
    name=$(basename "$source" .c)
    [ "$name" != dispatch ] || continue
    compile "$source" "portable-$name" -DIMP_VARIANT=portable
    [ "$(uname -m)" = x86_64 ] || continue
    compile "$source" "avx2-$name" -DIMP_VARIANT=avx2 -mavx2 -mfma
    compile "$source" "avx512-$name" -DIMP_VARIANT=avx512 -mfma -mavx512f -mavx512bw -mavx512dq \
        -mavx512vl
done
xargs -a "$work/commands" -P "$(nproc)" -L 1 musl-gcc
ar rcs "$work/libimp.a" "$work"/*.o
echo "$(wc -l <"$work/commands") files compile with musl"

# Jansson and nettle would have to be built with musl, too: the examples read and write no files, so
# they are linked with functions of these names that end the program.
nm "$work"/*.o | sed -nE 's/^ *U ((json_|jsonp_|nettle_).*)/void \1(void);\nvoid \1(void) { __builtin_trap(); }/p' |
    sort -u >"$work/absent.c"
musl-gcc "${flags[@]}" -fno-builtin -c "$work/absent.c" -o "$work/absent.o"
for example in cluster memory method metrics mixture mixture_choice optimizer suggest version; do
    musl-gcc -static "${flags[@]}" "examples/$example.c" "$work/libimp.a" "$work/absent.o" -lm -o "$work/$example"
    tests/install/run-example.sh "$work/$example" "examples/$example.c"
done
