"""Pictures into vectors by any network that is an ONNX file, through ONNX Runtime.

    python3 -m pyimp.embedders.onnx model.onnx

needs the packages onnxruntime and Pillow. How pictures become the network's input is, in this order,
what the options say, what the model's metadata say (`imp.size`, `imp.resize`, `imp.mean`,
`imp.deviation`, `imp.input`, `imp.output`), what a `preprocessor_config.json` beside the model says (as
CLIP, DINOv2 and others come with), the network's own input size, and ImageNet's mean and deviation.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from typing import Any

import numpy as np

from ._protocol import serve
from ._version_of import version_of, with_external_data

MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)  # ImageNet's
FAVOURITES = ("image_embeds", "embedding", "embeddings", "pooler_output", "features")


def main(arguments: list[str] | None = None) -> None:
    given = _parse(arguments)
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = given.threads
    session = onnxruntime.InferenceSession(
        given.model, options, providers=["CPUExecutionProvider"]
    )
    settings = _settings(given, session)
    network = Network(session, settings)
    files = with_external_data(given.model)
    if os.path.exists(_config_beside(given.model)):
        files.append(_config_beside(given.model))
    name = given.name or os.path.splitext(os.path.basename(given.model))[0]
    serve(
        name,
        version_of(with_external_data(given.model), settings),
        network.dimensions,
        network.embed,
        batch=given.batch,
        files=files,
    )


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python3 -m pyimp.embedders.onnx",
        description="Pictures into vectors by a network, for imp --embedder",
    )
    add = parser.add_argument
    add("model", help="an ONNX file")
    add("--name", help="what the embedder is called (the file's name)")
    add("--input", help="the input that takes pictures (the first)")
    add("--output", help="the output that is the vector (one named like an embedding, or the first)")
    add("--size", type=int, help="side of the square that is cut from a picture's middle")
    add("--resize", type=int, help="what a picture's shorter side is made first (8/7 of the size)")
    add("--mean", type=_three, help="of the channels, R,G,B from 0 to 1")
    add("--deviation", type=_three, help="of the channels")
    add("--batch", type=int, default=32, help="pictures at a time, if the network takes several")
    add("--threads", type=int, default=0, help="0 is one per core")
    return parser.parse_args(arguments)


def _three(text: str) -> list[float]:
    values = [float(part) for part in text.split(",")]
    if len(values) == 1:
        values *= 3
    if len(values) != 3:
        raise argparse.ArgumentTypeError(f"'{text}' is no R,G,B")
    return values


def _config_beside(model: str) -> str:
    return os.path.join(os.path.dirname(os.path.abspath(model)), "preprocessor_config.json")


def _from_config(model: str) -> dict:
    """What a preprocessor_config.json beside the model says, in our words."""
    try:
        with open(_config_beside(model), encoding="utf-8") as file:
            config = json.load(file)
    except FileNotFoundError:
        return {}
    found: dict[str, Any] = {}
    size, crop = config.get("size"), config.get("crop_size")
    if isinstance(size, dict):
        size = size.get("shortest_edge", size.get("height"))
    if isinstance(crop, dict):
        crop = crop.get("height")
    if config.get("do_center_crop") and crop:
        found.update(size=int(crop), resize=int(size or crop))
    elif size:
        found.update(size=int(size), resize=int(size))
    if config.get("image_mean"):
        found["mean"] = [float(value) for value in config["image_mean"]]
    if config.get("image_std"):
        found["deviation"] = [float(value) for value in config["image_std"]]
    return found


def _from_metadata(session) -> dict:
    known = session.get_modelmeta().custom_metadata_map
    found = {}
    readers: dict[str, Any] = dict(
        size=int, resize=int, mean=_three, deviation=_three, input=str, output=str
    )
    for key, read in readers.items():
        if f"imp.{key}" in known:
            found[key] = read(known[f"imp.{key}"])
    return found


def _settings(given: argparse.Namespace, session) -> dict:
    chosen: dict[str, Any] = {"mean": list(MEAN), "deviation": list(DEVIATION)}
    chosen.update(_from_config(given.model))
    chosen.update(_from_metadata(session))
    for key in ("input", "output", "size", "resize", "mean", "deviation"):
        if getattr(given, key) is not None:
            chosen[key] = getattr(given, key)
    inputs = {node.name: node for node in session.get_inputs()}
    outputs = [node.name for node in session.get_outputs()]
    chosen.setdefault("input", next(iter(inputs)))
    if chosen["input"] not in inputs:
        sys.exit(f"the model has no input '{chosen['input']}'; it has {', '.join(inputs)}")
    chosen.setdefault("output", next((n for n in FAVOURITES if n in outputs), outputs[0]))
    if chosen["output"] not in outputs:
        sys.exit(f"the model has no output '{chosen['output']}'; it has {', '.join(outputs)}")
    shape = inputs[chosen["input"]].shape
    if len(shape) != 4 or (isinstance(shape[1], int) and shape[1] != 3):
        sys.exit(f"the input '{chosen['input']}' is {shape}; pictures are (N, 3, height, width)")
    own = shape[2] if isinstance(shape[2], int) and shape[2] == shape[3] else None
    chosen.setdefault("size", own or 224)
    if own and chosen["size"] != own:
        sys.exit(f"the network takes pictures of {own}x{own}, not {chosen['size']}")
    chosen.setdefault("resize", round(chosen["size"] * 8 / 7))
    if chosen["resize"] < chosen["size"]:
        sys.exit(f"--resize {chosen['resize']} is less than the size, {chosen['size']}")
    return chosen


class Network:
    """A network with what is done to pictures before it."""

    def __init__(self, session, settings: dict) -> None:
        self.session, self.settings = session, settings
        node = next(n for n in session.get_inputs() if n.name == settings["input"])
        self.one_by_one = node.shape[0] == 1
        self.mean = np.array(settings["mean"], np.float32).reshape(3, 1, 1)
        self.deviation = np.array(settings["deviation"], np.float32).reshape(3, 1, 1)
        size = settings["size"]
        self.dimensions = self._run(np.zeros((1, 3, size, size), np.float32)).shape[1]

    def _run(self, images: np.ndarray) -> np.ndarray:
        """(N, dimensions). Of a sequence of tokens the first is the vector, as of a vision
        transformer, and of a map the mean."""
        values = self.session.run([self.settings["output"]], {self.settings["input"]: images})[0]
        if values.ndim == 4:
            values = values.mean(axis=(2, 3))
        elif values.ndim == 3:
            values = values[:, 0]
        return values.reshape(len(images), -1)

    def embed(self, paths: list[str]) -> list:
        answers: list = [self._read(path) for path in paths]
        good = [i for i, answer in enumerate(answers) if not isinstance(answer, Exception)]
        step = 1 if self.one_by_one else max(len(good), 1)
        for first in range(0, len(good), step):
            part = good[first : first + step]
            for i, vector in zip(part, self._run(np.stack([answers[i] for i in part]))):
                answers[i] = vector
        return answers

    def _read(self, path: str) -> np.ndarray | Exception:
        from PIL import Image, ImageOps

        size, resize = self.settings["size"], self.settings["resize"]
        try:
            with Image.open(path) as file:
                image = ImageOps.exif_transpose(file).convert("RGB")
            scale = resize / min(image.size)
            wide, high = (max(size, round(side * scale)) for side in image.size)
            left, top = (wide - size) // 2, (high - size) // 2
            image = image.resize((wide, high), Image.Resampling.BICUBIC).crop(
                (left, top, left + size, top + size)
            )
        except Exception as error:
            return ValueError(f"it cannot be read as a picture: {error}")
        pixels = np.asarray(image, np.float32).transpose(2, 0, 1) / 255
        return (pixels - self.mean) / self.deviation


if __name__ == "__main__":
    main()
