#!/usr/bin/env python3
"""Learning on: ten tasks that come one after the other, each with classes of its own.

After every task all methods are asked about test points of all classes so far. imp learns on by
partial_fit, which keeps a sample of what it has seen; next to it are imp fitted again to everything,
and the nearest class mean, which forgets nothing and needs no more than a mean per class. A stream
of unlabelled points that follows a few labelled ones is measured, too. Defaults only. Writes
FOLDER/lifelong.json and FOLDER/README.md.

    python3 bench/lifelong.py [--draws N] [--embeddings FOLDER] results/lifelong

Sets: fashion-MNIST (Debian's dataset-fashion-mnist) as 50 principal components of its test points,
a class per task, and every NAME.npz with X and y in the folder of embeddings, a tenth of the classes
per task. A draw is an order of the classes and a choice of the points to test on, a fifth.
"""
import argparse
import json
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import sklearn
from sklearn.neighbors import NearestCentroid

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))
sys.path.insert(0, str(Path(__file__).resolve().parent))
from clusters import FASHION, components  # noqa: E402
from pyimp import InfiniteMixturePrototypes, _version  # noqa: E402

TASKS, FEW = 10, 500
METHODS = ("imp, learning on", "imp, fitted again", "nearest class mean")


def sets(embeddings):
    found = {"fashion PCA-50": components} if FASHION.is_dir() else {}
    for path in sorted(Path(embeddings).glob("*.npz")) if embeddings else []:
        found[path.stem] = lambda path=path: (np.load(path)["X"], np.load(path)["y"])
    return found


def tasks(x, y, seed):
    """Points to learn, task by task, and which are for testing."""
    random = np.random.default_rng(seed)
    test = np.zeros(len(x), bool)
    test[random.permutation(len(x))[: len(x) // 5]] = True
    parts = np.array_split(random.permutation(np.unique(y)), TASKS)
    return [random.permutation(np.flatnonzero(np.isin(y, part) & ~test)) for part in parts], test


def timed(action):
    begin = time.process_time()
    result = action()
    return result, time.process_time() - begin


def nearest_mean(x, y):
    """None of one class alone, which scikit-learn refuses."""
    return NearestCentroid().fit(x, y) if len(np.unique(y)) > 1 else None


def one_after_the_other(x, y, seed):
    """Accuracy on all classes seen after each task, and the time that learning took."""
    parts, test = tasks(x, y, seed)
    accuracy = {method: [] for method in METHODS}
    seconds = dict.fromkeys(METHODS, 0.0)
    model = InfiniteMixturePrototypes()
    for task in range(TASKS):
        new, seen = parts[task], np.concatenate(parts[: task + 1])
        asked = test & np.isin(y, np.unique(y[seen]))
        makers = {
            METHODS[0]: lambda: model.partial_fit(x[new], y[new]),
            METHODS[1]: lambda: InfiniteMixturePrototypes().fit(x[seen], y[seen]),
            METHODS[2]: lambda: nearest_mean(x[seen], y[seen]),
        }
        for method, make in makers.items():
            made, spent = timed(make)
            right = made.predict(x[asked]) == y[asked] if made else np.ones(1)  # one class alone
            accuracy[method].append(float(np.mean(right)))
            seconds[method] += spent
    return {"accuracy": accuracy, "seconds": seconds, "clusters": len(model.cluster_labels_)}


def a_stream(x, y, seed):
    """FEW labelled points, then all others without labels."""
    order = np.random.default_rng(seed).permutation(len(x))
    test, few, rest = order[: len(x) // 5], order[len(x) // 5 :][:FEW], order[len(x) // 5 :][FEW:]
    model = InfiniteMixturePrototypes().fit(x[few], y[few])
    before = float(np.mean(model.predict(x[test]) == y[test]))
    model.partial_fit(x[rest], np.full(len(rest), -1))
    after = float(np.mean(model.predict(x[test]) == y[test]))
    return {"before": before, "after": after, "points": len(rest)}


def run(found, draws):
    rows = []
    for name, load in found.items():
        x, y = load()
        x = np.ascontiguousarray(x, np.float32)
        for seed in range(draws):
            row = {"set": name, "draw": seed, "classes": len(np.unique(y)), "points": len(x)}
            row["tasks"] = one_after_the_other(x, y, seed)
            row["stream"] = a_stream(x, y, seed)
            rows.append(row)
            last = {m: round(a[-1], 3) for m, a in row["tasks"]["accuracy"].items()}
            print(name, seed, last, row["stream"], file=sys.stderr, flush=True)
    return rows


def report(data):
    lines = [
        "# Learning on",
        "",
        f"`{data['command']}` wrote this page and [lifelong.json](lifelong.json), with imp "
        f"{data['imp']} and scikit-learn {data['sklearn']}: {data['draws']} draws, defaults only.",
        "",
        "Ten tasks come one after the other, each with classes of its own: accuracy in % on test points of all",
        "classes seen, after tasks 2, 4, 6, 8 and 10, and the CPU seconds that learning took in all (on a machine",
        "that was busy with other things). Learning on keeps a sample of 2000 labelled points; fitting again",
        "keeps all of them.",
        "",
        "| set | classes | method | 2 | 4 | 6 | 8 | 10 | s |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    names = dict.fromkeys(row["set"] for row in data["rows"])
    for name in names:
        rows = [r for r in data["rows"] if r["set"] == name]
        for method in METHODS:
            curve = 100 * np.mean([r["tasks"]["accuracy"][method] for r in rows], axis=0)
            spent = np.mean([r["tasks"]["seconds"][method] for r in rows])
            cells = " | ".join(f"{value:.1f}" for value in curve[1::2])
            lines.append(f"| {name} | {rows[0]['classes']} | {method} | {cells} | {spent:.1f} |")
    lines += [
        "",
        f"A stream without labels after {FEW} labelled points: accuracy in % before and after it.",
        "[new-kinds.md](new-kinds.md) has streams that bring new classes.",
        "",
        "| set | unlabelled points | before | after |",
        "|---|---|---|---|",
    ]
    for name in names:
        rows = [r["stream"] for r in data["rows"] if r["set"] == name]
        before, after = (100 * np.mean([r[k] for r in rows]) for k in ("before", "after"))
        lines.append(f"| {name} | {rows[0]['points']} | {before:.1f} | {after:.1f} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--embeddings", default="", help="a folder of NAME.npz with X and y")
    given = parser.parse_args()
    warnings.filterwarnings("ignore")
    data = {
        "command": "python3 bench/lifelong.py --embeddings FOLDER results/lifelong",
        "imp": _version.__version__,
        "sklearn": sklearn.__version__,
        "draws": given.draws,
        "rows": run(sets(given.embeddings), given.draws),
    }
    given.folder.mkdir(parents=True, exist_ok=True)
    (given.folder / "lifelong.json").write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    (given.folder / "README.md").write_text(report(data), encoding="utf-8")


if __name__ == "__main__":
    main()
