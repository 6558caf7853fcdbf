"""Any PyTorch network trained through a method of imp: its loss as a module with gradients::

    loss = pyimp.torch.EpisodeLoss("imp", sigma_l=5)
    optimizer = torch.optim.Adam([*network.parameters(), *loss.parameters()], 1e-3)
    tasks = pyimp.Episodes(pyimp.Dataset("omniglot:omniglot", rotations=4), way=20, shot=1, count=1000)
    for task in pyimp.torch.loader(tasks):
        z = network(torch.from_numpy(task.pixels))
        optimizer.zero_grad()
        loss(z, task).backward()
        optimizer.step()

The clusters are found by the library, on the CPU; points on another device are copied there and their
gradients back.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from .episodes import Episode, Episodes
from .methods import Method


class _Loss(torch.autograd.Function):
    @staticmethod
    def forward(context, method, counts, labels, points, values):  # type: ignore[no-untyped-def]
        supports, queries = counts
        method.values[:] = values.detach().double().cpu().numpy()
        x = points.detach().float().cpu().numpy()
        wanted = points.requires_grad or values.requires_grad
        found = method(
            x[:supports],
            labels[:supports],
            x[supports : supports + queries],
            labels[supports : supports + queries],
            x[supports + queries :],
            gradients=wanted,
        )
        if wanted:
            gradient = np.concatenate([found.support_gradient, found.query_gradient, found.unlabeled_gradient])
            context.save_for_backward(
                torch.from_numpy(gradient).to(points), torch.from_numpy(found.parameter_gradient).to(values)
            )
        method.last = found
        return points.new_tensor(found.loss)

    @staticmethod
    def backward(context, above):  # type: ignore[no-untyped-def]
        if torch.is_grad_enabled():  # what is saved does not know how it came about
            raise RuntimeError("the gradient of EpisodeLoss cannot be differentiated again: leave out create_graph")
        points, values = context.saved_tensors
        return None, None, None, above * points, above.to(values) * values


def _only(batch: list[Episode]) -> Episode:
    return batch[0]


def loader(episodes: Episodes, workers: int = 0, **options: Any) -> torch.utils.data.DataLoader:
    """A DataLoader of PyTorch that gives the episodes one by one, in their order.

    Parameters
    ----------
    episodes : pyimp.Episodes
        With a `count`.
    workers : int, default 0
        Processes that draw ahead. An episode is the same whoever draws it. Drawing takes less time
        than most networks, so there is seldom a need for any.
    **options
        Of `torch.utils.data.DataLoader`, such as `multiprocessing_context="spawn"`.

    Examples
    --------
    >>> import pyimp, pyimp.torch
    >>> tasks = pyimp.Episodes(pyimp.Dataset("glyphs", size=14), way=3, shot=1, count=4)
    >>> [task.index for task in pyimp.torch.loader(tasks)]
    [0, 1, 2, 3]
    """
    return torch.utils.data.DataLoader(
        episodes,  # type: ignore[arg-type] # a sequence is all that it takes
        batch_size=1,
        num_workers=workers,
        collate_fn=_only,
        **options,
    )


class EpisodeLoss(torch.nn.Module):
    """The loss of an episode's embedded points, with what the method learns as parameters.

    Parameters
    ----------
    method : str, default "imp"
    **options
        Of `pyimp.methods.Method`.

    Attributes
    ----------
    values : torch.nn.Parameter
        What the method learns, such as the logarithms of its variances.
    last : pyimp.methods.Result or None
        What the last call found: predictions, clusters.

    Its gradient cannot be differentiated again.
    """

    def __init__(self, method: str = "imp", **options: Any) -> None:
        super().__init__()
        self.method = Method(method, **options)
        self.values = torch.nn.Parameter(torch.from_numpy(self.method.values.copy()))

    @property
    def last(self) -> Any:
        return getattr(self.method, "last", None)

    def forward(self, points: torch.Tensor, episode: Episode) -> torch.Tensor:
        """`points` (images, dimensions) are the episode's pictures embedded, in their order."""
        if len(points) != len(episode.labels):
            raise ValueError(f"points has {len(points)} rows, and the episode {len(episode.labels)} pictures")
        counts = (episode.supports, episode.queries)
        return _Loss.apply(self.method, counts, episode.labels, points, self.values)
