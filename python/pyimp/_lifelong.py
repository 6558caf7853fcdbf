"""What a fitted classifier can be told later: to forget, what a cluster is, and what others know."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ._estimator import check_is_fitted

Model = TypeVar("Model", bound="LifeLong")


class LifeLong:
    """The part of InfiniteMixturePrototypes that changes a fitted model without new points."""

    if TYPE_CHECKING:  # what the other part has
        _fitted: Any

        def _number(self, labels: Any, missing: Any, names: Any) -> tuple[np.ndarray, np.ndarray]: ...

        def _take(self, mixture: Any, names: Any) -> None: ...

    def forget(
        self: Model,
        *,
        classes: Iterable[Any] = (),
        clusters: Iterable[int] = (),
        keep_newest: int | None = None,
    ) -> Model:
        """Leaves out what the model should not know.

        Parameters
        ----------
        classes : iterable of labels
            Classes to forget.
        clusters : iterable of int
            Numbers of clusters to forget, as in `cluster_labels_` now. A class keeps at least one.
        keep_newest : int, optional
            Everything but the newest so many points, as far as they are in the sample that the
            model keeps. Not with the paper's rule, which keeps none.
        """
        check_is_fitted(self)
        mixture, names = self._fitted.mixture, self._fitted.names
        numbers = np.array([_index(c, "clusters") for c in clusters], np.uintp)
        if len(numbers) > 0:
            mixture = mixture.forget_clusters(numbers)
        for label in classes:
            found = np.flatnonzero(names == label)
            if len(found) == 0:
                raise ValueError(f"there is no class {label!r} to forget")
            mixture = mixture.forget_class(int(found[0]))
            names = np.delete(names, found[0])
        if keep_newest is not None:
            mixture = mixture.keep_newest(_index(keep_newest, "keep_newest"))
        self._take(mixture, names)
        return self

    def name_cluster(self: Model, cluster: int, label: Any) -> Model:
        """Gives a cluster without a label a class, one that there is or a new one.

        Parameters
        ----------
        cluster : int
            Its number, as in `cluster_labels_` and from `apply`.
        label
            The class, of the kind of the others.
        """
        check_is_fitted(self)
        names = self._fitted.names
        numbers, names = self._number(np.array([label]), np.zeros(1, bool), names)
        if numbers[0] < 0:
            raise ValueError(f"{label!r} stands for points without a label, and names no class")
        mixture = self._fitted.mixture.name_cluster(_index(cluster, "cluster"), int(numbers[0]))
        self._take(mixture, names)
        return self

    def merge(self: Model, other: Model) -> Model:
        """Takes in what another fitted model knows; classes of the same label are the same."""
        check_is_fitted(self)
        check_is_fitted(other)
        theirs = other._fitted.names
        numbers, names = self._number(theirs, np.zeros(len(theirs), bool), self._fitted.names)
        self._take(self._fitted.mixture.merge(other._fitted.mixture, numbers), names)
        return self


def _index(number: Any, name: str) -> int:
    whole = isinstance(number, (int, np.integer)) and not isinstance(number, (bool, np.bool_))
    if not whole or not 0 <= number <= sys.maxsize:
        raise ValueError(f"{name} has {number!r}; it takes integers from 0 on")
    return int(number)
