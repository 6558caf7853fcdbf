"""Few-shot learning with infinite mixture prototypes, over the C library libimp.

A class is represented by as many clusters as its data needs, inferred from a handful of labelled
and unlabelled points. The estimators follow scikit-learn's conventions, and are scikit-learn's
where it is installed; without it they work the same by themselves.

Importing the package opens the library and no more: what a name needs, scikit-learn most of all, is
imported when the name is used first.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from . import _library as _library  # which says at once where it looked, if there is no libimp
from ._version import __version__

if TYPE_CHECKING:
    from . import methods, metrics, plot
    from .clustering import DPMeans, InfiniteMixtureClustering
    from .embedding import Embedding
    from .episodes import Dataset, Episode, Episodes
    from .mixture import InfiniteMixturePrototypes
    from .suggestion import Suggester, suggest
    from .training import Evaluation, Training, evaluate, train

__all__ = [
    "DPMeans",
    "Dataset",
    "Embedding",
    "Episode",
    "Episodes",
    "Evaluation",
    "InfiniteMixtureClustering",
    "InfiniteMixturePrototypes",
    "Suggester",
    "Training",
    "__version__",
    "evaluate",
    "methods",
    "metrics",
    "plot",
    "suggest",
    "train",
]

_MODULES = {
    "clustering": ("DPMeans", "InfiniteMixtureClustering"),
    "embedding": ("Embedding",),
    "episodes": ("Dataset", "Episode", "Episodes"),
    "mixture": ("InfiniteMixturePrototypes",),
    "suggestion": ("Suggester", "suggest"),
    "training": ("Evaluation", "Training", "evaluate", "train"),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name in _MODULE_OF:
        value = getattr(import_module(f".{_MODULE_OF[name]}", __name__), name)
    elif name in ("methods", "metrics", "plot"):
        value = import_module(f".{name}", __name__)
    elif name == "torch":  # not in __all__, because PyTorch may be absent
        try:
            value = import_module(".torch", __name__)
        except ModuleNotFoundError as error:
            raise AttributeError(f"pyimp.torch needs PyTorch ({error}): pip install torch") from error
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
