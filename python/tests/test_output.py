"""What people see: figures, tables in notebooks, pandas out, and sparse points refused."""

import base64
import io
import re
import unittest
import warnings

import numpy as np
from support import blobs, hide

import pyimp
from pyimp import DPMeans, InfiniteMixtureClustering, InfiniteMixturePrototypes

try:
    import pandas
except ImportError:
    pandas = None
try:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as pyplot
except ImportError:
    matplotlib = None


@unittest.skipUnless(pandas, "there is no pandas")
class Pandas(unittest.TestCase):
    def test_what_goes_in_with_an_index_comes_out_with_it(self):
        x, y = blobs(1)
        frame = pandas.DataFrame(x, index=[f"row {k}" for k in range(len(x))])
        frame.columns = [f"f{k}" for k in range(x.shape[1])]
        names = pandas.Series(y, index=frame.index).map(lambda k: "abcd"[k])
        plain = InfiniteMixturePrototypes().fit(frame, names)
        model = InfiniteMixturePrototypes().fit(frame, names).set_output(transform="pandas")
        found = model.predict(frame)
        self.assertEqual((found.index.tolist(), found.name), (frame.index.tolist(), "class"))
        self.assertEqual(found.tolist(), plain.predict(frame).tolist())
        sure = model.predict_proba(frame)
        self.assertEqual(sure.columns.tolist(), ["a", "b", "c", "d"])
        np.testing.assert_array_equal(sure.to_numpy(), plain.predict_proba(frame))
        self.assertEqual(model.score(frame, names), plain.score(frame, names))
        self.assertEqual(model.to_metric(frame).shape, x.shape)
        model.set_params(open_set=True)
        self.assertEqual(model.predict_proba(frame).columns.tolist()[-1], "none")
        self.assertIsInstance(model.set_output(transform="default").predict(frame), np.ndarray)

    def test_clusterings_have_names_for_their_columns(self):
        x, _ = blobs(2)
        model = DPMeans(3).set_output(transform="pandas").fit(x)
        self.assertEqual(model.transform(x).columns.tolist(), ["dpmeans0", "dpmeans1", "dpmeans2"])
        self.assertEqual(model.predict(x).name, "cluster")
        with self.assertRaisesRegex(ValueError, "polars"):
            model.set_output(transform="polars")

    def test_scikit_learn_is_heard(self):
        try:
            import sklearn
            from sklearn.base import clone
        except ImportError:
            self.skipTest("there is no scikit-learn")
        x, _ = blobs(2)
        model = clone(DPMeans(3).set_output(transform="pandas")).fit(x)
        self.assertIsInstance(model.transform(x), pandas.DataFrame)
        with sklearn.config_context(transform_output="pandas"):
            self.assertIsInstance(DPMeans(3).fit(x).transform(x), pandas.DataFrame)
        self.assertIsInstance(DPMeans(3).fit(x).transform(x), np.ndarray)


class Sparse(unittest.TestCase):
    def test_sparse_points_are_refused_with_a_way_out(self):
        class Sparse:  # as scipy's, as far as anybody looks
            shape, ndim = (3, 2), 2

            def toarray(self):
                return np.zeros((3, 2))

        points = [Sparse()]
        try:
            import scipy.sparse

            points.append(scipy.sparse.csr_matrix(np.eye(3)))
        except ImportError:
            pass
        for X in points:
            for use in (
                lambda: InfiniteMixturePrototypes().fit(X, [0, 1, 1]),
                lambda: DPMeans().fit(X),
                lambda: pyimp.suggest(X),
                lambda: pyimp.methods.Method()(X, [0, 1, 1], [[1, 2]]),
                lambda: pyimp.plot.map(X, [0, 1, 1]),
            ):
                with self.assertRaisesRegex(TypeError, r"sparse.*toarray"):
                    use()
        with self.assertRaisesRegex(TypeError, r"support is sparse.*support.toarray"):
            pyimp.methods.Method()(points[0], [0, 1, 1], [[1, 2]])


class Notebook(unittest.TestCase):
    def test_estimators_tell_what_they_found(self):
        x, y = blobs(1)
        model = InfiniteMixturePrototypes()
        self.assertIn("not yet", model._repr_html_())
        model.fit(x, y)
        for text in (model._repr_html_(), model._repr_mimebundle_()["text/html"]):
            self.assertIn(model.metric_, text)
            self.assertIn("% right", text)
        self.assertIn("plain", next(iter(model._repr_mimebundle_())))
        self.assertIn("<td", InfiniteMixtureClustering(3).fit(x)._repr_html_())
        names = np.array(["<b>", "b", "c", "d"])[y]
        text = InfiniteMixturePrototypes(preset="paper").fit(x * 9, names)._repr_html_()
        self.assertNotIn("<b>", text)

    def test_episodes_show_their_pictures(self):
        data = pyimp.Dataset("glyphs", size=14)
        self.assertIn("for train", data._repr_html_())
        task = pyimp.Episodes(data, way=3, shot=2, queries=1)[0]
        found = re.findall(r'base64,([^"]+)"', task._repr_html_())
        self.assertEqual(len(found), 6)
        try:
            from PIL import Image
        except ImportError:
            self.skipTest("there is no Pillow")
        shown = np.asarray(Image.open(io.BytesIO(base64.b64decode(found[0]))))
        np.testing.assert_array_equal(shown, data[int(task.images[0])][0])


@unittest.skipUnless(matplotlib, "there is no matplotlib")
class Figures(unittest.TestCase):
    def setUp(self):
        self.addCleanup(pyplot.close, "all")
        _, self.ax = pyplot.subplots()

    def test_the_map_has_all_points_and_clusters(self):
        x, y = blobs(1)
        model = InfiniteMixturePrototypes(preset="paper").fit(x, hide(y, 1))
        drawn = model.plot(x, hide(y, 1), ax=self.ax)
        self.assertIs(drawn, self.ax)
        self.assertEqual(drawn.get_title(), f"48 points, {len(model.cluster_labels_)} clusters")
        offsets = [len(c.get_offsets()) for c in drawn.collections]
        self.assertEqual(sum(offsets), 48 + 2 * len(model.cluster_labels_))
        names = np.where(hide(y, 1) < 0, None, np.array(list("abcd"))[y])
        with_names = InfiniteMixturePrototypes().fit(x, names)
        drawn = with_names.plot(x, names, ax=pyplot.figure().gca())
        texts = [text.get_text() for text in drawn.get_legend().get_texts()]
        self.assertEqual(texts, ["no label", *"abcd"])
        clusters = DPMeans(3).fit(x)
        self.assertEqual(clusters.plot(x).get_title(), "48 points, 3 clusters")
        pyimp.plot.map([[1.0], [2.0]], [0, 1])  # one dimension is a line
        with self.assertRaisesRegex(ValueError, "labels"):
            pyimp.plot.map(x, y[:3])
        for wrong in (x[:, 0], x[:0], np.where(x == x[0], np.nan, x)):
            with self.assertRaisesRegex(ValueError, "points"):
                pyimp.plot.map(wrong, y[: len(wrong)])
        self.ax.figure.savefig(io.BytesIO())

    def test_confusion_counts(self):
        drawn = pyimp.plot.confusion(["b", "a", "a", "c"], ["b", "a", "c", "c"], ax=self.ax)
        self.assertEqual(drawn.get_title(), "3 of 4 right")
        cells = {(t.get_position()[1], t.get_position()[0]): t.get_text() for t in drawn.texts}
        self.assertEqual(cells, {(0, 0): "1", (0, 2): "1", (1, 1): "1", (2, 2): "1"})

    def test_reliability_is_the_expected_calibration_error(self):
        random = np.random.default_rng(1)
        sure = 0.5 + random.random(2000) / 2
        truth = (random.random(2000) > sure).astype(int)
        both = np.column_stack([sure, 1 - sure])
        error, rows = pyimp.plot.calibration_error(truth == 0, sure)
        edges = np.linspace(0, 1, 11)
        plain = 0.0
        for low, high in zip(edges, edges[1:]):
            inside = (sure >= low) & (sure < high)
            if inside.any():
                plain += inside.mean() * abs(np.mean(truth[inside] == 0) - sure[inside].mean())
        self.assertAlmostEqual(error, plain)
        self.assertLess(error, 0.06)
        self.assertEqual(rows[:, 0].sum(), 2000)
        drawn = pyimp.plot.reliability(truth, both, ax=self.ax)
        self.assertEqual(drawn.get_title(), f"calibration error {100 * error:.1f}%")
        with self.assertRaisesRegex(ValueError, "of 3 classes"):
            pyimp.plot.reliability(truth, both, [0, 1, 2])
        for wrong, sentence in (
            ({"truth": truth[:9]}, "2000 rows"),
            ({"probabilities": both * np.nan}, "from 0 to 1"),
            ({"bins": 0}, "bins is 0"),
        ):
            with self.assertRaisesRegex(ValueError, sentence):
                pyimp.plot.reliability(**{"truth": truth, "probabilities": both, "classes": [0, 1], **wrong})
        with self.assertRaisesRegex(ValueError, "no points"):
            pyimp.plot.confusion([], [])

    def test_labels_against_accuracy_has_two_curves(self):
        x, y = blobs(1, modes=1, spread=30)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            drawn = pyimp.plot.labels_against_accuracy(x, y, [4, 8], ax=self.ax)
        suggested, random = (line.get_ydata() for line in drawn.lines)
        self.assertEqual(list(suggested), [1.0, 1.0])  # one of each group was asked for
        self.assertEqual(len(random), 2)
        with self.assertRaisesRegex(ValueError, "counts"):
            pyimp.plot.labels_against_accuracy(x, y, [1000])
        with self.assertRaisesRegex(ValueError, "counts is 2.5"):
            pyimp.plot.labels_against_accuracy(x, y, [2.5])


if __name__ == "__main__":
    unittest.main()
