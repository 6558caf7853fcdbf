#!/usr/bin/python3
"""Updates of MAML and of the graph network by pyimp and by PyTorch, for bench/learners.py.

usage: learners.py imp|torch-tasks|torch-batched [--tuned]

  imp            the loop of `imp train`, called by pyimp: episodes are drawn and the log is written, too
  torch-tasks    one task after the other; MAML by torch.autograd.grad with create_graph=True
  torch-batched  all tasks at once: MAML by torch.func (vmap over the tasks of a gradient through a
                 gradient), and the graph network with batch norms over all tasks, which is not quite
                 imp's function, but as its authors' code has it
  --tuned        with malloc's settings, as in torch_network.py

A request is `update RECIPE DATA SECONDS THREADS` or `check RECIPE DATA`, the answer a line of JSON. PyTorch has
all episodes as tensors before the clock starts, and compares every pair of nodes once, as imp does.
"""

import json
import os
import statistics
import struct
import sys
import tempfile
import time

from peer import serve
from torch_network import resident_peak_mb, restart_tuned

WARM_UP, LEAST_UPDATES, EPISODES = 2, 3, 8  # episodes: sets of tasks, used in turn
RECIPES = {
    "omniglot-maml-5way": {"way": 5, "queries": 1, "tasks": 32, "inner_rate": 0.4, "inner_steps": 1},
    "omniglot-maml-20way": {"way": 20, "queries": 1, "tasks": 16, "inner_rate": 0.1, "inner_steps": 5},
    "omniglot-graph-5way": {"way": 5, "queries": 5, "tasks": 12, "dropout": 0.3},
}


def answer_times(times):
    return {"seconds": statistics.median(times), "fastest": min(times), "updates": len(times),
            "resident_mb": round(resident_peak_mb(), 1)}


# ---- imp ----

def imp_times(recipe, data, seconds, threads):
    times, last = [], []

    def proceed(_):
        now = time.perf_counter()
        last.append(now)
        if len(last) > WARM_UP + 1:
            times.append(now - last[-2])
        return len(times) < LEAST_UPDATES or now - last[WARM_UP] < seconds

    with tempfile.TemporaryDirectory() as folder:
        pyimp.train(os.path.join(folder, "run"), recipe, data=data, threads=threads, updates=10**6,
                    validate_every=10**6, checkpoint_every=10**6, callback=proceed)
    return answer_times(times)


def imp_first(recipe, data):
    """Loss and gradient of the first update without dropout, and the weights it was made from."""
    settings = {"edge_dropout": 0} if "dropout" in RECIPES[recipe] else {}
    with tempfile.TemporaryDirectory() as folder:
        folder = os.path.join(folder, "run")
        pyimp.train(folder, recipe, data=data, updates=1, rate=1e-30, validation_episodes=2,
                    **settings)
        with open(os.path.join(folder, "log.jsonl"), encoding="utf-8") as f:
            line = json.loads(f.readline())
        return line["loss"], line["gradient_norm"], read_weights(os.path.join(folder, "model.safetensors"))


def read_weights(path):
    with open(path, "rb") as f:
        (size,) = struct.unpack("<Q", f.read(8))
        header, data = json.loads(f.read(size)), bytearray(f.read())
    header.pop("__metadata__")
    return {name: torch.frombuffer(data, dtype=torch.float32, offset=tensor["data_offsets"][0],
                                   count=(tensor["data_offsets"][1] - tensor["data_offsets"][0]) // 4)
            .reshape(tensor["shape"]).clone() for name, tensor in header.items()}


def episodes(recipe, data, sets):
    """Sets of tasks: supports (tasks, way, 1, 28, 28), queries, labels of both."""
    task = RECIPES[recipe]
    drawn = pyimp.Episodes(pyimp.Dataset(data, rotations=4), way=task["way"], shot=1,
                           queries=task["queries"])
    for first in range(0, sets * task["tasks"], task["tasks"]):
        own = [drawn[first + i] for i in range(task["tasks"])]
        yield [torch.stack([torch.as_tensor(getattr(e, name)) for e in own]) for name in (
            "support", "query")] + [torch.stack([torch.as_tensor(getattr(e, name)).long() for e in own])
                                    for name in ("support_labels", "query_labels")]


# ---- MAML ----

class Maml:
    """The network of Finn et al. for Omniglot, as a function of its parameters."""

    def __init__(self, recipe, batched):
        self.task, self.batched = RECIPES[recipe], batched
        layers = []
        for i in range(4):
            layers += [nn.Conv2d(64 if i else 1, 64, 3, stride=2, padding=1),
                       nn.BatchNorm2d(64, track_running_stats=False), nn.ReLU()]
        self.model = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                                   nn.Linear(64, self.task["way"]))
        self.parameters = dict(self.model.named_parameters())

    def load(self, weights):
        names = {"learner.head.weight": "14.weight", "learner.head.bias": "14.bias"}
        for i in range(4):
            for part in ("weight", "bias"):
                names[f"blocks.{i}.conv.{part}"] = f"{3 * i}.{part}"
                names[f"blocks.{i}.bn.{part}"] = f"{3 * i + 1}.{part}"
        with torch.no_grad():
            for name, own in names.items():
                self.parameters[own].copy_(weights[name])

    def loss(self, parameters, x, y):
        return functional.cross_entropy(torch.func.functional_call(self.model, parameters, (x,)), y)

    def adapted_loss(self, support, query, support_labels, query_labels):
        """Of one task, by autograd."""
        theta = self.parameters
        for _ in range(self.task["inner_steps"]):
            slopes = torch.autograd.grad(self.loss(theta, support, support_labels),
                                         list(theta.values()), create_graph=True)
            theta = {name: value - self.task["inner_rate"] * slope
                     for (name, value), slope in zip(theta.items(), slopes)}
        return self.loss(theta, query, query_labels)

    def functional_loss(self, parameters, support, query, support_labels, query_labels):
        """Of one task, by torch.func."""
        theta = parameters
        for _ in range(self.task["inner_steps"]):
            slopes = torch.func.grad(self.loss)(theta, support, support_labels)
            theta = {name: value - self.task["inner_rate"] * slopes[name]
                     for name, value in theta.items()}
        return self.loss(theta, query, query_labels)

    def backward(self, tasks):
        """The mean loss, its gradient left in the parameters."""
        count = self.task["tasks"]
        if self.batched:
            loss = torch.vmap(self.functional_loss, (None, 0, 0, 0, 0))(self.parameters, *tasks).mean()
            loss.backward()
            return loss.item()
        total = 0
        for task in zip(*tasks):
            loss = self.adapted_loss(*task) / count
            loss.backward()
            total += loss.item()
        return total


# ---- the graph network ----

class Graph:
    """The network of Garcia and Bruna for Omniglot."""

    def __init__(self, recipe, batched):
        self.task, self.batched = RECIPES[recipe], batched
        self.way, self.dropout = self.task["way"], self.task["dropout"]
        blocks = []
        for i in range(4):
            blocks += [nn.Conv2d(64 if i else 1, 64, 3, padding=1 if i < 2 else 0, bias=False),
                       nn.BatchNorm2d(64), nn.LeakyReLU(0.1)] + ([nn.MaxPool2d(2)] if i < 2 else [])
        self.embed = nn.Sequential(*blocks, nn.Flatten(), nn.Linear(576, 64, bias=False),
                                   nn.BatchNorm1d(64), nn.LeakyReLU(0.01))
        self.embed.to(memory_format=torch.channels_last)
        self.edges, self.nodes = nn.ModuleList(), nn.ModuleList()
        for i in range(3):
            width = 64 + self.way + 48 * i
            base = 64 + self.way + 48 * min(i, 1)  # the authors' last layer is as wide as the second
            widths = [width, 2 * base, int(1.5 * base), base, base]
            edge = []
            for j, (a, b) in enumerate(zip(widths, widths[1:])):
                edge += [nn.Linear(a, b, bias=False), nn.BatchNorm1d(b), nn.LeakyReLU(0.01)]
                if i == 2 and j == 0:
                    edge.append(nn.Dropout(self.dropout))
            self.edges.append(nn.Sequential(*edge, nn.Linear(base, 1)))
            self.nodes.append(
                nn.Sequential(nn.Linear(2 * width, 48, bias=False), nn.BatchNorm1d(48), nn.LeakyReLU(0.01))
                if i < 2 else nn.Sequential(nn.Linear(2 * width, self.way), nn.BatchNorm1d(self.way)))
        self.all = nn.ModuleList([self.embed, self.edges, self.nodes])
        self.parameters = dict(self.all.named_parameters())
        self.pair = torch.triu_indices(self.way + 1, self.way + 1, 1)

    def load(self, weights):
        def parts(module, prefix):
            heavy = [m for m in module if isinstance(m, (nn.Conv2d, nn.Linear))]
            norms = [m for m in module if isinstance(m, (nn.BatchNorm1d, nn.BatchNorm2d))]
            for i, m in enumerate(heavy):
                kind = "conv" if isinstance(m, nn.Conv2d) else "linear"
                for name, own in m.named_parameters():
                    own.copy_(weights[f"{prefix}blocks.{i}.{kind}.{name}"])
            for i, m in enumerate(norms):
                for name, own in m.named_parameters():
                    own.copy_(weights[f"{prefix}blocks.{i}.bn.{name}"])
            for m in module:
                if isinstance(m, nn.Dropout):
                    m.p = 0.0

        with torch.no_grad():
            parts(self.embed, "")
            for i in range(3):
                parts(self.edges[i], f"learner.edges.{i}.")
                parts(self.nodes[i], f"learner.nodes.{i}.")

    def logits(self, support, query, support_labels):
        """(tasks, way, ...), (tasks, queries, ...), (tasks, way): of every query, (tasks * queries, way)."""
        tasks, supports = support.shape[:2]
        queries = query.shape[1]
        images = torch.cat([support, query], 1).flatten(0, 1)
        images = images.contiguous(memory_format=torch.channels_last)
        z = self.embed(images).reshape(tasks, supports + queries, 64)
        known = torch.cat([z[:, :supports], functional.one_hot(support_labels, self.way).float()], 2)
        asked = torch.cat([z[:, supports:], z.new_zeros(tasks, queries, self.way)], 2)
        x = torch.cat([asked.unsqueeze(2),
                       known.unsqueeze(1).expand(-1, queries, -1, -1)], 2).flatten(0, 1)
        first, second = self.pair
        graphs, n = x.shape[:2]
        for i in range(3):
            differences = (x[:, first] - x[:, second]).abs()
            strength = self.edges[i](differences.flatten(0, 1)).reshape(graphs, -1)
            a = x.new_full((graphs, n, n), -torch.inf)
            a[:, first, second] = strength
            a[:, second, first] = strength
            joined = torch.cat([x, a.softmax(2) @ x], 2)
            out = self.nodes[i](joined.flatten(0, 1)).reshape(graphs, n, -1)
            x = torch.cat([x, out], 2) if i < 2 else out
        return x[:, 0]

    def backward(self, tasks):
        support, query, support_labels, query_labels = tasks
        if self.batched:
            loss = functional.cross_entropy(self.logits(support, query, support_labels),
                                            query_labels.flatten())
            loss.backward()
            return loss.item()
        total = 0
        for i in range(len(support)):
            one = slice(i, i + 1)
            loss = functional.cross_entropy(self.logits(support[one], query[one], support_labels[one]),
                                            query_labels[i]) / len(support)
            loss.backward()
            total += loss.item()
        return total


# ---- PyTorch's side of a request ----

def learner_of(recipe, batched):
    return (Graph if "dropout" in RECIPES[recipe] else Maml)(recipe, batched)


class TorchUpdates:
    def __init__(self, recipe, data, batched):
        torch.manual_seed(1)
        self.sets = list(episodes(recipe, data, EPISODES))
        self.learner = learner_of(recipe, batched)
        self.optimizer = torch.optim.Adam(self.learner.parameters.values(), 1e-3)
        self.made = 0

    def update(self):
        self.optimizer.zero_grad(set_to_none=True)
        self.learner.backward(self.sets[self.made % EPISODES])
        self.optimizer.step()
        self.made += 1

    def times(self, seconds):
        for _ in range(WARM_UP):
            self.update()
        times, begin = [], time.perf_counter()
        now = begin
        while len(times) < LEAST_UPDATES or now - begin < seconds:
            before = now
            self.update()
            now = time.perf_counter()
            times.append(now - before)
        return answer_times(times)


def check(recipe, data, batched):
    """Loss and length of the gradient of the first update, by imp and by PyTorch from its weights."""
    loss, norm, weights = imp_first(recipe, data)
    learner = learner_of(recipe, batched)
    learner.load(weights)
    own = learner.backward(next(episodes(recipe, data, 1)))
    squares = sum(float(p.grad.double().square().sum()) for p in learner.parameters.values())
    return {"imp": {"loss": loss, "gradient_norm": norm},
            "torch": {"loss": own, "gradient_norm": squares ** 0.5}}


def main():
    way = sys.argv[1] if len(sys.argv) > 1 else ""
    if way not in ("imp", "torch-tasks", "torch-batched"):
        sys.exit(__doc__)
    kept = {}

    def reply(what, words):
        if what == "hello":
            return {"version": f"imp {pyimp.__version__}" if way == "imp" else f"PyTorch {torch.__version__}"}
        if what == "check" and len(words) == 2:
            return check(*words, way == "torch-batched")
        if what != "update" or len(words) != 4:
            return None
        recipe, data, seconds, threads = words[0], words[1], float(words[2]), int(words[3])
        if way == "imp":
            return imp_times(recipe, data, seconds, threads)
        torch.set_num_threads(threads)
        if (recipe, data) not in kept:
            kept[recipe, data] = TorchUpdates(recipe, data, way == "torch-batched")
        return kept[recipe, data].times(seconds)

    serve(way, reply, "hello, update, check")


if __name__ == "__main__":
    if "--tuned" in sys.argv:
        restart_tuned()
    import pyimp

    if sys.argv[1:2] != ["imp"]:
        import torch
        from torch import nn
        from torch.nn import functional

    main()
