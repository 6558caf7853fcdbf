"""Clustering without labels, into as many clusters as the points need."""

from __future__ import annotations

import ctypes
import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from . import _api, _parameters
from ._estimator import BaseEstimator, ClusterMixin, check_is_fitted, mark_transformer, validate
from ._library import address, call, create, defaults, library, threads
from ._output import Output, Shown, listed


def _copy(location: int, shape: tuple[int, ...], kind: Any) -> np.ndarray:
    """An array of the library's, copied."""
    items = ctypes.cast(location, ctypes.POINTER(kind))
    return np.ctypeslib.as_array(items, shape).copy()


def _pairs(*given: tuple[ArrayLike | None, str]) -> Any:
    """Pairs of points that belong together, then those that belong apart, as the library's."""
    found = []
    for pairs, name in given:
        array = np.empty((0, 2), int) if pairs is None else np.asarray(pairs)
        if array.size == 0:
            continue
        if array.ndim != 2 or array.shape[1] != 2 or array.dtype.kind not in "iu":
            raise ValueError(
                f"{name} has the shape {array.shape} and the type {array.dtype}; it needs two "
                "integers for each pair"
            )
        if array.min() < 0 or array.max() > 0xFFFFFFFF:
            raise ValueError(f"{name} has numbers of points that are below 0 or too large")
        found += [(int(a), int(b), name == "cannot_link") for a, b in array]
    return (_api.ClusterPair * len(found))(*(_api.ClusterPair(*pair) for pair in found))


class _Clusterer(  # pyright: ignore[reportIncompatibleVariableOverride]
    Shown, Output, ClusterMixin, BaseEstimator
):
    """What both methods share; a method is its name and the numbers of a rule that it has."""

    _method: bytes
    n_clusters: int | None
    threshold: float | str
    order: str
    seed: int
    n_jobs: int | None

    def _numbers(self) -> dict[str, tuple[str, Any]]:
        """Numbers of the rule beside the threshold, as `_parameters.rule` takes them."""
        raise NotImplementedError

    def fit(
        self,
        X: ArrayLike,
        y: Any = None,
        *,
        labels: ArrayLike | None = None,
        must_link: ArrayLike | None = None,
        cannot_link: ArrayLike | None = None,
    ) -> _Clusterer:
        """Clusters the points.

        Parameters
        ----------
        X : array-like of shape (n_points, n_features)
            Used as 32-bit floats, row by row; not copied if it is that already.
        y
            Not used; here for scikit-learn's sake.
        labels : array-like of shape (n_points,), optional
            Classes of some points, integers from 0 on, and -1 for the others. A cluster has points
            of one class at most, and a class may have several clusters; `cluster_labels_` tells.
        must_link, cannot_link : array-like of shape (n_pairs, 2), optional
            Numbers of points that belong together, or apart.
        """
        options = defaults(_api.ClusterOptions, library.imp_cluster_options_init)
        options.method = self._method
        numbers = {"lambda": ("threshold", self.threshold), **self._numbers()}
        options.rule = _parameters.rule(numbers)
        if self.n_clusters is not None:
            if not math.isnan(getattr(options.rule, "lambda")):
                raise ValueError("n_clusters and threshold are both given; one decides")
            options.clusters = _parameters.count(
                self.n_clusters, "n_clusters", 1, _parameters.MOST_CLUSTERS
            )
        options.order = _parameters.choice(self.order, "order", _api.ORDERS)
        options.seed = _parameters.count(self.seed, "seed", 0, _parameters.MOST_SEED)

        points = validate(self, X)
        known = None if labels is None else _parameters.labels(labels, "labels", len(points))
        pairs = _pairs((must_link, "must_link"), (cannot_link, "cannot_link"))
        options.label = None if known is None else address(known)
        options.pairs = ctypes.cast(pairs, ctypes.c_void_p)
        options.pair_count = len(pairs)
        with _parameters.our_words(), threads(_parameters.jobs(self.n_jobs)):
            handle = create(
                library.imp_clustering_free,
                library.imp_cluster,
                address(points),
                *points.shape,
                options,
            )
        self._take(ctypes.cast(handle._as_parameter_, ctypes.POINTER(_api.Clustering)).contents)
        return self

    def _take(self, found: _api.Clustering) -> None:
        count = found.clusters
        self.labels_ = _copy(found.assignment, (found.points,), ctypes.c_int32)
        self.cluster_centers_ = _copy(found.mean, (count, found.dimensions), ctypes.c_float)
        self.cluster_sizes_ = _copy(found.cluster_size, (count,), ctypes.c_size_t)
        self.lambda_ = getattr(found, "lambda")
        self.objective_ = found.objective
        self.inertia_ = found.objective - self.lambda_ * count
        self.n_iter_ = found.steps
        self.converged_ = found.converged
        self.cluster_labels_ = (
            _copy(found.cluster_label, (count,), ctypes.c_int32) if found.cluster_label else None
        )
        self.choice_ = {
            "by": _api.CLUSTER_CHOICES[found.choice],
            "sampled": found.sampled,
            "groups": found.groups,
            "apart": found.apart,
        }

    def predict(self, X: ArrayLike) -> np.ndarray:
        """The number of the cluster whose center is nearest to each point."""
        check_is_fitted(self)
        points = validate(self, X, reset=False)
        centers = np.ascontiguousarray(self.cluster_centers_, np.float32)
        if centers.ndim != 2 or centers.shape[1:] != points.shape[1:]:
            raise ValueError(f"cluster_centers_ was given the shape {centers.shape}")
        labels = np.empty(len(points), np.int32)
        with threads(_parameters.jobs(self.n_jobs)):
            call(
                library.imp_cluster_assign,
                address(centers),
                len(centers),
                address(points),
                *points.shape,
                address(labels),
            )
        return self._output(X, labels, "cluster")

    def transform(self, X: ArrayLike) -> np.ndarray:
        """The distance of each point to each center, (n_points, n_clusters)."""
        check_is_fitted(self)
        points = validate(self, X, reset=False)
        if not np.isfinite(points).all():
            row, column = np.argwhere(~np.isfinite(points))[0]
            raise ValueError(
                f"X has {points[row, column]} in row {row}, column {column}; values are finite (no NaN "
                "or infinity)"
            )
        centers = np.asarray(self.cluster_centers_, float)
        distances = np.empty((len(points), len(centers)))
        for begin in range(0, len(points), 1024):  # so many at a time
            block = points[begin : begin + 1024].astype(float)
            for c, center in enumerate(centers):
                distances[begin : begin + 1024, c] = np.sqrt(((block - center) ** 2).sum(axis=1))
        return self._output(X, distances, self.get_feature_names_out())

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names for the columns of `transform`: dpmeans0, dpmeans1 and so on."""
        check_is_fitted(self)
        stem = type(self).__name__.lower()
        return np.array([f"{stem}{c}" for c in range(len(self.cluster_centers_))], object)

    def fit_transform(self, X: ArrayLike, y: Any = None) -> np.ndarray:
        """Clusters the points, and gives their distances to all centers."""
        return self.fit(X).transform(X)

    def plot(self, X: ArrayLike, *, ax: Any = None) -> Any:
        """Draws points in the colours of their clusters, and the centers among them.

        Parameters
        ----------
        X : array-like of shape (n_points, n_features)
        ax : matplotlib axes, optional

        Returns
        -------
        matplotlib axes
        """
        from . import plot

        return plot.map(
            np.asarray(X),
            np.asarray(self.predict(X)),
            centers=self.cluster_centers_,
            center_weights=self.cluster_sizes_,
            unlabeled=None,
            ax=ax,
        )

    def _found(self) -> list[tuple[str, Any]]:
        sizes = np.sort(self.cluster_sizes_)[::-1].tolist()
        return [
            ("clusters", len(sizes)),
            ("found by", self.choice_["by"]),
            ("points in each", listed(sizes)),
            ("threshold", self.lambda_),
            ("passes", f"{self.n_iter_}, {'' if self.converged_ else 'not '}converged"),
        ]

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "labels_")

    def _more_tags(self) -> dict[str, Any]:
        """scikit-learn's checks that cannot be passed, and why."""
        reason = "it wants no more than n_clusters, which is about how many are wanted"
        return {"_xfail_checks": {"check_clustering": reason}}

    def __sklearn_tags__(self) -> Any:
        return mark_transformer(super().__sklearn_tags__())  # type: ignore[misc]


class DPMeans(_Clusterer):
    """DP-means (Kulis and Jordan, 2012): k-means that finds its k.

    Every point goes to the nearest cluster, or starts one if it is farther than a threshold from
    all; the centers move to the means of their points, until nothing changes. The clusters depend
    on the order in which points are taken.

    Parameters
    ----------
    n_clusters : int, optional
        How many are wanted; there are fewer only where points coincide.
    threshold : float or 'auto', default='auto'
        Squared distance beyond which a point starts a cluster, called lambda in the paper. With
        'auto', and no `n_clusters`, the points choose how many clusters there are: half of a sample
        of up to 8000 makes small groups, and the other half tells which of them are apart.
    order : {'auto', 'given', 'random', 'farthest-first'}, default='auto'
        In which to take the points where a threshold is given. 'auto' is 'given'.
    max_iter : int, optional
        Passes to make at most; by default as many as it takes.
    seed : int, default=1
        Of the random order.
    n_jobs : int, optional
        Threads to use; None and -1 are as many as there are processors. Results do not depend on it.

    Attributes
    ----------
    labels_ : ndarray of shape (n_points,)
        The cluster of each point.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
    cluster_sizes_ : ndarray of shape (n_clusters,)
    lambda_ : float
        The threshold, as given; where points chose, the largest squared distance of a point from
        its center.
    cluster_labels_ : ndarray of shape (n_clusters,) or None
        The class of the labelled points in a cluster or -1, where labels were given.
    choice_ : dict
        How that came about: `by` is 'given', 'apart' (points held out told groups apart), 'wanted',
        'gap' (of few points) or 'likely' (groups of spherical noise); `sampled` points were looked
        at, which began as `groups`, and `apart` is the evidence, in nats, that the least clear two
        of the clusters are two, infinite where `by` is not 'apart'.
    inertia_ : float
        Sum of the squared distances of the points to their centers.
    objective_ : float
        `inertia_` and `lambda_` for every cluster, which is what DP-means makes small.
    n_iter_ : int
        Passes made.
    converged_ : bool
        Whether the last pass changed nothing.
    n_features_in_ : int

    Examples
    --------
    >>> from pyimp import DPMeans
    >>> model = DPMeans().fit([[0, 0], [1, 0], [50, 0], [51, 0], [0, 90], [0, 91]])
    >>> model.labels_
    array([0, 0, 1, 1, 2, 2], dtype=int32)
    >>> model.predict([[49, 2]])
    array([1], dtype=int32)
    """

    _method = b"dp-means"

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        threshold: float | str = "auto",
        order: str = "auto",
        max_iter: int | None = None,
        seed: int = 1,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.threshold = threshold
        self.order = order
        self.max_iter = max_iter
        self.seed = seed
        self.n_jobs = n_jobs

    def _numbers(self) -> dict[str, tuple[str, Any]]:
        return {} if self.max_iter is None else {"steps": ("max_iter", self.max_iter)}


class InfiniteMixtureClustering(_Clusterer):
    """Clustering by the rule of infinite mixture prototypes, with no labels at all.

    As `DPMeans`, but a point belongs to every cluster by the share that its density there has in
    all, which is less at the mercy of the points' order.

    Parameters
    ----------
    n_clusters, threshold, order, seed, n_jobs
        As in `DPMeans`.
    sigma : float or 'auto', default='auto'
        Variance of a cluster. 'auto' is of the points' own scale, or 5 with a threshold.
    steps : int or 'auto', default='auto'
        Passes to make. 'auto' is 5.

    Attributes
    ----------
    sigma_ : float
        The variance, as given or chosen.
    labels_, cluster_centers_, cluster_sizes_, lambda_, choice_, inertia_, objective_, n_iter_, \
converged_, n_features_in_
        As in `DPMeans`; a label is the densest cluster.

    Examples
    --------
    >>> from pyimp import InfiniteMixtureClustering
    >>> model = InfiniteMixtureClustering(n_clusters=2)
    >>> model.fit_predict([[0, 0], [1, 0], [50, 0], [51, 0]])
    array([0, 0, 1, 1], dtype=int32)
    """

    _method = b"imp"

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        threshold: float | str = "auto",
        sigma: float | str = "auto",
        steps: int | str = "auto",
        order: str = "auto",
        seed: int = 1,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.threshold = threshold
        self.n_jobs = n_jobs
        self.sigma = sigma
        self.steps = steps
        self.order = order
        self.seed = seed

    def _numbers(self) -> dict[str, tuple[str, Any]]:
        return {"sigma_u": ("sigma", self.sigma), "steps": ("steps", self.steps)}

    def _take(self, found: _api.Clustering) -> None:
        super()._take(found)
        self.sigma_ = found.sigma
