#!/usr/bin/env python3
"""Compares what README.md states with the result files, and looks where links lead.

    check_docs.py figures|links|promises|idea ROOT [IMP]

figures: every accuracy stands in results/omniglot/README.md, which `imp paper` writes from the result
files, every share of cases in results/vectors/README.md, and every speed follows from bench/results.
links: what a page links to, or shows, is there.
promises: the tests that docs/guarantees.md names are there.
idea: docs/idea.py finds the answers that docs/idea.svg shows.
"""

import json
import os
import re
import subprocess
import sys
import tempfile

PEERS = ["torch2-nchw", "torch2-best", "torch2-compiled-tuned", "onednn-best"]


def rows(text, heading):
    """The rows of the first table after a heading, without the table's head."""
    section = text.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    table = [line for line in section.splitlines() if line.startswith("|")]
    return section, [[cell.strip() for cell in line.strip("|").split("|")] for line in table[2:]]


def check_accuracies(readme, root):
    with open(os.path.join(root, "results/omniglot/README.md"), encoding="utf-8") as file:
        found = set()
        for line in file:
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            found.add(tuple(cells[:4]))  # setting, method, the paper's, ours
    _, table = rows(readme, "Results")
    setting = ""
    for cells in table:
        setting = cells[0] or setting
        method, ours, paper = cells[1:]
        # a setting may say what its table's title says, and then end as in the table
        names = (setting, setting.rsplit(", ", 1)[-1])
        if not any((name, method, paper, ours) in found for name in names):
            sys.exit(f"README.md: no result says '{setting}, {method}: {ours}, the paper's {paper}'")
    return len(table)


def check_vectors(readme, root):
    with open(os.path.join(root, "results/vectors/README.md"), encoding="utf-8") as file:
        lines = [[cell.strip() for cell in line.strip("|\n").split("|")] for line in file if line.startswith("| ")]
    section = readme.split("\n## Vectors\n")[1].split("\n## ")[0]
    head = [cell.strip() for cell in section.split("\n|")[1].strip("|").split("|")]
    _, table = rows(readme, "Vectors")
    for cells in [head] + table:
        if cells not in [[line[0], line[2], line[4]] for line in lines if len(line) == 5]:
            sys.exit(f"README.md: results/vectors/README.md does not say '{' | '.join(cells)}'")
    return len(table)


def speeds(root, isa):
    """imp's speed over the peers', by what is measured."""
    with open(os.path.join(root, f"bench/results/conv4-{isa}.json"), encoding="utf-8") as file:
        configurations = json.load(file)["configurations"]
    found = {}
    for c in configurations:
        what = {"train": "training step", "eval": "evaluation"}[c["what"]]
        name = f"{what}, {c['n']} images of {c['c']}x{c['h']}x{c['w']}"
        ratios = {row["peer"]: row.get("imp_over_peer") for row in c["rows"]}
        if c["threads"] == 2:
            found[name] = [f"{ratios[peer]:.1f}" for peer in PEERS]
    return found


def check_speeds(readme, root):
    wide, narrow = speeds(root, "avx512"), speeds(root, "avx2")
    found = {name: [f"{a} / {b}" for a, b in zip(wide[name], narrow[name])] for name in wide}
    section, table = rows(readme, "Speed")
    for name, *ratios in table:
        if found.get(name) != ratios:
            sys.exit(f"README.md: '{name}' is {ratios}, and {found.get(name)} in the result file")
    with open(os.path.join(root, "bench/results/time-to-accuracy.json"), encoding="utf-8") as file:
        timed = json.load(file)
    minutes = re.search(r"takes ([\d.]+) minutes", section)[1]
    expected = f"{timed['imp']['reached']['seconds'] / 60:.1f}"
    if minutes != expected:
        sys.exit(f"README.md: {minutes} minutes are {expected} in the result file")
    return len(table)


def check_figures(root):
    with open(os.path.join(root, "README.md"), encoding="utf-8") as file:
        readme = file.read()
    checks = (check_accuracies, check_vectors, check_speeds)
    if not all(check(readme, root) > 0 for check in checks):
        sys.exit("README.md has an empty table")


def check_links(root):
    pages = subprocess.run(["git", "-C", root, "ls-files", "*.md"], stdout=subprocess.PIPE, text=True,
                           check=False).stdout.split()
    if not pages:  # not a clone
        pages = ["README.md"] + [f"docs/{name}" for name in os.listdir(os.path.join(root, "docs"))
                                 if name.endswith(".md")]
    broken, links = [], 0
    for page in pages:
        path = os.path.join(root, page)
        with open(path, encoding="utf-8") as file:
            text = re.sub(r"```.*?```", "", file.read(), flags=re.DOTALL)
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
            if not re.match(r"[a-z]+:", target):
                links += 1
                if not os.path.exists(os.path.join(os.path.dirname(path), target)):
                    broken.append(f"{page} links to {target}, which is not there")
    if broken or links == 0:
        sys.exit("\n".join(broken) or "no page has a link")


def check_promises(root):
    with open(os.path.join(root, "docs/guarantees.md"), encoding="utf-8") as file:
        page = file.read()
    files = {"unit": "tests/unit/{}/test_{}.c", "cli": "tests/cli/{}.bats", "python": "python/tests/test_{1}.py"}
    named = set(re.findall(r"`(unit|cli|python)/([a-z_]+)(?:/([a-z_]+))?`", page))
    for kind, *rest in sorted(named):
        path = files[kind].format(*rest)
        if not os.path.exists(os.path.join(root, path)):
            sys.exit(f"docs/guarantees.md names {kind}/{'/'.join(filter(None, rest))}, but there is no {path}")
    if len(named) < 30:
        sys.exit(f"docs/guarantees.md names only {len(named)} tests")


def check_idea(root, imp):
    def answers(path):
        with open(path, encoding="utf-8") as file:
            return re.findall(r"\d+ of \d+ queries right", file.read())

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "idea.svg")
        subprocess.run([sys.executable, os.path.join(root, "docs/idea.py"), imp, path], check=True)
        found, expected = answers(path), answers(os.path.join(root, "docs/idea.svg"))
    if found != expected or len(found) != 2:
        sys.exit(f"docs/idea.svg says {expected}; docs/idea.py finds {found}")
    with open(os.path.join(root, "README.md"), encoding="utf-8") as file:
        alt = re.search(r"!\[([^]]*)\]\(docs/idea\.svg\)", file.read()).group(1)
    if found[0].replace(" right", "") not in alt:
        sys.exit(f"README.md describes docs/idea.svg as '{alt}'; it shows {found[0]}")


if __name__ == "__main__":
    what, root, *rest = sys.argv[1:]
    {"figures": check_figures, "links": check_links, "promises": check_promises, "idea": check_idea}[what](root, *rest)
