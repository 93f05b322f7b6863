"""Codecs: what is sent for a row, and the bytes of it."""

from __future__ import annotations

import ctypes
import threading
from ctypes import addressof, byref, c_size_t, c_void_p
from typing import Any, Callable, ClassVar, Dict, Mapping, NamedTuple, Optional, Tuple, Type, Union

import numpy as np
import numpy.typing as npt

from . import _library
from ._errors import ConfigError
from ._library import lib
from ._values import plain, real, whole
from ._words import not_allowed

_FLOAT32 = np.dtype(np.float32)
_FLOAT64 = np.dtype(np.float64)
_from_buffer: Callable[[Any], ctypes.c_char] = ctypes.c_char.from_buffer
_new_bytes = ctypes.PYFUNCTYPE(ctypes.py_object, c_void_p, c_size_t)(
    ("PyBytes_FromStringAndSize", ctypes.pythonapi)
)
_encode = lib.tc_codec_encode
_encode_into = lib.tc_codec_encode_into
_decode = lib.tc_codec_decode

Bytes = Union[bytes, bytearray, memoryview]

# The largest numbers that a message's identity can have, and the longest message.
_SEED = (1 << 64) - 1
_WORD = (1 << 32) - 1
_CHANNEL = (1 << 16) - 1
_LONGEST = 1 << 32

# What the number of a short form such as "qsgd:4" means; "top_k:0.02" and "rand_k:0.02" are a
# fraction, "top_k:20" is k.
_SHORT: Dict[str, str] = {
    "qsgd": "bits",
    "infinity": "bits",
    "grid": "bits",
    "top_k": "k",
    "rand_k": "k",
    "sign": "bucket",
    "norm_sign": "bucket",
    "threshold": "threshold",
    "random_gossip": "p",
    "adaptive": "omega",
}


class ErrorBound(NamedTuple):
    """E||Q(v) - v||^2 <= relative ||v||^2 + absolute; unbiased: E Q(v) = v."""

    unbiased: bool
    relative: float
    absolute: float


def _address(v: npt.NDArray[Any]) -> int:
    """Where the numbers are; 0 unless they lie side by side and may be written. NumPy's own way
    takes four times as long."""
    try:
        return addressof(_from_buffer(v))
    except (TypeError, ValueError):
        return 0


def _aligned(v: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A vector without gaps, where a number of its type may lie."""
    flags = v.flags
    return v if flags.c_contiguous and flags.aligned else v.copy()


def _bytes_of(b: Any) -> bytes:
    try:
        return memoryview(b).tobytes()
    except TypeError:
        raise TypeError(f"decode: the payload is a {type(b).__name__}; allowed are bytes") from None


class _Handle:
    """A tc_codec with what a call needs, for one thread."""

    __slots__ = ("address", "process", "bytes", "size", "bytes_ref", "size_ref", "d", "length")

    def __init__(self, options: Dict[str, Any], precision: int) -> None:
        self.address: Optional[c_void_p] = None
        self.process = _library.process()
        out = c_void_p()
        _library.check(lib.tc_codec_open(_library.encode_json(options), precision, byref(out)))
        self.address = out
        self.bytes = c_void_p()
        self.size = c_size_t()
        self.bytes_ref = byref(self.bytes)
        self.size_ref = byref(self.size)
        self.d = 0
        self.length = 0  # of each payload of d numbers; 0: payloads differ in length

    def measure(self, d: int) -> int:
        """The length of payloads of d numbers, kept for the next one; 0 if they differ."""
        self.d, self.length = d, 0
        if 1 <= d <= _LONGEST:
            about = _library.json_of(lib.tc_codec_about, self.address, d)
            if about["fixed_length"] and about["payload_bytes"] > 1:  # Python shares short bytes
                self.length = int(about["payload_bytes"])
        return self.length

    def __del__(self) -> None:
        if self.address is not None and self.process is _library.process():
            lib.tc_codec_close(self.address)


class _Handles(threading.local):
    """Those of a codec: a thread has its own, so that a codec may be used by several."""

    single: Optional[_Handle] = None
    double: Optional[_Handle] = None


class Codec:
    """What is sent for a row of d numbers: `encode` makes the bytes, `decode` reads them.

    Any kind by its name, with the options that the table [codec] of a config has; `ticopd.Qsgd`,
    `ticopd.TopK` and so on are the same with signatures.

    >>> codec = ticopd.Codec("qsgd", bits=4)
    >>> v = numpy.arange(6, dtype=numpy.float32)
    >>> payload = codec.encode(v, seed=1, round=7, agent=0)
    >>> len(payload)
    8
    >>> w = codec.decode(payload, 6, seed=1, round=7, agent=0)

    The number of a short form such as "qsgd:4" is `bits` (qsgd, infinity, grid), `k` or, with a
    point in it, `fraction` (top_k, rand_k), `bucket` (sign, norm_sign), `threshold` (threshold),
    `p` (random_gossip) or `omega` (adaptive).
    """

    kind: ClassVar[str] = ""
    _table: Dict[str, Any]
    _defaults: ClassVar[Dict[str, Any]] = {}

    def __init__(self, kind: str, **options: Any) -> None:
        if not isinstance(kind, str):
            raise TypeError(f"codec.kind = {kind!r}: allowed is a text such as 'qsgd'")
        name, short = _split(kind)
        table: Dict[str, Any] = {"kind": name}
        table.update(short)
        for key, value in options.items():
            if value is None:
                continue  # the library has the default
            if key in short:
                raise ConfigError(f'codec.{key}: given twice, "{kind}" has it, too')
            if key == "then" and isinstance(value, Codec):
                inner = dict(value._table)
                table["then"] = inner.pop("kind")
                for inner_key, inner_value in inner.items():
                    if table.setdefault(inner_key, inner_value) != inner_value:
                        raise ConfigError(f"codec.{inner_key}: given twice, by codec.then, too")
                continue
            if key == "then" and isinstance(value, type):
                as_codec(value)  # says that an instance is needed
            table[key] = plain(value, f"codec.{key}")
        defaults = _defaults_of(name)
        self._table = {
            key: value
            for key, value in table.items()
            if key not in defaults or defaults[key] != value
        }
        self._handles = _Handles()
        self._handles.single = _Handle(self._table, _library.FLOAT)  # checks the options

    @property
    def options(self) -> Dict[str, Any]:
        """The options that were given and are not the defaults."""
        return {key: value for key, value in self._table.items() if key != "kind"}

    def to_config(self) -> Dict[str, Any]:
        """The table [codec] of a config."""
        return dict(self._table)

    def _handle(self, dtype: Any) -> _Handle:
        handles = self._handles
        if dtype is _FLOAT32 or dtype == _FLOAT32:
            handle = handles.single
            if handle is None or handle.process is not _library._process:
                handle = handles.single = _Handle(self._table, _library.FLOAT)
            return handle
        if dtype is _FLOAT64 or dtype == _FLOAT64:
            handle = handles.double
            if handle is None or handle.process is not _library._process:
                handle = handles.double = _Handle(self._table, _library.DOUBLE)
            return handle
        raise TypeError(f"a codec takes float32 and float64, not {dtype}")

    # A message of 10^5 numbers takes twenty microseconds, a line of Python a part of one. So what
    # the next two do each time is written out.

    def encode(
        self, v: npt.NDArray[Any], *, seed: int, round: int, agent: int, channel: int = 0
    ) -> bytes:
        """The payload of the vector v, as one agent sends it in one round on one channel.

        `decode` needs the same four numbers: they are the message's identity and decide its random
        rounding. v is a vector of float32 or float64 without gaps.
        """
        handle = self._handles.single
        if (
            type(v) is not np.ndarray
            or v.dtype is not _FLOAT32
            or handle is None
            or handle.process is not _library._process
        ):
            v = np.asarray(v)
            handle = self._handle(v.dtype)
        if v.ndim != 1:
            raise ValueError(f"encode: v has the shape {v.shape}, allowed is a vector")
        d = len(v)
        length = handle.length if d == handle.d else handle.measure(d)
        try:
            if not (
                0 <= seed <= _SEED
                and 0 <= round <= _WORD
                and 0 <= agent <= _WORD
                and 0 <= channel <= _CHANNEL
            ):
                self._refuse_identity(seed, round, agent, channel)
            address = _address(v)
            if address & 7 or not address:
                v = _aligned(v)
                address = v.ctypes.data
            if length:  # written where it stays
                payload: bytes = _new_bytes(None, length)
                code = _encode_into(
                    handle.address, address, d, seed, round, agent, channel, payload, length
                )
            else:
                code = _encode(
                    handle.address, address, d, seed, round, agent, channel,
                    handle.bytes_ref, handle.size_ref,
                )  # fmt: skip
        except (ctypes.ArgumentError, TypeError):
            self._refuse_identity(seed, round, agent, channel)
            raise
        if code:
            _library.check(code)
        if not length:
            size = handle.size.value
            payload = _new_bytes(handle.bytes, size) if size else b""
        return payload

    def decode(
        self,
        b: Bytes,
        d: int,
        *,
        seed: int,
        round: int,
        agent: int,
        channel: int = 0,
        dtype: npt.DTypeLike = np.float32,
        out: Optional[npt.NDArray[Any]] = None,
    ) -> npt.NDArray[Any]:
        """The d numbers of a payload, in `out` if that is given.

        FormatError if the bytes cannot be such a payload. `dtype` is that of the vector which was
        encoded; `out` is a vector of d numbers without gaps, and then has the dtype.
        """
        if type(b) is not bytes:
            b = _bytes_of(b)
        if type(d) is not int:
            d = whole(d, "d")
        if out is None:
            out = np.empty(d, dtype)
        elif type(out) is not np.ndarray or out.shape != (d,) or not out.flags.carray:
            raise ValueError(f"decode: out must be a vector of {d} numbers, without gaps, writable")
        handle = self._handles.single
        if out.dtype is not _FLOAT32 or handle is None or handle.process is not _library._process:
            handle = self._handle(out.dtype)
        try:
            if not (
                0 <= seed <= _SEED
                and 0 <= round <= _WORD
                and 0 <= agent <= _WORD
                and 0 <= channel <= _CHANNEL
            ):
                self._refuse_identity(seed, round, agent, channel)
            address = _address(out) or out.ctypes.data  # empty
            code = _decode(handle.address, b, len(b), seed, round, agent, channel, address, d)
        except (ctypes.ArgumentError, TypeError):
            self._refuse_identity(seed, round, agent, channel)
            raise
        if code:
            _library.check(code)
        return out

    @staticmethod
    def _refuse_identity(seed: Any, round: Any, agent: Any, channel: Any) -> None:
        """Raises if one of them does not fit into a message; returns otherwise."""
        for key, value, most in (
            ("seed", seed, _SEED),
            ("round", round, _WORD),
            ("agent", agent, _WORD),
            ("channel", channel, _CHANNEL),
        ):
            if not 0 <= whole(value, key) <= most:
                raise ValueError(f"{key} = {value}: allowed is a whole number from 0 to {most}")

    def _about(self, d: int) -> Dict[str, Any]:
        if not 1 <= whole(d, "d") <= _LONGEST:
            raise ValueError(f"d = {d}: allowed is a whole number from 1 to {_LONGEST}")
        address = self._handle(_FLOAT32).address
        about: Dict[str, Any] = _library.json_of(lib.tc_codec_about, address, whole(d, "d"))
        return about

    def paper_bits(self, d: int) -> float:
        """Bits of a message of d numbers, by the formula of the papers."""
        return float(self._about(d)["paper_bits"])

    def payload_bytes(self, d: int) -> int:
        """The most bytes that a payload of d float32 numbers has."""
        return int(self._about(d)["payload_bytes"])

    def fixed_length(self, d: int) -> bool:
        """True if every payload of d numbers has `payload_bytes(d)` bytes."""
        return bool(self._about(d)["fixed_length"])

    def error_bound(self, d: int) -> ErrorBound:
        """What the codec promises about Q = decode(encode(v)) for d numbers."""
        about = self._about(d)
        return ErrorBound(
            bool(about["unbiased"]), float(about["relative_error"]), float(about["absolute_error"])
        )

    def __repr__(self) -> str:
        parts = [f"{key}={value!r}" for key, value in self.options.items()]
        if type(self) is Codec:
            parts.insert(0, repr(self._table["kind"]))
        return f"{type(self).__name__}({', '.join(parts)})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Codec):
            return NotImplemented
        return self._table == other._table

    def __hash__(self) -> int:
        return hash(tuple(sorted(self._table.items())))

    def __getstate__(self) -> Dict[str, Any]:
        return {"_table": self._table}

    def __setstate__(self, state: Dict[str, Any]) -> None:
        self._table = state["_table"]
        self._handles = _Handles()


def _split(text: str) -> Tuple[str, Dict[str, Any]]:
    """ "top_k:0.02" as its kind and options."""
    kind, colon, number = text.partition(":")
    if not colon:
        return kind, {}
    kind = kind.strip()
    known = table_of_codecs()
    if kind not in known:
        raise ConfigError(not_allowed("codec.kind", kind, list(known)))
    option = _SHORT.get(kind)
    if option is None:
        raise ConfigError(f'codec = "{text}": {kind} has no short form; give its options by name')
    try:
        value: Union[int, float] = int(number)
    except ValueError:
        try:
            value = float(number)
        except ValueError:
            raise ConfigError(f'codec = "{text}": "{number}" is no number') from None
        real(value, f"codec.{option}")
        if option == "k":
            option = "fraction"
    return kind, {option: value}


def _defaults_of(kind: str) -> Dict[str, Any]:
    known = table_of_codecs().get(kind)
    return {} if known is None else known._defaults


def table_of_codecs() -> Dict[str, Type[Codec]]:
    from . import codecs

    return codecs.CODECS


def as_codec(given: Any) -> Codec:
    """A codec from what a Run takes: a codec, its short form, or the table of a config."""
    if isinstance(given, Codec):
        return given
    if isinstance(given, str):
        return Codec(given)
    if isinstance(given, Mapping):
        options = dict(given)
        return Codec(options.pop("kind", "identity"), **options)
    if isinstance(given, type) and issubclass(given, Codec):
        raise TypeError(f"codec: {given.__name__} is a class; give an instance: {given.__name__}()")
    raise TypeError(
        f"codec: a {type(given).__name__}; allowed is one such as ticopd.Qsgd(bits=4) or 'qsgd:4'"
    )
