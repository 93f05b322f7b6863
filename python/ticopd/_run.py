"""Runs."""

from __future__ import annotations

import os
from ctypes import byref, c_void_p
from typing import Any, Dict, List, Mapping, Optional, Tuple

import numpy.typing as npt

from . import _library
from ._algorithm import as_algorithm
from ._codec import as_codec
from ._errors import ConfigError, UnavailableError
from ._graph import as_graph
from ._library import lib
from ._problem import check_objective, make_session, problem_of
from ._ranks import Ranks
from ._results import facts_of
from ._run_base import Folder, Log, Settings
from ._run_files import RunFiles
from ._session import Metric
from ._values import items_of, overrides_of, plain, put, whole
from ._work import Handle, OneUser


class Run(RunFiles):
    """A run: an objective, a graph, a codec and an algorithm, made round by round.

    >>> run = ticopd.Run(
    ...     Mine(), graph=ticopd.ring(8), codec=ticopd.Qsgd(bits=4),
    ...     algorithm=ticopd.TiCoPD(alpha=0.1, theta=2, eta=0.4), iterations=400)
    >>> run.step(400, progress=True)
    400
    >>> run.metrics["loss_max"][-1], run.x.shape, run.digest

    Args:
        objective: an instance of `ticopd.Objective` or `ticopd.torch.Objective`.
        graph: a graph such as `ticopd.ring(8)`, its name ("ring", "ring:8"), a networkx graph, or
            an adjacency matrix.
        codec: a codec such as `ticopd.Qsgd(bits=4)`, or its short form "qsgd:4".
        algorithm: an algorithm with its step sizes, such as `ticopd.ChocoSGD(eta=0.1, gamma=0.5)`.
        iterations: the length of the run in rounds.
        seed: decides the graph, batches and random rounding.
        precision: "float" or "double". Left out: the objective's own, or "float".
        batch: samples for each gradient, drawn from seed, agent and round. Left out: all, or the
            objective's own.
        start: the model that all agents start from. Left out: the objective's own, or zeros.
        log: the rounds to log and what to measure: a number (every so many rounds), a level
            ("rows", "local" or "full"), or a dict with the keys of the table [log]. Left out: about
            60 rows; the level is "full" for NumPy objectives and "local" for torch.
        test: for torch a dataset, otherwise a function of a model that returns its accuracy. It
            fills the columns accuracy_min and accuracy_mean.
        metrics: functions of a model by name. Each gets the columns NAME_min, NAME_max (over the
            agents) and NAME_mean (at the mean model).
        device: "cpu".
        ranks: what `with ticopd.ranks() as ranks` gives, for a run over several processes.
        resume: a folder that `save` or the command line wrote; the run goes on from there.
        name: names the objective in the config. Left out: its class.
        weights: "metropolis" or "lazy_metropolis".
        set: further keys of the config, {"network.noise": "gaussian"}.
    """

    def __init__(
        self,
        objective: Any,
        *,
        graph: Any,
        codec: Any = "identity",
        algorithm: Any,
        iterations: int = 1000,
        seed: int = 1,
        precision: Optional[str] = None,
        batch: Optional[int] = None,
        start: Optional[npt.ArrayLike] = None,
        log: Optional[Log] = None,
        test: Any = None,
        metrics: Optional[Mapping[str, Metric]] = None,
        device: str = "cpu",
        ranks: Optional[Ranks] = None,
        resume: Optional[Folder] = None,
        name: Optional[str] = None,
        weights: Optional[str] = None,
        set: Settings = None,
    ) -> None:
        check_objective(objective)
        if device != "cpu":
            raise UnavailableError(f'device = "{device}": from Python runs are on "cpu" so far')
        config: Dict[str, Any] = {
            "seed": whole(seed, "seed"),
            "iterations": whole(iterations, "iterations"),
            "precision": plain(
                precision or getattr(objective, "precision", None) or "float", "precision"
            ),
            "problem": {"objective": "external", "name": name or _name_of(objective)},
            "graph": as_graph(graph, weights=weights).to_config(),
            "codec": as_codec(codec).to_config(),
            "algorithm": as_algorithm(algorithm).to_config(),
        }
        if batch is None:
            batch = getattr(objective, "batch_size", None)
        if batch is not None and batch != "full":
            config["problem"]["batch"] = whole(batch, "batch")
        if log is not None:
            config["log"] = _log_table(log)
        for key, value in items_of(set):
            put(config, key, plain(value, key))
        self._open(config, current_folder(), objective, start, test, metrics, ranks, resume)

    # -- Other ways to make a run ---------------------------------------------------------------

    @classmethod
    def from_toml(
        cls,
        path: Folder,
        set: Settings = None,
        *,
        objective: Any = None,
        start: Optional[npt.ArrayLike] = None,
        test: Any = None,
        metrics: Optional[Mapping[str, Metric]] = None,
        ranks: Optional[Ranks] = None,
        resume: Optional[Folder] = None,
    ) -> "Run":
        """The run of a TOML file, as `ticopd run` makes it; `set` overrides keys.

        A file with `problem.objective = "external"` needs the objective.

        >>> run = ticopd.Run.from_toml("experiments/few_bits.toml", set={"codec.bits": 4})
        """
        texts = overrides_of(set)
        found = _library.json_of(
            lib.tc_config_read, _library.encode_path(path), _library.text_list(texts), len(texts)
        )
        run = cls.__new__(cls)
        run._open(found["config"], found["folder"], objective, start, test, metrics, ranks, resume)
        return run

    @classmethod
    def from_config(
        cls,
        config: Mapping[str, Any],
        set: Settings = None,
        *,
        folder: Optional[Folder] = None,
        objective: Any = None,
        start: Optional[npt.ArrayLike] = None,
        test: Any = None,
        metrics: Optional[Mapping[str, Metric]] = None,
        ranks: Optional[Ranks] = None,
        resume: Optional[Folder] = None,
    ) -> "Run":
        """The run of a config as a dict, such as `Run.config` or that of a result. Relative paths
        start at `folder`; left out: the current one."""
        if not isinstance(config, Mapping):
            raise TypeError(f"config: a {type(config).__name__}; allowed is a dict")
        tree: Dict[str, Any] = plain(dict(config), "config")
        for key, value in items_of(set):
            put(tree, key, plain(value, key))
        run = cls.__new__(cls)
        place = os.fspath(folder) if folder is not None else current_folder()
        run._open(tree, place, objective, start, test, metrics, ranks, resume)
        return run

    def _open(
        self,
        config: Dict[str, Any],
        folder: str,
        objective: Any,
        start: Optional[npt.ArrayLike],
        test: Any,
        metrics: Optional[Mapping[str, Metric]],
        ranks: Optional[Ranks],
        resume: Optional[Folder],
    ) -> None:
        self._handle = None
        self._user = OneUser("run")
        self._folder = folder
        self._objective = objective
        if metrics is not None and not isinstance(metrics, Mapping):
            raise TypeError(f"metrics: a {type(metrics).__name__}; allowed is a dict of functions")
        if ranks is not None and not isinstance(ranks, Ranks):
            raise TypeError(f"ranks: a {type(ranks).__name__}; give what ticopd.ranks() gives")
        self._extras = (start, test, dict(metrics or {}))
        self._ranks = ranks
        self._given = config
        self._columns = []
        self._cells = None
        self._rows_ref = None
        self._session = None
        self._answer = None
        self._question = _library.Question()
        self._diverged = None

        for table in ("problem", "graph", "codec", "algorithm", "log"):
            if not isinstance(config.get(table, {}), dict):
                raise ConfigError(f"{table} = {config[table]!r}: allowed is a table")
        problem = config.setdefault("problem", {})
        external = problem.get("objective", "mlp") == "external"
        if external and objective is None:
            raise ConfigError(
                f'problem.objective = "external": give the objective '
                f'({problem.get("name", "no name")!r}): objective=...'
            )
        if objective is not None and not external:
            raise ConfigError(
                f'problem.objective = "{problem.get("objective", "mlp")}": an objective of your '
                'own needs "external"'
            )
        if external:
            session = make_session(config, folder, objective, test, metrics)
            self._session = session
            config.setdefault("log", {}).setdefault("level", session.default_level)
        elif metrics or test is not None or start is not None:
            raise ConfigError(
                "start, test and metrics are for objectives of your own; this config has "
                f'problem.objective = "{problem.get("objective", "mlp")}"'
            )
        kept: Optional[Tuple[_library.Problem, Any]] = None
        if self._session is not None:
            kept = problem_of(self._session, start, has_ranks=ranks is not None)
        out = c_void_p()
        _library.check(
            lib.tc_run_open(
                _library.encode_json(config),
                os.fsencode(folder),
                byref(kept[0]) if kept is not None else None,
                ranks._address() if ranks is not None else None,
                byref(out),
            )
        )
        del kept
        self._handle = Handle(out, lib.tc_run_close)
        if self._session is not None:
            self._session.owner = self._handle
            self._question = self._session.question
            self._answer = self._session.answerer()
        try:
            self._work()
            self._columns = _library.json_of(lib.tc_run_columns, self._handle.address)
            self._warn()
            if resume is not None:
                self.resume(resume)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> "Run":
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()

    def _facts(self) -> List[Tuple[str, str]]:
        made = f"{self.round} of {self._iterations()}"
        return [
            ("rounds", made),
            *facts_of(self.config, self.last),
            ("digest", self.digest),
        ]

    def __repr__(self) -> str:
        name = self._given["problem"].get("name", self._given["problem"].get("objective", "mlp"))
        algorithm = self._given.get("algorithm", {}).get("name", "ticopd")
        if self._handle is None:
            return f"<ticopd.Run {name}, {algorithm}: closed>"
        if self._user._process is not _library._process:
            return f"<ticopd.Run {name}, {algorithm}: of the parent process>"
        return f"<ticopd.Run {name}, {algorithm}: round {self.round} of {self._iterations()}>"


def _name_of(objective: Any) -> str:
    return str(getattr(objective, "name", None) or type(objective).__name__)


def current_folder() -> str:
    try:
        return os.getcwd()
    except FileNotFoundError:  # it was deleted; a run with data of its own needs none
        return "/"


def _log_table(log: Log) -> Dict[str, Any]:
    if isinstance(log, str):
        return {"level": log}
    if isinstance(log, Mapping):
        table: Dict[str, Any] = plain(dict(log), "log")
        return table
    return {"every": whole(log, "log")}
