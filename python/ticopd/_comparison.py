"""Several runs side by side."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Union

from . import _library
from ._errors import UsageError
from ._library import lib
from ._optional import need
from ._progress import StudyProgress
from ._results import Result, plot, read
from ._run import Run
from ._run_base import Folder, Settings
from ._study import Study, request_of
from ._values import plain

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
    request = request_of(
        out, set, resume, threads, options if config is None else {**options, "config": config}
    )
    names = _library.text_list([os.fspath(file) for file in files])
    study = Study(lib.tc_compare, names, len(files), request)
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
