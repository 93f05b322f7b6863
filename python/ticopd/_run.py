"""Runs."""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import tempfile
import warnings
import weakref
from ctypes import byref, c_char_p, c_int32, c_size_t, c_uint64, c_void_p, sizeof
from pathlib import Path
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple, Type, Union

import numpy as np
import numpy.typing as npt

from . import _library
from ._algorithm import AlgorithmType, as_algorithm
from ._codec import Codec, as_codec
from ._errors import ConfigError, Diverged, Error, Interrupted, UnavailableError, UsageError
from ._graph import Graph, as_graph
from ._library import lib
from ._objective import Objective, count_of_samples, overrides
from ._progress import Progress
from ._ranks import Ranks
from ._results import Metrics, Result, Shown, facts_of, metrics_of
from ._session import Metric, NumpySession, Session, array_at
from ._values import items_of, overrides_of, plain, put, real, whole
from ._work import Handle, OneUser, answer_until_done

_LEVELS = {"rows": 0, "local": 1, "full": 2}

Folder = Union[str, "os.PathLike[str]"]
Log = Union[int, str, Mapping[str, Any]]
Settings = Optional[Dict[str, Any]]


class _Rows:
    """The memory of `Run.x`: the models as they were after the last step."""

    __slots__ = ("__array_interface__", "data", "run")

    def __init__(self, data: npt.NDArray[Any], run: "Run") -> None:
        self.data = data
        self.run = run
        self.__array_interface__ = dict(data.__array_interface__, data=(data.ctypes.data, True))


class Run(Shown):
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
        self._handle: Optional[Handle] = None
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
        self._columns: List[str] = []
        self._cells: Optional[npt.NDArray[np.float64]] = None
        self._rows_ref: Optional["weakref.ref[npt.NDArray[Any]]"] = None
        self._session: Optional[Session] = None
        self._answer: Optional[Callable[[], int]] = None
        self._question = _library.Question()
        self._diverged: Optional[Diverged] = None
        self._making = False  # a step was begun and has not ended

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
            session = self._make_session(config, objective, test, metrics)
            config.setdefault("log", {}).setdefault("level", session.default_level)
        elif metrics or test is not None or start is not None:
            raise ConfigError(
                "start, test and metrics are for objectives of your own; this config has "
                f'problem.objective = "{problem.get("objective", "mlp")}"'
            )
        kept: Optional[Tuple[_library.Problem, Any]] = None
        if self._session is not None:
            kept = self._problem(start)
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

    def _make_session(
        self,
        config: Dict[str, Any],
        objective: Any,
        test: Any,
        metrics: Optional[Mapping[str, Metric]],
    ) -> Session:
        graph = config.setdefault("graph", {})
        agents = getattr(objective, "agents", None)
        if agents is not None:
            agents = whole(agents, "objective.agents")
            given = graph.setdefault("agents", agents)
            if given != agents:
                raise ConfigError(
                    f"graph.agents = {given}: the objective has {agents} agents; they must agree"
                )
        elif "agents" not in graph and graph.get("kind") != "file":
            raise ConfigError(
                "graph.agents: give the number of agents, as ticopd.ring(8) or 'ring:8', or as the "
                "attribute `agents` of the objective"
            )
        if "agents" not in graph:
            complete = _library.json_of(
                lib.tc_config_complete, _library.encode_json(config), os.fsencode(self._folder)
            )
            graph["agents"] = complete["graph"]["agents"]
        precision = config.setdefault("precision", "float")
        own = getattr(objective, "precision", None)
        if own is not None and own != precision:
            raise ConfigError(f'precision = "{precision}": the objective has "{own}"')
        functions = dict(metrics or {})
        for name, function in functions.items():
            if not isinstance(name, str) or not name.isidentifier():
                raise ConfigError(f"metrics: {name!r} is no name; use letters, digits and _")
            if not callable(function):
                raise TypeError(f"metrics: {name!r} is a {type(function).__name__}, no function")
        make = getattr(objective, "_session", None)
        session: Session
        if make is not None:
            session = make(int(graph["agents"]), precision == "double", functions, test)
        else:
            if test is not None:
                if not callable(test):
                    raise TypeError(
                        f"test: a {type(test).__name__}; allowed is a function of a model that "
                        "returns its accuracy"
                    )
                functions.setdefault("accuracy", test)
            elif overrides(objective, "accuracy"):
                functions.setdefault("accuracy", objective.accuracy)
            dimension = whole(getattr(objective, "dimension", 0), "objective.dimension")
            if dimension < 1:
                raise ConfigError(f"objective.dimension = {dimension}: allowed is 1 or more")
            session = NumpySession(
                objective, int(graph["agents"]), dimension, precision == "double", functions
            )
        self._session = session
        return session

    def _problem(self, start: Optional[npt.ArrayLike]) -> Tuple[_library.Problem, Any]:
        """The objective as the library knows it, and what must live until it is copied."""
        session, objective = self._session, self._objective
        assert session is not None
        n, d = session.agents, session.dimension
        problem = _library.Problem(
            struct_size=sizeof(_library.Problem),
            dimension=d,
            agents=n,
            has_values=1 if getattr(objective, "has_values", True) else 0,
        )
        kept: List[Any] = []
        samples = count_of_samples(objective, n)
        if samples is not None:
            counts = (c_uint64 * n)(*samples)
            kept.append(counts)
            problem.samples = ctypes.cast(counts, ctypes.POINTER(c_uint64))
        if start is None:
            start = getattr(objective, "start", None)
        if callable(start):
            start = start()
        if start is not None:
            vector = vector_of(start, session.dtype)
            if vector.shape != (d,):
                raise ValueError(f"start has the shape {vector.shape}; expected ({d},)")
            if not np.isfinite(vector).all():
                k = int(np.flatnonzero(~np.isfinite(vector))[0])
                raise ValueError(f"start is {vector[k]} at coordinate {k}; expected finite numbers")
            kept.append(vector)
            problem.start = vector.ctypes.data
        if self._ranks is None and overrides(objective, "fingerprint"):
            texts = _library.text_list([objective.fingerprint(i) for i in range(n)])
            kept.append(texts)
            problem.fingerprints = ctypes.cast(texts, ctypes.POINTER(c_char_p))
        layout = getattr(objective, "layout", None)
        if layout is not None:
            parts = [[str(name), [int(size) for size in shape]] for name, shape in layout]
            problem.layout = json.dumps(parts).encode()
        names = session.metric_names()
        if names:
            texts = _library.text_list(names)
            kept.append(texts)
            problem.metrics = ctypes.cast(texts, ctypes.POINTER(c_char_p))
            problem.metric_count = len(names)
        return problem, kept

    # -- Making rounds --------------------------------------------------------------------------

    def step(
        self,
        rounds: int = 1,
        *,
        log: Optional[int] = None,
        progress: bool = False,
        callback: Optional[Callable[["Run"], Any]] = None,
    ) -> int:
        """Makes up to so many rounds and returns how many: fewer at the end of the run, then 0.

        After an exception in the objective, or Ctrl-C, the run is as it was in the middle of that
        round: the next call finishes the round first, and counts it.

        Args:
            rounds: how many rounds to make.
            log: log every so many rounds; before the first round only.
            progress: shows a line with the time that is left (tqdm if it is installed).
            callback: called with the run after every round; if it returns True, the step ends.
        """
        rounds = whole(rounds, "rounds")
        if callback is not None and not callable(callback):
            raise TypeError(f"callback: a {type(callback).__name__}; give a function of a run")
        if rounds < 0:
            raise ValueError(f"rounds = {rounds}: allowed is 0 or more")
        rounds = min(rounds, 0xFFFFFFFF)
        with self._user:
            handle = self._open_handle()
            if log is not None:
                every = whole(log, "log")
                if not 1 <= every <= 0xFFFFFFFF:
                    raise ValueError(f"log = {every}: allowed is 1 or more")
                _library.check(lib.tc_run_log_every(handle.address, every))
            before = self._round()
            bar = Progress(self, min(rounds, self._iterations() - before)) if progress else None
            try:
                if callback is None:
                    self._make(rounds, bar)
            finally:
                if bar is not None and callback is None:
                    bar.close()
                if callback is None:
                    self._refresh()
        if callback is not None:
            try:
                for _ in range(rounds):
                    with self._user:
                        if lib.tc_run_finished(self._open_handle().address):
                            break
                        try:
                            self._make(1, None)
                        finally:
                            self._refresh()
                    if bar is not None:
                        bar.show()
                    if callback(self) is True:
                        break
            finally:
                if bar is not None:
                    bar.close()
        return self._round() - before

    def _make(self, rounds: int, bar: Optional[Progress]) -> None:
        """Makes rounds; the library's lock is held."""
        handle = self._open_handle()
        if self._diverged is not None:
            raise self._diverged
        if rounds == 0:
            return
        show = bar.show if bar is not None else None
        try:
            if self._answer is not None:
                _library.check(lib.tc_run_step(handle.address, rounds))
                self._work(show)
            else:
                self._in_pieces(rounds, show)
        except Diverged as error:
            error.round = self._round()
            self._diverged = error
            raise
        if show is not None:
            show()
        self._warn()

    def _in_pieces(self, rounds: int, show: Optional[Callable[[], None]]) -> None:
        """Rounds of an objective of the library, which asks nothing: in pieces of a fraction of a
        second, since only between two pieces does Ctrl-C end the step."""
        import time

        address = self._open_handle().address
        piece = 1
        while rounds > 0 and not lib.tc_run_finished(address):
            piece = min(piece, rounds)
            began = time.monotonic()
            _library.check(lib.tc_run_step(address, piece))
            self._work(show)
            rounds -= piece
            if time.monotonic() - began < 0.05:
                piece *= 2

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

    def measure(self, level: str = "full") -> Dict[str, float]:
        """Measures the models now: column and value, as a logged row. It is not logged.

        Args:
            level: "rows" (consensus, surrogates, duals, bits), "local" (also each agent's own loss)
                or "full" (also every model on all data, with gradients).
        """
        if level not in _LEVELS:
            raise ValueError(f'level = "{level}": allowed are {", ".join(_LEVELS)}')
        with self._user:
            handle = self._open_handle()
            _library.check(lib.tc_run_measure(handle.address, _LEVELS[level]))
            try:
                self._work()
            except BaseException:
                self._give_up(handle)
                raise
            cells = np.empty(len(self._columns), np.float64)
            _library.check(lib.tc_run_measured(handle.address, _doubles(cells)))
        return {name: float(cell) for name, cell in zip(self._columns, cells) if cell == cell}

    def _give_up(self, handle: Handle) -> None:
        """Ends a measurement whose question cannot be answered."""
        if lib.tc_run_give_up(handle.address) != _library.OK:
            return
        try:
            answer_until_done(self._user, handle, lib.tc_run_next, self._question, None)
        except Error:
            pass

    # -- State ----------------------------------------------------------------------------------

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

    @property
    def round(self) -> int:
        """The last round that was made."""
        return int(lib.tc_run_round(self._address()))

    @property
    def finished(self) -> bool:
        """True after the last round."""
        return bool(lib.tc_run_finished(self._address()))

    @property
    def pending(self) -> bool:
        """True if a step was left in the middle of a round, by an exception or Ctrl-C."""
        return bool(lib.tc_run_pending(self._address()))

    @property
    def digest(self) -> str:
        """A hash of all models at all rounds logged so far. Runs with one digest are the same."""
        with self._user:
            return _library.text_of(lib.tc_run_digest, self._open_handle().address)

    def _models(self) -> Tuple[npt.NDArray[Any], int]:
        """The library's own rows, and the agent of the first."""
        handle = self._open_handle()
        x, first, rows, columns = c_void_p(), c_int32(), c_int32(), c_uint64()
        _library.check(
            lib.tc_run_x(handle.address, byref(x), byref(first), byref(rows), byref(columns))
        )
        size = 8 if self._given.get("precision", "float") == "double" else 4
        shape = (rows.value, columns.value)
        strides = (columns.value * size, size)
        models = array_at(x.value or 0, shape, strides, f"<f{size}", False, handle)
        return models, first.value

    @property
    def x(self) -> npt.NDArray[Any]:
        """The models, one row for each agent that this process hosts: read-only.

        The array follows the run: after every step it shows the models as they are then. Copy it to
        keep a state. A view of it keeps the run alive.
        """
        with self._user:
            shown = self._rows_ref() if self._rows_ref is not None else None
            if shown is None:
                shown = np.asarray(_Rows(self._models()[0].copy(), self))
                self._rows_ref = weakref.ref(shown)
        return shown

    def _refresh(self) -> None:
        """Brings `x` up to date, if anyone looks at it."""
        shown = self._rows_ref() if self._rows_ref is not None else None
        if shown is not None and self._handle is not None:
            holder = shown.base
            assert isinstance(holder, _Rows)
            np.copyto(holder.data, self._models()[0])

    @property
    def hosted(self) -> range:
        """The agents whose models `x` has: all, or those of this rank."""
        with self._user:
            models, first = self._models()
        return range(first, first + len(models))

    def model(self, agent: int) -> Any:
        """The model of an agent: a copy of its row, or for a torch objective a module with its
        weights."""
        agent = whole(agent, "agent")
        hosted = self.hosted
        if agent not in hosted:
            raise IndexError(f"agent {agent} is not among {hosted.start} ... {hosted.stop - 1}")
        row = self.x[agent - hosted.start]
        return row.copy() if self._session is None else self._session.model(row.copy(), agent)

    @property
    def metrics(self) -> Metrics:
        """The logged rows, an array for each column. Cells that were not measured are nan."""
        with self._user:
            return metrics_of(self._columns, self._logged())

    def _logged(self) -> npt.NDArray[np.float64]:
        address = self._open_handle().address
        count = int(lib.tc_run_logged(address))
        cells = np.empty((count, len(self._columns)), np.float64)
        known = self._cells
        have = 0 if known is None else min(len(known), count)
        if known is not None:
            cells[:have] = known[:have]
        if have < count:
            _library.check(lib.tc_run_rows(address, have, count - have, _doubles(cells[have:])))
        self._cells = cells
        return cells

    @property
    def summary(self) -> Dict[str, Any]:
        """What run.json would have now: config, digest, ledger, inputs, seconds by phase, ..."""
        with self._user:
            summary: Dict[str, Any] = _library.json_of(
                lib.tc_run_summary, self._open_handle().address
            )
        return summary

    @property
    def config(self) -> Dict[str, Any]:
        """The config with every key, as a dict."""
        return dict(self.summary["config"])

    @property
    def ledger(self) -> Any:
        """The bytes that each agent sent, over each link."""
        return self.summary["ledger"]

    def to_toml(self) -> str:
        """The config as TOML, for `ticopd run` or `Run.from_toml`."""
        return _library.text_of(lib.tc_config_to_toml, _library.encode_json(self.config))

    # -- Files ----------------------------------------------------------------------------------

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
            _library.check(lib.tc_run_save(handle.address, folder_bytes))
            if not snapshot:
                self._work()
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

    def _warn(self) -> None:
        for text in _library.json_of(lib.tc_run_warnings, self._open_handle().address):
            warnings.warn(str(text), RuntimeWarning, stacklevel=4)

    # -- Life -----------------------------------------------------------------------------------

    def close(self) -> None:
        """Ends the run and gives its memory back, once no view of it is left."""
        if self._user._process is not _library._process:
            return
        if self._session is not None:
            self._session.forget()
        self._handle = None

    def __enter__(self) -> "Run":
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()

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


def vector_of(start: Any, dtype: Any) -> npt.NDArray[Any]:
    given = np.asarray(start)
    if given.dtype.kind == "c":
        raise TypeError(f"start has the type {given.dtype}; allowed are real numbers")
    with np.errstate(over="ignore"):  # what is too large becomes infinite, and is refused
        vector: npt.NDArray[Any] = np.ascontiguousarray(given, dtype)
    return vector


def check_objective(objective: Any) -> None:
    """TypeError unless it is an objective, with what is missing."""
    if isinstance(objective, type):
        raise TypeError(
            f"objective: {objective.__name__} is a class; give an instance: {objective.__name__}()"
        )
    if hasattr(objective, "_session"):
        return
    if not overrides(objective, "value_and_gradient") and not overrides(objective, "gradients"):
        raise TypeError(
            f"objective: a {type(objective).__name__} has neither value_and_gradient(agent, x, g) "
            "nor gradients(first, X, G); ticopd.Objective says what they do"
        )
    if not hasattr(objective, "dimension"):
        raise TypeError(f"objective: a {type(objective).__name__} has no `dimension`")


def _log_table(log: Log) -> Dict[str, Any]:
    if isinstance(log, str):
        return {"level": log}
    if isinstance(log, Mapping):
        table: Dict[str, Any] = plain(dict(log), "log")
        return table
    return {"every": whole(log, "log")}


def _doubles(cells: npt.NDArray[np.float64]) -> Any:
    return cells.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
