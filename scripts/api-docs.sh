#!/usr/bin/env bash
# Makes pages of the C headers, by Doxygen, and of the Python docstrings, by Sphinx. A warning is a failure.
#
#   scripts/api-docs.sh LIBRARY FOLDER
set -euo pipefail
library=$(realpath "${1:?usage: scripts/api-docs.sh LIBRARY FOLDER}")
folder=$(realpath -m "${2:?usage: scripts/api-docs.sh LIBRARY FOLDER}")
cd "$(dirname "$0")/.."

for program in doxygen sphinx-build; do
    command -v "$program" >/dev/null || {
        echo "there is no $program (Debian: doxygen, python3-sphinx)"
        exit 77
    }
done
rm -rf "$folder"
mkdir -p "$folder"
{
    cat docs/api/Doxyfile
    echo "OUTPUT_DIRECTORY = $folder"
} | doxygen -
IMP_LIBRARY=$library PYTHONPATH=$PWD/python PYTHONDONTWRITEBYTECODE=1 \
    /usr/bin/python3 -m sphinx -q -W --keep-going -b html -d "$folder/doctrees" docs/api "$folder/python"
[ -s "$folder/c/mixture_8h.html" ] && [ -s "$folder/python/index.html" ]
for name in Embedding.__call__ Episodes Episodes.__getitem__ evaluate methods.Method.__call__ plot.map suggest \
    torch.EpisodeLoss train; do
    grep -q "id=\"pyimp.$name\"" "$folder/python/index.html" || {
        echo "the pages do not have pyimp.$name"
        exit 1
    }
done
grep -q imp_mixture_predict "$folder/c/mixture_8h.html"
