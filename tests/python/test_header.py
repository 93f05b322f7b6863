"""The ctypes declarations and ticopd.h say the same."""

import ctypes
import re

import pytest
from ticopd import _library

KINDS = {
    "int": ctypes.c_int,
    "int32_t": ctypes.c_int32,
    "uint16_t": ctypes.c_uint16,
    "uint32_t": ctypes.c_uint32,
    "uint64_t": ctypes.c_uint64,
    "size_t": ctypes.c_size_t,
    "double": ctypes.c_double,
    "void": None,
}


@pytest.fixture(scope="module")
def header(root):
    text = (root / "ticopd" / "capi" / "ticopd.h").read_text()
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    return re.sub(r"^\s*#.*$", "", text, flags=re.M)


def ctypes_of(declaration):
    """The ctypes type of a C type such as `const char *const *`."""
    stars = declaration.count("*")
    base = declaration.replace("*", " ").replace("const", " ").split()
    name = base[0]
    if name == "char":
        return {
            1: {ctypes.c_char_p},
            2: {ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_char_p)},
        }[stars]
    if name == "void" and stars:
        return {1: {ctypes.c_void_p}, 2: {ctypes.POINTER(ctypes.c_void_p)}}[stars]
    if name == "tc_problem":
        return {ctypes.POINTER(_library.Problem)}
    if name == "tc_question":
        return {ctypes.POINTER(_library.Question)}
    if name.startswith("tc_"):
        return {1: {ctypes.c_void_p}, 2: {ctypes.POINTER(ctypes.c_void_p)}}[stars]
    if stars == 0:
        return {KINDS[name]}
    return {ctypes.POINTER(KINDS[name])}


def argument_type(text):
    """`const char *const *files` without its name."""
    text = text.strip()
    return re.sub(r"\w+$", "", text) if not text.endswith("*") else text


def functions(header):
    found = {}
    for result, name, arguments in re.findall(
        r"^\s*((?:const\s+)?\w+[\s*]+)(tc_\w+)\s*\(([^)]*)\)\s*;", header, flags=re.M | re.S
    ):
        arguments = " ".join(arguments.split())
        parts = [] if arguments == "void" else [argument_type(a) for a in arguments.split(",")]
        found[name] = (result, parts)
    return found


def test_every_function_is_declared_with_its_types(header):
    found = functions(header)
    assert len(found) > 40
    assert set(found) == set(_library.FUNCTIONS)
    for name, (result, arguments) in found.items():
        declared_result, declared = _library.FUNCTIONS[name]
        assert declared_result in ctypes_of(result), name
        assert len(declared) == len(arguments), name
        for i, (given, text) in enumerate(zip(declared, arguments)):
            assert given in ctypes_of(text), f"{name}, argument {i}: {text}"


@pytest.mark.parametrize(
    "struct, declared", [("tc_problem", _library.Problem), ("tc_question", _library.Question)]
)
def test_fields_have_their_order_and_types(header, struct, declared):
    body = re.search(r"typedef struct " + struct + r"\s*\{(.*?)\}", header, flags=re.S).group(1)
    fields = []
    for line in body.split(";"):
        line = " ".join(line.split())
        if not line:
            continue
        kind, names = re.match(r"((?:const )?\w+ (?:\*const \*|\*)?)(.*)", line).groups()
        for name in names.split(","):
            fields.append((name.strip(), kind))
    assert [name for name, _ in fields] == [name for name, _ in declared._fields_]
    for (name, kind), (_, given) in zip(fields, declared._fields_):
        allowed = ctypes_of(kind)
        if given is ctypes.c_void_p:  # pointers into the library's memory are read as addresses
            assert "*" in kind, name
        elif kind.startswith("const char *const *"):
            assert given == ctypes.POINTER(ctypes.c_char_p), name
        else:
            assert given in allowed, name


def test_constants_are_those_of_the_header(root):
    text = (root / "ticopd" / "capi" / "ticopd.h").read_text()
    constants = dict(re.findall(r"\b(TC_[A-Z]+)\s*=\s*(\d+)", text))
    constants.update(re.findall(r"#define (TC_ABI) (\d+)", text))
    assert len(constants) == 17
    for name, value in constants.items():
        assert getattr(_library, name[3:]) == int(value), name


def test_library_has_the_version_of_the_interface():
    assert _library.lib.tc_abi() == _library.ABI
