"""Messages about words that are not allowed, as the command line writes them."""

from __future__ import annotations

import difflib
from typing import Sequence


def _with_nearest(text: str, given: str, allowed: Sequence[str]) -> str:
    near = difflib.get_close_matches(given, allowed, n=1)
    return text + (f'; did you mean "{near[0]}"?' if near else "")


def not_allowed(key: str, given: str, allowed: Sequence[str]) -> str:
    """For a word that is none of those allowed."""
    return _with_nearest(f'{key} = "{given}": allowed are {", ".join(allowed)}', given, allowed)


def unknown_option(key: str, owner: str, given: str, allowed: Sequence[str]) -> str:
    """For an option that its owner does not have."""
    options = f"its options are {', '.join(allowed)}" if allowed else "it has no options"
    return _with_nearest(f"{key}: unknown option of {owner}; {options}", given, allowed)
