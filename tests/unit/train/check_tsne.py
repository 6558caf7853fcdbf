#!/usr/bin/env python3
"""Compares t-SNE with scikit-learn's exact one: both descend the same divergence about as far.

The divergence itself is computed here, from its definition, for both planes.

Usage: check_tsne.py FOLDER-OF-PROGRAMS
"""
import os
import subprocess
import sys
import tempfile
import warnings

try:
    import numpy
    from sklearn.datasets import load_digits
    from sklearn.manifold import TSNE
except ImportError:
    print("skipped: scikit-learn is not installed")
    sys.exit(77)

WORSE = 1.03  # at most, of scikit-learn's divergence
TOLERANCE = 1e-7


def affinities(points, perplexity):
    """The joint probabilities, each precision found by bisection."""
    points = points.astype(float)
    distances = ((points[:, None] - points[None]) ** 2).sum(axis=2)
    rows = numpy.zeros_like(distances)
    for i, row in enumerate(distances):
        others = numpy.delete(row, i)
        low, high = 0.0, 1e6 / others.mean()
        for _ in range(200):
            precision = (low + high) / 2
            p = numpy.exp(-precision * (others - others.min()))
            p /= p.sum()
            entropy = -(p[p > 0] * numpy.log(p[p > 0])).sum()
            low, high = (precision, high) if entropy > numpy.log(perplexity) else (low, precision)
        rows[i] = numpy.insert(p, i, 0)
    return (rows + rows.T) / (2 * len(points))


def divergence(p, plane):
    q = 1 / (1 + ((plane[:, None] - plane[None]) ** 2).sum(axis=2))
    numpy.fill_diagonal(q, 0)
    q /= q.sum()
    pairs = p > 0
    return (p[pairs] * numpy.log(p[pairs] / q[pairs])).sum()


def ours(folder, points, perplexity):
    """Our plane, and the divergence that the program says it has."""
    with tempfile.TemporaryDirectory() as scratch:
        source, target = os.path.join(scratch, "points.npy"), os.path.join(scratch, "plane.npy")
        numpy.save(source, points)
        program = os.path.join(folder, "tsne_roundtrip")
        output = subprocess.run(
            [program, source, target, str(perplexity)], capture_output=True, text=True, check=True
        )
        return numpy.load(target), float(output.stdout)


def main():
    warnings.simplefilter("ignore")
    digits = load_digits().data.astype(numpy.float32)
    curve = numpy.linspace(0, 6, 150, dtype=numpy.float32)
    spiral = numpy.stack([curve * numpy.cos(curve), curve * numpy.sin(curve), curve], axis=1)
    for name, points, perplexity in (("digits", digits[:300], 30), ("a spiral", spiral, 10)):
        theirs = TSNE(
            perplexity=perplexity, method="exact", init="pca", learning_rate="auto", n_iter=1000
        ).fit_transform(points)
        plane, said = ours(sys.argv[1], points, perplexity)
        p = affinities(points, perplexity)
        found, reference = divergence(p, plane), divergence(p, theirs.astype(float))
        print(f"{name}: divergence {found:.4f}, scikit-learn's {reference:.4f}")
        if abs(found - said) > TOLERANCE:
            sys.exit(f"{name}: the program says {said}, and it is {found}")
        if not found <= WORSE * reference:
            sys.exit(f"{name}: the divergence is more than {WORSE} times scikit-learn's")


main()
