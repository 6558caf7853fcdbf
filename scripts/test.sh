#!/usr/bin/env bash
# Runs every test and ends with a summary line: "N passed, N failed[, N skipped]".
#
#   scripts/test.sh [--long]
#
# A stage that fails does not stop the ones after it. --long adds the thread sanitizer, a minute of
# each fuzzer, musl and arm64, the tests labelled "long", Python's wheel and the Debian packages.
set -uo pipefail
cd "$(dirname "$0")/.." || exit

long=no
case ${1:-} in
'') ;;
--long) long=yes ;;
*)
    echo "usage: scripts/test.sh [--long]" >&2
    exit 2
    ;;
esac

shared=${IMP_SHARED:-$PWD/../shared}
jobs=$(nproc)
# The static library is compiled with the flags of the shared one: with ccache that takes no time,
# nor does anything that has not changed since the last run.
if command -v ccache >/dev/null; then
    export CMAKE_C_COMPILER_LAUNCHER=${CMAKE_C_COMPILER_LAUNCHER-ccache}
fi
work=$(mktemp -d)
memory=
trap 'rm -rf "$work" "$memory"' EXIT

# Temporary files of the tests are in memory if there is room and programs may run from there: the
# tests flush thousands of files, which is slow on a busy disk.
in_memory() {
    local free
    free=$(df --output=avail /dev/shm 2>/dev/null | tail -n 1) && [ "${free:-0}" -gt 4000000 ] &&
        memory=$(mktemp -d /dev/shm/imp-test.XXXXXX 2>/dev/null) || return
    cp /bin/true "$memory/true" && "$memory/true"
}
if [ -z "${TMPDIR:-}" ] && in_memory; then
    export TMPDIR=$memory
fi

# The tests' servers are on this machine, so no proxy may be used for them.
export no_proxy=${no_proxy:+$no_proxy,}127.0.0.1,localhost

passed=0
failed=0
skipped=0

# Prints a stage's name, and the seconds so far.
heading() {
    echo
    echo "== $1 (after ${SECONDS} s)"
}

# check NAME COMMAND...: one test, which passes if the command does and is skipped if that exits with
# 77. Its output is shown only if it fails.
check() {
    local name=$1 status
    shift
    "$@" >"$work/log" 2>&1
    status=$?
    if [ $status -eq 0 ]; then
        echo "ok: $name"
        passed=$((passed + 1))
    elif [ $status -eq 77 ]; then
        echo "skipped: $name: $(tail -n 1 "$work/log")"
        skipped=$((skipped + 1))
    else
        cat "$work/log"
        echo "FAILED: $name"
        failed=$((failed + 1))
        return 1
    fi
}

configure_and_build() { # PRESET
    cmake --preset "$1" -DIMP_SHARED="$shared" &&
        cmake --build --preset "$1" --parallel "$jobs" -- --quiet
}

# The value of a numeric attribute in CTest's JUnit report.
attribute() { # NAME
    sed -nE "s/^[[:space:]]+$1=\"([0-9]+)\".*/\1/p" "$work/junit.xml" | head -n 1
}

run_ctest() { # PRESET [ARGUMENT...]
    local preset=$1 total
    shift
    rm -f "$work/junit.xml"
    ctest --preset "$preset" -j 2 --output-junit "$work/junit.xml" "$@"
    total=$(attribute tests)
    if [ -z "$total" ]; then
        echo "FAILED: ctest gave no report"
        failed=$((failed + 1))
        return
    fi
    failed=$((failed + $(attribute failures)))
    skipped=$((skipped + $(attribute skipped)))
    passed=$((passed + total - $(attribute failures) - $(attribute skipped)))
    parts_left_out
}

# Parts of tests that passed without them, for want of something on this machine: by bats ("ok 1 NAME
# # skip WHY") and unittest ("NAME (CLASS) ... skipped 'WHY'").
parts_left_out() {
    sed -nE 's/^.*ok [0-9]+ (.*) # skip (.*)$/left out: \1: \2/p
        s/^.*(test_[a-z0-9_]+) \(.*\.\.\. skipped .(.*).$/left out: \1: \2/p' "$work/junit.xml"
}

build_and_test() { # PRESET [CTEST-ARGUMENT...]
    local preset=$1
    shift
    if check "$preset: build" configure_and_build "$preset"; then
        run_ctest "$preset" "$@"
    fi
}

# ---- an application that uses the installed library ----

# Compiles a program as an application with a Makefile would. pkg-config treats the staging folder as
# the root of another system.
compile_by_pkg_config() { # STAGE SOURCE PROGRAM
    local -x PKG_CONFIG_PATH=$1/usr/local/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$1
    local flags
    flags=$(pkg-config --cflags --libs imp) || return
    local compiler=gcc
    [[ $2 != *.cpp ]] || compiler="g++ -std=c++17"
    # shellcheck disable=SC2086 # the flags are words to split
    $compiler "$2" $flags -o "$3"
}

consume_by_pkg_config() { # STAGE EXAMPLE
    local program
    program=$1/$(basename "$2").program
    compile_by_pkg_config "$1" "$2" "$program" &&
        LD_LIBRARY_PATH=$1/usr/local/lib tests/install/run-example.sh "$program" "$2"
}

consume_the_page() { # STAGE
    sed -n '/^```c$/,/^```$/{/^```/d;p}' docs/linking.md >"$1/linking.c"
    compile_by_pkg_config "$1" "$1/linking.c" "$1/linking" &&
        [ "$(LD_LIBRARY_PATH=$1/usr/local/lib "$1/linking")" = "class 1" ]
}

consume_by_cmake() { # STAGE
    local example
    cmake -G Ninja -S examples -B "$1/examples" -DCMAKE_PREFIX_PATH="$1/usr/local" &&
        cmake --build "$1/examples" || return
    for example in examples/*.c; do
        tests/install/run-example.sh "$1/examples/$(basename "$example" .c)" "$example" || return
    done
}

# The staging folder holds exactly what the manifest lists, including man pages and completions.
list_installed() { # BUILD-FOLDER STAGE
    local stage=$2
    diff <(sed "s|^|$stage|" "$1/install_manifest.txt" | sort) \
        <(find "$stage/usr" ! -type d | sort) &&
        [ -f "$stage/usr/local/share/man/man1/imp-train.1" ] &&
        [ -f "$stage/usr/local/share/bash-completion/completions/imp" ] &&
        [ -f "$stage/usr/local/share/zsh/site-functions/_imp" ] &&
        [ -f "$stage/usr/local/share/fish/vendor_completions.d/imp.fish" ] &&
        [ -f "$stage/usr/local/share/doc/imp/README.md" ]
}

# Uninstalling keeps other files, even among ours, and leaves no folder of ours.
uninstall_all() { # BUILD-FOLDER STAGE
    local stage=$2
    touch "$stage/usr/local/include/imp/another.h" "$stage/usr/local/bin/another"
    DESTDIR="$stage" cmake --build "$1" --target uninstall || return
    diff <(printf '%s\n' "$stage/usr/local/bin/another" "$stage/usr/local/include/imp/another.h") \
        <(find "$stage/usr" ! -type d | sort) &&
        [ ! -e "$stage/usr/local/share/imp" ] && [ ! -e "$stage/usr/local/share/doc/imp" ]
}

install_and_consume() { # NAME BUILD-FOLDER
    local name=$1 build=$2 stage=$work/$1 example
    check "$name: install" env DESTDIR="$stage" cmake --install "$build" || return
    check "$name: the installed command runs" "$stage/usr/local/bin/imp" --version
    for example in examples/*.c examples/*.cpp; do
        check "$name: pkg-config, $example" consume_by_pkg_config "$stage" "$example"
    done
    check "$name: the program of docs/linking.md" consume_the_page "$stage"
    check "$name: find_package, all examples" consume_by_cmake "$stage"
    check "$name: everything is below DESTDIR" list_installed "$build" "$stage"
    check "$name: uninstall" uninstall_all "$build" "$stage"
}

# ---- the long ones ----

make_packages() { # BUILD-FOLDER
    rm -f "$1"/*.deb
    (cd "$1" && cpack) && [ "$(find "$1" -maxdepth 1 -name '*.deb' | wc -l)" -eq 5 ]
}

check_packages() { # BUILD-FOLDER
    command -v lintian >/dev/null || {
        echo "there is no lintian"
        return 77
    }
    lintian --fail-on error "$1"/*.deb
}

make_release() {
    scripts/dist.sh || return
    (cd build/dist && sha256sum --check SHA256SUMS && [ -s NOTES.md ] &&
        [ "$(find . -name '*.tar.gz' -o -name '*.whl' -o -name '*.deb' | wc -l)" -eq 8 ])
}

# ---- all stages ----

heading "Format and layers"
check "clang-format" scripts/format.sh --check
check "layers" scripts/check-layers.sh

heading "GCC, warnings as errors"
build_and_test gcc

heading "Clang, warnings as errors"
build_and_test clang -L '^unit$' -E '^unit/(train/(kill|memory|power_loss|system_calls)|data/download)$'

heading "Address and undefined-behaviour sanitizers"
# Without tests of texts, and without those that call the same code from Python.
build_and_test asan -E '^(cli/(docs|manual|completion|same_bits)|python/methods/metrics|python/pyimp/(install|documentation|output|sklearn|without_sklearn))$'

heading "Installed library"
install_and_consume shared build/gcc
if check "static: build" configure_and_build static; then
    install_and_consume static build/static
fi

heading "Exported symbols"
check "symbols" scripts/symbols.sh build/gcc/lib/libimp.so

if [ "$long" = yes ]; then
    heading "Thread sanitizer"
    build_and_test tsan

    unset TMPDIR # a Debian needs a file system with devices

    heading "Fuzzers, a minute each"
    check "fuzz: build" configure_and_build fuzz &&
        check "fuzz: every parser" scripts/fuzz.sh 1 && cat "$work/log"

    heading "Other machines"
    check "musl" tests/install/check-musl.sh
    if check "arm64: packages" scripts/arm64-root.sh build/arm64-root; then
        check "arm64: kernels and networks, in qemu" tests/install/check-arm64.sh build/arm64-root
    fi

    heading "Long tests"
    run_ctest long
fi

if [ "$long" = yes ]; then
    heading "Python's wheel"
    if check "wheel: build" scripts/wheel.sh; then
        check "wheel: other Pythons, a clean Debian" tests/install/check-wheel.sh build/wheel/pyimp-*.whl &&
            cat "$work/log"
    fi

    heading "Pages of the API"
    check "api: pages by Doxygen and Sphinx" scripts/api-docs.sh build/gcc/lib/libimp.so build/api

    heading "Python's types"
    check "types: mypy and pyright" tests/install/check-types.sh build/types

    heading "Debian packages"
    if check "deb: build" configure_and_build deb && check "deb: pack" make_packages build/deb; then
        check "deb: lintian" check_packages build/deb
        for suite in bookworm trixie; do
            check "deb: in a clean $suite" tests/install/clean-debian.sh build/deb "$suite"
        done
    fi

    heading "A release"
    check "dist: sources, wheel, packages, checksums" make_release
fi

summary="$passed passed, $failed failed"
[ "$skipped" -eq 0 ] || summary+=", $skipped skipped"
echo
echo "took ${SECONDS} s"
echo "$summary"
[ "$failed" -eq 0 ]
