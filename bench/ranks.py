#!/usr/bin/env python3
"""The speedup and the traffic of several processes: imp-mpi next to imp, and a model of both.

usage: bench/ranks.py PART... [--imp IMP] [--imp-mpi IMP_MPI] [--folder FOLDER] [--output JSON]

- speed: 2 ranks with one thread each next to 1 process with 2 threads, in alternating turns: updates
  of 8 episodes (Conv4, alphabets of glyphs), and passes of DP-means.
- traffic: the bytes that the ranks send, as they count them, next to the model's.
- network: the same on hosts that are network namespaces: the bytes that the kernel counts there, and
  the time of updates and passes on links with a rate (the kernel's tbf) or a delay (a relay of our
  own, bench/relay.py), next to the model's. Needs root.
- model: the speedup of 1 to 256 ranks on 1 and 10 Gbit/s, from the times that `speed` measured and
  the model that `traffic` and `network` check; and a plot beside the JSON.

Every part keeps the other parts' results in the output file.
"""
import argparse
import json
import math
import os
import re
import shutil
import subprocess
import sys
import time

EAGER = 1 << 16  # bytes; for longer messages Open MPI asks first, which takes two more delays
PIECE = 4 << 14  # bytes that go along the chain together (src/base/ranks.c)
TRAIN = ["--data", "glyphs", "--task", "alphabets", "--way", "10", "--accumulate", "8",
         "--validate-every", "0", "--log-every", "1", "--checkpoint-every", "1000", "--quiet"]
CLUSTER = {"points": 1000000, "dimensions": 64, "clusters": 1000, "lambda": 500}
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "IMP_MPI_TRAFFIC": "1"}


def fail(sentence):
    sys.exit("bench/ranks.py: " + sentence)


class Bench:
    def __init__(self, options):
        self.options = options
        self.points = os.path.join(options.folder, "points.npy")
        os.makedirs(options.folder, exist_ok=True)
        if not os.path.exists(self.points):
            import numpy
            random = numpy.random.default_rng(1)
            centers = 3 * random.standard_normal((CLUSTER["clusters"], CLUSTER["dimensions"]))
            which = numpy.arange(CLUSTER["points"]) * 7919 % CLUSTER["clusters"]
            noise = random.standard_normal((CLUSTER["points"], CLUSTER["dimensions"]))
            numpy.save(self.points, (centers[which] + noise).astype("float32"))

    def command(self, ranks, threads, words, hosts=None):
        words = words + ["--threads", str(threads)]
        if ranks == 0:
            return [self.options.imp] + words
        if hosts:
            return hosts.command(ranks) + [self.options.imp_mpi] + words
        return ["mpirun", "--oversubscribe", "-np", str(ranks), self.options.imp_mpi] + words

    def run(self, command):
        begin = time.perf_counter()
        done = subprocess.run(command, env=ENVIRONMENT, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode:
            fail(f"{' '.join(command)} failed: {done.stderr}")
        sent = re.search(r"imp-mpi: (\d+) bytes in (\d+) messages", done.stderr)
        return time.perf_counter() - begin, int(sent[1]) if sent else 0

    def train(self, ranks, threads, updates, hosts=None):
        """The least seconds of an update, and bytes sent in all of them."""
        run = os.path.join(self.options.folder, "run")
        shutil.rmtree(run, ignore_errors=True)
        words = ["train", *TRAIN, "--updates", str(updates), "--out", run]
        _, sent = self.run(self.command(ranks, threads, words, hosts))
        with open(os.path.join(run, "log.jsonl"), encoding="utf-8") as file:
            seconds = [json.loads(line)["seconds"] for line in file]
        each = [b - a for a, b in zip(seconds, seconds[1:])]
        return min(each), sent

    def cluster(self, ranks, threads, passes, hosts=None, points=None):
        words = ["cluster", points or self.points, "--method", "dp-means", "--lambda",
                 str(CLUSTER["lambda"]), "--steps", str(passes), "--json", "-o",
                 os.path.join(self.options.folder, "labels.npy")]
        return self.run(self.command(ranks, threads, words, hosts))


# ---- the model ----

def train_bytes(ranks, model):
    """All ranks' bytes of an update: the running sum along the chain and to all, what each episode
    showed, and whether anybody wants to stop."""
    gradient = 4 * model["numbers"]
    told = model["episodes"] * (model["told"] + 8 * model["statistics"])
    return (ranks - 1) * (2 * gradient + told + 8 * ranks)


def pass_bytes(ranks, points, dimensions, clusters, blocks):
    """All ranks' bytes of a pass of DP-means in which no point starts a cluster."""
    return (ranks - 1) * (4 * points + 8 * ranks * blocks + 8 * clusters * dimensions)


def train_wire(ranks, model, rate, latency):
    """Seconds that an update communicates: what each episode showed goes to all, then the running sum
    along the chain, in which pieces follow each other, and to all. A link carries a message both
    ways at once, and of what all ranks gather a rank has its own part already."""
    if ranks == 1:
        return 0
    gradient = 4 * model["numbers"]
    others = (ranks - 1) / ranks
    pieces = math.ceil(gradient / PIECE)
    chain = (gradient + (ranks - 2) * PIECE) / rate + (pieces + ranks - 2) * latency
    tell = 2 * others * gradient / rate + 2 * math.log2(ranks) * latency
    told = model["episodes"] * (model["told"] + 8 * model["statistics"])
    return chain + tell + others * told / rate + 3 * math.log2(ranks) * latency


def train_seconds(ranks, model, episode, rate, latency):
    """An update: this rank's episodes one after the other, and then what is sent."""
    return math.ceil(model["episodes"] / ranks) * episode + train_wire(ranks, model, rate, latency)


def pass_wire(ranks, points, dimensions, clusters, blocks, rate, latency):
    """Seconds that a pass of DP-means communicates: in each block the nearest clusters and how many
    points are far from all, in the end the sums."""
    sent = 4 * points + 8 * clusters * dimensions
    delays = 1 + sum(2 if 4 * block / ranks < EAGER else 4 for block in blocks)
    return (ranks - 1) / ranks * sent / rate + delays * math.log2(ranks) * latency


def wire_of_a_pass(least):
    """Seconds that the assignments of 10^8 points of 128 dimensions in 1,000 clusters and their sums
    need to reach a rank, beside those that one thread needs to compare the points."""
    n, k, d = 10**8, 1000, 128
    values = CLUSTER["points"] * CLUSTER["clusters"] * CLUSTER["dimensions"]
    return {"points": n, "clusters": k, "dimensions": d,
            "compare_by_one_thread": round(least["cluster_one"] * n * k * d / values, 1),
            "wire": {name: round((4 * n + 8 * k * d) / rate, 2)
                     for name, rate in (("1 Gbit/s", 125e6), ("10 Gbit/s", 1250e6))}}


# ---- hosts ----

class Hosts:
    """Network namespaces with an address each, whose links have a rate, or frames a delay."""

    def __init__(self, count, folder, delay=None):
        self.count, self.agent = count, os.path.abspath(os.path.join(folder, "agent"))
        self.delay, self.relay = delay, None
        with open(self.agent, "w", encoding="utf-8") as file:
            file.write('#!/bin/sh\nnumber=${1##*.}\nshift\nexec ip netns exec "impbench$number" '
                       'unshare --uts sh -c "hostname impbench$number; $*"\n')
        os.chmod(self.agent, 0o755)

    def ip(self, words):
        subprocess.run(["ip"] + words.split(), check=True)

    def links(self):
        """What ends in the hosts: a bridge's links, or taps of the relay."""
        if self.delay is None:
            self.ip("link add impbench type bridge")
            self.ip("link set impbench up")
            for i in range(1, self.count + 1):
                self.ip(f"link add impb{i} type veth peer name eth0 netns impbench{i}")
                self.ip(f"link set impb{i} master impbench up")
            return
        relay = os.path.join(os.path.dirname(os.path.abspath(__file__)), "relay.py")
        self.relay = subprocess.Popen([sys.executable, relay, str(self.delay)] +
                                      [f"impb{i}" for i in range(1, self.count + 1)],
                                      stdout=subprocess.PIPE)
        self.relay.stdout.readline()  # it has made them
        for i in range(1, self.count + 1):
            self.ip(f"link set impb{i} netns impbench{i} name eth0")

    def __enter__(self):
        for i in range(1, self.count + 1):
            self.ip(f"netns add impbench{i}")
        self.links()
        for i in range(1, self.count + 1):
            self.ip(f"-n impbench{i} addr add 10.78.0.{i}/24 dev eth0")
            self.ip(f"-n impbench{i} link set eth0 up")
            self.ip(f"-n impbench{i} link set lo up")
        return self

    def throttle(self, megabits):
        """What a host sends has that rate, and up to 32 kB at once; nothing is lost."""
        for i in range(1, self.count + 1):
            words = ["ip", "netns", "exec", f"impbench{i}", "tc", "qdisc"]
            subprocess.run(words + ["del", "dev", "eth0", "root"], stderr=subprocess.DEVNULL,
                           check=False)
            if megabits:
                subprocess.run(words + ["add", "dev", "eth0", "root", "tbf", "rate",
                                        f"{megabits}mbit", "burst", "32kb", "limit", "8mb"],
                               check=True)

    def bytes(self):
        """What all hosts have sent."""
        file = "/sys/class/net/eth0/statistics/tx_bytes"
        return sum(int(subprocess.run(["ip", "netns", "exec", f"impbench{i}", "cat", file],
                                      stdout=subprocess.PIPE, check=True).stdout)
                   for i in range(1, self.count + 1))

    def command(self, ranks):
        hosts = ",".join(f"10.78.0.{i}" for i in range(1, ranks + 1))
        return ["ip", "netns", "exec", "impbench1", "unshare", "--uts", "sh", "-c",
                'hostname impbench1; exec "$@"', "sh", "mpirun", "--host", hosts, "--bind-to",
                "none", "--mca", "plm_rsh_agent", self.agent, "--mca", "btl", "tcp,self", "--mca",
                "oob_tcp_if_include", "10.78.0.0/24", "--mca", "btl_tcp_if_include",
                "10.78.0.0/24", "-x", "IMP_MPI_TRAFFIC"]

    def __exit__(self, *_):
        if self.relay:
            self.relay.terminate()
            self.relay.wait()
        for i in range(1, self.count + 1):
            self.ip(f"netns del impbench{i}")
        if not self.relay:
            self.ip("link del impbench")


# ---- the parts ----

def learned(bench):
    """How many numbers a step has, from the model of a run."""
    run = os.path.join(bench.options.folder, "run")
    with open(os.path.join(run, "model.safetensors"), "rb") as file:
        size = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(size))
    count = {"numbers": 0, "statistics": 0}
    for name, tensor in header.items():
        if name == "__metadata__":
            continue
        values = 1
        for length in tensor["shape"]:
            values *= length
        if "running_mean" in name or "running_var" in name:
            count["statistics"] += values
        elif "num_batches" not in name:
            count["numbers"] += values
    return count


def speed(bench, result):
    """The least time of many turns: on a busy machine it is the one that was disturbed least."""
    ways = (("threads", 0, 2), ("ranks", 2, 1), ("one", 0, 1))
    times = {f"{what}_{name}": [] for what in ("train", "cluster", "start") for name, *_ in ways}
    tiny = os.path.join(bench.options.folder, "tiny.npy")
    if not os.path.exists(tiny):
        import numpy
        numpy.save(tiny, numpy.load(bench.points, mmap_mode="r")[:2000])
    for _ in range(bench.options.rounds):
        for name, ranks, threads in ways:
            times["train_" + name].append(bench.train(ranks, threads, bench.options.updates)[0])
            times["cluster_" + name].append(bench.cluster(ranks, threads, 2)[0])
            times["start_" + name].append(bench.cluster(ranks, threads, 2, points=tiny)[0])
    least = {key: round(min(values), 4) for key, values in times.items()}
    for name, *_ in ways:  # without the time that processes need to start and end
        least["cluster_" + name] = round(least["cluster_" + name] - least.pop("start_" + name), 4)
    result["speed"] = {
        "rounds": bench.options.rounds, "episodes": 8, "cluster": CLUSTER, "seconds": least,
        "train_ratio": round(least["train_threads"] / least["train_ranks"], 3),
        "cluster_ratio": round(least["cluster_threads"] / least["cluster_ranks"], 3)}


def traffic(bench, result):
    rows = []
    for ranks in (2, 4):
        _, few = bench.train(ranks, 1, 2)
        _, many = bench.train(ranks, 1, 3)
        model = {**learned(bench), "episodes": 8, "told": 568}
        _, one = bench.cluster(ranks, 1, 1)
        _, two = bench.cluster(ranks, 1, 2)
        rows.append({"ranks": ranks, "update": many - few,
                     "update_by_model": train_bytes(ranks, model), "pass": two - one,
                     "pass_by_model": pass_bytes(ranks, CLUSTER["points"], CLUSTER["dimensions"],
                                                 CLUSTER["clusters"], len(blocks_of()))})
    result["traffic"] = {"model": model, "rows": rows}


def blocks_of():
    """The points of each block of a pass in which no cluster is made (src/methods/assign.c)."""
    left, size, blocks = CLUSTER["points"], 96, []
    while left > 0:
        blocks.append(min(size, left))
        left -= blocks[-1]
        size = min(2 * size, 73728)
    return blocks


def measure_link(bench, hosts, ranks, link):
    """Bytes and seconds of an update and of a pass, the least of several."""
    before = hosts.bytes()
    seconds, sent = bench.train(ranks, 1, bench.options.updates, hosts)
    wire = hosts.bytes() - before
    before = hosts.bytes()
    taken = {1: [], 2: []}  # passes; they converge with the second
    for _ in range(bench.options.rounds):
        for passes, seconds_of in taken.items():
            spent, passed = bench.cluster(ranks, 1, passes, hosts)
            seconds_of.append(spent)
    passed_wire = (hosts.bytes() - before) // bench.options.rounds
    return {"ranks": ranks, **link, "update": round(seconds, 4),
            "pass": round(min(taken[2]) - min(taken[1]), 4),
            "sent": sent, "on_the_wire": wire, "cluster_sent": passed,
            "clusters_on_the_wire": passed_wire}


def beside_model(row, base, learnt):
    """What the link costs, measured and by the model."""
    rate = row.get("megabits", 1e6) * 125e3
    delay = row.get("milliseconds", 0) / 1e3
    row["update_by_link"] = round(row["update"] - base["update"], 4)
    row["update_by_model"] = round(train_wire(row["ranks"], learnt, rate, delay), 4)
    row["pass_by_link"] = round(row["pass"] - base["pass"], 4)
    row["pass_by_model"] = round(
        pass_wire(row["ranks"], CLUSTER["points"], CLUSTER["dimensions"], CLUSTER["clusters"],
                  blocks_of(), rate, delay), 4)


def network(bench, result):
    """Links with the rates or delays asked for, beside one that has neither."""
    rows, base = [], None
    learnt = result["traffic"]["model"]
    for ranks in bench.options.ranks:
        if bench.options.megabits:
            with Hosts(ranks, bench.options.folder) as hosts:
                for megabits in [None] + bench.options.megabits:
                    hosts.throttle(megabits)
                    link = {"megabits": megabits} if megabits else {}
                    rows.append(measure_link(bench, hosts, ranks, link))
                    base = base if megabits else rows[-1]
                    beside_model(rows[-1], base, learnt)
        delays = bench.options.milliseconds
        for milliseconds in [0] + delays if delays else []:
            with Hosts(ranks, bench.options.folder, milliseconds / 1e3) as hosts:
                rows.append(measure_link(bench, hosts, ranks, {"milliseconds": milliseconds}))
                base = base if milliseconds else rows[-1]
                beside_model(rows[-1], base, learnt)
    result.setdefault("network", {"rows": []})
    measured = {(row["ranks"], "milliseconds" in row) for row in rows}
    result["network"]["rows"] = [
        row for row in result["network"]["rows"]
        if (row["ranks"], "milliseconds" in row) not in measured] + rows


def model(bench, result):
    learnt = result["traffic"]["model"]
    least = result["speed"]["seconds"]
    # A rank has one thread here.
    episode = least["train_one"] / 8
    curves = {}
    for name, rate, latency in (("1 Gbit/s", 125e6, 50e-6), ("10 Gbit/s", 1250e6, 20e-6)):
        for episodes in (8, 64):
            train = {**learnt, "episodes": episodes}
            base = train_seconds(1, train, episode, rate, latency)
            curves[f"{episodes} episodes, {name}"] = [
                (r, base / train_seconds(r, train, episode, rate, latency)) for r in ranks_of()]
    result["model"] = {
        "episode_seconds": episode, "cluster": wire_of_a_pass(least),
        "ends": {name: max(points, key=lambda p: p[1]) for name, points in curves.items()},
        "curves": curves}
    plot(curves, os.path.splitext(bench.options.output)[0] + ".svg")


def ranks_of():
    return [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256]


def plot(curves, path):
    import matplotlib
    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "imp"
    from matplotlib import pyplot
    figure, axis = pyplot.subplots(figsize=(7, 4.5))
    for name, points in curves.items():
        style = "--" if "10 Gbit" in name else "-"
        axis.plot([p[0] for p in points], [p[1] for p in points], style, label=name)
    axis.plot(ranks_of(), ranks_of(), ":", color="gray", label="as many times")
    axis.set_xscale("log", base=2)
    axis.set_yscale("log", base=2)
    axis.set_xlabel("ranks")
    axis.set_ylabel("times as fast as one")
    axis.legend(fontsize=7)
    figure.savefig(path, metadata={"Date": None})


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("parts", nargs="+", choices=["speed", "traffic", "network", "model"])
    parser.add_argument("--imp", default="build/release/bin/imp")
    parser.add_argument("--imp-mpi", default="build/release/bin/imp-mpi")
    parser.add_argument("--folder", default="build/bench/ranks")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--updates", type=int, default=6)
    parser.add_argument("--ranks", type=int, nargs="+", default=[2], help="of network")
    parser.add_argument("--megabits", type=int, nargs="*", default=[1000, 100, 30])
    parser.add_argument("--milliseconds", type=int, nargs="*", default=[1, 5])
    parser.add_argument("--output", default="bench/results/ranks.json")
    options = parser.parse_args()
    result = {}
    if os.path.exists(options.output):
        with open(options.output, encoding="utf-8") as file:
            result = json.load(file)
    bench = Bench(options)
    for part in options.parts:
        doing = {"speed": speed, "traffic": traffic, "network": network, "model": model}
        doing[part](bench, result)
        with open(options.output, "w", encoding="utf-8") as file:
            file.write(json.dumps(result, indent=1) + "\n")
    print(json.dumps({key: result[key] for key in options.parts}, indent=1))


if __name__ == "__main__":
    main()
