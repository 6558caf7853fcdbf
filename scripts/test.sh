#!/usr/bin/env bash
# Runs every test and ends with a line that adds them up: "N passed, N failed[, N skipped]".
#
#   scripts/test.sh [--long]
#
# A stage that fails does not stop the ones after it. --long adds the thread sanitizer, a minute of
# each fuzzer, the tests labelled "long" and the Debian packages.
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
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

passed=0
failed=0
skipped=0

heading() {
    echo
    echo "== $1"
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

# The number that an attribute of CTest's JUnit report has.
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
}

build_and_test() { # PRESET [CTEST-ARGUMENT...]
    local preset=$1
    shift
    if check "$preset: build" configure_and_build "$preset"; then
        run_ctest "$preset" "$@"
    fi
}

# ---- an application that uses the installed library ----

# Compiles and runs an example as an application with a Makefile would. pkg-config takes the staging
# folder for the root of another system, which is what it is.
consume_by_pkg_config() { # STAGE EXAMPLE
    local stage=$1 program
    local libdir=$stage/usr/local/lib
    local -x PKG_CONFIG_PATH=$libdir/pkgconfig PKG_CONFIG_SYSROOT_DIR=$stage
    local flags
    program=$stage/$(basename "$2" .c)
    flags=$(pkg-config --cflags --libs imp) || return
    # shellcheck disable=SC2086 # the flags are words to split
    gcc "$2" $flags -o "$program" &&
        LD_LIBRARY_PATH=$libdir tests/install/run-example.sh "$program" "$2"
}

consume_by_cmake() { # STAGE
    local example
    cmake -G Ninja -S examples -B "$1/examples" -DCMAKE_PREFIX_PATH="$1/usr/local" &&
        cmake --build "$1/examples" || return
    for example in examples/*.c; do
        tests/install/run-example.sh "$1/examples/$(basename "$example" .c)" "$example" || return
    done
}

# The staging folder holds what the manifest lists and nothing else, man pages and completions too.
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

# Removing leaves what others put there, even between our files, and no folder of ours.
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
    for example in examples/*.c; do
        check "$name: pkg-config, $example" consume_by_pkg_config "$stage" "$example"
    done
    check "$name: find_package, all examples" consume_by_cmake "$stage"
    check "$name: everything is below DESTDIR" list_installed "$build" "$stage"
    check "$name: uninstall" uninstall_all "$build" "$stage"
}

# ---- the long ones ----

fuzz() { # PROGRAM
    local name corpus seeds dictionary options=()
    name=$(basename "$1")
    corpus=build/fuzz/corpus/$name
    seeds=tests/fuzz/corpus/${name#fuzz_}
    dictionary=tests/fuzz/${name#fuzz_}.dict
    mkdir -p "$corpus"
    [ ! -f "$dictionary" ] || options+=("-dict=$dictionary")
    [ ! -d "$seeds" ] || cp -n "$seeds"/* "$corpus"
    "$1" -max_total_time=60 -timeout=10 -artifact_prefix="$corpus-" "${options[@]}" "$corpus"
}

make_packages() { # BUILD-FOLDER
    rm -f "$1"/*.deb
    (cd "$1" && cpack) && [ "$(find "$1" -maxdepth 1 -name '*.deb' | wc -l)" -eq 3 ]
}

check_packages() { # BUILD-FOLDER
    command -v lintian >/dev/null || {
        echo "there is no lintian"
        return 77
    }
    lintian --fail-on error "$1"/*.deb
}

# ---- all stages ----

heading "Format and layers"
check "clang-format" scripts/format.sh --check
check "layers" scripts/check-layers.sh

heading "GCC, warnings as errors"
build_and_test gcc

heading "Clang, warnings as errors"
build_and_test clang -L '^unit$'

heading "Address and undefined-behaviour sanitizers"
build_and_test asan

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

    heading "Fuzzers, a minute each"
    if check "fuzz: build" configure_and_build fuzz; then
        for program in build/fuzz/tests/fuzz/fuzz_*; do
            [ ! -x "$program" ] || check "$(basename "$program")" fuzz "$program"
        done
    fi

    heading "Long tests"
    run_ctest long
fi

if [ "$long" = yes ]; then
    heading "Debian packages"
    if check "deb: build" configure_and_build deb && check "deb: pack" make_packages build/deb; then
        check "deb: lintian" check_packages build/deb
        check "deb: in a clean Debian" tests/install/clean-debian.sh build/deb
    fi
fi

summary="$passed passed, $failed failed"
[ "$skipped" -eq 0 ] || summary+=", $skipped skipped"
echo
echo "$summary"
[ "$failed" -eq 0 ]
