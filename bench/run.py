#!/usr/bin/python3
"""Speed of Conv4 or resnet12 in imp and its peers, in interleaved turns. bench/README.md explains it.

Every configuration is measured in rounds. In a round each peer has its turn, in an order that rotates
from round to round, and between its turns it is stopped. So a slow minute of the machine affects all
peers alike, and the ratio of two peers within a round is steadier than either speed.
"""

import argparse
import contextlib
import datetime
import json
import os
import platform
import signal
import statistics
import subprocess
import sys

import page
from protocol import HERE, ISA, Peer, Unavailable, commands, environment, torch_python

ROOT = os.path.dirname(HERE)
# What is measured unless something else is said. A step of resnet12 takes seconds.
DEFAULTS = {
    "conv4": {"sizes": "120x1x28x28,600x1x28x28,100x3x84x84", "threads": "1,2", "rounds": 5,
              "peers": "imp,onednn-best,onednn-direct,onednn-winograd,torch-nchw,torch-channels-last,"
                       "torch-channels-last-tuned,torch-best,torch2-channels-last-tuned,"
                       "torch2-compiled-tuned,torch2-best"},
    "resnet12": {"sizes": "100x3x84x84", "threads": "2", "rounds": 3, "only": "train",
                 "peers": "imp,torch-channels-last-tuned,torch2-channels-last-tuned,"
                          "torch2-compiled-tuned"},
}
TITLE = {"train": "training step", "eval": "evaluation"}
FILTERS, LAYERS = 64, 4
PACKAGES = ["libdnnl2", "python3-torch", "libgomp1", "libc6", "gcc"]


def nominal_flops(network, what, c, h, w):
    """Floating-point operations per image of direct convolutions, a multiply-add counting as two.

    A training step does each convolution three times (forward, data gradient, weight gradient), except
    that nobody needs the gradient of the images.
    """
    total = 0
    for layer in range(LAYERS):
        width = FILTERS if network == "conv4" else FILTERS << layer
        first = 9 * c * width  # multiply-adds per pixel of what reads the layer's input
        rest = 0
        if network == "resnet12":  # two more convolutions, and the shortcut's of 1x1
            first += c * width
            rest = 2 * 9 * width * width
        times = 1 if what == "eval" else 2 if layer == 0 else 3
        total += 2 * h * w * (first * times + rest * (1 if what == "eval" else 3))
        c, h, w = width, h // 2, w // 2
    return total


def machine():
    info = {}
    with open("/proc/cpuinfo") as f:
        for line in f:
            key, _, value = line.partition(":")
            info.setdefault(key.strip(), value.strip())
    flags = info.get("flags", "").split()
    return {
        "cpu": info.get("model name", platform.machine()),
        "family_model": f"{info.get('cpu family', '?')}/{info.get('model', '?')}",
        "cores": len(os.sched_getaffinity(0)),
        "avx512": "avx512f" in flags,
        "flags": [f for f in flags if f.startswith(("avx", "fma", "sse4", "amx", "f16c"))],
        "load_at_start": os.getloadavg()[0],
    }


def package_versions(names):
    """The Debian packages that the peers come from."""
    done = subprocess.run(["dpkg-query", "-W", "-f", "${Package} ${Version}\\n"] + names,
                          capture_output=True, text=True, check=False)
    return dict(line.split(" ", 1) for line in done.stdout.splitlines())


def progress(text):
    if sys.stderr.isatty():
        print(f"\r{text:100}\r", end="", file=sys.stderr, flush=True)


def measure(what, size, threads, options, unavailable):
    """All rounds of one configuration: {"peak": [...], peer: [answer of each round]}, and hellos."""
    n, c, h, w = size
    request = f"{what} {n} {c} {h} {w} {threads} {options.seconds} {options.network}"
    answers, hellos = {}, {}
    available = commands(options.build, options.imp)
    with contextlib.ExitStack() as stack:
        peers = {}
        for name in ["peak"] + options.peers.split(","):
            try:
                peer = stack.enter_context(Peer(available[name], environment(name, options.isa)))
                name = peer.hello["peer"]  # imp tells its instruction set
                peers.setdefault(name, peer)
                hellos[name] = peer.hello
            except Unavailable as reason:
                unavailable.setdefault(name, str(reason))
        for r in range(options.rounds):
            order = list(peers)
            first = r % len(order) if order else 0
            for name in order[first:] + order[:first]:
                question = f"peak {threads} {options.seconds / 2}" if name == "peak" else request
                progress(f"{TITLE[what]} {n}x{c}x{h}x{w}, {threads} threads, round {r + 1} of "
                         f"{options.rounds}: {name}")
                try:
                    answer = peers[name].ask(question)
                except Unavailable as reason:
                    answer = {"unavailable": str(reason)}
                if "unavailable" in answer:
                    unavailable.setdefault(name, answer["unavailable"])
                    del peers[name]
                    answers.pop(name, None)
                else:
                    answers.setdefault(name, []).append(answer)
    progress("")
    return answers, hellos


def summarize(network, what, size, threads, answers):
    """One row per peer: median speed, share of the peak, memory, and imp's speed over the peer's."""
    peaks = [a["gflops"] for a in answers.get("peak", [])]
    rates = {name: [a["images_per_second"] for a in rounds]
             for name, rounds in answers.items() if name != "peak"}
    imp = next((name for name in rates if name.startswith("imp")), None)
    # What is left of a oneDNN step when everything but its convolutions costs nothing.
    for name in [n for n in rates if n == "onednn-best"]:
        rates[name + ", convolutions only"] = [
            a["convolutions_images_per_second"] for a in answers[name]]
    rows = []
    for name, speeds in rates.items():
        speed = statistics.median(speeds)
        rounds = answers.get(name, [])
        row = {"peer": name, "images_per_second": speed,
               "nominal_gflops": speed * nominal_flops(network, what, *size[1:]) * 1e-9}
        if peaks:
            row["nominal_over_peak"] = row["nominal_gflops"] / statistics.median(peaks)
        if rounds:
            row["resident_mb"] = max(a["resident_mb"] for a in rounds)
            ways = sorted({a["way"] for a in rounds if "way" in a})
            if ways and name.endswith("-best"):
                row["way"] = " / ".join(ways)
        if imp and name != imp:
            ratios = [a / b for a, b in zip(rates[imp], speeds)]
            row["imp_over_peer"] = statistics.median(ratios)
            row["imp_over_peer_range"] = [min(ratios), max(ratios)]
        rows.append(row)
    return {"network": network, "what": what, "n": size[0], "c": size[1], "h": size[2], "w": size[3],
            "threads": threads, "nominal_mflop_per_image": nominal_flops(network, what, *size[1:]) * 1e-6,
            "peak_gflops": statistics.median(peaks) if peaks else None, "rows": rows,
            "rounds": answers}


def print_table(config):
    peak = config["peak_gflops"]
    print(f"\n{config['network']}, {TITLE[config['what']]}, {config['n']} images of {config['c']}x{config['h']}x"
          f"{config['w']}, {config['threads']} thread{'s' * (config['threads'] > 1)}"
          + (f", peak {peak:.0f} GFLOP/s" if peak else ""))
    print(f"  {'':34}{'images/s':>10}{'nominal/peak':>14}{'memory MB':>11}{'imp/peer':>10}"
          f"{'least..most':>14}")
    for row in config["rows"]:
        share = f"{row['nominal_over_peak']:.2f}" if "nominal_over_peak" in row else ""
        memory = f"{row['resident_mb']:.0f}" if "resident_mb" in row else ""
        ratio = spread = ""
        if "imp_over_peer" in row:
            ratio = f"{row['imp_over_peer']:.2f}"
            spread = "{:.2f}..{:.2f}".format(*row["imp_over_peer_range"])
        way = f"  ({row['way']})" if "way" in row else ""
        print(f"  {row['peer']:34}{row['images_per_second']:>10.1f}{share:>14}{memory:>11}"
              f"{ratio:>10}{spread:>14}{way}")
    sys.stdout.flush()


COLUMNS = {"torch2-nchw": "PyTorch 2, default settings",
           "torch2-channels-last-tuned": "PyTorch 2, channels last, tuned",
           "torch2-compiled-tuned": "PyTorch 2, `torch.compile`, tuned",
           "torch2-best": "PyTorch 2, its fastest way", "onednn-best": "oneDNN, at its best"}


def table(result):
    """imp's speed over the peers' on two threads, as a table in Markdown."""
    lines = [f"| imp with {result['imp']['isa']} | " + " | ".join(COLUMNS.values()) + " |",
             "|---" * (len(COLUMNS) + 1) + "|"]
    for config in result["configurations"]:
        rows = {row["peer"]: row for row in config["rows"]}
        cells = [f"{TITLE[config['what']]}, {config['n']} images of "
                 f"{config['c']}x{config['h']}x{config['w']}"]
        for peer in COLUMNS:
            row = rows.get(peer)
            cells.append("{:.2f} ({:.2f}..{:.2f})".format(row["imp_over_peer"], *row["imp_over_peer_range"])
                         + (f" {row['way']}" if peer == "torch2-best" else "") if row else "")
        if config["threads"] == 2:
            lines.append("| " + " | ".join(cells) + " |")
    versions = sorted({hello["version"] for name, hello in result["peers"].items() if name in COLUMNS})
    return "\n".join(lines + ["", f"{result['machine']['cpu']}; {', '.join(versions)}; {result['rounds']} "
                               f"rounds on {result['date'][:10]}."])


def write_tables():
    for name in ("conv4-avx512.json", "conv4-avx2.json"):
        with open(os.path.join(HERE, "results", name), encoding="utf-8") as f:
            page.put(name, table(json.load(f)))


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--network", choices=DEFAULTS, default="conv4")
    parser.add_argument("--rounds", type=int, help="5, or 3 of resnet12")
    parser.add_argument("--seconds", type=float, default=2.0, help="of timed steps per turn")
    parser.add_argument("--only", choices=("train", "eval"))
    parser.add_argument("--sizes", help="NxCxHxW, separated by commas")
    parser.add_argument("--threads", help="numbers, separated by commas")
    parser.add_argument("--peers", help="separated by commas; 'list' prints all")
    parser.add_argument("--add", action="store_true",
                        help="keep what the result file has of other configurations")
    parser.add_argument("--table", action="store_true",
                        help="measure nothing; put conv4's tables into bench/README.md")
    parser.add_argument("--isa", choices=ISA, help="hold imp and all peers to this instruction set")
    parser.add_argument("--quick", action="store_true",
                        help="one short round of the smallest size, to see that everything works")
    parser.add_argument("--imp", default=os.path.join(ROOT, "build", "release", "bin", "imp"))
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "bench"))
    parser.add_argument("--output", help="result file; default bench/results/NETWORK-ISA.json, "
                        "or build/bench/NETWORK-ISA.json for a quick run or one without imp")
    options = parser.parse_args()
    for name, value in DEFAULTS[options.network].items():
        if getattr(options, name) is None:
            setattr(options, name, value)
    names = list(commands(options.build, options.imp))
    if options.peers == "list":
        print("\n".join(names))
        sys.exit(0)
    for name in options.peers.split(","):
        if name not in names:
            parser.error(f"no peer is called '{name}'; there are {', '.join(names)}")
    if options.quick:
        options.rounds, options.seconds, options.sizes = 1, 0.3, options.sizes.split(",")[0]
        if options.network == "resnet12":
            options.sizes = "4x3x84x84"
    try:
        options.shapes = [tuple(map(int, s.split("x"))) for s in options.sizes.split(",")]
        options.thread_counts = [int(t) for t in options.threads.split(",")]
    except ValueError:
        options.shapes = []
    if not options.shapes or any(len(s) != 4 or min(s) < 1 for s in options.shapes):
        parser.error("--sizes is a list like 120x1x28x28,100x3x84x84, --threads one like 1,2")
    if options.rounds < 1 or options.seconds <= 0:
        parser.error("--rounds and --seconds must be positive")
    return options


def key_of(config):
    return [config[key] for key in ("what", "n", "c", "h", "w", "threads")]


def measured_before(path, configs):
    """The configurations of a result file that were not measured again, with the peers they had."""
    try:
        with open(path) as f:
            old = json.load(f)
    except FileNotFoundError:
        return [], {}
    again = [key_of(config) for config in configs]
    kept = [config for config in old["configurations"] if key_of(config) not in again]
    for config in kept:
        config.setdefault("date", old["date"])
        config.setdefault("command", old["command"])
        config.setdefault("load_at_start", old["machine"]["load_at_start"])
    return kept, old["peers"] if kept else {}


def introduce(here):
    """Says what is measured on, and whether that is quiet enough."""
    print(f"{here['cpu']} (family/model {here['family_model']}), {here['cores']} cores, "
          f"AVX-512 {'yes' if here['avx512'] else 'no'}")
    if here["load_at_start"] > 0.3:
        print(f"warning: the machine is busy (load {here['load_at_start']:.1f}); "
              "do not trust these figures")


def main():
    options = parse()
    if options.table:
        write_tables()
        return
    here = machine()
    introduce(here)
    if "torch2-" in options.peers:
        print(f"PyTorch 2 is {torch_python(options.build)[1]}")
    configs, hellos, unavailable = [], {}, {}
    for what in ([options.only] if options.only else ["train", "eval"]):
        for size in options.shapes:
            for threads in options.thread_counts:
                if threads > here["cores"]:
                    continue
                answers, who = measure(what, size, threads, options, unavailable)
                hellos.update(who)
                configs.append(summarize(options.network, what, size, threads, answers))
                print_table(configs[-1])
    for name, reason in unavailable.items():
        print(f"\nabsent: {name}: {reason}")

    imp = next((hello for name, hello in hellos.items() if name.startswith("imp")), None)
    if imp:
        for config in configs:
            for row in config["rows"]:
                if config["what"] == "train" and config["n"] == 600 and row["peer"] == imp["peer"]:
                    print(f"\nresident memory of imp's training step at N=600, "
                          f"{config['threads']} threads: {row['resident_mb']:.0f} MB")
    isa = (imp or {}).get("isa") or options.isa or ("avx512" if here["avx512"] else "avx2")
    folder = (os.path.join(HERE, "results") if imp and not options.quick
              else os.path.join(ROOT, "build", "bench"))
    path = options.output or os.path.join(folder, f"{options.network}-{isa}.json")
    arguments = [os.path.relpath(a, ROOT) if a.startswith("/") else a for a in sys.argv[1:]]
    command = " ".join(["bench/run.py"] + arguments)
    date = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
    if options.add:
        for config in configs:
            config.update(date=date, command=command, load_at_start=here["load_at_start"])
        kept, peers = measured_before(path, configs)
        configs = sorted(kept + configs, key=lambda c: (c["what"] == "eval", c["c"], c["n"], c["threads"]))
        hellos = {**peers, **hellos}
    result = {
        "command": command, "date": date,
        "imp": imp, "machine": here, "packages": package_versions(PACKAGES), "peers": hellos,
        "absent": unavailable, "held_to_isa": options.isa, "rounds": options.rounds,
        "seconds": options.seconds, "configurations": configs,
    }
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    temporary = path + ".part"
    with open(temporary, "w") as f:
        json.dump(result, f, indent=1)
        f.write("\n")
    os.replace(temporary, path)
    print(f"\nwritten: {os.path.relpath(path)}")


if __name__ == "__main__":
    # Leave through the peers' exits, so that none of them stays behind, stopped.
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    try:
        main()
    except KeyboardInterrupt:
        print("\nbench/run.py: interrupted, nothing written", file=sys.stderr)
        sys.exit(130)
