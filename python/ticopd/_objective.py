"""Objectives of your own."""

from __future__ import annotations

from typing import Any, List, Optional, Sequence, Union

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[Any]


class Objective:
    """A problem of your own: n agents, each with its own loss f_i of a model of d numbers.

    Write a subclass with `dimension` and one of two methods. Row by row, simplest:

    >>> class Mine(ticopd.Objective):
    ...     dimension = 100
    ...     def value_and_gradient(self, agent, x, g):
    ...         g[:] = x - agent                  # write the gradient into g
    ...         return 0.5 * float(g @ g)         # return the loss

    or the rows of all agents at once, fastest:

    >>> class Mine(ticopd.Objective):
    ...     agents, dimension = 8, 100
    ...     def gradients(self, first, X, G):
    ...         agents = first + numpy.arange(len(X))
    ...         np.subtract(X, agents[:, None], out=G)
    ...         return 0.5 * (G * G).sum(axis=1)

    Row r of X and G belongs to agent first + r. x and X are read-only. All of these arrays are the
    library's own memory: they are valid during the call, copy what you want to keep. The numbers
    are float32, or float64 with `precision = "double"`.

    The losses are only used by log rows. If `wants_values` is False, the loss may be left out
    (return None); if `wants_gradient` is False, g is scratch and need not be written.

    A question may be asked twice, with the same round and batch: after an exception or Ctrl-C the
    run goes on with the question that was left open. So answers must only depend on the arguments,
    `batch` and `round`.
    """

    dimension: int = 0
    """The number of coordinates of a model."""

    agents: Optional[int] = None
    """How many agents there are; None: as many as the graph has."""

    samples: Optional[Sequence[int]] = None
    """How many samples each agent has, for runs with `batch=`; None: there are none."""

    start: Optional[npt.ArrayLike] = None
    """The model that all agents start from; None: zeros."""

    precision: Optional[str] = None
    """"float" or "double"; None: as the run says, which is "float" if it says nothing."""

    has_values: bool = True
    """False if the methods return no losses: then none are logged."""

    layout: Optional[Sequence[Any]] = None
    """The parts of a model, [("W1", (100, 784)), ...]; they are named in run.json."""

    # The question that is being answered.

    batch: Any = None
    """The samples to use: their numbers, drawn from seed, agent and round; None: all of them. In
    `gradients`: a list with one array for each row, or None."""

    round: int = 0
    """The round that is being made; 0: the set-up."""

    wants_values: bool = True
    """False: losses are not needed."""

    wants_gradient: bool = True
    """False: gradients are not needed."""

    def value_and_gradient(self, agent: int, x: Vector, g: Vector) -> Optional[float]:
        """Writes the gradient of f_agent at x into g and returns f_agent(x)."""
        raise NotImplementedError

    def gradients(self, first: int, X: Vector, G: Vector) -> Union[Vector, Sequence[float], None]:
        """Writes all gradients into G and returns the losses, one for each row."""
        raise NotImplementedError

    def accuracy(self, x: Vector) -> float:
        """The share of test samples that the model x gets right, from 0 to 1. If there is such a
        method, the columns accuracy_min and accuracy_mean are logged."""
        raise NotImplementedError

    def fingerprint(self, agent: int) -> Optional[str]:
        """A text that tells this agent's data from other data, such as a checksum. A run that is
        resumed with other data is then refused."""
        return None


def overrides(objective: Any, method: str) -> bool:
    """True if the objective has a method of that name which is not this file's."""
    own = getattr(type(objective), method, None)
    if own is None:
        return callable(getattr(objective, method, None))
    return own is not getattr(Objective, method, None)


def count_of_samples(objective: Any, agents: int) -> Optional[List[int]]:
    """objective.samples, checked."""
    samples = getattr(objective, "samples", None)
    if samples is None:
        return None
    counts = [int(count) for count in np.asarray(samples).ravel()]
    if len(counts) != agents:
        raise ValueError(
            f"objective.samples has {len(counts)} entries, and there are {agents} agents"
        )
    for agent, count in enumerate(counts):
        if count < 1:
            raise ValueError(f"objective.samples[{agent}] = {count}: allowed is 1 or more")
    return counts
