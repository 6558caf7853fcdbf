#!/usr/bin/python3
"""Speed of imp's clustering and its peers, in interleaved turns. bench/README.md explains it.

Three parts: DP-means on a million points next to k-means of the same size; how its cost grows with
points, clusters and dimensions; and the cost of an episode of the method imp relative to Conv4.
"""

import argparse
import contextlib
import datetime
import json
import math
import os
import signal
import statistics
import sys
import tempfile

from protocol import HERE, ISA, Peer, Unavailable, vector_python
from run import introduce, machine, package_versions, progress

try:
    import numpy
except ImportError:
    sys.exit("bench/cluster.py: needs NumPy (Debian: python3-numpy)")

ROOT = os.path.dirname(HERE)
PARTS = ("compare", "scaling", "episode")
PEERS = ("sklearn-lloyd", "sklearn-elkan", "faiss", "numpy")
PACKAGES = ["python3-sklearn-lib", "python3-faiss", "libopenblas0-openmp", "libopenblas0-pthread",
            "libblas3", "python3-numpy", "libgomp1", "libc6", "gcc"]
# Centers are drawn from a Gaussian of this deviation in every dimension, points around them from one
# of deviation 1; the rest is uniform in a cube.
DATA = {
    "mixture": {"spread": 0.65, "noise": 0.0},
    "noise": {"spread": 0.5, "noise": 0.2},
    "apart": {"spread": 2.0, "noise": 0.0},
}
CUBE = 3.0
SEED = 20190513
ONCE = ("sklearn-elkan",)  # in the first round only: it takes as long as all others together
LLOYD_PASSES, FAISS_PASSES = 3, 2  # all their passes cost the same, so a few tell, unless
SMALL = 10**9  # n * k * d is below this: then it takes more to tell a pass from what surrounds it
TOLERANCE = 0.03  # of the number of clusters
GOALS = {"sklearn-lloyd": 2, "faiss assignment": 3, "memory": 0.1, "episode": 0.03}
IMP = ("first", "mean", "later")
TITLE = {"first": "imp, first pass", "mean": "imp, mean pass", "later": "imp, later passes"}


def generate(kind, n, d, k, path):
    """Writes the points and returns what they are like."""
    spread, noise = DATA[kind]["spread"], DATA[kind]["noise"]
    random = numpy.random.default_rng([SEED, n, d, k])
    centers = random.standard_normal((k, d), numpy.float32) * numpy.float32(spread)
    x = numpy.empty((n, d), numpy.float32)
    seen = wrong = 0
    for begin in range(0, n, 10000):
        rows = x[begin:begin + 10000]
        source = random.integers(0, k, len(rows))
        random.standard_normal(out=rows, dtype=numpy.float32)
        rows += centers[source]
        if begin < 20000:  # how many are nearer to the center of another cluster than to their own
            nearest = ((centers * centers).sum(axis=1) - 2 * rows @ centers.T).argmin(axis=1)
            wrong += int((nearest != source).sum())
            seen += len(rows)
        outside = random.random(len(rows)) < noise
        rows[outside] = random.uniform(-CUBE, CUBE, (int(outside.sum()), d))
    numpy.save(path, x)
    return {"data": kind, "n": n, "d": d, "drawn_clusters": k, "spread": spread, "noise": noise,
            "nearer_to_another_center": wrong / seen, "data_mb": x.nbytes / 2**20}


def bisect(count, low, high, wanted, tries):
    """The threshold between `low` and `high` whose number of clusters is nearest the wanted one."""
    best = None
    for _ in range(tries):
        middle = math.sqrt(low * high)
        found = count(middle)
        if best is None or abs(found - wanted) < abs(best[1] - wanted):
            best = middle, found
        if abs(found - wanted) <= TOLERANCE * wanted:
            break
        low, high = (middle, high) if found > wanted else (low, middle)
    return best


def choose_lambda(imp, path, wanted, threads, folder):
    """First on a few points, where even a threshold far too small costs little. More points only
    make more clusters, so from there it is approached from above."""
    x = numpy.load(path, mmap_mode="r")
    few = os.path.join(folder, "few.npy")
    sample = numpy.array(x[:max(20 * wanted, 2000)])
    numpy.save(few, sample)

    def count(where):
        return lambda threshold: ask(imp, f"cluster {where} {threshold:.9g} 1 {threads}")["clusters"]

    between = 2 * float(sample.var(axis=0).sum())  # mean squared distance of two points
    best = bisect(count(few), between / 100, 4 * between, wanted, 12)
    if len(sample) < len(x):
        best = bisect(count(path), best[0] * 0.98, best[0] * 2, wanted, 9)
    return best[0]


def ask(peer, line):
    answer = peer.ask(line)
    if "unavailable" in answer:
        raise Unavailable(answer["unavailable"])
    return answer


def open_peers(stack, names, options, hellos, unavailable):
    """imp and the peers that can be started, by name."""
    commands = {"imp": [os.path.join(options.build, "cluster")]}
    for name in names:
        commands[name] = [options.python, os.path.join(HERE, "peers", "kmeans.py"), name]
    settings = {"OMP_NUM_THREADS": str(options.threads), **ISA.get(options.isa, {})}
    peers = {}
    for name, command in commands.items():
        try:
            peers[name] = stack.enter_context(Peer(command, settings))
            hellos[name] = peers[name].hello
            if "none" in peers[name].hello.get("blas", ""):
                unavailable.setdefault("a fast BLAS for " + name, "only the reference "
                                       "implementation was found, so it is slower than it can be")
        except Unavailable as reason:
            unavailable.setdefault(name, str(reason))
    return peers


def turn(name, peer, path, threshold, means, small, options):
    """Everything that one peer is asked in a round: {question: answer}."""
    passes, threads = options.passes, options.threads
    points = f"{path} {means}"
    if name == "imp":
        return {"first": ask(peer, f"cluster {path} {threshold} 1 {threads}"),
                "passes": ask(peer, f"cluster {path} {threshold} {passes} {threads}")}
    if name == "faiss":
        return {"assignment": ask(peer, f"assign {points} {threads}"),
                "passes": ask(peer, f"kmeans {points} {FAISS_PASSES} {threads}")}
    if name == "numpy":
        return {"assignment": ask(peer, f"assign {points} {threads}")}
    several = LLOYD_PASSES if name == "sklearn-lloyd" and not small else passes
    return {"first": ask(peer, f"kmeans {points} 1 {threads}"),
            "passes": ask(peer, f"kmeans {points} {several} {threads}")}


def figures(name, answers):
    """Seconds by what they are the seconds of, from one turn."""
    if name in ("faiss", "numpy"):
        seconds = {name + " assignment": answers["assignment"]["seconds"]}
        if "passes" in answers:
            seconds["faiss kmeans"] = answers["passes"]["seconds_per_pass"]
        return seconds
    first, all_passes = answers["first"], answers["passes"]
    mean = all_passes["seconds_per_pass"]
    more = all_passes["passes"] - first["passes"]
    later = (all_passes["seconds"] - first["seconds"]) / more if more > 0 else 0
    if later <= 0:  # converged at once, or lost in the noise of a busy machine
        later = mean
    if name == "imp":
        return {"first": first["seconds"], "mean": mean, "later": later}
    if name == "sklearn-lloyd":
        return {name: later, name + ", whole fit": mean}
    return {name: mean, name + ", later passes": later}


def measure(kind, n, d, k, options, names, hellos, unavailable, rounds):
    """One configuration: what it is, and every answer of every round."""
    with tempfile.TemporaryDirectory(dir=options.build) as folder, contextlib.ExitStack() as stack:
        label = f"{kind}, {n} points of {d} dimensions, {k} clusters"
        path, means = os.path.join(folder, "points.npy"), os.path.join(folder, "means.npy")
        progress(f"{label}: drawing the points")
        config = generate(kind, n, d, k, path)
        progress(f"{label}: choosing lambda")
        with contextlib.ExitStack() as before:  # another process, whose memory nobody measures
            imp = open_peers(before, [], options, hellos, unavailable).get("imp")
            if not imp:
                sys.exit(f"bench/cluster.py: imp cannot be measured: {unavailable['imp']}")
            config["lambda"] = choose_lambda(imp, path, k, options.threads, folder)
            threshold = f"{config['lambda']:.9g}"
            start = ask(imp, f"cluster {path} {threshold} 1 {options.threads} {means}")
            config["clusters"] = start["clusters"]
        peers = open_peers(stack, names, options, hellos, unavailable)
        answers = []
        for r in range(rounds):
            order = list(peers)
            order = order[r % len(order):] + order[:r % len(order)]
            answers.append({})
            for name in order:
                if r > 0 and name in ONCE:
                    continue
                progress(f"{label}, round {r + 1} of {rounds}: {name}")
                try:
                    answers[-1][name] = turn(name, peers[name], path, threshold, means,
                                             n * k * d < SMALL, options)
                except Unavailable as reason:
                    unavailable.setdefault(f"{name} ({label})", str(reason))
                    del peers[name]
    progress("")
    config["rounds"] = answers
    return config


def middle(values):
    return {"median": statistics.median(values), "range": [min(values), max(values)]}


def summarize(config):
    """Adds a row per figure: its seconds, its memory, and how many times as long as imp it takes."""
    rounds = []
    for answers in config["rounds"]:
        seconds = {}
        for name, given in answers.items():
            seconds.update(figures(name, given))
        rounds.append(seconds)
    config["rows"] = []
    for what in rounds[0]:
        present = [s for s in rounds if what in s]
        row = {"what": what, "seconds": middle([s[what] for s in present])}
        name = "imp" if what in IMP else what.split(" ")[0].rstrip(",")
        ways = {"first": ["first"], "mean": ["passes"], "later": ["passes"]}.get(
            what, ["assignment"] if what.endswith("assignment") else ["passes"])
        given = [a[name][way] for a in config["rounds"] if name in a for way in ways]
        row["beyond_mb"] = max(a["beyond_mb"] for a in given)
        row["passes"] = given[0]["passes"]
        row["distance_per_point"] = given[0]["distance_per_point"]
        if what not in IMP:
            for own in IMP:
                row["over_imp_" + own] = middle([s[what] / s[own] for s in present])
        config["rows"].append(row)
    order = list(IMP)  # imp's rows first, whoever had the first turn
    config["rows"].sort(key=lambda row: order.index(row["what"]) if row["what"] in order else 9)
    passes = config["rounds"][0]["imp"]["passes"]
    config["clusters_at_end"] = passes["clusters"]
    config["converged"] = passes["converged"]
    return config


def spread(value, digits):
    low, high = value["range"]
    return f"{value['median']:.{digits}f} ({low:.{digits}f}..{high:.{digits}f})"


def print_comparison(config, options):
    print(f"\n{config['data']}: {config['n']} points of {config['d']} dimensions "
          f"({config['data_mb']:.0f} MB), {config['drawn_clusters']} Gaussians of deviation 1, "
          f"centers of deviation {config['spread']:g}, {config['noise']:.0%} uniform noise\n"
          f"  {config['nearer_to_another_center']:.1%} of the Gaussians' points are nearer to the "
          f"center of another; lambda {config['lambda']:.4g} gives {config['clusters']} clusters, "
          f"{config['clusters_at_end']} at the end; {options.threads} threads")
    print(f"  {'':28}{'s per pass (least..most)':>26}{'MB beyond data':>16}"
          f"{'x imp first pass':>22}{'x imp mean pass':>22}{'x imp later':>22}")
    for row in config["rows"]:
        title = TITLE.get(row["what"], row["what"])
        if row["what"] == "mean":
            title += f" of {row['passes']}"
        ratios = "".join(f"{spread(row['over_imp_' + own], 2):>22}" for own in IMP
                         if "over_imp_" + own in row)
        print(f"  {title:28}{spread(row['seconds'], 3):>26}{row['beyond_mb']:>16.0f}{ratios}")
    sys.stdout.flush()


def goals_of(config):
    """What was aimed at, on this data: for the first pass and for the mean pass alike."""
    rows = {row["what"]: row for row in config["rows"]}
    goals = []
    for what in ("sklearn-lloyd", "faiss assignment"):
        for own in ("first", "mean"):
            if what in rows:
                got = rows[what]["over_imp_" + own]["median"]
                goals.append({"goal": f"{what} takes {GOALS[what]} times as long as imp's {own} pass",
                              "got": got, "met": got >= GOALS[what]})
    share = max(rows[own]["beyond_mb"] for own in IMP) / config["data_mb"]
    goals.append({"goal": f"memory beyond the data is at most {GOALS['memory']:.0%} of it",
                  "got": share, "met": share <= GOALS["memory"]})
    return goals


def compare(options, hellos, unavailable):
    configs = []
    names = options.peers.split(",")
    for kind in options.data.split(","):
        config = summarize(measure(kind, options.points, 64, options.clusters, options, names,
                                   hellos, unavailable, options.rounds))
        config["goals"] = goals_of(config)  # which were set for a million points
        print_comparison(config, options)
        for goal in config["goals"] if not options.quick else []:
            print(f"  {'met' if goal['met'] else 'MISSED':8}{goal['goal']}: {goal['got']:.2f}")
        configs.append(config)
    return {"configurations": configs}


def scaling_sizes(quick):
    """(axis, n, k, d): each of them tenfold, the others as they are."""
    n, k, d = (2000, 20, 64) if quick else (100000, 100, 64)
    return ([("n", m, k, d) for m in (n // 10, n, n * 10)]
            + [("k", n, m, d) for m in (k // 10, k, k * 10)[:2 if quick else 3]]
            + [("d", n, k, m) for m in (8, 80, 800)])


def scaling(options, hellos, unavailable):
    configs, known = [], {}
    shown = ("first", "mean", "sklearn-lloyd", "faiss assignment", "sklearn-elkan")
    print(f"\ncost of a pass as points, clusters and dimensions grow, {options.threads} threads\n"
          f"  {'':4}{'n':>9}{'k':>7}{'d':>6}" + "".join(
              f"{TITLE.get(what, what) + ', s':>24}" for what in shown))
    last = None
    for axis, n, k, d in scaling_sizes(options.quick):
        if (n, k, d) not in known:
            names = ["sklearn-lloyd", "faiss"]
            # Its bounds take a number for each point and cluster, and far longer than a pass.
            if n * k <= 10**8 and n <= 10**5 and d == 64:
                names.append("sklearn-elkan")
            known[n, k, d] = summarize(measure("mixture", n, d, k, options, names, hellos,
                                               unavailable, options.rounds))
        config = {**known[n, k, d], "axis": axis}
        configs.append(config)
        seconds = {row["what"]: row["seconds"]["median"] for row in config["rows"]}
        before = last if axis == (configs[-2]["axis"] if len(configs) > 1 else None) else {}
        cells = ""
        for what in shown:
            cell = f"{seconds[what]:.4f}" if what in seconds else ""
            if what in seconds and what in before:
                cell += f" (x{seconds[what] / before[what]:.1f})"
            cells += f"{cell:>24}"
        print(f"  {axis:4}{n:>9}{config['clusters']:>7}{d:>6}{cells}", flush=True)
        last = seconds
    return {"configurations": configs}


def plot(configs, path):
    """Seconds of a pass over n, k and d, both logarithmic."""
    try:
        import matplotlib
    except ImportError:
        print("no plot: Matplotlib is absent (Debian: python3-matplotlib)")
        return
    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "imp"
    matplotlib.rcParams["svg.fonttype"] = "none"  # text as text, not as outlines
    from matplotlib import pyplot
    names = {"n": "points", "k": "clusters", "d": "dimensions"}
    lines = {"first": ("imp, first pass", "o-", "#c0392b"),
             "mean": ("imp, mean pass", "o--", "#e67e22"),
             "sklearn-lloyd": ("scikit-learn, Lloyd", "s-", "#2c7fb8"),
             "faiss assignment": ("faiss, assignment", "^-", "#31a354")}
    figure, panels = pyplot.subplots(1, 3, figsize=(11, 3.8), sharey=True)
    for panel, axis in zip(panels, names):
        of_axis = [c for c in configs if c["axis"] == axis]
        key = {"n": "n", "k": "clusters", "d": "d"}[axis]
        for what, (label, style, color) in lines.items():
            points = [(c[key], row["seconds"]["median"]) for c in of_axis for row in c["rows"]
                      if row["what"] == what]
            if points:
                panel.loglog(*zip(*points), style, color=color, label=label, markersize=4)
        others = ", ".join(f"{of_axis[0][o]} {names[o]}" if o != "k" else
                           f"about {of_axis[0]['drawn_clusters']} clusters"
                           for o in names if o != axis)
        panel.set_title(others, fontsize=9)
        panel.set_xlabel(names[axis])
        panel.grid(True, which="major", color="#dddddd", linewidth=0.6)
    panels[0].set_ylabel("seconds of a pass")
    panels[0].legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    print(f"written: {os.path.relpath(path)}")


def episode(options, hellos, unavailable):
    """The method imp on 100 supports and 500 queries, within training steps of Conv4."""
    command = [os.path.join(options.build, "episode")]
    rows = []
    print("\nan episode of the method imp, forward and gradients, beside Conv4's training step of "
          "its 600 images of 1x28x28\n"
          f"  {'lambda':12}{'threads':>8}{'clusters':>10}{'method ms':>11}{'Conv4 ms':>10}"
          f"{'share (least..most round)':>30}")
    try:
        with Peer(command, ISA.get(options.isa, {})) as peer:
            hellos["episode"] = peer.hello
            asked = [(threshold, threads) for threads in sorted({1, options.threads})
                     for threshold in ("estimated", "0")]
            given = {key: [] for key in asked}
            for r in range(options.rounds):
                for threshold, threads in asked:
                    progress(f"episode, lambda {threshold}, {threads} threads, round {r + 1}")
                    given[threshold, threads].append(ask(
                        peer, f"episode 10 100 500 {threshold} {threads} {options.seconds}"))
    except Unavailable as reason:
        unavailable["episode"] = str(reason)
        return None
    progress("")
    for (threshold, threads), answers in given.items():
        row = {"lambda": threshold, "threads": threads, "clusters": answers[0]["clusters"],
               "method_ms": middle([a["method_ms"] for a in answers]),
               "conv4_ms": middle([a["conv4_ms"] for a in answers]),
               "share": middle([a["share"] for a in answers]), "rounds": answers}
        row["met"] = row["share"]["median"] <= GOALS["episode"]
        rows.append(row)
        print(f"  {threshold:12}{threads:>8}{row['clusters']:>10}"
              f"{row['method_ms']['median']:>11.3f}{row['conv4_ms']['median']:>10.2f}"
              f"{spread(row['share'], 4):>30}  {'met' if row['met'] else 'MISSED'}", flush=True)
    print(f"  aimed at: a share of at most {GOALS['episode']}")
    return {"goal": GOALS["episode"], "rows": rows}


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", help="parts, separated by commas: " + ", ".join(PARTS))
    parser.add_argument("--data", default="mixture,noise",
                        help="separated by commas: " + ", ".join(DATA))
    parser.add_argument("--peers", default="sklearn-lloyd,faiss,numpy",
                        help="of the comparison, separated by commas: " + ", ".join(PEERS))
    parser.add_argument("--points", type=int, default=1000000)
    parser.add_argument("--clusters", type=int, default=1000)
    parser.add_argument("--passes", type=int, default=10, help="of imp's mean")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=3.0, help="of an episode's turn")
    parser.add_argument("--isa", choices=ISA, help="hold imp and BLAS to this instruction set")
    parser.add_argument("--quick", action="store_true",
                        help="one round of small sizes, to see that everything works")
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "bench"))
    parser.add_argument("--output", help="folder of the result files; default bench/results, or "
                        "build/bench for a quick run")
    options = parser.parse_args()
    if options.quick:
        options.rounds, options.points, options.clusters = 1, 20000, 100
        options.seconds = 0.3
    if not all(kind in DATA for kind in options.data.split(",")):
        parser.error("--data is a list of " + ", ".join(DATA))
    if not all(name in PEERS for name in options.peers.split(",")):
        parser.error("--peers is a list of " + ", ".join(PEERS))
    options.parts = options.only.split(",") if options.only else list(PARTS)
    if not all(part in PARTS for part in options.parts):
        parser.error("--only is a list of " + ", ".join(PARTS))
    if min(options.rounds, options.threads, options.clusters) < 1 or options.passes < 2 \
            or options.points < options.clusters:
        parser.error("--rounds, --threads and --clusters must be positive, --passes at least 2 and "
                     "--points no fewer than --clusters")
    options.build = os.path.abspath(options.build)
    options.output = options.output or (options.build if options.quick
                                        else os.path.join(HERE, "results"))
    return options


def write(name, result, options):
    path = os.path.join(options.output, name)
    os.makedirs(options.output, exist_ok=True)
    with open(path + ".part", "w") as f:
        json.dump(result, f, indent=1)
        f.write("\n")
    os.replace(path + ".part", path)
    print(f"written: {os.path.relpath(path)}")


def main():
    options = parse()
    here = machine()
    introduce(here)
    options.python, origin = vector_python(options.build)
    print(f"scikit-learn and faiss are {origin}")
    arguments = [os.path.relpath(a, ROOT) if a.startswith("/") else a for a in sys.argv[1:]]
    for part in options.parts:
        hellos, unavailable = {}, {}
        work = {"compare": compare, "scaling": scaling, "episode": episode}[part]
        result = work(options, hellos, unavailable)
        for name, reason in unavailable.items():
            print(f"absent: {name}: {reason}")
        if result is None:
            continue
        name = {"compare": "cluster", "scaling": "cluster-scaling", "episode": "episode"}[part]
        write(name + ".json", {
            "command": " ".join(["bench/cluster.py"] + arguments),
            "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
            "imp": hellos.get("imp", hellos.get("episode")), "machine": here,
            "packages": package_versions(PACKAGES), "peers": hellos, "peers_from": origin, "absent": unavailable,
            "held_to_isa": options.isa, "threads": options.threads,
            "rounds_per_configuration": options.rounds, "passes": options.passes, **result,
        }, options)
        if part == "scaling":
            plot(result["configurations"], os.path.join(options.output, name + ".svg"))


if __name__ == "__main__":
    # Leave through the peers' exits, so that none of them stays behind, stopped.
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    try:
        main()
    except KeyboardInterrupt:
        print("\nbench/cluster.py: interrupted; what was written before stays", file=sys.stderr)
        sys.exit(130)
