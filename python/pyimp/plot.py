"""Figures of points and models, by matplotlib.

Each function draws into `ax`, or into the current axes of pyplot where none are given, and returns
them. Nothing is shown or saved: that is pyplot's business.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from . import _parameters

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_NONE = "0.75"  # the gray of points without a label


def _axes(ax: Axes | None) -> Axes:
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot
    except ImportError as reason:
        raise ImportError("figures need matplotlib: pip install pyimp[plot]") from reason
    return matplotlib.pyplot.gca()


def _colors(count: int) -> np.ndarray:
    import matplotlib

    names = "tab10" if count <= 10 else "tab20" if count <= 20 else "gist_ncar"
    colormap = matplotlib.colormaps[names]
    if count <= 20:
        return np.array([colormap(k) for k in range(count)])
    return colormap(np.linspace(0.02, 0.95, count))


def _plane(points: np.ndarray, sample: int = 5000) -> Any:
    """Two directions in which the points lie widest, as a function of points; signs are settled by
    the largest component, so that a figure is the same every time."""
    points = np.asarray(points, float)
    center = points.mean(axis=0)
    step = max(1, len(points) // sample)
    _, _, directions = np.linalg.svd(points[::step] - center, full_matrices=False)
    directions = directions[:2]
    largest = np.abs(directions).argmax(axis=1)
    directions *= np.sign(directions[np.arange(len(directions)), largest])[:, np.newaxis]

    def project(others: np.ndarray) -> np.ndarray:
        flat = (np.asarray(others, float) - center) @ directions.T
        return np.pad(flat, ((0, 0), (0, 2 - flat.shape[1])))

    return project


def map(  # noqa: A001 - it is one
    points: ArrayLike,
    labels: ArrayLike,
    *,
    centers: ArrayLike | None = None,
    center_labels: ArrayLike | None = None,
    center_weights: ArrayLike | None = None,
    unlabeled: Any = -1,
    ax: Axes | None = None,
) -> Axes:
    """Points in the plane in which they lie widest, with the clusters among them.

    Parameters
    ----------
    points : array-like of shape (n_points, n_features)
    labels : array-like of shape (n_points,)
        What they are coloured by; points of `unlabeled` are gray.
    centers : array-like of shape (n_clusters, n_features), optional
        Drawn as rings, in the colours of `center_labels` and, with `center_weights`, of such area.
    ax : matplotlib axes, optional

    Examples
    --------
    >>> from pyimp import DPMeans, plot
    >>> X = [[0, 0], [1, 0], [50, 0], [51, 0]]
    >>> model = DPMeans().fit(X)
    >>> plot.map(X, model.labels_, centers=model.cluster_centers_).get_title()
    '4 points, 2 clusters'
    """
    ax = _axes(ax)
    points, labels = _parameters.points(points, "points"), np.asarray(labels)
    if not len(points) or not np.isfinite(points).all():
        raise ValueError("points has no rows or values that are not finite; a map needs a point, and finite ones")
    if labels.shape != points.shape[:1]:
        raise ValueError(f"labels has the shape {labels.shape}; each of {len(points)} points has one")
    project = _plane(points)
    flat = project(points)
    none = np.asarray(labels.astype(object) == unlabeled, bool)
    names = np.unique(labels[~none]) if not none.all() else np.empty(0, labels.dtype)
    colors = _colors(len(names))
    size = float(np.clip(20000 / max(len(points), 1), 4, 40))
    ax.scatter(flat[none, 0], flat[none, 1], s=size, color=_NONE, linewidths=0, label="no label" if none.any() else None)
    for name, color in zip(names, colors):
        of_class = flat[~none & (labels == name)]
        ax.scatter(of_class[:, 0], of_class[:, 1], s=size, color=[color], linewidths=0, alpha=0.8, label=str(name))
    title = f"{len(points):,} points"
    if centers is not None:
        places = project(np.asarray(centers))
        own = np.asarray(center_labels if center_labels is not None else np.arange(len(places)))
        weights = np.ones(len(places)) if center_weights is None else np.asarray(center_weights, float)
        areas = 60 + 240 * weights / max(weights.max(), 1e-30)
        color_of = {name: color for name, color in zip(names.tolist(), colors)}
        edges = [color_of.get(name, _NONE) for name in own.tolist()]
        for color, width in (("white", 3.5), (edges, 1.5)):
            ring: dict[str, Any] = {"facecolors": "none", "edgecolors": color, "linewidths": width}
            ax.scatter(places[:, 0], places[:, 1], s=areas, **ring)
        title += f", {len(places)} clusters"
    ax.set(title=title, xticks=[], yticks=[])
    if 0 < len(names) <= 20 and (len(names) > 1 or none.any()):
        ax.legend(fontsize="small", markerscale=1.2, loc="best")
    return ax


def confusion(truth: ArrayLike, predicted: ArrayLike, *, ax: Axes | None = None) -> Axes:
    """How many points of each class, a row, were taken for which, a column.

    Parameters
    ----------
    truth, predicted : array-like of shape (n_points,)
    ax : matplotlib axes, optional

    Examples
    --------
    >>> from pyimp import plot
    >>> plot.confusion(["a", "a", "b"], ["a", "b", "b"]).get_title()
    '2 of 3 right'
    """
    ax = _axes(ax)
    truth, predicted = np.asarray(truth), np.asarray(predicted)
    if truth.shape != predicted.shape or truth.ndim != 1:
        raise ValueError(f"truth has the shape {truth.shape} and predicted {predicted.shape}")
    if not len(truth):
        raise ValueError("there are no points to count")
    names, numbers = np.unique(np.concatenate([truth, predicted]), return_inverse=True)
    rows, columns = numbers[: len(truth)], numbers[len(truth) :]
    counts = np.zeros((len(names), len(names)), int)
    np.add.at(counts, (rows, columns), 1)
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    ax.imshow(shares, cmap="Blues", vmin=0, vmax=1)
    if len(names) <= 15:
        for (row, column), count in np.ndenumerate(counts):
            if count:
                dark = shares[row, column] > 0.5
                ax.text(column, row, count, ha="center", va="center", color="white" if dark else "black")
    if len(names) <= 30:
        ax.set_xticks(range(len(names)), [str(name) for name in names], rotation=90)
        ax.set_yticks(range(len(names)), [str(name) for name in names])
    right = int(np.trace(counts))
    ax.set(title=f"{right:,} of {len(truth):,} right", xlabel="predicted", ylabel="truth")
    return ax


def calibration_error(right: np.ndarray, sure: np.ndarray, bins: int = 10) -> tuple[float, np.ndarray]:
    """The expected calibration error, and for each bin that has points their number, mean confidence
    and accuracy."""
    cells = np.minimum((np.asarray(sure) * bins).astype(int), bins - 1)
    rows = np.array(
        [
            (np.sum(cells == b), sure[cells == b].mean(), right[cells == b].mean())
            for b in range(bins)
            if np.any(cells == b)
        ]
    ).reshape(-1, 3)
    error = float(np.sum(rows[:, 0] * np.abs(rows[:, 1] - rows[:, 2])) / max(rows[:, 0].sum(), 1))
    return error, rows


def reliability(
    truth: ArrayLike,
    probabilities: ArrayLike,
    classes: ArrayLike | None = None,
    *,
    bins: int = 10,
    ax: Axes | None = None,
) -> Axes:
    """Whether predictions that are called 80% sure are right in 80% of the cases.

    Parameters
    ----------
    truth : array-like of shape (n_points,)
    probabilities : array-like of shape (n_points, n_classes)
        Of `predict_proba`.
    classes : array-like of shape (n_classes,), optional
        What the columns stand for: `model.classes_`. By default the labels in `truth`, sorted.
    bins : int, default=10
    ax : matplotlib axes, optional

    Examples
    --------
    >>> from pyimp import plot
    >>> plot.reliability([0, 1], [[1.0, 0.0], [0.0, 1.0]]).get_title()
    'calibration error 0.0%'
    """
    ax = _axes(ax)
    probabilities = np.asarray(probabilities, float)
    classes = np.unique(np.asarray(truth)) if classes is None else np.asarray(classes)
    if probabilities.ndim != 2 or probabilities.shape[1] != len(classes):
        raise ValueError(f"probabilities has the shape {probabilities.shape}, of {len(classes)} classes")
    if probabilities.shape[:1] != np.shape(truth) or not len(probabilities):
        raise ValueError(f"truth has the shape {np.shape(truth)}, and probabilities {len(probabilities)} rows")
    if not ((probabilities >= 0) & (probabilities <= 1)).all():
        raise ValueError("probabilities has values that are not from 0 to 1")
    bins = _parameters.count(bins, "bins", 1, 10**6)
    right = classes[probabilities.argmax(axis=1)] == np.asarray(truth)
    error, rows = calibration_error(right, probabilities.max(axis=1), bins)
    ax.plot([0, 1], [0, 1], color=_NONE, linestyle="--")
    ax.plot(rows[:, 1], rows[:, 2], color="tab:blue")
    ax.scatter(rows[:, 1], rows[:, 2], s=10 + 190 * rows[:, 0] / rows[:, 0].max(), color="tab:blue")
    ax.set(
        title=f"calibration error {100 * error:.1f}%",
        xlabel="how sure the model is",
        ylabel="share that is right",
        xlim=(0, 1.02),
        ylim=(0, 1.02),
    )
    return ax


def labels_against_accuracy(
    X: ArrayLike,
    truth: ArrayLike,
    counts: Sequence[int] | None = None,
    *,
    model: Any = None,
    seed: int = 1,
    ax: Axes | None = None,
) -> Axes:
    """How much of a pile a model gets right after so many labels: asked for in the order of
    `pyimp.suggest`, and drawn at random.

    Parameters
    ----------
    X : array-like of shape (n_points, n_features)
    truth : array-like of shape (n_points,)
        Integers from 0 on.
    counts : sequence of int, optional
        Numbers of labels; by default from one for each class to a fifth of the points.
    model : estimator, optional
        With `fit` and `predict` that take -1 for no label; by default `InfiniteMixturePrototypes()`.
    seed : int, default=1
        Of the random order.
    ax : matplotlib axes, optional

    Examples
    --------
    >>> import numpy as np
    >>> from pyimp import plot
    >>> X = np.concatenate([np.arange(20.0), np.arange(100.0, 120.0)])[:, np.newaxis]
    >>> drawn = plot.labels_against_accuracy(X, [0] * 20 + [1] * 20, [4])
    >>> float(drawn.lines[-2].get_ydata()[0])
    1.0
    """
    from .mixture import InfiniteMixturePrototypes
    from .suggestion import Suggester

    ax = _axes(ax)
    X, truth = np.asarray(X), np.asarray(truth)
    if truth.shape != X.shape[:1] or truth.dtype.kind not in "iu":
        raise ValueError(f"truth needs an integer from 0 on for each of the {len(X)} points")
    if counts is None:
        least, most = len(np.unique(truth)), max(len(X) // 5, len(np.unique(truth)) + 1)
        counts = sorted({int(round(c)) for c in np.geomspace(least, most, 6)})
    counts = [_parameters.count(c, "each of counts", 1, len(X)) for c in counts]
    if len(counts) == 0:
        raise ValueError("counts is empty; it needs a number of labels")

    def accuracy(asked: np.ndarray) -> float:
        known = np.full(len(X), -1, truth.dtype if truth.dtype.kind == "i" else np.int64)
        known[asked] = truth[asked]
        if len(np.unique(truth[asked])) < 2:  # nothing to tell apart yet
            return float(np.mean(truth == truth[asked[0]]))
        fresh = InfiniteMixturePrototypes() if model is None else _unfitted(model)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that few labels say little is what the figure shows
            return float(np.mean(np.asarray(fresh.fit(X, known).predict(X)) == truth))

    suggester = Suggester(X)
    asked: list[int] = []
    while len(asked) < max(counts):
        point = int(suggester.next()[0])
        suggester.answer(point, int(truth[point]))
        asked.append(point)
    random = np.random.default_rng(seed).permutation(len(X))
    for order, name in ((np.array(asked), "as suggested"), (random, "at random")):
        ax.plot(counts, [accuracy(order[:count]) for count in counts], marker="o", label=name)
    ax.set(title=f"{len(X):,} points", xlabel="labels", ylabel="accuracy over all points")
    ax.legend()
    return ax


def _unfitted(model: Any) -> Any:
    return type(model)(**model.get_params(deep=False))
