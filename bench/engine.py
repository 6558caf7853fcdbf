#!/usr/bin/python3
"""The engine that assigns points to clusters, compared with its peers: predicting with a mixture, soft
clustering, few clusters, fitting. bench/README.md explains it; --table writes the table there.
"""

import argparse
import contextlib
import datetime
import json
import os
import signal
import sys
import tempfile

import cluster
import page
from cluster import ask, choose_lambda, middle, spread
from protocol import HERE, ISA, Peer, Unavailable, vector_python
from run import introduce, machine, package_versions, progress

import numpy

ROOT = os.path.dirname(HERE)
PARTS = ("predict", "soft", "few", "fit")
SIGMA = 1.0  # the variance that points are drawn with
SPREAD = 0.65  # the deviation of their centers: they overlap
APART = 2.0  # where they must not
CLASSES = 100
SEED = 20260117
# Arrays of points times clusters in float32 that a step of scikit-learn's mixture holds at once.
MIXTURE_ARRAYS = 5


def sizes(part, quick):
    """(points, dimensions, clusters) of each configuration."""
    if quick:
        return {"predict": [(20000, 64, 200), (3000, 1280, 100)], "soft": [(5000, 64, 100)],
                "few": [(20000, 64, 10)], "fit": [(5000, 64, 100)]}[part]
    return {"predict": [(1000000, 64, 1000), (100000, 1280, 1000)],
            "soft": [(1000000, 64, 1000), (50000, 1280, 1000)],
            "few": [(1000000, 64, 10), (50000, 1280, 10)],
            "fit": [(60000, 64, 1000), (60000, 1280, 1000)]}[part]


def draw(n, d, k, folder, deviation=SPREAD):
    """Files of points and of the centers they are drawn around."""
    random = numpy.random.default_rng([SEED, n, d, k])
    centers = random.standard_normal((k, d), numpy.float32) * numpy.float32(deviation)
    x = numpy.empty((n, d), numpy.float32)
    for begin in range(0, n, 10000):
        rows = x[begin:begin + 10000]
        random.standard_normal(out=rows, dtype=numpy.float32)
        rows += centers[random.integers(0, k, len(rows))]
    points, means = os.path.join(folder, "points.npy"), os.path.join(folder, "centers.npy")
    numpy.save(points, x)
    numpy.save(means, centers)
    return points, means


class Bench:
    """The peers of one configuration, and what they answered."""

    def __init__(self, options, part, n, d, k):
        self.options, self.label = options, f"{part}, {n} points of {d} dimensions, {k} clusters"
        self.config = {"part": part, "n": n, "d": d, "k": k, "rounds": []}
        self.peers, self.stack = {}, contextlib.ExitStack()
        self.folder = self.stack.enter_context(tempfile.TemporaryDirectory(dir=options.build))

    def start(self, name, threads, debian=False):
        """A peer of so many threads; its name then tells, and whether it is Debian's beside PyPI's."""
        key = name if threads == self.options.threads else f"{name}, {threads} thread"
        python = self.options.python
        if debian:
            key, python = f"{name}, Debian's", "/usr/bin/python3"
        command = [os.path.join(self.options.build, "cluster")] if name == "imp" else \
            [python, os.path.join(HERE, "peers", "kmeans.py"), name]
        settings = {"OMP_NUM_THREADS": str(threads), "OPENBLAS_NUM_THREADS": str(threads),
                    **ISA.get(self.options.isa, {})}
        try:
            self.peers[key] = self.stack.enter_context(Peer(command, settings))
            self.options.hellos[key if debian else name] = self.peers[key].hello
        except Unavailable as reason:
            self.options.unavailable.setdefault(key if debian else name, str(reason))
        return self.peers.get(key)

    def run(self, questions):
        """Asks every peer its questions {peer: {what: line}}, round after round, in turn."""
        names = [name for name in questions if name in self.peers]
        for r in range(self.options.rounds):
            answers = {}
            for name in names[r % len(names):] + names[:r % len(names)]:
                progress(f"{self.label}, round {r + 1} of {self.options.rounds}: {name}")
                try:
                    answers[name] = {what: ask(self.peers[name], line)
                                     for what, line in questions[name].items()}
                except Unavailable as reason:
                    self.options.unavailable.setdefault(f"{name} ({self.label})", str(reason))
            self.config["rounds"].append(answers)
        progress("")

    def ratio(self, over, under):
        """The seconds of one figure over another's, of the rounds that have both; None if none has."""
        values = [figure(r, over) / figure(r, under) for r in self.config["rounds"]
                  if figure(r, over) and figure(r, under)]
        return middle(values) if values else None

    def seconds(self, what):
        values = [figure(r, what) for r in self.config["rounds"] if figure(r, what)]
        return middle(values) if values else None

    def row(self, title, own, peer, peer_title, goal):
        row = {"what": title, "imp": self.seconds(own), "peer": peer_title,
               "peer_seconds": self.seconds(peer) if peer else None,
               "ratio": self.ratio(peer, own) if peer else None, "goal": goal}
        row["met"] = None if row["ratio"] is None or goal is None else \
            row["ratio"]["median"] >= goal
        self.config.setdefault("rows", []).append(row)
        ratio = spread(row["ratio"], 2) if row["ratio"] else "-"
        verdict = "" if row["met"] is None else "met" if row["met"] else "MISSED"
        print(f"  {title:60}{spread(row['imp'], 3) if row['imp'] else '-':>24} s  "
              f"{peer_title or '':34}{ratio:>22}{'' if goal is None else f'  goal {goal:g}'}  "
              f"{verdict}", flush=True)


def figure(answers, what):
    """Seconds of (peer, question, key) in a round, or None."""
    peer, question, key = what
    return answers.get(peer, {}).get(question, {}).get(key)


def predict(options, n, d, k):
    bench = Bench(options, "predict", n, d, k)
    with bench.stack:
        points, means = draw(n, d, k, bench.folder)
        mixture = os.path.join(bench.folder, "mixture.safetensors")
        imp = bench.start("imp", options.threads)
        # every center is a cluster of its own, so close is the threshold
        fitted = ask(imp, f"fit {means} 1e-9 {SIGMA} {k} {min(CLASSES, k)} {mixture}")
        bench.config["clusters"] = fitted["clusters"]
        bench.start("imp", 1)
        bench.start("faiss", options.threads)
        if options.python != "/usr/bin/python3":
            bench.start("faiss", options.threads, debian=True)
        question = {"predict": f"predict {points} {mixture}"}
        assign = {"assign": f"assign {points} {means} {options.threads}"}
        bench.run({"imp": question, "imp, 1 thread": question, "faiss": assign,
                   "faiss, Debian's": assign})
        print(f"\n{bench.label}: {fitted['clusters']} clusters of {min(CLASSES, k)} classes")
        own = ("imp", "predict", "seconds")
        what = f"label, probabilities and cluster of {n:,} x {d} queries"
        bench.row(what, own, ("faiss", "assign", "seconds"), "faiss, flat search", 3)
        if "faiss, Debian's" in bench.peers:
            bench.row("the same", own, ("faiss, Debian's", "assign", "seconds"),
                      "faiss, flat search, Debian's", 3)
        if options.threads > 1:
            bench.row(f"the same, {options.threads} threads against one", own,
                      ("imp, 1 thread", "predict", "seconds"), "imp, 1 thread", 1.8)
    return bench.config


def available_bytes():
    with open("/proc/meminfo") as f:
        for line in f:
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    return 0


def soft(options, n, d, k):
    fits = int(available_bytes() / (4 * MIXTURE_ARRAYS * k))
    if fits < n:
        print(f"\n{n} points and {k} clusters are more than scikit-learn's mixture has memory for "
              f"here; all have {fits // 1000 * 1000}")
        n = fits // 1000 * 1000
    bench = Bench(options, "soft", n, d, k)
    with bench.stack:
        points, _ = draw(n, d, k, bench.folder)
        means = os.path.join(bench.folder, "means.npy")
        imp = bench.start("imp", options.threads)
        threshold = choose_lambda(imp, points, k, options.threads, bench.folder)
        start = ask(imp, f"soft {points} {threshold:.9g} {SIGMA} 1 {options.threads} {means}")
        bench.config.update({"lambda": threshold, "clusters": start["clusters"]})
        bench.start("sklearn-mixture", options.threads)
        bench.run({"imp": {what: f"soft {points} {threshold:.9g} {SIGMA} {passes} "
                                 f"{options.threads}" for what, passes in (("one", 1), ("three", 3))},
                   "sklearn-mixture": {"step": f"step {points} {means} {options.threads}"}})
        print(f"\n{bench.label}: {start['clusters']} clusters")
        peer = ("sklearn-mixture", "step", "seconds")
        title = "scikit-learn GaussianMixture, EM step"
        bench.row(f"soft clustering of {n:,} x {d}, a pass (mean of 3)",
                  ("imp", "three", "seconds_per_pass"), peer, title, 1)
        bench.row("the same, a first pass alone", ("imp", "one", "seconds"), peer, title, 1)
    return bench.config


def few(options, n, d, k):
    bench = Bench(options, "few", n, d, k)
    with bench.stack:
        points, _ = draw(n, d, k, bench.folder)
        means = os.path.join(bench.folder, "means.npy")
        imp = bench.start("imp", options.threads)
        threshold = choose_lambda(imp, points, k, options.threads, bench.folder)
        start = ask(imp, f"cluster {points} {threshold:.9g} 1 {options.threads} {means}")
        bench.config.update({"lambda": threshold, "clusters": start["clusters"]})
        bench.start("sklearn-lloyd", options.threads)
        passes = 10
        bench.run({"imp": {"passes": f"cluster {points} {threshold:.9g} {passes} "
                                     f"{options.threads}"},
                   "sklearn-lloyd": {"passes": f"kmeans {points} {means} {passes} "
                                               f"{options.threads}"}})
        print(f"\n{bench.label}: {start['clusters']} clusters")
        bench.row(f"DP-means of {n:,} x {d}, {start['clusters']} clusters: a pass of {passes}, whole "
                  "calls", ("imp", "passes", "seconds_per_pass"),
                  ("sklearn-lloyd", "passes", "seconds_per_pass"), "scikit-learn KMeans (Lloyd)", 1)
    return bench.config


def fit(options, n, d, k):
    bench = Bench(options, "fit", n, d, k)
    with bench.stack:
        points, _ = draw(n + CLASSES, d, k, bench.folder, APART)
        bench.start("imp", options.threads)
        # Between the squared distance of two points of one center, 2d, and that of a point from the
        # middle of all, where the classes' means are, 5d: every center gets a cluster.
        threshold = 3.5 * d
        bench.run({"imp": {"fit": f"fit {points} {threshold:.9g} {SIGMA} {CLASSES} 10"}})
        bench.config["lambda"] = threshold
        bench.config["clusters"] = bench.config["rounds"][0]["imp"]["fit"]["clusters"]
        print(f"\n{bench.label}: {bench.config['clusters']} clusters")
        bench.row(f"fit with {n:,} x {d} unlabelled points, {bench.config['clusters']} clusters",
                  ("imp", "fit", "seconds"), None, None, None)
    return bench.config


def table(result):
    """The rows of a result file as a table in Markdown."""
    lines = ["| | imp, s | peer | peer, s | peer / imp (least..most) | goal |",
             "|---|---|---|---|---|---|"]
    for config in result["configurations"]:
        for row in config["rows"]:
            cells = [row["what"], f"{row['imp']['median']:.3g}" if row["imp"] else "-",
                     row["peer"] or "", f"{row['peer_seconds']['median']:.3g}"
                     if row["peer_seconds"] else "", spread(row["ratio"], 2) if row["ratio"] else "",
                     "" if row["goal"] is None else
                     f"{row['goal']:g}{'' if row['met'] is None else ', met' if row['met'] else ', missed'}"]
            lines.append("| " + " | ".join(cells) + " |")
    peers = ", ".join(f"{name}: {hello['version']} ({hello['blas']})"
                      for name, hello in sorted(result["peers"].items()) if name != "imp")
    loads = [c.get("load", result["machine"]["load_at_start"]) for c in result["configurations"]]
    rounds = sorted({len(c["rounds"]) for c in result["configurations"]})
    lines += ["", f"{result['machine']['cpu']}, {result['threads']} threads, imp with "
              f"{result['imp']['isa']}; load {min(loads):.1f} to {max(loads):.1f} at the start; "
              f"{' or '.join(map(str, rounds))} rounds on "
              f"{result['date'][:10]}. Peers are {result['peers_from']}, but where Debian's are named: "
              f"{peers}."]
    return "\n".join(lines)


def measured_before(options):
    """The other parts' configurations in the file that this run writes, and the peers they had."""
    try:
        with open(os.path.join(options.output, options.file)) as f:
            old = json.load(f)
    except FileNotFoundError:
        return [], {}
    kept = [c for c in old["configurations"] if c["part"] not in options.parts]
    for config in kept:
        config.setdefault("date", old["date"])
        config.setdefault("load", old["machine"]["load_at_start"])
    return kept, old["peers"] if kept else {}


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", help="parts, separated by commas: " + ", ".join(PARTS))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--isa", choices=ISA, help="hold imp, faiss and BLAS to this instruction set; writes engine-ISA.json")
    parser.add_argument("--quick", action="store_true",
                        help="one round of small sizes, to see that everything works")
    parser.add_argument("--debian", action="store_true", help="Debian's peers, not PyPI's")
    parser.add_argument("--table", action="store_true",
                        help="measure nothing; put the table of engine.json into bench/README.md")
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "bench"))
    parser.add_argument("--output", help="folder of the result file; default bench/results, or "
                        "build/bench for a quick run")
    options = parser.parse_args()
    options.parts = options.only.split(",") if options.only else list(PARTS)
    if not all(part in PARTS for part in options.parts):
        parser.error("--only is a list of " + ", ".join(PARTS))
    if min(options.rounds, options.threads) < 1:
        parser.error("--rounds and --threads must be positive")
    if options.quick:
        options.rounds = 1
    options.build = os.path.abspath(options.build)
    options.file = f"engine-{options.isa}.json" if options.isa else "engine.json"
    options.output = options.output or (options.build if options.quick
                                        else os.path.join(HERE, "results"))
    return options


def main():
    options = parse()
    if options.table:
        with open(os.path.join(options.output, "engine.json")) as f:
            page.put("engine.json", table(json.load(f)))
        return
    here = machine()
    introduce(here)
    options.python, origin = ("/usr/bin/python3", "Debian's") if options.debian else \
        vector_python(options.build)
    print(f"scikit-learn and faiss are {origin}")
    options.hellos, options.unavailable = {}, {}
    work = {"predict": predict, "soft": soft, "few": few, "fit": fit}
    configs = [work[part](options, *size) for part in options.parts
               for size in sizes(part, options.quick)]
    for name, reason in options.unavailable.items():
        print(f"absent: {name}: {reason}")
    date = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
    for config in configs:
        config.update({"date": date, "load": here["load_at_start"]})
    kept, peers = measured_before(options)
    arguments = [os.path.relpath(a, ROOT) if a.startswith("/") else a for a in sys.argv[1:]]
    cluster.write(options.file, {
        "command": " ".join(["bench/engine.py"] + arguments),
        "date": date,
        "imp": options.hellos.get("imp"), "machine": here, "peers": {**peers, **options.hellos},
        "peers_from": origin, "packages": package_versions(cluster.PACKAGES),
        "absent": options.unavailable, "held_to_isa": options.isa, "threads": options.threads,
        "rounds_per_configuration": options.rounds,
        "configurations": sorted(configs + kept, key=lambda c: PARTS.index(c["part"])),
    }, options)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    try:
        main()
    except Unavailable as reason:
        sys.exit(f"bench/engine.py: {reason}")
    except KeyboardInterrupt:
        print("\nbench/engine.py: interrupted; nothing was written", file=sys.stderr)
        sys.exit(130)
