#!/usr/bin/env python3
"""Points of classes that nobody showed: how many known points `open_set` sends to none of the classes,
and how well it tells the others.

Every draw takes half of a set's classes as known, so many labelled points of each, and unlabelled ones:
none, up to 300 of the known classes, or 150 of these and 150 of the others. Asked are up to 500 points of
the known classes and 500 of the others. Writes FOLDER/open-set.json and FOLDER/open-set.md.

    python3 bench/open_set.py [--draws N] [--sets A,B] [--embeddings FOLDER] results/vectors
"""
import argparse
import json
import warnings
from pathlib import Path

import numpy as np
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import NearestNeighbors

import vectors
from vectors import InfiniteMixturePrototypes, both, draw

SHOTS, RATE, ASKED = (5, 20), 0.05, 500


def measure(x, y, shot, seed):
    """Rows for each kind of unlabelled points, or nothing where there are too few points."""
    random = np.random.RandomState(seed)
    classes = random.permutation(np.unique(y))
    known = np.isin(y, classes[: max(2, len(classes) // 2)])
    strange = x[~known][random.permutation((~known).sum())]
    x, y = x[known], y[known]
    if shot * len(np.unique(y)) > len(y) // 2 or len(strange) < 40:
        return []
    labeled, unlabeled, test = draw(y, shot, seed)
    shown = min(150, len(strange) // 2)
    queries = np.concatenate([x[test][:ASKED], strange[shown : shown + ASKED]])
    truth = np.arange(len(queries)) >= len(test[:ASKED])
    neighbor = NearestNeighbors(n_neighbors=1).fit(x[labeled]).kneighbors(queries)[0][:, 0]
    kinds = {
        "none": None,
        "known": x[unlabeled],
        "known and strange": np.concatenate([x[unlabeled][:150], strange[:shown]]),
    }
    rows = []
    for kind, more in kinds.items():
        points = (x[labeled], y[labeled]) if more is None else both(x[labeled], y[labeled], more)
        model = InfiniteMixturePrototypes(open_set=True, open_set_rate=RATE).fit(*points)
        none = model.predict_proba(queries)[:, -1]
        rejected = model.predict(queries) == -1
        rows.append(
            {
                "unlabelled": kind,
                "rate": float(rejected[~truth].mean()),
                "found": float(rejected[truth].mean()),
                "auroc": float(roc_auc_score(truth, none)),
                "auroc_neighbor": float(roc_auc_score(truth, neighbor)),
            }
        )
    return rows


def table(rows):
    lines = [
        "| set | labels | unlabelled | known sent to none | others sent to none | AUROC | of 1-NN's distance |",
        "|---|---|---|---|---|---|---|",
    ]
    for key in dict.fromkeys((r["set"], r["labels"], r["unlabelled"]) for r in rows):
        these = [r for r in rows if (r["set"], r["labels"], r["unlabelled"]) == key]
        mean = {n: np.mean([r[n] for r in these]) for n in ("rate", "found", "auroc", "auroc_neighbor")}
        lines.append(
            "| " + " | ".join(map(str, key)) + f" | {100 * mean['rate']:.1f}% | {100 * mean['found']:.0f}% | "
            f"{mean['auroc']:.3f} | {mean['auroc_neighbor']:.3f} |"
        )
    return "\n".join(lines)


def report(rows, draws):
    rates = [row["rate"] for row in rows]
    level = np.mean([row["auroc"] >= row["auroc_neighbor"] - 0.005 for row in rows])
    return f"""# Open set: known points and others

`python3 bench/open_set.py --draws {draws}` wrote this page and [open-set.json](open-set.json). Asked for
`open_set_rate={RATE}`, {100 * np.mean(rates):.1f}% of known points were sent to none of the classes in the mean of
{len(rows)} fits (half of them between {100 * np.quantile(rates, 0.25):.1f}% and {100 * np.quantile(rates, 0.75):.1f}%). The area under the curve is at least that of the
distance to the nearest labelled neighbour, less 0.005, in {100 * level:.0f}%.

{table(rows)}
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--sets", help="only these, with commas between them")
    parser.add_argument("--embeddings", help="a folder of NAME.npz with X and y")
    given = parser.parse_args()
    warnings.filterwarnings("ignore")
    found = vectors.sets(given.embeddings)
    if given.sets is not None:
        found = {name: found[name] for name in given.sets.split(",")}
    given.folder.mkdir(parents=True, exist_ok=True)
    rows = []
    for name, load in found.items():
        x, y = load()
        for shot in SHOTS:
            for seed in range(given.draws):
                for row in measure(x, y, shot, seed):
                    rows.append({"set": name, "labels": shot, "draw": seed, **row})
        if rows:
            lines = ",\n".join(json.dumps(row) for row in rows)
            (given.folder / "open-set.json").write_text(f'{{"rows": [\n{lines}\n]}}\n')
            (given.folder / "open-set.md").write_text(report(rows, given.draws))


if __name__ == "__main__":
    main()
