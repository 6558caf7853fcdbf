"""Pictures into vectors, by a network that `imp train` made; files of any kind, by any program."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from . import _api, _parameters
from ._library import address, call, create, encoded, library


class Embedding:
    """A trained network, frozen: called with pictures, it gives their embeddings.

    A picture's embedding does not depend on the pictures beside it. Any number of threads may use
    one embedding at once. A pickle holds the path only; an embedder, which is a program, has none.

    Parameters
    ----------
    path : path-like or None, default=None
        A model file. None is the model of handwritten characters that is built into the library.
    threads : int, default=0
        To use; 0 is as many as the machine offers. The bits do not depend on it.
    ink : {'own', 'as-is', 'invert'}, default='own'
        Which pictures to invert: as the model says, none or all.
    embedder : str or None, default=None
        Instead of a model: a line for the shell that starts a program which embeds files of any kind
        (docs/embedders.md), as `imp --embedder` does. Such an embedding takes files alone. With a
        model that was trained on the embedder's vectors, they go through that model.
    timeout : float, default=300
        Seconds without a word from the embedder after which it counts as hung.
    cache : path-like or None, default=None
        A folder in which the embedder's vectors are kept by content. None keeps none.

    Attributes
    ----------
    name, version : str or None
        What an embedder says of itself.
    embedded_by : str
        Name and version of the embedder whose vectors the model was trained on; '' if it is not
        known.
    channels, height, width : int
        Of the images that the network takes; 0 of an embedder.
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

    def __init__(
        self,
        path: str | os.PathLike | None = None,
        threads: int = 0,
        ink: str = "own",
        *,
        embedder: str | None = None,
        timeout: float = 300,
        cache: str | os.PathLike | None = None,
    ) -> None:
        self.path = None if path is None else os.path.abspath(path)
        if not isinstance(timeout, (int, float)) or not 0 < timeout < float("inf"):
            raise ValueError(f"timeout is {timeout!r}; it must be a positive number of seconds")
        self.embedder, self.timeout = embedder, float(timeout)
        self.cache = None if cache is None else os.path.abspath(cache)
        self.threads = _parameters.count(threads, "threads", 0, _parameters.MOST_THREADS)
        self.ink = ink
        options = _api.ModelOptions(
            size=ctypes.sizeof(_api.ModelOptions),
            ink=_parameters.choice(ink, "ink", _api.INKS),
            embedder=None if embedder is None else encoded(embedder),
            patience=self.timeout,
            cache=None if self.cache is None else encoded(self.cache),
        )
        file = None if self.path is None else encoded(self.path)
        self._model = create(library.imp_model_free, library.imp_model_open, file, options)
        info = library.imp_model_info_of(self._model).contents
        self.inversion = list(_api.INVERSIONS)[info.inversion]
        self.channels, self.height, self.width = info.channels, info.height, info.width
        self.dimensions = info.dimensions
        self.name, self.version = (
            None if text is None else text.decode(errors="replace")
            for text in (info.embedder, info.embedder_version)
        )
        self.embedded_by = info.embedded_by.decode(errors="replace")
        self.mixture_parameters = _parameters.parameters_of(info.rule)

    @classmethod
    def load(
        cls, path: str | os.PathLike | None = None, threads: int = 0, ink: str = "own"
    ) -> Embedding:
        """Reads a model file, as `InfiniteMixturePrototypes.load` reads a mixture."""
        return cls(path, threads, ink)

    def __call__(self, images: ArrayLike | Sequence[np.ndarray]) -> np.ndarray:
        """Embeds pictures.

        Parameters
        ----------
        images : array-like or list of arrays
            Bytes (uint8) are pictures as they are in files: they are made gray or RGB, resampled
            and inverted as the model wants it, and scaled to 0 .. 1. They come as an array of
            the shape (n, height, width) or (n, height, width, 3), or as a list of pictures of
            different sizes. An array of just the model's height, width and channels, which may
            come first or last, is not resampled.

            Floats are the network's input and taken as they are, of the shape (n, channels,
            height, width) or (n, height, width, channels), or (n, height, width) for a network of
            one channel; without a copy if they are 32-bit, channels first and contiguous.

            A model that was trained on vectors takes an array of the shape (n, channels).

        Returns
        -------
        ndarray of shape (n, dimensions), float32
        """
        given: Any
        pictures = self._pictures_of(images)
        if pictures is None:
            images = self._as_input(np.asarray(images))
            function, given, count = library.imp_model_embed, address(images), len(images)
        else:
            function, given = library.imp_model_embed_pictures, _descriptions(pictures)
            count = len(pictures)
        embeddings = np.empty((count, self.dimensions), np.float32)
        call(function, self._model, given, count, self.threads, address(embeddings))
        return embeddings

    def files(self, paths: Sequence[str | os.PathLike]) -> np.ndarray:
        """Embeds picture files or, by an embedder, files of any kind.

        Parameters
        ----------
        paths : sequence of path-like
            One that cannot be read raises, with a sentence that names it.

        Returns
        -------
        ndarray of shape (n, dimensions), float32
        """
        if isinstance(paths, (str, bytes, os.PathLike)):
            raise TypeError(f"paths is {paths!r}; it must be a list of paths, of one if there is one")
        names = [encoded(path) for path in paths]
        given = (ctypes.c_char_p * len(names))(*names)
        embeddings = np.empty((len(names), self.dimensions), np.float32)
        call(
            library.imp_model_embed_files,
            self._model,
            given,
            len(names),
            self.threads,
            None,
            None,
            address(embeddings),
        )
        return embeddings

    def _pictures_of(self, images: ArrayLike | Sequence[np.ndarray]) -> list | None:
        """Bytes as a list of (height, width, channels); None if they are no bytes."""
        if self.height == self.width == 1:
            return None
        if not isinstance(images, np.ndarray):
            if not isinstance(images, Sequence) or not all(map(_is_picture, images)):
                images = np.asarray(images)
            elif len(images) > 0:
                return [_picture(np.asarray(image)) for image in images]
        if not isinstance(images, np.ndarray) or images.dtype != np.uint8:
            return None
        own = (self.channels, self.height, self.width)
        if images.shape[1:] == own:
            images = np.moveaxis(images, 1, -1)
        if images.ndim not in (3, 4):
            raise ValueError(self._complaint(images))
        return [_picture(image) for image in images]

    def _complaint(self, images: np.ndarray) -> str:
        return (
            f"the images have the shape {images.shape}; the model takes (n, {self.channels}, "
            f"{self.height}, {self.width}): channels, height and width"
        )

    def _as_input(self, images: np.ndarray) -> np.ndarray:
        """(n, channels, height, width) floats."""
        channels, height, width = self.channels, self.height, self.width
        if height == width == 1 and images.shape[1:] == (channels,):  # vectors, of any numbers
            return np.ascontiguousarray(images, np.float32)[:, :, np.newaxis, np.newaxis]
        if images.shape[1:] == (height, width) and channels == 1:
            images = images[:, np.newaxis]
        elif images.shape[1:] == (height, width, channels) != (channels, height, width):
            images = np.moveaxis(images, -1, 1)
        elif images.shape[1:] != (channels, height, width):
            raise ValueError(self._complaint(images))
        if images.dtype.kind != "f":
            raise ValueError(
                f"the images are {images.dtype}; they are uint8, from 0 to 255, or floats, from 0 "
                "to 1"
            )
        return np.ascontiguousarray(images, np.float32)

    def __reduce__(self) -> tuple:
        if self.embedder is not None:
            raise TypeError(
                "an embedder cannot be pickled: which program is run is up to whoever runs it"
            )
        return type(self), (self.path, self.threads, self.ink)

    def __repr__(self) -> str:
        if self.embedder is not None:
            return (
                f"<{type(self).__name__} by {self.name} {self.version} in {self.dimensions} "
                "dimensions>"
            )
        return (
            f"<{type(self).__name__} of {self.channels}x{self.height}x{self.width} in "
            f"{self.dimensions} dimensions, {self.path or 'built in'}>"
        )


def _is_picture(image: object) -> bool:
    """Whether it is an array of bytes, or something else with one inside, as Pillow's images are."""
    described = getattr(image, "__array_interface__", None)
    return described is not None and described["typestr"] == "|u1"


def _picture(image: np.ndarray) -> np.ndarray:
    """(height, width, channels) bytes without gaps."""
    if image.ndim not in (2, 3):
        raise ValueError(
            f"a picture has the shape {image.shape}; it must be (height, width) or (height, width, "
            "channels)"
        )
    return np.ascontiguousarray(image if image.ndim == 3 else image[:, :, np.newaxis])


def _descriptions(pictures: list) -> ctypes.Array:
    """What the library is told of the pictures, which the caller holds on to."""
    described = (_api.Picture * len(pictures))()
    for to, picture in zip(described, pictures):
        to.height, to.width, to.channels = picture.shape
        to.pixels = address(picture)
    return described
