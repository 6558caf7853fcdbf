"""The package as pip installs it, with nothing but what the system has: libimp is not compiled again."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from support import LIBRARY, SOURCE

import pyimp
from pyimp._library import _NAME as NAME

USE = """
import sys
sys.modules["sklearn"] = None
import pyimp
from pyimp._library import library
print(pyimp.__version__, pyimp.__file__, library._name)
print(*pyimp.InfiniteMixturePrototypes().fit([[0], [9]], ["a", "b"]).predict([[1], [8]]))
"""


@unittest.skipUnless(LIBRARY, "IMP_LIBRARY does not name the library")
class Install(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name).resolve()
        # a copy, since building leaves things behind in the source
        ignore = shutil.ignore_patterns("__pycache__", "build", "*.egg-info", "libimp.so*")
        self.source = self.folder / "source"
        shutil.copytree(SOURCE / "python", self.source, ignore=ignore)
        self.python = self.folder / "venv" / "bin" / "python3"
        self.run_python(
            *("-m", "venv", "--system-site-packages", "--without-pip", self.folder / "venv"),
            python=sys.executable,
        )

    def run_python(self, *arguments, python=None, **variables):
        variables = {**os.environ, **variables}
        for name in ("PYTHONPATH", "IMP_LIBRARY"):
            variables.pop(name, None)
        done = subprocess.run(
            [python or self.python, *arguments],
            cwd=self.folder,
            env=variables,
            capture_output=True,
            text=True,
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def install(self, *options):
        pip = ("-m", "pip", "--disable-pip-version-check", "install")
        how = ("--no-build-isolation", "--no-index", *options)
        self.run_python(*pip, *how, self.source, IMP_BUNDLE="no")

    def test_installed_beside_an_installed_library_and_with_a_bundled_one(self):
        self.install()
        system = self.folder / "lib"
        system.mkdir()
        os.symlink(LIBRARY, system / NAME)
        first, answers = self.run_python("-c", USE, LD_LIBRARY_PATH=str(system)).splitlines()
        version, path, library = first.split()
        self.assertEqual((version, library, answers), (pyimp.__version__, NAME, "a b"))
        package = Path(path).parent
        self.assertTrue(path.startswith(str(self.folder / "venv")), path)
        self.assertTrue((package / "py.typed").exists())

        shutil.copy(LIBRARY, self.source / "pyimp" / NAME)
        self.install("--force-reinstall", "--no-deps")
        first, answers = self.run_python("-c", USE).splitlines()
        self.assertEqual((first.split()[2], answers), (str(package / NAME), "a b"))


if __name__ == "__main__":
    unittest.main()
