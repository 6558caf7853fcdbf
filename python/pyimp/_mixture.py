"""A fitted mixture of the library, whose classes are numbered from 0 on.

It is immutable: growing makes a new one, and any number of threads may use one at once.
"""

from __future__ import annotations

import ctypes
import os
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from . import _api
from ._library import Handle, address, call, create, defaults, encoded, library


class Clusters(NamedTuple):
    """All clusters of a mixture, in the order of their creation."""

    label: np.ndarray  # a class, or -1
    sigma: np.ndarray
    weight: np.ndarray
    mean: np.ndarray  # (clusters, dimensions)


class Mixture:
    """Arrays given to it are C-contiguous: points are float32 rows, labels int32."""

    def __init__(self, handle: Handle) -> None:
        self._handle = handle

    @classmethod
    def _create(cls, *arguments: Any) -> Mixture:
        return cls(create(library.imp_mixture_free, *arguments))

    @classmethod
    def fit(cls, x: np.ndarray, y: np.ndarray, rule: _api.Rule, **options: float) -> Mixture:
        chosen = defaults(_api.MixtureOptions, library.imp_mixture_options_init)
        chosen.rule = rule
        for name, value in options.items():
            setattr(chosen, name, value)
        return cls._create(library.imp_mixture_fit, address(x), address(y), *x.shape, chosen)

    def add(self, x: np.ndarray, y: np.ndarray) -> Mixture:
        return self._create(library.imp_mixture_add, self._handle, address(x), address(y), *x.shape)

    def merge(self, other: Mixture, numbers: np.ndarray) -> Mixture:
        """With what `other` knows, whose classes have these numbers here."""
        return self._create(
            library.imp_mixture_merge_as, self._handle, other._handle, address(numbers)
        )

    def forget_class(self, number: int) -> Mixture:
        return self._create(library.imp_mixture_forget_class, self._handle, number)

    def forget_clusters(self, numbers: np.ndarray) -> Mixture:
        return self._create(
            library.imp_mixture_forget_clusters, self._handle, address(numbers), len(numbers)
        )

    def keep_newest(self, points: int) -> Mixture:
        return self._create(library.imp_mixture_keep_newest, self._handle, points)

    def name_cluster(self, cluster: int, number: int) -> Mixture:
        return self._create(library.imp_mixture_name_cluster, self._handle, cluster, number)

    def predict(self, x: np.ndarray, open_set: bool, **arrays: np.ndarray) -> None:
        """Fills the arrays, which are called as in imp_mixture_predictions."""
        wanted = _api.MixturePredictions(**{name: address(a) for name, a in arrays.items()})
        call(library.imp_mixture_predict, self._handle, address(x), *x.shape, open_set, wanted)

    def transform(self, x: np.ndarray) -> np.ndarray:
        """The points in the mixture's metric."""
        out = np.empty_like(x)
        call(library.imp_mixture_transform, self._handle, address(x), *x.shape, address(out))
        return out

    # ---- what it is ----

    @cached_property
    def choice(self) -> _api.MixtureChoice:
        choice = _api.MixtureChoice()
        library.imp_mixture_choice_of(self._handle, choice, ctypes.sizeof(choice))
        return choice

    @property
    def chose(self) -> bool:
        """Whether its points chose; otherwise the rule is the paper's."""
        return bool(self.choice.held_out or self.choice.little)

    @cached_property
    def candidates(self) -> list[_api.MixtureCandidate]:
        return [
            library.imp_mixture_candidate_at(self._handle, i)
            for i in range(self.choice.candidates)
        ]

    @cached_property
    def views(self) -> list[_api.MixtureView]:
        return [library.imp_mixture_view_at(self._handle, i) for i in range(self.choice.views)]

    @cached_property
    def summary(self) -> _api.MixtureSummary:
        return library.imp_mixture_summarize(self._handle)

    @cached_property
    def clusters(self) -> Clusters:
        count, dimensions = self.summary.clusters, self.summary.dimensions
        clusters = Clusters(
            label=np.empty(count, np.int32),
            sigma=np.empty(count),
            weight=np.empty(count),
            mean=np.empty((count, dimensions)),
        )
        for c in range(count):
            cluster = library.imp_mixture_cluster_at(self._handle, c)
            clusters.label[c] = cluster.label
            clusters.sigma[c] = cluster.sigma
            clusters.weight[c] = cluster.weight
            clusters.mean[c] = np.ctypeslib.as_array(cluster.mean, (dimensions,))
        for array in clusters:
            array.setflags(write=False)
        return clusters

    # ---- files and bytes ----

    @property
    def note(self) -> str | None:
        note = library.imp_mixture_note(self._handle)
        return None if note is None else note.decode()

    def save(self, path: str | os.PathLike, note: str) -> None:
        """Writes the mixture with that note, which is set on a copy: other threads may be using
        this one."""
        nobody = np.empty((0, self.summary.dimensions), np.float32)
        copy = self.add(nobody, np.empty(0, np.int32))
        call(library.imp_mixture_set_note, copy._handle, note.encode())
        call(library.imp_mixture_save, copy._handle, encoded(path))

    @classmethod
    def load(cls, path: str | os.PathLike) -> Mixture:
        return cls._create(library.imp_mixture_load, encoded(path))

    def to_bytes(self) -> bytes:
        """What a file of it holds."""
        pointer, size = ctypes.c_void_p(), ctypes.c_size_t()
        call(library.imp_mixture_to_bytes, self._handle, pointer, size)
        try:
            return ctypes.string_at(pointer, size.value)
        finally:
            library.imp_mixture_bytes_free(pointer)

    @classmethod
    def from_bytes(cls, data: bytes) -> Mixture:
        return cls._create(library.imp_mixture_from_bytes, data, len(data))

    def __reduce__(self) -> tuple:
        return Mixture.from_bytes, (self.to_bytes(),)
