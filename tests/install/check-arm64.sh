#!/usr/bin/env bash
# Compiles base, kernels and nn for 64-bit ARM with Debian's cross compiler, and runs the tests of
# kernels and networks in qemu's user mode, with the NEON variant and the portable one.
#
#   tests/install/check-arm64.sh ROOT
#
# ROOT is a folder of Debian's arm64 packages, which scripts/arm64-root.sh makes. Exits with 77 where
# the compiler or qemu is missing.
set -euo pipefail
cd "$(dirname "$0")/../.."

root=$(realpath "${1:?usage: tests/install/check-arm64.sh ROOT}")
compiler=aarch64-linux-gnu-gcc
for program in "$compiler" qemu-aarch64; do
    command -v "$program" >/dev/null || {
        echo "there is no $program"
        exit 77
    }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

flags=(--sysroot="$root" -std=gnu11 -O2 -Wall -Wextra -Wno-psabi -ffp-contract=fast -fno-math-errno
    -fno-trapping-math -Iinclude -Isrc -Itests/unit -DIMP_TEST_DATA='"tests/data"')
objects=()

compile() { # SOURCE NAME FLAG...
    "$compiler" "${flags[@]}" "${@:3}" -c "$1" -o "$work/$2.o"
    objects+=("$work/$2.o")
}

for source in src/base/*.c src/nn/*.c; do
    compile "$source" "$(basename "$(dirname "$source")")-$(basename "$source" .c)"
done
for variant in neon portable; do
    for source in src/kernels/*.c; do
        [ "$source" = src/kernels/dispatch.c ] && continue
        contract=fast # distances are the same whatever computes them (src/CMakeLists.txt)
        [ "$source" = src/kernels/distance.c ] && contract=off
        compile "$source" "$variant-$(basename "$source" .c)" -DIMP_VARIANT=$variant \
            -ffp-contract=$contract
    done
done
compile src/kernels/dispatch.c dispatch
for helper in failing_allocator failing_threads reference scratch; do
    compile "tests/unit/$helper.c" "helper-$helper"
done

for test in tests/unit/kernels/test_*.c tests/unit/nn/test_{operations,encoder,threads}.c; do
    program=$work/$(basename "$test" .c)
    # As methods are compiled, with whose distances the kernels' must agree to the bit.
    "$compiler" "${flags[@]}" -DSTEPS=3 -ffp-contract=off "$test" "${objects[@]}" -Wl,--wrap=pthread_create -lcmocka -ljansson \
        -lnettle -lm -o "$program"
    for isa in neon portable; do
        echo "== $test, $isa"
        IMP_ISA=$isa qemu-aarch64 -L "$root" "$program"
    done
done
