#!/usr/bin/env bash
# Installs the wheel of scripts/wheel.sh where there is no compiler and none of the libraries it holds, and
# with the Pythons and NumPys it is meant for, and uses it there.
#
#   tests/install/check-wheel.sh WHEEL
#
# Exits with 77 where neither a clean Debian nor a NumPy can be had.
set -euo pipefail

wheel=$(realpath "${1:?usage: tests/install/check-wheel.sh WHEEL}")
source=$(realpath "$(dirname "$0")/../..")
work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
chmod 755 "$work"
done=0

# The files of python/tests that need neither the sources nor the command; a warning that is not meant is a failure.
strict=(-B -W error -W "ignore:the labels say little:UserWarning" -W "ignore:every labelled point became:UserWarning" -m unittest -q)
tests=(test_clustering test_episodes test_metrics test_mixture test_suggestion test_training)

# ---- Pythons and NumPys: the oldest and the newest that go together ----

interpreter() { # VERSION: its path, if there is one
    local found
    found=$(find "${PYENV_ROOT:-$HOME/.pyenv}/versions" -maxdepth 3 -path "*/bin/python$1" 2>/dev/null | tail -n 1)
    [ -n "$found" ] || found=$(command -v "/usr/bin/python$1") || return
    echo "$found"
}

with_python() { # VERSION NUMPY [EXTRAS [TEST...]]: alone, or with the packages of these extras and their tests
    local python venv=$work/venv-$1
    python=$(interpreter "$1") || {
        echo "left out: there is no Python $1"
        return 0
    }
    "$python" -m venv "$venv"
    local pip=("$venv/bin/pip" --disable-pip-version-check install --quiet)
    "${pip[@]}" --only-binary :all: "numpy$2" || {
        echo "left out: NumPy $2 for Python $1 cannot be had"
        return 0
    }
    "${pip[@]}" --only-binary :all: "$wheel${3:-}"
    (cd "$source/python/tests" &&
        env -u IMP_LIBRARY -u PYTHONPATH "$venv/bin/python" "${strict[@]}" "${tests[@]}" "${@:4}")
    "$venv/bin/python" -c 'import sys, numpy; print("passed: Python", sys.version.split()[0], "NumPy", numpy.__version__)'
    rm -rf "$venv"
    done=$((done + 1))
}

with_python 3.9 ==1.24.4
with_python 3.10 ==1.26.4
with_python 3.11 '>=2'
with_python 3.12 '>=2'
with_python 3.13 '>=2' '[onnx,plot,sklearn]' test_sklearn test_output # the newest of everything

# ---- compiled where it is installed, as `pip install ./python` does ----

from_the_sources() {
    local venv=$work/venv-sources copy=$work/sources
    git -C "$source" checkout-index --all --prefix="$copy/" 2>/dev/null || cp -r "$source" "$copy"
    /usr/bin/python3 -m venv "$venv"
    "$venv/bin/pip" --disable-pip-version-check install --quiet numpy 'scikit-build-core>=0.10' || {
        echo "left out: NumPy and scikit-build-core cannot be had"
        return 0
    }
    "$venv/bin/pip" --disable-pip-version-check install --quiet --no-build-isolation "$copy/python"
    (cd "$source/python/tests" &&
        env -u IMP_LIBRARY -u PYTHONPATH "$venv/bin/python" "${strict[@]}" test_mixture test_clustering)
    rm -rf "$venv" "$copy"
    echo "passed: pip install ./python"
    done=$((done + 1))
}
from_the_sources

# ---- a Debian that has Python and nothing else ----

in_a_clean_debian() {
    local root=$work/root
    [ "$(id -u)" -eq 0 ] && command -v debootstrap >/dev/null || {
        echo "left out: there is no debootstrap, or nobody may run it"
        return 0
    }
    debootstrap --variant=minbase --include=python3,python3-venv bookworm "$root" >"$work/log" || {
        echo "left out: debootstrap could not make a Debian here"
        return 0
    }
    /usr/bin/python3 -m pip download --quiet --only-binary :all: --dest "$root/tmp" "numpy>=2" || {
        echo "left out: NumPy for a clean Debian cannot be had"
        return 0
    }
    cp "$wheel" "$root/tmp"
    cp -r "$source/python/tests" "$root/tmp"
    # shellcheck disable=SC2016 # the shell inside expands it
    chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C sh -euc '
        # A command after "!" would not end the shell.
        for compiler in gcc cc clang; do
            if command -v $compiler; then exit 1; fi
        done
        ldconfig -p >/tmp/libraries
        if grep -E "libimp|libjpeg|libpng|libjansson|libarchive|libwebp" /tmp/libraries; then exit 1; fi
        python3 -m venv /tmp/venv
        /tmp/venv/bin/pip install --quiet --no-index --find-links /tmp /tmp/pyimp*.whl
        cd /tmp/tests
        /tmp/venv/bin/python "$@"' sh "${strict[@]}" "${tests[@]}"
    echo "passed: a Debian with Python alone"
    done=$((done + 1))
}
in_a_clean_debian

[ "$done" -gt 0 ] || {
    echo "neither a clean Debian nor a NumPy can be had"
    exit 77
}
