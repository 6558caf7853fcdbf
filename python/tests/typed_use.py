"""The package as somebody with a type checker uses it. Nobody runs this: mypy and pyright read it."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

import pyimp


def classify(x: np.ndarray, y: np.ndarray) -> float:
    model: pyimp.InfiniteMixturePrototypes = pyimp.InfiniteMixturePrototypes(metric="unit").fit(x, y)
    axes: Axes = model.plot(x)
    axes = pyimp.plot.confusion(y, model.predict(x))
    assert axes is not None
    table: str = model._repr_html_()
    return model.score(x, y) + model.lambda_ + len(table)


def cluster(x: np.ndarray) -> np.ndarray:
    labels: np.ndarray = pyimp.DPMeans(n_clusters=3).fit(x).predict(x)
    purity: float = pyimp.metrics.purity(labels, labels)
    return labels if purity > 0 else pyimp.suggest(x, labels, 3)


def episodes() -> list[int]:
    tasks = pyimp.Episodes(pyimp.Dataset("glyphs", size=14), way=5, count=3)
    task: pyimp.Episode = tasks[0]
    method = pyimp.methods.Method("imp", sigma_l=5)
    found = method(task.support, task.support_labels, task.query, task.query_labels)
    loss: float = found.loss
    assert loss >= 0
    return [each.way for each in tasks]


def train(folder: str) -> float:
    run: pyimp.Training = pyimp.train(folder, updates=5, callback=lambda report: report["update"] < 3)
    vectors: np.ndarray = pyimp.Embedding(run.model)(np.zeros((2, 28, 28), np.uint8))
    return pyimp.evaluate(run.model, episodes=5).accuracy + float(vectors.sum())
