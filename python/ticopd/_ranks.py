"""Runs over several processes."""

from __future__ import annotations

import os
import re
import sys
import traceback
from ctypes import byref, c_void_p
from types import TracebackType
from typing import Any, Optional, Type

from . import _library
from ._errors import Error, Interrupted, UsageError
from ._library import lib


class Ranks:
    """The processes that mpirun started. Made by `ticopd.ranks()`."""

    def __init__(self, deadline_s: float = 60.0) -> None:
        self._deadline_s = float(deadline_s)
        self._handle: Optional[c_void_p] = None
        self._process = _library.process()

    def __enter__(self) -> "Ranks":
        out = c_void_p()
        _library.check(lib.tc_ranks_join(self._deadline_s, byref(out)))
        self._handle = out
        self._process = _library.process()
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        if self._process is not _library.process():
            return
        handle = self._address()
        if error is None:
            self._handle = None
            _library.check(lib.tc_ranks_close(handle))
        else:
            self._fail(handle, error, trace)

    def _address(self) -> c_void_p:
        if self._process is not _library.process():
            raise UsageError("these ranks belong to the process that was forked")
        if self._handle is None:
            raise UsageError("ranks: use them inside `with ticopd.ranks() as ranks:`")
        return self._handle

    def _fail(self, handle: Any, error: BaseException, trace: Optional[TracebackType]) -> None:
        """Tells the other ranks, prints, and ends this process: MPI allows nothing else."""
        code = error.code if isinstance(error, Error) else 70
        if isinstance(error, KeyboardInterrupt):
            code = 75
        if isinstance(error, SystemExit):
            code = error.code if isinstance(error.code, int) and error.code else 70
        heard = isinstance(error, Interrupted)
        why = str(error) if heard else f"{type(error).__name__}: {error}"
        report = c_void_p()
        try:
            # mpirun kills all ranks when the first one has ended, so each prints before the others
            # may end. A rank that only heard of the failure says nothing: rank 0 reports for all.
            if not heard:
                traceback.print_exception(type(error), error, trace)
                sys.stderr.flush()
            lib.tc_ranks_fail(handle, code, why.encode("utf-8", "replace"), byref(report))
            text = _library.take_text(report)
            if text:
                print(text, file=sys.stderr)
            sys.stdout.flush()
            sys.stderr.flush()
            lib.tc_ranks_leave(handle)
        finally:
            os._exit(code)

    def as_heard(self, error: Error) -> Error:
        """An error of another rank is Interrupted here, with its message and code."""
        found = re.match(r"rank (\d+): ", str(error))
        if found is None or int(found.group(1)) == self.rank:
            return error
        return Interrupted(str(error), error.code)

    @property
    def rank(self) -> int:
        """The number of this process, from 0."""
        return int(lib.tc_ranks_rank(self._address()))

    @property
    def size(self) -> int:
        """How many processes there are."""
        return int(lib.tc_ranks_size(self._address()))

    def __repr__(self) -> str:
        if self._handle is None:
            return "<ticopd.Ranks: not joined>"
        return f"<ticopd.Ranks: {self.rank} of {self.size}>"


def ranks(deadline_s: float = 60.0) -> Ranks:
    """Joins the processes that mpirun started, for `Run(..., ranks=ranks)`.

    Every process makes the same run and calls its methods in the same order. The objective is asked
    about the agents of its own rank only. An exception on one rank ends all of them, with its
    message.

    >>> with ticopd.ranks() as ranks:
    ...     run = ticopd.Run(Mine(), graph="ring:8", algorithm=ticopd.DGD(eta=0.1), ranks=ranks)
    ...     run.step(400)

    Args:
        deadline_s: how long a rank waits for another one before it is given up.
    """
    return Ranks(deadline_s)
