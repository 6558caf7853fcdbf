"""What the tests share: points, and the command `imp` that was built with the library."""

import json
import os
import subprocess
import unittest
from pathlib import Path

import numpy as np

SOURCE = Path(__file__).resolve().parents[2]  # of the project
LIBRARY = os.environ.get("IMP_LIBRARY")
COMMAND = os.environ.get("IMP")

needs_command = unittest.skipUnless(COMMAND, "IMP does not name the command")


def environment(**changes):
    """The environment for other programs: a sanitizer's runtime is for this process alone."""
    variables = {**os.environ, **changes}
    variables.pop("LD_PRELOAD", None)
    return variables


def imp(*arguments):
    """What the command prints with --json."""
    done = subprocess.run(
        [COMMAND, *map(str, arguments), "--json"],
        check=True,
        env=environment(),
        stdout=subprocess.PIPE,
    )
    return json.loads(done.stdout)


def blobs(seed, classes=4, modes=2, each=6, dimensions=5, spread=12.0):
    """Points of classes that have several modes each, in random order, and their classes."""
    random = np.random.default_rng(seed)
    centers = random.normal(size=(classes * modes, dimensions)) * spread
    numbers = random.permutation(np.repeat(np.arange(classes * modes), each))
    points = centers[numbers] + random.normal(size=(len(numbers), dimensions))
    return points.astype(np.float32), numbers % classes


def hide(y, seed, share=0.5, marker=-1):
    """The labels, some of them replaced by the marker; the first of each class stays."""
    hidden = np.random.default_rng(seed).random(len(y)) < share
    hidden[np.unique(y, return_index=True)[1]] = False
    return np.where(hidden, marker, y)
