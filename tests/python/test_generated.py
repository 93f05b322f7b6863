"""The generated files, and what they define."""

import inspect
from pathlib import Path

import pytest
import ticopd
from ticopd import _generate


def test_files_are_fresh():
    folder = Path(ticopd.__file__).parent
    for name, text in _generate.generated().items():
        assert (folder / name).read_text() == text, f"run `python -m ticopd._generate` for {name}"


def test_every_algorithm_codec_and_graph_has_a_name_in_the_package():
    tables = ticopd.tables()
    assert len(tables["algorithms"]) == len(ticopd.methods.ALGORITHMS) == 22
    assert len(tables["codecs"]) == len(ticopd.codecs.CODECS) == 12
    for algorithm in tables["algorithms"]:
        assert ticopd.methods.ALGORITHMS[algorithm["name"]].name == algorithm["name"]
    for name in ticopd.graphs.__all__ + ticopd.codecs.__all__ + ticopd.methods.__all__:
        assert getattr(ticopd, name) is not None
        assert name in ticopd.__all__


def test_classes_are_named_as_in_cpp(root):
    import re

    text = "".join(path.read_text() for path in (root / "ticopd" / "algorithms").glob("*.hpp"))
    structs = set(re.findall(r"^struct (\w+) \{", text, flags=re.M))
    assert set(ticopd.methods.__all__) <= structs


def test_help_of_ticopd_names_step_sizes_and_ranges():
    text = inspect.getdoc(ticopd.TiCoPD)
    assert "Liu, Yau, Wai 2025" in text
    assert "alpha: primal step size; above 0." in text
    assert "gamma: gain of the surrogate; above 0, at most 1." in text
    signature = inspect.signature(ticopd.TiCoPD)
    assert signature.parameters["alpha"].default is inspect.Parameter.empty
    assert signature.parameters["gamma"].default == 1.0
    assert all(p.kind is p.KEYWORD_ONLY for p in signature.parameters.values())


def public_names():
    for name in ticopd.__all__:
        yield name, getattr(ticopd, name)


@pytest.mark.parametrize("name, thing", list(public_names()))
def test_every_public_name_has_a_docstring(name, thing):
    assert inspect.getdoc(thing), name
    if inspect.isclass(thing):
        for member, value in vars(thing).items():
            if not member.startswith("_") and (
                inspect.isfunction(value) or isinstance(value, property)
            ):
                own = value.fget if isinstance(value, property) else value
                assert inspect.getdoc(own) or member in ("to_config",), f"{name}.{member}"


def test_every_line_fits():
    folder = Path(ticopd.__file__).parent
    for path in folder.glob("*.py"):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            assert len(line) <= 100, f"{path.name}:{number}"
