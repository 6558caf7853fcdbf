"""Checks of estimators' parameters that the library cannot make, since C has types for them."""

from __future__ import annotations

import math
import operator
from numbers import Real
from typing import Any, Mapping


def number(value: Any, name: str) -> float:
    if not isinstance(value, Real):
        raise ValueError(f"{name} is {value!r}; it is a number")
    return float(value)


# The most that the command takes: a number that C has no room for would be another one.
MOST_STEPS = 1_000_000
MOST_CLUSTERS = 2**31 - 1
MOST_SEED = 2**63 - 1
MOST_THREADS = 1024


def count(value: Any, name: str, least: int, most: int) -> int:
    try:
        whole = operator.index(value)
    except TypeError:
        whole = least - 1
    if not least <= whole <= most:
        raise ValueError(f"{name} is {value!r}; it is a whole number from {least} to {most}")
    return whole


def threshold(value: Any) -> float:
    """The library's lambda: NaN asks it to find one."""
    if isinstance(value, str) and value == "auto":
        return math.nan
    if not isinstance(value, Real) or math.isnan(value):
        raise ValueError(f"threshold is {value!r}; it is a number of at least 0, or 'auto'")
    return float(value)


def choice(value: Any, name: str, choices: Mapping[str, int]) -> int:
    if value not in choices:
        raise ValueError(f"{name} is {value!r}; there are {', '.join(map(repr, choices))}")
    return choices[value]
