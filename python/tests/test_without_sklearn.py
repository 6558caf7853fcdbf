"""Without scikit-learn the estimators work the same: their tests once more, with it out of reach."""

import subprocess
import sys
import unittest

CODE = """
import sys, unittest
sys.modules["sklearn"] = None
import pyimp
from pyimp._plain import BaseEstimator
assert issubclass(pyimp.InfiniteMixturePrototypes, BaseEstimator)
unittest.main(module=None, argv=["", "test_mixture", "test_clustering"])
"""


class Plain(unittest.TestCase):
    def test_estimators(self):
        done = subprocess.run(
            [sys.executable, "-B", "-c", CODE], capture_output=True, text=True, cwd=sys.path[0]
        )
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()
