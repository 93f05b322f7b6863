"""Objectives from PyTorch: any nn.Module, with a data set or loader for each agent.

>>> loss = torch.nn.functional.cross_entropy
>>> objective = ticopd.torch.Objective(model, loss, datasets, batch_size=32)
>>> run = ticopd.Run(objective, graph="ring", codec="qsgd:8",
...                  algorithm=ticopd.TiCoPD(alpha=0.2, theta=1, eta=0.1))
"""

from __future__ import annotations

import copy
import math
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np
import numpy.typing as npt

try:
    import torch
except ImportError:
    raise ImportError(
        "ticopd.torch needs PyTorch, which is not installed: https://pytorch.org says how"
    ) from None

from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset, IterableDataset, Subset, TensorDataset
from torch.utils.data.dataloader import default_collate

from . import _library
from ._session import _PARTS, Array, Metric, Session, Views, array_at, described, number_of

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
        self.start: Array = _flat(self.template)
        self.agents = len(datasets)
        self.sources: List[Union["_Samples", "_Loader"]] = [
            _source(data, agent) for agent, data in enumerate(datasets)
        ]
        loaders = [source for source in self.sources if isinstance(source, _Loader)]
        if loaders and len(loaders) < self.agents:
            raise TypeError("datasets: some are loaders and some are not; give one kind")
        if loaders and batch_size is not None:
            raise ValueError("batch_size: a DataLoader has its own; leave it out")
        if batch_size is not None and batch_size < 1:
            raise ValueError(f"batch_size = {batch_size}: allowed is 1 or more")
        self.batch_size = max(l.batch_size for l in loaders) if loaders else batch_size
        self.samples = [source.length for source in self.sources]
        self.test = None if test is None else _samples(test, "test")
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
        return source.fingerprint() if isinstance(source, _Samples) else None

    def module(self, x: npt.ArrayLike) -> nn.Module:
        """A module of its own with the weights of a row, `objective.module(run.x[3])`."""
        made = copy.deepcopy(self.template)
        row = torch.from_numpy(np.array(x, _numpy(self.precision)))
        if row.shape != (self.dimension,):
            raise ValueError(f"x has the shape {tuple(row.shape)}; expected ({self.dimension},)")
        _bind(made, row)
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


def _numpy(precision: str) -> Any:
    return np.float64 if precision == "double" else np.float32


def _trainable(module: nn.Module) -> List[nn.Parameter]:
    return [p for p in module.parameters() if p.requires_grad]


def _flat(module: nn.Module) -> Array:
    with torch.no_grad():
        parts = [p.detach().reshape(-1) for p in _trainable(module)]
        row: Array = torch.cat(parts).numpy().copy()
    return row


def _pieces(row: Tensor, module: nn.Module) -> List[Tensor]:
    """The row as tensors of the parameters' shapes, in the same memory."""
    pieces, at = [], 0
    for p in _trainable(module):
        pieces.append(row[at : at + p.numel()].view(p.shape))
        at += p.numel()
    return pieces


def _bind(module: nn.Module, row: Tensor) -> None:
    for p, piece in zip(_trainable(module), _pieces(row, module)):
        p.data = piece


class _Samples:
    """The samples of an agent, by number."""

    def __init__(self, data: Any, what: str) -> None:
        self.data = data
        self.tensors: Optional[Tuple[Tensor, ...]] = None
        if isinstance(data, TensorDataset):
            self.tensors = data.tensors
        elif isinstance(data, Subset) and isinstance(data.dataset, TensorDataset):
            index = torch.as_tensor(data.indices)
            self.tensors = tuple(t[index] for t in data.dataset.tensors)
        self.length = len(data)
        if self.length < 1:
            raise ValueError(f"{what}: it has no samples")

    def batch(self, numbers: Array) -> Any:
        if self.tensors is not None:
            index = torch.from_numpy(numbers)
            return [t[index] for t in self.tensors]
        return default_collate([self.data[int(i)] for i in numbers])

    def chunks(self, size: int) -> Iterator[Tuple[Any, int]]:
        """All samples in order, in parts, each with its number of samples."""
        for first in range(0, self.length, size):
            end = min(first + size, self.length)
            if self.tensors is not None:
                yield [t[first:end] for t in self.tensors], end - first
            else:
                yield default_collate([self.data[i] for i in range(first, end)]), end - first

    def fingerprint(self) -> Optional[str]:
        if self.tensors is None:
            return None
        import hashlib

        checksum = hashlib.sha256()
        for t in self.tensors:
            if not isinstance(t, Tensor) or t.is_sparse:
                return None
            array = t.detach().contiguous().numpy()
            checksum.update(f"{array.dtype} {array.shape}".encode())
            checksum.update(memoryview(array.reshape(-1)).cast("B"))
        return checksum.hexdigest()[:32]


class _Loader:
    """A DataLoader, which makes the batches itself."""

    def __init__(self, loader: Any, what: str) -> None:
        if isinstance(loader.dataset, IterableDataset):
            raise TypeError(f"{what}: an IterableDataset has no length; use a Dataset that has one")
        self.loader = loader
        self.length = len(loader.dataset)
        if self.length < 1:
            raise ValueError(f"{what}: it has no samples")
        own = loader.batch_size or getattr(loader.batch_sampler, "batch_size", None) or 1
        self.batch_size = min(int(own), self.length)


def _samples(data: Any, what: str) -> _Samples:
    if isinstance(data, (tuple, list)) and data and all(isinstance(t, Tensor) for t in data):
        lengths = {len(t) for t in data}
        if len(lengths) > 1:
            raise ValueError(f"{what}: tensors of {sorted(lengths)} samples; they must agree")
        data = TensorDataset(*data)
    if isinstance(data, DataLoader):
        data = data.dataset
    if isinstance(data, IterableDataset):
        raise TypeError(f"{what}: an IterableDataset has no length; use a Dataset that has one")
    if not hasattr(data, "__getitem__") or not hasattr(data, "__len__") or isinstance(data, Tensor):
        raise TypeError(
            f"{what}: {described(data)}; allowed is a Dataset with a length, or a tuple of tensors"
        )
    return _Samples(data, what)


def _source(data: Any, agent: int) -> Union[_Samples, _Loader]:
    what = f"datasets[{agent}]"
    if isinstance(data, DataLoader):
        return _Loader(data, what)
    return _samples(data, what)


class _Agent:
    """An agent's copy of the module. Its parameters are views of the run's rows."""

    def __init__(self, template: nn.Module) -> None:
        self.module = copy.deepcopy(template)
        self.parameters = _trainable(self.module)
        self.shown: Optional[List[Tensor]] = None
        self.training = True
        self.module.train()

    def show(self, pieces: List[Tensor]) -> None:
        """Lets the parameters be these tensors."""
        if self.shown is not pieces:
            for p, piece in zip(self.parameters, pieces):
                p.data = piece
            self.shown = pieces

    def train(self, on: bool) -> None:
        if self.training is not on:
            self.module.train(on)
            self.training = on


class TorchSession(Session):
    """Answers by a module for each agent, whose parameters are views of the run's rows."""

    default_level = "local"

    def __init__(
        self,
        objective: Objective,
        agents: int,
        double: bool,
        metrics: Mapping[str, Metric],
        test: Any,
    ) -> None:
        super().__init__(objective, agents, objective.dimension, double, metrics)
        self.objective: Objective = objective
        self.test = objective.test if test is None else _samples(test, "test")
        if self.test is not None:
            self.metrics.append(("accuracy", self._accuracy))
        self._agents: Dict[int, _Agent] = {}
        self._iterators: Dict[int, Any] = {}
        self._latest: Dict[int, Tuple[int, Any]] = {}  # an agent's last round and its batch

    def forget(self) -> None:
        super().forget()
        self._agents.clear()
        self._latest.clear()
        self._iterators.clear()

    def agent(self, number: int) -> _Agent:
        agent = self._agents.get(number)
        if agent is None:
            agent = self._agents[number] = _Agent(self.objective.template)
        return agent

    def _tensors(self, views: Views) -> List[Tuple[List[Tensor], List[Tensor]]]:
        """The rows of models and gradients as tensors of the parameters' shapes."""
        if views.tensors is None:
            views.tensors = [
                (
                    _pieces(_tensor_over(x), self.objective.template),
                    _pieces(torch.from_numpy(g), self.objective.template),
                )
                for x, g in views.rows
            ]
        tensors: List[Tuple[List[Tensor], List[Tensor]]] = views.tensors
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
            batches = self.batches(batch, ends, rows) if batch else None
            measuring = question.measuring != 0
            with torch.enable_grad():
                for r in range(rows):
                    numbers = None if batches is None else batches[r]
                    self._row(views, r, first + r, round, numbers, measuring)
            return int(number)

        return answer

    def _row(
        self,
        views: Views,
        r: int,
        number: int,
        round: int,
        numbers: Optional[Array],
        measuring: bool,
    ) -> None:
        x, g = views.rows[r]
        models, slopes = self._tensors(views)[r]
        agent = self.agent(number)
        agent.show(models)
        agent.train(not measuring)
        gradients: Optional[List[Tensor]] = None
        if views.wants_gradient:
            g.fill(0)
            gradients = slopes
            for p, piece in zip(agent.parameters, gradients):
                p.grad = piece
        try:
            loss = self._evaluate(agent, number, round, numbers, measuring, gradients is not None)
            if gradients is not None:
                self._collect(agent, gradients)
        finally:
            if gradients is not None:
                for p in agent.parameters:
                    p.grad = None
        if views.values is not None:
            if math.isnan(loss) and np.isfinite(x).all():
                raise FloatingPointError(f"agent {number}, round {round}: the loss is nan")
            views.values[r] = loss
        if views.wants_gradient and not np.dot(g, g) < math.inf:
            self.refuse_gradient([(x, g)], number, round)

    @staticmethod
    def _collect(agent: _Agent, gradients: List[Tensor]) -> None:
        """Autograd adds into the tensors given, unless it had a reason to make its own."""
        for p, piece in zip(agent.parameters, gradients):
            if p.grad is not None and p.grad is not piece and p.grad.data_ptr() != piece.data_ptr():
                piece.copy_(p.grad.to_dense() if p.grad.is_sparse else p.grad)

    def _evaluate(
        self,
        agent: _Agent,
        number: int,
        round: int,
        numbers: Optional[Array],
        measuring: bool,
        wants_gradient: bool,
    ) -> float:
        source = self.objective.sources[number]
        if isinstance(source, _Loader) and not measuring:
            parts: Any = [(self._next_batch(source, number, round), 1)]
            total = 1
        elif numbers is not None:
            parts = [(_samples_of(source).batch(numbers), 1)]
            total = 1
        else:
            samples = _samples_of(source)
            parts, total = samples.chunks(self.objective.chunk), samples.length
        sum_of_losses = 0.0
        for batch, count in parts:
            share = count / total
            if wants_gradient:
                loss = self._loss(agent.module, batch, number)
                (loss if share == 1 else loss * share).backward()
            else:
                with torch.no_grad():
                    loss = self._loss(agent.module, batch, number)
            if measuring:
                sum_of_losses += share * float(loss)
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

    def _next_batch(self, source: _Loader, number: int, round: int) -> Any:
        """The loader's batch for this round; the same if it is asked for again."""
        latest = self._latest.get(number)
        if latest is not None and latest[0] == round:
            return latest[1]
        iterator = self._iterators.get(number)
        if iterator is None:
            iterator = self._iterators[number] = iter(source.loader)
        try:
            batch = next(iterator)
        except StopIteration:
            iterator = self._iterators[number] = iter(source.loader)
            batch = next(iterator)
        self._latest[number] = (round, batch)
        return batch

    # -- Metrics ----------------------------------------------------------------------------------

    def lend(self, x: Array, row: Optional[int]) -> Any:
        """The module of agent `row` (or of the first) with the weights x, for a metric."""
        agent = self.agent(row if row is not None else min(self._agents, default=0))
        agent.show(_pieces(_tensor_over(x), self.objective.template))
        agent.train(False)
        return agent.module

    def model(self, x: Array, row: int) -> nn.Module:
        """A module of its own with the weights x and the buffers of agent `row`."""
        made = copy.deepcopy(self.agent(row).module)
        _bind(made, torch.from_numpy(np.array(x)))
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

    # -- State: buffers such as those of BatchNorm ------------------------------------------------

    def state(self) -> Dict[str, Array]:
        """Every agent's buffers as arrays, by "agent/name"."""
        found = {}
        for number, agent in self._agents.items():
            for name, buffer in agent.module.named_buffers():
                found[f"{number}/{name}"] = buffer.detach().numpy().copy()
        return found

    def restore(self, state: Mapping[str, Array]) -> None:
        for key, value in state.items():
            number, _, name = key.partition("/")
            buffers = dict(self.agent(int(number)).module.named_buffers())
            if name in buffers:
                with torch.no_grad():
                    buffers[name].copy_(torch.from_numpy(np.array(value)))

    def save(self, folder: Path) -> None:
        state = self.state()
        if state:
            with open(folder / "buffers.npz.part", "wb") as file:
                np.savez(file, **state)
            (folder / "buffers.npz.part").replace(folder / "buffers.npz")

    def load(self, folder: Path) -> None:
        file = folder / "buffers.npz"
        if file.exists():
            with np.load(file, allow_pickle=False) as state:
                self.restore(dict(state))


def _tensor_over(row: Array) -> Tensor:
    """A tensor in the row's memory. Rows of models are read-only to NumPy, which torch does not
    know; nothing here writes to them."""
    if not row.flags.writeable:
        row = array_at(_address(row), row.shape, row.strides, row.dtype.str, True, row)
    return torch.from_numpy(row)


def _address(row: Array) -> int:
    return int(row.__array_interface__["data"][0])


def _samples_of(source: Union[_Samples, _Loader]) -> _Samples:
    return source if isinstance(source, _Samples) else _Samples(source.loader.dataset, "datasets")


def _count_right(output: Tensor, target: Tensor) -> int:
    if output.dim() >= 2 and output.shape[1] > 1:
        return int((output.argmax(dim=1) == target).sum())
    return int(((output.reshape(-1) > 0) == (target.reshape(-1) > 0)).sum())
