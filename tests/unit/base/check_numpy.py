#!/usr/bin/env python3
"""Holds the library's .npy and safetensors files against NumPy's own, bit for bit.

usage: check_numpy.py FOLDER, where FOLDER holds the programs npy_roundtrip and
safetensors_roundtrip. Each loads a file made here and saves it again; what it saved is then read
without the library's help. Ends with status 1 and a sentence at the first difference.
"""
import hashlib
import json
import os
import struct
import subprocess
import sys
import tempfile

import numpy

CODES = {"F32": "<f4", "F64": "<f8", "I32": "<i4", "I64": "<i8", "U8": "|u1"}
MORE = ["<f2", "|i1", "<i2", "<u2", "|b1"]  # that .npy files may have, and safetensors not
SHAPES = [(), (0,), (1,), (7,), (3, 4), (0, 5), (4, 0, 2), (2, 3, 4, 5), (1, 2, 1, 2, 1, 2, 1, 3)]


def fail(sentence):
    sys.exit(f"check_numpy.py: {sentence}")


def run(program, source, target):
    done = subprocess.run([program, source, target], capture_output=True, text=True)
    if done.returncode != 0:
        fail(f"{os.path.basename(program)} refused {source}: {done.stderr.strip()}")


def refused(program, source, target, fragment):
    done = subprocess.run([program, source, target], capture_output=True, text=True)
    if done.returncode != 1 or fragment not in done.stderr or os.path.exists(target):
        fail(f"{source} should be refused with '{fragment}', not with status {done.returncode} "
             f"and '{done.stderr.strip()}'")


def random_array(generator, descr, shape):
    """Any bits at all, NaNs of every kind among them."""
    dtype = numpy.dtype(descr)
    count = int(numpy.prod(shape, dtype=numpy.int64))
    return numpy.frombuffer(generator.bytes(count * dtype.itemsize), dtype).reshape(shape)


def compare(found, expected, what):
    if found.dtype != expected.dtype or found.shape != expected.shape:
        fail(f"{what} became {found.dtype} of {found.shape}, "
             f"not {expected.dtype} of {expected.shape}")
    if found.tobytes() != expected.tobytes():
        fail(f"{what} came back with other bits")


def check_npy(program, folder):
    generator = numpy.random.default_rng(1)
    source, target = os.path.join(folder, "in.npy"), os.path.join(folder, "out.npy")
    checked = 0
    for descr in [*CODES.values(), *MORE]:
        for shape in SHAPES if descr not in MORE else SHAPES[3:5]:
            for version, order in (((1, 0), "C"), ((2, 0), "C"), ((1, 0), "F")):
                array = numpy.asarray(random_array(generator, descr, shape), order=order)
                with open(source, "wb") as file:
                    numpy.lib.format.write_array(file, array, version=version)
                run(program, source, target)
                what = f"{descr} of {shape} in {order} order, version {version[0]}"
                compare(numpy.load(target, allow_pickle=False), array, what)
                with open(target, "rb") as file:
                    numpy.lib.format.read_magic(file)
                    numpy.lib.format.read_array_header_1_0(file)
                    if file.tell() % 64 != 0:
                        fail(f"{what}: the data begins at {file.tell()}, no multiple of 64")
                checked += 1

    os.remove(target)
    for array, fragment in (
        (numpy.zeros(3, ">f4"), "big-endian"),
        (numpy.zeros(3, "<c8"), "not supported"),
        (numpy.zeros(3, "<U5"), "not supported"),
        (numpy.zeros(3, [("x", "<f4"), ("y", "<f4")]), "several fields"),
        (numpy.array([None]), "Python objects"),
        (numpy.zeros((1,) * 9, "<f4"), "more than 8 dimensions"),
    ):
        numpy.save(source, array, allow_pickle=True)
        refused(program, source, target, fragment)
        checked += 1
    return checked


def write_safetensors(path, tensors, note, padding):
    """As another program might: keys in another order, blanks, the data anywhere."""
    header, data = {}, b""
    for name, (code, array) in tensors.items():
        header[name] = {"shape": list(array.shape), "dtype": code,
                        "data_offsets": [len(data), len(data) + array.nbytes]}
        data += array.tobytes()
    header["__metadata__"] = {"note": note, "other": "x"}
    text = json.dumps(header).encode() + b" " * padding
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def read_safetensors(path):
    with open(path, "rb") as file:
        content = file.read()
    (length,) = struct.unpack("<Q", content[:8])
    if (8 + length) % 64 != 0:
        fail(f"the data of {path} begins at {8 + length}, no multiple of 64")
    header = json.loads(content[8 : 8 + length])
    if list(header)[:1] != ["__metadata__"]:
        fail(f"__metadata__ does not come first in {path}")
    metadata, data, tensors, end = header.pop("__metadata__"), content[8 + length :], {}, 0
    for name, entry in header.items():
        begin, after = entry["data_offsets"]
        if begin != end:
            fail(f"tensor {name} of {path} begins at {begin}, not where the last one ended")
        end = after
        array = numpy.frombuffer(data[begin:after], CODES[entry["dtype"]])
        tensors[name] = array.reshape(entry["shape"])
    if end != len(data):
        fail(f"{path} has bytes after its last tensor")
    return metadata, tensors


def checksum(metadata, tensors):
    """As tensor_checksum.h describes it."""
    text = b"".join(b"%s\0%s\0" % (key.encode(), value.encode())
                    for key, value in sorted(metadata.items(), key=lambda item: item[0].encode()))
    text += b"\0"
    codes = {numpy.dtype(descr): code for code, descr in CODES.items()}
    for name, array in sorted(tensors.items(), key=lambda item: item[0].encode()):
        shape = "".join(f"{length}," for length in array.shape)
        text += f"{name}\0{codes[array.dtype]}\0{shape}\0".encode() + array.tobytes()
    return hashlib.sha256(text).hexdigest()


def check_safetensors(program, folder):
    generator = numpy.random.default_rng(2)
    source = os.path.join(folder, "in.safetensors")
    target = os.path.join(folder, "out.safetensors")
    for padding in range(9):
        tensors = {}
        for code, descr in CODES.items():
            for shape in SHAPES:
                name = f"blocks.{len(tensors)}.\u00e9 \"{code}\"\n"
                tensors[name] = (code, random_array(generator, descr, shape))
        note = "a \"note\"\nwith \u20ac and \U0001f642"
        write_safetensors(source, tensors, note, padding)
        run(program, source, target)
        metadata, found = read_safetensors(target)
        stated = metadata.pop("sha256", None)
        if stated != checksum(metadata, found):
            fail(f"the checksum is {stated}, not {checksum(metadata, found)}")
        if metadata != {"note": note}:
            fail(f"the metadata came back as {metadata}")
        if list(found) != list(tensors):
            fail("the tensors came back in another order")
        for name, (_, array) in tensors.items():
            compare(found[name], array, f"tensor {name!r}")

        with open(target, "rb") as file:
            first = file.read()
        run(program, target, target)
        with open(target, "rb") as file:
            if file.read() != first:
                fail("the same tensors were saved as other bytes")
    return 9 * len(tensors)


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: check_numpy.py FOLDER")
    programs = [os.path.join(sys.argv[1], name) for name in ("npy_roundtrip",
                                                             "safetensors_roundtrip")]
    for program in programs:
        if not os.access(program, os.X_OK):
            fail(f"there is no program {program}")
    with tempfile.TemporaryDirectory(prefix="imp-test-") as folder:
        arrays = check_npy(programs[0], folder)
        tensors = check_safetensors(programs[1], folder)
    print(f"{arrays} .npy files and {tensors} tensors agree with NumPy {numpy.__version__}")


if __name__ == "__main__":
    main()
