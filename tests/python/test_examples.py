"""The examples do what they say; the notebook is executed cell by cell."""

import asyncio
import re
import runpy
import shutil
import subprocess
import sys

import pytest

pytestmark = pytest.mark.programs


@pytest.fixture
def example(root, child_environment, tmp_path):
    """Runs an example in an empty folder; returns what it printed."""

    def run(name, *options, before=(), code=0, timeout=300):
        words = [*before, sys.executable, str(root / "examples" / "python" / name), *options]
        done = subprocess.run(
            words,
            env=child_environment,
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=timeout,
        )
        assert done.returncode == code, done.stdout
        return done.stdout

    return run


def test_least_squares_finds_the_solution_of_all_rows(example):
    said = example("least_squares.py")
    distance = {line.split(",")[0]: float(line.split()[-2]) for line in said.splitlines()[1:]}
    assert distance["TiCoPD"] < 1e-9 < 1e-3 < distance["DGD"]


def test_digits_in_pytorch_have_the_losses_of_the_own_network(example):
    pytest.importorskip("torch")
    pytest.importorskip("sklearn")
    said = example("digits.py", "--iterations", "100")
    gap = re.search(r"relative difference of the losses: (\S+)", said)
    assert float(gap.group(1)) < 1e-9, said


def mpirun(ranks):
    program = shutil.which("mpirun")
    if program is None:
        pytest.skip("there is no mpirun")
    return [program, "--allow-run-as-root", "--oversubscribe", "-n", str(ranks)]


def test_digest_of_the_mpi_example_is_that_of_one_process(example, root):
    alone = runpy.run_path(str(root / "examples" / "python" / "mpi.py"))
    run = alone["make_run"](alone["OwnRows"](), 8, 150)
    run.step(150)
    for ranks in (1, 4):
        said = example("mpi.py", "--iterations", "150", before=mpirun(ranks))
        assert said.splitlines()[-1] == f"digest {run.digest}"


def test_exception_on_one_rank_ends_the_mpi_example_with_its_message(example):
    import time

    began = time.monotonic()
    said = example("mpi.py", "--fail-on-rank", "2", before=mpirun(4), code=70, timeout=60)
    assert "RuntimeError: agent 4 cannot read its data" in said
    assert said.count("Traceback") == 1, said  # of the rank that failed, and of no other
    assert "rank 2: RuntimeError: agent 4 cannot read its data" in said  # by rank 0
    assert time.monotonic() - began < 50, "the other ranks waited for the deadline"


def test_report_of_a_slow_rank_is_printed_before_mpirun_kills_it(root, child_environment):
    slow = f"""
import runpy, sys, time
import ticopd._library as library
take, sys.argv = library.take_text, ["mpi.py", "--fail-on-rank", "2"]
library.take_text = lambda text: time.sleep(0.5) or take(text)
runpy.run_path({str(root / "examples" / "python" / "mpi.py")!r}, run_name="__main__")
"""
    done = subprocess.run(
        [*mpirun(4), sys.executable, "-c", slow],
        env=child_environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
    )
    assert done.returncode == 70, done.stdout
    assert "rank 2: RuntimeError: agent 4 cannot read its data" in done.stdout


def test_convolutions_on_mnist_are_trained_and_drawn(example, tmp_path):
    pytest.importorskip("torch")
    pytest.importorskip("matplotlib")
    said = example("mnist_cnn.py", "--iterations", "8", "--points", "2", "--test-images", "200", "--out", "out")
    assert "TiCoPD, 8-bit qsgd" in said
    assert (tmp_path / "out" / "cnn.png").stat().st_size > 10_000
    table = (tmp_path / "out" / "table.md").read_text()
    assert len(re.findall(r"^\| (TiCoPD|CHOCO|DGD)", table, re.M)) == 4, table


def test_notebook_runs_cell_by_cell(root, child_environment, tmp_path):
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    for module in ("torch", "pandas", "matplotlib", "sklearn"):
        pytest.importorskip(module)
    from jupyter_client.kernelspec import KernelSpec
    from jupyter_client.manager import AsyncKernelManager

    class Manager(AsyncKernelManager):
        """Starts this Python, whatever kernels the user has installed."""

        @property
        def kernel_spec(self):
            words = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
            return KernelSpec(argv=words, env=child_environment, language="python")

    notebook = nbformat.read(root / "examples" / "python" / "first_steps.ipynb", 4)
    client = nbclient.NotebookClient(
        notebook, timeout=120, kernel_manager_class=Manager, resources={"metadata": {"path": str(tmp_path)}}
    )
    asyncio.run(client.async_execute())  # execute() would leave its event loop open
    shown = [output["data"] for cell in notebook.cells for output in cell.get("outputs", ()) if "data" in output]
    texts = [data.get("text/plain", "") for data in shown]
    assert texts[-1] == "True"  # the resumed run has the digest of the whole one
    assert sum("image/png" in data for data in shown) == 3
    assert float(re.search(r"tensor\((\S+)\)", " ".join(texts)).group(1)) > 0.9


def test_notebook_is_stored_without_output(root):
    import json

    notebook = json.loads((root / "examples" / "python" / "first_steps.ipynb").read_text())
    for cell in notebook["cells"]:
        assert not cell.get("outputs") and cell.get("execution_count") is None
