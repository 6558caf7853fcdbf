"""Pictures into vectors, by a network that `imp train` made."""

from __future__ import annotations

import math
import os

import numpy as np
from numpy.typing import ArrayLike

from . import _api, _parameters
from ._library import address, call, create, library

_OWN = -1  # as the model says
_INKS = {"own": _OWN, "as-is": _api.INVERSIONS["none"], "invert": _api.INVERSIONS["all"]}


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
    ink : {'own', 'as-is', 'invert'}, default='own'
        Which pictures to invert: as the model says, none or all.

    Attributes
    ----------
    channels, height, width : int
        Of a picture.
    dimensions : int
        Of an embedding.
    inversion : {'none', 'all', 'light'}
        Which pictures are inverted: 'light' are those that are light along their edges, so that
        ink is bright in all, as models of drawings have it.
    mixture_parameters : dict
        What the training learned or used, for
        `InfiniteMixturePrototypes(**embedding.mixture_parameters)`: with them it makes the clusters
        that `imp classify` makes of the same pictures.
    """

    def __init__(self, path: str | os.PathLike, threads: int = 0, ink: str = "own") -> None:
        self.path = os.path.abspath(path)
        self.threads = _parameters.count(threads, "threads", 0, _parameters.MOST_THREADS)
        self.ink = ink
        wanted = _parameters.choice(ink, "ink", _INKS)
        file = os.fsencode(self.path)
        network = create(library.imp_network_free, library.imp_network_load, file, None, None)
        self._encoder = create(library.imp_encoder_free, library.imp_encoder_create, network)
        self._model = _api.ModelSummary()
        call(library.imp_model_summarize, file, self._model)
        if wanted != _OWN:
            self._model.inversion = wanted
        self.inversion = list(_api.INVERSIONS)[self._model.inversion]
        self.channels, self.height = self._model.channels, self._model.height
        self.width = self._model.width
        self.dimensions = library.imp_encoder_output_size(self._encoder)
        self.mixture_parameters = _parameters_of(self._model.mixture)

    @classmethod
    def load(cls, path: str | os.PathLike, threads: int = 0, ink: str = "own") -> Embedding:
        """Reads a model file, as `InfiniteMixturePrototypes.load` reads a mixture."""
        return cls(path, threads, ink)

    def __call__(self, images: ArrayLike) -> np.ndarray:
        """Embeds pictures.

        Parameters
        ----------
        images : array-like
            Of the shape (n, channels, height, width) or (n, height, width, channels), or (n,
            height, width) for a network of one channel. Bytes (uint8) are pictures as they are in
            files: they are scaled to 0 .. 1, and inverted as `inversion` says. Floats are the
            network's input and taken as they are, without a copy if they are 32-bit, channels first
            and contiguous.

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
            return self._from_bytes(images)
        if images.dtype.kind != "f":
            raise ValueError(
                f"the images are {images.dtype}; they are uint8, from 0 to 255, or floats, from 0 "
                "to 1"
            )
        return np.ascontiguousarray(images, np.float32)

    def _from_bytes(self, pictures: np.ndarray) -> np.ndarray:
        images = np.empty(pictures.shape, np.float32)
        pictures = np.ascontiguousarray(np.moveaxis(pictures, 1, -1))
        call(
            library.imp_model_images,
            self._model,
            address(pictures),
            len(pictures),
            address(images),
        )
        return images

    def __reduce__(self) -> tuple:
        return type(self), (self.path, self.threads, self.ink)

    def __repr__(self) -> str:
        return (
            f"<{type(self).__name__} of {self.channels}x{self.height}x{self.width} in "
            f"{self.dimensions} dimensions, {self.path}>"
        )


def _parameters_of(mixture: _api.MixtureOptions) -> dict[str, float | str]:
    """The library's options by the estimator's names."""
    threshold = getattr(mixture, "lambda")
    return {
        "alpha": mixture.alpha,
        "sigma_l": mixture.sigma_l,
        "sigma_u": mixture.sigma_u,
        "threshold": "auto" if math.isnan(threshold) else threshold,
        "cluster_steps": mixture.cluster_steps,
    }
