#!/usr/bin/env python3
"""Draw docs/idea.svg: two classes, one with three modes, as prototypes and IMP see them.

    docs/idea.py build/release/bin/imp docs/idea.svg

The clusters and the answers come from `imp classify`. A region is the set of points whose nearest
cluster belongs to the class. Needs NumPy.
"""

import json
import subprocess
import sys
import tempfile

import numpy as np

WIDTH, HEIGHT, GAP, TOP, BOTTOM = 400, 300, 24, 34, 62
SCALE = 8  # pixels per unit
INK = ["#2166ac", "#d6604d"]
REGION = ["#dbe9f4", "#fbe3db"]
# The modes of the two classes, in pixels. The mean of class 0 falls next to class 1.
PLACES = [(0, 75, 75), (0, 335, 95), (0, 165, 250), (1, 215, 145)]
SHOTS, QUERIES, SPREAD = 5, 12, 15


def draw_points(random, count):
    points = [random.normal((x, y), SPREAD, (count, 2)) for _, x, y in PLACES]
    return np.concatenate(points), np.repeat([c for c, _, _ in PLACES], count)


def classify(imp, folder, method):
    command = [imp, "classify", "--json", "--preset", "paper", "--method", method]
    for name in ("support", "labels", "query"):
        command += [f"--{name}", f"{folder}/{name}.npy"]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def nearer(polygon, mean, other):
    """The part of a convex polygon that is nearer to `mean` than to `other`."""
    normal = other - mean
    side = (polygon - (mean + other) / 2) @ normal
    kept = []
    for i in range(len(polygon)):
        j = (i + 1) % len(polygon)
        if side[i] <= 0:
            kept.append(polygon[i])
        if (side[i] < 0) != (side[j] < 0):
            kept.append(polygon[i] + (polygon[j] - polygon[i]) * side[i] / (side[i] - side[j]))
    return np.array(kept)


def panel(found, support, labels, query, truth, title):
    means = [np.array(c["mean"]) * SCALE for c in found["clusters"]]
    classes = [c["label"] for c in found["clusters"]]
    out = [f'<text x="{WIDTH / 2:g}" y="-12" class="title">{title}</text>']
    for mean, label in zip(means, classes):
        cell = np.array([(0, 0), (WIDTH, 0), (WIDTH, HEIGHT), (0, HEIGHT)], dtype=float)
        for other in means:
            if other is not mean:
                cell = nearer(cell, mean, other)
        corners = " ".join(f"{x:.1f},{y:.1f}" for x, y in cell)
        out.append(f'<polygon points="{corners}" fill="{REGION[label]}" stroke="{REGION[label]}"/>')
    wrong = 0
    for (x, y), label, answer in zip(query, truth, found["predictions"]):
        out.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.6" fill="{INK[label]}"/>')
        if answer != label:
            wrong += 1
            out.append(f'<path d="M{x - 4:.1f} {y - 4:.1f}l8 8m0-8l-8 8" class="wrong"/>')
    for (x, y), label in zip(support, labels):
        out.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{INK[label]}" class="labelled"/>')
    for (x, y), label in zip(means, classes):
        out.append(f'<path d="M{x:.1f} {y - 10:.1f}l10 10l-10 10l-10 -10z" fill="{INK[label]}" '
                   'class="mean"/>')
    right = f"{len(truth) - wrong} of {len(truth)} queries right"
    out.append(f'<text x="{WIDTH / 2:g}" y="{HEIGHT + 22}" class="result">{right}</text>')
    out.append(f'<rect width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="#888"/>')
    return out


def legend(left, top):
    marks = [
        (0, f'<circle cx="0" cy="0" r="5" fill="{INK[0]}" class="labelled"/>', "labelled"),
        (95, f'<circle cx="0" cy="0" r="2.6" fill="{INK[0]}"/>', "query"),
        (170, '<path d="M-4 -4l8 8m0-8l-8 8" class="wrong"/>', "wrong answer"),
        (300, f'<path d="M0 -10l10 10l-10 10l-10 -10z" fill="{INK[0]}" class="mean"/>',
         "mean of a cluster"),
    ]
    return [f'<g transform="translate({left + x} {top})">{mark}'
            f'<text x="16" y="4.5" class="note">{text}</text></g>' for x, mark, text in marks]


def main():
    imp, path = sys.argv[1:]
    random = np.random.default_rng(4)
    support, labels = draw_points(random, SHOTS)
    query, truth = draw_points(random, QUERIES)
    panels = []
    with tempfile.TemporaryDirectory() as folder:
        np.save(f"{folder}/support.npy", (support / SCALE).astype(np.float32))
        np.save(f"{folder}/labels.npy", labels)
        np.save(f"{folder}/query.npy", (query / SCALE).astype(np.float32))
        for method, title in (("prototypes", "Prototypes: one mean for each class"),
                              ("imp", "IMP: as many clusters as the data needs")):
            panels.append(panel(classify(imp, folder, method), support, labels, query, truth, title))
    width, height = 2 * WIDTH + 3 * GAP, TOP + HEIGHT + BOTTOM
    svg = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
           f'width="{width}" height="{height}" font-family="sans-serif">',
           "<style>.title{font-size:17px;text-anchor:middle}"
           ".result{font-size:15px;text-anchor:middle}.note{font-size:13px}"
           ".labelled,.mean{stroke:#fff;stroke-width:1.5}"
           ".wrong{stroke:#000;stroke-width:1.6;fill:none}</style>",
           f'<rect width="{width}" height="{height}" fill="#fff"/>']
    for i, lines in enumerate(panels):
        left = GAP + i * (WIDTH + GAP)
        svg += [f'<g transform="translate({left} {TOP})">', *lines, "</g>"]
    svg += legend(width / 2 - 225, height - 16)
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(svg) + "\n</svg>\n")


if __name__ == "__main__":
    main()
