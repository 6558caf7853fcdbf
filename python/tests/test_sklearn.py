"""scikit-learn: its own checks, pipelines, searches, clones and other processes."""

import sys
import unittest
import warnings

import numpy as np
from support import blobs, hide

from pyimp import DPMeans, InfiniteMixtureClustering, InfiniteMixturePrototypes

try:
    from sklearn.base import clone, is_classifier
    from sklearn.datasets import load_digits
    from sklearn.model_selection import GridSearchCV, cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.utils.estimator_checks import check_estimator
except ImportError:
    print("skipped: scikit-learn is not installed")
    sys.exit(77)

try:
    from sklearn.utils.estimator_checks import estimator_checks_generator as checks_of  # since 1.6

    # A weight counts in the means of clusters, not as so many points in what is chosen.
    WEIGHTS, COUNT = {"check_sample_weight_equivalence_on_dense_data"}, set()
except ImportError:
    WEIGHTS, COUNT = set(), {"check_clustering"}

    def checks_of(estimator):
        return check_estimator(estimator, generate_only=True)


# What the estimators are excused from, and may not be excused from beyond this.
EXCEPTIONS = {
    InfiniteMixturePrototypes(): {"check_classifiers_classes"} | WEIGHTS,
    InfiniteMixturePrototypes(unlabeled=None): WEIGHTS,
    DPMeans(): COUNT,
    InfiniteMixtureClustering(): COUNT,
}


class Checks(unittest.TestCase):
    def test_check_estimator(self):
        for estimator, exceptions in EXCEPTIONS.items():
            excused = set()
            for candidate, check in checks_of(estimator):
                name = getattr(check, "func", check).__name__
                with self.subTest(estimator=estimator, check=check):
                    try:
                        with warnings.catch_warnings():
                            warnings.simplefilter("ignore")
                            check(candidate)
                    except unittest.SkipTest as reason:
                        words = str(reason).split()  # "Skipping NAME for ...", "pandas is not ..."
                        if words[0] == "Skipping":
                            excused.add(words[1])
                    except AssertionError:
                        if name not in exceptions:
                            raise
                        excused.add(name)
            self.assertEqual(excused, exceptions, estimator)


class Tools(unittest.TestCase):
    def test_clone(self):
        model = InfiniteMixturePrototypes(alpha=0.5, unlabeled="?")
        model.fit([[0.0]], ["a"])
        other = clone(model)
        self.assertEqual(other.get_params(), model.get_params())
        self.assertFalse(hasattr(other, "classes_"))
        self.assertTrue(is_classifier(other))

    def test_pipeline(self):
        x, y = blobs(1)
        scaled = StandardScaler().fit_transform(x)
        pipeline = make_pipeline(StandardScaler(), InfiniteMixturePrototypes(sigma_l=0.1))
        pipeline.fit(x, hide(y, 1))
        alone = InfiniteMixturePrototypes(sigma_l=0.1).fit(scaled, hide(y, 1))
        np.testing.assert_array_equal(pipeline.predict_proba(x), alone.predict_proba(scaled))
        self.assertGreater(pipeline.fit(x, y).score(x, y), 0.9)
        np.testing.assert_array_equal(
            make_pipeline(StandardScaler(), DPMeans(8)).fit_predict(x),
            DPMeans(8).fit_predict(scaled),
        )

    def test_grid_search(self):
        X, y = load_digits(return_X_y=True)
        X, y = X[:300], y[:300]
        grid = {"sigma_l": [0.01, 10.0], "alpha": [1e-5, 0.1], "cluster_steps": [1, 2]}
        for jobs in (None, 2):
            search = GridSearchCV(InfiniteMixturePrototypes(), grid, cv=3, n_jobs=jobs)
            search.fit(X, y)
            self.assertGreater(search.best_score_, 0.9)
            self.assertEqual(search.best_estimator_.score(X, y), search.score(X, y))

    def test_searches_score_labelled_points_only(self):
        x, y = blobs(5, each=12)
        hidden = hide(y, 5)
        search = GridSearchCV(InfiniteMixturePrototypes(), {"metric": ["scaled", "unit"]}, cv=3)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            search.fit(x, hidden)
        self.assertGreater(search.best_score_, 0.9)
        model = search.best_estimator_
        known = hidden >= 0
        self.assertEqual(model.score(x, hidden), model.score(x[known], y[known]))
        with self.assertRaisesRegex(ValueError, "no labels to score by"):
            model.score(x[:2], [-1, -1])

    def test_cross_validation_with_probabilities(self):
        x, y = blobs(3, each=12)
        model = InfiniteMixturePrototypes()
        for scoring in ("roc_auc_ovr", "neg_log_loss", "accuracy"):
            scores = cross_val_score(model, x, y, cv=3, scoring=scoring)
            self.assertTrue(np.all(np.isfinite(scores)), scoring)


class NewKinds(unittest.TestCase):
    """A stream of handwritten digits, some of which nobody has labelled."""

    KNOWN, NEW = (0, 1, 2, 3, 4, 6), (5, 7)

    def setUp(self):
        x, y = load_digits(return_X_y=True)
        order = np.random.RandomState(5).permutation(len(y))
        x, y = x[order], y[order]
        labeled = np.concatenate([np.flatnonzero(y == c)[:20] for c in self.KNOWN])
        self.model = InfiniteMixturePrototypes(open_set=True).fit(x[labeled], y[labeled])
        rest = np.setdiff1d(np.arange(len(y)), labeled)
        self.x, self.y = x[rest], y[rest]

    def stream(self, known, new):
        """Adds so many points of each known and each new digit; what they are."""
        some = np.sort(
            np.concatenate(
                [np.flatnonzero(self.y == c)[:known] for c in self.KNOWN]
                + [np.flatnonzero(self.y == c)[:new] for c in self.NEW]
            )
        )
        self.model.partial_fit(self.x[some], np.full(len(some), -1))
        return self.x[some], self.y[some]

    def test_new_digits_start_clusters_that_can_be_named(self):
        x, y = self.stream(15, 45)
        strange = np.flatnonzero(self.model.cluster_labels_ == -1)
        self.assertGreaterEqual(len(strange), 2)
        joined = self.model.apply(x)
        self.assertGreater(np.isin(joined, strange)[np.isin(y, self.NEW)].mean(), 0.8)
        self.assertLess(np.isin(joined, strange)[np.isin(y, self.KNOWN)].mean(), 0.1)
        for cluster in strange:
            kinds, counts = np.unique(y[joined == cluster], return_counts=True)
            self.model.name_cluster(cluster, int(kinds[np.argmax(counts)]))
        self.assertEqual(list(self.model.classes_), sorted(self.KNOWN + self.NEW))
        test = np.concatenate([np.flatnonzero(self.y == c)[60:] for c in self.KNOWN + self.NEW])
        found, truth = self.model.predict(self.x[test]), self.y[test]
        self.assertGreater((found == truth)[np.isin(truth, self.NEW)].mean(), 0.8)
        self.assertGreater((found == truth)[np.isin(truth, self.KNOWN)].mean(), 0.85)

    def test_known_digits_start_none(self):
        self.stream(45, 0)
        self.assertTrue((self.model.cluster_labels_ != -1).all())


if __name__ == "__main__":
    unittest.main()
