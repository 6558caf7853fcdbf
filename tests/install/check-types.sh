#!/usr/bin/env bash
# Lets mypy and pyright read the Python package, and a program that uses it.
#
#   tests/install/check-types.sh FOLDER
#
# They come from PyPI into a venv in the folder; exits with 77 where they cannot be had.
set -euo pipefail

folder=$(realpath -m "${1:?usage: tests/install/check-types.sh FOLDER}")
cd "$(dirname "$0")/../../python"
if [ ! -f "$folder/complete" ]; then
    rm -rf "$folder"
    /usr/bin/python3 -m venv "$folder"
    "$folder/bin/pip" --disable-pip-version-check install --quiet matplotlib mypy numpy pandas pyright scikit-learn &&
        "$folder/bin/pyright" --version || {
        echo "mypy and pyright cannot be had"
        exit 77
    }
    touch "$folder/complete"
fi
"$folder/bin/mypy" --cache-dir "$folder/mypy" --ignore-missing-imports --warn-unused-configs pyimp
MYPYPATH=. "$folder/bin/mypy" --cache-dir "$folder/mypy" --ignore-missing-imports tests/typed_use.py
"$folder/bin/pyright" --pythonpath "$folder/bin/python3"
