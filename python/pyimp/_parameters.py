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


def count(value: Any, name: str, least: int = 0) -> int:
    try:
        whole = operator.index(value)
    except TypeError:
        whole = least - 1
    if whole < least:
        raise ValueError(f"{name} is {value!r}; it is a whole number of at least {least}")
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
