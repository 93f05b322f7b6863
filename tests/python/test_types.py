"""The package's type hints, for mypy and for the users' editors."""

import subprocess
import sys
from pathlib import Path

import pytest
import ticopd


def test_the_package_says_that_it_has_types():
    assert (Path(ticopd.__file__).parent / "py.typed").exists()


@pytest.mark.slow
def test_mypy_strict_finds_nothing(root):
    pytest.importorskip("mypy", reason="mypy is not installed")
    done = subprocess.run(
        [sys.executable, "-m", "mypy"], cwd=root, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stdout + done.stderr


PROGRAM = """
import numpy as np
import ticopd

class Mine(ticopd.Objective):
    dimension = 10

run = ticopd.Run(Mine(), graph=ticopd.ring(8), codec=ticopd.Qsgd(bits=4),
                 algorithm=ticopd.TiCoPD(alpha=0.1, theta=ticopd.inverse(1.0, 5), eta=0.4))
reveal_type(run.x)
reveal_type(run.digest)
reveal_type(run.metrics["loss_max"])
ticopd.TiCoPD(alpha="a lot")
ticopd.Qsgd(bit=4)
"""


@pytest.mark.slow
def test_a_user_s_program_is_checked(child_environment, tmp_path):
    pytest.importorskip("mypy", reason="mypy is not installed")
    (tmp_path / "mine.py").write_text(PROGRAM)
    environment = dict(child_environment)
    folder = str(Path(ticopd.__file__).resolve().parents[1])
    if not folder.endswith("-packages"):  # those mypy finds by itself
        environment["MYPYPATH"] = folder
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--follow-imports=silent", "mine.py"],
        cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert "ndarray" in done.stdout and "builtins.str" in done.stdout, done.stdout
    wrong = [line for line in done.stdout.splitlines() if "error" in line and "Found" not in line]
    for words in ('"theta"', '"eta"', '"alpha"', '"bits"'):
        assert any(words in line for line in wrong), done.stdout
    assert len(wrong) == 4, done.stdout
