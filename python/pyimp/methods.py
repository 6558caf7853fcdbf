"""Few-shot methods on embedded points: loss, predictions and gradients of one episode.

`pyimp.methods.names()` tells which there are. A method knows vectors, not what they are embeddings of,
so any network can be trained through it; `pyimp.torch` does that with PyTorch.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from . import _api, _parameters
from ._library import address, call, create, defaults, encoded, library

# What the library's sentences call parameters of a method.
_WORDS = {"cluster-steps": "steps", "sigma-l": "sigma_l", "sigma-u": "sigma_u", "lambda": "lambda_"}


def names() -> list[str]:
    """The names of all methods.

    Examples
    --------
    >>> import pyimp.methods
    >>> "imp" in pyimp.methods.names()
    True
    """
    found: list[str] = []
    index = 0
    while True:
        info = library.imp_method_at(index)
        if not info:
            return found
        found.append(info.contents.name.decode())
        index += 1


@dataclass(frozen=True, eq=False)
class Result:
    """What a method made of an episode.

    Attributes
    ----------
    loss : float
        Mean cross-entropy of the queries; NaN without their labels.
    threshold : float
        lambda; NaN for a method that has none.
    predictions : ndarray of int32, (queries,)
    probabilities : ndarray of float32, (queries, outcomes)
    open_predictions : ndarray of int32, (queries,)
        The class of the best of all clusters, -1 where that has no label.
    cluster_labels, cluster_means, cluster_variances, cluster_weights : ndarray
    support_gradient, query_gradient, unlabeled_gradient : ndarray or None
        Of the loss by the points, if they were asked for.
    parameter_gradient : ndarray of float64 or None
        By the learned values, in the order of `Method.values`.
    """

    loss: float
    threshold: float
    predictions: np.ndarray
    probabilities: np.ndarray
    open_predictions: np.ndarray
    cluster_labels: np.ndarray
    cluster_means: np.ndarray
    cluster_variances: np.ndarray
    cluster_weights: np.ndarray
    support_gradient: np.ndarray | None
    query_gradient: np.ndarray | None
    unlabeled_gradient: np.ndarray | None
    parameter_gradient: np.ndarray | None


def _copy(pointer: Any, kind: type, *shape: int) -> np.ndarray:
    if 0 in shape or not pointer:
        return np.zeros(shape, kind)
    place = ctypes.cast(pointer, ctypes.POINTER(np.ctypeslib.as_ctypes_type(kind)))
    return np.ctypeslib.as_array(place, shape).copy()


def _number(value: Any, name: str) -> float:
    if not isinstance(value, Real):
        raise ValueError(f"{name} is {value!r}; it must be a number")
    return float(value)


def _made_again(kind: type, name: str, given: dict[str, Any], values: np.ndarray) -> Any:
    made = kind(name, **given)
    made.values[:] = values
    return made


class Method:
    """A method with its learned parameters. Copies and pickles take those along.

    Parameters
    ----------
    name : str, default "imp"
        One of `names()`.
    alpha, sigma_l, sigma_u, lambda_ : float, optional
        Numbers of the rule; the variances are where learning begins. What is not given is the method's own.
    steps : int, optional
        How often the clustering is repeated.
    open_set : bool, default False
        Whether clusters without a label compete for queries as "none of these".
    seed : int, default 1
    **own
        Options of the method's own, such as ``no_prior=True`` of em.

    Examples
    --------
    >>> from pyimp.methods import Method
    >>> method = Method("prototypes")
    >>> found = method([[0, 0], [4, 4]], [0, 1], [[1, 0], [3, 4]], [0, 1], gradients=True)
    >>> found.predictions.tolist(), found.query_gradient.shape
    ([0, 1], (2, 2))
    """

    def __init__(
        self,
        name: str = "imp",
        *,
        alpha: float | None = None,
        sigma_l: float | None = None,
        sigma_u: float | None = None,
        lambda_: float | None = None,
        steps: int | None = None,
        open_set: bool = False,
        seed: int = 1,
        **own: float,
    ) -> None:
        options = defaults(_api.MethodOptions, library.imp_method_options_init)
        rule = {"alpha": alpha, "sigma_l": sigma_l, "sigma_u": sigma_u, "lambda_": lambda_, "steps": steps}
        for member, value in rule.items():
            if value is not None:
                setattr(options.rule, member.rstrip("_"), _number(value, member))
        if len(own) > len(options.own):
            raise ValueError(f"a method has {len(options.own)} options of its own at most")
        for place, (option, value) in enumerate(own.items()):
            options.own[place].name = option.replace("_", "-").encode()
            options.own[place].value = _number(value, option)
        options.open_set = bool(open_set)
        options.seed = _parameters.count(seed, "seed", 0, _parameters.MOST_SEED)
        self.name = name
        self._given = {**rule, "open_set": bool(open_set), "seed": seed, **own}
        with _parameters.our_words(_WORDS):
            self._handle = create(
                library.imp_method_free, library.imp_method_create, encoded(name), ctypes.byref(options)
            )

    def __reduce__(self) -> tuple[Any, ...]:
        return _made_again, (type(self), self.name, self._given, self.values.copy())

    def __repr__(self) -> str:
        return f"Method({self.name!r})"

    @property
    def values(self) -> np.ndarray:
        """All learned values, one after the other: a view, to be read and written between runs."""
        count = ctypes.c_size_t()
        pointer = library.imp_method_values(self._handle, ctypes.byref(count))
        if count.value == 0:
            return np.empty(0)
        memory: Any = (ctypes.c_double * count.value).from_address(ctypes.addressof(pointer.contents))
        memory.owner = self._handle  # a view may outlive the method
        return np.frombuffer(memory)

    @property
    def parameters(self) -> dict[str, np.ndarray]:
        """The learned tensors by name: views of `values`."""
        count = ctypes.c_size_t()
        told = library.imp_method_parameters(self._handle, ctypes.byref(count))
        values = self.values
        return {
            p.name.decode(): values[p.offset : p.offset + p.count].reshape(tuple(p.shape[: p.rank]))
            for p in told[: count.value]
        }

    def __call__(
        self,
        support: Any,
        support_labels: Any,
        query: Any,
        query_labels: Any = None,
        unlabeled: Any = None,
        *,
        gradients: bool = False,
    ) -> Result:
        """Clusters the supports and unlabelled points, classifies the queries and differentiates.

        Labels are 0 to way - 1, and -1 for a support without one. Raises ValueError with a sentence for
        points that are not finite, a class without points, or gradients without `query_labels`.
        """
        if gradients and query_labels is None:
            raise ValueError("gradients are those of the loss, which needs query_labels")
        x, q = _parameters.points(support, "support"), _parameters.points(query, "query")
        u = _parameters.points(np.empty((0, x.shape[1])) if unlabeled is None else unlabeled, "unlabeled")
        for name, array in (("query", q), ("unlabeled", u)):
            if array.shape[1] != x.shape[1]:
                raise ValueError(f"{name} has {array.shape[1]} features, and support {x.shape[1]}")
        y = _parameters.labels(support_labels, "support_labels", len(x))
        t = None if query_labels is None else _parameters.labels(query_labels, "query_labels", len(q))
        way = int(y.max(initial=-1)) + 1
        episode = _api.EpisodeView(
            dimensions=x.shape[1],
            way=way,
            support=address(x),
            support_label=address(y),
            support_count=len(x),
            query=address(q),
            query_label=None if t is None else address(t),
            query_count=len(q),
            unlabeled=address(u),
            unlabeled_count=len(u),
        )
        found = _api.MethodResult()
        call(library.imp_method_run, self._handle, ctypes.byref(episode), gradients, ctypes.byref(found))
        d, k = x.shape[1], found.cluster_count

        def gradient(pointer: Any, array: np.ndarray) -> np.ndarray | None:
            return _copy(pointer, np.float32, *array.shape) if found.query_gradient else None

        return Result(
            loss=found.loss,
            threshold=getattr(found, "lambda"),
            predictions=_copy(found.predictions, np.int32, len(q)),
            probabilities=_copy(found.probabilities, np.float32, len(q), found.outcomes),
            open_predictions=_copy(found.open_predictions, np.int32, len(q)),
            cluster_labels=_copy(found.cluster_label, np.int32, k),
            cluster_means=_copy(found.cluster_mean, np.float32, k, d),
            cluster_variances=_copy(found.cluster_sigma, np.float64, k),
            cluster_weights=_copy(found.cluster_weight, np.float64, k),
            support_gradient=gradient(found.support_gradient, x),
            query_gradient=gradient(found.query_gradient, q),
            unlabeled_gradient=gradient(found.unlabeled_gradient, u),
            parameter_gradient=_copy(found.parameter_gradient, np.float64, len(self.values))
            if found.query_gradient
            else None,
        )
