"""As much of scikit-learn as the estimators need, for machines without it."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np


class BaseEstimator:
    """Parameters are the arguments of __init__ and kept under their names."""

    @classmethod
    def _parameter_names(cls) -> list[str]:
        return sorted(set(inspect.signature(cls.__init__).parameters) - {"self"})

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self._parameter_names()}

    def set_params(self, **params: Any) -> BaseEstimator:
        names = self._parameter_names()
        for name, value in params.items():
            if name not in names:
                raise ValueError(
                    f"{type(self).__name__} has no parameter {name!r}; it has {', '.join(names)}"
                )
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self).__init__).parameters
        given = (
            f"{name}={value!r}"
            for name, value in self.get_params().items()
            if value is not defaults[name].default
        )
        return f"{type(self).__name__}({', '.join(given)})"


class ClassifierMixin:
    def score(self: Any, X: Any, y: Any) -> float:
        """The share of points whose class is predicted."""
        return float(np.mean(self.predict(X) == np.asarray(y)))


class ClusterMixin:
    def fit_predict(self: Any, X: Any, y: Any = None) -> np.ndarray:
        """Fits, and returns the cluster of each point; y is not used."""
        return self.fit(X).labels_


def check_is_fitted(estimator: Any) -> None:
    if not estimator.__sklearn_is_fitted__():
        raise ValueError(f"this {type(estimator).__name__} is not fitted yet; call fit first")


def check_classification_targets(y: np.ndarray) -> None:
    if y.dtype.kind == "f" and np.any(y != np.floor(y)):
        raise ValueError("y holds fractions; labels are classes")


def validate_data(
    estimator: Any,
    X: Any,
    y: Any = "absent",
    *,
    reset: bool,
    dtype: Any,
    order: Any,
    ensure_all_finite: bool,
) -> Any:
    """As scikit-learn's of the same name, which see; values are never checked here."""
    X = np.asarray(X, dtype=dtype, order=order)
    if X.ndim != 2:
        raise ValueError(f"X has the shape {X.shape}; points are rows and columns")
    if reset:
        estimator.n_features_in_ = X.shape[1]
    elif X.shape[1] != estimator.n_features_in_:
        raise ValueError(
            f"X has {X.shape[1]} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input"
        )
    if isinstance(y, str) and y == "absent":
        return X
    if y is None:
        raise ValueError(f"{type(estimator).__name__} needs y, the labels of the points")
    y = np.asarray(y)
    if y.shape != X.shape[:1]:
        raise ValueError(f"y has the shape {y.shape}; each of the {len(X)} points has one label")
    if y.dtype.kind == "f" and not np.all(np.isfinite(y)):
        raise ValueError("y has labels that are not finite")
    return X, y
