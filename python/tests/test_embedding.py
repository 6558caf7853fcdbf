"""Embedding: the library's and the command's embeddings to the bit, shapes, bytes and floats, and
model files."""

import copy
import math
import os
import pickle
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path

import numpy as np
from PIL import Image
from support import COMMAND, SOURCE, environment, imp, needs_command

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
        cls.built_in = SOURCE / "models" / "omniglot-alphabets.safetensors"
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
        for path, channels, inversion in ((self.gray, 1, "light"), (self.inverted, 3, "all")):
            embedding, info = Embedding.load(path), imp("model", "info", path)
            shape = (embedding.channels, embedding.height, embedding.width)
            self.assertEqual(shape, (channels, 16, 16))
            self.assertEqual(embedding.dimensions, info["embedding"])
            self.assertEqual(embedding.inversion, inversion)
            parameters = embedding.mixture_parameters
            self.assertAlmostEqual(parameters["sigma_l"], info["sigma_l"])
            self.assertEqual(parameters["sigma_u"], parameters["sigma_l"])
            self.assertEqual((parameters["alpha"], info["settings"]["alpha"]), (0.1, "auto"))
            self.assertEqual((parameters["threshold"], parameters["cluster_steps"]), ("auto", 1))

    def test_bytes_are_scaled_and_inverted_as_asked_for(self):
        scaled = self.bytes.astype(np.float32) / np.float32(255)
        turned = (255 - self.bytes).astype(np.float32) / np.float32(255)
        own = Embedding.load(self.inverted)
        np.testing.assert_array_equal(own(self.bytes), own(turned))
        self.assertFalse(np.array_equal(own(self.bytes), own(scaled)))
        for ink, expected in (("as-is", scaled), ("invert", turned)):
            gray = Embedding.load(self.gray, ink=ink)
            np.testing.assert_array_equal(gray(self.bytes[:, :1]), gray(expected[:, :1]))

    def drawings(self, size, channels):
        """Ink on paper, chalk on a board, and noise, as files and as an array."""
        random = np.random.default_rng(2)
        pictures = random.integers(0, 256, (9, size, size, channels), np.uint8)
        pictures[:3] = 255 - pictures[:3] // 9
        pictures[3:6] //= 9
        pictures[:3, 5:9, 3:12] = 20
        pictures[3:6, 5:9, 3:12] = 230
        folder = Path(tempfile.mkdtemp(dir=self.folder))
        for number, picture in enumerate(pictures):
            Image.fromarray(picture.squeeze()).save(folder / f"{number}.png")
        return folder, pictures

    def test_the_commands_bits(self):
        inverted_gray = train(self.folder / "inverted gray", "--ink", "invert")
        models = [self.gray, self.inverted, inverted_gray]
        if self.built_in.exists():
            models.append(self.built_in)
        for path in models:
            embedding = Embedding.load(path)
            folder, pictures = self.drawings(embedding.width, embedding.channels)
            for ink in ("own", "as-is", "invert"):
                file = folder / f"{ink}.npy"
                arguments = ("embed", folder, "--model", path, "--ink", ink, "-o", file)
                subprocess.run(
                    [COMMAND, *arguments], check=True, env=environment(), capture_output=True
                )
                found = Embedding.load(path, ink=ink)(pictures)
                np.testing.assert_array_equal(found, np.load(file), f"{path} {ink}")

    def test_the_commands_mixture(self):
        models = [self.gray, train(self.folder / "unlabeled", "--unlabeled", "2")]
        learned = ("--sigma-l", "2", "--sigma-u", "4", "--alpha", "0.3", "--cluster-steps", "3")
        models.append(train(self.folder / "given", *learned, "--lambda", "7"))
        for path in models:
            embedding = Embedding.load(path)
            folder, pictures = self.drawings(16, 1)
            for number in range(9):
                place = folder / ("_unlabeled" if number > 6 else f"class {number % 2}")
                place.mkdir(exist_ok=True)
                os.rename(folder / f"{number}.png", place / f"{number}.png")
            said = imp("classify", "--support", folder, "--model", path, folder / "class 0")
            labels = [0, 1, 0, 1, 0, 1, 0, -1, -1]
            order = np.argsort(labels[:7] + [2, 2], kind="stable")  # the command's
            model = InfiniteMixturePrototypes(**embedding.mixture_parameters)
            model.fit(embedding(pictures)[order], np.array(labels)[order])
            self.assertEqual(model.lambda_, said["lambda"])
            sigmas = [cluster["sigma"] for cluster in said["clusters"]]
            self.assertEqual(model.cluster_sigmas_.tolist(), sigmas)
            weights = [cluster["weight"] for cluster in said["clusters"]]
            np.testing.assert_allclose(model.cluster_weights_, weights, rtol=1e-6)

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

    def test_pictures_of_any_size(self):
        embedding, folder = Embedding(self.inverted), self.folder / "any size"
        folder.mkdir()
        random = np.random.default_rng(3)
        shapes = ((16, 16, 3), (40, 20, 3), (9, 31))
        pictures = [random.integers(0, 256, shape, np.uint8) for shape in shapes]
        for number, picture in enumerate(pictures):
            Image.fromarray(picture).save(folder / f"{number}.png")
        arguments = ("embed", folder, "--model", self.inverted, "-o", folder / "x.npy")
        subprocess.run([COMMAND, *arguments], check=True, env=environment(), capture_output=True)
        expected = np.load(folder / "x.npy")
        np.testing.assert_array_equal(embedding(pictures), expected)
        np.testing.assert_array_equal(embedding(tuple(map(Image.fromarray, pictures))), expected)
        np.testing.assert_array_equal(embedding(pictures[1][np.newaxis]), expected[1:2])
        with self.assertRaisesRegex(ValueError, r"a picture has the shape \(4,\)"):
            embedding([np.zeros(4, np.uint8)])
        with self.assertRaisesRegex(ValueError, "picture 0: the picture is 4x9x9; it must be gray"):
            embedding(np.zeros((1, 9, 9, 4), np.uint8))

    def test_the_built_in_model(self):
        if not self.built_in.exists():
            self.skipTest("there is no such model file")
        embedding, file = Embedding(), Embedding(self.built_in)
        self.assertIsNone(embedding.path)
        _, pictures = self.drawings(28, 1)
        np.testing.assert_array_equal(embedding(pictures), file(pictures))
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(embedding))(pictures), file(pictures))

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
        for threads in (-1, 2**32 + 1):
            with self.assertRaisesRegex(ValueError, f"threads is {threads}; it must be a whole number"):
                Embedding.load(self.gray, threads=threads)
        with self.assertRaisesRegex(TypeError, "it must be a list of paths"):
            gray.files("picture.png")
        for timeout in (-1, float("nan"), "long"):
            with self.assertRaisesRegex(ValueError, "^timeout is .*; it must be a positive number of seconds"):
                Embedding(embedder="cat", timeout=timeout)
        with self.assertRaisesRegex(ValueError, "ink is 'dark'; there are 'own', 'as-is'"):
            Embedding.load(self.gray, ink="dark")

    def test_pickle_and_copy(self):
        gray = Embedding.load(self.gray, threads=1, ink="invert")
        for other in (pickle.loads(pickle.dumps(gray)), copy.deepcopy(gray)):
            np.testing.assert_array_equal(other(self.floats), gray(self.floats))
            self.assertEqual((other.threads, other.inversion), (1, "all"))

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


class Embedders(unittest.TestCase):
    """Any program instead of a model: tests/embedder.py counts letters."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)
        self.log = self.folder / "log"
        self.command = f"{sys.executable} {SOURCE / 'tests' / 'embedder.py'} --log {self.log}"
        for name, text in (("vowels", "aeiou aea"), ("hisses", "sszz zs"), ("ooh", "ioua eia")):
            (self.folder / name).write_text(text)
        self.paths = [self.folder / name for name in ("vowels", "hisses", "ooh")]

    def test_files_of_any_kind(self):
        embedding = Embedding(embedder=self.command)
        vectors = embedding.files(self.paths)
        self.assertEqual(vectors.shape, (3, embedding.dimensions))
        np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-5)
        self.assertGreater(vectors[0] @ vectors[2], vectors[0] @ vectors[1])
        self.assertIn(embedding.name, repr(embedding))
        parameters = embedding.mixture_parameters
        classifier = InfiniteMixturePrototypes(**parameters).fit(vectors[:2], ["vowels", "hisses"])
        self.assertEqual(list(classifier.predict(vectors[2:])), ["vowels"])

    def test_the_cache_does_without_asking(self):
        cache = self.folder / "cache"
        first = Embedding(embedder=self.command, cache=cache).files(self.paths)
        asked = self.log.read_text().count("file")
        second = Embedding(embedder=self.command, cache=cache).files(self.paths)
        np.testing.assert_array_equal(first, second)
        self.assertEqual(self.log.read_text().count("file"), asked)

    def test_what_goes_wrong_is_said(self):
        embedding = Embedding(embedder=self.command)
        with self.assertRaisesRegex((ValueError, OSError), "nowhere"):
            embedding.files([self.folder / "nowhere"])
        with self.assertRaisesRegex(TypeError, "cannot be pickled"):
            pickle.dumps(embedding)
        with self.assertRaises((ValueError, OSError)):
            Embedding(embedder="exit 1")
        with self.assertRaisesRegex(ValueError, "give one of them"):
            Embedding(SOURCE / "models" / "omniglot-alphabets.safetensors", embedder=self.command)


if __name__ == "__main__":
    unittest.main()
