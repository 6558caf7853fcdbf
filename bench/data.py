#!/usr/bin/env python3
"""How fast data opens: imp next to Python (zipfile and Pillow), taking turns on the same machine.

usage: bench/data.py --imp IMP --omniglot FOLDER [--library LIBIMP.SO] [--rounds N] [--output JSON]

Each round opens all of Omniglot from its two zips, resampled to 28 x 28, once with Python and once
with imp, then imp's pack of it. Times are wall-clock seconds of whole processes; Python's excludes
the start of the interpreter and its imports. With --library it also measures the time to draw and
assemble an alphabet episode of 600 images.
"""
import argparse
import ctypes
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

PEER = """
import io, sys, time, zipfile
import numpy
from PIL import Image
begin = time.perf_counter()
images = []
for part in ("images_background", "images_evaluation"):
    with zipfile.ZipFile(f"{sys.argv[1]}/{part}.zip") as archive:
        for name in sorted(archive.namelist()):
            if name.endswith(".png"):
                picture = Image.open(io.BytesIO(archive.read(name))).convert("L")
                images.append(255 - numpy.asarray(picture.resize((28, 28), Image.BOX)))
images = numpy.stack(images)
print(time.perf_counter() - begin, len(images))
"""


class EpisodeOptions(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("kind", ctypes.c_int),
                ("purpose", ctypes.c_int), ("pool", ctypes.c_int), ("seed", ctypes.c_uint64),
                ("way", ctypes.c_uint32), ("fewest_way", ctypes.c_uint32),
                ("modes", ctypes.c_uint32), ("shot", ctypes.c_uint32),
                ("fewest_shot", ctypes.c_uint32), ("unbalanced", ctypes.c_bool),
                ("queries", ctypes.c_uint32), ("unlabeled", ctypes.c_uint32),
                ("distractors", ctypes.c_uint32), ("labeled_fraction", ctypes.c_double),
                ("labeled_seed", ctypes.c_uint64)]


def run(command):
    begin = time.perf_counter()
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return time.perf_counter() - begin, done.stdout


def episode_milliseconds(library, pack):
    """Median time to draw and assemble a 10-way 10-shot alphabet episode."""
    imp = ctypes.CDLL(library)
    imp.imp_episode_defaults.restype = EpisodeOptions
    dataset = ctypes.c_void_p()
    error = ctypes.create_string_buffer(600)
    if imp.imp_dataset_open(pack.encode(), None, ctypes.byref(dataset), error) != 0:
        sys.exit("bench/data.py: " + error[4:].split(b"\0")[0].decode())
    options = imp.imp_episode_defaults()
    options.kind = 1  # super-classes: 10 alphabets x 10 characters x (1 + 5)
    episode = ctypes.create_string_buffer(200)
    pixels = (ctypes.c_float * (600 * 28 * 28))()
    times = []
    for index in range(200):
        begin = time.perf_counter()
        if imp.imp_episode_draw(dataset, ctypes.byref(options), ctypes.c_uint64(index), episode,
                                error) != 0:
            sys.exit("bench/data.py: " + error[4:].split(b"\0")[0].decode())
        imp.imp_episode_pixels(dataset, episode, pixels)
        times.append(time.perf_counter() - begin)
        imp.imp_episode_clear(episode)
    imp.imp_dataset_free(dataset)
    return 1000 * statistics.median(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--imp", required=True)
    parser.add_argument("--omniglot", required=True)
    parser.add_argument("--library")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--output")
    given = parser.parse_args()

    times = {"python": [], "imp": [], "imp_pack": []}
    source = "omniglot:" + given.omniglot
    with tempfile.TemporaryDirectory() as folder:
        pack = os.path.join(folder, "omniglot.pack")
        run([given.imp, "data", "pack", source, pack])
        for _ in range(given.rounds):
            _, text = run(["/usr/bin/python3", "-c", PEER, given.omniglot])
            seconds, count = text.split()
            times["python"].append(float(seconds))
            times["imp"].append(run([given.imp, "data", "info", source])[0])
            times["imp_pack"].append(run([given.imp, "data", "info", pack])[0])
        report = {name: statistics.median(values) for name, values in times.items()}
        report["images"] = int(count)
        report["times_python"] = report["python"] / report["imp"]
        if given.library:
            report["episode_milliseconds"] = episode_milliseconds(given.library, pack)

    print(f"opening {report['images']} PNGs of Omniglot, median of {given.rounds} rounds")
    print(f"  Python, zipfile + Pillow  {report['python']:7.3f} s")
    print(f"  imp, from the zips        {report['imp']:7.3f} s   {report['times_python']:.1f}x")
    print(f"  imp, from a pack          {report['imp_pack']:7.3f} s")
    if given.library:
        print(f"an alphabet episode of 600 images: {report['episode_milliseconds']:.2f} ms")
    if given.output:
        with open(given.output, "w", encoding="utf-8") as file:
            json.dump({"rounds": times, **report}, file, indent=2)
            file.write("\n")


main()
