#!/usr/bin/env python3
"""Which point to label next: labels against accuracy over a pile, next to random and margin sampling.

All three strategies ask a perfect answerer, and what their labels are worth is measured by one and
the same classifier, imp's nearest answered points (Suggester.guess) over the whole pile. Margin
sampling begins with ten random points and then always asks for the least margin of a logistic
regression that is fitted every ten answers. Writes FOLDER/suggest.json, suggest.svg and README.md.

    python3 bench/suggest.py [--draws N] [--sets A,B] [--embeddings FOLDER] results/suggest
"""
import argparse
import json
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))
sys.path.insert(0, str(Path(__file__).resolve().parent))
from clusters import real_sets  # noqa: E402
from pyimp import Suggester, _version  # noqa: E402

STOPS = (10, 20, 50, 100, 200, 300, 400, 500)
MOST = 5000  # points of a pile


def accuracy(suggester, y):
    return float(np.mean(suggester.guess()[0] == y))


def ask_suggested(x, y, seed, stops):
    suggester, found = Suggester(x), []
    for asked in range(1, stops[-1] + 1):
        point = int(suggester.next()[0])
        suggester.answer(point, int(y[point]))
        if asked in stops:
            found.append(accuracy(suggester, y))
    return found


def ask_random(x, y, seed, stops):
    suggester, found = Suggester(x, groups=np.full(len(x), -1)), []
    for asked, point in enumerate(np.random.default_rng(seed).permutation(len(x)), 1):
        suggester.answer(int(point), int(y[point]))
        if asked in stops:
            found.append(accuracy(suggester, y))
        if asked == stops[-1]:
            return found


def ask_margin(x, y, seed, stops):
    suggester, found = Suggester(x, groups=np.full(len(x), -1)), []
    scaled = StandardScaler().fit_transform(x)
    asked = list(np.random.default_rng(seed).permutation(len(x))[:10])
    for point in asked:
        suggester.answer(int(point), int(y[point]))
    while True:
        if len(asked) in stops:
            found.append(accuracy(suggester, y))
        if len(asked) >= stops[-1]:
            return found
        if len(np.unique(y[asked])) > 1:
            model = LogisticRegression(max_iter=200).fit(scaled[asked], y[asked])
            sorted_ = np.sort(model.predict_proba(scaled), axis=1)
            margin = sorted_[:, -1] - sorted_[:, -2]
        else:
            margin = np.random.default_rng(seed).random(len(x))
        margin[asked] = np.inf
        for point in np.argsort(margin, kind="stable")[:10]:
            asked.append(int(point))
            suggester.answer(int(point), int(y[point]))


STRATEGIES = {"suggest": ask_suggested, "random": ask_random, "margin": ask_margin}


def answer_times():
    """Milliseconds of processor time, which other jobs do not change, of an answer and the suggestion
    after it, for piles of two sizes."""
    rows = []
    for points, answers in ((5000, 1000), (100000, 1000)):
        x = np.random.default_rng(0).normal(size=(points, 64)).astype(np.float32)
        suggester = Suggester(x, groups=np.arange(points) % 200)
        for i in range(answers - 20):
            suggester.answer(i, i % 10)
        times = []
        for i in range(answers - 20, answers):
            begin = time.process_time()
            suggester.answer(i, i % 10)
            suggester.next()
            times.append(1000 * (time.process_time() - begin))
        rows.append({"points": points, "answers": answers, "milliseconds": float(np.median(times))})
    return rows


def draw(report, path):
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "imp"
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(report["sets"]), figsize=(4 * len(report["sets"]), 3.2))
    for axis, row in zip(np.atleast_1d(axes), report["sets"]):
        for name, values in row["accuracy"].items():
            axis.plot(row["labels"], [100 * v for v in values], marker="o", label=name)
        axis.set_title(row["set"])
        axis.set_xlabel("labels")
        axis.set_xscale("log")
    np.atleast_1d(axes)[0].set_ylabel("accuracy over the pile, %")
    np.atleast_1d(axes)[0].legend()
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


def write(report, folder):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "suggest.json").write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    lines = [
        "# Which point to label next",
        "",
        f"Written by `bench/suggest.py` with imp {report['imp']}: accuracy in % over the whole pile "
        f"after so many labels, mean of {report['draws']} draws for random and margin sampling; "
        "`suggest` draws nothing. The same classifier measures all three.",
    ]
    for row in report["sets"]:
        stops = row["labels"]
        lines += ["", f"## {row['set']}: {row['points']} points of {row['classes']} classes", ""]
        lines.append("| labels | " + " | ".join(map(str, stops)) + " |")
        lines.append("|---|" + "---|" * len(stops))
        for name, values in row["accuracy"].items():
            lines.append(f"| {name} | " + " | ".join(f"{100 * v:.1f}" for v in values) + " |")
    lines += ["", "![labels against accuracy](suggest.svg)", "", "## An answer and the next question", ""]
    for row in report["times"]:
        lines.append(
            f"- {row['points']} points of 64 dimensions, {row['answers']} answers: "
            f"{row['milliseconds']:.1f} ms of processor time (median of 20)"
        )
    (folder / "README.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--sets", default="")
    parser.add_argument("--embeddings", default="")
    parser.add_argument("--times", action="store_true", help="only measure times, into the report")
    parser.add_argument("folder", type=Path)
    given = parser.parse_args()
    warnings.filterwarnings("ignore")
    path = given.folder / "suggest.json"
    if given.times:
        report = json.loads(path.read_text(encoding="utf-8"))
        report["times"] = answer_times()
        write(report, given.folder)
        return
    report = {"imp": _version.__version__, "draws": given.draws, "sets": [], "times": []}
    for name, load in real_sets(given.embeddings).items():
        if given.sets and name not in given.sets.split(","):
            continue
        x, y = load()
        x, y = np.asarray(x, np.float32)[:MOST], np.unique(y[:MOST], return_inverse=True)[1]
        stops = [stop for stop in STOPS if stop <= len(x) // 2]
        row = {"set": name, "points": len(x), "classes": int(y.max() + 1), "labels": stops}
        row["accuracy"] = {
            strategy: np.mean(
                [ask(x, y, seed, stops) for seed in range(1 if strategy == "suggest" else given.draws)],
                axis=0,
            ).tolist()
            for strategy, ask in STRATEGIES.items()
        }
        print(name, {n: [round(100 * v, 1) for v in a] for n, a in row["accuracy"].items()}, flush=True)
        report["sets"].append(row)
    write(report, given.folder)
    draw(report, given.folder / "suggest.svg")


if __name__ == "__main__":
    main()
