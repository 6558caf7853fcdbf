#!/usr/bin/env bash
# Installs the Debian packages of a build in a Debian that has nothing else, and uses them there.
#
#   tests/install/clean-debian.sh BUILD-FOLDER [SUITE]
#
# The suite is bookworm, for which they are built, or a later one.
# Exits with 77 where there is no debootstrap or nobody may run it. What it downloads is kept in the
# build folder for the next time.
set -euo pipefail

build=$(realpath "${1:?usage: tests/install/clean-debian.sh BUILD-FOLDER [SUITE]}")
suite=${2:-bookworm}
here=$(realpath "$(dirname "$0")")
cache=$build/debootstrap-$suite

skip() {
    echo "$1"
    exit 77
}

[ "$(id -u)" -eq 0 ] || skip "only root may run debootstrap"
command -v debootstrap >/dev/null || skip "there is no debootstrap"

root=$(mktemp -d)
trap 'rm -rf --one-file-system "$root"' EXIT
chmod 755 "$root" # not everything inside runs as root
mkdir -p "$cache"
debootstrap --variant=minbase --cache-dir="$cache" "$suite" "$root" ||
    skip "debootstrap could not make a Debian here"

inside() {
    chroot "$root" env PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C TMPDIR=/tmp \
        DEBIAN_FRONTEND=noninteractive "$@"
}

cp "$build"/*.deb "$root/tmp"
cp -r "$here/../../examples" "$root/tmp"
inside apt-get update -qq
inside sh -c 'apt-get install -qq --no-install-recommends -y /tmp/*.deb man-db gcc libc6-dev openmpi-bin pkg-config'

inside imp --version
inside imp data info glyphs --alphabets 3 --json >/dev/null
inside imp demo --updates 2 --episodes 2 --picture /tmp/demo.png
[ -s "$root/tmp/demo.png" ]
inside man -w imp
inside man -w imp-train
inside python3 -W error -c 'import pyimp
data = pyimp.Dataset("glyphs", size=14)
assert pyimp.Episodes(data, way=3)[5].pixels.shape == (18, 1, 14, 14)
assert list(pyimp.InfiniteMixturePrototypes().fit([[0], [9], [1], [8]], ["a", "b", "a", "b"]).predict([[2]])) == ["a"]'
# Two processes find what one does.
inside python3 -c 'import numpy
numpy.save("/tmp/points.npy", numpy.random.default_rng(1).normal(size=(600, 4)).astype("f4") + 9 * (numpy.arange(600) % 3)[:, None])'
inside imp cluster /tmp/points.npy -o /tmp/one.npy
inside mpirun --allow-run-as-root --oversubscribe -np 2 imp-mpi cluster /tmp/points.npy -o /tmp/two.npy
cmp "$root/tmp/one.npy" "$root/tmp/two.npy"
inside bash -c 'source /usr/share/bash-completion/completions/imp && complete -p imp'

# shellcheck disable=SC2016 # the shell inside expands it
inside sh -c 'cd /tmp/examples &&
    gcc mixture.c $(pkg-config --cflags --libs imp) -o mixture && ./mixture'

# Removing them leaves nothing of ours behind.
inside apt-get purge -qq -y imp imp-mpi libimp-dev libimp0 python3-pyimp
# Python has a module called imp of its own.
left=$(inside find /usr /etc /var/lib -path '/usr/lib/python3.*' -prune -o \( -name 'imp' -o -name 'imp[-.]*' \
    -o -name 'libimp*' -o -name '_imp' -o -name 'pyimp*' \) -print)
[ -z "$left" ] || {
    echo "left behind: $left"
    exit 1
}
