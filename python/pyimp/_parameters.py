"""Checks of estimators' parameters, in the estimators' names for them."""

from __future__ import annotations

import contextlib
import math
import operator
import os
import re
from numbers import Real
from typing import Any, Iterator, Mapping

import numpy as np

from . import _api
from ._library import library


# The most that the command takes: a number that C has no room for would be another one.
MOST_CLUSTERS = 2**31 - 1
MOST_SEED = 2**63 - 1
MOST_THREADS = 1024


def count(value: Any, name: str, least: int, most: int) -> int:
    try:
        whole = operator.index(value)
    except TypeError:
        whole = least - 1
    if not least <= whole <= most:
        raise ValueError(f"{name} is {value!r}; it must be a whole number from {least} to {most}")
    return whole


def place(value: Any, length: int, what: str) -> int:
    """The number of one of `length` things, counted from the end if it is negative."""
    try:
        whole = operator.index(value)
    except TypeError:
        raise TypeError(f"{what}s are asked for by one whole number each, not by {value!r}") from None
    if not -length <= whole < length:
        raise IndexError(f"there is no {what} {whole} among {length}")
    return whole % length


def refuse_sparse(X: Any, name: str = "X") -> None:
    if hasattr(X, "toarray"):
        raise TypeError(
            f"{name} is sparse, and points are dense here; {name}.toarray() makes them so where that fits into "
            f"memory, and of many columns something like TruncatedSVD(100).fit_transform({name}) keeps what matters"
        )


def points(X: Any, name: str) -> np.ndarray:
    """Rows of 32-bit floats, for what is no estimator. That they are finite is left to the library."""
    refuse_sparse(X, name)
    given = np.asarray(X)
    if given.ndim != 2 or given.dtype.kind == "c":
        raise ValueError(
            f"{name} has the shape {given.shape} and the type {given.dtype}; it needs a row of real "
            "numbers for every point"
        )
    return np.ascontiguousarray(given, np.float32)


def labels(values: Any, name: str, count: int) -> np.ndarray:
    """An integer for each point, as the library takes them."""
    given = np.asarray(values)
    if given.shape == (0,):
        given = given.astype(np.int32)  # an empty list is one of floats to NumPy
    if given.shape != (count,) or given.dtype.kind not in "iu":
        raise ValueError(
            f"{name} has the shape {given.shape} and the type {given.dtype}; it needs an integer "
            f"for each of the {count} points"
        )
    numbers = np.ascontiguousarray(given, np.int32)
    if not np.array_equal(numbers, given):
        raise ValueError(f"{name} has integers that 32 bits have no room for")
    return numbers


def rule(given: Mapping[str, tuple[str, Any]]) -> _api.Rule:
    """A rule of the library: for its members what the estimator calls them and their values, which
    are numbers as the library describes them or 'auto'. The others are open."""
    result = _api.Rule()
    for index, field in enumerate(_api.Rule._fields_):
        member = field[0]
        name, value = given.get(member, (member, "auto"))
        option = library.imp_rule_option_at(index).contents
        setattr(result, member, _number(value, name, option))
    return result


def _number(value: Any, name: str, option: _api.OptionInfo) -> float:
    if isinstance(value, str) and value == "auto":
        return math.nan
    whole = option.kind == _api.INTEGER
    if isinstance(value, Real) and option.least <= value <= option.most:  # type: ignore[operator]
        if math.isfinite(value) and (not whole or float(value).is_integer()):
            return float(value)
    wanted = "a whole number" if whole else "a number"
    bounds = f"of at least {option.least:g}"
    if math.isfinite(option.most):
        bounds = f"from {option.least:.15g} to {option.most:.15g}"
    raise ValueError(f"{name} is {value!r}; it must be {wanted} {bounds}, or 'auto'")


def parameters_of(rule: _api.Rule) -> dict[str, float | str]:
    """A rule by the names that InfiniteMixturePrototypes has for its numbers."""
    numbers = {
        "alpha": rule.alpha,
        "sigma_l": rule.sigma_l,
        "sigma_u": rule.sigma_u,
        "threshold": getattr(rule, "lambda"),
        "cluster_steps": rule.steps,
    }
    return {
        name: "auto" if math.isnan(value) else int(value) if name == "cluster_steps" else value
        for name, value in numbers.items()
    }


def jobs(value: Any) -> int:
    """How many threads the library may use, 0 for all: n_jobs as scikit-learn has it, but that None
    is all of them, too."""
    if value is None:
        return 0
    whole = count(value, "n_jobs", -MOST_THREADS, MOST_THREADS)
    if whole == 0:
        raise ValueError("n_jobs is 0; it must be a number of threads, or None or -1 for all")
    return whole if whole > 0 else max(0, (os.cpu_count() or 1) + 1 + whole) if whole < -1 else 0


# What the library's sentences call parameters of the estimators.
_OUR_WORDS = {
    "lambda": "threshold",
    "sigma-l": "sigma_l",
    "sigma-u": "sigma_u",
    "the weight of unlabelled points": "unlabeled_weight",
    "the open-set rate": "open_set_rate",
    "weights of points": "sample_weight",
    "the paper's rule": "the paper's rule (alpha, or preset='paper')",
}


@contextlib.contextmanager
def our_words(words: Mapping[str, str] = _OUR_WORDS) -> Iterator[None]:
    """Sentences of the library name what Python calls it."""
    try:
        yield
    except ValueError as error:
        sentence = str(error)
        for theirs, ours in words.items():
            sentence = re.sub(rf"(?<![\w-]){re.escape(theirs)}(?![\w-])", ours, sentence)
        raise ValueError(sentence) from None


def share(value: Any, name: str, otherwise: str = "") -> float:
    if isinstance(value, Real) and 0 <= value <= 1:  # type: ignore[operator]
        return float(value)
    raise ValueError(f"{name} is {value!r}; it must be a number from 0 to 1{otherwise and ' '}{otherwise}")


def choice(value: Any, name: str, choices: Mapping[Any, int]) -> int:
    if not isinstance(value, (str, bool)) or value not in choices:
        raise ValueError(f"{name} is {value!r}; there are {', '.join(map(repr, choices))}")
    return choices[value]
