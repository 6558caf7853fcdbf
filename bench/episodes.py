#!/usr/bin/env python3
"""Episodes per second in Python: pyimp next to PyTorch's DataLoader, easyfsl and learn2learn.

usage: bench/episodes.py [--data NAME] [--rounds N] [--seconds S] [--output JSON]

All have the pictures in memory, decoded and resampled by pyimp, and make 20-way 1-shot episodes with 5
queries per class as floats with labels: 120 images of 28 x 28. In a round each has a turn of some
seconds, in an order that rotates, and is compared with pyimp's turn in the same round.

The peers are PyPI's, in a venv of their own (build/bench/venv-episodes); one that cannot be installed
is left out, and the script says so.
"""
import argparse
import os
import random
import shutil
import statistics
import subprocess
import tempfile
import time

from protocol import add_places, conclude, installed, interpreter, pypi_python, run_inside
from run import machine

WAY, SHOT, QUERIES = 20, 1, 5
EACH = SHOT + QUERIES
PACKAGES = ["torch", "torchvision", "numpy<2", "pandas<3", "setuptools", "wheel", "cython<3", "easyfsl"]
MEASURED = ["torch", "numpy", "easyfsl", "learn2learn"]


def build_learn2learn(python):
    """Its archive on PyPI has C files by a Cython that knew no Python 3.11: they are made again."""
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    there = "import importlib.metadata as m; m.version('learn2learn')"
    if subprocess.run([python, "-c", there], **quiet).returncode == 0:
        return
    pip = [python, "-m", "pip", "--disable-pip-version-check"]
    with tempfile.TemporaryDirectory() as folder:
        fetch = [*pip, "download", "--no-deps", "--no-binary", ":all:", "--no-build-isolation", "learn2learn==0.2.0"]
        if subprocess.run(fetch, cwd=folder, **quiet).returncode:
            return
        shutil.unpack_archive(os.path.join(folder, "learn2learn-0.2.0.tar.gz"), folder)
        source = os.path.join(folder, "learn2learn-0.2.0")
        for name in ("meta_dataset", "task_dataset", "transforms"):
            os.remove(os.path.join(source, "learn2learn", "data", name + ".c"))
        subprocess.run([python, "setup.py", "build_ext", "bdist_wheel"], cwd=source, **quiet)
        wheels = os.path.join(source, "dist")
        for wheel in os.listdir(wheels) if os.path.isdir(wheels) else ():
            subprocess.run([*pip, "install", os.path.join(wheels, wheel)], **quiet)


def images_of(data):
    """All images of the classes that train as one array of bytes, and the class of each."""
    import numpy

    classes = [c for c in data.classes if c.split == "train"]
    count = sum(c.images for c in classes)
    pixels = numpy.empty((count, data.channels, data.size, data.size), numpy.uint8)
    label, place = numpy.empty(count, numpy.int64), 0
    for number, c in enumerate(classes):
        for image in range(c.first_image, c.first_image + c.images):
            pixels[place] = data[image]
            label[place] = number
            place += 1
    return pixels, label


def imp_episodes(data, _):
    import pyimp

    return iter(pyimp.Episodes(data, way=WAY, shot=SHOT, queries=QUERIES))


def numpy_by_hand(_, images):
    """The shortest that somebody would write who has all images in an array: one gather."""
    import numpy

    pixels, label = images
    of_class = [numpy.flatnonzero(label == c) for c in range(label.max() + 1)]
    generator = numpy.random.default_rng(1)
    labels = numpy.repeat(numpy.arange(WAY), EACH)
    while True:
        classes = generator.choice(len(of_class), WAY, replace=False)
        chosen = [generator.choice(of_class[c], EACH, replace=False) for c in classes]
        yield pixels[numpy.concatenate(chosen)].astype(numpy.float32) / 255, labels


def torch_sampler(_, images, workers=0):
    """A DataLoader with a batch sampler that draws the numbers of an episode's images."""
    import torch

    class Set(torch.utils.data.Dataset):
        def __init__(self):
            self.pixels = torch.from_numpy(images[0])
            self.label = images[1].tolist()

        def __len__(self):
            return len(self.label)

        def __getitem__(self, index):
            return self.pixels[index].float() / 255, self.label[index]

    class Sampler(torch.utils.data.Sampler):
        def __init__(self):
            label = torch.from_numpy(images[1])
            self.of_class = [torch.where(label == c)[0] for c in range(int(label.max()) + 1)]

        def __len__(self):
            return 10**6

        def __iter__(self):
            for _ in range(len(self)):
                classes = torch.randperm(len(self.of_class))[:WAY]
                own = (self.of_class[c] for c in classes)
                yield torch.cat([ids[torch.randperm(len(ids))[:EACH]] for ids in own]).tolist()

    loader = torch.utils.data.DataLoader(Set(), batch_sampler=Sampler(), num_workers=workers)
    return iter(loader)


def torch_sampler_2(data, images):
    return torch_sampler(data, images, 2)


def easyfsl(_, images):
    import torch
    from easyfsl.datasets import FewShotDataset
    from easyfsl.samplers import TaskSampler

    class Set(FewShotDataset):
        def __init__(self):
            self.pixels, self.label = torch.from_numpy(images[0]), images[1].tolist()

        def __len__(self):
            return len(self.label)

        def __getitem__(self, index):
            return self.pixels[index].float() / 255, self.label[index]

        def get_labels(self):
            return self.label

    class Sampler(torch.utils.data.Sampler):  # easyfsl hands it a set that PyTorch has stopped to take
        def __init__(self, data_source=None):
            pass

    TaskSampler.__bases__ = (Sampler,)
    tasks = Set()
    sampler = TaskSampler(tasks, n_way=WAY, n_shot=SHOT, n_query=QUERIES, n_tasks=10**6)
    return iter(
        torch.utils.data.DataLoader(
            tasks, batch_sampler=sampler, collate_fn=sampler.episodic_collate_fn
        )
    )


def learn2learn(_, images):
    import learn2learn
    import torch

    tensors = torch.utils.data.TensorDataset(
        torch.from_numpy(images[0]).float() / 255, torch.from_numpy(images[1])
    )
    tensors = learn2learn.data.MetaDataset(tensors)
    parts = learn2learn.data.transforms
    tasks = learn2learn.data.TaskDataset(
        tensors,
        task_transforms=[
            parts.NWays(tensors, WAY),
            parts.KShots(tensors, EACH),
            parts.LoadData(tensors),
            parts.RemapLabels(tensors),
            parts.ConsecutiveLabels(tensors),
        ],
        num_tasks=-1,
    )

    def sample():
        while True:
            yield tasks.sample()

    return sample()


PEERS = {
    "pyimp": imp_episodes,
    "NumPy, one gather by hand": numpy_by_hand,
    "PyTorch DataLoader, batch sampler": torch_sampler,
    "PyTorch DataLoader, batch sampler, 2 workers": torch_sampler_2,
    "easyfsl TaskSampler": easyfsl,
    "learn2learn TaskDataset": learn2learn,
}


def rate(source, seconds):
    """Episodes a second, over so many seconds."""
    next(source)
    begin, made = time.perf_counter(), 0
    while (passed := time.perf_counter() - begin) < seconds:
        next(source)
        made += 1
    return made / passed


def measure(given):
    import torch

    import pyimp

    torch.manual_seed(1)
    random.seed(1)
    torch.set_num_threads(1)
    data = pyimp.Dataset(given.data, size=28)
    images = images_of(data)
    sources, absent = {}, {}
    for name, make in PEERS.items():
        try:
            sources[name] = make(data, images)
            next(sources[name])
        except Exception as reason:  # whatever a package of others fails with
            absent[name] = f"{type(reason).__name__}: {str(reason).splitlines()[0]}"
            sources.pop(name, None)
    rates = {name: [] for name in sources}
    for turn in range(given.rounds):
        order = list(sources)
        for name in order[turn % len(order) :] + order[: turn % len(order)]:
            rates[name].append(rate(sources[name], given.seconds))
    rows = []
    for name, found in rates.items():
        ratios = [own / other for own, other in zip(rates["pyimp"], found)]
        rows.append(
            {
                "peer": name,
                "episodes_per_second": statistics.median(found),
                "pyimp_over_peer": statistics.median(ratios),
                "range": [min(ratios), max(ratios)],
                "rounds": found,
            }
        )
    return {
        "what": f"{WAY}-way {SHOT}-shot, {QUERIES} queries a class, {data.channels}x28x28",
        "data": given.data.split(":")[0],
        "images": len(images[0]),
        "machine": {key: value for key, value in machine().items() if key != "flags"},
        "pyimp": pyimp.__version__,
        "versions": installed(MEASURED),
        "absent": absent,
        "rows": rows,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default="glyphs")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.0)
    add_places(parser, "episodes.json")
    given = parser.parse_args()
    inside = "IMP_BENCH_INSIDE" in os.environ
    if not inside and pypi_python(given.build, "venv-episodes", PACKAGES)[1] == "PyPI's":
        build_learn2learn(interpreter(given.build, "venv-episodes"))
    run_inside(given.build, "venv-episodes", PACKAGES, given.library)
    report = measure(given)
    print(f"{report['what']}, of {report['images']:,} images ({report['data']})")
    conclude(
        report,
        given.output,
        lambda row: f"{row['peer']:46}{row['episodes_per_second']:>9.0f} /s{row['pyimp_over_peer']:>9.2f}",
    )


if __name__ == "__main__":
    main()
