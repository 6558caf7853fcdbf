#!/usr/bin/python3
"""One line per thing that must keep its bits: digest.py FOLDER, where same_bits.bats left its files.

Tensors count by their values, not by their names, and figures by their values wherever in the JSON
they stand: files of older versions give the same lines.
"""
import hashlib
import json
import pathlib
import struct
import sys


def digest(*parts):
    whole = hashlib.sha256()
    for part in parts:
        whole.update(part if isinstance(part, bytes) else repr(part).encode())
    return whole.hexdigest()[:16]


def tensors(path):
    """Values of a safetensors file's tensors, as a sorted list of digests."""
    data = path.read_bytes()
    size, = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + size])
    header.pop("__metadata__", None)
    return sorted(digest(data[8 + size + t["data_offsets"][0]:8 + size + t["data_offsets"][1]])
                  for t in header.values())


def number(value):
    """A number, or the mean of an interval; None of anything else."""
    value = value.get("mean") if isinstance(value, dict) else value
    return value if isinstance(value, float) else None


def figures(value, names):
    """All numbers, or means, that have one of these names, in order."""
    if isinstance(value, dict):
        return [f for k, v in value.items()
                for f in ([number(v)] if k in names and number(v) is not None else figures(v, names))]
    return [f for v in value for f in figures(v, names)] if isinstance(value, list) else []


def numbered(assignments):
    """Clusters by who is together, whatever their numbers are."""
    numbers = {}
    return [numbers.setdefault(a, len(numbers)) for a in assignments]


folder = pathlib.Path(sys.argv[1])
for path in sorted(folder.glob("*/model.safetensors")):
    print("training", path.parent.name, digest(*tensors(path)))
for path in sorted(folder.glob("eval-*.json")):
    print("evaluation", path.stem[5:], digest(*figures(json.loads(path.read_text()), ["accuracy", "loss"])))
for path in sorted(folder.glob("clusters-*.json")):
    found = json.loads(path.read_text())
    print("clustering", path.stem[9:],
          digest(numbered(found["assignments"]), sorted(found["means"])))
