#!/usr/bin/env bash
# Static analysis: cppcheck and clang-tidy for the sources of the release build, shellcheck for the
# scripts. The kernels are left out: the analysers need minutes for them and do not understand vectors.
set -euo pipefail
cd "$(dirname "$0")/.."

database=build/release
# Without generated files, which are below the build folder.
mapfile -t files < <(
    sed -nE "s|^ *\"file\": \"$PWD/(src/.*)\".*|\1|p" $database/compile_commands.json |
        grep -v '^src/kernels/' | sort -u
)
status=0

echo "== shellcheck"
shellcheck .ci/run bench/*.sh scripts/*.sh tests/install/*.sh || status=1

echo "== cppcheck"
cppcheck --quiet --std=c11 --error-exitcode=1 --inline-suppr --enable=warning,portability \
    -I include -I src "${files[@]}" || status=1

echo "== clang-tidy"
printf '%s\0' "${files[@]}" |
    xargs -0 -P "$(nproc)" -n 4 clang-tidy --quiet -p $database 2>/dev/null || status=1

exit $status
