"""Classification by infinite mixture prototypes."""

from __future__ import annotations

import json
import math
import os
import warnings
from collections.abc import Sequence
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from . import _api, _parameters
from ._estimator import (
    BaseEstimator,
    ClassifierMixin,
    check_classification_targets,
    check_is_fitted,
    validate,
)
from ._library import address, threads
from ._lifelong import LifeLong
from ._mixture import Mixture
from ._output import Output, Shown, listed
from ._version import __version__


class _Fitted(NamedTuple):
    """A mixture and what its numbers mean. Replaced as a whole, so that one thread may predict
    while another adds points."""

    mixture: Mixture
    names: np.ndarray  # the label of each class number
    columns: np.ndarray  # the number of each label, in sorted order


class InfiniteMixturePrototypes(  # pyright: ignore[reportIncompatibleVariableOverride]
    LifeLong, Shown, Output, ClassifierMixin, BaseEstimator
):
    """Classifies points by clusters, of which each class has as many as its points need.

    Every class begins as one cluster at the mean of its labelled points. A point that is farther
    than a threshold from all clusters it may join starts a new one; then the means are moved to
    the points, which belong to clusters by soft shares. Points without a label may join any
    cluster, or start clusters without a label. The clusters depend on the order of the points.

    Parameters
    ----------
    alpha : float or 'auto', default='auto'
        Concentration of the Dirichlet process: a larger one makes more clusters. A number asks for
        the paper's rule, as `preset='paper'` does, whose alpha is 0.1.
    sigma_l, sigma_u : float or 'auto', default='auto'
        Variance of the clusters with and without a label, in the squared unit of the points.
    threshold : float or 'auto', default='auto'
        Squared distance beyond which a point starts a cluster, the paper's lambda.
    cluster_steps : int or 'auto', default='auto'
        How often the clustering is repeated. 'auto' is 3 with unlabelled points, else 1.
    open_set : bool, default=False
        Whether a point may be none of the classes; it is then predicted as `unlabeled`.
    unlabeled : default=-1
        What stands in y for a point without a label, beside None and NaN, which always do. None:
        every point has one, so that -1 can be a class. In an array of strings it must be a string
        too, such as ''.
    preset : {'auto', 'paper'}, default='auto'
        What is done about what is 'auto'. With 'auto' the points choose: labelled ones are held out
        in turn, and the metric, threshold and variance that classify them best are taken. 'paper'
        has the numbers of the paper, variances of 5 and a threshold that is estimated.
    metric : {'auto', 'as-is', 'scaled', 'standard', 'unit', 'root', 'cosine'}, default='auto'
        Where points are compared: as they are; centred and scaled; with standardised features;
        centred and scaled to length 1; the same of their square roots; scaled to length 1.
    whiten : bool or 'auto', default='auto'
        Whether the metric divides by the covariance within classes. 'auto' is chosen together with
        the metric, and False for a metric that is given.
    unlabeled_weight : float or 'auto', default='auto'
        What an unlabelled point counts for where a labelled one counts 1, from 0 to 1.
    open_set_rate : float, default=0.05
        The share of known points that `open_set` sends to `unlabeled`, measured by points held out.
    n_jobs : int, optional
        Threads to use; None and -1 are as many as there are processors. Results do not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    n_features_in_ : int
        Dimensions of the points.
    lambda_ : float
        The threshold, as given or estimated.
    rule_ : dict
        `alpha`, `sigma_l`, `sigma_u`, `threshold` and `cluster_steps` as they were used.
    metric_ : str
        The metric, as given or chosen, such as 'unit' or 'unit, whitened'.
    choice_ : dict
        What was chosen and why: `metric`, `whitened`, `unlabeled_weight`, `held_out` (how many
        points), their `loss` and `accuracy`, the `candidates` with their losses,
        `open_set_distance`, `open_set_rate` and `open_set_points` (how many points measured it; they
        promise rates of 1 / (points + 1) and above), and the `views` with metric and weight, where there are several.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        In the metric; `to_metric` takes points there.
    cluster_labels_ : ndarray of shape (n_clusters,)
        The class of each cluster, or `unlabeled`.
    cluster_weights_ : ndarray of shape (n_clusters,)
        How many points went into each, as the sum of their shares.
    cluster_sigmas_ : ndarray of shape (n_clusters,)

    Examples
    --------
    >>> from pyimp import InfiniteMixturePrototypes
    >>> X = [[0, 0], [1, 0], [30, 0], [60, 0], [61, 0]]
    >>> y = [0, 0, 1, 1, -1]
    >>> model = InfiniteMixturePrototypes().fit(X, y)
    >>> model.predict([[2, 0], [59, 0]])
    array([0, 1])
    >>> model.metric_
    'scaled'
    >>> InfiniteMixturePrototypes(preset="paper").fit(X, y).cluster_labels_
    array([0, 1, 1])
    """

    n_features_in_: int

    def __init__(
        self,
        *,
        alpha: float | str = "auto",
        sigma_l: float | str = "auto",
        sigma_u: float | str = "auto",
        threshold: float | str = "auto",
        cluster_steps: int | str = "auto",
        open_set: bool = False,
        unlabeled: Any = -1,
        preset: str = "auto",
        metric: str = "auto",
        whiten: bool | str = "auto",
        unlabeled_weight: float | str = "auto",
        open_set_rate: float = 0.05,
        n_jobs: int | None = None,
    ) -> None:
        self.alpha = alpha
        self.sigma_l = sigma_l
        self.sigma_u = sigma_u
        self.threshold = threshold
        self.cluster_steps = cluster_steps
        self.open_set = open_set
        self.unlabeled = unlabeled
        self.preset = preset
        self.metric = metric
        self.whiten = whiten
        self.unlabeled_weight = unlabeled_weight
        self.open_set_rate = open_set_rate
        self.n_jobs = n_jobs

    # ---- learning ----

    def fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> InfiniteMixturePrototypes:
        """Fits the clusters to points and their labels.

        Parameters
        ----------
        X : array-like of shape (n_points, n_features), or list of arrays
            Used as 32-bit floats, row by row; not copied if it is that already. Several arrays of
            as many rows are views of the same points: each has its metric, and they are joined by
            weights that points held out choose. Points to ask about then come in as many arrays.
        y : array-like of shape (n_points,)
            Labels of any kind, and `unlabeled`, None or NaN for points without one. Where no point
            has a label, `threshold` must be a number.
        sample_weight : array-like of shape (n_points,), optional
            What each point counts for in the means of clusters; points of weight 0 are left out.
            Not with the paper's rule.
        """
        rule = _parameters.rule(
            {
                "alpha": ("alpha", self.alpha),
                "sigma_l": ("sigma_l", self.sigma_l),
                "sigma_u": ("sigma_u", self.sigma_u),
                "lambda": ("threshold", self.threshold),
                "steps": ("cluster_steps", self.cluster_steps),
            }
        )
        weight = self.unlabeled_weight
        options = {
            "preset": _parameters.choice(self.preset, "preset", _api.PRESETS),
            "metric": _parameters.choice(self.metric, "metric", _api.METRICS),
            "whitening": _parameters.choice(self.whiten, "whiten", _api.WHITENINGS),
            "unlabeled_weight": (
                math.nan
                if weight == "auto"
                else _parameters.share(weight, "unlabeled_weight", "or 'auto'")
            ),
            "open_set_rate": _parameters.share(self.open_set_rate, "open_set_rate"),
        }
        jobs = _parameters.jobs(self.n_jobs)
        y, missing = self._find_missing(y)
        X, dimensions = _join_views(X)
        if len(dimensions) > 1:
            options["view_count"] = len(dimensions)
            options["view_dimensions"] = address(dimensions)
        points, labels = validate(self, X, y)
        if sample_weight is not None:
            weights = _check_weights(sample_weight, len(points))
            some = weights > 0
            points, labels, missing = points[some], labels[some], missing[some]
            weights = np.ascontiguousarray(weights[some])
            options["point_weight"] = address(weights)
        numbers, names = self._number(labels, missing, np.empty(0, labels.dtype))
        with _parameters.our_words(), threads(jobs):
            mixture = Mixture.fit(points, numbers, rule, **options)
        self._take(mixture, names)
        choice = mixture.choice
        if choice.little:
            warnings.warn(
                "the labels say little: no class has two labelled points, or there is one class, so "
                "metric and variance are the usual ones and were not chosen",
                stacklevel=2,
            )
        if choice.every_point:
            warnings.warn("every labelled point became a cluster, so the nearest one decides", stacklevel=2)
        least = 1 / (choice.open_set_points + 1)
        if self.open_set and 0 < self.open_set_rate < least < 1:
            warnings.warn(
                f"{choice.open_set_points} labelled points promise values of open_set_rate from "
                f"{least:.2g} on; the threshold for {self.open_set_rate:.2g} is extrapolated",
                stacklevel=2,
            )
        return self

    def partial_fit(
        self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None
    ) -> InfiniteMixturePrototypes:
        """Adds points, one after the other; the first call fits.

        A point joins the clusters of its class by the soft rule or starts a new one. Labels not met
        before become new classes. Of all points a sample is kept, up to 2000 labelled and 1000
        unlabelled ones; when enough of it is new, what was chosen is chosen again by it, and the
        clusters are others. With the paper's rule variances and threshold stay as they were, and
        no points are kept. One call or many give the same bits.

        Parameters
        ----------
        X, y
            As in `fit`.
        classes : array-like, optional
            If given, labels that are not among these are refused.
        """
        filled, missing = self._find_missing(y)
        if classes is not None:
            self._check_among(np.asarray(filled)[~missing], np.asarray(classes))
        if not self.__sklearn_is_fitted__():
            return self.fit(X, y)
        points, labels = validate(self, self._join(X), filled, reset=False)
        numbers, names = self._number(labels, missing, self._fitted.names)
        with threads(_parameters.jobs(self.n_jobs)):
            self._take(self._fitted.mixture.add(points, numbers), names)
        return self

    def fit_predict(self, X: ArrayLike, y: ArrayLike) -> np.ndarray:
        """Fits, and predicts the same points: those without a label get one."""
        return self.fit(X, y).predict(X)

    def _check_among(self, labels: np.ndarray, classes: np.ndarray) -> None:
        strange = labels[~np.isin(labels, classes) & ~self._is_unlabeled(labels)]
        if len(strange) > 0:
            raise ValueError(f"y has the label {_told(strange[0])}, which is not among the classes")

    def _find_missing(self, y: ArrayLike) -> tuple[ArrayLike, np.ndarray]:
        """The labels, and which of them are missing: None, or NaN as pandas has it. These are
        given the label of another point, so that all are of one kind."""
        if type(getattr(y, "dtype", None)).__module__.startswith("pandas"):
            y = np.asarray(y, object)  # such as string, Int64 and boolean, which have a missing of their own
        labels = np.asarray(y, None if hasattr(y, "__array__") else object)
        if y is None or labels.dtype.kind not in "fO":
            return y, np.zeros(labels.size, bool)
        missing = np.array([_is_missing(label) for label in labels.flat], bool)
        if not missing.any():
            return y, missing
        if self.unlabeled is None:
            raise ValueError(
                f"y has no label for point {missing.argmax()}, but unlabeled=None says that every "
                "point has one"
            )
        present = labels.ravel()[~missing]
        labels = labels.copy()
        labels.flat[missing] = present[0] if len(present) > 0 else 0
        return labels, missing

    def _is_unlabeled(self, labels: np.ndarray) -> np.ndarray:
        marker = self.unlabeled
        if marker is None:
            return np.zeros(len(labels), bool)
        texts = labels.dtype.kind in "US"
        if texts and not isinstance(marker, str) and str(marker) in labels.astype(str):
            raise ValueError(
                f"y has the label '{marker}', a string, but unlabeled is the number {marker}; give "
                f"unlabeled='{marker}', or unlabeled=None if it is a class"
            )
        return np.asarray(labels.astype(object) == marker, bool)

    def _number(
        self, labels: np.ndarray, missing: np.ndarray, names: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """The labels by number, -1 for none, and the names of all numbers: known ones keep their
        numbers, and new ones follow as they come, so that calls can be cut anywhere; the first ones
        are sorted."""
        labeled = ~self._is_unlabeled(labels) & ~missing
        numbers = np.full(len(labels), -1, np.int32)
        if not np.any(labeled):
            return numbers, names
        given = labels[labeled]
        if given.dtype.kind == "O" and not _is_text(given[0]):
            given = np.array(given.tolist())  # numbers that stood among None
        try:
            check_classification_targets(given)
            found, first, inverse = np.unique(given, return_index=True, return_inverse=True)
        except TypeError as reason:
            raise ValueError(
                "y has labels that cannot be sorted; all are numbers, or all are strings"
            ) from reason
        if len(names) > 0 and _is_text(found[0]) != _is_text(names[0]):
            raise ValueError(
                f"y has labels like {_told(found[0])}, the classes are like {_told(names[0])}"
            )
        unknown = ~np.isin(found, names)
        if len(names) > 0:
            names = np.concatenate([names, found[unknown][np.argsort(first[unknown])]])
        else:
            names = found
        order = np.argsort(names)
        numbers[labeled] = order[np.searchsorted(names, found, sorter=order)][inverse]
        return numbers, names

    def _take(self, mixture: Mixture, names: np.ndarray) -> None:
        columns = np.argsort(names)
        self._fitted = _Fitted(mixture, names, columns)
        self.classes_ = names[columns]

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_fitted")

    # ---- asking ----

    def predict(self, X: ArrayLike) -> np.ndarray:
        """The class of each point, which is that of the densest cluster.

        With `open_set`, `unlabeled` for points far from all labelled ones.
        """
        points, fitted = self._prepare(X)
        numbers = np.empty(len(points), np.int32)
        with threads(_parameters.jobs(self.n_jobs)):
            fitted.mixture.predict(points, self.open_set, label=numbers)
        if self.open_set or len(fitted.names) == 0:
            return self._output(X, _with(fitted.names, self.unlabeled)[numbers], "class")
        return self._output(X, fitted.names[numbers], "class")

    def predict_proba(self, X: ArrayLike) -> np.ndarray:
        """The probability of each class, in the order of `classes_`.

        With `open_set` there is one column more, the last: none of the classes.
        """
        points, fitted = self._prepare(X)
        classes = len(fitted.names)
        probabilities = np.empty((len(points), classes + bool(self.open_set)), np.float32)
        numbers = np.empty(len(points), np.int32)
        with threads(_parameters.jobs(self.n_jobs)):
            fitted.mixture.predict(
                points, self.open_set, probability=probabilities, label=numbers
            )
        if np.any(np.diff(fitted.columns) < 0):
            probabilities[:, :classes] = probabilities[:, fitted.columns]
            _agree(probabilities, np.append(np.argsort(fitted.columns), classes)[numbers])
        columns = [*fitted.names[fitted.columns], *(["none"] if self.open_set else [])]
        return self._output(X, probabilities, columns)

    def apply(
        self, X: ArrayLike, return_distance: bool = False
    ) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
        """The cluster that decides about each point, and its squared distance if wanted."""
        points, fitted = self._prepare(X)
        clusters, distances = np.empty(len(points), np.int32), np.empty(len(points), np.float32)
        fitted.mixture.predict(points, self.open_set, cluster=clusters, distance=distances)
        return (clusters, distances) if return_distance else clusters

    def predict_log_proba(self, X: ArrayLike) -> np.ndarray:
        """The logarithm of `predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def score(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> float:
        """The share of points whose class is predicted, of those that have a label: so searches over
        parameters can be given unlabelled points."""
        filled, missing = self._find_missing(y)
        labels = np.asarray(filled)
        known = ~(self._is_unlabeled(labels) | missing)
        if not known.any():
            raise ValueError("y has no labels to score by")
        right = self.predict(X)[known] == labels[known]
        weights = None if sample_weight is None else np.asarray(sample_weight)[known]
        return float(np.average(right, weights=weights))

    def to_metric(self, X: ArrayLike) -> np.ndarray:
        """The points in the metric, where the clusters are."""
        points, fitted = self._prepare(X)
        found = fitted.mixture.transform(points)
        return self._output(X, found, [f"metric{k}" for k in range(found.shape[1])])

    def _prepare(self, X: ArrayLike) -> tuple[np.ndarray, _Fitted]:
        check_is_fitted(self)
        return validate(self, self._join(X), reset=False), self._fitted

    def _join(self, X: ArrayLike | Sequence[np.ndarray]) -> ArrayLike:
        """Points whose views, if there are several, are those that were fitted."""
        joined, dimensions = _join_views(X)
        known = [view.dimensions for view in self._fitted.mixture.views]
        if list(dimensions) != known:
            raise ValueError(
                f"X has views of {list(dimensions) or 'one kind'}, and the model was fitted to "
                f"{known or 'one kind'}: so many features each"
            )
        return joined

    # ---- what was found ----

    @property
    def lambda_(self) -> float:
        return getattr(self._fitted.mixture.summary.rule, "lambda")

    @property
    def rule_(self) -> dict[str, float | str]:
        return _parameters.parameters_of(self._fitted.mixture.summary.rule)

    @property
    def metric_(self) -> str:
        return _metric_name(self._fitted.mixture.choice)

    @property
    def choice_(self) -> dict[str, Any]:
        choice = self._fitted.mixture.choice
        return {
            "metric": _METRIC_NAMES[choice.metric],
            "whitened": choice.whitened,
            "unlabeled_weight": choice.unlabeled_weight,
            "held_out": choice.held_out,
            "loss": choice.loss,
            "accuracy": choice.accuracy,
            "open_set_distance": choice.open_set_distance,
            "open_set_rate": choice.open_set_rate,
            "open_set_points": choice.open_set_points,
            "little": choice.little,
            "every_point": choice.every_point,
            "candidates": {
                _metric_name(candidate): candidate.loss
                for candidate in self._fitted.mixture.candidates
            },
            "views": [
                {
                    "dimensions": view.dimensions,
                    "metric": _METRIC_NAMES[view.metric],
                    "weight": view.weight,
                    "loss": view.loss,
                }
                for view in self._fitted.mixture.views
            ],
        }

    @property
    def cluster_centers_(self) -> np.ndarray:
        return self._fitted.mixture.clusters.mean

    @property
    def cluster_labels_(self) -> np.ndarray:
        return _with(self._fitted.names, self.unlabeled)[self._fitted.mixture.clusters.label]

    @property
    def cluster_weights_(self) -> np.ndarray:
        return self._fitted.mixture.clusters.weight

    @property
    def cluster_sigmas_(self) -> np.ndarray:
        return self._fitted.mixture.clusters.sigma

    def _found(self) -> list[tuple[str, Any]]:
        choice, labels = self.choice_, self.cluster_labels_.tolist()
        rows = [("classes", len(self.classes_)), ("metric", self.metric_)]
        if choice["held_out"]:
            rows.append(("held out", f"{choice['held_out']} points, {choice['accuracy']:.1%} right"))
        rows.append(("threshold", self.lambda_))
        several = [name for name in self.classes_ if labels.count(name) > 1]
        rows.append(("clusters", len(labels)))
        if several:
            rows.append(("classes of several clusters", listed(several)))
        return rows

    def plot(self, X: ArrayLike, y: ArrayLike | None = None, *, ax: Any = None) -> Any:
        """Draws points and the clusters among them, where the model compares them.

        Parameters
        ----------
        X : array-like of shape (n_points, n_features)
        y : array-like of shape (n_points,), optional
            Labels to colour them by; by default what is predicted.
        ax : matplotlib axes, optional

        Returns
        -------
        matplotlib axes
        """
        from . import plot

        given, missing = self._find_missing(self.predict(X) if y is None else y)
        labels = np.asarray(given).astype(object)
        labels[missing] = self.unlabeled
        return plot.map(
            np.asarray(self.to_metric(X)),
            labels,
            centers=self.cluster_centers_,
            center_labels=self.cluster_labels_,
            center_weights=self.cluster_weights_,
            unlabeled=self.unlabeled,
            ax=ax,
        )

    # ---- files ----

    def save(self, path: str | os.PathLike) -> None:
        """Writes a safetensors file, which `load` and the command `imp` read.

        The command knows classes by their number: 0 is the first one fitted. Labels must be
        strings, numbers or bools.
        """
        check_is_fitted(self)
        names = self._fitted.names
        note = {
            "pyimp": __version__,
            "parameters": self.get_params(),
            "classes": {"dtype": names.dtype.str, "values": names.tolist()},
        }
        try:
            text = json.dumps(note, default=lambda scalar: scalar.item())
        except (AttributeError, TypeError) as reason:
            raise ValueError(
                "labels and parameters that are saved are strings, numbers or bools"
            ) from reason
        self._fitted.mixture.save(path, text)

    @classmethod
    def load(cls, path: str | os.PathLike) -> InfiniteMixturePrototypes:
        """Reads what `save` or the command `imp fit` wrote.

        The command's files hold no more than the mixture: classes are the integers from 0 on.
        """
        mixture = Mixture.load(path)
        summary = mixture.summary
        try:
            parameters, names = _read_note(mixture)
            model = cls(**parameters)
        except (KeyError, TypeError) as reason:
            raise ValueError(
                f"{os.fspath(path)}: its note is none that pyimp {__version__} understands"
            ) from reason
        if len(names) != summary.classes:
            raise ValueError(
                f"{os.fspath(path)}: it names {len(names)} classes and has {summary.classes}; the "
                "others were added by a program that knows no names"
            )
        model.n_features_in_ = summary.dimensions
        model._take(mixture, names)
        return model

    def _more_tags(self) -> dict[str, Any]:
        """scikit-learn's checks that cannot be passed, and why."""
        if self.unlabeled is None:
            return {}
        reason = "it takes -1 for a class, which is no label unless unlabeled=None"
        return {"_xfail_checks": {"check_classifiers_classes": reason}}

    def __sklearn_tags__(self) -> Any:
        return super().__sklearn_tags__()  # type: ignore[misc] # for scikit-learn 1.6 and later


def _read_note(mixture: Mixture) -> tuple[dict[str, Any], np.ndarray]:
    """The parameters and the names of the classes; without a note of ours, what the mixture
    itself tells."""
    try:
        note = json.loads(mixture.note or "{}")
    except ValueError:
        note = {}
    if isinstance(note, dict) and "pyimp" in note:
        names = np.array(note["classes"]["values"], note["classes"]["dtype"])
        return note["parameters"], names
    summary, choice = mixture.summary, mixture.choice
    names = np.arange(summary.classes)
    if isinstance(note, dict) and "classes" in note:  # the command's
        names = np.array(note["classes"]["values"], note["classes"]["dtype"])
    if mixture.chose:
        metric = {"metric": _METRIC_NAMES[choice.metric], "whiten": bool(choice.whitened)}
        return metric, names
    return _parameters.parameters_of(summary.rule), names


def _join_views(X: ArrayLike | Sequence[np.ndarray]) -> tuple[ArrayLike, np.ndarray]:
    """Views side by side, and how many features each has; X itself and none if it is one array."""
    if not isinstance(X, (list, tuple)) or not all(getattr(view, "ndim", 0) == 2 for view in X):
        return X, np.empty(0, np.uintp)
    views = [np.asarray(view) for view in X]
    if len(views) < 2:
        return views[0] if views else X, np.empty(0, np.uintp)
    if len({len(view) for view in views}) > 1:
        raise ValueError(
            f"the views have {', '.join(str(len(view)) for view in views)} rows; they are of the "
            "same points, in the same order"
        )
    return np.hstack(views), np.array([view.shape[1] for view in views], np.uintp)


_METRIC_NAMES = {number: name for name, number in _api.METRICS.items()}


def _metric_name(chosen: _api.MixtureChoice | _api.MixtureCandidate) -> str:
    return _METRIC_NAMES[chosen.metric] + (", whitened" if chosen.whitened else "")


def _is_missing(label: Any) -> bool:
    """None, NaN, or what pandas has for them."""
    if label is None or type(label).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(label, Real) and label != label


def _check_weights(sample_weight: ArrayLike, count: int) -> np.ndarray:
    weights = np.asarray(sample_weight, float)
    if weights.ndim == 0:
        weights = np.full(count, float(weights))
    if weights.shape != (count,):
        raise ValueError(f"sample_weight has the shape {weights.shape}; each point has one weight")
    if not np.all(np.isfinite(weights) & (weights >= 0)) or not weights.any():
        raise ValueError("sample_weight has to be finite, at least 0, and not zero for all points")
    return weights


def _agree(probabilities: np.ndarray, chosen: np.ndarray) -> None:
    """Where probabilities are equal, their first largest is not the class that was chosen: it is made
    the next larger number."""
    for i in np.flatnonzero(probabilities.argmax(axis=1) != chosen):
        row = probabilities[i]
        row[chosen[i]] = np.nextafter(row.max(), np.float32(np.inf))


def _told(label: Any) -> str:
    """As people write it; NumPy 2 would tell its type."""
    return repr(label.item() if isinstance(label, np.generic) else label)


def _is_text(label: Any) -> bool:
    return isinstance(label, (str, bytes))


def _with(names: np.ndarray, marker: Any) -> np.ndarray:
    """The names and behind them the marker, where the number -1 finds it."""
    numbers = names.dtype.kind in "iuf" and isinstance(marker, Real)
    texts = names.dtype.kind == "U" and isinstance(marker, str)
    if numbers or texts:
        return np.append(names, np.array([marker]))
    table = np.empty(len(names) + 1, object)
    table[:-1], table[-1] = names, marker
    return table
