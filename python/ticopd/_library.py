"""libticopd.so by ctypes: its functions as ticopd/capi/ticopd.h declares them.

tests/python/test_header.py compares this file with the header.
"""

from __future__ import annotations

import ctypes
import json
import os
from ctypes import (
    POINTER,
    Structure,
    byref,
    c_char_p,
    c_double,
    c_int,
    c_int32,
    c_size_t,
    c_uint16,
    c_uint32,
    c_uint64,
    c_void_p,
)
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence, Tuple

from ._errors import ConfigError, raise_as

ABI = 1

# Codes that functions return.
OK = 0
ASKS = 1
WAIT = 2
USAGE = 64
FORMAT = 65
UNAVAILABLE = 69
INTERNAL = 70
DISK = 74
INTERRUPTED = 75
DIVERGED = 76
CONFIG = 78

# Precisions.
FLOAT = 4
DOUBLE = 8

# Kinds of questions.
GRADIENTS = 1
ACCURACY = 2
METRICS = 3


class Problem(Structure):
    """tc_problem"""

    _fields_ = [
        ("struct_size", c_size_t),
        ("dimension", c_uint64),
        ("agents", c_int32),
        ("has_values", c_int32),
        ("samples", POINTER(c_uint64)),
        ("test_samples", c_uint64),
        ("start", c_void_p),
        ("fingerprints", POINTER(c_char_p)),
        ("layout", c_char_p),
        ("metrics", POINTER(c_char_p)),
        ("metric_count", c_size_t),
    ]


class Question(Structure):
    """tc_question"""

    _fields_ = [
        ("number", c_uint64),
        ("kind", c_int32),
        ("first", c_int32),
        ("rows", c_int32),
        ("round", c_uint32),
        ("x", c_void_p),
        ("x_stride", c_size_t),
        ("g", c_void_p),
        ("g_stride", c_size_t),
        ("values", c_void_p),
        ("batch", c_void_p),
        ("batch_ends", c_void_p),
        ("measuring", c_int32),
    ]


_text_out = POINTER(c_void_p)  # char **: given back with tc_free
_text = c_char_p
_texts = POINTER(c_char_p)
_handle = c_void_p
_handle_out = POINTER(c_void_p)
# bytes and their number; seed, round, agent and channel
_message = [c_void_p, c_size_t, c_uint64, c_uint32, c_uint32, c_uint16]

# name: (result, arguments)
FUNCTIONS: Dict[str, Tuple[Any, List[Any]]] = {
    "tc_abi": (c_int, []),
    "tc_version": (c_char_p, []),
    "tc_message": (c_char_p, []),
    "tc_free": (None, [c_void_p]),
    "tc_tables": (c_int, [_text_out]),
    "tc_schema": (c_int, [_text_out]),
    "tc_config_read": (c_int, [_text, _texts, c_size_t, _text_out]),
    "tc_config_complete": (c_int, [_text, _text, _text_out]),
    "tc_config_to_toml": (c_int, [_text, _text_out]),
    "tc_gather": (c_int, [c_void_p, POINTER(c_void_p), POINTER(c_size_t), c_size_t, c_int]),
    "tc_codec_open": (c_int, [_text, c_int, _handle_out]),
    "tc_codec_close": (None, [_handle]),
    "tc_codec_encode": (c_int, [_handle, *_message, POINTER(c_void_p), POINTER(c_size_t)]),
    "tc_codec_encode_into": (c_int, [_handle, *_message, c_void_p, c_size_t]),
    "tc_codec_decode": (c_int, [_handle, *_message, c_void_p, c_size_t]),
    "tc_codec_about": (c_int, [_handle, c_size_t, _text_out]),
    "tc_ranks_join": (c_int, [c_double, _handle_out]),
    "tc_ranks_size": (c_int, [_handle]),
    "tc_ranks_rank": (c_int, [_handle]),
    "tc_ranks_close": (c_int, [_handle]),
    "tc_ranks_fail": (c_int, [_handle, c_int, _text, _text_out]),
    "tc_ranks_leave": (c_int, [_handle]),
    "tc_run_open": (c_int, [_text, _text, POINTER(Problem), _handle, _handle_out]),
    "tc_run_close": (None, [_handle]),
    "tc_run_step": (c_int, [_handle, c_uint32]),
    "tc_run_measure": (c_int, [_handle, c_int]),
    "tc_run_save": (c_int, [_handle, _text]),
    "tc_run_resume": (c_int, [_handle, _text]),
    "tc_run_next": (c_int, [_handle, c_uint64, c_double, POINTER(Question)]),
    "tc_run_give_up": (c_int, [_handle]),
    "tc_run_pending": (c_int, [_handle]),
    "tc_run_saved_round": (c_uint32, [_handle]),
    "tc_run_round": (c_uint32, [_handle]),
    "tc_run_finished": (c_int, [_handle]),
    "tc_run_x": (
        c_int,
        [_handle, POINTER(c_void_p), POINTER(c_int32), POINTER(c_int32), POINTER(c_uint64)],
    ),
    "tc_run_digest": (c_int, [_handle, _text_out]),
    "tc_run_log_every": (c_int, [_handle, c_uint32]),
    "tc_run_columns": (c_int, [_handle, _text_out]),
    "tc_run_logged": (c_size_t, [_handle]),
    "tc_run_rows": (c_int, [_handle, c_size_t, c_size_t, POINTER(c_double)]),
    "tc_run_measured": (c_int, [_handle, POINTER(c_double)]),
    "tc_run_summary": (c_int, [_handle, _text_out]),
    "tc_run_warnings": (c_int, [_handle, _text_out]),
    "tc_folder_read": (c_int, [_text, _text_out]),
    "tc_report": (c_int, [_texts, c_size_t, _text, _text, _text_out]),
    "tc_compare": (c_int, [_texts, c_size_t, _text, _handle_out]),
    "tc_tune": (c_int, [_text, _text, _text, POINTER(Problem), _handle_out]),
    "tc_theory": (c_int, [_text, _text, POINTER(Problem), _handle_out]),
    "tc_study_next": (c_int, [_handle, c_uint64, c_double, POINTER(Question)]),
    "tc_study_progress": (c_int, [_handle, _text_out]),
    "tc_study_stop": (c_int, [_handle]),
    "tc_study_result": (c_int, [_handle, _text_out]),
    "tc_study_close": (None, [_handle]),
}

_HOW_TO = (
    "In a clone of ticopd, `make python` builds it and leaves an environment in build/python; "
    "`pip install .` builds it into your own. TICOPD_LIBRARY may name another libticopd.so by "
    "its absolute path."
)


def _find() -> str:
    given = os.environ.get("TICOPD_LIBRARY", "")
    if given:
        if not os.path.isabs(given):
            raise ImportError(f"TICOPD_LIBRARY = {given!r}: allowed is an absolute path")
        if not os.path.exists(given):
            raise ImportError(f"TICOPD_LIBRARY = {given!r}: there is no such file. {_HOW_TO}")
        return given
    own = Path(__file__).resolve().parent / "lib" / "libticopd.so"
    if own.exists():
        return str(own)
    raise ImportError(f"ticopd's library is not built: {own} is missing. {_HOW_TO}")


def _load() -> ctypes.CDLL:
    path = _find()
    try:
        loaded = ctypes.CDLL(path)
    except OSError as error:
        raise ImportError(f"ticopd cannot load {path}: {error}. {_HOW_TO}") from None
    try:
        loaded.tc_abi.restype = c_int
        abi = int(loaded.tc_abi())
    except AttributeError:
        raise ImportError(f"{path} is not ticopd's library: it has no tc_abi") from None
    if abi != ABI:
        raise ImportError(
            f"{path} has version {abi} of the C interface, this package needs {ABI}. {_HOW_TO}"
        )
    for name, (result, arguments) in FUNCTIONS.items():
        function = getattr(loaded, name)
        function.restype = result
        function.argtypes = arguments
    return loaded


lib = _load()


class Process:
    """This process. A fork makes a new one, and handles of the parent are of no use there."""


_process = Process()


def process() -> Process:
    return _process


def _after_fork() -> None:
    global _process
    _process = Process()


os.register_at_fork(after_in_child=_after_fork)


def version() -> str:
    return str(lib.tc_version().decode())


def message() -> str:
    """Why the last call failed."""
    return str(lib.tc_message().decode("utf-8", "replace"))


def check(code: int) -> None:
    """Raises the error that a function returned."""
    if code != OK:
        raise_as(code, message())


def take_text(out: c_void_p) -> str:
    """A text that the library made; gives its memory back."""
    try:
        return ctypes.string_at(out.value or 0).decode() if out.value else ""
    finally:
        lib.tc_free(out)


def text_of(function: Any, *arguments: Any) -> str:
    """Calls a function whose last argument is `char **`."""
    out = c_void_p()
    check(function(*arguments, byref(out)))
    return take_text(out)


def json_of(function: Any, *arguments: Any) -> Any:
    return json.loads(text_of(function, *arguments))


def encode_json(value: Any) -> bytes:
    text = json.dumps(value, allow_nan=False, ensure_ascii=False)
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        part = text[max(0, error.start - 20) : error.end + 20]
        raise ConfigError(f"config: {part!r} is no text in UTF-8") from None


def encode_path(path: Any) -> bytes:
    """A path as the library takes it. ValueError if there is a NUL in it, which would end it."""
    encoded = os.fsencode(path)
    if b"\0" in encoded:
        raise ValueError(f"{encoded!r}: a path has no NUL in it")
    return encoded


def text_list(texts: Sequence[Optional[str]]) -> Any:
    """An array of C strings; None becomes null."""
    encoded = [None if text is None else os.fsencode(text) for text in texts]
    return (c_char_p * max(1, len(encoded)))(*encoded)
