#!/usr/bin/env python3
"""An update of MAML and of the graph network in imp and in PyTorch, in interleaved turns.

usage: bench/learners.py [--data NAME] [--rounds N] [--seconds S] [--threads N] [--only RECIPES]

The recipes are the paper's sizes on Omniglot; peers/learners.py says what each side does. Before the
clock starts, PyTorch takes over imp's first weights and episodes: loss and gradient of the first update
have to agree. The result goes to bench/results/learners.json, and its table into bench/README.md.
PyTorch 2 is PyPI's, in the environment that bench/run.py uses.
"""
import argparse
import contextlib
import datetime
import json
import os
import statistics
import sys

import page
from protocol import HERE, Peer, torch_python
from run import introduce, machine

ROOT = os.path.dirname(HERE)
RECIPES = {
    "omniglot-maml-5way": "MAML, second order, 5-way 1-shot: 32 tasks, 1 inner step",
    "omniglot-maml-20way": "MAML, second order, 20-way 1-shot: 16 tasks, 5 inner steps",
    "omniglot-graph-5way": "graph network, 5-way 1-shot: 300 graphs in 12 tasks",
}
WAYS = {"torch-tasks": "PyTorch, task by task", "torch-batched": "PyTorch, tasks in one batch"}
TOLERANCE = {"loss": 1e-4, "gradient_norm": 2e-3}


def differ(found):
    return max(abs(found["imp"][key] - found["torch"][key]) / abs(found["imp"][key]) / limit
               for key, limit in TOLERANCE.items()) > 1


def measure(recipe, peers, options):
    """One recipe: what the first update gave, and a row for each peer."""
    first = {}
    for way in WAYS:
        first[way] = peers[way].ask(f"check {recipe} {options.data}")
        exact = way == "torch-tasks" or "graph" not in recipe  # see peers/learners.py
        if exact and differ(first[way]):
            sys.exit(f"bench/learners.py: {recipe}: the first update of {way} is not imp's: {first[way]}")
    rounds = {name: [] for name in peers}
    for turn in range(options.rounds):
        order = list(peers)
        for name in order[turn % len(order):] + order[:turn % len(order)]:
            request = f"update {recipe} {options.data} {options.seconds} {options.threads}"
            rounds[name].append(peers[name].ask(request))
    rows = []
    for name, answers in rounds.items():
        ratios = [a["seconds"] / b["seconds"] for a, b in zip(answers, rounds["imp"])]
        rows.append({"peer": name, "seconds": statistics.median(a["seconds"] for a in answers),
                     "resident_mb": max(a["resident_mb"] for a in answers),
                     "peer_over_imp": statistics.median(ratios), "range": [min(ratios), max(ratios)]})
    return {"recipe": recipe, "first_update": first, "rows": rows, "rounds": rounds}


def table(result):
    lines = ["| an update of | imp, ms | " + " | ".join(f"{WAYS[way]}: ms, times imp's (least..most)"
                                                        for way in WAYS) + " |",
             "|---|---|---|---|"]
    for config in result["configurations"]:
        rows = {row["peer"]: row for row in config["rows"]}
        cells = [RECIPES[config["recipe"]], f"{rows['imp']['seconds'] * 1e3:.1f}"]
        for way in WAYS:
            row = rows[way]
            cells.append(f"{row['seconds'] * 1e3:.0f}, **{row['peer_over_imp']:.1f}** "
                         f"({row['range'][0]:.1f}..{row['range'][1]:.1f})")
        lines.append("| " + " | ".join(cells) + " |")
    lines += ["", f"{result['machine']['cpu']}, {result['threads']} threads; "
              f"{result['rounds']} rounds on {result['date'][:10]}; {result['peers']['torch-tasks']}."]
    return "\n".join(lines)


def kept_of(path, recipes):
    """The other recipes that the file has already."""
    try:
        with open(path, encoding="utf-8") as f:
            return [c for c in json.load(f)["configurations"] if c["recipe"] not in recipes]
    except FileNotFoundError:
        return []


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--data", default="glyphs")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--only", default=",".join(RECIPES),
                        help="recipes, separated by commas; the file keeps the others")
    parser.add_argument("--library", default=os.path.join(ROOT, "build/release/lib/libimp.so"))
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "bench"))
    parser.add_argument("--output", default=os.path.join(HERE, "results", "learners.json"))
    options = parser.parse_args()
    recipes = options.only.split(",")
    if not all(recipe in RECIPES for recipe in recipes):
        parser.error("--only is a list of " + ", ".join(RECIPES))
    here = machine()
    introduce(here)
    python, where = torch_python(options.build)
    print(f"PyTorch is {where}")
    program = os.path.join(HERE, "peers", "learners.py")
    settings = {"IMP_LIBRARY": os.path.abspath(options.library), "PYTHONPATH": os.path.join(ROOT, "python")}
    configs, hellos = [], {}
    for recipe in recipes:
        with contextlib.ExitStack() as stack:
            peers = {name: stack.enter_context(Peer(
                [python, program, name] + (["--tuned"] if name != "imp" else []), settings))
                for name in ["imp", *WAYS]}
            hellos = {name: peer.hello["version"] for name, peer in peers.items()}
            configs.append(measure(recipe, peers, options))
        for row in configs[-1]["rows"]:
            low, high = row["range"]
            print(f"  {recipe:22}{row['peer']:16}{row['seconds'] * 1e3:9.1f} ms"
                  f"{row['peer_over_imp']:8.2f}  ({low:.2f}..{high:.2f})", flush=True)
    configs += kept_of(options.output, recipes)
    result = {
        "command": " ".join(["bench/learners.py"] + [
            a.split(":")[0] if ":" in a else a for a in sys.argv[1:]]),
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "data": options.data.split(":")[0], "machine": here, "peers": hellos, "threads": options.threads,
        "rounds": options.rounds, "seconds": options.seconds,
        "configurations": sorted(configs, key=lambda c: list(RECIPES).index(c["recipe"])),
    }
    with open(options.output, "w", encoding="utf-8") as f:
        json.dump(result, f, indent=1)
        f.write("\n")
    if os.path.dirname(os.path.abspath(options.output)) == os.path.join(HERE, "results"):
        page.put("learners.json", table(result))
    print(f"written: {os.path.relpath(options.output)}")


if __name__ == "__main__":
    main()
