#!/usr/bin/python3
"""Check that all peers compute the same. Each gets the same images, weights and output gradient, and its
results are compared with PyTorch in double precision: the outputs of evaluation and of the training
step, every gradient of weights and batch norm, and the running statistics after the step.

usage: check_peers.py [--build DIR] [--imp FILE] [--isa avx512|avx2|portable]

Exit status 0 if every peer that could be started is right, 1 otherwise.
"""

import argparse
import array
import os
import sys
import tempfile
import warnings

from protocol import HERE, ISA, Peer, Unavailable, commands, environment

warnings.filterwarnings("ignore", message=".*NumPy.*")
import torch
import torch.nn.functional as F

FILTERS, LAYERS, EPSILON, MOMENTUM = 64, 4, 1e-5, 0.1
SHAPES = ((6, 1, 28, 28), (2, 3, 84, 84), (5, 3, 37, 50))  # the last one: odd maps, not square
# Relative error (Frobenius norm). Float32 leaves 1e-6 in outputs and 1e-5 in gradients of the deeper
# network; Winograd a little more.
TOLERANCE = {"output": 2e-5, "gradient": 2e-4, "statistics": 1e-5}
# ReLU and max-pooling decide, and rounding may decide a near tie the other way, which moves a gradient
# by far more than rounding does. So the numbers are drawn until no decision is closer than this.
MARGIN = 4e-6


def random_input(n, c, h, w, seed):
    """Images, output gradient and parameters. Batch norm has scales of both signs."""
    torch.manual_seed(seed)
    numbers = {"x": torch.rand(n, c, h, w), "grad": torch.randn(n, FILTERS, h // 16, w // 16)}
    for l in range(LAYERS):
        fan = c if l == 0 else FILTERS
        bound = (2 * 6 / (9 * fan + 9 * FILTERS)) ** 0.5
        numbers[f"weight{l}"] = (torch.rand(FILTERS, fan, 3, 3) * 2 - 1) * bound
        numbers[f"gamma{l}"] = torch.randn(FILTERS)
        numbers[f"beta{l}"] = torch.randn(FILTERS)
        numbers[f"mean{l}"] = torch.randn(FILTERS) * 0.1
        numbers[f"variance{l}"] = torch.rand(FILTERS) + 0.5
    return numbers


def margin(numbers):
    """How close the closest decision of the training step is, in double precision."""
    y, closest = numbers["x"].double(), float("inf")
    for l in range(LAYERS):
        weight, gamma, beta = [numbers[f"{k}{l}"].double() for k in ("weight", "gamma", "beta")]
        y = F.conv2d(y, weight, padding=1)
        y = F.batch_norm(y, None, None, gamma, beta, True, MOMENTUM, EPSILON)
        n, c, h, w = y.shape
        windows = y[:, :, :h // 2 * 2, :w // 2 * 2].reshape(n, c, h // 2, 2, w // 2, 2)
        windows = windows.permute(0, 1, 2, 4, 3, 5).reshape(-1, 4)
        first, second = windows.topk(2).values.unbind(1)
        alive = first > 0
        closest = min(closest, first.abs().min().item(),
                      (first - second)[alive].min().item())
        y = F.max_pool2d(F.relu(y), 2)
    return closest


def decided_input(*shape):
    seed = 1
    while margin(numbers := random_input(*shape, seed)) < MARGIN:
        seed += 1
    return numbers


def reference(numbers):
    """What the peers should answer, in their order: (name, kind, tensor)."""
    exact = {key: value.double() for key, value in numbers.items()}
    results = []
    for training in (False, True):
        y = exact["x"]
        learned = []
        for l in range(LAYERS):
            names = [f"weight{l}", f"gamma{l}", f"beta{l}"]
            weight, gamma, beta = [exact[k].clone().requires_grad_(training) for k in names]
            mean, variance = exact[f"mean{l}"].clone(), exact[f"variance{l}"].clone()
            y = F.conv2d(y, weight, padding=1)
            y = F.batch_norm(y, mean, variance, gamma, beta, training, MOMENTUM, EPSILON)
            y = F.max_pool2d(F.relu(y), 2)
            learned.append((names, (weight, gamma, beta), (mean, variance)))
        results.append(("train" if training else "eval", "output", y.detach()))
        if training:
            y.backward(exact["grad"])
            for l, (names, parameters, statistics) in enumerate(learned):
                results += [(k, "gradient", p.grad) for k, p in zip(names, parameters)]
                results += [(f"mean{l}", "statistics", statistics[0]),
                            (f"variance{l}", "statistics", statistics[1])]
    return results


def write(path, tensors):
    with open(path, "wb") as f:
        for tensor in tensors:
            array.array("f", tensor.flatten().tolist()).tofile(f)


def read(path):
    with open(path, "rb") as f:
        return torch.frombuffer(bytearray(f.read()), dtype=torch.float32).double()


def errors(path, expected):
    """The largest relative error of each kind, and what is beyond its tolerance."""
    got, position, worst, wrong = read(path), 0, {}, []
    size = sum(tensor.numel() for _, _, tensor in expected)
    if got.numel() != size:
        return worst, [f"{got.numel()} numbers instead of {size}"]
    for name, kind, tensor in expected:
        part = got[position:position + tensor.numel()].reshape(tensor.shape)
        position += tensor.numel()
        error = ((part - tensor).norm() / tensor.norm()).item()
        worst[kind] = max(worst.get(kind, 0), error)
        if not error <= TOLERANCE[kind]:
            wrong.append(f"{name} ({kind}) off by {error:.1e}")
    return worst, wrong


def main():
    root = os.path.dirname(HERE)
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", default=os.path.join(root, "build", "bench"))
    parser.add_argument("--imp", default=os.path.join(root, "build", "release", "imp"))
    parser.add_argument("--isa", choices=ISA)
    options = parser.parse_args()
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        source, target = os.path.join(folder, "in"), os.path.join(folder, "out")
        cases = []
        for shape in SHAPES:
            numbers = decided_input(*shape)
            cases.append((shape, numbers, reference(numbers)))
        for name, command in commands(options.build, options.imp).items():
            if name in ("peak", "torch-best"):  # torch-best is one of the other ways
                continue
            try:
                with Peer(command, environment(name, options.isa)) as peer:
                    for (n, c, h, w), numbers, expected in cases:
                        for threads in (1, 2):
                            write(source, numbers.values())
                            answer = peer.ask(f"check {n} {c} {h} {w} {threads} {source} {target}")
                            if "unavailable" in answer:
                                raise Unavailable(answer["unavailable"])
                            worst, wrong = errors(target, expected)
                            failed |= bool(wrong)
                            text = ", ".join(f"{k} {v:.1e}" for k, v in worst.items())
                            print(f"{'WRONG' if wrong else 'right'}  {answer['peer']:32} "
                                  f"{n}x{c}x{h}x{w} threads {threads}: {text}")
                            for line in wrong:
                                print("       " + line)
            except Unavailable as reason:
                print(f"absent {name:32} {reason}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
