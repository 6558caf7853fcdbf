"""Dataset, Episodes and methods: the command's bits, by index, pickled, with gradients."""

import copy
import gc
import io
import json
import pickle
import subprocess
import unittest
import numpy as np
from support import COMMAND, environment, needs_command

import pyimp
from pyimp.methods import Method

DATA = {"size": 14}


class Drawn(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.data = pyimp.Dataset("glyphs", **DATA)

    def test_a_dataset_tells_what_it_holds(self):
        classes = self.data.classes
        self.assertEqual(sum(c.images for c in classes), len(self.data))
        self.assertEqual({c.split for c in classes}, {"train", "val", "test"})
        self.assertEqual(self.data[0].shape, (1, 14, 14))
        self.assertEqual(self.data[0].dtype, np.uint8)
        np.testing.assert_array_equal(self.data[-1], self.data[len(self.data) - 1])
        with self.assertRaises(IndexError):
            self.data[len(self.data)]
        with self.assertRaisesRegex(ValueError, "ink"):
            pyimp.Dataset("glyphs", ink="red")
        with self.assertRaisesRegex((OSError, ValueError), "nowhere"):
            pyimp.Dataset("folder:/nowhere")

    def test_what_they_are_is_shown(self):
        tasks = pyimp.Episodes(self.data, way=2, shot=1, queries=3, unlabeled=1)
        self.assertEqual(
            repr(tasks),
            f"Episodes({self.data!r}: 2 classes, 2 supports, 6 queries, 2 unlabelled; without end)",
        )
        none = pyimp.Episodes(self.data, way=2, shot=1, queries=3, count=0)
        self.assertIn("6 queries; 0 episodes", repr(none))
        self.assertEqual(repr(pyimp.methods.Method("em")), "Method('em')")

    def test_numbers_that_c_has_no_room_for_are_refused(self):
        dataset = self.data
        for wrong in (
            {"way": -1},
            {"shot": 2**40},
            {"queries": 1.5},
            {"seed": 2**70},
            {"first": -1},
            {"count": -1},
            {"count": 2.5},
            {"count": "3"},
            {"count": 2**63},
            {"labeled_fraction": "half"},
            {"labeled_fraction": 1.5},
            {"purpose": ["testing"]},
        ):
            with self.assertRaisesRegex(ValueError, next(iter(wrong))):
                pyimp.Episodes(dataset, **{"way": 2, **wrong})
        with self.assertRaisesRegex(ValueError, "split_seed"):
            pyimp.Dataset("glyphs", split_seed=-1)
        with self.assertRaisesRegex(ValueError, "size"):
            pyimp.Dataset("glyphs", size=2**32 + 28)
        episodes = pyimp.Episodes(dataset, way=2)
        for index in (-1, 2**64):
            with self.assertRaises(IndexError):
                episodes[index]
        with self.assertRaises(TypeError):
            episodes[1.5]
        with self.assertRaisesRegex(TypeError, "'glyphs'; it must be a pyimp.Dataset"):
            pyimp.Episodes("glyphs")

    def test_sequences_are_read_as_sequences_are(self):
        tasks = pyimp.Episodes(self.data, way=2, shot=1, first=3, count=5)
        self.assertEqual([tasks[np.int64(1)].index, tasks[-1].index, tasks[-5].index], [4, 7, 3])
        self.assertEqual([task.index for task in reversed(tasks)], [7, 6, 5, 4, 3])
        with self.assertRaisesRegex(IndexError, "no episode -6 among 5"):
            tasks[-6]
        for sequence, what in ((tasks, "episode"), (self.data, "image")):
            for wrong in (slice(1, 3), 1.0, "1"):
                with self.assertRaisesRegex(TypeError, f"{what}s are asked for by one whole number each"):
                    sequence[wrong]
        np.testing.assert_array_equal(self.data[np.uint32(7)], self.data[7])
        task = tasks[0]
        self.assertEqual(repr(task), "<episode 3: 2 classes, 2 supports, 10 queries, 0 unlabelled>")
        self.assertIn(task, [task])  # arrays are not compared
        self.assertNotEqual(task, tasks[0])

    def test_a_path_does_not_end_at_a_zero(self):
        with self.assertRaisesRegex(ValueError, "zero"):
            pyimp.Dataset("glyphs\0.zip")
        with self.assertRaisesRegex(ValueError, "zero"):
            pyimp.Embedding("model\0.safetensors")

    @needs_command
    def test_episodes_are_those_of_the_command(self):
        words = "episode draw glyphs --size 14 --way 4 --shot 2 --queries 3 --unlabeled 2 --distractors 1 --seed 5"
        drawn = pyimp.Episodes(
            self.data, way=4, shot=2, queries=3, unlabeled=2, distractors=1, seed=5, purpose="testing", count=9
        )
        classes = self.data.classes
        for index in (0, 7):
            done = subprocess.run(
                [COMMAND, *words.split(), "--for", "testing", "--index", str(index)],
                check=True,
                env=environment(),
                stdout=subprocess.PIPE,
            )
            told, episode = json.loads(done.stdout), drawn[index]
            names = [classes[c].name for c in episode.classes]
            self.assertEqual(names[: episode.way], told["classes"][: episode.way])
            self.assertEqual(episode.support_labels.tolist(), told["supports"]["labels"])
            self.assertEqual(episode.query_labels.tolist(), told["queries"]["labels"])
            self.assertEqual(episode.truth[-episode.unlabeled_count :].tolist(), told["unlabeled"]["truth"])
            first = told["supports"]["images"][0]
            self.assertTrue(first.startswith(names[0]))

    def test_any_order_and_any_process_gives_the_same(self):
        tasks = pyimp.Episodes(self.data, way=3, shot=1, queries=2, seed=9, count=5)
        again = pickle.loads(pickle.dumps(tasks))
        listed = list(tasks)
        self.assertEqual(len(listed), 5)
        for index in (4, 0, 2):
            for other in (tasks[index], again[index]):
                np.testing.assert_array_equal(listed[index].pixels, other.pixels)
                np.testing.assert_array_equal(listed[index].labels, other.labels)
        task = listed[1]
        self.assertTrue(np.shares_memory(task.support, task.pixels))
        self.assertEqual(task.support_labels.tolist(), [0, 1, 2])
        self.assertEqual(task.query.shape, (6, 1, 14, 14))
        self.assertEqual(len(set(task.images.tolist())), len(task.images))
        for image, pixels in zip(task.images, task.pixels):
            np.testing.assert_allclose(pixels, self.data[int(image)] / 255, atol=1e-6)
        with self.assertRaises(IndexError):
            tasks[5]
        with self.assertRaises(TypeError):
            len(pyimp.Episodes(self.data))
        with self.assertRaisesRegex(ValueError, "kind"):
            pyimp.Episodes(self.data, kind="letters")
        with self.assertRaises(ValueError):
            pyimp.Episodes(self.data, way=100000)


class Methods(unittest.TestCase):
    def episode(self, seed=1):
        random = np.random.default_rng(seed)
        return (
            random.normal(size=(8, 5)).astype(np.float32) * 3,
            np.arange(8) % 4,
            random.normal(size=(12, 5)).astype(np.float32) * 3,
            np.arange(12) % 4,
            random.normal(size=(5, 5)).astype(np.float32) * 3,
        )

    def test_gradients_are_those_of_the_loss(self):
        support, labels, query, truth, unlabeled = self.episode()
        for name, options in (("imp", {"sigma_l": 3, "lambda_": 1e6}), ("prototypes", {}), ("nca", {})):
            method = Method(name, **options)
            found = method(support, labels, query, truth, unlabeled, gradients=True)
            step, worst = 1e-2, 0
            for k in range(3):
                moved = [query.copy(), query.copy()]
                moved[0][k, k] += step
                moved[1][k, k] -= step
                up, down = (method(support, labels, q, truth, unlabeled).loss for q in moved)
                worst = max(worst, abs((up - down) / (2 * step) - found.query_gradient[k, k]))
            self.assertLess(worst, 1e-3, name)

    def test_parameters_are_views_that_learning_moves(self):
        support, labels, query, truth, unlabeled = self.episode()
        method = Method("imp", sigma_l=4, sigma_u=2)
        self.assertAlmostEqual(float(method.parameters["log_sigma_l"]), np.log(4))
        before = method(support, labels, query, truth, unlabeled, gradients=True)
        method.values[:] -= 0.1 * before.parameter_gradient
        after = method(support, labels, query, truth, unlabeled)
        self.assertLess(after.loss, before.loss)
        self.assertIsNone(after.query_gradient)
        self.assertEqual(before.probabilities.shape, (12, 4))
        np.testing.assert_allclose(before.probabilities.sum(1), 1, atol=1e-5)

    def test_mistakes_have_sentences(self):
        support, labels, query, truth, _ = self.episode()
        with self.assertRaisesRegex(ValueError, "method"):
            Method("nobody")
        method = Method("em", no_prior=True)
        with self.assertRaisesRegex(ValueError, "support_labels"):
            method(support, labels[:3], query)
        with self.assertRaisesRegex(ValueError, "features"):
            method(support, labels, query[:, :2])
        with self.assertRaises(ValueError):
            method(np.full_like(support, np.nan), labels, query, truth)
        with self.assertRaisesRegex(ValueError, "32 bits"):
            method(support, labels.astype(np.int64) + 2**32, query)
        with self.assertRaisesRegex(ValueError, "real"):
            method(support + 1j, labels, query)
        for wrong in ({"seed": -1}, {"seed": 2**64}, {"alpha": "much"}, {"sigma_l": 0}, {"lambda_": -1}, {"steps": 2.5}):
            with self.assertRaisesRegex(ValueError, f"^{next(iter(wrong))} is "):
                Method("imp", **wrong)
        with self.assertRaisesRegex(ValueError, "no_prior is 'yes'"):
            Method("em", no_prior="yes")
        with self.assertRaisesRegex(ValueError, "needs query_labels"):
            method(support, labels, query, gradients=True)
        self.assertTrue(np.isnan(method(support, labels, query[:0], []).loss))
        self.assertIn("gibbs", pyimp.methods.names())

    def test_a_view_of_values_outlives_its_method(self):
        views = [Method("imp", sigma_l=k + 1).values for k in range(50)]
        parameters = Method("imp", sigma_l=7).parameters
        gc.collect()
        others = [Method("imp", sigma_l=1000) for _ in range(50)]  # where they would have been
        np.testing.assert_allclose([view[0] for view in views], np.log(np.arange(50) + 1))
        self.assertAlmostEqual(float(parameters["log_sigma_l"]), np.log(7))
        del others

    def test_copies_learn_by_themselves(self):
        support, labels, query, truth, unlabeled = self.episode()
        method = Method("em", no_prior=True, sigma_l=3, seed=5)
        method.values[:] += 0.25
        loss = method(support, labels, query, truth, unlabeled).loss
        for other in (pickle.loads(pickle.dumps(method)), copy.deepcopy(method)):
            self.assertEqual(other(support, labels, query, truth, unlabeled).loss, loss)
            other.values[:] = 0
        self.assertEqual(method(support, labels, query, truth, unlabeled).loss, loss)


try:
    import torch

    import pyimp.torch
except ImportError:
    torch = None


@unittest.skipUnless(torch, "there is no PyTorch")
class Torch(unittest.TestCase):
    def test_a_network_of_pytorch_learns_through_imp(self):
        torch.manual_seed(1)
        data = pyimp.Dataset("glyphs", **DATA)
        network = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(196, 16))
        loss = pyimp.torch.EpisodeLoss("imp", sigma_l=5)
        optimizer = torch.optim.Adam([*network.parameters(), *loss.parameters()], 1e-2)
        tasks = pyimp.Episodes(data, way=5, shot=1, queries=5, count=60)
        losses = []
        for task in pyimp.torch.loader(tasks, workers=2):
            optimizer.zero_grad()
            value = loss(network(torch.from_numpy(task.pixels)), task)
            value.backward()
            optimizer.step()
            losses.append(float(value))
        self.assertLess(np.mean(losses[-15:]), np.mean(losses[:15]))
        self.assertEqual(len(loss.last.predictions), 25)

    def test_workers_of_any_kind_draw_the_same(self):
        tasks = pyimp.Episodes(pyimp.Dataset("glyphs", **DATA), way=3, shot=1, queries=2, count=3)
        for kind in ("fork", "spawn"):
            found = list(pyimp.torch.loader(tasks, workers=2, multiprocessing_context=kind))
            self.assertEqual([task.index for task in found], [0, 1, 2])
            for mine, task in zip(tasks, found):
                np.testing.assert_array_equal(mine.pixels, task.pixels)
                np.testing.assert_array_equal(mine.labels, task.labels)

    def test_the_gradient_passes_pytorchs_own_check(self):
        data = pyimp.Dataset("glyphs", **DATA)
        task = pyimp.Episodes(data, way=3, shot=2, queries=2)[0]
        loss = pyimp.torch.EpisodeLoss("prototypes")
        points = torch.randn(len(task.labels), 4, dtype=torch.float64, requires_grad=True)
        torch.autograd.gradcheck(lambda p: loss(p, task), (points,), eps=1e-2, atol=2e-2, rtol=2e-2, nondet_tol=0)

    def test_a_second_derivative_is_refused(self):
        task = pyimp.Episodes(pyimp.Dataset("glyphs", **DATA), way=3, shot=2, queries=2)[0]
        loss = pyimp.torch.EpisodeLoss("prototypes")
        points = torch.randn(len(task.labels), 4, requires_grad=True)
        with self.assertRaisesRegex(RuntimeError, "create_graph"):
            torch.autograd.grad(loss(points, task), points, create_graph=True)

    def test_a_loss_is_copied_and_saved_as_modules_are(self):
        task = pyimp.Episodes(pyimp.Dataset("glyphs", **DATA), way=3, shot=2, queries=2)[0]
        loss = pyimp.torch.EpisodeLoss("imp", sigma_l=3)
        self.assertIsNone(loss.last)
        with torch.no_grad():
            loss.values += 0.5
        points = torch.randn(len(task.labels), 4)
        file = io.BytesIO()
        torch.save(loss, file)
        file.seek(0)
        fresh = pyimp.torch.EpisodeLoss("imp")
        fresh.load_state_dict(loss.state_dict())
        for other in (copy.deepcopy(loss), torch.load(file), fresh):
            self.assertEqual(float(other(points, task)), float(loss(points, task)))


if __name__ == "__main__":
    unittest.main()
