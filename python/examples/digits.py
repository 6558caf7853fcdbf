#!/usr/bin/env python3
"""Handwritten digits by five labelled pictures of each: clusters against class means.

Each draw takes 900 of scikit-learn's 1797 digits to learn from, of which 50 are labelled, and tests
on the others. The second task asks only whether a digit is odd: classes of five modes, which no
single mean can stand for. Printed are means over the draws with 95% intervals.
"""
import numpy as np
from sklearn.datasets import load_digits
from sklearn.neighbors import NearestCentroid

from pyimp import InfiniteMixturePrototypes
from pyimp.metrics import mean_interval

DRAWS, LEARN, SHOT = 20, 900, 5
SIGMA = 10  # about the variance of a pixel within a digit
ALPHA = 1e-5


def draw(digits, seed):
    """Which pictures to learn from, which of these are labelled, and which to test on."""
    order = np.random.default_rng(seed).permutation(len(digits))
    learn, test = order[:LEARN], order[LEARN:]
    labeled = np.concatenate([np.flatnonzero(digits[learn] == digit)[:SHOT] for digit in range(10)])
    return learn, labeled, test


def compare(X, y, digits, seed):
    """Accuracies of class means, of IMP, and of IMP with the unlabelled pictures."""
    learn, labeled, test = draw(digits, seed)
    few = learn[labeled]
    hidden = np.full(LEARN, -1)
    hidden[labeled] = y[few]
    model = InfiniteMixturePrototypes(sigma_l=SIGMA, sigma_u=SIGMA, alpha=ALPHA)
    return [
        NearestCentroid().fit(X[few], y[few]).score(X[test], y[test]),
        model.fit(X[few], y[few]).score(X[test], y[test]),
        model.fit(X[learn], hidden).score(X[test], y[test]),
    ]


def print_row(*cells):
    print("".join(f"{cell:<15}" for cell in cells).rstrip())


def main():
    X, digits = load_digits(return_X_y=True)
    X = X.astype(np.float32)
    print_row("accuracy in %", "class means", "IMP", "IMP, unlabelled too")
    for task, y in (("which digit", digits), ("odd or even", digits % 2)):
        scores = 100 * np.array([compare(X, y, digits, seed) for seed in range(DRAWS)])
        intervals = map(mean_interval, scores.T)
        print_row(task, *(f"{mean:.1f} +- {half:.1f}" for mean, half in intervals))


if __name__ == "__main__":
    main()
