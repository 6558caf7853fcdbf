"""Finding the library, its errors as exceptions, and other threads that go on meanwhile."""

import multiprocessing
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

import numpy as np
from support import LIBRARY, SOURCE, blobs, environment

import pyimp
from pyimp import DPMeans, Embedding, InfiniteMixturePrototypes
from pyimp._library import _NAME as NAME

# without scikit-learn, which takes a second to import
IMPORT = """
import sys
sys.modules["sklearn"] = None
from pyimp._library import library
print(library._name)
"""

OTHER_VERSION = 'const char *imp_version(void) { return "9.7.5"; }'
LACKS_THE_REST = f'const char *imp_version(void) {{ return "{pyimp.__version__}"; }}'


def compile_library(code, path):
    source = Path(f"{path}.c")
    source.write_text(code)
    command = ["cc", "-shared", "-fPIC", str(source), "-o", str(path)]
    subprocess.run(command, check=True, env=environment())


@unittest.skipUnless(LIBRARY, "IMP_LIBRARY does not name the library")
class Finding(unittest.TestCase):
    """A copy of the package, to which each test gives a library in another place."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name).resolve()
        self.package = self.folder / "checkout" / "python" / "pyimp"
        ignore = shutil.ignore_patterns("__pycache__", "libimp.so*")
        shutil.copytree(SOURCE / "python" / "pyimp", self.package, ignore=ignore)
        shutil.copytree(SOURCE / "include", self.folder / "checkout" / "include")
        self.elsewhere = self.folder / "elsewhere"
        self.elsewhere.mkdir()

    def import_with(self, **variables):
        """What importing printed: the library's name, or what went wrong."""
        variables = {**os.environ, "PYTHONPATH": str(self.package.parent), **variables}
        variables = {name: value for name, value in variables.items() if value is not None}
        done = subprocess.run(
            [sys.executable, "-B", "-c", IMPORT],
            cwd=self.folder,
            env=variables,
            capture_output=True,
            text=True,
        )
        return done.stdout.strip() or done.stderr.strip().splitlines()[-1]

    def put(self, folder):
        folder.mkdir(parents=True, exist_ok=True)
        os.symlink(LIBRARY, folder / NAME)
        return str(folder / NAME)

    def test_each_place_comes_after_those_before_it(self):
        checkout = self.put(self.folder / "checkout" / "build" / "release" / "lib")
        self.assertEqual(self.import_with(IMP_LIBRARY=None), checkout)
        self.put(self.elsewhere)
        system = {"IMP_LIBRARY": None, "LD_LIBRARY_PATH": str(self.elsewhere)}
        self.assertEqual(self.import_with(**system), NAME)
        beside = self.put(self.package)
        self.assertEqual(self.import_with(**system), beside)
        self.assertEqual(self.import_with(), LIBRARY)

    def test_a_sentence_says_where_it_looked(self):
        # nothing of this name may be installed where the linker looks
        sentence = self.import_with(IMP_LIBRARY=None)
        if sentence == NAME:
            self.skipTest(f"{NAME} is installed")
        self.assertIn("ImportError: pyimp", sentence)
        self.assertIn(f"{self.package / NAME} (there is no such file), {NAME} (", sentence)
        self.assertIn(f"build/release/lib/{NAME} (there is no such file); ", sentence)
        self.assertTrue(sentence.endswith("or set IMP_LIBRARY to the path of libimp.so"))
        shutil.rmtree(self.folder / "checkout" / "include")
        self.assertNotIn("build/release", self.import_with(IMP_LIBRARY=None))

    def test_what_is_named_is_the_only_place(self):
        self.put(self.package)
        sentence = self.import_with(IMP_LIBRARY="/nowhere/libimp.so")
        self.assertIn("IMP_LIBRARY names /nowhere/libimp.so (there is no such file); ", sentence)

    def test_another_version_and_other_files_are_refused(self):
        path = self.elsewhere / "libimp.so"
        minor = ".".join(pyimp.__version__.split(".")[:2])
        for code, reason in (
            (OTHER_VERSION, f"it is version 9.7.5, and {minor} is needed)"),
            (LACKS_THE_REST, "it has no function imp_"),  # the first that it looks for
            ("int nothing;", "it has no function imp_version)"),
        ):
            compile_library(code, path)
            self.assertIn(f"{path} ({reason}", self.import_with(IMP_LIBRARY=str(path)))
        path.write_text("no library")
        self.assertIn(f"{path} ({path}: file too short)", self.import_with(IMP_LIBRARY=str(path)))


class Importing(unittest.TestCase):
    def test_importing_brings_nothing_heavy_along(self):
        code = """
import sys, pyimp
heavy = {"matplotlib", "onnxruntime", "pandas", "scipy", "sklearn", "torch"}
print(*sorted(heavy & set(sys.modules)))
print(*sorted(set(pyimp.__all__) - set(dir(pyimp))))
pyimp.InfiniteMixturePrototypes().fit([[0], [9]], ["a", "b"])
for name in pyimp.__all__:
    getattr(pyimp, name)
sys.modules["torch"] = None
for name in ("nothing", "torch"):
    try:
        getattr(pyimp, name)
    except AttributeError as error:
        print(str(error).split(" (")[0])
"""
        done = subprocess.run(
            [sys.executable, "-B", "-W", "error::DeprecationWarning:pyimp", "-c", code],
            check=True,
            capture_output=True,
            text=True,
        )
        self.assertEqual(done.stdout, "\n\nmodule 'pyimp' has no attribute 'nothing'\npyimp.torch needs PyTorch\n")


class Errors(unittest.TestCase):
    def test_wrong_arguments_are_value_errors_with_the_librarys_sentence(self):
        x, y = blobs(1)
        x[3, 2] = np.nan
        sentence = r"point row 3, column 2 is not a number \(NaN\)"
        with self.assertRaisesRegex(ValueError, sentence):
            InfiniteMixturePrototypes().fit(x, y)
        with self.assertRaisesRegex(ValueError, sentence):
            DPMeans().fit(x)

    def test_files_are_os_errors(self):
        for load in (InfiniteMixturePrototypes.load, Embedding.load):
            with self.assertRaisesRegex(OSError, "/nowhere/at/all.*No such file"):
                load("/nowhere/at/all")

    def test_lack_of_memory_is_a_memory_error(self):
        # in a process of its own, since the allocator is everybody's
        code = """
import ctypes
from pyimp import DPMeans
from pyimp._library import library

ALLOCATE = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_void_p)
RELEASE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)

class Allocator(ctypes.Structure):
    _fields_ = [("allocate", ALLOCATE), ("release", RELEASE), ("context", ctypes.c_void_p)]

nothing = Allocator(ALLOCATE(lambda size, alignment, context: None), RELEASE(), None)
library.imp_set_allocator(ctypes.byref(nothing))
try:
    DPMeans().fit([[0.0]])
except MemoryError as error:
    print(error)
"""
        done = subprocess.run([sys.executable, "-B", "-c", code], check=True, capture_output=True)
        self.assertRegex(done.stdout.decode(), "^out of memory for ")


def fit_labels(x):
    return DPMeans(8).fit(x).labels_


class Threads(unittest.TestCase):
    def test_other_threads_go_on_during_a_call(self):
        ticks = 0
        done = threading.Event()

        def tick():
            nonlocal ticks
            while not done.wait(0.001):
                ticks += 1

        ticker = threading.Thread(target=tick)
        ticker.start()
        try:
            duration, during, count = 0.0, 0, 500
            while during <= 20 and duration < 30:  # a busy machine needs a longer call
                x = np.random.default_rng(1).random((count, 16), np.float32)
                before, begin = ticks, time.perf_counter()
                DPMeans(threshold=0.0, max_iter=1).fit(x)
                duration, during = time.perf_counter() - begin, ticks - before
                count *= 2
        finally:
            done.set()
            ticker.join()
        # with the interpreter's lock held, only a few could slip in before the call and after it
        self.assertGreater(during, 20)

    def test_forked_processes_work_too(self):
        x, _ = blobs(3, each=500)
        expected = DPMeans(8).fit(x)  # on several threads, which do not survive the fork
        with multiprocessing.get_context("fork").Pool(2) as pool:
            found = pool.map_async(fit_labels, [x, x]).get(600)
        for labels in found:
            np.testing.assert_array_equal(labels, expected.labels_)

    def test_the_library_cannot_be_unloaded_under_its_threads(self):
        code = """
import _ctypes, sys
sys.modules["sklearn"] = None
import numpy as np
from pyimp import DPMeans
from pyimp._library import library
x = np.random.default_rng(0).normal(size=(200000, 2)).astype("f")
DPMeans(threshold=100.0, order="given", max_iter=2).fit(x)
_ctypes.dlclose(library._handle)
print(library._name in open("/proc/self/maps").read())
"""
        done = subprocess.run(
            [sys.executable, "-B", "-c", code], capture_output=True, text=True, check=False
        )
        self.assertEqual((done.returncode, done.stdout), (0, "True\n"), done.stderr)

    def test_many_threads_predict_with_one_model_while_it_grows(self):
        x, y = blobs(2, each=50)
        model = InfiniteMixturePrototypes().fit(x, y)
        expected = model.predict_proba(x)
        frozen = InfiniteMixturePrototypes().fit(x, y)
        wrong = []

        def ask():
            for _ in range(20):
                if not np.array_equal(frozen.predict_proba(x), expected):
                    wrong.append("another probability")
                try:
                    model.predict(x)
                except Exception as error:
                    wrong.append(repr(error))

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        for label in range(40):
            model.partial_fit(x[:5] + 1000 * label, np.full(5, -label - 2))
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])
        self.assertEqual(len(model.classes_), len(np.unique(y)) + 40)


if __name__ == "__main__":
    unittest.main()
