"""The metrics equal the command's to the bit, whatever the labels are called."""

import tempfile
import unittest
from pathlib import Path

import numpy as np
from support import imp, needs_command

from pyimp import metrics

AVERAGES = ("arithmetic", "geometric", "min", "max")


class Metrics(unittest.TestCase):
    @needs_command
    def test_the_commands_numbers(self):
        random = np.random.default_rng(1)
        names = np.array(["ant", "bee", "cat", "dog", "eel"])
        with tempfile.TemporaryDirectory() as folder:
            for case in range(5):
                truth = random.integers(0, 5, 60)
                found = np.where(random.random(60) < 0.2 * case, random.integers(0, 5, 60), truth)
                paths = [Path(folder, name) for name in ("truth.npy", "found.npy")]
                for path, labels in zip(paths, (truth, found)):
                    np.save(path, labels)
                expected = imp("metrics", *paths)
                for left, right in ((truth, found), (names[truth], names[found])):
                    self.compare(left, right, expected)

    def compare(self, truth, found, expected):
        share = metrics.accuracy(truth, found)
        self.assertEqual(share, (expected["accuracy"], expected["accuracy_interval"]))
        self.assertEqual(metrics.purity(truth, found), expected["purity"])
        self.assertEqual(metrics.adjusted_rand(truth, found), expected["ari"])
        for average in AVERAGES:
            key = "" if average == "arithmetic" else f"_{average}"
            nmi = metrics.normalized_mutual_info(truth, found, average)
            ami = metrics.adjusted_mutual_info(truth, found, average)
            self.assertEqual((nmi, ami), (expected[f"nmi{key}"], expected[f"ami{key}"]))

    def test_mean_interval(self):
        values = np.random.default_rng(2).random(50)
        mean, half_width = metrics.mean_interval(values)
        self.assertAlmostEqual(mean, values.mean())
        self.assertAlmostEqual(half_width, 1.96 * values.std(ddof=1) / np.sqrt(50))

    def test_wrong_input_gets_a_sentence(self):
        with self.assertRaisesRegex(ValueError, r"the shapes \(2,\) and \(3,\)"):
            metrics.purity([0, 1], [0, 1, 2])
        with self.assertRaisesRegex(ValueError, "average is 'mean'; there are 'arithmetic'"):
            metrics.normalized_mutual_info([0, 1], [0, 1], "mean")


if __name__ == "__main__":
    unittest.main()
