"""Comparisons, searches for step sizes, and theory."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from ctypes import byref, c_void_p
from pathlib import Path
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple, Union

from . import _library
from ._errors import UsageError
from ._library import lib
from ._optional import need
from ._progress import StudyProgress
from ._results import Result, plot, read
from ._run import Folder, Run, Settings, check_objective
from ._session import Metric
from ._values import overrides_of, plain, put
from ._work import Handle, OneUser, answer_until_done

# An accuracy goes to the library as a count; it is rounded to a part of this.
_ACCURACY_STEPS = 1 << 30

Config = Mapping[str, Any]
Files = Union[Folder, Iterable[Folder]]


class Comparison:
    """Several runs side by side: `runs` by label, a table, and figures.

    >>> comparison = ticopd.compare({"TiCoPD": run, "CHOCO": other})
    >>> comparison.plot("accuracy_min")
    """

    def __init__(
        self,
        runs: Dict[str, Result],
        folder: Optional[Path] = None,
        data: Optional[Dict[str, Any]] = None,
    ) -> None:
        self.runs = runs
        self.folder = folder
        self.data = data or {}
        """The data of the page, and which files were written."""

    def rows(self) -> List[Dict[str, Any]]:
        """One dict for each run: label, status, digest and the last value of each column."""
        return [
            {
                "label": label,
                **self._place(label),
                "status": run.status,
                **run.last,
                "digest": run.digest,
            }
            for label, run in self.runs.items()
        ]

    def _place(self, label: str) -> Dict[str, Any]:
        """Group, seed and swept values of a run, if seeds or a sweep made it."""
        if not self._grouped():
            return {}
        run = self._made[label]
        return {"group": run["group"], "seed": run["seed"], **run["swept"]}

    @property
    def _made(self) -> Dict[str, Dict[str, Any]]:
        return {str(run["label"]): run for run in self.data.get("runs", []) if "group" in run}

    def _grouped(self) -> bool:
        made = list(self._made.values())
        groups = {run["group"] for run in made}
        return len(groups) < len(made) or any(run["swept"] for run in made)

    @property
    def groups(self) -> Dict[str, List[Result]]:
        """The runs that differ in their seed alone, by the label of their group."""
        found: Dict[str, List[Result]] = {}
        for label, run in self.runs.items():
            group = self._made[label]["group"] if label in self._made else label
            found.setdefault(str(group), []).append(run)
        return found

    def group_frame(self) -> Any:
        """groups.csv as a pandas DataFrame: a row for each group and logged round, with middle
        and ends of each metric, such as loss_max_mid, loss_max_low and loss_max_high."""
        pandas = need("pandas", "group_frame()")
        if self.folder is None or not (self.folder / "groups.csv").exists():
            raise UsageError("group_frame: only a comparison with seeds or a sweep has groups")
        return pandas.read_csv(self.folder / "groups.csv", float_precision="round_trip")

    def frame(self) -> Any:
        """The rows as a pandas DataFrame, with the label as its index."""
        return need("pandas", "frame()").DataFrame(self.rows()).set_index("label")

    def plot(
        self,
        y: str = "loss_max",
        x: str = "bits_payload",
        *,
        ax: Any = None,
        logx: bool = False,
        logy: Optional[bool] = None,
        **line: Any,
    ) -> Any:
        """Draws all runs in one figure with matplotlib and returns the axes."""
        for label, run in self.runs.items():
            ax = plot(run.metrics, y, x, ax, logx, logy, label, line)
        return ax

    def __getitem__(self, label: str) -> Result:
        return self.runs[label]

    def _repr_html_(self) -> str:
        import html

        shown = ["loss_max", "loss_local", "accuracy_min", "consensus", "bits_payload"]
        rows = self.rows()
        columns = [name for name in shown if any(name in row for row in rows)]
        head = "".join(f"<th>{name}</th>" for name in ["", *columns])
        body = ""
        for row in rows:
            cells = "".join(
                f"<td>{row[name]:.4g}</td>" if name in row else "<td></td>" for name in columns
            )
            body += f"<tr><th style='text-align:left'>{html.escape(row['label'])}</th>{cells}</tr>"
        return f"<table><tr>{head}</tr>{body}</table>"

    def __repr__(self) -> str:
        return f"<ticopd.Comparison of {', '.join(self.runs)}>"


class Tuned:
    """What a search found: `best` step sizes, `algorithm` with them, and every trial."""

    def __init__(self, data: Dict[str, Any], folder: Optional[Path] = None) -> None:
        self.data = data
        """The searches, one for each run of the file, with what they found."""
        self.folder = folder

    @property
    def best(self) -> Dict[str, Any]:
        """The values that were best, by name: step sizes, and what else was searched."""
        return dict(self.data["best"])

    @property
    def held(self) -> Optional[bool]:
        """Whether the best went on to do well for twice the budget; None: it was not run on."""
        beyond = self.data["searches"][0]["beyond"]
        return {"held": True, "grew": False}.get(beyond)

    @property
    def toml(self) -> str:
        """The config with these step sizes."""
        return str(self.data["toml"])

    @property
    def trials(self) -> List[Dict[str, Any]]:
        """Every trial and length, a dict for each line of trials.csv."""
        if "trials" in self.data:
            return list(self.data["trials"])
        if self.folder is None or not (self.folder / "trials.csv").exists():
            return []
        import csv

        with open(self.folder / "trials.csv", newline="") as file:
            return [
                {key: _number(text) for key, text in row.items()} for row in csv.DictReader(file)
            ]

    def __repr__(self) -> str:
        best = ", ".join(f"{name}={value:.4g}" for name, value in self.best.items())
        return f"<ticopd.Tuned {best}>"


def _number(text: str) -> Any:
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return text


class _Study:
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


def compare(
    runs: Union[Files, Mapping[str, Any]],
    out: Optional[Folder] = None,
    set: Settings = None,
    *,
    resume: bool = False,
    threads: Optional[int] = None,
    progress: bool = False,
    **options: Any,
) -> Comparison:
    """Compares several runs.

    Args:
        runs: TOML files, as for the command line's `compare`: every run in them is made. Or the
            same as a dict: a config with "run", "seeds" or "sweep". Or a dict of what is there
            already: label and run, result, or run folder.
        out: the folder for run folders, table, figure and page. Left out: for files as the command
            line names it, for a dict nothing is written.
        set: overrides keys of the config, {"iterations": 100}; for files only.
        resume: go on with what is in `out`; for files only.
        threads: processors to use; for files only.
        progress: shows how far it is; for files only.
        options: for files `jobs`, the most runs at once, and `memory`, GiB for them; for a dict
            of runs with `out`, those of `report`.

    With seeds or a sweep, `groups`, `frame()` and `group_frame()` of the result say which runs
    belong together.

    >>> ticopd.compare("x.toml", set={"seeds": 5, "sweep": {"codec.bits": [2, 4]}}).groups
    """
    config: Optional[Dict[str, Any]] = None
    if isinstance(runs, Mapping) and any(isinstance(part, Mapping) for part in runs.values()):
        config = plain(dict(runs), "config")
        runs = []
    if isinstance(runs, Mapping):
        if set or resume or threads is not None:
            raise UsageError("compare: set, resume and threads are for TOML files")
        return _side_by_side(runs, out, options)
    files: List[Any] = [runs] if isinstance(runs, (str, os.PathLike)) else list(runs)
    request = _options(
        out, set, resume, threads, options if config is None else {**options, "config": config}
    )
    names = _library.text_list([os.fspath(file) for file in files])
    study = _Study(lib.tc_compare, names, len(files), request)
    data = study.result(progress=StudyProgress() if progress else None)
    found = {str(run["label"]): read(run["folder"]) for run in data["runs"]}
    return Comparison(found, Path(data["folder"]), data)


def _side_by_side(
    runs: Mapping[str, Any], out: Optional[Folder], options: Mapping[str, Any]
) -> Comparison:
    if not runs:
        raise ValueError("compare: there is no run")
    found: Dict[str, Result] = {}
    for label, run in runs.items():
        if not isinstance(label, str):
            raise TypeError(f"compare: the label {label!r} is a {type(label).__name__}, no text")
        if isinstance(run, Run):
            found[label] = run.result()
        elif isinstance(run, Result):
            found[label] = run
        elif isinstance(run, (str, os.PathLike)):
            found[label] = read(Path(run))
        else:
            raise TypeError(
                f"compare: {label!r} is a {type(run).__name__}; allowed are runs, results, folders"
            )
    if out is None:
        return Comparison(found)
    folder = Path(out)
    places = []
    for number, (label, run) in enumerate(runs.items()):
        if not label or "=" in label:
            raise ValueError(f"compare: label {label!r}: in files a label has letters and no =")
        place = found[label].folder
        if place is None:
            if not isinstance(run, Run):
                raise UsageError(
                    f"compare: {label!r} has no folder; give the run itself, or read it"
                )
            place = folder / _folder_name(label, number)
            run.save(place)
        places.append(f"{label}={place}")
    data = report(places, folder, **dict(options))
    return Comparison(found, folder, data)


def _folder_name(label: str, number: int) -> str:
    """The label, if it can be the name of a folder; otherwise what is left of it, and a number."""
    name = re.sub(r"[^\w .+-]", "_", label).strip(" .")[:100]
    return name if name and name == label else f"{name or 'run'}-{number + 1}"


def report(folders: Sequence[Folder], out: Folder, **options: Any) -> Dict[str, Any]:
    """Figures, table and page from run folders, as the command line's `report`; each is "DIR" or
    "LABEL=DIR". Returns the data of the page."""
    names = _library.text_list([os.fspath(folder) for folder in folders])
    request = _library.encode_json(plain(options, "options"))
    found: Dict[str, Any] = _library.json_of(
        lib.tc_report, names, len(folders), os.fsencode(out), request
    )
    return found


def tune(
    config: Union[Folder, Config],
    out: Optional[Folder] = None,
    *,
    runs: Optional[int] = None,
    seeds: Union[int, Sequence[int], None] = None,
    metric: Optional[str] = None,
    budget_bits: Optional[float] = None,
    budget_iterations: Optional[int] = None,
    search: Optional[Mapping[str, Any]] = None,
    objective: Any = None,
    set: Settings = None,
    resume: bool = False,
    threads: Optional[int] = None,
    progress: bool = False,
    test: Any = None,
    metrics: Optional[Mapping[str, Metric]] = None,
) -> Tuned:
    """Finds step sizes, by successive halving, as the command line's `tune`.

    >>> tuned = ticopd.tune("x.toml", out="runs/search", runs=20)
    >>> tuned.best

    Args:
        config: a TOML file or a config as a dict, such as `Run.config`.
        out: the folder of the search; left out: a temporary one.
        runs: what the search may cost, in full runs.
        seeds: runs of each trial: so many from the config's seed on, or a list; a trial counts with
            their median.
        metric: the column that is to be best at the end, or what is to be least until a target:
            "bits_to:accuracy_min=0.9", "iterations_to:loss_max=0.1".
        budget_bits: a full run ends when each agent has sent so many bits.
        budget_iterations: a full run ends after so many rounds.
        search: other ranges, values to keep, keys of codec and graph, and schedules:
            {"alpha": [0.01, 1], "theta": 0.3, "codec.bits": [2, 4, 8],
            "codec.fraction": {"low": 0.001, "high": 0.1},
            "eta": {"schedule": "inverse_sqrt", "t0": [10, 1000]}}.
        objective: for a config with problem.objective = "external".
        set: overrides keys of the config.
        resume: go on with what is in `out`.
        threads: processors to use.
        progress: shows how far it is.
    """
    folder = Path(out) if out is not None else Path(tempfile.mkdtemp(prefix="ticopd-"))
    place = folder if out is not None else folder / "search"
    if search:
        set = {**(set or {}), "tune.search": dict(search)}
    options = {
        "runs": runs,
        "seeds": seeds if seeds is None or isinstance(seeds, int) else list(seeds),
        "metric": metric,
        "budget_bits": budget_bits,
        "budget_iterations": budget_iterations,
    }
    file: Optional[bytes] = None
    tree: Optional[Dict[str, Any]] = None
    try:
        if isinstance(config, Mapping) or objective is not None:
            tree, set = _tree_of(config, set), None
        else:
            file = os.fsencode(config)
        request = _options(place, set, resume, threads, options)
        external = None
        if objective is not None and tree is not None:
            external = _External(tree, objective, test, metrics)
        study = _Study(
            lib.tc_tune,
            file,
            None if tree is None else _library.encode_json(tree),
            request,
            external.problem if external else None,
        )
        data = study.result(
            *(external.ready(study.handle) if external else (None, None)),
            progress=StudyProgress() if progress else None,
        )
        tuned = Tuned(data, place)
        if out is None:
            data["trials"] = tuned.trials
            tuned.folder = None
        return tuned
    finally:
        if out is None:
            shutil.rmtree(folder, ignore_errors=True)


class _External:
    """An objective of the user's for a study, in place of a run's."""

    def __init__(
        self,
        tree: Dict[str, Any],
        objective: Any,
        test: Any,
        metrics: Optional[Mapping[str, Metric]],
    ) -> None:
        check_objective(objective)
        run = Run.__new__(Run)
        run._objective, run._ranks, run._folder = objective, None, os.getcwd()
        self.session = run._make_session(tree, objective, test, metrics)
        self.kept = run._problem(None)
        if "accuracy" in self.session.metric_names():
            self.kept[0].test_samples = _ACCURACY_STEPS
        self.kept[0].metric_count = 0  # studies log the library's own columns
        self.problem = byref(self.kept[0])

    def ready(self, handle: Handle) -> Tuple[Any, Callable[[], int]]:
        self.session.owner = handle
        return self.session.question, self.session.answerer()


def _tree_of(config: Union[Folder, Config], set: Settings) -> Dict[str, Any]:
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


def _options(
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


def theory(
    config: Union[Folder, Config, Run], set: Settings = None, *, objective: Any = None
) -> Dict[str, Any]:
    """Constants and bounds of TiCoPD's theorem beside the step sizes of a config, as the command
    line's `theory --json` prints them.

    Args:
        config: a TOML file, a config as a dict, or a run.
        set: overrides keys of the config.
        objective: for a config with problem.objective = "external"; a run has its own.
    """
    folder = os.getcwd()
    if isinstance(config, Run):
        objective = config._objective if objective is None else objective
        folder, config = config._folder, config.config
    elif not isinstance(config, Mapping):
        folder = os.path.dirname(os.path.abspath(config))
    tree = _tree_of(config, set)
    if not tree.get("name"):
        problem = tree.get("problem", {})
        tree["name"] = problem.get("name") or problem.get("objective") or "mlp"
    external = _External(tree, objective, None, None) if objective is not None else None
    study = _Study(
        lib.tc_theory,
        _library.encode_json(tree),
        os.fsencode(folder),
        external.problem if external else None,
    )
    return study.result(*(external.ready(study.handle) if external else (None, None)))


def tables() -> Dict[str, Any]:
    """Algorithms, codecs, graphs, objectives, metrics and keys of a config, with their options,
    defaults, ranges and help."""
    found: Dict[str, Any] = _library.json_of(lib.tc_tables)
    return found


def schema() -> Dict[str, Any]:
    """The JSON Schema of a config."""
    found: Dict[str, Any] = _library.json_of(lib.tc_schema)
    return found
