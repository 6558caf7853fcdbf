"""Few-shot learning with infinite mixture prototypes, over the C library libimp.

A class is represented by as many clusters as its data needs, inferred from a handful of labelled
and unlabelled points. The estimators follow scikit-learn's conventions, and are scikit-learn's
where it is installed; without it they work the same by themselves.
"""

from . import methods, metrics
from ._version import __version__
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
    "suggest",
    "train",
]
