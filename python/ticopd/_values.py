"""Python values as values of a config."""

from __future__ import annotations

import math
import numbers
import operator
from typing import Any, Dict, List, Mapping, Optional, Tuple

from ._errors import ConfigError


def whole(value: Any, key: str) -> int:
    """A whole number, also one of NumPy's. TypeError otherwise."""
    if isinstance(value, bool):
        raise TypeError(f"{key} = {value}: allowed is a whole number")
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{key} = {value!r}: allowed is a whole number") from None


def real(value: Any, key: str) -> float:
    """A finite number, also one of NumPy's."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(f"{key} = {value!r}: allowed is a number")
    number = float(value)
    if not math.isfinite(number):
        raise ConfigError(f"{key} = {number}: allowed is a finite number")
    return number


def plain(value: Any, key: str) -> Any:
    """The value as JSON can hold it: numbers of NumPy become numbers, tuples lists, and so on."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        return real(value, key)
    if isinstance(value, dict):
        return {str(name): plain(item, f"{key}.{name}") for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item, key) for item in value]
    if isinstance(value, type):
        raise TypeError(f"{key} = {value!r}: a class; allowed are values")
    to_config = getattr(value, "to_config", None)
    if to_config is not None:
        return to_config()
    if hasattr(value, "__fspath__"):
        return str(value.__fspath__())
    if hasattr(value, "tolist"):
        return plain(value.tolist(), key)
    raise TypeError(f"{key} = {value!r}: a {type(value).__name__} cannot stand in a config")


def put(tree: Dict[str, Any], key: str, value: Any) -> None:
    """Sets a dotted key, such as "graph.agents"."""
    *tables, last = key.split(".")
    for name in tables:
        below = tree.setdefault(name, {})
        if not isinstance(below, dict):
            raise ConfigError(f"{key}: {name} is a value and not a table")
        tree = below
    tree[last] = value


def toml_text(value: Any, key: str) -> str:
    """A value as it stands behind `key=` in an override."""
    value = plain(value, key)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"'
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, list):
        return "[" + ", ".join(toml_text(item, key) for item in value) + "]"
    if isinstance(value, dict):
        inside = ", ".join(f"{name} = {toml_text(item, key)}" for name, item in value.items())
        return "{ " + inside + " }"
    raise TypeError(f"{key} = {value!r}: None cannot stand in a config")


def items_of(settings: Any) -> List[Tuple[str, Any]]:
    """The keys and values of `set=`."""
    if settings is None:
        return []
    if not isinstance(settings, Mapping):
        raise TypeError(f"set: {settings!r}; allowed is a dict such as {{'codec.bits': 4}}")
    for key in settings:
        if not isinstance(key, str):
            raise TypeError(f"set: {key!r} is no key; keys are texts such as 'codec.bits'")
    return list(settings.items())


def overrides_of(settings: Optional[Dict[str, Any]]) -> "list[str]":
    """{"codec.bits": 4} as the overrides of the command line. Nested tables may be given, too."""
    return [f"{key}={toml_text(value, key)}" for key, value in items_of(settings)]
