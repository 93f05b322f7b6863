"""`python -m ticopd` is the command line."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def main() -> int:
    own = Path(__file__).resolve().parent / "bin" / "ticopd"
    program = str(own) if own.exists() else os.environ.get("TICOPD_PROGRAM", "")
    if not program:
        print(
            f"error: the command line is not part of this package ({own} is missing); "
            "TICOPD_PROGRAM may name it",
            file=sys.stderr,
        )
        return 69
    try:
        os.execv(program, [program, *sys.argv[1:]])
    except OSError as error:
        print(f"error: cannot start {program}: {error.strerror}", file=sys.stderr)
    return 69


if __name__ == "__main__":
    sys.exit(main())
