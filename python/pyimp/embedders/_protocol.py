"""The embedder's side of the protocol, with nothing but Python's standard library."""

from __future__ import annotations

import array
import json
import os
import struct
import sys
from typing import Any
from collections.abc import Callable, Iterable, Sequence


def serve(
    name: str,
    version: str,
    dimensions: int,
    embed: Callable[[list[str]], Iterable],
    batch: int = 32,
    files: Sequence[str] = (),
) -> None:
    """Answers `imp` until it has no more questions.

    Parameters
    ----------
    name, version : str
        Vectors are kept by these: a change of the vectors must change the version.
    dimensions : int
        Of a vector.
    embed : callable
        Given a list of paths, gives for each a vector (anything that floats come out of) or an
        exception, which becomes the fault of that file.
    batch : int, default=32
        How many files to be asked for at once.
    files : sequence of str
        What the version depends on, such as the model file. As long as they do not change, `imp`
        may take kept vectors without starting the program.
    """
    answers = _take_standard_output()
    greeting = {
        "imp-embedder": 1,
        "name": name,
        "version": version,
        "dimensions": dimensions,
        "batch": batch,
        "files": [os.path.abspath(file) for file in files],
    }
    answers.write(json.dumps(greeting).encode() + b"\n")
    answers.flush()
    questions = sys.stdin.buffer
    while line := questions.readline():
        word, _, count = line.decode("ascii", "replace").strip().partition(" ")
        if word != "embed" or not count.isdigit():
            sys.exit(f"a question is 'embed COUNT', not {line[:80]!r}")
        paths = [_read_path(questions) for _ in range(int(count))]
        for answer in _answers(embed, paths):
            answers.write(_record(answer, dimensions))
        answers.flush()


def _take_standard_output():
    """Where answers go. What libraries print goes to standard error from now on: a word between the
    records would make nonsense of them."""
    own = os.dup(1)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return os.fdopen(own, "wb")


def _read_path(stream) -> str:
    path = bytearray()
    while (byte := stream.read(1)) != b"\0":
        if not byte:
            sys.exit("a question ended in the middle of a path")
        path += byte
    return os.fsdecode(bytes(path))


def _answers(embed: Callable, paths: list[str]) -> list:
    """A vector or an exception for each path. Where a batch fails as a whole, its files are tried
    one by one."""
    try:
        answers = list(embed(paths))
        if len(answers) != len(paths):
            raise RuntimeError(f"{len(answers)} vectors for {len(paths)} files")
        return answers
    except Exception as error:  # whatever is wrong with a file must not end the others
        if len(paths) == 1:
            return [error]
    return [_answers(embed, [path])[0] for path in paths]


def _record(answer: Any, dimensions: int) -> bytes:
    if not isinstance(answer, Exception):
        values = array.array("f", [float(value) for value in answer])
        if len(values) == dimensions:
            if sys.byteorder == "big":
                values.byteswap()
            return struct.pack("<cI", b"v", 4 * dimensions) + values.tobytes()
        answer = ValueError(f"the vector has {len(values)} dimensions instead of {dimensions}")
    text = " ".join((str(answer) or type(answer).__name__).split()).encode()
    return struct.pack("<cI", b"e", len(text[:2000])) + text[:2000]
