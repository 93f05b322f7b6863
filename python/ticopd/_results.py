"""Results as arrays, tables and figures, of a run that lives and of a run folder."""

from __future__ import annotations

import html
import math
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np
import numpy.typing as npt

from . import _library
from ._library import lib
from ._optional import need
from ._words import not_allowed

Metrics = Dict[str, npt.NDArray[Any]]

_TITLES: Dict[str, str] = {
    "iteration": "round",
    "bits_paper": "bits sent by an agent (papers' count)",
    "bits_payload": "bits sent by an agent",
    "bits_link": "bits sent by an agent, over all links",
    "loss_max": "worst loss",
    "loss_mean": "loss of the mean model",
    "loss_local": "mean local loss",
    "grad_norm2_max": "worst squared gradient norm",
    "grad_norm2_mean": "squared gradient norm of the mean model",
    "consensus": "consensus error",
    "accuracy_min": "worst test accuracy",
    "accuracy_mean": "test accuracy of the mean model",
    "surrogate_error": "surrogate error",
    "dual_sum": "norm of the sum of duals",
    "seconds": "seconds",
}


_ON_REQUEST = ("loss_local", "lyapunov")


def metrics_of(columns: Sequence[str], cells: npt.NDArray[np.float64]) -> Metrics:
    """Logged rows as arrays by column. `iteration` is whole."""
    metrics: Metrics = {name: cells[:, i].copy() for i, name in enumerate(columns)}
    if "iteration" in metrics:
        metrics["iteration"] = metrics["iteration"].astype(np.int64)
    return metrics


class Shown:
    """What a run and a result share: their metrics as a table, a figure and a page."""

    @property
    def metrics(self) -> Metrics:
        raise NotImplementedError

    @property
    def config(self) -> Dict[str, Any]:
        raise NotImplementedError

    def _facts(self) -> List[Tuple[str, str]]:
        """Lines for `_repr_html_`."""
        raise NotImplementedError

    @property
    def last(self) -> Dict[str, float]:
        """The last logged row: column and value, without the cells that are empty."""
        return {
            name: column[-1].item()
            for name, column in self.metrics.items()
            if len(column) and not math.isnan(column[-1])
        }

    def frame(self) -> Any:
        """The metrics as a pandas DataFrame, with the round as its index."""
        return need("pandas", "frame()").DataFrame(self.metrics).set_index("iteration")

    def plot(
        self,
        y: str = "loss_max",
        x: str = "bits_payload",
        *,
        ax: Any = None,
        logx: bool = False,
        logy: Optional[bool] = None,
        label: Optional[str] = None,
        **line: Any,
    ) -> Any:
        """Draws one column against another with matplotlib and returns the axes.

        The y axis is logarithmic unless y is an accuracy. Further arguments go to `Axes.plot`.

        >>> axes = run.plot("consensus", "iteration")
        """
        return plot(self.metrics, y, x, ax, logx, logy, label or label_of(self.config), line)

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th style='text-align:left'>{html.escape(name)}</th>"
            f"<td style='text-align:left'>{html.escape(text)}</td></tr>"
            for name, text in self._facts()
        )
        return f"<table>{rows}</table>{sparkline(self.metrics)}"


def plot(
    metrics: Metrics,
    y: str,
    x: str,
    ax: Any,
    logx: bool,
    logy: Optional[bool],
    label: str,
    line: Mapping[str, Any],
) -> Any:
    for name, column in (("y", y), ("x", x)):
        if column not in metrics:
            raise ValueError(not_allowed(name, column, list(metrics)))
    if ax is None:
        ax = need("matplotlib.pyplot", "plot()").figure().add_subplot()
    there = ~np.isnan(metrics[y])
    if not there.any():
        raise ValueError(f'y = "{y}": nothing was logged there; log.level decides what is measured')
    ax.plot(metrics[x][there], metrics[y][there], label=label, **line)
    ax.set_xlabel(_TITLES.get(x, x))
    ax.set_ylabel(_TITLES.get(y, y))
    if logx:
        ax.set_xscale("log")
    if logy is None:
        logy = not y.startswith("accuracy") and bool((metrics[y][there] >= 0).all())
    if logy:
        ax.set_yscale("log")
    ax.legend()
    return ax


def label_of(config: Mapping[str, Any]) -> str:
    """A run in few words: "ticopd, qsgd 4"."""
    algorithm = config.get("algorithm", {}).get("name", "ticopd")
    codec = config.get("codec", {})
    words = [str(codec.get("kind", "identity"))]
    for key in ("bits", "k", "fraction", "then"):
        if codec.get(key) is not None:
            words.append(str(codec[key]))
    return f"{algorithm}, {' '.join(words)}"


def facts_of(config: Mapping[str, Any], last: Mapping[str, float]) -> List[Tuple[str, str]]:
    problem, graph = config.get("problem", {}), config.get("graph", {})
    name = problem.get("name") or problem.get("objective", "")
    facts = [
        ("objective", str(name)),
        ("graph", f"{graph.get('kind', 'ring')}, {graph.get('agents', '?')} agents"),
        ("codec and algorithm", label_of(config)),
    ]
    for column in ("loss_max", "loss_local", "accuracy_min", "consensus", "bits_payload"):
        if column in last:
            facts.append((_TITLES[column], f"{last[column]:.4g}"))
    return facts


def sparkline(metrics: Metrics) -> str:
    """The loss by round as a small SVG, or nothing."""
    for column in ("loss_max", "loss_local", "consensus"):
        values = metrics.get(column)
        if values is None:
            continue
        good = np.isfinite(values) & (values > 0)
        if good.sum() < 3:
            continue
        heights = np.log(values[good])
        low, high = float(heights.min()), float(heights.max())
        scale = 36 / (high - low) if high > low else 0
        points = " ".join(
            f"{2 + 196 * i / (len(heights) - 1):.1f},{38 - scale * (h - low):.1f}"
            for i, h in enumerate(heights)
        )
        title = f"{_TITLES[column]}, logarithmic, by logged round"
        return (
            f'<svg width="200" height="40" role="img" aria-label="{title}"><title>{title}</title>'
            f'<polyline points="{points}" fill="none" stroke="currentColor"/></svg>'
        )
    return ""


class Result(Shown):
    """A run folder that was read: `metrics`, `config`, `summary`, `final`.

    >>> result = ticopd.read("runs/first")
    >>> result.metrics["loss_max"][-1], result.final.shape
    """

    def __init__(
        self,
        summary: Dict[str, Any],
        metrics: Metrics,
        folder: Optional[Path] = None,
        final: Optional[npt.NDArray[Any]] = None,
    ) -> None:
        self.folder = folder
        self.summary = summary
        """What run.json has: status, digest, ledger, inputs, seconds by phase, ..."""
        self._metrics = metrics
        self.final = final
        """The models, n x d; None if the run is not finished."""

    @property
    def metrics(self) -> Metrics:
        """The logged rows, an array for each column. Empty cells are nan."""
        return self._metrics

    @property
    def config(self) -> Dict[str, Any]:
        """The config with every key."""
        return dict(self.summary.get("config", {}))

    @property
    def digest(self) -> str:
        """A hash of all models at all logged rounds: equal for equal runs."""
        return str(self.summary.get("digest", ""))

    @property
    def status(self) -> str:
        """ "finished", "interrupted", "diverged" or "running"."""
        return str(self.summary.get("status", ""))

    def _facts(self) -> List[Tuple[str, str]]:
        rounds = self.metrics.get("iteration")
        last = int(rounds[-1]) if rounds is not None and len(rounds) else 0
        return [
            ("folder", str(self.folder or "")),
            ("status", f"{self.status}, {last} rounds"),
            *facts_of(self.config, self.last),
            ("digest", self.digest),
        ]

    def __repr__(self) -> str:
        return f"<ticopd.Result {self.folder}: {label_of(self.config)}, {self.status}>"


def read(folder: Union[str, Path]) -> Result:
    """Reads a run folder, of the command line or of `Run.save`."""
    place = Path(folder)
    found = _library.json_of(lib.tc_folder_read, _library.encode_path(place))
    metrics: Metrics = {}
    for name, cells in zip(found["columns"], found["metrics"]):
        column = np.array([math.nan if cell is None else float(cell) for cell in cells])
        if name in _ON_REQUEST and np.isnan(column).all():
            continue  # the file has no such column
        metrics[name] = column.astype(np.int64) if name == "iteration" else column
    final = place / "final.npy"
    models = np.load(final, allow_pickle=False) if final.exists() else None
    return Result(found["summary"], metrics, place, models)
