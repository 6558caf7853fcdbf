#!/usr/bin/env bash
# Makes a folder with Debian's arm64 packages that imp needs, for a cross compiler.
#
#   scripts/arm64-root.sh FOLDER
#
# They are unpacked, not installed, and nothing outside the folder changes. Exits with 77 if that
# is not possible here.
set -euo pipefail
cd "$(dirname "$0")/.."

root=${1:?usage: scripts/arm64-root.sh FOLDER}
[ ! -f "$root/complete" ] || exit 0

skip() {
    echo "$1"
    exit 77
}

[ "$(id -u)" -eq 0 ] || skip "only root may run debootstrap"
for program in debootstrap qemu-aarch64 aarch64-linux-gnu-gcc; do
    command -v "$program" >/dev/null || skip "there is no $program"
done
rm -rf --one-file-system "$root"
mkdir -p "$(dirname "$root")"
debootstrap --arch=arm64 --foreign --variant=minbase \
    --include=libarchive-dev,libc6-dev,libcairo2-dev,libcmocka-dev,libcurl4-openssl-dev,libjansson-dev,libjpeg62-turbo-dev,libpng-dev,nettle-dev \
    bookworm "$root" || skip "debootstrap could not fetch Debian's packages"

# The first stage unpacks only what Debian itself needs.
for package in "$root"/var/cache/apt/archives/*.deb; do
    dpkg-deb --extract "$package" "$root"
done
# Links to absolute paths would lead out of the folder.
find "$root/usr/lib" -type l -lname '/*' | while read -r link; do
    ln -sfr "$root$(readlink "$link")" "$link"
done
touch "$root/complete"
