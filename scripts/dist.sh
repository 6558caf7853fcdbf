#!/usr/bin/env bash
# Makes a release of what is committed, in build/dist: an archive of the sources, Python's wheel and
# source archive, the Debian packages, and the checksums of all.
#
#   scripts/dist.sh
#
# Exits with 77 if there are changes that are not committed, or if PyPI cannot be reached.
set -euo pipefail
cd "$(dirname "$0")/.."

fail() { # SENTENCE [STATUS]
    echo "scripts/dist.sh: $1" >&2
    exit "${2:-1}"
}

[ -z "$(git status --porcelain)" ] || fail "there are changes that are not committed; a release is of commits" 77
version=$(sed -nE 's/.*IMP_VERSION_STRING "(.*)"/\1/p' include/imp/version.h)
grep -q "^## \[$version\]" CHANGELOG.md || fail "CHANGELOG.md has no notes of version $version"
dist=build/dist
rm -rf "$dist"
mkdir -p "$dist"

git archive --format=tar --prefix="imp-$version/" HEAD | gzip --best --no-name >"$dist/imp-$version.tar.gz"
scripts/wheel.sh
cp build/wheel/pyimp-"$version"* "$dist"
cmake --preset deb
cmake --build --preset deb -- --quiet
rm -f build/deb/*.deb
(cd build/deb && cpack)
cp build/deb/*.deb "$dist"
# The notes of this version: what is between its heading and the next.
awk -v heading="## [$version]" 'index($0, "## [") == 1 { on = index($0, heading) == 1; next } on' CHANGELOG.md \
    >"$dist/NOTES.md"
(cd "$dist" && sha256sum -- * >SHA256SUMS)
cat "$dist/SHA256SUMS"
