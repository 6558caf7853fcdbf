#!/usr/bin/env python3
"""Compares `imp classify` with a plain NumPy implementation of every method, in double precision.

The reference is written from the definitions, one point and one cluster at a time, and shares
nothing with the library. Episodes are random; the command is the one named by $IMP.
"""
import json
import math
import os
import subprocess
import sys
import tempfile

import numpy

EPSILON = 1e-3  # of em, and the least weight of a cluster


def log_density(x, mean, sigma):
    return -0.5 * (((x - mean) ** 2).sum() / sigma + len(x) * math.log(2 * math.pi * sigma))


def softmax(scores):
    weights = numpy.exp(numpy.array(scores) - max(scores))
    return weights / weights.sum()


class Cluster:
    def __init__(self, label, sigma, mean):
        self.label, self.sigma, self.mean, self.weight, self.prior = label, sigma, mean, 0.0, 0.0


def class_means(points, labels, sigma):
    return [Cluster(k, sigma, points[labels == k].mean(axis=0)) for k in range(labels.max() + 1)]


def find_lambda(clusters, unlabeled, o):
    sigma = (o["sigma_l"] + o["sigma_u"]) / 2 if unlabeled else o["sigma_l"]
    means, d = numpy.array([c.mean for c in clusters]), len(clusters[0].mean)
    rho = means.var(axis=0, ddof=1).mean() if len(means) > 1 else 0.0
    return max(0.0, -2 * sigma * math.log(o["alpha"]) + d * sigma * math.log(1 + rho / sigma))


def allowed(label, clusters):
    return [i for i, c in enumerate(clusters) if label < 0 or c.label == label]


def weighted_means(clusters, points, z):
    for c, share in zip(clusters, z.T):
        c.weight = share.sum()
        if c.weight > EPSILON:
            c.mean = share @ points / c.weight
    return [c for c in clusters if c.weight > EPSILON]


def assign(clusters, points, labels):
    z = numpy.zeros((len(points), len(clusters)))
    for i, (x, y) in enumerate(zip(points, labels)):
        choice = allowed(y, clusters)
        z[i, choice] = softmax([log_density(x, clusters[c].mean, clusters[c].sigma) for c in choice])
    return z


def algorithm_1(points, labels, o, hard=False):
    sigma_l, sigma_u = (0.5, 0.5) if hard else (o["sigma_l"], o["sigma_u"])
    clusters = class_means(points, labels, sigma_l)
    lam = o["lambda"] if o["lambda"] is not None else find_lambda(clusters, (labels < 0).any(), o)
    for _ in range(o["steps"]):
        joined = []  # at each point's turn
        for x, y in zip(points, labels):
            choice = allowed(y, clusters)
            near = [((x - clusters[c].mean) ** 2).sum() for c in choice]
            joined.append(choice[int(numpy.argmin(near))])
            if min(near) > lam:
                joined[-1] = len(clusters)
                clusters.append(Cluster(y, sigma_l if y >= 0 else sigma_u, x))
        z = numpy.eye(len(clusters))[joined] if hard else assign(clusters, points, labels)
        clusters = weighted_means(clusters, points, z)
    return clusters, lam


def imp(points, labels, o):
    return algorithm_1(points, labels, o)


def imp_tied(points, labels, o):
    return algorithm_1(points, labels, {**o, "sigma_u": o["sigma_l"]})


def dp_means(points, labels, o):
    return algorithm_1(points, labels, o, hard=True)


def prototypes(points, labels, o, sigma=1.0):
    clusters = class_means(points, labels, sigma)
    for c in clusters:
        c.weight = (labels == c.label).sum()
    return clusters, None


def prototypes_learned(points, labels, o):
    return prototypes(points, labels, o, sigma=o["sigma_l"])


def neighbors(points, labels, o):
    clusters = [Cluster(y, o["sigma_l"], x) for x, y in zip(points, labels) if y >= 0]
    for c in clusters:
        c.weight = 1
    return clusters, None


def soft_kmeans(points, labels, o, distractors=False):
    clusters = class_means(points, labels, 1.0)
    if distractors:
        clusters.append(Cluster(-1, o["distractor_sigma"], numpy.zeros(points.shape[1])))
    for _ in range(o["steps"]):
        clusters = weighted_means(clusters, points, assign(clusters, points, labels))
    return clusters, None


def soft_kmeans_cluster(points, labels, o):
    return soft_kmeans(points, labels, o, distractors=True)


def map_dp(points, labels, o):
    sigma, sigma_0 = o["sigma_l"], o["sigma_u"]
    start = class_means(points, labels, sigma)
    mu_0 = numpy.mean([c.mean for c in start], axis=0)
    members = [[x for x in points[labels == c.label]] for c in start]
    names = [c.label for c in start]

    def posterior(of):
        s = 1 / (1 / sigma_0 + len(of) / sigma)
        return s * (numpy.sum(of, axis=0) / sigma + mu_0 / sigma_0), s + sigma

    for x in points[labels < 0]:
        scores = [math.log(len(m)) + log_density(x, *posterior(m)) for m in members]
        scores.append(math.log(o["alpha"]) + log_density(x, mu_0, sigma_0 + sigma))
        best = int(numpy.argmax(scores))
        if best == len(members):
            members.append([])
            names.append(-1)
        members[best].append(x)
    clusters = []
    for name, of in zip(names, members):
        mean, sigma_c = posterior(of)
        clusters.append(Cluster(name, sigma_c, mean))
        clusters[-1].weight, clusters[-1].prior = len(of), math.log(len(of))
    return clusters, None


def em(points, labels, o):
    sigma, sigma_0 = o["sigma_l"], o["sigma_u"]
    clusters = class_means(points, labels, sigma)
    mu_0 = numpy.mean([c.mean for c in clusters], axis=0)
    counts = [float((labels == c.label).sum()) for c in clusters]
    z = numpy.zeros((len(points), len(points) + len(clusters)))
    for i, y in enumerate(labels):
        if y >= 0:
            z[i, y] = 1
    for i in numpy.flatnonzero(labels < 0):
        x = points[i]
        prior = not o["no_prior"]
        scores = [
            log_density(x, c.mean, c.sigma) + (math.log(n) if prior else 0)
            for c, n in zip(clusters, counts)
        ]
        new = log_density(x, mu_0, sigma_0 + sigma) + (math.log(o["alpha"]) if prior else 0)
        share = softmax(scores + [new])
        z[i, : len(clusters)] = share[:-1]
        counts = [n + s for n, s in zip(counts, share)]
        if share[-1] > EPSILON:
            z[i, len(clusters)] = share[-1]
            counts.append(share[-1])
            clusters.append(Cluster(-1, sigma_0, (sigma * mu_0 + sigma_0 * x) / (sigma + sigma_0)))
    clusters = weighted_means(clusters, points, z[:, : len(clusters)])
    for c in clusters:
        c.prior = 0 if o["no_prior"] or c.label < 0 else math.log(c.weight)
    return clusters, None


def fixed_modes(points, labels, o, k=3, sigma=1.0):
    clusters = []
    for label in range(labels.max() + 1):
        x = points[labels == label]
        centers = [x[0]]
        while len(centers) < k:
            away = [min(((p - c) ** 2).sum() for c in centers) for p in x]
            if max(away) == 0:
                break
            centers.append(x[int(numpy.argmax(away))])
        before = None
        while True:
            nearest = [int(numpy.argmin([((p - c) ** 2).sum() for c in centers])) for p in x]
            if nearest == before:
                break
            before = nearest
            centers = [x[numpy.array(nearest) == c].mean(axis=0) for c in range(len(centers))]
        for c, center in enumerate(centers):
            clusters.append(Cluster(label, sigma, center))
            clusters[-1].weight = nearest.count(c)
    return clusters, None


def one_mode(points, labels, o):
    return fixed_modes(points, labels, o, k=1)


def two_modes_learned(points, labels, o):
    return fixed_modes(points, labels, o, k=2, sigma=o["sigma_l"])


def em_without_prior(points, labels, o):
    return em(points, labels, {**o, "no_prior": True})


METHODS = {
    "imp": imp,
    "imp-tied": imp_tied,
    "dp-means": dp_means,
    "prototypes": prototypes,
    "prototypes --learn-sigma": prototypes_learned,
    "neighbors": neighbors,
    "soft-kmeans": soft_kmeans,
    "soft-kmeans-cluster": soft_kmeans_cluster,
    "map-dp": map_dp,
    "em": em,
    "em --no-prior": em_without_prior,
    "imp --unmasked-loss": imp,
    "neighbors --unmasked-loss": neighbors,
    "nca": neighbors,
    "fixed-modes": fixed_modes,
    "fixed-modes --modes-per-class 1": one_mode,
    "fixed-modes --modes-per-class 2 --learn-sigma": two_modes_learned,
}
SUMMED = ("nca",)  # a class is the sum of its clusters
REPEATED = ("imp", "imp-tied", "dp-means", "soft-kmeans", "soft-kmeans-cluster")
THRESHOLD = ("imp", "imp-tied", "dp-means")


def classify(clusters, queries, way, open_set, summed):
    rows = []
    for x in queries:
        scores = [-math.inf] * (way + 1)  # the last is none of the classes, and has label -1
        for c in clusters:
            score = c.prior + log_density(x, c.mean, c.sigma)
            join = numpy.logaddexp if summed else max
            scores[c.label] = join(scores[c.label], score)
        if not open_set:
            scores.pop()
        rows.append(softmax(scores))
    return numpy.array(rows)


def run(folder, method, o, points, labels, queries):
    for name, array in (("s", points), ("y", labels), ("q", queries)):
        numpy.save(os.path.join(folder, name + ".npy"), array)
    line = [os.environ["IMP"], "classify", "--json", "--method", *method.split()]
    for option, name in (("support", "s"), ("labels", "y"), ("query", "q")):
        line += ["--" + option, os.path.join(folder, name + ".npy")]
    line += ["--alpha", str(o["alpha"]), "--sigma-l", str(o["sigma_l"])]
    sigma_u = o["distractor_sigma"] if method == "soft-kmeans-cluster" else o["sigma_u"]
    line += ["--sigma-u", str(sigma_u), "--cluster-steps", str(o["steps"])]
    if o["open_set"]:
        line.append("--open-set")
    if o["lambda"] is not None:
        line += ["--lambda", str(o["lambda"])]
    return json.loads(subprocess.run(line, capture_output=True, text=True, check=True).stdout)


def compare(method, o, answer, clusters, lam, probabilities):
    def near(a, b, tolerance, what):
        if not numpy.allclose(a, b, rtol=tolerance, atol=tolerance):
            sys.exit(f"{method} {o}: {what} is {a}, expected {b}")

    found = answer["clusters"]
    near(len(found), len(clusters), 0, "number of clusters")
    near([c["label"] for c in found], [c.label for c in clusters], 0, "labels")
    near([c["sigma"] for c in found], [c.sigma for c in clusters], 1e-6, "sigmas")
    near([c["weight"] for c in found], [c.weight for c in clusters], 1e-5, "weights")
    near([c["mean"] for c in found], [c.mean for c in clusters], 1e-5, "means")
    near(answer["probabilities"], probabilities, 1e-5, "probabilities")
    if lam is not None:
        near(answer["lambda"], lam, 1e-7, "lambda")


def main():
    random = numpy.random.RandomState(7)
    compared, sizes = 0, []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(12):
            way, d, shot = random.randint(1, 5), random.randint(1, 9), random.randint(1, 5)
            labels = numpy.concatenate([numpy.repeat(numpy.arange(way), shot), numpy.full(12, -1)])
            centers = random.randn(way + 2, d) * random.choice([1, 3])
            points = centers[labels % (way + 2)] + random.randn(len(labels), d)
            points[labels < 0] += centers[random.randint(0, way + 2, 12)]
            if random.rand() < 0.3:
                points, labels = points[labels >= 0], labels[labels >= 0]
            points = points.astype("float32")
            mixed = random.permutation(len(labels))  # the command is to take labelled ones first
            points, labels = points[mixed], labels[mixed]
            first = numpy.argsort(labels < 0, kind="stable")
            queries = (centers[random.randint(0, way, 9)] + random.randn(9, d)).astype("float32")
            for method, reference in METHODS.items():
                o = {
                    "alpha": float(random.choice([0.01, 0.1, 1])),
                    "sigma_l": float(random.choice([0.5, 1, 5])),
                    "sigma_u": float(random.choice([0.5, 2, 5])),
                    "distractor_sigma": float(random.choice([5, 100])),
                    "steps": int(random.randint(1, 4)) if method in REPEATED else 1,
                    "lambda": None,
                    "no_prior": False,
                    "open_set": bool(random.rand() < 0.5),
                }
                if method in THRESHOLD and random.rand() < 0.5:
                    o["lambda"] = float(random.choice([1, 4, 10]))
                clusters, lam = reference(points[first].astype(float), labels[first], o)
                probabilities = classify(
                    clusters, queries.astype(float), way, o["open_set"], method in SUMMED
                )
                answer = run(folder, method, o, points, labels, queries)
                compare(method, o, answer, clusters, lam, probabilities)
                compared += 1
                sizes.append(len(clusters))
    print(f"{compared} episodes agree, with {min(sizes)} to {max(sizes)} clusters")


main()
