"""What the classes of all algorithms share."""

from __future__ import annotations

from typing import Any, ClassVar, Dict, Mapping, Optional, Type

from ._errors import ConfigError
from ._schedule import Schedule
from ._values import real
from ._words import not_allowed, unknown_option


class AlgorithmType:
    """The base class of the algorithms: a name and step sizes.

    The classes are generated from the tables that the command line reads configs with. Step sizes
    are keyword arguments, and attributes afterwards:

    >>> ticopd.ChocoSGD(eta=0.1, gamma=0.5).eta
    0.1

    Ranges are checked when a run is made, with the messages of the command line.
    """

    name: ClassVar[str] = ""
    paper: ClassVar[str] = ""
    _kinds: ClassVar[Dict[str, str]] = {}  # of each option: number, whole, flag or choice
    _defaults: ClassVar[Dict[str, Any]] = {}

    def __init__(self, **options: Any) -> None:
        self._options: Dict[str, Any] = {}
        for name, value in options.items():
            if value is None:
                continue  # the library has the default
            key = name.rstrip("_")
            value = self._checked(key, value)
            if key not in self._defaults or value != self._defaults[key]:
                self._options[key] = value

    def _checked(self, key: str, value: Any) -> Any:
        place = f"algorithm.{key}"
        kind = self._kinds.get(key)
        if kind is None:
            raise ConfigError(unknown_option(place, self.name, key, list(self._kinds)))
        if kind == "flag":
            if not isinstance(value, bool):
                raise TypeError(f"{place} = {value!r}: allowed: True, False")
            return value
        if kind == "choice":
            if not isinstance(value, str):
                raise TypeError(f"{place} = {value!r}: allowed is a text")
            return value
        if isinstance(value, Schedule):
            return value
        if isinstance(value, Mapping):
            return Schedule.from_config(value)
        number = real(value, place)
        return int(number) if kind == "whole" and number == int(number) else number

    def __getattr__(self, name: str) -> Any:
        key = name.rstrip("_")
        if name.startswith("_") or key not in self._kinds:
            raise AttributeError(f"{type(self).__name__} has no {name!r}")
        return self._options.get(key, self._defaults.get(key))

    @property
    def options(self) -> Dict[str, Any]:
        """The options that were given and are not the defaults."""
        return dict(self._options)

    def to_config(self) -> Dict[str, Any]:
        """The table [algorithm] of a config."""
        table: Dict[str, Any] = {"name": self.name}
        for key, value in self._options.items():
            table[key] = value.to_config() if isinstance(value, Schedule) else value
        return table

    def __repr__(self) -> str:
        options = ", ".join(f"{name}={value!r}" for name, value in self._options.items())
        return f"{type(self).__name__}({options})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AlgorithmType):
            return NotImplemented
        return self.name == other.name and self._options == other._options

    def __hash__(self) -> int:
        return hash((self.name, tuple(sorted(self._options.items(), key=lambda item: item[0]))))

    def __getstate__(self) -> Dict[str, Any]:
        return {"_options": self._options}

    def __setstate__(self, state: Dict[str, Any]) -> None:
        self._options = state["_options"]


def table_of_algorithms() -> Dict[str, Type[AlgorithmType]]:
    from . import methods

    return methods.ALGORITHMS


def algorithm(name: str, **steps: Any) -> AlgorithmType:
    """The algorithm of that name, with its step sizes.

    >>> ticopd.algorithm("choco_sgd", eta=0.1, gamma=0.5)
    ChocoSGD(eta=0.1, gamma=0.5)
    """
    known = table_of_algorithms()
    if not isinstance(name, str):
        raise TypeError(f"algorithm.name = {name!r}: allowed is a text such as 'ticopd'")
    if name not in known:
        raise ConfigError(not_allowed("algorithm.name", name, list(known)))
    made = known[name].__new__(known[name])
    AlgorithmType.__init__(made, **steps)
    return made


def as_algorithm(given: Any) -> AlgorithmType:
    """An algorithm from what a Run takes: an algorithm, its name, or the table of a config."""
    if isinstance(given, AlgorithmType):
        return given
    if isinstance(given, str):
        return algorithm(given)
    if isinstance(given, Mapping):
        options = dict(given)
        return algorithm(options.pop("name", "ticopd"), **options)
    if isinstance(given, type) and issubclass(given, AlgorithmType):
        raise TypeError(
            f"algorithm: {given.__name__} is a class; give an instance, with its step sizes: "
            f"ticopd.{given.__name__}(...)"
        )
    raise TypeError(
        f"algorithm: a {type(given).__name__}; allowed is one such as ticopd.TiCoPD(alpha=0.1, "
        "theta=1, eta=0.1)"
    )


def class_name(name: str, known: Optional[Mapping[str, str]] = None) -> str:
    """choco_gossip becomes ChocoGossip, unless `known` says otherwise."""
    if known and name in known:
        return known[name]
    return "".join(part.capitalize() for part in name.split("_"))
