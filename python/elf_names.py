"""The names by which libraries ask for each other, in ELF files: what patchelf does, for names of equal
length. Part of the build (build_backend.py)."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Dict, Iterator, List, Tuple

NEEDED, STRTAB, STRSZ, SONAME = 1, 5, 10, 14
LOAD, DYNAMIC = 1, 2


def segments(content: bytes) -> List[Tuple[int, ...]]:
    """Type, flags, offset, address, physical address, size in the file, in memory, alignment."""
    if content[:5] != b"\x7fELF\x02" or content[5] != 1:
        raise ValueError("no ELF file of 64 bits, low byte first")
    start, = struct.unpack_from("<Q", content, 32)
    size, count = struct.unpack_from("<HH", content, 54)
    return [struct.unpack_from("<IIQQQQQQ", content, start + k * size) for k in range(count)]


def dynamic(content: bytes) -> Iterator[Tuple[int, int]]:
    for kind, _, offset, _, _, size, _, _ in segments(content):
        if kind == DYNAMIC:
            for at in range(offset, offset + size, 16):
                tag, value = struct.unpack_from("<qQ", content, at)
                if tag == 0:
                    return
                yield tag, value


def texts(content: bytes) -> Tuple[int, int]:
    """The offset and size of the texts of the dynamic section."""
    entries = dict(dynamic(content))
    for kind, _, offset, address, _, size, _, _ in segments(content):
        if kind == LOAD and address <= entries[STRTAB] < address + size:
            return offset + entries[STRTAB] - address, entries[STRSZ]
    raise ValueError("no texts of a dynamic section")


def needed(file: Path) -> List[str]:
    content = file.read_bytes()
    start, _ = texts(content)
    return [content[start + at:content.index(b"\0", start + at)].decode()
            for tag, at in dynamic(content) if tag == NEEDED]


def rename(file: Path, names: Dict[str, str]) -> None:
    """Gives a file and the libraries it needs new names, also where it asks for versions of symbols."""
    content = file.read_bytes()
    start, size = texts(content)
    part = content[start:start + size]
    for old, new in names.items():
        if len(old) != len(new):
            raise ValueError(f"{old} and {new} are not of equal length")
        part = part.replace(f"\0{old}\0".encode(), f"\0{new}\0".encode())
    file.write_bytes(content[:start] + part + content[start + size:])
    left = set(needed(file)) & {old for old, new in names.items() if old != new}
    if left:
        raise ValueError(f"{file}: the names {sorted(left)} are parts of others")
