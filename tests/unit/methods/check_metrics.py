#!/usr/bin/env python3
"""Compares the metrics with scikit-learn's on random labelings, degenerate ones included.

Usage: check_metrics.py FOLDER-OF-PROGRAMS
"""
import os
import subprocess
import sys
import warnings

try:
    import numpy
    from scipy import stats
    from sklearn import metrics
except ImportError:
    print("skipped: scikit-learn is not installed")
    sys.exit(77)

AVERAGES = ("arithmetic", "geometric", "min", "max")
TOLERANCE = 1e-9


def labelings():
    """Pairs of labelings: hundreds of random ones, then what is degenerate."""
    random = numpy.random.RandomState(4)
    for _ in range(500):
        n = random.randint(1, 40)
        yield random.randint(0, random.randint(1, 12), n), random.randint(
            0, random.randint(1, 12), n
        )
    for _ in range(100):  # the second is the first with a few errors, under other names
        n = random.randint(2, 80)
        truth = random.randint(0, random.randint(1, 20), n)
        found = random.permutation(1000)[truth] - 500
        wrong = random.rand(n) < 0.1
        found[wrong] = random.randint(-3, 3, wrong.sum())
        yield truth, found
    for n in list(range(0, 24)) + [127, 128, 129]:
        own, one = numpy.arange(n), numpy.zeros(n, int)
        halves, any_ = own * 2 // max(n, 1), random.randint(0, 4, n)
        for truth in (own, one, halves, any_):
            for found in (own, one, halves, any_, own[::-1]):
                yield truth, found
    for _ in range(2):  # large
        n = random.randint(1000, 2000)
        yield random.randint(0, 30, n), random.randint(0, 100, n)


def adjusted(truth, found, average):
    """scikit-learn's AMI, but 0 where it divides what rounding left over by what rounding left over."""
    if len(truth) == 0:
        return 1
    table = metrics.cluster.contingency_matrix(truth, found, sparse=True)
    chance = metrics.cluster.expected_mutual_information(table, len(truth))
    entropies = [stats.entropy(numpy.unique(labels, return_counts=True)[1]) for labels in (truth, found)]
    most = {
        "arithmetic": sum(entropies) / 2,
        "geometric": (entropies[0] * entropies[1]) ** 0.5,
        "min": min(entropies),
        "max": max(entropies),
    }[average]
    trivial = len(set(truth)) == len(set(found)) and len(set(truth)) in (0, 1)
    if not trivial and abs(most - chance) < 1e-11:
        return 0
    return metrics.adjusted_mutual_info_score(truth, found, average_method=average)


def expected(truth, found):
    """The same numbers, by scikit-learn and NumPy."""
    if len(truth):
        purity = metrics.cluster.contingency_matrix(truth, found).max(axis=0).sum() / len(truth)
        right = (truth == found).astype(float)
        half = 1.96 * right.std(ddof=1) / len(right) ** 0.5 if len(right) > 1 else numpy.nan
        accuracy = (right.mean(), half)
    else:
        purity, accuracy = 1, (numpy.nan, numpy.nan)
    numbers = [purity]
    numbers += [metrics.normalized_mutual_info_score(truth, found, average_method=a) for a in AVERAGES]
    numbers += [adjusted(truth, found, a) for a in AVERAGES]
    return numbers + [metrics.adjusted_rand_score(truth, found), *accuracy]


def main():
    warnings.simplefilter("ignore")
    cases = list(labelings())
    text = "\n".join(
        " ".join(map(str, [len(truth), *truth, *found])) for truth, found in cases
    )
    program = os.path.join(sys.argv[1], "metrics_roundtrip")
    output = subprocess.run([program], input=text, capture_output=True, text=True, check=True)
    lines = output.stdout.splitlines()
    if len(lines) != len(cases):
        sys.exit(f"{len(cases)} labelings gave {len(lines)} lines")
    faults = 0
    for (truth, found), line in zip(cases, lines):
        ours, theirs = numpy.array(line.split(), float), numpy.array(expected(truth, found), float)
        if not numpy.allclose(ours, theirs, rtol=0, atol=TOLERANCE, equal_nan=True):
            faults += 1
            if faults <= 10:
                print(f"of {len(truth)} points: {ours} instead of {theirs}")
    if faults:
        sys.exit(f"{faults} of {len(cases)} labelings disagree")
    print(f"{len(cases)} labelings agree to {TOLERANCE}")


main()
