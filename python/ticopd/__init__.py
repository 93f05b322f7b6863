"""Decentralized optimization with compressed messages: many agents train one model, share no data
and send a few bits per coordinate.

>>> import ticopd
>>> class Mine(ticopd.Objective):                    # agent i alone wants every coordinate to be i
...     dimension = 100
...     def value_and_gradient(self, agent, x, g):
...         g[:] = x - agent
...         return 0.5 * float(g @ g)
>>> run = ticopd.Run(Mine(), graph=ticopd.ring(8), codec=ticopd.Qsgd(bits=4),
...                  algorithm=ticopd.TiCoPD(alpha=0.1, theta=2, eta=0.4), iterations=400)
>>> run.step(400)
400
>>> float(run.x[0, 0])                               # together they find the mean, 3.5

`ticopd.torch` makes objectives of PyTorch modules; it is imported when it is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, List

try:
    import numpy as _numpy
except ImportError as error:
    raise ImportError(
        f"ticopd needs NumPy, which cannot be imported ({error}): pip install numpy"
    ) from None

from ._algorithm import AlgorithmType, algorithm
from ._codec import Codec, ErrorBound
from ._comparison import Comparison, compare, report
from ._errors import (
    ConfigError,
    DiskError,
    Diverged,
    Error,
    FormatError,
    Interrupted,
    UnavailableError,
    UsageError,
)
from ._graph import Graph, from_adjacency, from_networkx, graph
from ._library import version as _version
from ._objective import Objective
from ._ranks import Ranks, ranks
from ._results import Result, read
from ._run import Run
from ._schedule import Schedule, constant, inverse, inverse_sqrt, step
from ._studies import Tuned, schema, tables, theory, tune
from .codecs import *
from .graphs import *
from .methods import *
from . import codecs, graphs, methods

if TYPE_CHECKING:
    from . import torch as torch

__version__ = _version()

__all__ = [
    "AlgorithmType",
    "Codec",
    "Comparison",
    "ConfigError",
    "DiskError",
    "Diverged",
    "Error",
    "ErrorBound",
    "FormatError",
    "Graph",
    "Interrupted",
    "Objective",
    "Ranks",
    "Result",
    "Run",
    "Schedule",
    "Tuned",
    "UnavailableError",
    "UsageError",
    "algorithm",
    "compare",
    "constant",
    "from_adjacency",
    "from_networkx",
    "graph",
    "inverse",
    "inverse_sqrt",
    "ranks",
    "read",
    "report",
    "schema",
    "step",
    "tables",
    "theory",
    "tune",
]
__all__ += codecs.__all__
__all__ += graphs.__all__
__all__ += methods.__all__


def __getattr__(name: str) -> Any:
    if name == "torch":
        import importlib

        return importlib.import_module(".torch", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> List[str]:
    return sorted([*globals(), "torch"])
