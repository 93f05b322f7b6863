"""Objectives from PyTorch: any nn.Module, with a data set or loader for each agent.

>>> loss = torch.nn.functional.cross_entropy
>>> objective = ticopd.torch.Objective(model, loss, datasets, batch_size=32)
>>> run = ticopd.Run(objective, graph="ring", codec="qsgd:8",
...                  algorithm=ticopd.TiCoPD(alpha=0.2, theta=1, eta=0.1))
"""

from __future__ import annotations

import copy
import math
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple

import numpy as np
import numpy.typing as npt

try:
    import torch
except ImportError:
    raise ImportError(
        "ticopd.torch needs PyTorch, which is not installed: https://pytorch.org says how"
    ) from None

from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset

from ._session import Array, Metric, described
from ._torch_data import Loader, Samples, Source, samples_from, source_of
from ._torch_session import TorchSession, bind, flat, numpy_type

Loss = Callable[[Any, Any], Tensor]
Forward = Callable[[nn.Module, Any], Tensor]

_DTYPES = {torch.float32: "float", torch.float64: "double"}


class Objective:
    """A problem of n agents that train one architecture, each on its own data.

    f_i is the mean loss of the module over the samples of agent i, and a model is the row of all
    its trainable parameters, in the order of `module.parameters()`.

    Args:
        model: any nn.Module on the CPU. It is copied and never changed. Its weights are where all
            agents start. Parameters that require no gradient stay as they are and are not sent.
        loss: a function of the module's output and the target that returns the mean loss of a
            batch, such as `torch.nn.functional.cross_entropy`.
        datasets: one for each agent: a Dataset with a length, a tuple of tensors (input, target),
            or a DataLoader. A loader makes the batches itself: the next one each round, and it
            starts anew at its end. Where in its data a loader is cannot be saved, so a resumed run
            gets other batches than an undisturbed one.
        batch_size: samples for each gradient, drawn by ticopd from seed, agent and round; left out:
            all samples. Not with loaders.
        test: test samples, a Dataset or a tuple of tensors; then accuracies are logged.
        accuracy: a function of output and target that returns how many are right. Left out: the
            largest output is the class; with a single output, its sign.
        forward: in place of `loss`, a function of the module and a batch that returns the loss, for
            data that are not pairs (input, target).
        chunk: samples that are evaluated together when all of them are wanted.

    Gradients of rounds are taken in training mode and measurements in evaluation mode. Buffers,
    such as the running statistics of BatchNorm, are each agent's own; they are not sent. Dropout
    draws from torch's own generator: seed it with `torch.manual_seed` to repeat a run.
    """

    def __init__(
        self,
        model: nn.Module,
        loss: Optional[Loss] = None,
        datasets: Sequence[Any] = (),
        batch_size: Optional[int] = None,
        *,
        test: Any = None,
        accuracy: Optional[Callable[[Any, Any], Any]] = None,
        forward: Optional[Forward] = None,
        chunk: int = 4096,
    ) -> None:
        if not isinstance(model, nn.Module):
            raise TypeError(f"model: {described(model)}; allowed is a torch.nn.Module")
        if (loss is None) == (forward is None):
            raise TypeError("give one of loss(output, target) and forward(module, batch)")
        if not callable(loss if loss is not None else forward):
            raise TypeError("loss: allowed is a function of output and target")
        if isinstance(datasets, (Dataset, DataLoader, Tensor)):
            raise TypeError(
                f"datasets: {described(datasets)}; allowed is a list with one for each agent"
            )
        if len(datasets) == 0:
            raise ValueError("datasets: there are none; give one for each agent")
        if chunk < 1:
            raise ValueError(f"chunk = {chunk}: allowed is 1 or more")
        self.name = type(model).__name__
        self.template = copy.deepcopy(model)
        self.loss = loss
        self.forward = forward
        self.chunk = int(chunk)
        self._count_right = accuracy
        self.precision = self._check_parameters(model)
        self.layout: List[Tuple[str, Tuple[int, ...]]] = [
            (name, tuple(p.shape)) for name, p in model.named_parameters() if p.requires_grad
        ]
        self.dimension = sum(math.prod(shape) for _, shape in self.layout)
        self.start: Array = flat(self.template)
        self.agents = len(datasets)
        self.sources: List[Source] = [
            source_of(data, agent) for agent, data in enumerate(datasets)
        ]
        loaders = [source for source in self.sources if isinstance(source, Loader)]
        if loaders and len(loaders) < self.agents:
            raise TypeError("datasets: some are loaders and some are not; give one kind")
        if loaders and batch_size is not None:
            raise ValueError("batch_size: a DataLoader has its own; leave it out")
        if batch_size is not None and batch_size < 1:
            raise ValueError(f"batch_size = {batch_size}: allowed is 1 or more")
        self.batch_size = max(l.batch_size for l in loaders) if loaders else batch_size
        self.samples = [source.length for source in self.sources]
        self.test = None if test is None else samples_from(test, "test")
        self.has_values = True

    @staticmethod
    def _check_parameters(model: nn.Module) -> str:
        kinds: Dict[torch.dtype, str] = {}
        for name, p in model.named_parameters():
            if p.device.type != "cpu":
                raise ValueError(
                    f"model: parameter {name} is on {p.device}; move the model to the CPU: "
                    'model.to("cpu")'
                )
            if isinstance(p, nn.parameter.UninitializedParameter):
                raise ValueError(
                    f"model: parameter {name} has no shape yet; call the model once, first"
                )
            if p.requires_grad:
                kinds.setdefault(p.dtype, name)
        if not kinds:
            raise ValueError("model: it has no parameters that require a gradient")
        if len(kinds) > 1:
            names = ", ".join(f"{name} is {dtype}" for dtype, name in kinds.items())
            raise ValueError(
                f"model: parameters of several types ({names}); use one: model.float()"
            )
        (dtype,) = kinds
        if dtype not in _DTYPES:
            raise ValueError(
                f"model: its parameters are {dtype}; allowed are float32 and float64: model.float()"
            )
        return _DTYPES[dtype]

    def fingerprint(self, agent: int) -> Optional[str]:
        """A checksum of the agent's samples, if they are tensors."""
        source = self.sources[agent]
        return source.fingerprint() if isinstance(source, Samples) else None

    def module(self, x: npt.ArrayLike) -> nn.Module:
        """A module of its own with the weights of a row, `objective.module(run.x[3])`."""
        made = copy.deepcopy(self.template)
        row = torch.from_numpy(np.array(x, numpy_type(self.precision)))
        if row.shape != (self.dimension,):
            raise ValueError(f"x has the shape {tuple(row.shape)}; expected ({self.dimension},)")
        bind(made, row)
        return made

    def _session(
        self, agents: int, double: bool, metrics: Mapping[str, Metric], test: Any
    ) -> "TorchSession":
        return TorchSession(self, agents, double, metrics, test)

    def __repr__(self) -> str:
        return (
            f"<ticopd.torch.Objective {type(self.template).__name__}: {self.agents} agents, "
            f"{self.dimension} parameters>"
        )
