"""How well predictions or clusters agree with the truth.

Information is measured with natural logarithms, and all measures equal scikit-learn's. Labels may
be of any kind: only which points share one matters, except to `accuracy`.
"""

from __future__ import annotations

import ctypes
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from . import _api, _parameters
from ._library import Handle, address, call, create, library

__all__ = [
    "Interval",
    "accuracy",
    "adjusted_mutual_info",
    "adjusted_rand",
    "mean_interval",
    "normalized_mutual_info",
    "purity",
]


class Interval(NamedTuple):
    """A mean and half the width of its 95% interval."""

    mean: float
    half_width: float


def mean_interval(values: ArrayLike) -> Interval:
    """The mean of any numbers, such as the accuracies of test episodes."""
    values = np.ascontiguousarray(values, float)
    found = library.imp_mean_interval(address(values), values.size)
    return Interval(found.mean, found.half_width)


def accuracy(truth: ArrayLike, found: ArrayLike) -> Interval:
    """The share of points whose labels are equal."""
    truth, found = _pair(truth, found)
    _, numbers = np.unique(np.concatenate([truth, found]), return_inverse=True)
    numbers = numbers.astype(np.int32)
    left, right = numbers[: len(truth)], numbers[len(truth) :]
    share = library.imp_accuracy(address(left), address(right), len(truth))
    return Interval(share.mean, share.half_width)


def purity(truth: ArrayLike, found: ArrayLike) -> float:
    """The share of points that belong to the most frequent class of their cluster."""
    return library.imp_purity(_contingency(truth, found))


def normalized_mutual_info(
    truth: ArrayLike, found: ArrayLike, average: str = "arithmetic"
) -> float:
    """From 0 to 1; the entropies' 'arithmetic' or 'geometric' mean, 'min' or 'max' normalises."""
    kind = _parameters.choice(average, "average", _api.AVERAGES)
    return library.imp_nmi(_contingency(truth, found), kind)


def adjusted_mutual_info(truth: ArrayLike, found: ArrayLike, average: str = "arithmetic") -> float:
    """The same less what chance gives: 0 is chance, 1 agreement."""
    kind = _parameters.choice(average, "average", _api.AVERAGES)
    information = ctypes.c_double()
    call(library.imp_ami, _contingency(truth, found), kind, information)
    return information.value


def adjusted_rand(truth: ArrayLike, found: ArrayLike) -> float:
    """The Rand index less what chance gives."""
    return library.imp_adjusted_rand(_contingency(truth, found))


def _pair(truth: ArrayLike, found: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    truth, found = np.asarray(truth), np.asarray(found)
    if truth.ndim != 1 or truth.shape != found.shape:
        raise ValueError(
            f"the labels have the shapes {truth.shape} and {found.shape}; each point has two, in "
            "rows of the same length"
        )
    return truth, found


def _contingency(truth: ArrayLike, found: ArrayLike) -> Handle:
    left, right = (
        np.unique(labels, return_inverse=True)[1].astype(np.int32) for labels in _pair(truth, found)
    )
    return create(
        library.imp_contingency_free,
        library.imp_contingency_create,
        address(left),
        address(right),
        len(left),
    )
