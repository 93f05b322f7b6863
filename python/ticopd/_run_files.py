"""A run as files, and as bytes."""

from __future__ import annotations

import shutil
import tempfile
import warnings
from pathlib import Path
from typing import Any, Callable, Dict, Optional

from . import _library
from ._errors import UsageError
from ._library import lib
from ._results import Result
from ._run_base import Folder
from ._run_steps import RunSteps


class RunFiles(RunSteps):
    """Run folders, those of the command line, and pickles, which hold one."""

    _open: Callable[..., None]

    def save(self, folder: Folder) -> None:
        """Writes a run folder, with the files of the command line: `ticopd.read` reads it,
        `resume` and `ticopd run --resume` go on from it.

        If a question of a round is open, after an exception, the objective is asked again to finish
        the round. If that fails as well, the state of an earlier round is written, with a warning.
        """
        place = Path(folder)
        folder_bytes = _library.encode_path(place)
        with self._user:
            handle = self._open_handle()
            failed: Optional[Exception] = None
            if lib.tc_run_pending(handle.address):
                try:
                    _library.check(lib.tc_run_step(handle.address, 1))
                    self._work()
                except Exception as error:
                    failed = error
                self._refresh()
            snapshot = lib.tc_run_pending(handle.address)  # of an earlier round
            try:
                _library.check(lib.tc_run_save(handle.address, folder_bytes))
                if not snapshot:
                    self._work()
            except UsageError as error:
                head, colon, found = str(error).partition("resume: ")
                if head or not colon:
                    raise
                raise UsageError(f"save: {found}; give a new folder") from None
            saved = int(lib.tc_run_saved_round(handle.address))
            if self._session is not None:
                self._session.save(place, saved)
            self._warn()
        if failed is not None:
            warnings.warn(
                f"round {self._round() + 1} could not be finished "
                f"({type(failed).__name__}: {failed}); saved is the state after round {saved}",
                RuntimeWarning,
                stacklevel=2,
            )

    def resume(self, folder: Folder) -> None:
        """Goes on from a run folder; before the first step only. The run then has the bits of one
        that was never interrupted."""
        place = Path(folder)
        with self._user:
            handle = self._open_handle()
            _library.check(lib.tc_run_resume(handle.address, _library.encode_path(place)))
            self._work()
            if self._session is not None:
                models, first = self._models()
                self._session.load(place, self._round(), range(first, first + len(models)))
            self._cells = None
            self._refresh()
            self._warn()

    def result(self) -> Result:
        """The run as it is now, as `ticopd.read` would give it, without memory of the library."""
        final = self.x.copy() if self.finished else None
        return Result(self.summary, self.metrics, None, final)

    def __getstate__(self) -> Dict[str, Any]:
        if self._ranks is not None:
            raise UsageError("a run over several ranks cannot be pickled; save it instead")
        start, test, metrics = self._extras
        state: Dict[str, Any] = {
            "config": self._given,
            "folder": self._folder,
            "objective": self._objective,
            "start": start,
            "test": test,
            "metrics": metrics,
            "files": None,
        }
        place = tempfile.mkdtemp(prefix="ticopd-")
        try:
            self.save(place)
            state["files"] = {
                str(file.relative_to(place)): file.read_bytes()
                for file in sorted(Path(place).rglob("*"))
                if file.is_file()
            }
        finally:
            shutil.rmtree(place, ignore_errors=True)
        return state

    def __setstate__(self, state: Dict[str, Any]) -> None:
        place = tempfile.mkdtemp(prefix="ticopd-")
        try:
            for name, content in state["files"].items():
                file = Path(place, name)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(content)
            self._open(
                state["config"],
                state["folder"],
                state["objective"],
                state["start"],
                state["test"],
                state["metrics"],
                None,
                place,
            )
        finally:
            shutil.rmtree(place, ignore_errors=True)
