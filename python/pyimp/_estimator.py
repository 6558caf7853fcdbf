"""What makes an estimator one of scikit-learn's, or, where that is absent, one by itself.

Both ways give the same names: the base classes, `check_is_fitted`, `check_classification_targets`
and `validate`. Tags are asked for by scikit-learn alone: `__sklearn_tags__` since 1.6, `_more_tags` before.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ._parameters import refuse_sparse

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, ClusterMixin
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import check_is_fitted
except ImportError:
    from ._plain import (
        BaseEstimator,
        ClassifierMixin,
        ClusterMixin,
        check_classification_targets,
        check_is_fitted,
        validate_data,
    )
else:
    try:
        from sklearn.utils.validation import validate_data  # type: ignore[no-redef] # since 1.6
    except ImportError:

        def validate_data(  # type: ignore[misc]
            estimator: Any, *data: Any, ensure_all_finite: bool, **how: Any
        ) -> Any:
            return estimator._validate_data(*data, force_all_finite=ensure_all_finite, **how)


__all__ = [
    "BaseEstimator",
    "ClassifierMixin",
    "ClusterMixin",
    "check_classification_targets",
    "check_is_fitted",
    "mark_transformer",
    "validate",
]


def mark_transformer(tags: Any) -> Any:
    """scikit-learn's tags of an estimator, of one that transforms, too."""
    from sklearn.utils import TransformerTags  # since 1.6, as __sklearn_tags__

    tags.transformer_tags = TransformerTags()
    return tags


def validate(estimator: Any, *data: Any, reset: bool = True) -> Any:
    """X, or X and y, as the library takes them: X as rows of 32-bit floats, not copied if it is
    that already. `reset` is for fitting: it sets n_features_in_, which is otherwise checked.

    That values are finite is left to the library, whose sentence names the place.
    """
    refuse_sparse(data[0])
    try:
        with np.errstate(over="raise"):
            valid = validate_data(
                estimator, *data, reset=reset, dtype=np.float32, order="C", ensure_all_finite=False
            )
    except FloatingPointError as reason:
        most = np.finfo(np.float32).max
        raise ValueError(f"X has values beyond {most:.4g}, where 32-bit floats end") from reason
    points = valid[0] if isinstance(valid, tuple) else valid
    if points.size and not points.any() and np.any(np.asarray(data[0], float)):
        raise ValueError("X has only values that 32-bit floats lose; multiply it by a number")
    return valid
