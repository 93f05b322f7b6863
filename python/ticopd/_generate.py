"""Writes methods.py, codecs.py and graphs.py from the library's tables.

The files are checked in, so that editors and type checkers see the classes; a test says when they
are out of date.
"""

from __future__ import annotations

import keyword
import re
import sys
import textwrap
from pathlib import Path
from typing import Any, Dict, List, Tuple

from . import _library
from ._algorithm import class_name
from ._library import lib

Table = Dict[str, Any]

# Classes are named as in C++. Others are the name's words with capitals.
_CLASSES = {
    "ticopd": "TiCoPD",
    "choco_sgd": "ChocoSGD",
    "cp_sgd": "CpSGD",
    "def_atc": "DefATC",
    "beer": "BEER",
    "dgd": "DGD",
    "extra": "EXTRA",
    "prox_gpda": "ProxGPDA",
    "nids": "NIDS",
    "lead": "LEAD",
    "docom": "DoCoM",
    "qdgd": "QDGD",
    "sparq_sgd": "SparqSGD",
    "local_sgd": "LocalSGD",
    "qsparse_local_sgd": "QsparseLocalSGD",
    "deepsqueeze": "DeepSqueeze",
}

# `file` says little outside of its module.
_FUNCTIONS = {"file": "edge_list"}

_HEAD = '''"""{title}

Made by `python -m ticopd._generate` from the tables of the library; do not edit.
"""

from __future__ import annotations

'''


def _own_help(text: str, kind: str) -> str:
    """The part about one kind of a help such as "`qsgd`: levels; `grid`: cells"."""
    parts = dict(re.findall(r"`(\w+)`: (.*?)(?=[;.] |$)", text))
    return parts.get(kind, text) if text.startswith("`") else text


def _argument(name: str) -> str:
    return name + "_" if keyword.iskeyword(name) else name


def _sentence(text: str) -> str:
    text = text[:1].upper() + text[1:]
    return text if text.endswith(".") else text + "."


def _wrapped(text: str, indent: str, first: str) -> List[str]:
    return textwrap.wrap(
        text, 96, initial_indent=first, subsequent_indent=indent, break_long_words=False,
        break_on_hyphens=False,
    )  # fmt: skip


def _number(value: float) -> str:
    return repr(int(value)) if float(value) == int(value) and abs(value) < 1e15 else f"{value:g}"


def _range(option: Table) -> str:
    """ "above 0", "0 to 1", "a whole number from 1 to 16": which values are allowed."""
    kind = option.get("kind", "number")
    if kind == "boolean" or kind == "text" or kind == "file":
        return ""
    if kind == "word":
        return "one of " + ", ".join(f'"{word}"' for word in option["words"])
    if kind == "integer":
        return f"a whole number from {option['least']} to {option['most']}"
    low, high = option.get("low"), option.get("high")
    text = "a whole number, " if option.get("whole") else ""
    if low is None:
        return text.rstrip(", ")
    if option.get("low_allowed"):
        return text + (
            f"{_number(low)} to {_number(high)}" if high is not None else f"from {_number(low)}"
        )
    text += f"above {_number(low)}"
    return text if high is None else text + f", at most {_number(high)}"


def _signature(name: str, parts: List[str], result: str, indent: str) -> List[str]:
    """`def name(parts) -> result:`, on one line if it fits."""
    line = f"{indent}def {name}({', '.join(parts)}) -> {result}:"
    if len(line) <= 100:
        return [line]
    return [
        f"{indent}def {name}(",
        *(f"{indent}    {part}," for part in parts),
        f"{indent}) -> {result}:",
    ]


def _call(start: str, parts: List[str], end: str, indent: str) -> List[str]:
    line = f"{indent}{start}{', '.join(parts)}{end}"
    if len(line) <= 100:
        return [line]
    whole = f"{indent}    {', '.join(parts)}"
    if len(whole) <= 100 and end == ")":
        return [f"{indent}{start}", whole, f"{indent}{end}"]
    return [f"{indent}{start}", *(f"{indent}    {part}," for part in parts), f"{indent}{end}"]


# -- Algorithms ------------------------------------------------------------------------------------


def _options_of_algorithm(a: Table) -> List[Tuple[str, str, str, str, List[str]]]:
    """Name, kind, type, default and help of each option."""
    found = []
    for p in a["parameters"]:
        whole = p["whole"]
        kind = "whole" if whole else "number"
        base = "int" if whole else "float" if p["constant"] else "Step"
        if p["required"]:
            type_name, default = base, ""
        elif p["derived"] or p["default"] is None:
            type_name, default = f"Optional[{base}]", "None"
        else:
            type_name = base
            default = _number(p["default"]) if whole else repr(float(p["default"]))
        notes = [_range(p)]
        if p["derived"]:
            notes.append(f"left out: {p['derived']}")
        found.append((p["name"], kind, type_name, default, [p["help"], *notes]))
    for f in a["flags"]:
        found.append((f["name"], "flag", "bool", repr(bool(f["default"])), [f["help"]]))
    for c in a["choices"]:
        words = ", ".join(f'"{word}"' for word in c["words"])
        found.append(
            (c["name"], "choice", "str", f'"{c["default"]}"', [c["help"], f"one of {words}"])
        )
    return found


def methods(tables: Table) -> str:
    lines = _HEAD.format(title="The algorithms, a class for each.").split("\n")[:-1]
    lines += [
        "from typing import Any, ClassVar, Dict, Optional, Type",
        "",
        "from ._algorithm import AlgorithmType",
        "from ._schedule import Step",
    ]
    for a in tables["algorithms"]:
        name, options = class_name(a["name"], _CLASSES), _options_of_algorithm(a)
        lines += ["", "", f"class {name}(AlgorithmType):"]
        note = []
        if a.get("uncompressed"):
            note.append("It sends its models uncompressed and takes no codec but identity.")
        if a.get("own_codec"):
            note.append("It brings its own codec and takes no other but identity.")
        lines += _wrapped(" ".join([f"{a['paper']}.", *note]), "    ", '    """')
        lines += ["", "    Args:"]
        for option, _, _, _, notes in options:
            text = "; ".join(note for note in notes if note)
            lines += _wrapped(f"{_argument(option)}: {text}.", " " * 12, " " * 8)
        needed = [_argument(o) for o, _, _, default, _ in options if not default]
        example = ", ".join(f"{o}=0.1" for o in needed)
        lines += ["", f"    >>> ticopd.{name}({example})", f"    {name}({example})", '    """', ""]
        kinds = ", ".join(f'"{option}": "{kind}"' for option, kind, _, _, _ in options)
        lines += [f'    name: ClassVar[str] = "{a["name"]}"']
        lines += [f'    paper: ClassVar[str] = "{a["paper"]}"']
        lines += _call("_kinds: ClassVar[Dict[str, str]] = {", kinds.split(", "), "}", "    ")
        defaults = [f'"{option}": {default}' for option, _, _, default, _ in options if default]
        lines += _call("_defaults: ClassVar[Dict[str, Any]] = {", defaults, "}", "    ")
        lines += [f"    {_argument(option)}: {kind}" for option, _, kind, _, _ in options]
        lines += [""]
        parts = ["self", "*"]
        for option, _, kind, default, _ in options:
            parts.append(f"{_argument(option)}: {kind}" + (f" = {default}" if default else ""))
        lines += _signature("__init__", parts, "None", "    ")
        passed = [f"{_argument(option)}={_argument(option)}" for option, _, _, _, _ in options]
        lines += _call("super().__init__(", passed, ")", "        ")
    lines += ["", "", "ALGORITHMS: Dict[str, Type[AlgorithmType]] = {"]
    lines += [
        f'    "{a["name"]}": {class_name(a["name"], _CLASSES)},' for a in tables["algorithms"]
    ]
    lines += ["}", "", "__all__ = ["]
    lines += [f'    "{class_name(a["name"], _CLASSES)}",' for a in tables["algorithms"]]
    lines += ["]", ""]
    return "\n".join(lines)


# -- Codecs ----------------------------------------------------------------------------------------


def _python_type(option: Table) -> str:
    kinds = {"boolean": "bool", "integer": "int", "number": "float"}
    return kinds.get(option["kind"], "str")


def _default(option: Table) -> str:
    value = option["default"]
    if value is None:
        return "None"
    if isinstance(value, str):
        return f'"{value}"'
    return repr(value)


def _option_lines(option: Table, indent: int) -> List[str]:
    notes = [option["help"], _range(option)]
    if option.get("instead_of"):
        notes.append(f"in place of `{option['instead_of']}`")
    text = "; ".join(note for note in notes if note)
    return _wrapped(f"{_argument(option['name'])}: {text}.", " " * (indent + 4), " " * indent)


def codecs(tables: Table) -> str:
    known = {option["name"]: option for option in tables["codec_options"]}
    lines = _HEAD.format(title="The codecs, a class for each.").split("\n")[:-1]
    lines += [
        "from typing import Any, ClassVar, Dict, Optional, Type, Union",
        "",
        "from ._codec import Codec",
    ]
    examples = {"top_k": "fraction=0.02", "rand_k": "fraction=0.02", "qsgd": "bits=4"}
    for c in tables["codecs"]:
        name = class_name(c["name"])
        options = [known[option] for option in c["options"]]
        lines += ["", "", f"class {name}(Codec):"]
        lines += _wrapped(_sentence(c["summary"]), "    ", '    """')
        if options:
            lines += ["", "    Args:"]
            for option in options:
                if option["name"] == "then":
                    option = dict(
                        option,
                        help=option["help"].replace(", with its options from this table", ""),
                    )
                lines += _option_lines(dict(option, help=_own_help(option["help"], c["name"])), 8)
        example = examples.get(c["name"], "")
        lines += ["", f"    >>> ticopd.{name}({example})", f"    {name}({example})", '    """', ""]
        lines += [f'    kind: ClassVar[str] = "{c["name"]}"']
        defaults = [
            f'"{option["name"]}": {_default(option)}'
            for option in options
            if option["default"] is not None
        ]
        lines += _call("_defaults: ClassVar[Dict[str, Any]] = {", defaults, "}", "    ") + [""]
        parts = ["self"] + (["*"] if options else [])
        for option in options:
            type_name = _python_type(option)
            if option["name"] == "then":
                type_name = "Union[Codec, str, None]"
            elif option["default"] is None:
                type_name = f"Optional[{type_name}]"
            parts.append(f"{_argument(option['name'])}: {type_name} = {_default(option)}")
        lines += _signature("__init__", parts, "None", "    ")
        passed = [f'"{c["name"]}"']
        for option in options:
            argument = _argument(option["name"])
            passed.append(f"{argument}={argument}")
        lines += _call("super().__init__(", passed, ")", "        ")
    lines += ["", "", "CODECS: Dict[str, Type[Codec]] = {"]
    lines += [f'    "{c["name"]}": {class_name(c["name"])},' for c in tables["codecs"]]
    lines += ["}", "", "__all__ = ["]
    lines += [f'    "{class_name(c["name"])}",' for c in tables["codecs"]]
    lines += ["]", ""]
    return "\n".join(lines)


# -- Graphs ----------------------------------------------------------------------------------------


def graphs(tables: Table) -> str:
    known = {option["name"]: option for option in tables["graph_options"]}
    keys = {option["name"]: option for option in tables["keys"]}
    lines = _HEAD.format(title="The graphs, a function for each.").split("\n")[:-1]
    lines += ["from typing import Optional", "", "from ._graph import Graph, edges"]
    names = []
    shared = [
        dict(keys["graph.weights"], name="weights") if "graph.weights" in keys else None,
        known.get("drop"),
    ]
    for g in tables["graphs"]:
        if g["name"] == "edges":
            names.append("edges")
            continue
        function = _FUNCTIONS.get(g["name"], g["name"])
        names.append(function)
        options = [known[option] for option in g["options"]]
        is_file = g["name"] == "file"
        lines += ["", ""]
        parts = (
            ["path: str", "agents: Optional[int] = None"]
            if is_file
            else ["agents: Optional[int] = None"]
        )
        parts += ["*"]
        passed = [f'"{g["name"]}"', "agents"]
        if is_file:
            passed.append("path=path")
        for option in options:
            if option["name"] == "path":
                continue
            argument, type_name = _argument(option["name"]), _python_type(option)
            parts.append(f"{argument}: Optional[{type_name}] = None")
            passed.append(f"{argument}={argument}")
        parts += ["weights: Optional[str] = None", "drop: Optional[float] = None"]
        passed += ["weights=weights", "drop=drop"]
        lines += _signature(function, parts, "Graph", "")
        lines += _wrapped(
            _sentence(g["summary"].replace(", 0-based, # comments", "; agents from 0")),
            "    ",
            '    """',
        )
        lines += ["", "    Args:"]
        if is_file:
            lines += ["        path: the file."]
            lines += ["        agents: how many there are; left out: as many as the file names."]
        else:
            lines += ["        agents: how many there are; left out: as many as the objective has."]
        for option in options:
            if option["name"] != "path":
                default = f"; left out: {option['default']}"
                lines += [line for line in _option_lines(dict(option, help=option["help"]), 8)]
                lines[-1] = lines[-1][:-1] + default + "."
        for option in shared:
            if option is not None:
                lines += _option_lines(option, 8)
        lines += ['    """']
        lines += _call("return Graph(", passed, ")", "    ")
    lines += ["", "", "KINDS = ("]
    lines += [f'    "{g["name"]}",' for g in tables["graphs"]]
    lines += [")", "", "__all__ = ["]
    lines += [f'    "{name}",' for name in names]
    lines += ["]", ""]
    return "\n".join(lines)


def generated() -> Dict[str, str]:
    """The files by name, as they should be."""
    tables: Table = _library.json_of(lib.tc_tables)
    return {
        "methods.py": methods(tables),
        "codecs.py": codecs(tables),
        "graphs.py": graphs(tables),
    }


def main() -> int:
    folder = Path(__file__).resolve().parent
    for name, text in generated().items():
        (folder / name).write_text(text)
        print(f"wrote {folder / name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
