"""How pip builds the package: with libimp inside, by scikit-build-core, which compiles it.

IMP_BUNDLE=no leaves the library out, for systems that have one: then the package is Python alone, and
setuptools, which every distribution has, is enough.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

_HERE = Path(__file__).resolve().parents[1]
# What an archive of the sources has to bring along, since the library lies above this folder.
_LIBRARY = ("CMakeLists.txt", "LICENSE", "cmake", "include", "models", "recipes", "src")


def _bundles() -> bool:
    return os.environ.get("IMP_BUNDLE") != "no"


def __getattr__(name: str) -> Any:
    """The hooks of whoever builds."""
    if name.startswith("__"):
        raise AttributeError(name)
    if _bundles():
        import scikit_build_core.build as backend
    else:
        import setuptools.build_meta as backend
    return getattr(backend, name)


def get_requires_for_build_wheel(settings: Any = None) -> list[str]:
    if _bundles():
        import scikit_build_core.build as backend

        return backend.get_requires_for_build_wheel(settings)
    return ["setuptools>=61"]


def build_sdist(folder: str, settings: Any = None) -> str:
    """The sources, with those of the library in a folder `libimp`."""
    import scikit_build_core.build as backend

    inside, above = _HERE / "libimp", _HERE.parent
    if not (above / "include" / "imp" / "imp.h").exists():  # it is in such an archive already
        return backend.build_sdist(folder, settings)
    shutil.rmtree(inside, ignore_errors=True)
    inside.mkdir()
    try:
        for name in _LIBRARY:
            if (above / name).is_dir():
                shutil.copytree(above / name, inside / name)
            else:
                shutil.copy(above / name, inside / name)
        return backend.build_sdist(folder, settings)
    finally:
        shutil.rmtree(inside)
