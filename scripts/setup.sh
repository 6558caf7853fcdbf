#!/usr/bin/env bash
# Installs the Debian packages that a group of make's targets needs, if any are missing.
#
#   scripts/setup.sh GROUP...     groups: build, test, long, wheel, package, bench, lint
#
# IMP_SETUP=skip installs nothing, for systems with other package names.
set -euo pipefail

packages_of() {
    case $1 in
    build) echo gcc libc6-dev make cmake ninja-build pkg-config libarchive-dev libcairo2-dev \
        libcurl4-openssl-dev libgif-dev libheif-dev libjansson-dev libjpeg62-turbo-dev libmicrohttpd-dev libpng-dev \
        libtiff-dev libwebp-dev nettle-dev ;;
    test) echo bats ccache clang clang-format curl g++ groff-base libclang-rt-dev libcmocka-dev \
        libheif-examples libopenmpi-dev llvm man-db mandoc openmpi-bin python3-matplotlib python3-numpy python3-pandas python3-pil python3-pip \
        python3-setuptools python3-sklearn python3-wheel strace ;;
    long) echo chromium debootstrap doxygen fish gcc-aarch64-linux-gnu iproute2 libc6-dev-arm64-cross libmpich-dev lintian \
        mpich musl-tools python3-sphinx python3-torch qemu-user zsh ;;
    wheel) echo libbz2-dev liblzma-dev libzstd-dev python3-venv zlib1g-dev ;;
    package) echo dpkg-dev file libopenmpi-dev ;;
    bench) echo g++ libdnnl-dev libopenblas0-openmp python3-dev python3-faiss python3-matplotlib \
        python3-numpy python3-pil python3-sklearn python3-threadpoolctl python3-torch \
        python3-venv ;;
    lint) echo clang-tidy cppcheck shellcheck ;;
    *)
        echo "scripts/setup.sh: unknown group '$1'; there are build, test, long, wheel, package, bench and" \
            "lint" >&2
        exit 2
        ;;
    esac
}

fail() {
    echo "scripts/setup.sh: $1; install these packages (or what your system calls them) and run" \
        "again with IMP_SETUP=skip: ${missing[*]}" >&2
    exit 1
}

apt() {
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 "$@"
}

if [ "${IMP_SETUP:-}" = skip ]; then
    exit 0
fi

wanted=()
for group in "$@"; do
    line=$(packages_of "$group")
    read -ra packages <<<"$line"
    wanted+=("${packages[@]}")
done

declare -A installed=()
if command -v dpkg-query >/dev/null; then
    # dpkg-query fails if it does not know a package, after printing those it knows.
    while read -r status package; do
        [ "$status" != installed ] || installed[$package]=1
    done < <(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "${wanted[@]}" 2>/dev/null || true)
fi

missing=()
for package in "${wanted[@]}"; do
    [ -n "${installed[$package]:-}" ] || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
    exit 0
fi

as_root=()
if ! command -v apt-get >/dev/null; then
    fail "there is no apt-get on this system"
elif [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || fail "installing packages takes root or sudo"
    as_root=(sudo)
fi

echo "installing ${missing[*]}"
# The package lists may be absent (the rehearsal fails) or out of date (the installation fails).
if ! apt install --simulate --no-install-recommends "${missing[@]}" >/dev/null 2>&1; then
    apt update
fi
if ! apt install --yes --no-install-recommends "${missing[@]}" >/dev/null; then
    apt update
    apt install --yes --no-install-recommends "${missing[@]}" >/dev/null ||
        fail "apt-get could not install everything"
fi
