"""Step sizes as functions of the round."""

from __future__ import annotations

import math
from typing import Any, Dict, Mapping, Tuple, Union

from ._errors import ConfigError
from ._values import real

_PARTS: Dict[str, Tuple[str, ...]] = {
    "constant": ("c",),
    "inverse_sqrt": ("c", "t0"),
    "inverse": ("c", "t0"),
    "step": ("c", "factor", "every"),
}


class Schedule:
    """A step size as a function of the round t = 1, 2, ...

    Made by `inverse_sqrt`, `inverse`, `step` or `constant`; call it to see its values:

    >>> ticopd.inverse_sqrt(1.0, t0=99)(1)
    0.1
    """

    __slots__ = ("kind", "parts")

    def __init__(self, kind: str, **parts: float) -> None:
        if kind not in _PARTS:
            raise ConfigError(f'schedule = "{kind}": allowed: {", ".join(_PARTS)}')
        if set(parts) != set(_PARTS[kind]):
            raise ConfigError(
                f'schedule = "{kind}": it has the parts {", ".join(_PARTS[kind])}; '
                f"given: {', '.join(parts) or 'none'}"
            )
        self.kind = kind
        self.parts = {name: real(parts[name], name) for name in _PARTS[kind]}

    def __call__(self, round: int) -> float:
        p = self.parts
        if self.kind == "constant":
            return p["c"]
        if self.kind == "inverse_sqrt":
            return p["c"] / math.sqrt(round + p["t0"])
        if self.kind == "inverse":
            return p["c"] / (round + p["t0"])
        return p["c"] * float(p["factor"] ** math.floor((round - 1) / p["every"]))

    def to_config(self) -> Dict[str, Any]:
        return {"schedule": self.kind, **self.parts}

    @staticmethod
    def from_config(table: Mapping[str, Any]) -> "Schedule":
        parts = dict(table)
        kind = parts.pop("schedule", None)
        return Schedule(str(kind), **parts)

    def __repr__(self) -> str:
        parts = ", ".join(f"{name}={value:g}" for name, value in self.parts.items())
        return f"{self.kind}({parts})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Schedule):
            return NotImplemented
        return self.kind == other.kind and self.parts == other.parts

    def __hash__(self) -> int:
        return hash((self.kind, tuple(self.parts.items())))

    def __reduce__(self) -> Any:
        return Schedule.from_config, (self.to_config(),)


Step = Union[float, Schedule]
"""A step size: a number, or a schedule."""


def constant(c: float) -> Schedule:
    """The step size c in every round; the same as the number alone."""
    return Schedule("constant", c=c)


def inverse_sqrt(c: float, t0: float) -> Schedule:
    """The step size c / sqrt(t + t0) in round t."""
    return Schedule("inverse_sqrt", c=c, t0=t0)


def inverse(c: float, t0: float) -> Schedule:
    """The step size c / (t + t0) in round t."""
    return Schedule("inverse", c=c, t0=t0)


def step(c: float, factor: float, every: float) -> Schedule:
    """The step size c, multiplied by `factor` every so many rounds."""
    return Schedule("step", c=c, factor=factor, every=every)
