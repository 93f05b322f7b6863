"""The errors that ticopd raises. Each kind has a class, because each calls for another reaction."""

from __future__ import annotations

from typing import Dict, NoReturn, Optional, Tuple, Type

from ._words import in_python


class Error(Exception):
    """The base class of ticopd's errors. `code` is the exit code of the command line."""

    code: int = 70

    def __init__(self, message: str = "", code: Optional[int] = None) -> None:
        super().__init__(message)
        if code is not None:
            self.code = code

    def __reduce__(self) -> Tuple[Type["Error"], Tuple[str, int]]:
        return type(self), (str(self), self.code)


class UsageError(Error):
    """A call that is not allowed here: a closed run, a second thread, the child of a fork."""

    code = 64


class FormatError(Error):
    """A damaged file or payload."""

    code = 65


class UnavailableError(Error):
    """A device, service or data set that is not there."""

    code = 69


class DiskError(Error):
    """The disk is full or read-only, or a folder is missing."""

    code = 74


class Interrupted(Error):
    """Stopped before the end, or another rank was lost."""

    code = 75


class Diverged(Error):
    """The models grew without bound. `round` is the last round that was made."""

    code = 76
    round: int = 0

    def __init__(self, message: str = "", code: Optional[int] = None, round: int = 0) -> None:
        super().__init__(message, code)
        self.round = round

    def __reduce__(self) -> Tuple[Type["Diverged"], Tuple[str, int, int]]:  # type: ignore[override]
        return type(self), (str(self), self.code, self.round)


class ConfigError(Error, ValueError):
    """A config that cannot be run. The message names the key, what was given, what is allowed."""

    code = 78


_KINDS: Tuple[Type[Error], ...] = (
    UsageError,
    FormatError,
    UnavailableError,
    DiskError,
    Interrupted,
    Diverged,
    ConfigError,
)
_BY_CODE: Dict[int, Type[Error]] = {kind.code: kind for kind in _KINDS}


def raise_as(code: int, message: str) -> NoReturn:
    """Raises the error of that code."""
    raise _BY_CODE.get(code, Error)(in_python(message), code)
