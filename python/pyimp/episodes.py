"""Datasets and episodes: what `imp episode` draws, as NumPy arrays and to the bit."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _api, _parameters
from ._library import address, call, create, defaults, encoded, library
from ._output import picture, table


@dataclass(frozen=True)
class ClassInfo:
    """One class of a dataset.

    Attributes
    ----------
    name : str
    super_class : int
        Its number, or -1.
    split : str
        "train", "val", "test" or "none".
    first_image, images : int
        Images are numbered class by class.
    """

    name: str
    super_class: int
    split: str
    first_image: int
    images: int


class Dataset:
    """Pictures in classes, as `imp train --data` takes them.

    Parameters
    ----------
    name : str or path
        "omniglot:PATH", "mini-imagenet:PATH", "csv:PATH", "folder:PATH", "pack:PATH", "glyphs" or a path alone.
    size : int, optional
        Side of the square all pictures are resampled to; by default what suits them.
    channels : {1, 3}, optional
        Gray or RGB.
    ink : {"own", "as-is", "invert"}, default "own"
    rotations : int, default 1
        4 makes classes of every class turned by quarters, too.
    split : str, optional
        "own", "classes:0.64/0.16/0.2", "lists:FOLDER" and so on; see <imp/dataset.h>.
    split_seed : int, default 0
    skip_broken : bool, default False
        Leave pictures out that cannot be read; `faults` has their sentences.
    threads : int, default 0
        0 is one per core.

    Examples
    --------
    >>> import pyimp
    >>> data = pyimp.Dataset("glyphs", size=14)
    >>> data.channels, data.size
    (1, 14)
    """

    def __init__(
        self,
        name: str | os.PathLike[str] = "glyphs",
        *,
        size: int | None = None,
        channels: int | None = None,
        ink: str = "own",
        rotations: int = 1,
        split: str | None = None,
        split_seed: int = 0,
        skip_broken: bool = False,
        threads: int = 0,
    ) -> None:
        if ink not in _api.INKS:
            raise ValueError(f"ink must be one of {', '.join(_api.INKS)}, not {ink!r}")
        self._given: dict[str, Any] = {
            "name": os.fspath(name),
            "size": size,
            "channels": channels,
            "ink": ink,
            "rotations": rotations,
            "split": split,
            "split_seed": split_seed,
            "skip_broken": skip_broken,
            "threads": threads,
        }
        options = defaults(_api.DatasetOptions, library.imp_dataset_options_init)
        for number, value in (("size", size or 0), ("channels", channels or 0), ("rotations", rotations)):
            setattr(options, number, _parameters.count(value, number, 0, _parameters.MOST_CLUSTERS))
        options.ink = _api.INKS[ink]
        options.split = None if split is None else encoded(split)
        options.split_seed = _parameters.count(split_seed, "split_seed", 0, _parameters.MOST_SEED)
        options.skip_broken = skip_broken
        options.threads = _parameters.count(threads, "threads", 0, _parameters.MOST_THREADS)
        self._handle = create(
            library.imp_dataset_free,
            library.imp_dataset_open,
            encoded(self._given["name"]),
            ctypes.byref(options),
        )
        self.kind: str = library.imp_dataset_kind(self._handle).decode()
        self.size: int = library.imp_dataset_size(self._handle)
        self.channels: int = library.imp_dataset_channels(self._handle)
        self.fingerprint: str = library.imp_dataset_fingerprint(self._handle).decode()

    def __reduce__(self) -> tuple[Any, ...]:
        return _open_dataset, (self._given,)

    def __len__(self) -> int:
        """How many images there are, turned ones included."""
        return library.imp_dataset_images(self._handle)

    def __repr__(self) -> str:
        classes = library.imp_dataset_classes(self._handle)
        return f"Dataset({self._given['name']!r}): {len(self)} images of {classes} classes"

    def _repr_html_(self) -> str:
        classes = self.classes
        splits = {c.split: sum(d.split == c.split for d in classes) for c in classes}
        rows: list[tuple[str, Any]] = [
            ("images", f"{len(self):,} of {self.channels} x {self.size} x {self.size}"),
            ("classes", ", ".join(f"{count:,} for {split}" for split, count in splits.items())),
            ("fingerprint", self.fingerprint[:16]),
        ]
        shown = [self[c.first_image] for c in classes[:: max(1, len(classes) // 24)][:24] if c.images]
        return table(repr(self), rows, "".join(picture(image / 255) for image in shown))

    def __getitem__(self, index: int) -> np.ndarray:
        """Image `index`: (channels, size, size) bytes."""
        index = _parameters.place(index, len(self), "image")
        pixels = np.empty((self.channels, self.size, self.size), np.uint8)
        library.imp_dataset_image(self._handle, index, address(pixels))
        return pixels

    @property
    def classes(self) -> list[ClassInfo]:
        """All classes, in the order of their numbers."""
        found = []
        for index in range(library.imp_dataset_classes(self._handle)):
            told = library.imp_dataset_class(self._handle, index)
            split = library.imp_split_name(told.split).decode()
            found.append(
                ClassInfo(
                    os.fsdecode(told.name), told.super_class, split, told.first_image, told.images
                )
            )
        return found

    @property
    def faults(self) -> list[str]:
        """Of pictures that `skip_broken` left out: what is wrong with each."""
        count = library.imp_dataset_faults(self._handle)
        return [
            library.imp_dataset_fault(self._handle, k).decode(errors="replace")
            for k in range(count)
        ]


def _open_dataset(given: dict[str, Any]) -> Dataset:
    rest = {key: value for key, value in given.items() if key != "name"}
    return Dataset(given["name"], **rest)


@dataclass(frozen=True, eq=False, repr=False)
class Episode:
    """One task. All pictures are parts of one array, in the order support, query, unlabelled.

    Attributes
    ----------
    index : int
    way : int
        Labels are 0 to way - 1.
    pixels : ndarray of float32, (images, channels, size, size)
    labels : ndarray of int32, (images,)
        -1 for unlabelled images.
    truth : ndarray of int32, (images,)
        What the label would be; distractor classes are way, way + 1 and so on.
    images : ndarray of uint32, (images,)
        Their numbers in the dataset.
    classes : ndarray of uint32
        The class, or super-class, that each label stands for.
    supports, queries, unlabeled_count : int
    """

    index: int
    way: int
    pixels: np.ndarray
    labels: np.ndarray
    truth: np.ndarray
    images: np.ndarray
    classes: np.ndarray
    supports: int
    queries: int
    unlabeled_count: int

    def __repr__(self) -> str:
        return (
            f"<episode {self.index}: {self.way} classes, {self.supports} supports, "
            f"{self.queries} queries, {self.unlabeled_count} unlabelled>"
        )

    def _repr_html_(self) -> str:
        rows = []
        for label in range(min(self.way, 20)):
            of_class = self.support[self.support_labels == label][:12]
            rows.append("".join(map(picture, of_class)))
        return table(repr(self)[1:-1], [], "<br>".join(rows))

    @property
    def support(self) -> np.ndarray:
        """Pictures with labels, a view of `pixels`."""
        return self.pixels[: self.supports]

    @property
    def support_labels(self) -> np.ndarray:
        return self.labels[: self.supports]

    @property
    def query(self) -> np.ndarray:
        """Pictures to be classified, a view of `pixels`."""
        return self.pixels[self.supports : self.supports + self.queries]

    @property
    def query_labels(self) -> np.ndarray:
        return self.labels[self.supports : self.supports + self.queries]

    @property
    def unlabeled(self) -> np.ndarray:
        """Pictures without labels, a view of `pixels`."""
        return self.pixels[self.supports + self.queries :]


def _array(pointer: Any, count: int, kind: type) -> np.ndarray:
    if count == 0:
        return np.empty(0, kind)
    size = count * np.dtype(kind).itemsize
    return np.frombuffer(bytearray(ctypes.string_at(pointer, size)), kind)  # a copy, the quickest way


class Episodes:
    """Episodes of a dataset, by number or one after the other.

    Episode 4711 of a seed and purpose is the same on any machine and in any process, and is what the
    command draws. So it is a sequence that can be read in any order, pickled, and read by the
    workers of a PyTorch DataLoader (`pyimp.torch.loader`).

    Parameters
    ----------
    dataset : Dataset
    way, shot, queries : int, optional
        By default 5-way 1-shot, and 5 queries in training and 15 else.
    kind : {"classes", "super-classes", "unsupervised"}, default "classes"
    modes : int, optional
        Classes of every super-class.
    unlabeled, distractors : int, default 0
        Images of every class without a label, and classes of which there are only such.
    labeled_fraction : float, default 1
    purpose : {"training", "validation", "testing"}, default "training"
    pool : {"own", "train", "val", "test", "all"}, default "own"
        Which classes may be drawn.
    seed : int, default 1
    first, count : int, optional
        The number of the first, and how many there are; without `count` there is no end.

    Examples
    --------
    >>> import pyimp
    >>> tasks = pyimp.Episodes(pyimp.Dataset("glyphs", size=14), way=3, shot=2, queries=4, count=10)
    >>> task = tasks[7]
    >>> task.support.shape, task.query.shape, len(tasks)
    ((6, 1, 14, 14), (12, 1, 14, 14), 10)
    """

    def __init__(
        self,
        dataset: Dataset,
        *,
        way: int = 0,
        shot: int = 0,
        queries: int = 0,
        kind: str = "classes",
        modes: int = 0,
        unlabeled: int = 0,
        distractors: int = 0,
        labeled_fraction: float = 1.0,
        purpose: str = "training",
        pool: str = "own",
        seed: int = 1,
        first: int = 0,
        count: int | None = None,
    ) -> None:
        if not isinstance(dataset, Dataset):
            raise TypeError(f"dataset is {dataset!r}; it must be a pyimp.Dataset")
        self.dataset = dataset
        self.first = _parameters.count(first, "first", 0, _parameters.MOST_SEED)
        self.count = None if count is None else _parameters.count(count, "count", 0, sys.maxsize)
        numbers = {
            "way": way,
            "shot": shot,
            "queries": queries,
            "modes": modes,
            "unlabeled": unlabeled,
            "distractors": distractors,
        }
        self._given = {
            "kind": _parameters.choice(kind, "kind", _api.EPISODE_KINDS),
            "purpose": _parameters.choice(purpose, "purpose", _api.PURPOSES),
            "pool": _parameters.choice(pool, "pool", _api.POOLS),
            "seed": _parameters.count(seed, "seed", 0, _parameters.MOST_SEED),
            "labeled_fraction": _parameters.share(labeled_fraction, "labeled_fraction"),
        }
        for name, number in numbers.items():
            self._given[name] = _parameters.count(number, name, 0, _parameters.MOST_CLUSTERS)
        self._made: _api.EpisodeOptions | None = None
        self._draw(self.first)  # whether it can be done does not depend on chance

    def _options(self) -> _api.EpisodeOptions:
        """Made once for every process that draws."""
        options = self._made
        if options is None:
            options = defaults(_api.EpisodeOptions, library.imp_episode_options_init)
            for name, value in self._given.items():
                setattr(options, name, value)
            self._made = options
        return options

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_made": None}

    def _draw(self, number: int) -> Episode:
        drawn = _api.Episode()
        handle, options = self.dataset._handle, self._options()
        call(library.imp_episode_draw, handle, ctypes.byref(options), number, ctypes.byref(drawn))
        try:
            count = drawn.supports + drawn.queries + drawn.unlabeled
            side = self.dataset.size
            pixels = np.empty((count, self.dataset.channels, side, side), np.float32)
            library.imp_episode_pixels(handle, ctypes.byref(drawn), address(pixels))
            return Episode(
                index=number,
                way=drawn.way,
                pixels=pixels,
                labels=_array(drawn.labels, count, np.int32),
                truth=_array(drawn.truth, count, np.int32),
                images=_array(drawn.images, count, np.uint32),
                classes=_array(drawn.classes, drawn.groups, np.uint32),
                supports=drawn.supports,
                queries=drawn.queries,
                unlabeled_count=drawn.unlabeled,
            )
        finally:
            library.imp_episode_clear(ctypes.byref(drawn))

    def __repr__(self) -> str:
        task = self._draw(self.first)  # also where there are none
        shape = f"{task.way} classes, {task.supports} supports, {task.queries} queries"
        if task.unlabeled_count:
            shape += f", {task.unlabeled_count} unlabelled"
        end = "without end" if self.count is None else f"{self.count:,} episodes"
        return f"Episodes({self.dataset!r}: {shape}; {end})"

    def __len__(self) -> int:
        if self.count is None:
            raise TypeError("these episodes have no end; give a count")
        return self.count

    def __getitem__(self, index: int) -> Episode:
        """Episode `first` + `index`; with a `count`, negative numbers are counted from its end."""
        if self.count is None and isinstance(index, int) and index < 0:
            raise IndexError(f"there is no episode {index}: without a count they have no end to count from")
        length = 2**64 - self.first if self.count is None else self.count
        return self._draw(self.first + _parameters.place(index, length, "episode"))

    def __iter__(self) -> Iterator[Episode]:
        index = 0
        while self.count is None or index < self.count:
            yield self._draw(self.first + index)
            index += 1
