"""The examples of README.md and of the docstrings do what they say."""

import doctest
import subprocess
import sys
import unittest

from support import SOURCE

import pyimp.clustering
import pyimp.episodes
import pyimp.methods
import pyimp.mixture

README = SOURCE / "python" / "README.md"


def load_tests(loader, tests, pattern):
    tests.addTests(doctest.DocFileSuite(str(README), module_relative=False))
    for module in (pyimp.clustering, pyimp.episodes, pyimp.methods, pyimp.mixture):
        tests.addTests(doctest.DocTestSuite(module))
    return tests


class Digits(unittest.TestCase):
    def test_the_figures_are_those_of_the_example(self):
        try:
            import sklearn.datasets  # noqa: F401
        except ImportError:
            self.skipTest("scikit-learn is not installed")
        example = [sys.executable, "-B", SOURCE / "python" / "examples" / "digits.py"]
        printed = subprocess.run(example, check=True, capture_output=True, text=True).stdout
        block = "".join(f"    {line}\n" for line in printed.splitlines())
        self.assertIn(block, README.read_text())


if __name__ == "__main__":
    unittest.main()
