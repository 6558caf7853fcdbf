"""DPMeans and InfiniteMixtureClustering: the command's answers to the bit, and new points."""

import copy
import pickle
import tempfile
import unittest
import warnings
from pathlib import Path

import numpy as np
from support import blobs, imp, needs_command

from pyimp import DPMeans, InfiniteMixtureClustering, metrics

CLUSTERERS = {"dp-means": DPMeans, "imp": InfiniteMixtureClustering}


@needs_command
class Command(unittest.TestCase):
    def test_the_same_bits(self):
        x, _ = blobs(1)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "x.npy")
            np.save(path, x)
            for method, clusterer in CLUSTERERS.items():
                for options, parameters in (
                    ([], {}),
                    (["--clusters", 5], {"n_clusters": 5}),
                    (["--lambda", 30, "--order", "random"], {"threshold": 30, "order": "random"}),
                    (
                        ["--lambda", 9, "--order", "random", "--seed", 7],
                        {"threshold": 9, "order": "random", "seed": 7},
                    ),
                    (["--order", "farthest-first"], {"order": "farthest-first"}),
                ):
                    self.compare(
                        clusterer(**parameters).fit(x),
                        imp("cluster", path, "--method", method, *options),
                    )
            few = imp("cluster", path, "--method", "dp-means", "--steps", 1, "--lambda", 5)
            self.compare(DPMeans(threshold=5, max_iter=1).fit(x), few)
            wide = imp("cluster", path, "--steps", 2, "--sigma", 0.5)
            self.compare(InfiniteMixtureClustering(sigma=0.5, steps=2).fit(x), wide)

    def compare(self, model, found):
        np.testing.assert_array_equal(model.labels_, found["assignments"])
        np.testing.assert_array_equal(model.cluster_centers_, np.float32(found["means"]))
        np.testing.assert_array_equal(model.cluster_sizes_, found["sizes"])
        self.assertEqual(model.lambda_, found["lambda"])
        self.assertEqual(model.objective_, found["objective"])
        self.assertEqual(model.n_iter_, found["steps"])
        self.assertEqual(model.converged_, found["converged"])
        if "sigma" in found:
            self.assertEqual(model.sigma_, found["sigma"])


class Clusters(unittest.TestCase):
    def test_blobs_are_found(self):
        x, y = blobs(2, classes=6, modes=1, spread=30)
        for clusterer in CLUSTERERS.values():
            for parameters in ({}, {"n_clusters": 6}, {"threshold": 200}):
                labels = clusterer(**parameters).fit_predict(x)
                self.assertEqual(metrics.adjusted_rand(y, labels), 1, (clusterer, parameters))

    def test_spherical_noise_in_many_dimensions(self):
        y = np.arange(400) % 10
        x = np.random.default_rng(1).normal(size=(400, 256)) + 6 / np.sqrt(2) * np.eye(256)[y]
        for clusterer in CLUSTERERS.values():
            model = clusterer().fit(x)
            self.assertGreater(metrics.adjusted_rand(y, model.labels_), 0.8)
            self.assertEqual(len(model.cluster_centers_), 10)
            self.assertEqual(model.choice_["by"], "likely")
            self.assertEqual(model.choice_["apart"], np.inf)
            self.assertTrue(10 < model.choice_["groups"] < 400)

    def test_what_is_known_of_some_points(self):
        x, y = blobs(2, classes=6, modes=1, each=20, spread=30)
        for clusterer in CLUSTERERS.values():
            model = clusterer().fit(x)
            self.assertEqual(len(model.cluster_centers_), 6)
            self.assertEqual(model.choice_["by"], "apart")
            self.assertIsNone(model.cluster_labels_)
            halves = np.where(np.arange(len(y)) % 2 == 0, y // 2, -1)
            model.fit(x, labels=halves)
            self.assertTrue(np.array_equal(model.cluster_labels_[model.labels_], y // 2))
            together, apart = np.flatnonzero(y == 0)[:2], np.flatnonzero(y == 1)[:2]
            model.fit(x, must_link=[(together[0], apart[0])], cannot_link=[apart])
            self.assertEqual(model.labels_[together[0]], model.labels_[apart[0]])
            self.assertNotEqual(model.labels_[apart[0]], model.labels_[apart[1]])
            with self.assertRaisesRegex(ValueError, "together"):
                model.fit(x, must_link=[(0, 1)], cannot_link=[(1, 0)])
            with self.assertRaisesRegex(ValueError, "two integers"):
                model.fit(x, must_link=[0.5, 1])

    def test_what_was_found_fits_together(self):
        x, _ = blobs(3)
        for clusterer in CLUSTERERS.values():
            model = clusterer(n_clusters=8).fit(x)
            inertia = np.sum((x - model.cluster_centers_[model.labels_]).astype(float) ** 2)
            self.assertAlmostEqual(model.inertia_ / inertia, 1, 5)
            count = len(model.cluster_centers_)
            np.testing.assert_array_equal(
                np.bincount(model.labels_, minlength=count), model.cluster_sizes_
            )
            self.assertAlmostEqual(model.objective_, model.inertia_ + count * model.lambda_)

    def test_new_points_go_to_the_nearest_center(self):
        x, _ = blobs(4, each=40)
        model = DPMeans().fit(x[::2])
        distances = np.sum((x[:, None] - model.cluster_centers_.astype(float)) ** 2, axis=2)
        np.testing.assert_array_equal(model.predict(x), np.argmin(distances, axis=1))
        np.testing.assert_array_equal(model.predict(x[::2]), model.labels_)

    def test_distances_to_centers(self):
        x, _ = blobs(4)
        for clusterer in CLUSTERERS.values():
            model = clusterer(n_clusters=6, n_jobs=1)
            distances = model.fit_transform(x)
            plain = np.linalg.norm(x[:, None] - model.cluster_centers_[None], axis=2)
            np.testing.assert_allclose(distances, plain, rtol=1e-4, atol=1e-4)
            np.testing.assert_array_equal(model.transform(x).argmin(axis=1), model.predict(x))

    def test_centers_of_ones_own(self):
        x, _ = blobs(4)
        model = DPMeans().fit(x)
        model.cluster_centers_ = np.asfortranarray(x[:3].astype(float))
        np.testing.assert_array_equal(model.predict(x[:3]), [0, 1, 2])
        model.cluster_centers_ = x[:3, :2]
        with self.assertRaisesRegex(ValueError, r"cluster_centers_ was given the shape \(3, 2\)"):
            model.predict(x)

    def test_copies(self):
        x, _ = blobs(5)
        for clusterer in CLUSTERERS.values():
            model = clusterer(n_clusters=4).fit(x)
            for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
                np.testing.assert_array_equal(other.predict(x), model.predict(x))
                self.assertEqual(other.get_params(), model.get_params())

    def test_wrong_input_gets_a_sentence(self):
        x, _ = blobs(6)
        for parameters, sentence in (
            ({"n_clusters": 0}, "n_clusters is 0; it must be a whole number from 1 to 2147483647"),
            ({"n_clusters": 2**64 + 2}, "n_clusters is 18446744073709551618; it must be a whole number"),
            ({"n_clusters": 1000}, "1000 clusters are wanted of 48 points"),
            ({"n_clusters": 3, "threshold": 3}, "n_clusters and threshold are both given"),
            ({"threshold": -1}, "threshold is -1; it must be a number of at least 0"),
            ({"order": "any"}, "order is 'any'; there are 'auto', 'given', 'random', 'farthest"),
            ({"seed": -1}, "seed is -1; it must be a whole number from 0 to 9223372036854775807"),
            ({"seed": 2**64}, "seed is 18446744073709551616; it must be a whole number"),
        ):
            for clusterer in CLUSTERERS.values():
                with self.assertRaisesRegex(ValueError, sentence):
                    clusterer(**parameters).fit(x)
        with self.assertRaisesRegex(ValueError, "max_iter is 1180591620717411303424; it must be a"):
            DPMeans(max_iter=2**70).fit(x)
        with self.assertRaisesRegex(ValueError, "steps is 1000001; it must be a whole number from 1 to"):
            InfiniteMixtureClustering(steps=1000001).fit(x)
        with self.assertRaisesRegex(ValueError, "max_iter is 0; it must be a whole number"):
            DPMeans(max_iter=0).fit(x)
        with self.assertRaisesRegex(ValueError, "sigma is 0; it must be a number from"):
            InfiniteMixtureClustering(sigma=0).fit(x)
        with self.assertRaisesRegex(ValueError, "sigma is 'wide'; it must be a number"):
            InfiniteMixtureClustering(sigma="wide").fit(x)
        with self.assertRaisesRegex(ValueError, "not fitted yet"):
            DPMeans().predict(x)
        with self.assertRaisesRegex(ValueError, "X has 2 features"):
            DPMeans().fit(x).predict(x[:, :2])

    def test_quadratic_work_is_warned_of(self):
        x = np.random.default_rng(0).normal(size=(30000, 2)).astype(np.float32)
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # what is not begun takes no time
            with self.assertRaisesRegex(UserWarning, "about 30000 clusters.*of a larger threshold"):
                InfiniteMixtureClustering(threshold=0).fit(x)
            InfiniteMixtureClustering(threshold=100).fit(x)
        with self.assertWarnsRegex(UserWarning, "about 30000 clusters") as caught:
            DPMeans(threshold=0).fit(x)
        self.assertEqual(caught.filename, __file__)


if __name__ == "__main__":
    unittest.main()
