"""How the questions of a run are answered.

A session belongs to one run. It knows where the run's rows lie in memory, hands them to the
objective as arrays, and checks what comes back.
"""

from __future__ import annotations

import ctypes
import math
import numbers
import struct
from pathlib import Path
from typing import Any, Callable, Dict, List, Mapping, NoReturn, Optional, Tuple

import numpy as np
import numpy.typing as npt

from . import _library
from ._library import Question
from ._objective import overrides

Array = npt.NDArray[Any]
Metric = Callable[[Any], float]

# A question as Python reads it in one go: number, kind, first, rows, round, the five words that
# say where x, g and the values lie, batch, batch_ends.
_PARTS = struct.Struct("@QiiiI40sNN")
_WHERE = struct.Struct("@NNNNN")
_INFINITY = math.inf


class Memory:
    """Memory of a run as NumPy sees it. It keeps the run's handle alive."""

    __slots__ = ("__array_interface__", "owner")

    def __init__(
        self,
        address: int,
        shape: Tuple[int, ...],
        strides: Tuple[int, ...],
        kind: str,
        writable: bool,
        owner: object,
    ) -> None:
        self.__array_interface__ = {
            "version": 3,
            "data": (address, not writable),
            "shape": shape,
            "strides": strides,
            "typestr": kind,
        }
        self.owner = owner


def array_at(
    address: int,
    shape: Tuple[int, ...],
    strides: Tuple[int, ...],
    kind: str,
    writable: bool,
    owner: object,
) -> Array:
    return np.asarray(Memory(address, shape, strides, kind, writable, owner))


class Views:
    """The arrays of one question, kept for the next one at the same place."""

    __slots__ = ("X", "G", "flat", "values", "rows", "wants_gradient", "tensors")

    def __init__(self, session: "Session", where: bytes, rows: int) -> None:
        x, x_stride, g, g_stride, values = _WHERE.unpack(where)
        d, size, kind, owner = session.dimension, session.size, session.typestr, session.owner
        self.X = array_at(x, (rows, d), (x_stride * size, size), kind, False, owner)
        self.wants_gradient = g != 0
        if g:
            self.G = array_at(g, (rows, d), (g_stride * size, size), kind, True, owner)
        else:
            self.G = session.scratch(rows)
        self.G.fill(np.nan)  # so that a gradient which is never written is noticed
        self.flat: Optional[Array] = None
        if g and g_stride == d:
            self.flat = self.G.reshape(rows * d)
        self.values: Optional[Array] = None
        if values:
            self.values = array_at(values, (rows,), (8,), "<f8", True, owner)
        self.rows = [(self.X[r], self.G[r]) for r in range(rows)]
        self.tensors: Any = None  # the same, as torch sees it


class Session:
    """The part that sessions of NumPy and torch objectives share."""

    default_level = "full"

    def __init__(
        self,
        objective: Any,
        agents: int,
        dimension: int,
        double: bool,
        metrics: Optional[Mapping[str, Metric]],
    ) -> None:
        self.objective = objective
        self.agents = agents
        self.dimension = dimension
        self.size = 8 if double else 4
        self.typestr = "<f8" if double else "<f4"
        self.dtype = np.dtype(np.float64 if double else np.float32)
        self.metrics: List[Tuple[str, Metric]] = list((metrics or {}).items())
        self.owner: object = None
        self.question = Question()
        self._views: Dict[Tuple[bytes, int, int], Views] = {}
        self._scratch: Dict[int, Array] = {}

    def scratch(self, rows: int) -> Array:
        if rows not in self._scratch:
            self._scratch[rows] = np.empty((rows, self.dimension), self.dtype)
        return self._scratch[rows]

    def forget(self) -> None:
        """Lets go of the run's memory."""
        self._views.clear()
        self.owner = None

    def views(self, where: bytes, first: int, rows: int) -> Views:
        key = (where, first, rows)
        views = self._views.get(key)
        if views is None:
            if len(self._views) >= 64:  # measurements ask about memory that comes and goes
                self._views.clear()
            views = self._views[key] = Views(self, where, rows)
        return views

    def answerer(self) -> Callable[[], int]:
        """A function that answers the question in `self.question` and returns its number."""
        raise NotImplementedError

    # Extra state, beside the library's checkpoint.

    def save(self, folder: Path, round: int) -> None:
        pass

    def load(self, folder: Path, round: int, agents: range) -> None:
        pass

    # Checks

    def batches(self, batch: int, ends: int, rows: int) -> List[Array]:
        """The sample numbers of each row, copied."""
        bounds = (ctypes.c_uint64 * rows).from_address(ends)[:]
        total = bounds[-1]
        if total == 0:
            return [np.empty(0, np.intp) for _ in range(rows)]
        numbers_of_all = array_at(batch, (total,), (4,), "<u4", False, None).astype(np.intp)
        return [numbers_of_all[first:end] for first, end in zip([0, *bounds], bounds)]

    @staticmethod
    def refuse_gradient(rows: List[Tuple[Array, Array]], first: int, round: int) -> None:
        """Raises if a gradient is not finite at a model that is. A model that is not finite is
        the library's to report: the run diverged."""
        for r, (x, g) in enumerate(rows):
            bad = np.flatnonzero(~np.isfinite(g))
            if len(bad) == 0 or not np.isfinite(x).all():
                continue
            k = int(bad[0])
            largest = float(np.abs(x).max())
            if len(bad) == len(g) and np.isnan(g).all():
                what = "the gradient is nan everywhere; was it written into g?"
            else:
                what = f"the gradient is {g[k]} at coordinate {k}"
            raise FloatingPointError(
                f"agent {first + r}, round {round}: {what} ({len(bad)} of {len(g)} coordinates; "
                f"the model's largest magnitude is {largest:g})"
            )

    def metric_names(self) -> List[str]:
        return [name for name, _ in self.metrics]

    def lend(self, x: Array, row: Optional[int]) -> Any:
        """What a metric is given for the model x, that of agent `row` or of none."""
        return x

    def model(self, x: Array, row: int) -> Any:
        """What `Run.model` gives for the model x of an agent."""
        return x

    def fill_metrics(self, question: Question) -> None:
        """Answers a question about the metrics."""
        d, size = self.dimension, self.size
        rows, count = question.rows, len(self.metrics)
        X = array_at(
            question.x, (rows, d), (question.x_stride * size, size), self.typestr, False, self.owner
        )
        values = array_at(question.values, (rows, count), (8 * count, 8), "<f8", True, self.owner)
        for r in range(rows):
            agent = question.first + r if question.first >= 0 else None
            model = self.lend(X[r], agent)
            for m, (name, metric) in enumerate(self.metrics):
                values[r, m] = number_of(metric(model), f"metric {name!r}", name == "accuracy")

    def fill_accuracy(self, question: Question) -> None:
        x = array_at(question.x, (self.dimension,), (self.size,), self.typestr, False, self.owner)
        accuracy = dict(self.metrics)["accuracy"]
        value = number_of(accuracy(self.lend(x, None)), "accuracy", True)
        array_at(question.values, (1,), (8,), "<f8", True, self.owner)[0] = value


def number_of(value: Any, what: str, is_share: bool = False) -> float:
    """The number that a function of the user's returned; a share lies between 0 and 1."""
    if isinstance(value, numbers.Real):
        number = float(value)
    elif hasattr(value, "item") and getattr(value, "size", None) == 1:
        number = float(value.item())
    elif hasattr(value, "numel") and value.numel() == 1:
        number = float(value.item())
    else:
        raise TypeError(f"{what}: returned {described(value)}; allowed is a number")
    if is_share and (number < 0 or number > 1 + 1e-6):
        raise ValueError(f"{what}: returned {number:g}; allowed is a share from 0 to 1")
    return number


def described(value: Any) -> str:
    shape = getattr(value, "shape", None)
    if shape is not None:
        return f"a {type(value).__name__} of shape {tuple(shape)}"
    return "None" if value is None else f"a {type(value).__name__}"


class NumpySession(Session):
    """Answers by an objective with value_and_gradient or gradients."""

    def answerer(self) -> Callable[[], int]:
        if overrides(self.objective, "gradients"):
            return self._all_rows()
        return self._row_by_row()

    def _other(self, kind: int) -> int:
        question = self.question
        if kind == _library.METRICS:
            self.fill_metrics(question)
        elif kind == _library.ACCURACY:
            self.fill_accuracy(question)
        else:
            raise RuntimeError(f"the library asks a question of the unknown kind {kind}")
        return int(question.number)

    # Everything that these two use is bound to local names: a round of a small problem takes ten
    # microseconds, and Python's own work is a good part of it.

    def _all_rows(self) -> Callable[[], int]:
        objective, question, cache = self.objective, self.question, self._views
        unpack, dot = _PARTS.unpack_from, np.dot
        gradients = objective.gradients

        def answer() -> int:
            number, kind, first, rows, round, where, batch, ends = unpack(question)
            if kind != 1:
                return self._other(kind)
            views = cache.get((where, first, rows))
            if views is None:
                views = self.views(where, first, rows)
            objective.round = round
            objective.wants_values = views.values is not None
            objective.wants_gradient = views.wants_gradient
            objective.batch = self.batches(batch, ends, rows) if batch else None
            losses = gradients(first, views.X, views.G)
            if views.values is not None:
                self._take_losses(losses, views, first, round)
            elif losses is not None and getattr(losses, "ndim", 1) > 1:
                self._refuse_losses(losses, rows)
            flat = views.flat
            if flat is None:
                if views.wants_gradient:
                    self.refuse_gradient(views.rows, first, round)
            elif not dot(flat, flat) < _INFINITY:
                self.refuse_gradient(views.rows, first, round)
            return int(number)

        return answer

    def _take_losses(self, losses: Any, views: Views, first: int, round: int) -> None:
        values = views.values
        assert values is not None
        if losses is None:
            self._refuse_losses(losses, len(values))
        try:
            given = np.asarray(losses)
        except (TypeError, ValueError):
            self._refuse_losses(losses, len(values))
        if given.dtype.kind not in "fiub":  # texts and complex numbers would be converted
            self._refuse_losses(losses, len(values))
        if given.shape != values.shape:
            self._refuse_losses(losses, len(values))
        values[:] = given
        if not np.dot(values, values) < _INFINITY:
            for r, loss in enumerate(values):
                self._refuse_nan(float(loss), views.rows[r][0], first + r, round)

    @staticmethod
    def _refuse_losses(losses: Any, rows: int) -> NoReturn:
        kind = ValueError if hasattr(losses, "shape") else TypeError
        raise kind(
            f"gradients: returned {described(losses)}; expected {rows} losses, one for each row of "
            "X (gradients are written into G, and only losses are returned)"
        )

    @staticmethod
    def _refuse_nan(loss: float, x: Array, agent: int, round: int) -> None:
        if math.isnan(loss) and np.isfinite(x).all():
            raise FloatingPointError(f"agent {agent}, round {round}: the loss is nan")

    def _row_by_row(self) -> Callable[[], int]:
        objective, question, cache = self.objective, self.question, self._views
        unpack, dot = _PARTS.unpack_from, np.dot
        value_and_gradient = objective.value_and_gradient

        def answer() -> int:
            number, kind, first, rows, round, where, batch, ends = unpack(question)
            if kind != 1:
                return self._other(kind)
            views = cache.get((where, first, rows))
            if views is None:
                views = self.views(where, first, rows)
            values, wants_gradient = views.values, views.wants_gradient
            objective.round = round
            objective.wants_values = values is not None
            objective.wants_gradient = wants_gradient
            batches = self.batches(batch, ends, rows) if batch else None
            if batches is None:
                objective.batch = None
            agent, r = first, 0
            for x, g in views.rows:
                if batches is not None:
                    objective.batch = batches[r]
                loss = value_and_gradient(agent, x, g)
                if values is not None:
                    if type(loss) is not float:
                        loss = self._loss(loss, agent)
                    if loss != loss:
                        self._refuse_nan(loss, x, agent, round)
                    values[r] = loss
                if wants_gradient and not dot(g, g) < _INFINITY:
                    self.refuse_gradient([(x, g)], agent, round)
                agent += 1
                r += 1
            return int(number)

        return answer

    @staticmethod
    def _loss(loss: Any, agent: int) -> float:
        if isinstance(loss, numbers.Real) and not isinstance(loss, bool):
            return float(loss)
        if isinstance(loss, np.ndarray) and loss.size == 1 and loss.dtype.kind in "fiu":
            return float(loss.reshape(()))
        kind = ValueError if hasattr(loss, "shape") else TypeError
        raise kind(
            f"agent {agent}: value_and_gradient returned {described(loss)}; expected the loss, a "
            "number (the gradient is written into g, and only the loss is returned)"
        )
