"""How this package writes files: under another name first, so that no reader sees half of one."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from ._errors import DiskError


def write_file(path: Path, content: bytes) -> None:
    """Writes the file whole or not at all. A link that was planted under the temporary name is not
    followed, since that name must be new."""
    temporary = path.with_name(f"{path.name}.{secrets.token_hex(4)}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(temporary, flags, 0o666)
        try:
            with open(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)
        except BaseException:
            temporary.unlink()
            raise
    except OSError as error:
        raise DiskError(f"{path}: cannot be written: {error.strerror}") from error
