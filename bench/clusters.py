#!/usr/bin/env python3
"""Find the number of clusters: imp next to HDBSCAN, and KMeans, which is given the number.

Default settings. The two nearest centers of blobs are exactly six standard deviations apart
(`tight`: centers are Gaussian, then scaled), or all are at least that far apart in a box (`box`);
sizes differ by a factor of up to about six. For blobs the number of clusters is measured, for real
sets the adjusted mutual information (AMI) with the classes. Writes FOLDER/clustering.json and
README.md.

    python3 bench/clusters.py [--seeds N] [--blobs A,B] [--dimensions A,B] [--counts A,B] [--sets A,B]
        [--embeddings FOLDER] [--update] results/clustering

--update measures again only what is named, and keeps the other rows and the notes of the page.

Sets: scikit-learn's digits; fashion-MNIST (Debian's dataset-fashion-mnist) as pixels and as 50
principal components; every NAME.npz with X and y in the folder of embeddings. HDBSCAN needs
scikit-learn 1.3 and is left out otherwise.
"""
import argparse
import gzip
import json
import sys
import warnings
from pathlib import Path

import numpy as np
import sklearn
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_mutual_info_score

try:
    from sklearn.cluster import HDBSCAN
except ImportError:
    HDBSCAN = None

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))
from pyimp import DPMeans, InfiniteMixtureClustering, _version  # noqa: E402

FASHION = Path("/usr/share/datasets/fashion-mnist")
METHODS = {"imp": InfiniteMixtureClustering, "dp-means": DPMeans}
COUNTS, DIMENSIONS, EACH, APART = (2, 5, 10, 30, 100), (2, 8, 64, 256), 50, 6.0


def nearest(centers):
    squares = (centers**2).sum(axis=1)
    distances = squares[:, None] + squares - 2 * centers @ centers.T
    np.fill_diagonal(distances, np.inf)
    return np.sqrt(max(distances.min(), 0))


def tight(random, count, d):
    centers = random.normal(size=(count, d))
    return centers * APART / nearest(centers)


def box(random, count, d):
    """Draw one center after the other, in a box twice as wide as necessary."""
    side = 2 * APART * count ** (1 / min(d, 3))
    centers = []
    while len(centers) < count:
        center = random.uniform(0, side, d)
        if all(np.linalg.norm(center - other) >= APART for other in centers):
            centers.append(center)
    return np.array(centers)


def blobs(kind, count, d, seed):
    random = np.random.default_rng([seed, count, d])
    centers = {"tight": tight, "box": box}[kind](random, count, d)
    sizes = np.maximum(10, EACH * random.uniform(0.3, 1.7, count)).astype(int)
    y = random.permutation(np.repeat(np.arange(count), sizes))
    return (centers[y] + random.normal(size=(len(y), d))).astype(np.float32), y


def count_blobs(kinds, dimensions, counts, seeds):
    rows = []
    for kind in kinds:
        for d in dimensions:
            for count in counts:
                found = {name: [] for name in METHODS}
                agreement = {name: [] for name in (*METHODS, "kmeans")}
                for seed in range(seeds):
                    x, y = blobs(kind, count, d, seed)
                    for name, method in METHODS.items():
                        model = method().fit(x)
                        found[name].append(len(model.cluster_centers_))
                        agreement[name].append(adjusted_mutual_info_score(y, model.labels_))
                    told = KMeans(count, n_init=1, random_state=seed).fit_predict(x)
                    agreement["kmeans"].append(adjusted_mutual_info_score(y, told))
                row = {"kind": kind, "dimensions": d, "clusters": count, "found": found}
                row["within"] = {
                    name: float(np.mean(np.abs(np.array(k) - count) <= 0.1 * count))
                    for name, k in found.items()
                }
                row["ami"] = {name: float(np.mean(a)) for name, a in agreement.items()}
                rows.append(row)
                print(kind, d, count, row["within"], sorted(set(found["dp-means"])), flush=True)
    return rows


def fashion():
    with gzip.open(FASHION / "t10k-images-idx3-ubyte.gz") as file:
        x = np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 784)
    with gzip.open(FASHION / "t10k-labels-idx1-ubyte.gz") as file:
        y = np.frombuffer(file.read(), np.uint8, offset=8)
    return x.astype(np.float32), y.astype(int)


def components():
    x, y = fashion()
    return PCA(50, random_state=0).fit_transform(x).astype(np.float32), y


def real_sets(embeddings):
    found = {"digits": lambda: load_digits(return_X_y=True)}
    if FASHION.is_dir():
        found["fashion pixels"] = fashion
        found["fashion PCA-50"] = components
    for path in sorted(Path(embeddings).glob("*.npz")) if embeddings else []:
        found[path.stem] = lambda path=path: (np.load(path)["X"], np.load(path)["y"])
    return found


def measure_sets(wanted, embeddings):
    rows = []
    for name, load in real_sets(embeddings).items():
        if wanted and name not in wanted:
            continue
        x, y = load()
        x = np.asarray(x, np.float32)
        count = len(np.unique(y))
        row = {"set": name, "points": len(x), "dimensions": x.shape[1], "classes": count}
        row["results"] = {}
        for method, make in METHODS.items():
            model = make().fit(x)
            same = all(
                np.array_equal(make().fit(x * np.float32(factor)).labels_, model.labels_)
                for factor in (2.0**7, 2.0**-10)
            )
            row["results"][method] = {
                "clusters": len(model.cluster_centers_),
                "ami": adjusted_mutual_info_score(y, model.labels_),
                "same_at_any_scale": same,
                "choice": model.choice_,
            }
        told = KMeans(count, n_init=5, random_state=0).fit_predict(x)
        row["results"]["KMeans, told"] = {
            "clusters": count,
            "ami": adjusted_mutual_info_score(y, told),
        }
        if HDBSCAN:
            labels = HDBSCAN().fit_predict(x)
            row["results"]["HDBSCAN"] = {
                "clusters": int(labels.max() + 1),
                "ami": adjusted_mutual_info_score(y, labels),
            }
        rows.append(row)
        print(name, {m: (r["clusters"], round(r["ami"], 3)) for m, r in row["results"].items()})
    return rows


def updated(report, folder):
    """Rows measured before, replaced by those of the same name that were measured now."""
    before = json.loads((folder / "clustering.json").read_text(encoding="utf-8"))
    for part, names in (("sets", ("set",)), ("blobs", ("kind", "dimensions", "clusters"))):
        now = {tuple(row[n] for n in names): row for row in report[part]}
        report[part] = [
            now.pop(tuple(row[n] for n in names), row) for row in before[part]
        ] + list(now.values())
    return report


def notes(folder):
    """What the page says between its first paragraph and its first table."""
    page = (folder / "README.md").read_text(encoding="utf-8")
    return page.split("\n## ")[0].split("\n\n", 2)[2].strip()


def write(report, folder, said):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "clustering.json").write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    lines = [
        "# Finding the number of clusters",
        "",
        f"Generated by `bench/clusters.py` with imp {report['imp']} and scikit-learn "
        f"{report['sklearn']}, default settings. KMeans is given the number of classes; imp and "
        "HDBSCAN are not.",
        *(["", said] if said else []),
        "",
        "## Real sets: clusters found, and adjusted mutual information with the classes",
        "",
    ]
    names = list(dict.fromkeys(n for row in report["sets"] for n in row["results"]))
    lines.append("| set | points | classes | " + " | ".join(names) + " |")
    lines.append("|---|---|---|" + "---|" * len(names))
    for row in report["sets"]:
        cells = []
        for name in names:
            result = row["results"].get(name)
            cells.append(f"{result['clusters']}: {result['ami']:.3f}" if result else "")
        lines.append(f"| {row['set']} | {row['points']} | {row['classes']} | {' | '.join(cells)} |")
    lines += [
        "",
        "## Blobs: how often the number of clusters is within 10% of the truth",
        "",
        f"{report['seeds']} draws each, about {EACH} points per blob. `tight`: the two nearest "
        "centers are exactly six standard deviations apart, and in many dimensions so are nearly all "
        "others; `box`: at least six. The smallest and largest numbers found are in brackets; the "
        "last column is the AMI of KMeans with the given number.",
        "",
        "| | dimensions | clusters | dp-means | imp | AMI of dp-means | AMI of KMeans, told |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in report["blobs"]:
        cells = [
            f"{100 * row['within'][m]:.0f}% ({min(row['found'][m])}-{max(row['found'][m])})"
            for m in ("dp-means", "imp")
        ]
        lines.append(
            f"| {row['kind']} | {row['dimensions']} | {row['clusters']} | {' | '.join(cells)} | "
            f"{row['ami']['dp-means']:.3f} | {row['ami']['kmeans']:.3f} |"
        )
    (folder / "README.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--blobs", default="tight,box")
    parser.add_argument("--dimensions", default=",".join(map(str, DIMENSIONS)))
    parser.add_argument("--counts", default=",".join(map(str, COUNTS)))
    parser.add_argument("--sets", default="", help="none: none of them")
    parser.add_argument("--embeddings", default="")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("folder", type=Path)
    given = parser.parse_args()
    warnings.filterwarnings("ignore")
    report = {"imp": _version.__version__, "sklearn": sklearn.__version__, "seeds": given.seeds}
    report["sets"] = measure_sets([s for s in given.sets.split(",") if s], given.embeddings)
    kinds = [k for k in given.blobs.split(",") if k]
    dimensions, counts = (list(map(int, t.split(","))) for t in (given.dimensions, given.counts))
    report["blobs"] = count_blobs(kinds, dimensions, counts, given.seeds)
    said = ""
    if given.update:
        report, said = updated(report, given.folder), notes(given.folder)
    write(report, given.folder, said)


if __name__ == "__main__":
    main()
