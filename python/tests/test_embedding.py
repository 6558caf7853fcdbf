"""Embedding: the library's embeddings to the bit, shapes, bytes and floats, and model files."""

import copy
import math
import os
import pickle
import subprocess
import tempfile
import threading
import unittest
from pathlib import Path

import numpy as np
from support import COMMAND, environment, imp, needs_command

from pyimp import Embedding, InfiniteMixturePrototypes

PROGRAMS = os.environ.get("IMP_TEST_PROGRAMS")
TINY = """--size 16 --alphabets 10 --network conv3x3:4,bn,relu,pool,conv3x3:8,bn,relu,pool
--task alphabets --way 2 --modes 3 --queries 2 --updates 6 --validate-every 6
--validation-episodes 2 --quiet""".split()


def train(folder, *options):
    subprocess.run(
        [COMMAND, "train", "--out", folder, *TINY, *options], check=True, env=environment()
    )
    return Path(folder, "model.safetensors")


@needs_command
class Embeddings(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = Path(scratch.name)
        cls.gray = train(cls.folder / "gray")
        cls.inverted = train(cls.folder / "inverted", "--ink", "invert", "--colour", "rgb")
        random = np.random.default_rng(1)
        cls.bytes = random.integers(0, 256, (30, 3, 16, 16), np.uint8)
        cls.floats = random.random((30, 1, 16, 16), np.float32)

    @unittest.skipUnless(PROGRAMS, "IMP_TEST_PROGRAMS does not name the folder of the programs")
    def test_the_librarys_bits(self):
        for path in (self.gray, self.inverted):
            images, expected = self.folder / "images.npy", self.folder / "embeddings.npy"
            program = Path(PROGRAMS, "embed_roundtrip")
            subprocess.run([program, path, images, expected], check=True, env=environment())
            for threads in (0, 1, 3):
                embeddings = Embedding.load(path, threads=threads)(np.load(images))
                np.testing.assert_array_equal(embeddings, np.load(expected))

    def test_what_the_model_says(self):
        for path, channels, inverted in ((self.gray, 1, False), (self.inverted, 3, True)):
            embedding, info = Embedding.load(path), imp("model", "info", path)
            shape = (embedding.channels, embedding.height, embedding.width)
            self.assertEqual(shape, (channels, 16, 16))
            self.assertEqual(embedding.dimensions, info["embedding"])
            self.assertIs(embedding.inverted, inverted)
            self.assertIs(embedding.inverted, info["inverted"])
            for name, value in embedding.mixture_parameters.items():
                self.assertAlmostEqual(value, info.get(name, info["settings"].get(name)))
            self.assertEqual(set(embedding.mixture_parameters), {"alpha", "sigma_l", "sigma_u"})
            InfiniteMixturePrototypes(**embedding.mixture_parameters)

    def test_bytes_are_scaled_and_inverted_as_in_training(self):
        scaled = self.bytes.astype(np.float32) / np.float32(255)
        turned = (255 - self.bytes).astype(np.float32) / np.float32(255)
        gray, inverted = Embedding.load(self.gray), Embedding.load(self.inverted)
        np.testing.assert_array_equal(gray(self.bytes[:, :1]), gray(scaled[:, :1]))
        np.testing.assert_array_equal(inverted(self.bytes), inverted(turned))
        self.assertFalse(np.array_equal(inverted(self.bytes), inverted(scaled)))

    def test_shapes(self):
        gray, rgb = Embedding.load(self.gray), Embedding.load(self.inverted)
        expected = gray(self.floats)
        self.assertEqual(expected.shape, (30, gray.dimensions))
        self.assertEqual(expected.dtype, np.float32)
        np.testing.assert_array_equal(gray(self.floats[:, 0]), expected)
        np.testing.assert_array_equal(gray(np.moveaxis(self.floats, 1, -1)), expected)
        np.testing.assert_array_equal(gray(self.floats.astype(float)), expected)
        np.testing.assert_array_equal(gray(self.floats.tolist()), expected)
        np.testing.assert_array_equal(rgb(np.moveaxis(self.bytes, 1, -1)), rgb(self.bytes))
        self.assertEqual(gray(self.floats[:0]).shape, (0, gray.dimensions))

    def test_floats_are_not_copied(self):
        gray = Embedding.load(self.gray)
        self.assertTrue(np.shares_memory(gray._as_input(self.floats), self.floats))
        self.assertTrue(np.shares_memory(gray._as_input(self.floats[:, 0]), self.floats))

    def test_wrong_input_gets_a_sentence(self):
        gray = Embedding.load(self.gray)
        takes = r"the model takes \(n, 1, 16, 16\): channels, height and width"
        for shape in ((2, 1, 28, 28), (2, 3, 16, 16), (16, 16), (2, 16, 16, 3), ()):
            with self.assertRaisesRegex(ValueError, takes):
                gray(np.zeros(shape, np.float32))
        with self.assertRaisesRegex(ValueError, "the images are int64; they are uint8"):
            gray(np.zeros((2, 16, 16), np.int64))
        path = self.folder / "none.safetensors"
        path.write_bytes(b"no model")
        with self.assertRaisesRegex(ValueError, str(path)):
            Embedding.load(path)
        with self.assertRaisesRegex(ValueError, "threads is -1"):
            Embedding.load(self.gray, threads=-1)

    def test_pickle_and_copy(self):
        gray = Embedding.load(self.gray, threads=1)
        for other in (pickle.loads(pickle.dumps(gray)), copy.deepcopy(gray)):
            np.testing.assert_array_equal(other(self.floats), gray(self.floats))
            self.assertEqual(other.threads, 1)

    def test_many_threads_at_once(self):
        gray = Embedding.load(self.gray)
        expected, found = gray(self.floats), []

        def embed():
            found.extend(np.array_equal(gray(self.floats), expected) for _ in range(10))

        threads = [threading.Thread(target=embed) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(found, [True] * 40)

    def test_learned_variances(self):
        tied = train(self.folder / "tied", "--method", "imp-tied", "--sigma-l", "3")
        parameters = Embedding.load(tied).mixture_parameters
        self.assertEqual(parameters["sigma_l"], parameters["sigma_u"])
        self.assertLess(abs(math.log(parameters["sigma_l"] / 3)), 0.1)


if __name__ == "__main__":
    unittest.main()
