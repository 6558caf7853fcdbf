"""Which points to label next: the most typical of every group first, then the least sure and the
most typical of smaller groups in turn."""

from __future__ import annotations

import ctypes
import sys
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from . import _api, _parameters
from ._library import address, call, create, defaults, library


class Suggester:
    """Points that want labels, and the answers as they come.

    An answer costs one look at every point, and so does a suggestion; nothing is fitted again.

    Parameters
    ----------
    X : array-like of shape (n_points, n_features)
        Copied.
    groups : array-like of shape (n_points,), optional
        A group for each point, -1 for none; by default those that `DPMeans` finds.
    metric : {'auto', 'as-is', 'scaled', 'standard', 'unit', 'root', 'cosine'}, default='auto'
        Where points are compared.

    Examples
    --------
    >>> from pyimp import Suggester
    >>> asked = Suggester([[0, 0], [1, 0], [2, 0], [50, 0], [51, 0], [52, 0]])
    >>> asked.next(2)
    array([1, 4])
    >>> asked.answer(1, 0)
    >>> asked.answer(4, 1)
    >>> asked.guess()[0]
    array([0, 0, 0, 1, 1, 1], dtype=int32)
    """

    def __init__(
        self, X: ArrayLike, *, groups: ArrayLike | None = None, metric: str = "auto"
    ) -> None:
        points = _parameters.points(X, "X")
        options = defaults(_api.SuggesterOptions, library.imp_suggester_options_init)
        if metric not in _api.METRICS:
            raise ValueError(f"metric is {metric!r}; it must be one of {', '.join(_api.METRICS)}")
        options.metric = _api.METRICS[metric]
        given = None if groups is None else _parameters.labels(groups, "groups", len(points))
        options.group = None if given is None else address(given)
        self._count = len(points)
        self._handle = create(
            library.imp_suggester_free,
            library.imp_suggester_create,
            address(points),
            *points.shape,
            options,
        )

    def answer(self, point: int, label: int) -> None:
        """Point `point` is of class `label`; -1 takes an answer back, -2 skips the point."""
        point = _parameters.count(point, "point", 0, self._count - 1)
        label = _parameters.count(label, "label", -2, _parameters.MOST_CLUSTERS)
        call(library.imp_suggester_answer, self._handle, point, label)

    def suggestions(self, count: int = 1) -> list[dict[str, Any]]:
        """Up to `count` points to label next, the most useful first, and why: `point`, `reason`
        ('typical' of a group or 'unsure'), `group`, `guess` and how `sure` that is."""
        count = _parameters.count(count, "count", 1, sys.maxsize)
        room = (_api.Suggestion * min(count, self._count))()
        found = ctypes.c_size_t()
        call(library.imp_suggester_next, self._handle, len(room), room, ctypes.byref(found))
        return [
            {
                "point": one.point,
                "reason": _api.REASONS[one.reason],
                "group": one.group,
                "guess": one.guess,
                "sure": one.sure,
            }
            for one in room[: found.value]
        ]

    def next(self, count: int = 1) -> np.ndarray:
        """The numbers of these points."""
        return np.array([one["point"] for one in self.suggestions(count)], np.intp)

    def guess(self) -> tuple[np.ndarray, np.ndarray]:
        """What the answers make of all points: a class for each, -1 before the first answer, and
        how probable it is."""
        label, sure = np.empty(self._count, np.int32), np.empty(self._count, np.float32)
        library.imp_suggester_guess(self._handle, address(label), address(sure))
        return label, sure

    @property
    def expected_accuracy(self) -> float:
        """How many of the guesses are right if one stops now; NaN before the first answer."""
        return library.imp_suggester_summarize(self._handle).expected


def suggest(
    X: ArrayLike,
    y: ArrayLike | None = None,
    count: int = 1,
    *,
    groups: ArrayLike | None = None,
    metric: str = "auto",
) -> np.ndarray:
    """The numbers of up to `count` points that are most worth a label.

    Parameters
    ----------
    X, groups, metric
        As in `Suggester`, which is the quicker way for one answer after the other.
    y : array-like of shape (n_points,), optional
        What is known: a class for each point from 0 on, -1 where nothing is, -2 for points that are
        not to be asked for.

    Examples
    --------
    >>> from pyimp import suggest
    >>> X = [[0, 0], [1, 0], [2, 0], [50, 0], [51, 0], [52, 0]]
    >>> suggest(X, [-1, 0, -1, -1, -1, -1])
    array([4])
    """
    suggester = Suggester(X, groups=groups, metric=metric)
    if y is not None:
        labels = _parameters.labels(y, "y", suggester._count)
        for point in np.flatnonzero(labels != -1):
            suggester.answer(int(point), int(labels[point]))
    return suggester.next(count)
