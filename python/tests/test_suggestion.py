"""Which points to label next."""

import unittest

import numpy as np

from pyimp import Suggester, suggest
from support import COMMAND, blobs, imp, needs_command


class Suggestions(unittest.TestCase):
    def test_a_few_answers_label_all_points(self):
        x, y = blobs(1, classes=4, modes=2, each=25, spread=30)
        suggester = Suggester(x)
        self.assertTrue(np.all(suggester.guess()[0] == -1))
        first = suggester.suggestions(8)
        self.assertEqual({one["reason"] for one in first}, {"typical"})
        for one in first:
            suggester.answer(one["point"], y[one["point"]])
        label, sure = suggester.guess()
        self.assertTrue(np.array_equal(label, y))
        self.assertGreater(suggester.expected_accuracy, 0.9)
        self.assertTrue(np.all((sure >= 0.5) & (sure <= 1)))
        self.assertEqual(suggester.suggestions()[0]["reason"], "unsure")

    def test_answers_can_be_taken_back(self):
        x, y = blobs(2, each=10)
        suggester = Suggester(x, groups=np.full(len(x), -1))
        before = suggester.next(3)
        suggester.answer(5, 1)
        suggester.answer(5, -1)
        np.testing.assert_array_equal(suggester.next(3), before)
        suggester.answer(before[0], -2)
        self.assertNotIn(before[0], suggester.next(len(x)))

    def test_bad_arguments_are_named(self):
        for call in (
            lambda: Suggester([1.0, 2.0]),
            lambda: Suggester([[1.0]], groups=[0.5]),
            lambda: Suggester([[1.0]], metric="none"),
            lambda: Suggester([[np.nan]]),
            lambda: Suggester([[1.0 + 1j]]),
            lambda: Suggester([[1.0]], groups=[2**32]),
            lambda: Suggester([[1.0]]).answer(1, 0),
            lambda: Suggester([[1.0]]).answer(0.5, 0),
            lambda: Suggester([[1.0]]).answer(0, 2**32),
            lambda: Suggester([[1.0]]).answer(0, 1.5),
            lambda: Suggester([[1.0]]).next(1.5),
            lambda: suggest([[1.0]], [0, 1]),
        ):
            with self.assertRaises(ValueError):
                call()

    @needs_command
    def test_the_command_says_the_same(self):
        import tempfile

        x, y = blobs(3, each=12)
        known = np.where(np.arange(len(y)) % 9 == 0, y, -1)
        with tempfile.TemporaryDirectory() as folder:
            np.save(f"{folder}/x.npy", x)
            np.save(f"{folder}/y.npy", known)
            found = imp("suggest", f"{folder}/x.npy", "--labels", f"{folder}/y.npy", "--count", 5)
        points = [one["point"] for one in found["suggestions"]]
        np.testing.assert_array_equal(suggest(x, known, 5), points)
        self.assertTrue(COMMAND)


if __name__ == "__main__":
    unittest.main()
