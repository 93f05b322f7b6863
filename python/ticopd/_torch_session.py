"""How the questions of a run are answered by torch modules."""

from __future__ import annotations

import copy
import ctypes
import io
import math
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterable, List, Mapping, Optional, Tuple
from zipfile import BadZipFile

import numpy as np
import torch
from torch import Tensor, nn

from . import _library
from ._errors import FormatError, raise_as
from ._files import write_file
from ._session import _PARTS, Array, Metric, Session, Views, array_at, described, number_of
from ._torch_data import Loader, Stream, samples_from, samples_of

_gather = _library.lib.tc_gather

Parts = Iterable[Tuple[Any, float]]
"""Batches, each with its share of all samples."""

if TYPE_CHECKING:
    from .torch import Objective


def numpy_type(precision: str) -> Any:
    return np.float64 if precision == "double" else np.float32


def trainable(module: nn.Module) -> List[nn.Parameter]:
    return [p for p in module.parameters() if p.requires_grad]


def flat(module: nn.Module) -> Array:
    with torch.no_grad():
        parts = [p.detach().reshape(-1) for p in trainable(module)]
        row: Array = torch.cat(parts).numpy().copy()
    return row


def pieces_of(row: Tensor, module: nn.Module) -> List[Tensor]:
    """The row as tensors of the parameters' shapes, in the same memory."""
    pieces, at = [], 0
    for p in trainable(module):
        pieces.append(row[at : at + p.numel()].view(p.shape))
        at += p.numel()
    return pieces


def bind(module: nn.Module, row: Tensor) -> None:
    for p, piece in zip(trainable(module), pieces_of(row, module)):
        p.data = piece


class _Agent:
    """An agent's copy of the module. Its parameters are views of the run's rows."""

    def __init__(self, template: nn.Module) -> None:
        self.module = copy.deepcopy(template)
        self.parameters = trainable(self.module)
        # The addresses of the gradients, for the library to read.
        self._places = (ctypes.c_void_p * len(self.parameters))()
        self._sizes = (ctypes.c_size_t * len(self.parameters))(
            *(p.numel() for p in self.parameters)
        )
        self._precision = self.parameters[0].element_size()
        self.shown: Optional[List[Tensor]] = None
        self.training = True
        self.has_buffers = any(True for _ in self.module.buffers())
        self.module.train()

    def show(self, pieces: List[Tensor]) -> None:
        """Lets the parameters be these tensors."""
        if self.shown is not pieces:
            for p, piece in zip(self.parameters, pieces):
                p.data = piece
            self.shown = pieces

    def collect(self, row: int) -> bool:
        """Writes the gradients into the row at this address; False if one is not finite. The
        library does both in one pass. Lending autograd the row's memory to add to would cost more:
        it must be zeroed, read and written again."""
        places, kept = self._places, []
        for k, p in enumerate(self.parameters):
            grad = p.grad
            if grad is None:
                places[k] = None
                continue
            if grad.layout is not torch.strided:
                grad = grad.to_dense()
            if not grad.is_contiguous():
                grad = grad.contiguous()
            kept.append(grad)
            places[k] = grad.data_ptr()
        code = _gather(row, places, self._sizes, len(places), self._precision)
        if code not in (_library.OK, _library.FORMAT):
            raise_as(code, _library.message())
        return bool(code == _library.OK)

    def train(self, on: bool) -> None:
        if self.training is not on:
            self.module.train(on)
            self.training = on

    def buffers(self) -> Dict[str, Tensor]:
        """Copies of the buffers, such as the running statistics of BatchNorm."""
        return {name: b.detach().clone() for name, b in self.module.named_buffers()}

    def set_buffers(self, values: Mapping[str, Tensor]) -> None:
        with torch.no_grad():
            for name, buffer in self.module.named_buffers():
                buffer.copy_(values[name])


class _Before:
    """What a training step changes beside the gradients, as it was before the step: each agent's
    buffers, and the state of torch's generator, which Dropout draws from."""

    def __init__(self, number: int, agents: List[_Agent]) -> None:
        self.number = number
        self._generator = torch.get_rng_state()
        self._kept = [(agent, agent.buffers()) for agent in agents if agent.has_buffers]

    def restore(self) -> None:
        torch.set_rng_state(self._generator)
        for agent, buffers in self._kept:
            agent.set_buffers(buffers)


class TorchSession(Session):
    """Answers by a module for each agent, whose parameters are views of the run's rows."""

    default_level = "local"

    def __init__(
        self,
        objective: "Objective",
        agents: int,
        double: bool,
        metrics: Mapping[str, Metric],
        test: Any,
    ) -> None:
        super().__init__(objective, agents, objective.dimension, double, metrics)
        self.objective: "Objective" = objective
        self.test = objective.test if test is None else samples_from(test, "test")
        if self.test is not None:
            self.metrics.append(("accuracy", self._accuracy))
        self._agents: Dict[int, _Agent] = {}
        self._streams: Dict[int, Stream] = {}
        self._before: Optional[_Before] = None

    def forget(self) -> None:
        super().forget()
        self._agents.clear()
        self._streams.clear()
        self._before = None

    def agent(self, number: int) -> _Agent:
        agent = self._agents.get(number)
        if agent is None:
            agent = self._agents[number] = _Agent(self.objective.template)
        return agent

    def _tensors(self, views: Views) -> List[Tuple[List[Tensor], int]]:
        """The rows of models as tensors of the parameters' shapes, and where the rows of gradients
        lie."""
        if views.tensors is None:
            views.tensors = [
                (pieces_of(tensor_over(x), self.objective.template), _address(g))
                for x, g in views.rows
            ]
        tensors: List[Tuple[List[Tensor], int]] = views.tensors
        return tensors

    def answerer(self) -> Callable[[], int]:
        question, unpack = self.question, _PARTS.unpack_from

        def answer() -> int:
            number, kind, first, rows, round, where, batch, ends = unpack(question)
            if kind == _library.METRICS:
                self.fill_metrics(question)
                return int(number)
            if kind == _library.ACCURACY:
                with torch.no_grad():
                    self.fill_accuracy(question)
                return int(number)
            views = self.views(where, first, rows)
            drawn = self.batches(batch, ends, rows) if batch else None
            measuring = question.measuring != 0
            parts = [
                self._parts(first + r, round, None if drawn is None else drawn[r], measuring)
                for r in range(rows)
            ]
            if not measuring:
                self._begin(number, range(first, first + rows))
            with torch.enable_grad():
                for r in range(rows):
                    self._row(views, r, first + r, round, parts[r], measuring)
            return int(number)

        return answer

    def _begin(self, number: int, agents: range) -> None:
        """Keeps what a training step changes beside the gradients, or brings it back if this
        question was asked before and left open by an exception."""
        before = self._before
        if before is None or before.number != number:
            self._before = _Before(number, [self.agent(agent) for agent in agents])
        else:
            before.restore()

    def _parts(self, number: int, round: int, drawn: Optional[Array], measuring: bool) -> Parts:
        """What agent `number` is evaluated on: batches, each with its share of the samples."""
        source = self.objective.sources[number]
        if isinstance(source, Loader) and not measuring:
            stream = self._streams.get(number)
            if stream is None:
                stream = self._streams[number] = Stream(source)
            return [(stream.batch(round), 1.0)]
        samples = samples_of(source)
        if drawn is not None:
            return [(samples.batch(drawn), 1.0)]
        chunks = samples.chunks(self.objective.chunk)
        return ((batch, count / samples.length) for batch, count in chunks)

    def _row(
        self, views: Views, r: int, number: int, round: int, parts: Parts, measuring: bool
    ) -> None:
        x, g = views.rows[r]
        models, slope = self._tensors(views)[r]
        agent = self.agent(number)
        agent.show(models)
        agent.train(not measuring)
        finite = True
        try:
            loss = self._evaluate(agent.module, number, parts, measuring, views.wants_gradient)
            if views.wants_gradient:
                finite = agent.collect(slope)
        finally:
            for p in agent.parameters:
                p.grad = None
        if views.values is not None:
            if math.isnan(loss) and np.isfinite(x).all():
                raise FloatingPointError(f"agent {number}, round {round}: the loss is nan")
            views.values[r] = loss
        if not finite:
            self.refuse_gradient([(x, g)], number, round)

    def _evaluate(
        self, module: nn.Module, number: int, parts: Parts, measuring: bool, wants_gradient: bool
    ) -> float:
        sum_of_losses = 0.0
        for batch, share in parts:
            if wants_gradient:
                loss = self._loss(module, batch, number)
                torch.autograd.backward(loss if share == 1 else loss * share)
            else:
                with torch.no_grad():
                    loss = self._loss(module, batch, number)
            if measuring:
                sum_of_losses += share * float(loss.detach())
        return sum_of_losses

    def _loss(self, module: nn.Module, batch: Any, number: int) -> Tensor:
        objective = self.objective
        if objective.forward is not None:
            loss = objective.forward(module, batch)
        else:
            if not isinstance(batch, (tuple, list)) or len(batch) != 2:
                raise TypeError(
                    f"agent {number}: a batch is {described(batch)}; expected a pair (input, "
                    "target). For other data give forward(module, batch)"
                )
            assert objective.loss is not None
            loss = objective.loss(module(batch[0]), batch[1])
        if not isinstance(loss, Tensor):
            raise TypeError(f"agent {number}: the loss is {described(loss)}; expected a tensor")
        if loss.numel() != 1:
            raise ValueError(
                f"agent {number}: the loss has the shape {tuple(loss.shape)}; expected one number, "
                'the mean over the batch (reduction="mean")'
            )
        if torch.is_grad_enabled() and not loss.requires_grad:
            raise ValueError(
                f"agent {number}: the loss does not depend on the parameters (no gradient); is "
                "there a detach(), item() or torch.no_grad() in the model or the loss?"
            )
        return loss.reshape(())

    # -- Metrics ----------------------------------------------------------------------------------

    def lend(self, x: Array, row: Optional[int]) -> Any:
        """The module of agent `row` (or of the first) with the weights x, for a metric."""
        agent = self.agent(row if row is not None else min(self._agents, default=0))
        agent.show(pieces_of(tensor_over(x), self.objective.template))
        agent.train(False)
        return agent.module

    def model(self, x: Array, row: int) -> nn.Module:
        """A module of its own with the weights x and the buffers of agent `row`."""
        made = copy.deepcopy(self.agent(row).module)
        bind(made, torch.from_numpy(np.array(x)))
        return made

    def fill_metrics(self, question: Any) -> None:
        with torch.no_grad():
            super().fill_metrics(question)

    def _accuracy(self, module: nn.Module) -> float:
        assert self.test is not None
        right = 0.0
        for batch, _ in self.test.chunks(self.objective.chunk):
            if not isinstance(batch, (tuple, list)) or len(batch) != 2:
                raise TypeError(f"test: a batch is {described(batch)}; expected (input, target)")
            output, target = module(batch[0]), batch[1]
            count = self.objective._count_right
            if count is not None:
                right += number_of(count(output, target), "accuracy")
            else:
                right += float(_count_right(output, target))
        return right / self.test.length

    # -- Files: buffers such as those of BatchNorm ------------------------------------------------

    def save(self, folder: Path, round: int) -> None:
        """A file for each agent, since each rank writes those of its own agents."""
        for number, agent in self._agents.items():
            if agent.has_buffers:
                arrays = {f"buffer.{name}": b.numpy() for name, b in agent.buffers().items()}
                content = io.BytesIO()
                np.savez(content, round=np.array(round), **arrays)
                write_file(_buffers_file(folder, number), content.getvalue())

    def load(self, folder: Path, round: int, agents: range) -> None:
        for number in agents:
            agent = self.agent(number)
            if not agent.has_buffers:
                continue
            file = _buffers_file(folder, number)
            try:
                with np.load(file, allow_pickle=False) as arrays:
                    found = int(arrays["round"])
                    values = {
                        name: torch.from_numpy(arrays[f"buffer.{name}"]) for name in agent.buffers()
                    }
                agent.set_buffers(values)
            except FileNotFoundError:
                warnings.warn(
                    f"{file}: not there; the buffers of agent {number}, such as BatchNorm's "
                    "statistics, start anew",
                    RuntimeWarning,
                )
                continue
            except (OSError, EOFError, ValueError, KeyError, TypeError, RuntimeError, BadZipFile):
                raise FormatError(
                    f"{file}: damaged, or the buffers of another model than {self.objective.name}"
                ) from None
            if found != round:
                warnings.warn(
                    f"{file}: the buffers are of round {found}, and the checkpoint is of {round}",
                    RuntimeWarning,
                )


def _buffers_file(folder: Path, agent: int) -> Path:
    return folder / "buffers" / f"{agent}.npz"


def tensor_over(row: Array) -> Tensor:
    """A tensor in the row's memory. Rows of models are read-only to NumPy, which torch does not
    know; nothing here writes to them."""
    if not row.flags.writeable:
        row = array_at(_address(row), row.shape, row.strides, row.dtype.str, True, row)
    return torch.from_numpy(row)


def _address(row: Array) -> int:
    return int(row.__array_interface__["data"][0])


def _count_right(output: Tensor, target: Tensor) -> int:
    if output.dim() >= 2 and output.shape[1] > 1:
        return int((output.argmax(dim=1) == target).sum())
    return int(((output.reshape(-1) > 0) == (target.reshape(-1) > 0)).sum())
