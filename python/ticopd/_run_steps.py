"""How a run makes rounds, and measures."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Callable, Dict, Optional, cast

import numpy as np

from . import _library
from ._errors import Diverged
from ._library import lib
from ._progress import Progress
from ._run_base import doubles
from ._run_state import RunState
from ._values import whole

if TYPE_CHECKING:
    from ._run import Run

_LEVELS = {"rows": 0, "local": 1, "full": 2}


class RunSteps(RunState):
    """Steps and measurements."""

    def step(
        self,
        rounds: int = 1,
        *,
        log: Optional[int] = None,
        progress: bool = False,
        callback: Optional[Callable[["Run"], Any]] = None,
    ) -> int:
        """Makes up to so many rounds and returns how many: fewer at the end of the run, then 0.

        After an exception in the objective, or Ctrl-C, the run is as it was in the middle of that
        round: the next call finishes the round first, and counts it.

        Args:
            rounds: how many rounds to make.
            log: log every so many rounds; before the first round only.
            progress: shows a line with the time that is left (tqdm if it is installed).
            callback: called with the run after every round; if it returns True, the step ends.
        """
        rounds = whole(rounds, "rounds")
        if callback is not None and not callable(callback):
            raise TypeError(f"callback: a {type(callback).__name__}; give a function of a run")
        if rounds < 0:
            raise ValueError(f"rounds = {rounds}: allowed is 0 or more")
        rounds = min(rounds, 0xFFFFFFFF)
        with self._user:
            handle = self._open_handle()
            if log is not None:
                every = whole(log, "log")
                if not 1 <= every <= 0xFFFFFFFF:
                    raise ValueError(f"log = {every}: allowed is 1 or more")
                _library.check(lib.tc_run_log_every(handle.address, every))
            before = self._round()
            bar = Progress(self, min(rounds, self._iterations() - before)) if progress else None
            try:
                if callback is None:
                    self._make(rounds, bar)
            finally:
                if bar is not None and callback is None:
                    bar.close()
                if callback is None:
                    self._refresh()
        if callback is not None:
            try:
                for _ in range(rounds):
                    with self._user:
                        if lib.tc_run_finished(self._open_handle().address):
                            break
                        try:
                            self._make(1, None)
                        finally:
                            self._refresh()
                    if bar is not None:
                        bar.show()
                    if callback(cast("Run", self)) is True:
                        break
            finally:
                if bar is not None:
                    bar.close()
        return self._round() - before

    def _make(self, rounds: int, bar: Optional[Progress]) -> None:
        """Makes rounds; the library's lock is held."""
        handle = self._open_handle()
        if self._diverged is not None:
            raise self._diverged
        if rounds == 0:
            return
        show = bar.show if bar is not None else None
        try:
            if self._answer is not None:
                _library.check(lib.tc_run_step(handle.address, rounds))
                self._work(show)
            else:
                self._in_pieces(rounds, show)
        except Diverged as error:
            error.round = self._round()
            self._diverged = error
            raise
        if show is not None:
            show()
        self._warn()

    def _in_pieces(self, rounds: int, show: Optional[Callable[[], None]]) -> None:
        """Rounds of an objective of the library, which asks nothing: in pieces of a fraction of a
        second, since only between two pieces does Ctrl-C end the step."""
        address = self._open_handle().address
        piece = 1
        while rounds > 0 and not lib.tc_run_finished(address):
            piece = min(piece, rounds)
            began = time.monotonic()
            _library.check(lib.tc_run_step(address, piece))
            self._work(show)
            rounds -= piece
            if time.monotonic() - began < 0.05:
                piece *= 2

    def measure(self, level: str = "full") -> Dict[str, float]:
        """Measures the models now: column and value, as a logged row. It is not logged.

        Args:
            level: "rows" (consensus, surrogates, duals, bits), "local" (also each agent's own loss)
                or "full" (also every model on all data, with gradients).
        """
        if level not in _LEVELS:
            raise ValueError(f'level = "{level}": allowed are {", ".join(_LEVELS)}')
        with self._user:
            handle = self._open_handle()
            _library.check(lib.tc_run_measure(handle.address, _LEVELS[level]))
            try:
                self._work()
            except BaseException:
                self._give_up(handle)
                raise
            cells = np.empty(len(self._columns), np.float64)
            _library.check(lib.tc_run_measured(handle.address, doubles(cells)))
        return {name: float(cell) for name, cell in zip(self._columns, cells) if cell == cell}
