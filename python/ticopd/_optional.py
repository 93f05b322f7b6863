"""Packages that are used if they are installed."""

from __future__ import annotations

import importlib
from typing import Any


def need(package: str, who: str) -> Any:
    """The package, or an ImportError that says who needs it."""
    try:
        return importlib.import_module(package)
    except ImportError:
        name = package.partition(".")[0]
        raise ImportError(f"{who} needs {name}: pip install {name}") from None
