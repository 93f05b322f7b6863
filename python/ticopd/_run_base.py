"""What all parts of a run use: its handle in the library, and the loop that answers questions."""

from __future__ import annotations

import ctypes
import os
import warnings
import weakref
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple, Union

import numpy as np
import numpy.typing as npt

from . import _library
from ._errors import Diverged, Error, UsageError
from ._library import lib
from ._ranks import Ranks
from ._results import Shown
from ._session import Session
from ._words import in_python
from ._work import Handle, OneUser, answer_until_done

Folder = Union[str, "os.PathLike[str]"]
Log = Union[int, str, Mapping[str, Any]]
Settings = Optional[Dict[str, Any]]


class RunBase(Shown):
    """A handle, and who may use it."""

    _handle: Optional[Handle]
    _user: OneUser
    _folder: str
    _objective: Any
    _extras: Tuple[Any, Any, Dict[str, Any]]  # start, test and metrics, as they were given
    _ranks: Optional[Ranks]
    _given: Dict[str, Any]  # the config
    _columns: List[str]
    _cells: Optional[npt.NDArray[np.float64]]
    _rows_ref: Optional["weakref.ref[npt.NDArray[Any]]"]
    _session: Optional[Session]
    _answer: Optional[Callable[[], int]]
    _question: Any
    _diverged: Optional[Diverged]

    def _open_handle(self) -> Handle:
        handle = self._handle
        if handle is None:
            raise UsageError("this run is closed")
        return handle

    def _address(self) -> Any:
        if self._user._process is not _library._process:
            self._user.check_process()
        return self._open_handle().address

    def _round(self) -> int:
        return int(lib.tc_run_round(self._open_handle().address))

    def _iterations(self) -> int:
        return int(self._given.get("iterations", 1000))

    def _work(self, show: Optional[Callable[[], None]] = None) -> None:
        handle = self._handle
        assert handle is not None
        try:
            answer_until_done(
                self._user, handle, lib.tc_run_next, self._question, self._answer, show
            )
        except Error as error:
            if self._ranks is None:
                raise
            heard = self._ranks.as_heard(error)
            if heard is error:
                raise
            raise heard from None

    def _give_up(self, handle: Handle) -> None:
        """Ends a measurement whose question cannot be answered."""
        if lib.tc_run_give_up(handle.address) != _library.OK:
            return
        try:
            answer_until_done(self._user, handle, lib.tc_run_next, self._question, None)
        except Error:
            pass

    def _warn(self) -> None:
        for text in _library.json_of(lib.tc_run_warnings, self._open_handle().address):
            warnings.warn(in_python(str(text)), RuntimeWarning, stacklevel=4)

    def close(self) -> None:
        """Ends the run and gives its memory back, once no view of it is left."""
        if self._user._process is not _library._process:
            return
        if self._session is not None:
            self._session.forget()
        self._handle = None


def doubles(cells: npt.NDArray[np.float64]) -> Any:
    return cells.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
