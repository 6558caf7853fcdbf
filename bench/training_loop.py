#!/usr/bin/python3
"""The overhead of the training loop over its network. bench/README.md says how it is measured."""

import argparse
import datetime
import json
import os
import signal
import statistics
import sys
import tempfile

from protocol import HERE, ISA, Peer, Unavailable
from run import introduce, machine, package_versions, progress

ROOT = os.path.dirname(HERE)
TASKS = (("alphabets", 10), ("characters", 20))  # 10 x 10 x (1 + 5) = 600 images, 20 x (1 + 5) = 120
PARTS = ("feed", "method", "optimizer", "rest")
GOAL = 0.05
PACKAGES = ["libgomp1", "libc6", "gcc"]


def ask(peer, question):
    answer = peer.ask(question)
    if "unavailable" in answer:
        raise Unavailable(answer["unavailable"])
    return answer


def measure(peer, task, way, threads, options):
    """All rounds of one task: every figure's median over the rounds, and the rounds."""
    rounds = []
    for r in range(options.rounds):
        progress(f"{way}-way {task}, {threads} threads, round {r + 1} of {options.rounds}")
        with tempfile.TemporaryDirectory() as folder:
            rounds.append(ask(peer, f"update {task} {way} {threads} {options.seconds} "
                              + os.path.join(folder, "run")))
    progress("")
    row = {"task": task, "way": way, "images": rounds[0]["n"], "threads": threads}
    for name in ("update_ms", "bare_ms", "network_ms", *(p + "_ms" for p in PARTS), "overhead",
                 "beyond_network"):
        row[name] = statistics.median(answer[name] for answer in rounds)
    row["overhead_range"] = [f(a["overhead"] for a in rounds) for f in (min, max)]
    row["met"] = row["overhead"] <= GOAL
    row["rounds"] = rounds
    return row


def print_row(row):
    shares = "".join(f"{100 * row[part + '_ms'] / row['bare_ms']:>10.2f}%" for part in PARTS)
    print(f"  {row['images']:>6}{row['threads']:>8}{row['update_ms']:>11.2f}{row['bare_ms']:>9.2f}"
          f"{100 * row['overhead']:>9.2f}%{100 * row['beyond_network']:>9.2f}%{shares}  "
          f"{'met' if row['met'] else 'MISSED'}", flush=True)


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split(". ", maxsplit=1)[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=4.0, help="of a round")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--isa", choices=ISA, help="hold imp to this instruction set")
    parser.add_argument("--quick", action="store_true",
                        help="one short round, to see that everything works")
    parser.add_argument("--imp", default=os.path.join(ROOT, "build", "release", "bin", "imp"))
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "bench"))
    parser.add_argument("--output", help="result file; default bench/results/training-loop.json, or "
                        "the same in build/bench for a quick run")
    options = parser.parse_args()
    if options.quick:
        options.rounds, options.seconds = 1, 0.3
    folder = options.build if options.quick else os.path.join(HERE, "results")
    options.output = options.output or os.path.join(folder, "training-loop.json")
    return options


def main():
    options = parse()
    here = machine()
    introduce(here)
    print("\nan update of the method imp beside the bare training step of Conv4 on its images; parts as "
          "shares of the bare step\n"
          f"  {'images':>6}{'threads':>8}{'update ms':>11}{'bare ms':>9}{'overhead':>10}{'beyond':>10}"
          + "".join(f"{part:>11}" for part in PARTS))
    with Peer([options.imp, "bench", "--serve"], ISA.get(options.isa, {})) as peer:
        rows = []
        for task, way in TASKS:
            for threads in map(int, options.threads.split(",")):
                rows.append(measure(peer, task, way, threads, options))
                print_row(rows[-1])
        hello = peer.hello
    print(f"  aimed at: an overhead of at most {100 * GOAL:.0f}%")
    arguments = [os.path.relpath(a, ROOT) if a.startswith("/") else a for a in sys.argv[1:]]
    os.makedirs(os.path.dirname(os.path.abspath(options.output)), exist_ok=True)
    with open(options.output + ".part", "w") as f:
        json.dump({
            "command": " ".join(["bench/training_loop.py"] + arguments),
            "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
            "imp": hello, "machine": here, "packages": package_versions(PACKAGES),
            "held_to_isa": options.isa, "rounds": options.rounds, "seconds": options.seconds,
            "goal": GOAL, "rows": rows}, f, indent=1)
        f.write("\n")
    os.replace(options.output + ".part", options.output)
    print(f"written: {os.path.relpath(options.output)}")


if __name__ == "__main__":
    # Leave through the peer's exit, so that it does not stay behind, stopped.
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    try:
        main()
    except Unavailable as reason:
        sys.exit(f"bench/training_loop.py: {reason}")
    except KeyboardInterrupt:
        print("\nbench/training_loop.py: interrupted, nothing written", file=sys.stderr)
        sys.exit(130)
