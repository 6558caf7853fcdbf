"""Pictures into vectors, by a network that `imp train` made."""

from __future__ import annotations

import json
import math
import os
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from . import _parameters
from ._library import address, call, create, library
from ._safetensors import Safetensors


class Embedding:
    """A trained network, frozen: called with pictures, it gives their embeddings.

    A picture's embedding does not depend on the pictures beside it. Any number of threads may use
    one embedding at once. A pickle holds the path only.

    Parameters
    ----------
    path : path-like
        A model file.
    threads : int, default=0
        To use; 0 is as many as the machine offers. The bits do not depend on it.

    Attributes
    ----------
    channels, height, width : int
        Of a picture.
    dimensions : int
        Of an embedding.
    inverted : bool
        Whether the network was trained on inverted pictures (ink high, paper low).
    mixture_parameters : dict
        What the training learned or used of `alpha`, `sigma_l` and `sigma_u`, for
        `InfiniteMixturePrototypes(**embedding.mixture_parameters)`; empty for a file of a
        network alone.
    """

    def __init__(self, path: str | os.PathLike, threads: int = 0) -> None:
        self.path = os.path.abspath(path)
        self.threads = _parameters.count(threads, "threads")
        with open(self.path, "rb") as file:
            data = file.read()
        network = create(
            library.imp_network_free,
            library.imp_network_load,
            os.fsencode(self.path),
            None,
            None,
        )
        self._encoder = create(library.imp_encoder_free, library.imp_encoder_create, network)
        options = library.imp_network_options_of(network).contents
        self.channels, self.height, self.width = options.channels, options.height, options.width
        self.dimensions = library.imp_encoder_output_size(self._encoder)
        model = Safetensors(data)
        self.inverted = json.loads(model.metadata.get("preprocessing", "{}")).get("inverted", False)
        self.mixture_parameters = _mixture_parameters(model)

    @classmethod
    def load(cls, path: str | os.PathLike, threads: int = 0) -> Embedding:
        """Reads a model file, as `InfiniteMixturePrototypes.load` reads a mixture."""
        return cls(path, threads)

    def __call__(self, images: ArrayLike) -> np.ndarray:
        """Embeds pictures.

        Parameters
        ----------
        images : array-like
            Of the shape (n, channels, height, width) or (n, height, width, channels), or (n,
            height, width) for a network of one channel. Bytes (uint8) are pictures as they are in
            files: they are scaled to 0 .. 1 and inverted if the network was trained so. Floats are
            the network's input and taken as they are, without a copy if they are 32-bit, channels
            first and contiguous.

        Returns
        -------
        ndarray of shape (n, dimensions), float32
        """
        images = self._as_input(np.asarray(images))
        embeddings = np.empty((len(images), self.dimensions), np.float32)
        call(
            library.imp_encoder_encode,
            self._encoder,
            address(images),
            len(images),
            self.threads,
            address(embeddings),
        )
        return embeddings

    def _as_input(self, images: np.ndarray) -> np.ndarray:
        """(n, channels, height, width) floats."""
        channels, height, width = self.channels, self.height, self.width
        if images.shape[1:] == (height, width) and channels == 1:
            images = images[:, np.newaxis]
        elif images.shape[1:] == (height, width, channels) != (channels, height, width):
            images = np.moveaxis(images, -1, 1)
        elif images.shape[1:] != (channels, height, width):
            raise ValueError(
                f"the images have the shape {images.shape}; the model takes (n, {channels}, "
                f"{height}, {width}): channels, height and width"
            )
        if images.dtype == np.uint8:
            images = np.divide(
                ~images if self.inverted else images, np.float32(255), dtype=np.float32
            )
        elif images.dtype.kind != "f":
            raise ValueError(
                f"the images are {images.dtype}; they are uint8, from 0 to 255, or floats, from 0 "
                "to 1"
            )
        return np.ascontiguousarray(images, np.float32)

    def __reduce__(self) -> tuple:
        return type(self), (self.path, self.threads)

    def __repr__(self) -> str:
        return (
            f"<{type(self).__name__} of {self.channels}x{self.height}x{self.width} in "
            f"{self.dimensions} dimensions, {self.path}>"
        )


def _mixture_parameters(model: Safetensors) -> dict[str, Any]:
    if "settings" not in model.metadata:
        return {}
    parameters = {"alpha": json.loads(model.metadata["settings"])["alpha"]}
    for name in ("sigma_l", "sigma_u"):
        for tensor in (f"method.log_{name}", "method.log_sigma"):
            logarithm = model.tensor(tensor)
            if logarithm is not None:
                parameters[name] = math.exp(logarithm)
                break
    return parameters
