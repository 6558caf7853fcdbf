#!/usr/bin/env python3
"""The labelling page: how much the order of its questions helps, and how fast the next one comes.

    python3 bench/label.py [--part curves|times] [--imp IMP] [--seeds N] [--omniglot FOLDER]
                           [--vectors NAME=X.npy,Y.npy]... [--out FILE]

Without --part both are measured; with it, the other one is kept from the file.

Curves: piles answered with the truth, in the page's order and in random order (`imp label --simulate`), over
several seeds: 5,000 drawings of ten of Omniglot's alphabets, by alphabet and, of fewer, by character;
fashion-MNIST (Debian's dataset-fashion-mnist, 50 principal components); and any other vectors, such as photos
through a backbone. Times: from sending an answer to having the next question, over HTTP as the page does it,
the median and the largest of 50 answers, after 1,000 others.
"""
import argparse
import gzip
import io
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
import zipfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
FASHION = Path("/usr/share/datasets/fashion-mnist")


def run(imp, *words):
    return subprocess.run([imp, *map(str, words)], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout


# ---- piles ----


def omniglot(imp, folder, place, per_alphabet, by_character):
    """Drawings of ten alphabets as vectors of the built-in model, and the truth."""
    archive = zipfile.ZipFile(Path(folder) / "images_evaluation.zip")
    names = sorted(name for name in archive.namelist() if name.endswith(".png"))
    alphabets = {}
    for name in names:
        alphabets.setdefault(name.split("/")[1], []).append(name)
    random = np.random.default_rng(1)
    large = sorted(a for a, drawings in alphabets.items() if len(drawings) >= 500)
    pile = Path(place) / f"omniglot-{per_alphabet}"
    for alphabet in random.choice(large, 10, replace=False):
        drawings = alphabets[alphabet][:per_alphabet] if by_character else sorted(
            random.choice(alphabets[alphabet], per_alphabet, replace=False))
        for name in drawings:
            _, _, character, file = name.split("/")
            kind = pile / (f"{alphabet}-{character}" if by_character else alphabet)
            kind.mkdir(parents=True, exist_ok=True)
            (kind / f"{character}-{file}").write_bytes(archive.read(name))
    run(imp, "embed", pile, "-o", f"{pile}.npy", "--labels", f"{pile}-y.npy")
    return f"{pile}.npy", f"{pile}-y.npy"


def fashion(place):
    with gzip.open(FASHION / "t10k-images-idx3-ubyte.gz") as file:
        x = np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 784)[:5000].astype(np.float32)
    with gzip.open(FASHION / "t10k-labels-idx1-ubyte.gz") as file:
        y = np.frombuffer(file.read(), np.uint8, offset=8)[:5000].astype(np.int64)
    x -= x.mean(0)
    axes = np.linalg.svd(x, full_matrices=False)[2][:50]
    np.save(f"{place}/fashion.npy", (x @ axes.T).astype(np.float32))
    np.save(f"{place}/fashion-y.npy", y)
    return f"{place}/fashion.npy", f"{place}/fashion-y.npy"


# ---- curves ----


def curve(imp, x, y, seeds, answers):
    asked, random, kept, width = [], [], 0, []
    for seed in range(1, seeds + 1):
        found = json.loads(run(imp, "label", x, "--simulate", y, "--answers", answers, "--seed", seed, "--json"))
        asked.append(found["asked"]["right"])
        random.append(found["random"]["right"])
        least, most = found["asked"]["least"][-1], found["asked"]["most"][-1]
        kept += least <= asked[-1][-1] <= most
        width.append(most - least)
    asked, random = np.mean(asked, 0), np.mean(random, 0)
    at = {str(k): {"asked": round(float(asked[k - 1]), 4), "random": round(float(random[k - 1]), 4)}
          for k in range(50, len(asked) + 1, 50)}
    first = {f"{share:.0%}": {"asked": int(np.argmax(asked >= share)) + 1 if asked.max() >= share else None,
                              "random": int(np.argmax(random >= share)) + 1 if random.max() >= share else None}
             for share in (0.8, 0.9, 0.95)}
    return {"items": int(len(np.load(y))), "kinds": int(len(set(np.load(y).tolist()))), "seeds": seeds,
            "right_after_answers": at, "answers_until_right": first,
            "errors_at_500_next_to_random_order": round(float((1 - asked[499]) / (1 - random[499])), 3),
            "intervals_that_held_the_truth": f"{kept} of {seeds}", "mean_width_of_interval": round(float(np.mean(width)), 3),
            "asked": [round(float(v), 4) for v in asked], "random": [round(float(v), 4) for v in random]}


def curves(given, place):
    found = {}
    if os.path.isdir(given.omniglot):
        alphabets = omniglot(given.imp, given.omniglot, place, 500, False)
        found["Omniglot, 10 alphabets"] = curve(given.imp, *alphabets, given.seeds, 1000)
        characters = omniglot(given.imp, given.omniglot, place, 200, True)
        found["Omniglot, characters"] = curve(given.imp, *characters, given.seeds, 500)
    if FASHION.is_dir():
        found["fashion-MNIST, 50 components"] = curve(given.imp, *fashion(place), given.seeds, 500)
    for text in given.vectors:
        name, _, files = text.partition("=")
        found[name] = curve(given.imp, *files.split(","), given.seeds, 500)
    return found


# ---- times ----


def post(address, change):
    request = urllib.request.Request(address + "change", json.dumps(change).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def times(imp, place, items, dimensions, kinds=10):
    random = np.random.default_rng(1)
    centers = random.normal(0, 3, (20 * kinds, dimensions))
    blob = random.integers(0, 20 * kinds, items)
    np.save(f"{place}/many.npy", (centers[blob] + random.normal(0, 1, (items, dimensions))).astype(np.float32))
    server = subprocess.Popen([imp, "label", f"{place}/many.npy", "--project", f"{place}/many.imp-label", "--no-browser"],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        address = server.stdout.readline().decode().strip()
        state = json.load(urllib.request.urlopen(address + "state"))
        spent = []
        for answer in range(1050):
            question = state["question"]
            change = {"change": "label", "items": [question["item"]], "asked": question["kind"],
                      "class": f"kind {blob[question['item']] % kinds}", "revision": state["revision"]}
            begin = time.perf_counter()
            state = post(address, change)
            if answer >= 1000:
                spent.append(1000 * (time.perf_counter() - begin))
    finally:
        server.terminate()
        server.wait()
        os.unlink(f"{place}/many.imp-label")
    return {"items": items, "dimensions": dimensions, "answers": 1000, "median_ms": round(float(np.median(spent)), 1),
            "largest_ms": round(float(np.max(spent)), 1)}


def draw(curves, path):
    """All curves in one picture, where matplotlib is there."""
    try:
        import matplotlib
    except ImportError:
        return
    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "label"
    import matplotlib.pyplot as plt

    found = {name: curve for name, curve in curves.items() if name != "about"}
    figure, axes = plt.subplots(1, len(found), figsize=(3.4 * len(found), 3), sharey=True)
    for place, (name, curve) in zip(np.atleast_1d(axes), found.items()):
        for order, style in (("asked", "-"), ("random", "--")):
            place.plot(range(1, len(curve[order]) + 1), 100 * np.array(curve[order]), style, label=order)
        place.set_title(name, fontsize=8)
        place.set_xlabel("answers")
        place.grid(alpha=0.3)
    np.atleast_1d(axes)[0].set_ylabel("% of the pile right")
    np.atleast_1d(axes)[0].legend()
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--imp", default=str(ROOT / "build/release/bin/imp"))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--omniglot", default=str(ROOT / "../shared/data/omniglot"))
    parser.add_argument("--vectors", action="append", default=[])
    parser.add_argument("--part", choices=("curves", "times"))
    parser.add_argument("--out", default=str(ROOT / "bench/results/label.json"))
    given = parser.parse_args()
    result = {}
    if given.part and os.path.exists(given.out):
        result = json.loads(Path(given.out).read_text(encoding="utf-8"))
    about = {"command": " ".join(["bench/label.py", *(re.sub(r"[^=,]*/", "", word) for word in sys.argv[1:])]), "threads": os.cpu_count(),
             "version": run(given.imp, "--version").decode().strip(), "machine": platform.machine()}
    with tempfile.TemporaryDirectory() as place:
        if given.part != "times":
            result["curves"] = {"about": about, **curves(given, place)}
        if given.part != "curves":
            sizes = ((5000, 64), (5000, 1280), (100000, 64))
            result["times"] = {"about": about, "sizes": [times(given.imp, place, *size) for size in sizes]}
    text = io.StringIO()
    json.dump(result, text, indent=1)
    Path(given.out).write_text(text.getvalue() + "\n", encoding="utf-8")
    draw(result.get("curves", {}), Path(given.out).with_suffix(".svg"))
    for name, found in result.get("curves", {}).items():
        if name != "about":
            print(name, found["right_after_answers"]["500"], found["answers_until_right"],
                  found["intervals_that_held_the_truth"])
    for found in result.get("times", {}).get("sizes", []):
        print(found)


if __name__ == "__main__":
    main()
