"""ticopd and NumPy each have an OpenBLAS of their own: the order of imports changes no digest, and
neither changes the other's threads or core type."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

# Runs through the C interface alone, so that NumPy can be loaded late. Arguments: the library, the
# config, and "numpy", "ticopd" or "late": which of the two is loaded first, or NumPy not before a
# run was made. Prints the digest and what NumPy's own OpenBLAS says before and after.
PROGRAM = """
import ctypes, json, os, sys

library, config, order = sys.argv[1:]
said = []

def look_at_numpy():
    import numpy as np
    names = {"libopenblas": "openblas_get_%s", "libscipy_openblas64": "scipy_openblas_get_%s64_"}
    maps = sorted({l.split()[-1] for l in open("/proc/self/maps") if "openblas" in l.split()[-1]})
    for start, name in names.items():  # Debian's NumPy, and the wheels of NumPy 2
        for theirs in (m for m in maps if os.path.basename(m).startswith(start)):
            blas = ctypes.CDLL(theirs)
            core = getattr(blas, name % "corename")
            core.restype = ctypes.c_char_p
            said.append([getattr(blas, name % "num_threads")(), core().decode()])
            return float(np.ones((300, 300)).dot(np.ones((300, 300)))[0, 0])
    return float(np.ones((300, 300)).dot(np.ones((300, 300)))[0, 0])

if order == "numpy":
    if os.environ.get("CORE_OF_NUMPY"):
        os.environ["OPENBLAS_CORETYPE"] = os.environ["CORE_OF_NUMPY"]
    look_at_numpy()
    os.environ.pop("OPENBLAS_CORETYPE", None)
lib = ctypes.CDLL(library)
lib.tc_message.restype = ctypes.c_char_p
threads_of_import = len(os.listdir("/proc/self/task")) if order != "numpy" else 1
if order == "ticopd":
    look_at_numpy()

def check(code):
    if code:
        sys.exit(lib.tc_message().decode())

def work():
    question = (ctypes.c_char * 256)()
    while (code := lib.tc_run_next(run, ctypes.c_uint64(0), ctypes.c_double(1), question)) == 2:
        pass
    check(code)

text, run = ctypes.c_char_p(), ctypes.c_void_p()
check(lib.tc_config_read(config.encode(), None, ctypes.c_size_t(0), ctypes.byref(text)))
tree = json.loads(text.value)
check(lib.tc_run_open(json.dumps(tree["config"]).encode(), b".", None, None, ctypes.byref(run)))
work()
check(lib.tc_run_step(run, ctypes.c_uint32(tree["config"]["iterations"])))
work()
check(lib.tc_run_summary(run, ctypes.byref(text)))
summary = json.loads(text.value)
lib.tc_run_close(run)
look_at_numpy()
maps = open("/proc/self/maps").read()
print(json.dumps([summary["digest"], summary["blas"], said, threads_of_import, "libmpi" in maps]))
"""

CONFIG = """
iterations = 20
[problem]
objective = "mlp"
hidden = [16]
data = "synthetic"
samples = 400
features = 200
[graph]
kind = "ring"
agents = 4
[codec]
kind = "qsgd"
bits = 6
[algorithm]
name = "ticopd"
alpha = 0.1
theta = 1
eta = 0.1
"""


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A function that makes one run in a process of its own."""
    import ticopd

    folder = tmp_path_factory.mktemp("blas")
    (folder / "c.toml").write_text(CONFIG)
    home = Path(ticopd.__file__).parent
    library, program = home / "lib" / "libticopd.so", home / "bin" / "ticopd"
    if not library.exists() or not program.exists():
        pytest.skip("ticopd is not installed with its libraries: make python")
    # A core type in the environment would be for every OpenBLAS: here each chooses its own.
    environment = {k: v for k, v in os.environ.items() if not k.startswith("OPENBLAS_")}
    environment["TICOPD_KERNEL"] = "blas"

    def make(order, **more):
        if order == "command line":
            shutil.rmtree(folder / "run", ignore_errors=True)
            words = [program, "run", "c.toml", "--out", "run", "--quiet"]
        else:
            words = [sys.executable, "-c", PROGRAM, library, "c.toml", order]
        done = subprocess.run(words, cwd=folder, env={**environment, **more}, timeout=300,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
        if "TICOPD_KERNEL" in done.stderr:
            pytest.skip(done.stderr.strip())
        assert done.returncode == 0, done.stderr
        if order == "command line":
            summary = json.loads((folder / "run" / "run.json").read_text())
            return summary["digest"], summary["blas"]
        return json.loads(done.stdout)

    return make


def test_digest_is_that_of_the_command_line_in_any_order_of_imports(runs):
    digest, blas = runs("command line")
    assert blas.startswith("OpenBLAS ")
    for order in ("numpy", "ticopd", "late"):
        assert runs(order)[:2] == [digest, blas], order


def test_numpy_with_another_core_type_does_not_change_the_digest(runs):
    digest, blas = runs("command line")
    made = runs("numpy", CORE_OF_NUMPY="Nehalem")
    assert made[:2] == [digest, blas]
    if made[2]:
        assert {core for _, core in made[2]} == {"Nehalem"}


@pytest.mark.parametrize("order", ["numpy", "ticopd", "late"])
def test_threads_of_numpy_stay_as_they_were(runs, order):
    said = runs(order)[2]
    if not said:
        pytest.skip("NumPy here does not use OpenBLAS")
    assert all(threads == len(os.sched_getaffinity(0)) for threads, _ in said), said


def test_loading_the_library_starts_no_thread_and_no_mpi(runs):
    assert runs("late")[3:] == [1, False]
