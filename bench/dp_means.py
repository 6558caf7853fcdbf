#!/usr/bin/env python3
"""Clusters from Python: pyimp's DPMeans beside pdc-dp-means and hdbscan, in turns on the same points.

usage: bench/dp_means.py [--points N] [--dimensions D] [--rounds N] [--output JSON]

Blobs of which everybody has to find the number: 60 of them, centers in a box. pdc-dp-means is given the
squared distance at which a cluster begins that pyimp's DPMeans is given, too; without it pyimp finds
the number by itself, as hdbscan does. Whole calls of fit() are timed, on all cores, and the adjusted mutual
information with the blobs tells whether they were found. The peers are PyPI's, in a venv of their own
(build/bench/venv-dp-means); one that does not install or run is left out, and that is told.
"""
import argparse
import os
import statistics
import time

from protocol import add_places, conclude, installed, run_inside
from run import machine

PACKAGES = ["numpy", "scikit-learn", "pdc-dp-means", "hdbscan"]
CLUSTERS, THRESHOLD = 60, 200.0


def blobs(count, dimensions):
    import numpy

    random = numpy.random.default_rng(1)
    centers = random.uniform(-20, 20, (CLUSTERS, dimensions))
    number = random.integers(CLUSTERS, size=count)
    return (centers[number] + random.normal(size=(count, dimensions))).astype("f"), number


def imp_given(x):
    import pyimp

    return pyimp.DPMeans(threshold=THRESHOLD).fit(x).labels_


def imp_found(x):
    import pyimp

    return pyimp.DPMeans().fit(x).labels_


def pdc(x):
    """With the scikit-learn that its wheel asks for, a function of that, which relocates empty clusters,
    fails in every pass. The package goes on without; what that costs it, in time and clusters, is not
    known, and its complaints are not shown."""
    from pdc_dp_means import DPMeans

    shown = os.dup(2)
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), 2)
    try:
        return DPMeans(n_clusters=1, n_init=1, delta=THRESHOLD, random_state=1).fit(x).labels_
    finally:
        os.dup2(shown, 2)
        os.close(shown)


def hdbscan(x):
    from hdbscan import HDBSCAN

    return HDBSCAN(min_cluster_size=20, core_dist_n_jobs=-1).fit(x).labels_


PEERS = {
    "pyimp DPMeans, threshold given": imp_given,
    "pdc-dp-means DPMeans, threshold given": pdc,
    "pyimp DPMeans, number found": imp_found,
    "hdbscan HDBSCAN, number found": hdbscan,
}
OURS = {"given": "pyimp DPMeans, threshold given", "found": "pyimp DPMeans, number found"}


def measure(given):
    from sklearn.metrics import adjusted_mutual_info_score

    x, truth = blobs(given.points, given.dimensions)
    peers, absent = dict(PEERS), {}
    seconds = {name: [] for name in peers}
    found = {}
    for turn in range(given.rounds):
        order = list(peers)
        for name in order[turn % len(order) :] + order[: turn % len(order)]:
            begin = time.perf_counter()
            try:
                labels = peers[name](x)
            except Exception as reason:  # whatever a package of others fails with
                absent[name] = f"{type(reason).__name__}: {str(reason).splitlines()[0]}"
                del peers[name]
                continue
            seconds[name].append(time.perf_counter() - begin)
            if name not in found:
                clusters = len(set(labels.tolist()) - {-1})
                found[name] = (clusters, adjusted_mutual_info_score(truth, labels))
    rows = []
    for name in peers:
        ours = OURS[name.rsplit(" ", 1)[1]]
        ratios = [a / b for a, b in zip(seconds[name], seconds[ours])]
        rows.append(
            {
                "peer": name,
                "seconds": statistics.median(seconds[name]),
                "clusters": found[name][0],
                "ami": found[name][1],
                "peer_over_pyimp": statistics.median(ratios),
                "range": [min(ratios), max(ratios)],
            }
        )
    return {
        "points": given.points,
        "dimensions": given.dimensions,
        "blobs": CLUSTERS,
        "threshold": THRESHOLD,
        "machine": {key: value for key, value in machine().items() if key != "flags"},
        "versions": installed(PACKAGES),
        "absent": absent,
        "rows": rows,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, default=10000)
    parser.add_argument("--dimensions", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=7)
    add_places(parser, "dp-means.json")
    given = parser.parse_args()
    run_inside(given.build, "venv-dp-means", PACKAGES, given.library)
    report = measure(given)
    print(f"{given.points:,} points of {given.dimensions} dimensions, {CLUSTERS} blobs")
    conclude(
        report,
        given.output,
        lambda row: f"{row['peer']:48}{row['seconds']:8.3f} s{row['clusters']:6} clusters, "
        f"AMI {row['ami']:.3f}{row['peer_over_pyimp']:9.2f}",
    )


if __name__ == "__main__":
    main()
