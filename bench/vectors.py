#!/usr/bin/env python3
"""Vectors by a few labels, defaults only: imp next to six classifiers of scikit-learn.

Every draw takes so many labelled points of each class, up to 300 unlabelled ones and up to 1000 to
test on. Nothing is tuned for a set: each classifier is given the points as they are, or scaled as
the column says, and nothing else. Writes FOLDER/vectors.json and FOLDER/README.md.

    python3 bench/vectors.py [--draws N] [--sets A,B] [--embeddings FOLDER] results/vectors

Sets: scikit-learn's digits, wine, breast cancer and iris; fashion-MNIST, from Debian's package
dataset-fashion-mnist, as pixels, as 50 principal components and in three super-classes; and every
NAME.npz with X and y in the folder of embeddings. A set that is not there is left out and named.
"""
import argparse
import gzip
import json
import os
import platform
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import sklearn
from sklearn import datasets
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))
from pyimp import InfiniteMixturePrototypes, _version  # noqa: E402

FASHION = Path("/usr/share/datasets/fashion-mnist")
SHOTS, UNLABELED, TEST = (1, 5, 20, 50), 300, 1000
SUPER_CLASSES = np.array([0, 0, 0, 0, 0, 1, 0, 1, 2, 1])  # clothes, shoes, bags


def fashion():
    with gzip.open(FASHION / "t10k-images-idx3-ubyte.gz") as file:
        x = np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 784)[:4000]
    with gzip.open(FASHION / "t10k-labels-idx1-ubyte.gz") as file:
        y = np.frombuffer(file.read(), np.uint8, offset=8)[:4000].astype(int)
    return x.astype(np.float32), y


def sets(embeddings):
    """Names, and what makes the points and labels."""

    def bundled(load):
        data = load()
        return data.data.astype(np.float32), data.target

    def components(classes=None):
        x, y = fashion()
        x = PCA(50, random_state=0).fit_transform(x).astype(np.float32)
        return x, y if classes is None else classes[y]

    found = {
        "digits": lambda: bundled(datasets.load_digits),
        "wine": lambda: bundled(datasets.load_wine),
        "breast cancer": lambda: bundled(datasets.load_breast_cancer),
        "iris": lambda: bundled(datasets.load_iris),
    }
    if FASHION.is_dir():
        found["fashion"] = fashion
        found["fashion PCA-50"] = components
        found["fashion super-classes"] = lambda: components(SUPER_CLASSES)
    for path in sorted(Path(embeddings).glob("*.npz")) if embeddings else []:
        found[path.stem] = lambda path=path: (np.load(path)["X"], np.load(path)["y"])
    return found


def draw(y, shot, seed):
    """Indices of labelled points, of unlabelled ones and of those to test on."""
    order = np.random.RandomState(seed).permutation(len(y))
    labeled = np.concatenate([order[y[order] == c][:shot] for c in np.unique(y)])
    rest = order[~np.isin(order, labeled)]
    unlabeled = min(UNLABELED, len(rest) // 2)
    return labeled, rest[:unlabeled], rest[unlabeled : unlabeled + TEST]


def both(x, y, more):
    return np.concatenate([x, more]), np.concatenate([y, np.full(len(more), -1)])


def logistic():
    return LogisticRegression()


CLASSIFIERS = {
    "imp": lambda x, y, u: InfiniteMixturePrototypes().fit(x, y),
    "imp + unlabelled": lambda x, y, u: InfiniteMixturePrototypes().fit(*both(x, y, u)),
    "1-NN": lambda x, y, u: KNeighborsClassifier(1).fit(x, y),
    "centroid": lambda x, y, u: NearestCentroid().fit(x, y),
    "logistic": lambda x, y, u: logistic().fit(x, y),
    "label spreading": lambda x, y, u: LabelSpreading(kernel="knn").fit(*both(x, y, u)),
    "self-training": lambda x, y, u: SelfTrainingClassifier(logistic()).fit(*both(x, y, u)),
    "LDA": lambda x, y, u: LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto").fit(x, y),
}
PROBABLE = ("imp", "imp + unlabelled", "logistic", "label spreading", "self-training", "LDA")


def measure(name, x, y, u, queries, truth):
    begin = time.process_time()
    try:
        model = CLASSIFIERS[name](x, y, u)
        predicted = model.predict(queries)
    except ValueError:
        return None  # LDA of one point per class, for one
    seconds = time.process_time() - begin
    result = {"accuracy": float(np.mean(predicted == truth)), "seconds": seconds}
    if name in PROBABLE:
        probabilities = np.nan_to_num(model.predict_proba(queries).astype(float)) + 1e-12
        probabilities /= probabilities.sum(axis=1, keepdims=True)
        result["log_loss"] = float(log_loss(truth, probabilities, labels=np.unique(y)))
    return result


def cases(found, draws):
    for name, load in found.items():
        x, y = load()
        for scale in ("raw", "standardised"):
            points = x if scale == "raw" else StandardScaler().fit_transform(x)
            points = points.astype(np.float32)
            for shot in SHOTS:
                if shot * len(np.unique(y)) > len(y) // 2:
                    continue
                for seed in range(draws):
                    yield name, scale, shot, seed, points, y


def run(found, draws):
    """Yields all rows so far after every set."""
    rows, last = [], None
    for name, scale, shot, seed, x, y in cases(found, draws):
        if last not in (None, name):
            yield rows
        last = name
        labeled, unlabeled, test = draw(y, shot, seed)
        few = x[labeled], y[labeled], x[unlabeled], x[test], y[test]
        results = {method: measure(method, *few) for method in CLASSIFIERS}
        rows.append({"set": name, "scale": scale, "labels": shot, "draw": seed, "results": results})
        if seed == 0:
            print(name, scale, shot, file=sys.stderr, flush=True)
    yield rows


# ---- the summary ----


def accuracies(row):
    return {m: r["accuracy"] for m, r in row["results"].items() if r}


def shares(rows):
    """The promises, as shares of all draws."""
    gaps = {"two": [], "four": [], "helped": [], "ahead": [], "loss": []}
    for row in rows:
        a = accuracies(row)
        four = [a[m] for m in ("1-NN", "centroid", "logistic", "label spreading") if m in a]
        gaps["two"].append(a["imp"] - max(a["1-NN"], a["centroid"]))
        gaps["four"].append(a["imp"] - max(four))
        gaps["helped"].append(a["imp + unlabelled"] - a["imp"])
        if row["labels"] <= 5:
            gaps["ahead"].append(a["imp + unlabelled"] - max(four))
        results = row["results"]
        gaps["loss"].append(results["logistic"]["log_loss"] - results["imp"]["log_loss"])
    point = -0.01 - 1e-9
    return {
        "within a point of the better of 1-NN and centroid": np.mean(np.array(gaps["two"]) >= point),
        "within a point of the best of 1-NN, centroid, logistic regression and label spreading":
            np.mean(np.array(gaps["four"]) >= point),
        "with 1 or 5 labels and unlabelled points: ahead of all four":
            np.mean(np.array(gaps["ahead"]) > 0),
        "unlabelled points cost no more than a point": np.mean(np.array(gaps["helped"]) >= point),
        "log loss no larger than that of logistic regression": np.mean(np.array(gaps["loss"]) >= 0),
    }


def table(rows, scale):
    lines = ["| set | labels | " + " | ".join(CLASSIFIERS) + " |", "|---" * (len(CLASSIFIERS) + 2) + "|"]
    keys = dict.fromkeys((r["set"], r["labels"]) for r in rows)
    for key in keys:
        these = [r for r in rows if (r["set"], r["labels"], r["scale"]) == (*key, scale)]
        means = {}
        for method in CLASSIFIERS:
            values = [r["results"][method]["accuracy"] for r in these if r["results"][method]]
            if values:
                means[method] = 100 * np.mean(values)
        best = max(means.values())
        cells = [
            "-" if m not in means else f"**{means[m]:.1f}**" if means[m] == best else f"{means[m]:.1f}"
            for m in CLASSIFIERS
        ]
        lines.append(f"| {key[0]} | {key[1]} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def times(rows):
    lines = ["| | " + " | ".join(CLASSIFIERS) + " |", "|---" * (len(CLASSIFIERS) + 1) + "|"]
    for title, key, unit in (("CPU ms, median", "seconds", 1e3), ("log loss, median", "log_loss", 1)):
        cells = []
        for method in CLASSIFIERS:
            found = [r["results"][method] for r in rows if r["results"][method]]
            values = [f[key] for f in found if key in f]
            cells.append(f"{unit * np.median(values):.3g}" if values else "-")
        lines.append(f"| {title} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def report(data):
    rows = data["rows"]
    promises = "\n".join(f"| {what} | {100 * share:.0f}% |" for what, share in data["shares"].items())
    return f"""# Vectors by a few labels, defaults only

`{data["command"]}` wrote this page and [vectors.json](vectors.json): {data["draws"]} draws, up to
{UNLABELED} unlabelled points, up to {TEST} to test on, scikit-learn {data["sklearn"]}. {data["absent"]}

| of {len(rows)} draws | |
|---|---|
{promises}

Time and log loss over all draws:

{times(rows)}

## Points as they are: accuracy in %

{table(rows, "raw")}

## Every feature standardised beforehand

{table(rows, "standardised")}
"""


def write(given, rows, absent):
    data = {
        "command": f"python3 bench/vectors.py --draws {given.draws} --sets '"
        + ",".join(dict.fromkeys(row["set"] for row in rows))
        + ("' --embeddings FOLDER" if given.embeddings else "'")
        + " results/vectors",
        "version": _version.__version__,
        "sklearn": sklearn.__version__,
        "machine": platform.machine(),
        "draws": given.draws,
        "seeds": f"0 to {given.draws - 1}",
        "absent": absent,
        "shares": {what: float(share) for what, share in shares(rows).items()},
        "rows": rows,
    }
    (given.folder / "vectors.json").write_text(json.dumps(data, indent=0) + "\n")
    (given.folder / "README.md").write_text(report(data))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--sets", help="only these, with commas between them")
    parser.add_argument("--embeddings", help="a folder of NAME.npz with X and y")
    given = parser.parse_args()
    warnings.filterwarnings("ignore")
    found = sets(given.embeddings)
    if given.sets:
        found = {name: found[name] for name in given.sets.split(",")}
    absent = "" if FASHION.is_dir() else "fashion-MNIST was not installed."
    os.makedirs(given.folder, exist_ok=True)
    for rows in run(found, given.draws):
        write(given, rows, absent)


if __name__ == "__main__":
    main()
