"""Every Python program in README.md and docs/python.md runs, in an empty folder and without a warning."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.programs
ROOT = Path(__file__).resolve().parents[2]


def programs():
    for page in ("README.md", "docs/python.md"):
        text = (ROOT / page).read_text()
        for found in re.finditer(r"^```python\n(.*?)^```", text, re.M | re.S):
            line = text[: found.start()].count("\n") + 2
            yield pytest.param(found.group(1), id=f"{page}:{line}")


def test_the_pages_have_programs():
    assert len(list(programs())) >= 9


@pytest.mark.parametrize("program", list(programs()))
def test_program_runs(program, child_environment, tmp_path):
    for module in ("torch", "pandas", "matplotlib"):
        if re.search(rf"\b{module}\b", program):
            pytest.importorskip(module)
    done = subprocess.run(
        [sys.executable, "-W", "error::ResourceWarning", "-c", program],
        env={**child_environment, "MPLBACKEND": "agg"},
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout
    assert "Warning" not in done.stdout, done.stdout


def test_commands_of_the_pages_are_those_of_the_makefile():
    make = (ROOT / "Makefile").read_text()
    for page in ("README.md", "docs/python.md"):
        for target in re.findall(r"^make (\w+)", (ROOT / page).read_text(), re.M):
            assert re.search(rf"^{target}:", make, re.M) or f" {target}:" in make or target in make, target
