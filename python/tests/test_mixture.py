"""InfiniteMixturePrototypes: the command's answers to the bit, labels of every kind, growing."""

import copy
import json
import pickle
import tempfile
import threading
import unittest
from pathlib import Path

import numpy as np
from support import blobs, hide, imp, needs_command

from pyimp import InfiniteMixturePrototypes
from pyimp._estimator import validate

RESULTS = (
    "lambda_",
    "classes_",
    "cluster_centers_",
    "cluster_labels_",
    "cluster_sigmas_",
    "cluster_weights_",
)


class Case(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)

    def save(self, **arrays):
        """Saves arrays as NAME.npy; the paths in the same order."""
        paths = [self.folder / f"{name}.npy" for name in arrays]
        for path, array in zip(paths, arrays.values()):
            np.save(path, array)
        return paths

    def assert_same(self, left, right, x):
        """The same bits, in what was found and in what is predicted."""
        for name in RESULTS:
            np.testing.assert_array_equal(getattr(left, name), getattr(right, name), name)
        np.testing.assert_array_equal(left.predict(x), right.predict(x))
        np.testing.assert_array_equal(left.predict_proba(x), right.predict_proba(x))


class Views(Case):
    """Points that are known in several ways at once."""

    def setUp(self):
        super().setUp()
        generator = np.random.default_rng(3)
        self.y = np.arange(160) % 4
        side = np.stack([self.y % 2, self.y // 2], 1) * 4.0
        self.left = np.hstack([side[:, :1], np.zeros((160, 1))]) + generator.normal(size=(160, 2))
        self.right = 1000 * (side[:, 1:] + generator.normal(size=(160, 1)))
        self.noise = generator.normal(size=(160, 5)) * 70

    def accuracy(self, views):
        model = InfiniteMixturePrototypes().fit([v[:60] for v in views], self.y[:60])
        rest = [v[60:] for v in views]
        return model, np.mean(model.predict(rest) == self.y[60:])

    def test_two_views_tell_more_than_one_and_noise_does_no_harm(self):
        _, alone = self.accuracy([self.left, self.left])
        model, joined = self.accuracy([self.left, self.right])
        noisy, same = self.accuracy([self.left, self.right, self.noise])
        self.assertLess(alone, 0.7)
        self.assertGreater(joined, 0.85)
        self.assertGreater(same, joined - 0.03)
        views = noisy.choice_["views"]
        self.assertEqual([view["dimensions"] for view in views], [2, 1, 5])
        self.assertLess(views[2]["weight"], 0.2)
        self.assertAlmostEqual(sum(view["weight"] for view in views), 1)
        path = self.folder / "m.safetensors"
        model.save(path)
        self.assert_same(model, InfiniteMixturePrototypes.load(path), [self.left, self.right])
        grown = model.partial_fit([self.left[60:], self.right[60:]], self.y[60:])
        self.assertEqual(grown.predict([self.left, self.right]).shape, (160,))

    def test_views_that_do_not_fit_are_refused(self):
        with self.assertRaisesRegex(ValueError, "the views have 160, 60 rows"):
            InfiniteMixturePrototypes().fit([self.left, self.right[:60]], self.y)
        with self.assertRaisesRegex(ValueError, "several views are joined"):
            InfiniteMixturePrototypes(alpha=0.1).fit([self.left, self.right], self.y)
        model = InfiniteMixturePrototypes().fit([self.left, self.right], self.y)
        with self.assertRaisesRegex(ValueError, "the model was fitted to"):
            model.predict(self.left)
        with self.assertRaisesRegex(ValueError, "the model was fitted to"):
            model.predict([self.right, self.left])

    @needs_command
    def test_the_command_gives_the_same_answers_and_names(self):
        names = np.array(["cat", "dog", "owl", "\u00e9lk"])[self.y]
        a, b, y = self.save(a=self.left, b=self.right, y=names)
        fitted = self.folder / "m.safetensors"
        imp("fit", "--support", a, "--support", b, "--labels", y, "-o", fitted)
        model = InfiniteMixturePrototypes().fit([self.left, self.right], names)
        loaded = InfiniteMixturePrototypes.load(fitted)
        self.assertEqual(list(loaded.classes_), list(model.classes_))
        self.assert_same(loaded, model, [self.left, self.right])


@needs_command
class Command(Case):
    """The same numbers as `imp fit`, `predict` and `add`, to the bit."""

    def test_fit_predict_and_classify(self):
        for seed, (options, parameters) in enumerate(
            (
                ([], {}),
                (["--preset", "paper"], {"preset": "paper"}),
                (["--metric", "unit", "--whiten", "yes"], {"metric": "unit", "whiten": True}),
                (["--unlabeled-weight", 0.5], {"unlabeled_weight": 0.5}),
                (["--alpha", 1e-5, "--sigma-l", 2], {"alpha": 1e-5, "sigma_l": 2}),
                (["--lambda", 30, "--cluster-steps", 3], {"threshold": 30, "cluster_steps": 3}),
                (["--sigma-u", 0.5], {"sigma_u": 0.5}),
            )
        ):
            for open_set in (False, True):
                x, y = blobs(seed)
                y = hide(y, seed)
                queries = blobs(seed, each=3)[0]
                support, labels, query = self.save(support=x, labels=y, query=queries)
                points = ["--support", support, "--labels", labels]
                open_option = ["--open-set"] * open_set

                model = InfiniteMixturePrototypes(**parameters, open_set=open_set).fit(x, y)
                mixture = self.folder / "m.safetensors"
                fitted = imp("fit", *points, *options, "-o", mixture)
                self.assertEqual(model.lambda_, fitted["lambda"])
                self.assert_clusters(model, fitted["clusters"])
                found = imp("predict", mixture, query, *open_option)
                self.assert_answers(model, queries, found)
                clusters, distances = model.apply(queries, return_distance=True)
                np.testing.assert_array_equal(clusters, found["clusters"])
                np.testing.assert_array_equal(distances, np.float32(found["distances"]))

                # a method keeps logarithms of variances, so that the last bit may differ
                found = imp("classify", *points, "--query", query, *options, *open_option)
                np.testing.assert_array_equal(model.predict(queries), found["predictions"])
                np.testing.assert_allclose(
                    model.predict_proba(queries), found["probabilities"], rtol=1e-5
                )

    def assert_answers(self, model, queries, found):
        np.testing.assert_array_equal(model.predict(queries), found["predictions"])
        np.testing.assert_array_equal(
            model.predict_proba(queries), np.float32(found["probabilities"])
        )

    def assert_clusters(self, model, clusters):
        np.testing.assert_array_equal(model.cluster_labels_, [c["label"] for c in clusters])
        np.testing.assert_array_equal(model.cluster_sigmas_, [c["sigma"] for c in clusters])
        np.testing.assert_array_equal(model.cluster_weights_, [c["weight"] for c in clusters])
        np.testing.assert_array_equal(model.cluster_centers_, [c["mean"] for c in clusters])

    def test_doubles_are_rounded_as_the_command_rounds_them(self):
        x, y = blobs(7)
        x = x + np.random.default_rng(7).normal(size=x.shape)
        support, labels = self.save(support=x, labels=y)
        points = ["--support", support, "--labels", labels]
        mixture = self.folder / "m.safetensors"
        model = InfiniteMixturePrototypes().fit(x, y)
        self.assert_clusters(model, imp("fit", *points, "-o", mixture)["clusters"])
        self.assert_answers(model, x, imp("predict", mixture, support))

    def test_add(self):
        x, y = blobs(3)
        more, more_y = blobs(4, classes=6)
        more_y = hide(more_y, 4)
        model = InfiniteMixturePrototypes().fit(x, y)
        path = self.folder / "m.safetensors"
        model.save(path)
        support, labels = self.save(support=more, labels=more_y)
        imp("add", path, "--support", support, "--labels", labels)
        model.partial_fit(more, more_y)

        self.assert_answers(model, more, imp("predict", path, support))
        self.assert_same(InfiniteMixturePrototypes.load(path), model, more)

    def test_files_of_the_command_are_loaded(self):
        x, y = blobs(5)
        support, labels = self.save(support=x, labels=y)
        path = self.folder / "m.safetensors"
        points = ["--support", support, "--labels", labels, "--preset", "paper"]
        imp("fit", *points, "-o", path, "--sigma-l", 3)
        loaded = InfiniteMixturePrototypes.load(path)
        model = InfiniteMixturePrototypes(preset="paper", sigma_l=3).fit(x, y)
        self.assert_same(loaded, model, x)
        self.assertEqual(loaded.sigma_l, 3)
        self.assertEqual(loaded.threshold, model.lambda_)
        self.assertEqual((loaded.alpha, loaded.cluster_steps), (0.1, 1))

    def test_the_rule_that_was_used_fits_the_same(self):
        x, y = blobs(7)
        model = InfiniteMixturePrototypes(preset="paper", sigma_u=2).fit(x, y)
        expected = {"alpha": 0.1, "sigma_l": 5, "sigma_u": 2, "cluster_steps": 1}
        self.assertEqual(model.rule_, {**expected, "threshold": model.lambda_})
        self.assert_same(InfiniteMixturePrototypes(**model.rule_).fit(x, y), model, x)


class Labels(Case):
    """Labels of any kind, and what stands for none."""

    def test_kinds(self):
        x, y = blobs(1)
        expected = InfiniteMixturePrototypes().fit(x, y)
        for names in (
            np.array([10, 20, 30, 40]),
            np.array([0.0, 1.0, 2.0, 7.0]),
            np.array(["ant", "bee", "cat", "dog"]),
            np.array(["ant", "bee", "cat", "dog"], object),
        ):
            model = InfiniteMixturePrototypes().fit(x, names[y])
            np.testing.assert_array_equal(model.classes_, names)
            self.assertEqual(model.predict(x).dtype, names.dtype)
            np.testing.assert_array_equal(model.predict(x), names[expected.predict(x)])
            np.testing.assert_array_equal(model.predict_proba(x), expected.predict_proba(x))
            self.assertEqual(model.score(x, names[y]), expected.score(x, y))

    def test_markers(self):
        x, y = blobs(2)
        hidden = hide(y, 2)
        expected = InfiniteMixturePrototypes(open_set=True).fit(x, hidden)
        texts = np.array(["a", "b", "c", "d", "?"])
        for marker, labels in (
            ("?", texts[hidden]),
            (-1, np.where(hidden < 0, -1, texts[hidden].astype(object))),
            (99, np.where(hidden < 0, 99, hidden)),
        ):
            model = InfiniteMixturePrototypes(open_set=True, unlabeled=marker).fit(x, labels)
            self.assertEqual(len(model.classes_), 4)
            np.testing.assert_array_equal(model.predict_proba(x), expected.predict_proba(x))
            answers = model.predict(x)
            np.testing.assert_array_equal(answers == marker, expected.predict(x) == -1)
            np.testing.assert_array_equal(
                model.cluster_labels_ == marker, expected.cluster_labels_ == -1
            )

    def test_none_and_nan_are_no_labels(self):
        x, y = blobs(2)
        hidden = hide(y, 2)
        expected = InfiniteMixturePrototypes().fit(x, hidden)
        texts = np.array(["a", "b", "c", "d"], object)
        for missing in (None, np.nan, float("nan")):
            for names in (texts, np.arange(4).astype(object)):
                labels = np.where(hidden < 0, missing, names[hidden])
                for given in (labels, labels.tolist()):
                    model = InfiniteMixturePrototypes().fit(x, given)
                    self.assertEqual(model.classes_.tolist(), names.tolist())
                    np.testing.assert_array_equal(model.predict_proba(x), expected.predict_proba(x))
        floats = np.where(hidden < 0, np.nan, hidden)
        self.assertEqual(InfiniteMixturePrototypes().fit(x, floats).classes_.tolist(), [0, 1, 2, 3])
        labels = [None, -1, "a", "b"]  # and the marker, too
        model = InfiniteMixturePrototypes(preset="paper", threshold=900)
        model.fit(x[:4], np.array(labels, object))
        self.assertEqual(model.classes_.tolist(), ["a", "b"])
        model.partial_fit(x[:2], [None, "b"], classes=["a", "b"])
        model.partial_fit(x[:2], [None, None], classes=["a", "b"])
        self.assertAlmostEqual(sum(model.cluster_weights_), 8, 4)
        nobody = InfiniteMixturePrototypes(threshold=900).fit(x, [None] * len(x))
        self.assertEqual(len(nobody.classes_), 0)
        with self.assertRaisesRegex(ValueError, "no label for point 1, but unlabeled=None"):
            InfiniteMixturePrototypes(unlabeled=None).fit(x[:2], ["a", None])

    def test_without_a_marker_every_label_is_a_class(self):
        x, y = blobs(2, classes=2)
        model = InfiniteMixturePrototypes(unlabeled=None).fit(x, 2 * y - 1)
        np.testing.assert_array_equal(model.classes_, [-1, 1])

    def test_a_marker_that_became_a_string_is_not_taken_for_a_class(self):
        x, _ = blobs(2, classes=1, modes=1)
        with self.assertRaisesRegex(ValueError, "give unlabeled='-1'"):
            InfiniteMixturePrototypes().fit(x[:3], ["cat", "dog", -1])

    def test_no_labels_at_all(self):
        x, y = blobs(3)
        nothing = np.full(len(x), -1)
        with self.assertRaisesRegex(ValueError, "no point has a label"):
            InfiniteMixturePrototypes().fit(x, nothing)
        model = InfiniteMixturePrototypes(threshold=40).fit(x, nothing)
        self.assertEqual(len(model.classes_), 0)
        np.testing.assert_array_equal(model.predict(x), nothing)
        self.assertEqual(model.predict_proba(x).shape, (len(x), 0))
        self.assertEqual(len(np.unique(model.apply(x))), 8)

    def test_unlabelled_points_get_labels(self):
        x, y = blobs(6, modes=1)
        hidden = hide(y, 6, share=0.9)
        self.assertLess(np.mean(hidden >= 0), 0.4)
        found = InfiniteMixturePrototypes().fit_predict(x, hidden)
        np.testing.assert_array_equal(found, y)


class Weights(Case):
    def test_ones_and_zeros(self):
        x, y = blobs(8)
        plain = InfiniteMixturePrototypes().fit(x, y)
        ones = InfiniteMixturePrototypes().fit(x, y, sample_weight=np.ones(len(x)))
        np.testing.assert_array_equal(plain.predict_proba(x), ones.predict_proba(x))
        some = np.arange(len(x)) % 3 > 0
        without = InfiniteMixturePrototypes().fit(x[some], y[some])
        zeros = InfiniteMixturePrototypes().fit(x, y, sample_weight=some.astype(float))
        np.testing.assert_array_equal(without.predict_proba(x), zeros.predict_proba(x))

    def test_means_are_weighted(self):
        x, y = [[0.0], [1.0], [10.0], [11.0], [13.0]], [0, 0, 1, 1, 1]
        model = InfiniteMixturePrototypes(metric="as-is", threshold=1000)
        model.fit(x, y, sample_weight=[3, 1, 1, 1, 2])
        np.testing.assert_allclose(model.cluster_centers_.ravel(), [0.25, 11.75])
        np.testing.assert_allclose(model.cluster_weights_, [4, 4])

    def test_what_is_wrong_with_them(self):
        x, y = blobs(8)
        for weights, sentence in (
            ([1, 2], "has the shape"),
            (-np.ones(len(x)), "at least 0"),
            (np.zeros(len(x)), "not zero for all"),
        ):
            with self.assertRaisesRegex(ValueError, sentence):
                InfiniteMixturePrototypes().fit(x, y, sample_weight=weights)
        with self.assertRaisesRegex(ValueError, "^sample_weight are given .*preset='paper'"):
            InfiniteMixturePrototypes(preset="paper").fit(x, y, sample_weight=np.ones(len(x)))


class Details(Case):
    def test_predictions_are_the_largest_probability(self):
        x = np.array([[-1.0], [1.0], [-3.0], [3.0]])
        model = InfiniteMixturePrototypes(preset="paper", sigma_l=1e6, sigma_u=1e6, threshold=1e9)
        model.fit(x, ["b", "b", "b", "b"]).partial_fit(x[:1] + 0.5, ["a"])
        queries = np.linspace(-1, 1, 2001)[:, None]
        for open_set in (False, True):
            model.open_set = open_set
            outcomes = np.append(model.classes_, ["-1"])
            found = outcomes[model.predict_proba(queries).argmax(axis=1)]
            np.testing.assert_array_equal(found, model.predict(queries).astype(str))

    def test_threads_do_not_matter(self):
        x, y = blobs(9)
        one = InfiniteMixturePrototypes(n_jobs=1).fit(x, y).predict_proba(x)
        for jobs in (None, 2, -1, -2):
            model = InfiniteMixturePrototypes(n_jobs=jobs).fit(x, y)
            np.testing.assert_array_equal(model.predict_proba(x), one)
        for jobs in (0, 1.5, "all"):
            with self.assertRaisesRegex(ValueError, "n_jobs is"):
                InfiniteMixturePrototypes(n_jobs=jobs).fit(x, y)

    def test_sentences_say_what_python_says(self):
        x, y = blobs(9)
        with self.assertRaisesRegex(ValueError, "so threshold cannot be estimated; give threshold"):
            InfiniteMixturePrototypes().fit(x, np.full(len(x), -1))

    def test_values_that_floats_lose(self):
        x, y = blobs(9)
        small = x.astype(float)
        model = InfiniteMixturePrototypes()
        np.testing.assert_array_equal(
            model.fit(small * 1e-28, y).predict(small * 1e-28), model.fit(x, y).predict(x)
        )
        for scale, sentence in ((1e-36, "multiply all points"), (1e-60, "multiply it")):
            with self.assertRaisesRegex(ValueError, sentence):
                InfiniteMixturePrototypes().fit(small * scale, y)

    def test_pandas(self):
        try:
            import pandas
        except ImportError:
            self.skipTest("pandas is not installed")
        x, y = blobs(10)
        hidden = hide(y, 10)
        plain = InfiniteMixturePrototypes().fit(x, hidden).predict(x)
        lacking = [None if label < 0 else int(label) for label in hidden]
        numbers = pandas.Series(lacking, dtype="Int64")
        model = InfiniteMixturePrototypes().fit(pandas.DataFrame(x), numbers)
        np.testing.assert_array_equal(model.predict(pandas.DataFrame(x)), plain)
        names = pandas.Series([None if n is None else f"class {n}" for n in lacking], dtype="string")
        found = InfiniteMixturePrototypes().fit(x, names).predict(x)
        np.testing.assert_array_equal(found, [f"class {n}" for n in plain])
        truth = pandas.Series([None if n is None else n > 1 for n in lacking], dtype="boolean")
        found = InfiniteMixturePrototypes().fit(x, truth).predict(x)
        self.assertEqual(found.dtype.kind, "b")


class Choosing(Case):
    """What the points choose, told and kept."""

    def test_the_same_on_every_scale(self):
        x, y = blobs(11)
        model = InfiniteMixturePrototypes().fit(x, y)
        for factor in (100, 1e-3, 1e-30):
            factor = np.float32(factor)
            other = InfiniteMixturePrototypes().fit(factor * x, y)
            self.assertEqual(other.metric_, model.metric_)
            np.testing.assert_array_equal(other.predict(factor * x), model.predict(x))

    def test_what_was_chosen_is_told_and_kept(self):
        x, y = blobs(12)
        x[:, 0] *= 1e4
        model = InfiniteMixturePrototypes().fit(x, y)
        choice = model.choice_
        self.assertEqual(choice["held_out"], len(x))
        self.assertIn(model.metric_, choice["candidates"])
        self.assertLess(choice["loss"], np.log(4))
        self.assertFalse(choice["little"])
        np.testing.assert_allclose(
            np.exp(model.predict_log_proba(x)), model.predict_proba(x), rtol=1e-6
        )
        path = self.folder / "m.safetensors"
        model.save(path)
        loaded = InfiniteMixturePrototypes.load(path)
        self.assert_same(loaded, model, x)
        self.assertEqual(loaded.choice_, choice)
        self.assertEqual(loaded.to_metric(x).tobytes(), model.to_metric(x).tobytes())

    def test_one_label_of_each_class_is_a_warning(self):
        with self.assertWarnsRegex(UserWarning, "the labels say little"):
            InfiniteMixturePrototypes().fit([[0, 0], [1, 1]], [0, 1])

    def test_a_cluster_of_every_point_is_a_warning(self):
        x = np.random.default_rng(1).uniform(0, 8, size=(200, 2))
        y = np.sum(np.floor(x), axis=1) % 2  # a chessboard has no clusters to speak of
        with self.assertWarnsRegex(UserWarning, "every labelled point became a cluster"):
            model = InfiniteMixturePrototypes().fit(x, y)
        self.assertTrue(model.choice_["every_point"])

    def test_classes_of_one_label_beside_others_of_several(self):
        """A mean of six points is nearer to everything than one point is."""
        rng = np.random.default_rng(0)
        centers, y = rng.normal(scale=0.75, size=(8, 200)), np.arange(400) % 8
        x = centers[y] + rng.normal(size=(400, 200))
        labeled = np.concatenate([np.flatnonzero(y == c)[: 1 if c % 2 else 6] for c in range(8)])
        model = InfiniteMixturePrototypes().fit(x[labeled], y[labeled])
        rest = np.setdiff1d(np.arange(400), labeled)
        self.assertGreater(np.mean(model.predict(x[rest]) == y[rest]), 0.98)

    def test_a_rate_of_known_points_is_none_of_the_classes(self):
        rng = np.random.default_rng(1)
        y = np.arange(600) % 3
        x = (rng.normal(size=(600, 8)) + 6 * np.eye(8)[y]).astype(np.float32)
        for rate in (0.05, 0.3):
            model = InfiniteMixturePrototypes(open_set=True, open_set_rate=rate)
            found = model.fit(x[:300], y[:300]).predict(x[300:])
            self.assertTrue(rate / 4 < np.mean(found == -1) < 2.5 * rate)
            probabilities = model.predict_proba(x[300:])
            self.assertTrue(np.all((np.argmax(probabilities, axis=1) == 3) == (found == -1)))
            self.assertGreater(np.mean(model.predict(x - 50) == -1), 0.99)

    def test_bad_parameters(self):
        x, y = blobs(1)
        for parameters, sentence in (
            ({"metric": "manhattan"}, "metric is 'manhattan'; there are 'auto', 'as-is'"),
            ({"preset": 3}, "preset is 3; there are 'auto', 'paper'"),
            ({"whiten": "often"}, "whiten is 'often'"),
            ({"unlabeled_weight": 2}, "unlabeled_weight is 2; it must be a number from 0 to 1 or 'auto'"),
            ({"open_set_rate": -1}, "open_set_rate is -1; it must be a number from 0 to 1"),
            ({"preset": "paper", "metric": "unit"}, "together with the paper's rule"),
        ):
            with self.assertRaisesRegex(ValueError, sentence):
                InfiniteMixturePrototypes(**parameters).fit(x, y)


class Growing(Case):
    def test_the_first_call_fits(self):
        x, y = blobs(1)
        model = InfiniteMixturePrototypes().partial_fit(x, y, classes=np.unique(y))
        self.assert_same(model, InfiniteMixturePrototypes().fit(x, y), x)

    def test_in_one_call_or_in_many(self):
        x, y = blobs(2, classes=6)
        first, rest = y < 3, y >= 3
        at_once = InfiniteMixturePrototypes().fit(x[first], y[first])
        by_parts = copy.deepcopy(at_once)
        at_once.partial_fit(x[rest], y[rest])
        self.assertEqual(len(by_parts.classes_), 3)
        for point, label in zip(x[rest], y[rest]):
            by_parts.partial_fit([point], [label])
        np.testing.assert_array_equal(at_once.classes_, np.arange(6))
        self.assert_same(at_once, by_parts, x)

    def test_classes_stay_sorted_whatever_comes_first(self):
        x, y = blobs(3)
        names = np.array(["dog", "bee", "elephant", "ant"])
        model = InfiniteMixturePrototypes(preset="paper").fit(x[y == 1], names[y[y == 1]])
        for number in (0, 2, 3):
            model.partial_fit(x[y == number], names[y[y == number]])
        np.testing.assert_array_equal(model.classes_, np.sort(names))
        probabilities = model.predict_proba(x)
        np.testing.assert_array_equal(
            model.classes_[np.argmax(probabilities, axis=1)], model.predict(x)
        )
        self.assertEqual(model.score(x, names[y]), 1)
        self.assertIn("elephant", model.cluster_labels_)

    def test_labels_of_many_kinds_are_refused(self):
        with self.assertRaisesRegex(ValueError, "all are numbers, or all are strings"):
            InfiniteMixturePrototypes().fit([[0], [1]], np.array(["a", 1], object))

    def test_labels_of_another_kind_are_refused(self):
        x, y = blobs(3)
        model = InfiniteMixturePrototypes().fit(x, y)
        with self.assertRaisesRegex(ValueError, "y has labels like 'ant'"):
            model.partial_fit(x[:1], ["ant"])

    def test_labels_outside_of_the_classes_are_refused(self):
        x, y = blobs(3)
        with self.assertRaisesRegex(ValueError, "y has the label 3, which is not among"):
            InfiniteMixturePrototypes().partial_fit(x, y, classes=[0, 1, 2])
        InfiniteMixturePrototypes().partial_fit(x, hide(y, 3), classes=[0, 1, 2, 3])


class Copies(Case):
    def test_pickle_and_copy(self):
        x, y = blobs(1)
        model = InfiniteMixturePrototypes(alpha=0.5, open_set=True).fit(x, hide(y, 1))
        for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
            self.assertEqual(other.get_params(), model.get_params())
            self.assert_same(other, model, x)
            other.partial_fit(x[:3], y[:3])
            grown = copy.deepcopy(model).partial_fit(x[:3], y[:3])
            self.assert_same(other, grown, x)

    def test_files(self):
        x, y = blobs(2)
        path = self.folder / "m.safetensors"
        for names, marker in (
            (np.arange(4), -1),
            (np.array(["ant", "bee", "c\u00e4t", "dog"]), ""),
            (np.array(["ant", "bee", "cat", "dog"], object), -1),
            (np.array([0.5, 1, 2, 3]) * 2, -1),
            (np.array([3, 1, 2, 7], np.uint8), -1),
        ):
            model = InfiniteMixturePrototypes(alpha=np.float64(0.2), unlabeled=marker)
            model.set_params(cluster_steps=np.int64(2)).fit(x, names[y])
            model.save(path)
            loaded = InfiniteMixturePrototypes.load(path)
            self.assertEqual(loaded.classes_.dtype, model.classes_.dtype)
            self.assertEqual(loaded.get_params(), model.get_params())
            self.assert_same(loaded, model, x)
        self.assertEqual([path], list(self.folder.iterdir()))

    def test_many_threads_save_one_model_at_once(self):
        x, y = blobs(3)
        model = InfiniteMixturePrototypes().fit(x, y)
        errors = []

        def save(number):
            try:
                for _ in range(5):
                    path = self.folder / f"{number}.safetensors"
                    model.save(path)
                    self.assert_same(InfiniteMixturePrototypes.load(path), model, x)
                    pickle.dumps(model)
            except Exception as error:
                errors.append(error)

        threads = [threading.Thread(target=save, args=[number]) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(errors, [])

    def test_labels_that_no_file_can_hold(self):
        x, y = blobs(2, classes=2)
        model = InfiniteMixturePrototypes(unlabeled=b"bytes").fit(x, y)
        with self.assertRaisesRegex(ValueError, "strings, numbers or bools"):
            model.save(self.folder / "m.safetensors")

    def test_files_that_are_none(self):
        path = self.folder / "m.safetensors"
        path.write_bytes(b"no mixture")
        with self.assertRaisesRegex(ValueError, str(path)):
            InfiniteMixturePrototypes.load(path)

    def test_a_note_of_somebody_else_is_passed_over(self):
        x, y = blobs(2)
        path = self.folder / "m.safetensors"
        for note in ("no JSON", json.dumps({"other": 1}), json.dumps([1])):
            model = InfiniteMixturePrototypes().fit(x, y)
            model._fitted.mixture.save(path, note)
            self.assert_same(InfiniteMixturePrototypes.load(path), model, x)
        classes = {"dtype": "<i8", "values": [0, 1]}
        for note in (
            {"pyimp": "9"},
            {"pyimp": "9", "parameters": {}, "classes": []},
            {"pyimp": "9", "parameters": {"unheard_of": 1}, "classes": classes},
        ):
            model._fitted.mixture.save(path, json.dumps(note))
            with self.assertRaisesRegex(ValueError, "its note is none that pyimp"):
                InfiniteMixturePrototypes.load(path)


class Input(Case):
    def test_floats_are_not_copied(self):
        x = np.zeros((5, 3), np.float32)
        model = InfiniteMixturePrototypes()
        self.assertTrue(np.shares_memory(validate(model, x), x))
        self.assertTrue(np.shares_memory(validate(model, x, [0] * 5)[0], x))
        for other in (x.astype(float), np.asfortranarray(x), x[::2], x.tolist()):
            taken = validate(model, other)
            self.assertEqual(taken.dtype, np.float32)
            self.assertTrue(taken.flags.c_contiguous)

    def test_any_layout_gives_the_same(self):
        x, y = blobs(1)
        expected = InfiniteMixturePrototypes().fit(x, y)
        wide = np.repeat(x, 2, axis=1)[:, ::2]
        for other in (np.asfortranarray(x), wide, x.astype(float), x.tolist()):
            self.assert_same(InfiniteMixturePrototypes().fit(other, y), expected, x)

    def test_wrong_input_gets_a_sentence(self):
        x, y = blobs(1)
        for parameters, sentence in (
            ({"alpha": 0}, r"alpha is 0; it must be a number from 1e-300 to 1e\+300, or 'auto'"),
            ({"alpha": "much"}, "alpha is 'much'; it must be a number"),
            ({"sigma_l": -1}, "sigma_l is -1; it must be a number from 1e-30 to 1e"),
            ({"threshold": -1}, "threshold is -1; it must be a number of at least 0"),
            ({"threshold": "none"}, "threshold is 'none'; it must be a number of at least 0, or 'auto'"),
            ({"threshold": np.nan}, "threshold is nan; it must be a number"),
            ({"cluster_steps": 0}, "cluster_steps is 0; it must be a whole number from 1 to 1000000"),
            ({"cluster_steps": 10**30}, "cluster_steps is 1000000000000000000000000000000; it must be"),
            ({"cluster_steps": 1.5}, "cluster_steps is 1.5; it must be a whole number"),
        ):
            with self.assertRaisesRegex(ValueError, sentence):
                InfiniteMixturePrototypes(**parameters).fit(x, y)
        model = InfiniteMixturePrototypes().fit(x, y)
        with self.assertRaisesRegex(ValueError, "X has 2 features, but .* is expecting 5"):
            model.predict(x[:, :2])
        with self.assertRaisesRegex(ValueError, "X has 2 features, but .* is expecting 5"):
            model.partial_fit(x[:, :2], y)
        with self.assertRaisesRegex(ValueError, r"beyond 3.403e\+38"):
            model.predict(np.full((1, 5), 1e300))
        with self.assertRaisesRegex(ValueError, "query row 0, column 0 is infinite"):
            model.predict(np.full((1, 5), np.inf))
        with self.assertRaises(ValueError):
            model.fit(x, y[:-1])
        with self.assertRaises(ValueError):
            model.fit(x, None)
        with self.assertRaises(ValueError):
            InfiniteMixturePrototypes().predict(x)

    def test_a_fit_that_failed_leaves_no_model(self):
        model = InfiniteMixturePrototypes()
        with self.assertRaises(ValueError):
            model.fit([[np.inf]], [0])
        with self.assertRaisesRegex(ValueError, "not fitted yet"):
            model.predict([[0]])

    def test_one_point_and_one_class(self):
        model = InfiniteMixturePrototypes().fit([[1.0, 2.0]], ["only"])
        self.assertEqual(model.predict([[5, 5]]).tolist(), ["only"])
        np.testing.assert_array_equal(model.predict_proba([[5, 5]]), [[1]])


class Estimator(Case):
    def test_parameters(self):
        model = InfiniteMixturePrototypes(alpha=0.5)
        self.assertEqual(model.get_params()["alpha"], 0.5)
        model.set_params(alpha=0.7, open_set=True)
        self.assertEqual((model.alpha, model.open_set), (0.7, True))
        with self.assertRaises(ValueError):
            model.set_params(beta=1)
        self.assertEqual(repr(model), "InfiniteMixturePrototypes(alpha=0.7, open_set=True)")


class LifeLong(Case):
    """What a model is told after it was fitted."""

    def setUp(self):
        super().setUp()
        random = np.random.default_rng(0)
        at = {"cat": (0, 0), "dog": (9, 0), "emu": (0, 9), "yak": (-40, -40)}
        self.center = {name: np.array([place]) for name, place in at.items()}
        self.points = {name: random.normal(size=(20, 2)) + place for name, place in at.items()}

    def fit(self, *names):
        x = np.concatenate([self.points[name] for name in names])
        return InfiniteMixturePrototypes().fit(x, np.repeat(names, 20))

    def assert_knows(self, model, *names):
        self.assertEqual(list(model.classes_), sorted(names))
        self.assertEqual([model.predict(self.center[n])[0] for n in names], list(names))

    def test_one_class_first_is_no_worse_than_all_at_once(self):
        with self.assertWarnsRegex(UserWarning, "say little"):
            model = self.fit("dog")
        for name in ("cat", "emu"):
            model.partial_fit(self.points[name], [name] * 20)
        self.assert_knows(model, "cat", "dog", "emu")
        self.assertGreater(model.choice_["held_out"], 0)
        self.assertLess(len(model.cluster_labels_), 30)

    def test_merge(self):
        model = self.fit("emu", "cat").merge(self.fit("dog", "cat"))
        self.assert_knows(model, "cat", "dog", "emu")
        with self.assertRaisesRegex(ValueError, "the options of one mixture were chosen from the data"):
            paper = InfiniteMixturePrototypes(preset="paper").fit(self.points["cat"], ["cat"] * 20)
            model.merge(paper)

    def test_forget(self):
        model = self.fit("cat", "dog", "emu").forget(classes=["cat"])
        self.assert_knows(model, "dog", "emu")
        self.assertEqual(list(self.fit("cat", "dog").forget(keep_newest=25).classes_), ["cat", "dog"])
        for wrong, sentence in (
            ({"classes": ["cow"]}, "there is no class 'cow' to forget"),
            ({"clusters": [99]}, "there is no cluster 99"),
            ({"clusters": [-1]}, "clusters has -1"),
            ({"clusters": [2**70]}, "clusters has 1180591620717411303424"),
            ({"keep_newest": 2}, "has no point among the newest 2"),
        ):
            with self.assertRaisesRegex(ValueError, sentence):
                model.forget(**wrong)
        self.assert_knows(model, "dog", "emu")

    def test_a_cluster_is_named(self):
        model = self.fit("cat", "dog").partial_fit(self.points["yak"], [None] * 20)
        strange = np.flatnonzero(model.cluster_labels_ == -1)
        cluster = strange[np.argmax(model.cluster_weights_[strange])]
        before = len(model.cluster_labels_)
        fewer = pickle.loads(pickle.dumps(model)).forget(clusters=[cluster])
        self.assertEqual(len(fewer.cluster_labels_), before - 1)
        model.name_cluster(cluster, "yak")
        model.partial_fit(self.points["emu"], ["emu"] * 20)
        self.assert_knows(model, "cat", "dog", "emu", "yak")


if __name__ == "__main__":
    unittest.main()
