"""Training embeddings and measuring them: what `imp train` and `imp eval` do, to the bit."""

from __future__ import annotations

import ctypes
import os
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from . import _api, _parameters
from ._library import Handle, call, create, defaults, encoded, library


@dataclass(frozen=True)
class Training:
    """What has become of a run.

    Attributes
    ----------
    model : str
        The path of its model file, for `Embedding`: the best in validation, or the last.
    update : int
        How many updates have been made.
    finished : bool
        Whether those are all; False where the callback ended the run.
    best : float
        The best accuracy in validation; NaN without validation.
    """

    model: str
    update: int
    finished: bool
    best: float


@dataclass(frozen=True)
class Evaluation:
    """How well a model solved episodes.

    Attributes
    ----------
    accuracy, interval : float
        The mean over the episodes, and half the width of its 95% interval.
    open_accuracy : float
        The same where a query that a cluster without a label won counts as wrong.
    clusters, clusters_per_class : float
        Per episode.
    loss : float
    """

    accuracy: float
    interval: float
    open_accuracy: float
    clusters: float
    clusters_per_class: float
    loss: float


def _set(settings: Handle, values: Mapping[str, Any]) -> None:
    """Underscores stand for the hyphens of the names, and True and False for yes and no."""
    for name, value in values.items():
        text = ("no", "yes")[value] if isinstance(value, bool) else str(value)
        call(
            library.imp_settings_set, settings, name.replace("_", "-").encode(), encoded(text)
        )


def _is_recipe(name: Any) -> bool:
    """Whether the library has a recipe of this name."""
    if not isinstance(name, str) or os.sep in name or not name or name.endswith(".recipe"):
        return False
    try:
        create(library.imp_settings_free, library.imp_settings_create, encoded(name))
    except ValueError:
        return False
    return True


class _Guard:
    """A callback that ends the work when it raises, and raises again afterwards."""

    def __init__(self, callback: Callable[..., Any] | None) -> None:
        self.callback = callback
        self.raised: BaseException | None = None

    def __call__(self, *arguments: Any) -> bool:
        try:
            return self.callback is None or self.callback(*arguments) is not False
        except BaseException as raised:
            self.raised = raised
            return False


def train(
    folder: str | os.PathLike,
    recipe: str | None = None,
    *,
    resume: bool = False,
    threads: int = 0,
    minutes: float = 0,
    tensorboard: bool = False,
    skip_broken: bool = False,
    callback: Callable[[dict[str, Any]], Any] | None = None,
    **settings: Any,
) -> Training:
    """Trains an embedding, in a folder that keeps settings, logs, checkpoint and model.

    Parameters
    ----------
    folder : path-like
        Of the run. It must hold none yet or, with `resume`, the one to go on with.
    recipe : str or None, default=None
        The name of one that is built in, or a file. None: the defaults, or what suits a folder of
        pictures.
    resume : bool, default=False
        Go on with the run in the folder, to the same bits as if it had not been stopped.
    threads : int, default=0
        To use; 0 is as many as the machine offers. The bits do not depend on it.
    minutes : float, default=0
        Fit the updates and their schedule into this time, as `imp train --minutes` does; 0 takes
        what the updates take.
    tensorboard : bool, default=False
        Also write events into the folder that TensorBoard shows.
    skip_broken : bool, default=False
        Leave out pictures that cannot be read, instead of failing.
    callback : callable or None, default=None
        Called after each update with a dict of `update`, `updates`, `loss`, `accuracy`,
        `validation`, `best` and `seconds_left`. False ends the run after a checkpoint.
    **settings
        The options of `imp train` with underscores for hyphens: `data="my-pictures"`, `way=5`.

    Returns
    -------
    Training
    """
    options = defaults(_api.TrainOptions, library.imp_train_options_init)
    options.folder = encoded(folder)
    options.threads = _parameters.count(threads, "threads", 0, _parameters.MOST_THREADS)
    options.minutes = float(minutes)
    options.tensorboard = bool(tensorboard)
    options.skip_broken = bool(skip_broken)
    if resume and recipe is not None:
        raise ValueError("a run that is resumed has its recipe already")
    if callback is not None and not callable(callback):
        raise TypeError(f"callback is {callback!r}; it must be a function of a dict, or None")
    if recipe is None and not resume and _is_recipe(folder):
        raise ValueError(f"{folder!r} is a recipe; what is trained by it needs a folder: train(folder, {folder!r})")
    if resume:
        handle = create(library.imp_settings_free, library.imp_train_settings, options.folder)
    else:
        name = None if recipe is None else encoded(recipe)
        handle = create(library.imp_settings_free, library.imp_settings_create, name)
    _set(handle, settings)

    guard = _Guard(callback)

    def proceed(report: Any, _: Any) -> bool:
        found = report.contents
        return guard(
            {
                "update": found.update,
                "updates": found.updates,
                "loss": found.line.loss,
                "accuracy": found.line.accuracy,
                "validation": found.validation,
                "best": found.best,
                "seconds_left": found.seconds_left,
            }
        )

    notices: list[bytes] = []
    options.proceed = _api.TrainProceed(proceed)
    options.notice = _api.TrainNotice(lambda sentence, _: notices.append(sentence))
    result = _api.TrainResult()
    function = library.imp_train_resume if resume else library.imp_train
    call(function, handle, None, ctypes.byref(options), ctypes.byref(result))
    if guard.raised:
        raise guard.raised
    for sentence in notices if resume else ():
        warnings.warn(sentence.decode(errors="replace"), stacklevel=2)
    model = os.path.join(os.fspath(folder), "model.safetensors")
    return Training(model, result.update, result.finished, result.best)


def evaluate(
    path: str | os.PathLike | None = None,
    *,
    episodes: int = 1000,
    seed: int = 1,
    purpose: str = "testing",
    pool: str = "own",
    threads: int = 0,
    callback: Callable[[int, int], Any] | None = None,
    **settings: Any,
) -> Evaluation:
    """Measures a trained model on episodes.

    Parameters
    ----------
    path : path-like or None, default=None
        A model file. None is the model that is built into the library.
    episodes, seed : int
        How many, and which.
    purpose : {'testing', 'validation', 'training'}, default='testing'
    pool : {'own', 'train', 'val', 'test', 'all'}, default='own'
        Draw classes of this split; 'own' is the purpose's.
    threads : int, default=0
        To use; 0 is as many as the machine offers. The bits do not depend on it.
    callback : callable or None, default=None
        Called now and then with how many episodes are done and how many there are. False ends the
        evaluation, which raises ValueError.
    **settings
        What is not as in training: options of `imp eval` with underscores for hyphens, such as
        `method="prototypes"` or `way=20`.

    Returns
    -------
    Evaluation
    """
    options = defaults(_api.EvaluationOptions, library.imp_evaluation_options_init)
    options.episodes = _parameters.count(episodes, "episodes", 1, 10**8)
    options.seed = _parameters.count(seed, "seed", 0, 2**63 - 1)
    options.purpose = _parameters.choice(purpose, "purpose", _api.PURPOSES)
    options.pool = _parameters.choice(pool, "pool", _api.POOLS)
    options.threads = _parameters.count(threads, "threads", 0, _parameters.MOST_THREADS)
    guard = _Guard(callback)
    options.proceed = _api.EvaluationProceed(lambda done, total, _: guard(done, total))

    file = None if path is None else encoded(path)
    model = create(library.imp_model_free, library.imp_model_open, file, None)
    handle = create(library.imp_settings_free, library.imp_evaluation_settings, model)
    _set(handle, settings)
    found = _api.Evaluation()
    try:
        call(
            library.imp_evaluate_model,
            model,
            ctypes.byref(handle._as_parameter_),
            1,
            None,
            ctypes.byref(options),
            ctypes.byref(found),
        )
    except ValueError:
        if guard.raised:
            raise guard.raised from None
        raise
    return Evaluation(
        found.accuracy.mean,
        found.accuracy.half_width,
        found.open_accuracy.mean,
        found.clusters.mean,
        found.clusters_per_class,
        found.loss,
    )
