"""Work of the library on a thread of its own: comparisons, searches and analyses."""

from __future__ import annotations

import os
from ctypes import byref, c_void_p
from typing import Any, Callable, Dict, Mapping, Optional, Tuple, Union

from . import _library
from ._library import lib
from ._problem import check_objective, make_session, problem_of
from ._progress import StudyProgress
from ._run_base import Folder, Settings
from ._session import Metric
from ._values import overrides_of, plain, put
from ._work import Handle, OneUser, answer_until_done

# An accuracy goes to the library as a count; it is rounded to a part of this.
_ACCURACY_STEPS = 1 << 30

Config = Mapping[str, Any]


class Study:
    """A tc_study until it is done."""

    def __init__(self, open_study: Callable[..., int], *arguments: Any) -> None:
        out = c_void_p()
        _library.check(open_study(*arguments, byref(out)))
        self.handle = Handle(out, lib.tc_study_close)
        self.user = OneUser("study")

    def result(
        self,
        question: Any = None,
        answer: Optional[Callable[[], int]] = None,
        progress: Optional[StudyProgress] = None,
    ) -> Dict[str, Any]:
        """Works to the end. Ctrl-C saves what there is and then is raised."""
        show: Optional[Callable[[], None]] = None
        if progress is not None:
            shown = progress  # for the closure

            def show_events() -> None:
                shown.show(_library.json_of(lib.tc_study_progress, self.handle.address))

            show = show_events
        question = question if question is not None else _library.Question()
        try:
            with self.user:
                try:
                    answer_until_done(
                        self.user, self.handle, lib.tc_study_next, question, answer, show
                    )
                except BaseException:
                    self._stop(question)
                    raise
            if show is not None:
                show()
            found: Dict[str, Any] = _library.json_of(lib.tc_study_result, self.handle.address)
            return found
        finally:
            if progress is not None:
                progress.close()
            self.handle.close()

    def _stop(self, question: Any) -> None:
        """Lets the study save what it has; an open question is not answered any more."""
        if lib.tc_study_stop(self.handle.address) != _library.OK:
            return
        reference = byref(question)
        while lib.tc_study_next(self.handle.address, 0, 0.1, reference) == _library.WAIT:
            pass


class External:
    """An objective of the user's for a study, in place of a run's."""

    def __init__(
        self,
        tree: Dict[str, Any],
        objective: Any,
        test: Any,
        metrics: Optional[Mapping[str, Metric]],
    ) -> None:
        check_objective(objective)
        self.session = make_session(tree, os.getcwd(), objective, test, metrics)
        self.kept = problem_of(self.session)
        if "accuracy" in self.session.metric_names():
            self.kept[0].test_samples = _ACCURACY_STEPS
        self.kept[0].metric_count = 0  # studies log the library's own columns
        self.problem = byref(self.kept[0])

    def ready(self, handle: Handle) -> Tuple[Any, Callable[[], int]]:
        self.session.owner = handle
        return self.session.question, self.session.answerer()


def tree_of(config: Union[Folder, Config], set: Settings) -> Dict[str, Any]:
    """A config from a TOML file or a dict, with overrides."""
    tree: Dict[str, Any]
    if isinstance(config, Mapping):
        tree = plain(dict(config), "config")
        for key, value in (set or {}).items():
            put(tree, key, plain(value, key))
        return tree
    texts = overrides_of(set)
    found = _library.json_of(
        lib.tc_config_read, os.fsencode(config), _library.text_list(texts), len(texts)
    )
    tree = found["config"]
    return tree


def request_of(
    out: Optional[Folder],
    set: Settings,
    resume: bool,
    threads: Optional[int],
    options: Mapping[str, Any],
) -> bytes:
    request: Dict[str, Any] = {"resume": bool(resume)}
    if out is not None:
        request["out"] = os.fspath(out)
    texts = overrides_of(set)
    if texts:
        request["set"] = texts
    if threads is not None:
        request["threads"] = int(threads)
    for key, value in options.items():
        if value is not None:
            request[key] = plain(value, key)
    return _library.encode_json(request)
