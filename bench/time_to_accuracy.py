#!/usr/bin/python3
"""Time to 90% test accuracy: imp and PyTorch train on the same episodes. bench/README.md explains it.

Both train in turns of 100 updates, each alone. Between turns the clock is stopped and `imp eval` tests
both models on the same test episodes. An interrupted run continues when it is started again.
"""

import argparse
import datetime
import json
import os
import shutil
import signal
import subprocess
import sys

from protocol import HERE, PYTHON
from run import introduce, machine, package_versions, progress

ROOT = os.path.dirname(HERE)
RECIPE = os.path.join(ROOT, "recipes", "omniglot-alphabets.recipe")
PACKAGES = ["python3-torch", "libdnnl2", "libopenblas0-openmp", "libgomp1", "libc6", "gcc"]
MOST_UPDATES = 4000  # from there on the recipe halves the learning rate
CHECKED_UPDATES, TOLERANCE = 3, 1e-4


def run(command):
    """A command's output. Its messages are for the reader; a failure ends everything."""
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit(f"bench/time_to_accuracy.py: '{' '.join(command)}' failed")
    return done.stdout


class Imp:
    """`imp train`, resumed for every turn. Its log knows the time of all updates so far."""

    title = "imp"

    def __init__(self, folder, options):
        self.folder, self.options = os.path.join(folder, "imp"), options
        self.model = os.path.join(self.folder, "model.safetensors")

    def log(self):
        with open(os.path.join(self.folder, "log.jsonl")) as f:
            return [json.loads(line) for line in f]

    def train(self, updates):
        """Makes updates until there are so many; the seconds that all of them took."""
        options = self.options
        command = [options.imp, "train", "--quiet", "--threads", str(options.threads),
                   "--updates", str(updates)]
        if os.path.exists(self.folder):
            run(command + ["--resume", self.folder])
        else:
            run(command + ["--out", self.folder, "--recipe", RECIPE, "--data", options.pack,
                           "--seed", str(options.seed), "--validate-every", "0",
                           "--log-every", "1"])
        return self.log()[-1]["seconds"] if updates else 0

    def losses(self):
        return [line["loss"] for line in self.log()]

    def version(self):
        return run([self.options.imp, "--version"]).strip()


class Torch:
    """peers/train_torch.py, from imp's first weights and on imp's episodes."""

    title = "PyTorch"

    def __init__(self, folder, options):
        self.folder, self.options = os.path.join(folder, "torch"), options
        self.initial = Imp(os.path.join(folder, "initial"), options)
        self.model = os.path.join(self.folder, "model.safetensors")
        self.answer = None

    def train(self, updates):
        options = self.options
        if not os.path.exists(self.initial.model):
            self.initial.train(0)
        episodes = os.path.join(options.work, "episodes.jsonl")
        first = max(0, updates - options.turn)
        run([options.imp, "episode", "draw", options.pack, "--save", episodes, "--index", str(first),
             "--count", str(updates - first), "--seed", str(options.seed), *options.episodes])
        self.answer = json.loads(run(
            [PYTHON, os.path.join(HERE, "peers", "train_torch.py"), "--pack", options.pack,
             "--episodes", episodes, "--initial", self.initial.model, "--run", self.folder,
             "--updates", str(updates), "--threads", str(options.threads)]))
        return self.answer["seconds"]

    def losses(self):
        return self.answer["losses"]

    def version(self):
        return self.answer["version"]


def judge(model, options):
    """Accuracy in test episodes, batch norm with running statistics."""
    report = json.loads(run([options.imp, "eval", "--model", model, "--data", options.pack,
                             "--episodes", str(options.test_episodes), "--quiet", "--json",
                             "--threads", str(options.threads)]))
    accuracy = report["results"][0]["accuracy"]
    return accuracy["mean"], accuracy["interval"]


def check(options):
    """Do both compute the same? Their first losses are those of the same weights on the same episode."""
    folder = os.path.join(options.work, "check")
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    losses = {}
    for side in (Imp(folder, options), Torch(folder, options)):
        side.train(CHECKED_UPDATES)
        losses[side.title] = side.losses()
        print(f"{side.title:9}losses of the first updates: "
              + ", ".join(f"{loss:.6f}" for loss in losses[side.title]), flush=True)
    first = [values[0] for values in losses.values()]
    if abs(first[0] - first[1]) > TOLERANCE * first[0]:
        sys.exit("bench/time_to_accuracy.py: the two do not compute the same loss")
    shutil.rmtree(folder)
    return losses


def reached(points, goal):
    return next((point for point in points if point["accuracy"] >= goal), None)


def compete(options, state, state_file):
    """Turns until both are there; every point is on disk before the next turn begins."""
    sides = (Imp(options.work, options), Torch(options.work, options))
    curves = state["curves"]
    for updates in range(options.turn, options.most + 1, options.turn):
        for side in sides:
            points = curves.setdefault(side.title, [])
            if reached(points, options.goal) or any(p["updates"] >= updates for p in points):
                continue
            progress(f"{side.title}: training to update {updates}")
            seconds = side.train(updates)
            state["versions"][side.title] = side.version()
            progress(f"{side.title}: testing after {updates} updates")
            accuracy, interval = judge(side.model, options)
            points.append({"updates": updates, "seconds": seconds, "accuracy": accuracy,
                           "interval": interval})
            write(state_file, state)
            progress("")
            print(f"{side.title:9}{updates:>5} updates {seconds:>9.1f} s   "
                  f"{100 * accuracy:.2f}% ± {100 * interval:.2f}", flush=True)
        if all(reached(curves[side.title], options.goal) for side in sides):
            break


def summarize(options, curves):
    """When each side reached the goal, and how many times imp's time PyTorch took."""
    summary = {}
    for title, points in curves.items():
        point = reached(points, options.goal)
        last = points[-1]
        summary[title] = {"reached": point,
                          "seconds_per_update": last["seconds"] / last["updates"]}
        print(f"{title:9}{1000 * summary[title]['seconds_per_update']:.1f} ms per update; "
              + (f"{100 * options.goal:.0f}% after {point['updates']} updates, "
                 f"{point['seconds']:.1f} s" if point else "the goal was not reached"))
    imp, torch = (summary[title] for title in (Imp.title, Torch.title))
    summary["torch_over_imp_per_update"] = torch["seconds_per_update"] / imp["seconds_per_update"]
    if imp["reached"] and torch["reached"]:
        summary["torch_over_imp"] = torch["reached"]["seconds"] / imp["reached"]["seconds"]
        print(f"time to {100 * options.goal:.0f}%: PyTorch takes "
              f"{summary['torch_over_imp']:.2f} times as long")
    return summary


def write(path, result):
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    with open(path + ".part", "w") as f:
        json.dump(result, f, indent=1)
        f.write("\n")
    os.replace(path + ".part", path)


def begin(options, path):
    """The state of an interrupted run with the same settings, or a new one's."""
    settings = {key: getattr(options, key)
                for key in ("seed", "threads", "goal", "turn", "most", "test_episodes")}
    if os.path.exists(path):
        with open(path) as f:
            state = json.load(f)
        if state["settings"] != settings:
            sys.exit(f"bench/time_to_accuracy.py: {options.work} holds a run with other settings; "
                     "finish it with them, or remove it")
        print("going on with the run in " + os.path.relpath(options.work))
        return state
    here = machine()
    introduce(here)
    for name in ("imp", "torch", "initial"):
        shutil.rmtree(os.path.join(options.work, name), ignore_errors=True)
    state = {"settings": settings, "machine": here, "versions": {}, "curves": {},
             "first_losses": check(options)}
    write(path, state)
    return state


def recipe_episodes():
    """The recipe's episodes as `imp episode draw` is told them."""
    with open(RECIPE) as f:
        lines = [line.partition("#")[0].partition("=") for line in f]
    settings = {name.strip(): value.strip() for name, _, value in lines if value}
    assert settings["task"] == "alphabets"
    words = ["--kind", "super-classes"]
    for name in ("rotations", "way", "modes", "shot", "queries"):
        words += ["--" + name, settings[name]]
    return words


def parse():
    shared = os.environ.get("IMP_SHARED", os.path.join(ROOT, "..", "shared"))
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--omniglot", default=os.path.join(shared, "data", "omniglot"),
                        help="folder of its two zips and the split")
    parser.add_argument("--goal", type=float, default=0.9, help="test accuracy")
    parser.add_argument("--turn", type=int, default=100, help="updates from test to test")
    parser.add_argument("--test-episodes", type=int, default=100)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1, help="of weights and training episodes")
    parser.add_argument("--quick", action="store_true",
                        help="two short turns, to see that everything works")
    parser.add_argument("--imp", default=os.path.join(ROOT, "build", "release", "bin", "imp"))
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "bench"))
    parser.add_argument("--output", help="result file; default bench/results/time-to-accuracy.json, "
                        "or the same in build/bench for a quick run")
    options = parser.parse_args()
    options.most = MOST_UPDATES
    if options.quick:
        options.turn, options.most, options.test_episodes = 3, 6, 5
    if min(options.turn, options.test_episodes, options.threads) < 1 or not 0 < options.goal <= 1:
        parser.error("--turn, --test-episodes and --threads must be positive, and --goal above 0 "
                     "and at most 1")
    name = "time-to-accuracy"
    options.imp = os.path.abspath(options.imp)
    options.work = os.path.join(os.path.abspath(options.build),
                                name + ("-quick" if options.quick else ""))
    options.pack = os.path.join(options.work, "omniglot.pack")
    options.episodes = recipe_episodes()
    folder = options.build if options.quick else os.path.join(HERE, "results")
    options.output = options.output or os.path.join(folder, name + ".json")
    return options


def main():
    options = parse()
    os.makedirs(options.work, exist_ok=True)
    if not os.path.exists(options.pack):
        run([options.imp, "data", "pack", "omniglot:" + options.omniglot, options.pack])
    state_file = os.path.join(options.work, "state.json")
    state = begin(options, state_file)
    compete(options, state, state_file)
    about = json.loads(run([options.imp, "data", "info", options.pack, "--json"]))
    arguments = [os.path.relpath(a, ROOT) if a.startswith("/") else a for a in sys.argv[1:]]
    write(options.output, {
        "command": " ".join(["bench/time_to_accuracy.py"] + arguments),
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "data": about["fingerprint"], "recipe": os.path.relpath(RECIPE, ROOT),
        "packages": package_versions(PACKAGES), **state, **summarize(options, state["curves"]),
    })
    print(f"written: {os.path.relpath(options.output)}")
    shutil.rmtree(options.work)


if __name__ == "__main__":
    # End the command that runs, too.
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    try:
        main()
    except KeyboardInterrupt:
        print("\nbench/time_to_accuracy.py: interrupted; start it again to go on", file=sys.stderr)
        sys.exit(130)
