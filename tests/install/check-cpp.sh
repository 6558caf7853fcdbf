#!/usr/bin/env bash
# Compiles the C++ examples with all warnings, as errors, and runs them.
#
#   tests/install/check-cpp.sh COMPILER LIBRARY
set -euo pipefail

compiler=$1
library=$(realpath "$(dirname "$2")")
cd "$(dirname "$0")/../.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for example in examples/*.cpp; do
    program=$folder/$(basename "$example" .cpp)
    "$compiler" -std=c++17 -O1 -Wall -Wextra -Wpedantic -Wshadow -Werror -Iinclude "$example" \
        -L"$library" -Wl,-rpath,"$library" -limp -o "$program"
    tests/install/run-example.sh "$program" "$example"
done
