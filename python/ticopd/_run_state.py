"""What a run shows: models, logged rows, config, digest."""

from __future__ import annotations

import weakref
from ctypes import byref, c_int32, c_uint64, c_void_p
from typing import Any, Dict, Tuple

import numpy as np
import numpy.typing as npt

from . import _library
from ._library import lib
from ._results import Metrics, metrics_of
from ._run_base import RunBase, doubles
from ._session import array_at
from ._values import whole


class _Rows:
    """The memory of `Run.x`: the models as they were after the last step."""

    __slots__ = ("__array_interface__", "data", "run")

    def __init__(self, data: npt.NDArray[Any], run: "RunState") -> None:
        self.data = data
        self.run = run
        self.__array_interface__ = dict(data.__array_interface__, data=(data.ctypes.data, True))


class RunState(RunBase):
    """Reads; only `x` is kept between two steps."""

    @property
    def round(self) -> int:
        """The last round that was made."""
        return int(lib.tc_run_round(self._address()))

    @property
    def finished(self) -> bool:
        """True after the last round."""
        return bool(lib.tc_run_finished(self._address()))

    @property
    def pending(self) -> bool:
        """True if a step was left in the middle of a round, by an exception or Ctrl-C."""
        return bool(lib.tc_run_pending(self._address()))

    @property
    def digest(self) -> str:
        """A hash of all models at all rounds logged so far. Runs with one digest are the same."""
        with self._user:
            return _library.text_of(lib.tc_run_digest, self._open_handle().address)

    def _models(self) -> Tuple[npt.NDArray[Any], int]:
        """The library's own rows, and the agent of the first."""
        handle = self._open_handle()
        x, first, rows, columns = c_void_p(), c_int32(), c_int32(), c_uint64()
        _library.check(
            lib.tc_run_x(handle.address, byref(x), byref(first), byref(rows), byref(columns))
        )
        size = 8 if self._given.get("precision", "float") == "double" else 4
        shape = (rows.value, columns.value)
        strides = (columns.value * size, size)
        models = array_at(x.value or 0, shape, strides, f"<f{size}", False, handle)
        return models, first.value

    @property
    def x(self) -> npt.NDArray[Any]:
        """The models, one row for each agent that this process hosts: read-only.

        The array follows the run: after every step it shows the models as they are then. Copy it to
        keep a state. A view of it keeps the run alive.
        """
        with self._user:
            shown = self._rows_ref() if self._rows_ref is not None else None
            if shown is None:
                shown = np.asarray(_Rows(self._models()[0].copy(), self))
                self._rows_ref = weakref.ref(shown)
        return shown

    def _refresh(self) -> None:
        """Brings `x` up to date, if anyone looks at it."""
        shown = self._rows_ref() if self._rows_ref is not None else None
        if shown is not None and self._handle is not None:
            holder = shown.base
            assert isinstance(holder, _Rows)
            np.copyto(holder.data, self._models()[0])

    @property
    def hosted(self) -> range:
        """The agents whose models `x` has: all, or those of this rank."""
        with self._user:
            models, first = self._models()
        return range(first, first + len(models))

    def model(self, agent: int) -> Any:
        """The model of an agent: a copy of its row, or for a torch objective a module with its
        weights."""
        agent = whole(agent, "agent")
        hosted = self.hosted
        if agent not in hosted:
            raise IndexError(f"agent {agent} is not among {hosted.start} ... {hosted.stop - 1}")
        row = self.x[agent - hosted.start]
        return row.copy() if self._session is None else self._session.model(row.copy(), agent)

    @property
    def metrics(self) -> Metrics:
        """The logged rows, an array for each column. Cells that were not measured are nan."""
        with self._user:
            return metrics_of(self._columns, self._logged())

    def _logged(self) -> npt.NDArray[np.float64]:
        address = self._open_handle().address
        count = int(lib.tc_run_logged(address))
        cells = np.empty((count, len(self._columns)), np.float64)
        known = self._cells
        have = 0 if known is None else min(len(known), count)
        if known is not None:
            cells[:have] = known[:have]
        if have < count:
            _library.check(lib.tc_run_rows(address, have, count - have, doubles(cells[have:])))
        self._cells = cells
        return cells

    @property
    def summary(self) -> Dict[str, Any]:
        """What run.json would have now: config, digest, ledger, inputs, seconds by phase, ..."""
        with self._user:
            summary: Dict[str, Any] = _library.json_of(
                lib.tc_run_summary, self._open_handle().address
            )
        return summary

    @property
    def config(self) -> Dict[str, Any]:
        """The config with every key, as a dict."""
        return dict(self.summary["config"])

    @property
    def ledger(self) -> Any:
        """The bytes that each agent sent, over each link."""
        return self.summary["ledger"]

    def to_toml(self) -> str:
        """The config as TOML, for `ticopd run` or `Run.from_toml`."""
        return _library.text_of(lib.tc_config_to_toml, _library.encode_json(self.config))
