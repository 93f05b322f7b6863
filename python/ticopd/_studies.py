"""Searches for step sizes, theory, and the tables of the library."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

from . import _library
from ._library import lib
from ._progress import StudyProgress
from ._run import Run
from ._run_base import Folder, Settings
from ._session import Metric
from ._study import Config, External, Study, request_of, tree_of


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
            tree, set = tree_of(config, set), None
        else:
            file = os.fsencode(config)
        request = request_of(place, set, resume, threads, options)
        external = None
        if objective is not None and tree is not None:
            external = External(tree, objective, test, metrics)
        study = Study(
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
    tree = tree_of(config, set)
    if not tree.get("name"):
        problem = tree.get("problem", {})
        tree["name"] = problem.get("name") or problem.get("objective") or "mlp"
    external = External(tree, objective, None, None) if objective is not None else None
    study = Study(
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
