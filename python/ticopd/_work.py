"""Handles of runs and studies, and the loop that answers their questions."""

from __future__ import annotations

import atexit
import sys
import threading
import time
import weakref
from ctypes import byref, c_double, c_void_p
from types import CodeType, FrameType, TracebackType
from typing import Any, Callable, Dict, List, Optional, Set, Tuple, Type

from . import _library
from ._errors import UsageError, raise_as
from ._library import ASKS, OK, WAIT

# Waits end every tenth of a second, so that Ctrl-C is heard.
_WAIT_S = c_double(0.1)
_SETTLE_S = 1.0

_live: "weakref.WeakSet[Handle]" = weakref.WeakSet()


class Handle:
    """A tc_run or tc_study. Arrays over its memory keep it alive; the last one closes it."""

    __slots__ = ("address", "process", "_close", "__weakref__")

    def __init__(self, address: c_void_p, close: Callable[[c_void_p], None]) -> None:
        self.address: Optional[c_void_p] = address
        self.process = _library.process()
        self._close = close
        _live.add(self)

    def close(self) -> None:
        address, self.address = self.address, None
        if address is not None and self.process is _library.process():
            self._close(address)

    def __del__(self) -> None:
        self.close()


_ending: List[bool] = []  # not empty: the interpreter ends


@atexit.register
def _close_all() -> None:
    """Ends the threads of runs that still live when the interpreter ends."""
    _ending.append(True)
    end = time.monotonic() + _SETTLE_S
    for handle in list(_live):
        while _frame_with("handle", handle) and time.monotonic() < end:
            time.sleep(0.01)  # a daemon thread is in its loop, and leaves it now
        if not _frame_with("handle", handle):
            handle.close()


def _frame_with(name: str, value: object, thread: Optional[int] = None) -> bool:
    """True if a loop below is at work, in that thread or in any other than this one, and its
    local name has the value."""
    frames = sys._current_frames()
    try:
        if thread is None:
            del frames[threading.get_ident()]
        else:
            frames = {thread: frames[thread]} if thread in frames else {}
        return any(_is_below(stack, name, value) for stack in frames.values())
    finally:
        frames.clear()  # a frame that knows itself would live on


def _is_below(frame: Optional[FrameType], name: str, value: object) -> bool:
    while frame is not None:
        if frame.f_code in _loops and frame.f_locals.get(name) is value:
            return True
        frame = frame.f_back
    return False


class OneUser:
    """Lets one thread at a time use a run: `with self._user:`.

    A lock would stay taken if Ctrl-C came just after it was acquired. This keeps the name of the
    thread instead, and believes it only while that thread really is inside.
    """

    __slots__ = ("_users", "_what", "_process")

    def __init__(self, what: str) -> None:
        self._users: Dict[int, Tuple[int]] = {}
        self._what = what
        self._process = _library.process()

    def check_process(self) -> None:
        if self._process is not _library._process:
            raise UsageError(
                f"this {self._what} belongs to the process that was forked; it cannot be used in "
                "the child. Save it there and resume it here, or make another"
            )

    def __enter__(self) -> None:
        if self._process is not _library._process:
            self.check_process()
        me = (threading.get_ident(),)  # an object of this call
        owner = self._users.setdefault(0, me)
        if owner is me:
            return
        if _frame_with("user", self, owner[0]):
            raise UsageError(
                f"this {self._what} waits for the answer to a question; it can be used again when "
                "the objective has returned"
                if owner == me
                else f"another thread is using this {self._what}; one thread at a time may do so"
            )
        self._users[0] = me  # Ctrl-C came between the entry and the work of an earlier call

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self._users.pop(0, None)


def answer_until_done(
    user: OneUser,
    handle: Handle,
    next_question: Callable[..., int],
    question: Any,
    answer: Optional[Callable[[], int]],
    show: Optional[Callable[[], None]] = None,
) -> None:
    """Answers questions until the piece of work is done. Raises what it failed with."""
    address, reference = handle.address, byref(question)
    wait, ending = _WAIT_S, _ending
    answered = 0
    due = 0.0
    computing = True  # the library's thread may be at work
    try:
        while True:
            computing = True
            code = next_question(address, answered, wait, reference)
            answered = 0
            if code == ASKS:
                computing = False
                if answer is None:
                    raise UsageError("the library asks for gradients, and there is no objective")
                try:
                    answered = answer()
                except Exception:
                    _raise_if_failed(next_question(address, 0, wait, reference))
                    raise
            elif code == OK:
                return
            elif code != WAIT:
                computing = False
                raise_as(code, _library.message())
            if ending:
                raise SystemExit
            if show is not None:
                now = time.monotonic()
                if now >= due:
                    show()
                    due = now + 0.1
    except BaseException:
        if computing and not ending:  # Ctrl-C: wait until the thread asks again or is done
            end = time.monotonic() + _SETTLE_S
            while next_question(address, 0, wait, reference) == WAIT and time.monotonic() < end:
                pass
        raise


def _raise_if_failed(code: int) -> None:
    """After an exception in an objective: what it was asked about may be of a run that failed, such
    as a model that is not finite. Messages are made while the objective computes."""
    if code not in (ASKS, OK, WAIT):
        raise_as(code, _library.message())


_loops: Set[CodeType] = {answer_until_done.__code__}
