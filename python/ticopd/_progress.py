"""A line that says how far a step is."""

from __future__ import annotations

import importlib
import sys
import time
from typing import Any


class Progress:
    """tqdm if it is installed, otherwise a line on standard error."""

    def __init__(self, run: Any, rounds: int) -> None:
        self._run = run
        self._total = max(0, rounds)
        self._first = run._round()
        self._began = time.monotonic()
        self._width = 0
        self._bar: Any = None
        if sys.stderr is None:  # tqdm cannot do without
            return
        try:
            tqdm = importlib.import_module("tqdm.auto").tqdm
        except ImportError:
            return
        self._bar = tqdm(total=self._total, unit=" rounds")

    def show(self) -> None:
        made = self._run._round() - self._first
        if self._bar is not None:
            self._bar.update(made - self._bar.n)
            return
        spent = time.monotonic() - self._began
        left = spent / made * (self._total - made) if made else 0.0
        text = f"round {made} of {self._total}, {spent:.0f} s" + (
            f", {left:.0f} s left" if made else ""
        )
        self._write("\r" + text.ljust(self._width))
        self._width = len(text)

    def close(self) -> None:
        self.show()
        if self._bar is not None:
            self._bar.close()
        else:
            self._write("\n")

    @staticmethod
    def _write(text: str) -> None:
        try:
            sys.stderr.write(text)
            sys.stderr.flush()
        except (AttributeError, OSError, ValueError):
            pass  # nobody can be told; the run goes on


class StudyProgress:
    """The events of a comparison or search, a line for each, on standard error."""

    def __init__(self) -> None:
        self._width = 0

    def show(self, events: Any) -> None:
        for event in events:
            text = event if isinstance(event, str) else self._text(event)
            Progress._write("\r" + text.ljust(self._width))
            self._width = len(text)

    @staticmethod
    def _text(event: Any) -> str:
        if "text" in event:
            return str(event["text"])
        return ", ".join(f"{key} {value}" for key, value in event.items())

    def close(self) -> None:
        if self._width:
            Progress._write("\n")
