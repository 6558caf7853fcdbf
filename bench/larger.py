#!/usr/bin/env python3
"""Cluster more points than fit in memory: how much memory and time it takes.

usage: bench/larger.py [--imp IMP] [--folder FOLDER] [--gigabytes N] [--copies N] [--rounds N]
                       [--part prepare|whole|passes|disk|predictions|training] [--output JSON]

Writes one file of points from a seed (4 GB in 1,000 clusters of 128 dimensions; kept for later
runs), and a folder of shards that are links to it (10, so 40 GB).

- whole: clusters the folder with DP-means and records wall-clock seconds, peak resident memory and
  the result.
- passes: the time of later passes over the one file when its points are read from the file in
  blocks, and when they are held in memory, as points from a pipe are. It is the difference between a
  clustering with two passes and one with one, so that opening and reading do not count.
- disk: the same with a file that has to be read from the disk in every pass, because a control group
  leaves it less memory than the file (needs root and cgroup v1), beside points in memory and the rate
  at which the disk reads the file.
- predictions: the same file classified by a mixture of 100 classes, from the file, which is read twice
  (what cannot be read is told before anything is printed), and from a pipe, which is read once.
- training: how much memory each point of a set of vectors costs `imp train`, while it trains and at
  most, when the set is opened: the difference of a set and one four times as large.

A part keeps the other parts' results in the output file.
"""
import argparse
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time

import numpy

CLUSTERS, DIMENSIONS, SPREAD, LAMBDA = 1000, 128, 3.0, 800
BLOCK = 1 << 16


def write_points(path, count, seed=1):
    """Shuffled points around centers, whose numbers of points differ by at most one."""
    random = numpy.random.default_rng(seed)
    centers = (SPREAD * random.standard_normal((CLUSTERS, DIMENSIONS))).astype("float32")
    header = numpy.lib.format.header_data_from_array_1_0(numpy.empty((0, DIMENSIONS), "float32"))
    header["shape"] = (count, DIMENSIONS)
    with open(path + ".part", "wb") as file:
        numpy.lib.format.write_array_header_1_0(file, header)
        for begin in range(0, count, BLOCK):
            size = min(BLOCK, count - begin)
            which = (begin + numpy.arange(size)) * 7919 % CLUSTERS
            noise = random.standard_normal((size, DIMENSIONS), dtype="float32")
            file.write((centers[which] + noise).tobytes())
    os.rename(path + ".part", path)


def prepare(folder, gigabytes, copies):
    os.makedirs(os.path.join(folder, "shards"), exist_ok=True)
    path = os.path.join(folder, f"points-{gigabytes}.npy")
    count = gigabytes * 10**9 // (4 * DIMENSIONS)
    if not os.path.exists(path):
        write_points(path, count)
    shards = os.path.join(folder, f"shards-{gigabytes}-{copies}")
    os.makedirs(shards, exist_ok=True)
    for i in range(copies):
        link = os.path.join(shards, f"{i:03}.npy")
        if not os.path.exists(link):
            os.link(path, link)
    return path, shards, count


def run(command, shell=False, before=None):
    """Seconds, what was used, and the output of a command."""
    begin = time.perf_counter()
    process = subprocess.Popen(command, shell=shell, stdout=subprocess.PIPE, text=True,
                               executable="/bin/bash" if shell else None, preexec_fn=before)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"bench/larger.py: {command} failed")
    return time.perf_counter() - begin, usage, output


def whole(options, shards, count):
    command = [options.imp, "cluster", shards, "--method", "dp-means", "--lambda", str(LAMBDA),
               "--memory", "0", "-o", os.path.join(options.folder, "labels.npy"), "--json"]
    seconds, usage, output = run(command)
    found = json.loads(output)
    labels = numpy.load(os.path.join(options.folder, "labels.npy"), mmap_mode="r")
    return {"command": " ".join(["imp", "cluster", "SHARDS"] + command[3:9]),
            "points": count * options.copies, "dimensions": DIMENSIONS,
            "bytes": 4 * DIMENSIONS * count * options.copies, "true_clusters": CLUSTERS,
            "clusters": found["clusters"], "passes": found["steps"],
            "converged": found["converged"], "seconds": round(seconds, 1),
            "peak_bytes": usage.ru_maxrss * 1024, "labels": len(labels),
            "sizes": [min(found["sizes"]), max(found["sizes"])]}


def time_clusterings(options, points, kind, taken, before=None):
    """Adds to `taken` the seconds of a clustering of one pass (kind_1) and of one of two (kind_2), each
    preceded by before(); returns how many bytes each had to read from the disk."""
    read = {}
    for steps in (1, 2):
        start = before() if before else None
        seconds, usage, _ = run(
            f"{options.imp} cluster {points} --method dp-means --lambda {LAMBDA} --json "
            f"--memory 100000 -o {os.path.join(options.folder, 'labels.npy')} --steps {steps}",
            shell=True, before=start)
        taken.setdefault(f"{kind}_{steps}", []).append(round(seconds, 3))
        read[f"{kind}_{steps}"] = usage.ru_inblock * 512
    return read


def time_from_memory(options, path, taken):
    """The same for points in memory, where points from a pipe are held."""
    run(f"cat {path} >/dev/null", shell=True)  # so that the pipe is as fast for both
    time_clusterings(options, f"<(cat {path})", "memory", taken)


def compare_passes(taken, kind):
    """Seconds of a pass, of that kind and from memory: the difference of the least times of many
    turns, which are the least disturbed ones on a busy machine."""
    one = {k: min(taken[k + "_2"]) - min(taken[k + "_1"]) for k in (kind, "memory")}
    return {f"pass_from_{kind}": round(one[kind], 3), "pass_in_memory": round(one["memory"], 3),
            f"{kind}_over_memory": round(one[kind] / one["memory"], 3)}


def passes(options, path):
    """A pass over a file that the system has in memory, and one over points in memory."""
    taken = {}
    for _ in range(options.rounds):
        time_clusterings(options, path, "file", taken)
        time_from_memory(options, path, taken)
    return {"bytes": os.path.getsize(path), "seconds": taken, **compare_passes(taken, "file")}


class Confined:
    """A control group in which a command and the files that it reads have so many bytes."""

    folder = "/sys/fs/cgroup/memory/imp-bench"

    def __init__(self, memory):
        self.memory = memory

    def __enter__(self):
        os.makedirs(self.folder, exist_ok=True)
        with open(os.path.join(self.folder, "memory.limit_in_bytes"), "w", encoding="ascii") as file:
            file.write(str(self.memory))
        return self

    def join(self):
        with open(os.path.join(self.folder, "cgroup.procs"), "w", encoding="ascii") as file:
            file.write(str(os.getpid()))

    def __exit__(self, *_):
        os.rmdir(self.folder)


def forget(path):
    """Lets the system forget what it has read of a file."""
    file = os.open(path, os.O_RDONLY)
    os.fsync(file)
    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(file)


def disk(options, path):
    """A pass over a file that is on the disk alone, and one over points in memory."""
    memory, size, taken, read = 1 << 28, os.path.getsize(path), {}, {}
    with Confined(memory) as group:
        def start():
            forget(path)
            return group.join

        for _ in range(options.rounds):
            seconds, _, _ = run(["dd", f"if={path}", "of=/dev/null", "bs=1M", "status=none"],
                                before=start())
            taken.setdefault("dd", []).append(round(seconds, 3))
            read = time_clusterings(options, path, "disk", taken, before=start)
            time_from_memory(options, path, taken)
    return {"bytes": size, "memory_of_group": memory, "seconds": taken, "bytes_read": read,
            "disk_bytes_per_second": round(size / min(taken["dd"])),
            **compare_passes(taken, "disk")}


def predictions(options, path):
    """Seconds of classifying all points: the least of several turns."""
    folder = options.folder
    points = numpy.load(path, mmap_mode="r")
    which = numpy.arange(500) * 7919 % CLUSTERS
    numpy.save(os.path.join(folder, "support.npy"), points[:500])
    numpy.save(os.path.join(folder, "classes.npy"), which % 100)
    mixture = os.path.join(folder, "mixture.safetensors")
    run([options.imp, "fit", "--support", os.path.join(folder, "support.npy"), "--labels",
         os.path.join(folder, "classes.npy"), "-o", mixture])
    taken = {}
    for _ in range(options.rounds):
        for kind, source in (("file", path), ("pipe", f"<(cat {path})")):
            seconds, _, _ = run(f"{options.imp} predict {mixture} {source} "
                                f"-o {os.path.join(folder, 'found.npy')} >/dev/null", shell=True)
            taken.setdefault(kind, []).append(round(seconds, 3))
    least = {kind: min(values) for kind, values in taken.items()}
    return {"points": len(points), "bytes": os.path.getsize(path), "seconds": taken,
            "file_over_pipe": round(least["file"] / least["pipe"], 3)}


def memory_of_training(options, count):
    """Bytes of memory, not counting mapped files: while it trains, and at most."""
    points, labels = (os.path.join(options.folder, f"{name}-{count}.npy") for name in "xy")
    random = numpy.random.default_rng(1)
    numpy.save(points, random.standard_normal((count, 8), dtype="float32"))
    numpy.save(labels, numpy.arange(count) % 50)
    with tempfile.TemporaryDirectory() as out:
        process = subprocess.Popen(
            [options.imp, "train", "--data", f"vectors:{points},{labels}", "--network", "linear:8",
             "--updates", "500", "--threads", "1", "--out", os.path.join(out, "run")],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        used = [0]
        while process.poll() is None:
            with open(f"/proc/{process.pid}/status", encoding="ascii") as file:
                found = re.search("RssAnon:\\s*(\\d+) kB", file.read())
            used += [1024 * int(found[1])] if found else []
            time.sleep(0.002)
    if process.returncode:
        sys.exit("bench/larger.py: imp train failed")
    os.remove(points)
    os.remove(labels)
    return {"points": count, "while_training": used[-1], "at_most": max(used)}


def training(options):
    small, large = (memory_of_training(options, count) for count in (2_000_000, 8_000_000))
    more = large["points"] - small["points"]
    return {"sets": [small, large],
            **{"bytes_per_point_" + what: round((large[what] - small[what]) / more, 1)
               for what in ("while_training", "at_most")}}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--imp", default="build/release/bin/imp")
    parser.add_argument("--folder", default="build/bench/larger")
    parser.add_argument("--gigabytes", type=int, default=4)
    parser.add_argument("--copies", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--part", choices=["prepare", "whole", "passes", "disk", "predictions",
                                           "training"])
    parser.add_argument("--output")
    options = parser.parse_args()
    os.makedirs(options.folder, exist_ok=True)
    result = {}
    if options.output and os.path.exists(options.output):
        with open(options.output, encoding="utf-8") as file:
            result = json.load(file)
    if options.part != "training":
        path, shards, count = prepare(options.folder, options.gigabytes, options.copies)
    measures = {"whole": lambda: whole(options, shards, count),
                "passes": lambda: passes(options, path), "disk": lambda: disk(options, path),
                "predictions": lambda: predictions(options, path),
                "training": lambda: training(options)}
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        machine = {"machine": re.search("model name\\s*: (.*)", file.read())[1],
                   "threads": len(os.sched_getaffinity(0))}
    for part in measures if options.part is None else {options.part} & measures.keys():
        result[part] = {**machine, **measures[part]()}
    text = json.dumps(result, indent=1)
    print(text)
    if options.output:
        with open(options.output, "w", encoding="utf-8") as file:
            file.write(text + "\n")


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    main()
