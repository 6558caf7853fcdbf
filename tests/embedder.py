#!/usr/bin/python3
"""An embedder for tests: how often each letter occurs in a file, in 26 dimensions.

It follows docs/embedders.md by itself, without pyimp, and misbehaves where it is told to:

    embedder.py [--version V] [--batch N] [--log FILE] [--files FILE]
                [--hello TEXT] [--crash PART] [--hang PART] [--short PART] [--long PART]
                [--garbage PART] [--error PART] [--nan PART]

A PART is a part of the path on which it happens; --log gets a line for each start and each file.
"""
import argparse
import json
import os
import signal
import struct
import sys
import time

parser = argparse.ArgumentParser()
for option in ("version", "batch", "log", "files", "hello", "crash", "hang", "short", "long",
               "garbage", "error", "nan"):
    parser.add_argument("--" + option)
given = parser.parse_args()
out = sys.stdout.buffer


def log(line):
    if given.log:
        with open(given.log, "a", encoding="utf-8") as file:
            file.write(line + "\n")


def matches(part, path):
    return part is not None and part in path


def record(kind, body):
    out.write(struct.pack("<cI", kind, len(body)) + body)


def answer(path):
    log("file " + os.path.basename(path))
    if matches(given.crash, path):
        out.flush()
        os.kill(os.getpid(), signal.SIGSEGV)
    if matches(given.hang, path):
        out.flush()
        time.sleep(1000)
    if matches(given.garbage, path):
        out.write(b"hello, world, this is no record")
        return
    if matches(given.error, path):
        record(b"e", b"it is not to my\nliking")
        return
    with open(path, "rb") as file:
        data = file.read().lower()
    vector = [float(data.count(b"abcdefghijklmnopqrstuvwxyz"[i:i + 1])) for i in range(26)]
    if matches(given.nan, path):
        vector[3] = float("nan")
    if matches(given.short, path):
        vector = vector[:-1]
    if matches(given.long, path):
        vector.append(0.0)
    record(b"v", struct.pack("<%df" % len(vector), *vector))


log("start")
greeting = {"imp-embedder": 1, "name": "letters", "version": given.version or "1",
            "dimensions": 26, "batch": int(given.batch or 4)}
if given.files:
    greeting["files"] = [os.path.abspath(given.files)]
out.write((given.hello if given.hello is not None else json.dumps(greeting)).encode() + b"\n")
out.flush()
while True:
    line = sys.stdin.buffer.readline()
    if not line:
        break
    count = int(line.split()[1])
    paths = []
    for _ in range(count):
        path = b""
        while True:
            byte = sys.stdin.buffer.read(1)
            if byte == b"\0":
                break
            path += byte
        paths.append(os.fsdecode(path))
    for path in paths:
        answer(path)
    out.flush()
