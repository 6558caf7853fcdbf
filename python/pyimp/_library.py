"""Finding libimp, and calling it.

ctypes releases the interpreter's lock while a function of the library runs, so other threads go on
meanwhile. What the library refuses is raised with its own sentence.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
import warnings
import weakref
from pathlib import Path
from typing import Any, Callable, Iterator

import numpy as np

from . import _api
from ._version import __version__

_HERE = Path(__file__).resolve().parent
_NAME = f"libimp.so.{__version__.split('.')[0]}"  # as the linker knows it

# ---- finding it ----


def _places() -> Iterator[str]:
    """Where to look, in this order; IMP_LIBRARY, if it is set, is the only place."""
    named = os.environ.get("IMP_LIBRARY")
    if named:
        yield named
        return
    yield str(_HERE / _NAME)  # bundled
    yield _NAME  # the system's, wherever its linker looks
    checkout = _HERE.parents[1]
    if (checkout / "include" / "imp" / "imp.h").exists():
        yield str(checkout / "build" / "release" / "lib" / _NAME)  # what `make` built there


def _open(place: str) -> ctypes.CDLL:
    """The library at that place, declared; ImportError says why it is not one to use."""
    if os.sep in place and not os.path.exists(place):
        raise ImportError("there is no such file")
    try:
        library = ctypes.CDLL(place)
    except OSError as reason:
        raise ImportError(str(reason)) from reason
    name = ""
    try:
        for name, (result, arguments) in _api.FUNCTIONS.items():
            function = getattr(library, name)
            function.restype, function.argtypes = result, arguments
            if name == "imp_version":
                _check_version(function().decode())
    except AttributeError as reason:
        raise ImportError(f"it has no function {name}") from reason
    return library


def _check_version(version: str) -> None:
    """Before 1.0 a minor version may change the library's functions."""
    if version.split(".")[:2] != __version__.split(".")[:2]:
        wanted = ".".join(__version__.split(".")[:2])
        raise ImportError(f"it is version {version}, and {wanted} is needed")


def _load() -> ctypes.CDLL:
    looked = []
    for place in _places():
        try:
            return _open(place)
        except ImportError as reason:
            looked.append(f"{place} ({reason})")
    origin = "IMP_LIBRARY names" if os.environ.get("IMP_LIBRARY") else "it looked for"
    raise ImportError(
        f"pyimp {__version__} found no libimp to use: {origin} {', '.join(looked)}; "
        "install libimp, or set IMP_LIBRARY to the path of libimp.so"
    )


library = _load()

# ---- calling it ----

_EXCEPTIONS = {_api.ENOMEM: MemoryError, _api.EIO: OSError}


def call(function: Callable[..., int], *arguments: Any) -> None:
    """Calls a function that returns a status and takes an imp_error last.

    Raises MemoryError, OSError or, for all that is wrong with the arguments, ValueError.
    """
    error = _api.Error()
    status = function(*arguments, ctypes.byref(error))
    if status != _api.OK:
        sentence = error.message.decode(errors="replace")
        raise _EXCEPTIONS.get(status, ValueError)(sentence)


@contextlib.contextmanager
def threads(count: int) -> Iterator[None]:
    """Calls from this thread use up to so many threads; 0: as many as there are."""
    before = library.imp_limit_threads(count)
    try:
        yield
    finally:
        library.imp_limit_threads(before)


def address(array: np.ndarray) -> int:
    """Where the array's numbers are; the caller holds on to it while the library looks at it."""
    return array.ctypes.data


def encoded(text: str | bytes | os.PathLike) -> bytes:
    """A path, or other text, as the library takes it. To C a zero is the end, and what is before it
    would be another file."""
    given = os.fsencode(text)
    if b"\0" in given:
        raise ValueError(f"{text!r} has a zero character")
    return given


def defaults(kind: type[ctypes.Structure], initialize: Callable[..., None]) -> Any:
    """Options of that kind with their defaults. The library is told how many bytes of them there
    are here, and leaves those alone that a newer one may have."""
    options = kind()
    initialize(options, ctypes.sizeof(options))
    return options


class Handle:
    """An object of the library, which is freed when nobody refers to it any more."""

    def __init__(self, pointer: ctypes.c_void_p, free: Callable[..., None]) -> None:
        self._as_parameter_ = pointer
        weakref.finalize(self, free, pointer)


def _depth() -> int:
    """How far up the caller of this package is, as warnings count from the caller of this."""
    frame, depth = sys._getframe(1), 0
    while frame.f_back and frame.f_globals.get("__name__", "").startswith(__package__):
        frame, depth = frame.f_back, depth + 1
    return depth


@contextlib.contextmanager
def _warning_of_work() -> Iterator[None]:
    """Warns before work that grows with the square of the points. Where warnings are errors, the
    work is not begun."""
    raised: list[BaseException] = []

    def warn(work: Any, _: Any) -> bool:
        sentence = work.contents.sentence.decode().replace("lambda", "threshold")
        try:
            warnings.warn(sentence, stacklevel=_depth() + 1)
        except BaseException as error:  # a callback has nowhere to raise it
            raised.append(error)
        return not raised

    notice = _api.WorkNotice(warn)
    library.imp_notice_work(notice, None)
    try:
        yield
    except OSError:
        if raised:
            raise raised[0] from None
        raise
    finally:
        library.imp_notice_work(_api.WorkNotice(), None)


def create(free: Callable[..., None], function: Callable[..., int], *arguments: Any) -> Handle:
    """Calls a function whose last argument but for the error receives a new object."""
    pointer = ctypes.c_void_p()
    with _warning_of_work():
        call(function, *arguments, ctypes.byref(pointer))
    return Handle(pointer, free)
