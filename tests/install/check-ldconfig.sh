#!/usr/bin/env bash
# Fails unless an installation tells the system's linker of the library just where that looks for
# libraries, never under DESTDIR, and says so where it may not. An ldconfig of our own takes notes.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat >"$folder/ldconfig" <<END
#!/bin/sh
[ \$# -eq 0 ] || { printf '%s: (from somewhere)\n' /nowhere "$folder/searched"; exit 0; }
echo told >>"$folder/notes"
exit "\$LDCONFIG_STATUS"
END
chmod +x "$folder/ldconfig"
mkdir "$folder/searched" "$folder/other"

installs() { # EXPECTED-NOTES EXPECTED-LINE STATUS LIBRARY-DIR [DESTDIR]
    : >"$folder/notes"
    line=$(PATH="$folder:$PATH" LDCONFIG_STATUS=$3 DESTDIR="${5:-}" \
        cmake "-DLIBRARY_DIR=$4" -P "$root/cmake/ldconfig.cmake")
    notes=$(cat "$folder/notes")
    if [ "$notes" != "$1" ] || [ "$line" != "$2" ]; then
        echo "installed to $4 under '${5:-}', ldconfig exits $3: noted '$notes', said '$line'"
        exit 1
    fi
}

installs told "" 0 "$folder/searched"
installs told "" 0 "$folder/other/../searched"
installs told "-- Run ldconfig as root, so that programs find libimp in $folder/searched" 1 \
    "$folder/searched"
installs "" "-- Programs find libimp in $folder/other, where the system's linker does not look, with \
LD_LIBRARY_PATH=$folder/other; pkg-config with PKG_CONFIG_PATH=$folder/other/pkgconfig" 0 \
    "$folder/other"
installs "" "" 0 "$folder/searched" "$folder/stage"
