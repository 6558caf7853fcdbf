"""train and evaluate: the command's bits, callbacks, stops and mistakes."""

import json
import math
import subprocess
import tempfile
import unittest
from pathlib import Path

import numpy
from support import COMMAND, environment, needs_command

import pyimp

TINY = {
    "size": 14,
    "alphabets": 10,
    "network": "conv3x3:4,bn,relu,pool",
    "way": 3,
    "updates": 6,
    "validate_every": 6,
    "validation_episodes": 2,
}


def run(*words):
    done = subprocess.run(
        [COMMAND, *map(str, words)], check=True, env=environment(), stdout=subprocess.PIPE
    )
    return done.stdout


def options():
    for name, value in TINY.items():
        yield from (f"--{name.replace('_', '-')}", value)


class Train(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)

    @needs_command
    def test_the_command_makes_the_same_model_and_measures_it_alike(self):
        made = pyimp.train(self.folder / "here", threads=1, **TINY)
        run("train", "--out", self.folder / "there", "--quiet", "--threads", 1, *options())
        self.assertEqual(
            Path(made.model).read_bytes(), (self.folder / "there/model.safetensors").read_bytes()
        )
        self.assertTrue(made.finished and made.update == 6 and 0 <= made.best <= 1)
        found = pyimp.evaluate(made.model, episodes=9, seed=4, method="prototypes", way=4)
        words = "--episodes 9 --seed 4 --method prototypes --way 4 --json --quiet".split()
        told = json.loads(run("eval", "--model", made.model, *words))["results"][0]
        self.assertEqual(found.accuracy, told["accuracy"]["mean"])
        self.assertEqual(found.loss, told["loss"])

    def test_vectors_have_a_network_on_top(self):
        generator = numpy.random.default_rng(1)
        labels = numpy.repeat(["cat", "dog", "owl"], 40)
        points = generator.normal(size=(120, 5))
        points[:, 1:] *= 30
        points[:, 0] += numpy.repeat([0, 9, 18], 40)
        numpy.save(self.folder / "x.npy", points)
        numpy.save(self.folder / "y.npy", labels)
        data = f"vectors:{self.folder / 'x.npy'},{self.folder / 'y.npy'}"
        made = pyimp.train(
            self.folder / "run", data=data, network="linear:2", updates=300, rate=0.01
        )
        self.assertGreater(made.best, 0.9)
        embedding = pyimp.Embedding(made.model)
        self.assertEqual((embedding.channels, embedding.dimensions), (5, 2))
        found = embedding(points)
        self.assertEqual(found.shape, (120, 2))
        self.assertTrue((found == embedding(points.astype("float32"))).all())
        self.assertGreater(pyimp.evaluate(made.model, episodes=20).accuracy, 0.9)
        with self.assertRaisesRegex(ValueError, "the model takes"):
            embedding(points[:, :4])

    def test_a_callback_stops_a_run_and_resuming_ends_in_the_same_bits(self):
        whole = pyimp.train(self.folder / "whole", **TINY)
        seen = []

        def stop(report):
            seen.append(report["update"])
            return report["update"] < 3

        part = pyimp.train(self.folder / "part", callback=stop, **TINY)
        self.assertEqual((seen, part.update, part.finished), ([1, 2, 3], 3, False))
        part = pyimp.train(self.folder / "part", resume=True)
        self.assertTrue(part.finished)
        self.assertEqual(Path(part.model).read_bytes(), Path(whole.model).read_bytes())

    def test_what_a_callback_raises_is_raised(self):
        def fail(*_):
            raise KeyError("mine")

        with self.assertRaisesRegex(KeyError, "mine"):
            pyimp.train(self.folder / "run", callback=fail, **TINY)
        made = pyimp.train(self.folder / "run", resume=True, validate_every=6)
        self.assertTrue(made.finished)
        with self.assertRaisesRegex(KeyError, "mine"):
            pyimp.evaluate(made.model, episodes=3, way=3, threads=1, callback=fail)
        with self.assertRaisesRegex(ValueError, "stopped after 1 of 3 episodes"):
            pyimp.evaluate(made.model, episodes=3, way=3, threads=1, callback=lambda *_: False)

    def test_mistakes_are_sentences(self):
        for wrong, sentence in (
            ({"wey": 5}, "did you mean 'way'"),
            ({"way": "many"}, "'way' needs an integer"),
            ({"recipe": "none-such"}, "none-such"),
            ({"method": "impp", **TINY}, "did you mean 'imp'"),
            ({"learner": "metrik", **TINY}, "did you mean 'metric'"),
            ({"resume": True, "recipe": "omniglot-5way-1shot"}, "recipe already"),
        ):
            wrong = dict(wrong)
            with self.subTest(wrong=wrong), self.assertRaisesRegex(ValueError, sentence):
                pyimp.train(self.folder / "wrong", **wrong)
        # what would otherwise train by the defaults, into a folder of that name
        with self.assertRaisesRegex(ValueError, r"is a recipe; .*train\(folder, 'omniglot-5way-1shot'\)"):
            pyimp.train("omniglot-5way-1shot")
        with self.assertRaisesRegex(TypeError, "callback is 3; it must be a function"):
            pyimp.train(self.folder / "wrong", callback=3, **TINY)
        self.assertFalse((self.folder / "wrong").exists())
        with self.assertRaisesRegex(ValueError, "no run|holds no"):
            pyimp.train(self.folder / "nothing", resume=True)
        with self.assertRaises(OSError):
            pyimp.evaluate(self.folder / "nothing")

    def test_a_run_without_validation_has_no_best(self):
        made = pyimp.train(self.folder / "run", **{**TINY, "validate_every": 0, "updates": 1})
        self.assertTrue(math.isnan(made.best))


if __name__ == "__main__":
    unittest.main()
