"""The examples of README.md and of the docstrings do what they say."""

import doctest
import importlib.util
import os
import pkgutil
import subprocess
import sys
import unittest

from support import SOURCE

import pyimp

README = SOURCE / "python" / "README.md"
OPTIONAL = {"plot": "matplotlib", "torch": "torch"}


def load_tests(loader, tests, pattern):
    os.environ["MPLBACKEND"] = "Agg"
    tests.addTests(doctest.DocFileSuite(str(README), module_relative=False))
    for module in pkgutil.iter_modules(pyimp.__path__):
        wanted = OPTIONAL.get(module.name)
        if not module.ispkg and (wanted is None or importlib.util.find_spec(wanted)):
            tests.addTests(doctest.DocTestSuite(f"pyimp.{module.name}"))
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
