"""Shows that the road from pictures through any network works: few-shot episodes on embedded pictures.

    embedder_demonstration.py IMP EMBEDDER MINI_IMAGENET [EPISODES]

IMP is the command, EMBEDDER what `--embedder` is given and MINI_IMAGENET a folder with images.zip and
test.csv. Embeds 60 pictures of each test class with `imp embed`, classifies 5-way episodes with the
numbers that `imp classify` has for embedders, and prints the result as JSON. A network that was
pretrained on ImageNet has seen these classes: the figure is comparable with nothing else.
"""

import csv
import json
import os
import subprocess
import sys
import tempfile
import zipfile

import numpy as np

import pyimp

SEED, WAY, QUERIES, PICTURES = 1, 5, 15, 60
RULE = {"sigma_l": 0.02, "sigma_u": 0.02, "alpha": 0.1, "threshold": 1.0}


def extract(data, folder):
    """The first pictures of each class, in a sub-folder each."""
    counts = {}
    with open(os.path.join(data, "test.csv"), encoding="utf-8") as file, zipfile.ZipFile(
        os.path.join(data, "images.zip")
    ) as archive:
        for row in csv.DictReader(file):
            label, name = row["label"], row["filename"]
            counts[label] = counts.get(label, 0) + 1
            if counts[label] <= PICTURES:
                os.makedirs(os.path.join(folder, label), exist_ok=True)
                with open(os.path.join(folder, label, name), "wb") as picture:
                    picture.write(archive.read(name))


def accuracy(x, y, shots, episodes):
    """The mean over episodes, and half of its 95% interval."""
    random = np.random.default_rng(SEED)
    found = []
    for _ in range(episodes):
        support, queries, known, true = [], [], [], []
        for label, number in enumerate(random.permutation(y.max() + 1)[:WAY]):
            drawn = random.permutation(np.flatnonzero(y == number))[: shots + QUERIES]
            support.extend(drawn[:shots])
            queries.extend(drawn[shots:])
            known += [label] * shots
            true += [label] * QUERIES
        mixture = pyimp.InfiniteMixturePrototypes(**RULE).fit(x[support], known)
        found.append(np.mean(mixture.predict(x[queries]) == true))
    return np.mean(found), 1.96 * np.std(found, ddof=1) / np.sqrt(episodes)


def main():
    imp, embedder, data = sys.argv[1:4]
    episodes = int(sys.argv[4]) if len(sys.argv) > 4 else 600
    with tempfile.TemporaryDirectory() as folder:
        pictures = os.path.join(folder, "pictures")
        extract(data, pictures)
        vectors, labels = os.path.join(folder, "x.npy"), os.path.join(folder, "y.npy")
        command = [imp, "embed", pictures, "-o", vectors, "--labels", labels]
        subprocess.run([*command, "--embedder", embedder], check=True, stderr=subprocess.DEVNULL)
        x, y = np.load(vectors), np.load(labels)
    report = {
        "what": "mini-ImageNet's test classes, embedded by a network that was trained on them: a "
        "demonstration, not a result",
        "command": "embedder_demonstration.py imp 'python3 -m pyimp.embedders.onnx "
        "mobilenet-int8.onnx ...' mini-imagenet",
        "version": pyimp.__version__,
        "seed": SEED,
        "way": WAY,
        "queries": QUERIES,
        "episodes": episodes,
        "pictures": len(x),
        "dimensions": x.shape[1],
        "rule": RULE,
    }
    for shots in (1, 5):
        mean, half = accuracy(x, y, shots, episodes)
        report[f"{shots}-shot"] = {"accuracy": float(mean), "interval": float(half)}
    print(json.dumps(report, indent=2))


main()
