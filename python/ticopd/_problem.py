"""Objectives as the library knows them."""

from __future__ import annotations

import ctypes
import json
import os
from ctypes import c_char_p, c_uint64, sizeof
from typing import Any, Dict, List, Mapping, Optional, Tuple

import numpy as np
import numpy.typing as npt

from . import _library
from ._errors import ConfigError
from ._library import lib
from ._objective import count_of_samples, overrides
from ._session import Metric, NumpySession, Session
from ._values import whole


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


def make_session(
    config: Dict[str, Any],
    folder: str,
    objective: Any,
    test: Any,
    metrics: Optional[Mapping[str, Metric]],
) -> Session:
    """What answers the questions about this objective; completes the config by what it says."""
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
            lib.tc_config_complete, _library.encode_json(config), os.fsencode(folder)
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
    return session


def problem_of(
    session: Session, start: Optional[npt.ArrayLike] = None, *, has_ranks: bool = False
) -> Tuple[_library.Problem, Any]:
    """The objective as the library knows it, and what must live until it is copied."""
    objective = session.objective
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
    if not has_ranks and overrides(objective, "fingerprint"):
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


def vector_of(start: Any, dtype: Any) -> npt.NDArray[Any]:
    given = np.asarray(start)
    if given.dtype.kind == "c":
        raise TypeError(f"start has the type {given.dtype}; allowed are real numbers")
    with np.errstate(over="ignore"):  # what is too large becomes infinite, and is refused
        vector: npt.NDArray[Any] = np.ascontiguousarray(given, dtype)
    return vector
