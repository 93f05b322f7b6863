"""Messages about words that are not allowed, as the command line writes them."""

from __future__ import annotations

import difflib
import re
from typing import Sequence, Tuple

# Options of the command line in the library's messages, and how they are given from Python.
_OPTIONS: Tuple[Tuple[str, str], ...] = (
    (r"^--out (?=.)", ""),
    (r"^--resume: ", "resume: "),
    (r"--resume\b", "resume="),
    (r"--set ([\w.]+)=", r"set: \1="),
    (r"--device (\w+)", r'device="\1"'),
)


def in_python(message: str) -> str:
    """A message of the library in the words of the package."""
    for option, words in _OPTIONS:
        message = re.sub(option, words, message)
    return message


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
