"""The wheel: what is in it, that it stands alone, and what a user reads when it cannot be built."""

import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import ticopd

ROOT = Path(__file__).resolve().parents[2]
HOME = Path(ticopd.__file__).resolve().parent
TINY = """
import numpy as np, ticopd
class Mine(ticopd.Objective):
    dimension = 20
    def value_and_gradient(self, agent, x, g):
        g[:] = x - agent
        return 0.5 * float(g @ g)
run = ticopd.Run(Mine(), graph=ticopd.ring(8), codec=ticopd.Qsgd(bits=4),
                 algorithm=ticopd.TiCoPD(alpha=0.1, theta=2, eta=0.4), iterations=400)
run.step(400)
assert abs(run.x - 3.5).max() < 1e-3, run.x
print(ticopd.__file__)
"""


def run(*words, **options):
    return subprocess.run([str(w) for w in words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          universal_newlines=True, timeout=1200, **options)


def fine(*words, **options):
    done = run(*words, **options)
    assert done.returncode == 0, done.stdout
    return done.stdout


def closed_network():
    """An environment where pip finds no index and no folder of wheels."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PIP_", "PYTHON"))}
    return {**kept, "PIP_INDEX_URL": "http://127.0.0.1:9/", "PIP_CONFIG_FILE": os.devnull,
            "PIP_RETRIES": "0", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}


def backend(tmp_path, path, **variables):
    """Asks the build backend for a wheel in a fresh build folder, with programs of `path` alone."""
    code = (f"import sys; sys.path.insert(0, {str(ROOT / 'python')!r}); import pathlib, build_backend; "
            f"build_backend.BUILD = pathlib.Path({str(tmp_path / 'build')!r}); "
            f"build_backend.build_wheel({str(tmp_path)!r})")
    environment = {k: v for k, v in os.environ.items() if k not in ("CXX", "PYTHONPATH")}
    return run(sys.executable, "-c", code, env={**environment, "PATH": str(path), **variables})


def tools(tmp_path, *names):
    """A folder with links to these programs, for a PATH."""
    folder = tmp_path / "path"
    folder.mkdir()
    for name in names:
        found = shutil.which(name)
        if found is not None:
            (folder / name).symlink_to(found)
    return folder


@pytest.fixture
def installed():
    if not (HOME / "lib" / "libticopd.so").exists():
        pytest.skip("ticopd is not installed with its libraries: make python")
    return HOME


def test_installed_libraries_are_found_beside_each_other(installed):
    for words in ([sys.executable, "-c", "import ticopd"], [installed / "bin" / "ticopd", "--version"]):
        said = fine(*words, env={**os.environ, "LD_DEBUG": "libs"})
        loaded = {line.split()[-1] for line in said.splitlines() if "calling init:" in line}
        ours = [name for name in loaded if Path(name).name.startswith("tc_")]
        assert len(ours) >= 4, loaded
        assert all(Path(name).resolve().parent == installed / "lib" for name in ours)
        for name in ("libfmt", "libhwy", "libxxhash"):  # the machine's own ones
            assert not [l for l in loaded if Path(l).name.startswith(name)], loaded


def test_a_library_of_the_machine_with_the_same_name_may_be_loaded_too(installed):
    said = fine(sys.executable, "-c", "import ticopd, ssl, hashlib, zlib; print(ssl.OPENSSL_VERSION);"
                "print([l.split()[-1] for l in open('/proc/self/maps') if 'crypto.so' in l])")
    assert str(installed / "lib" / "tc_crypto") in said


def test_module_is_the_command_line(installed):
    version = ticopd.__version__
    assert fine(sys.executable, "-m", "ticopd", "--version").split() == ["ticopd", version]
    script = Path(sys.executable).parent / "ticopd"
    if script.exists():
        assert fine(script, "--version").split() == ["ticopd", version]
    failed = run(sys.executable, "-m", "ticopd", "run", "no_such.toml")
    assert failed.returncode != 0 and "no_such.toml" in failed.stdout


def test_missing_cmake_is_named_with_the_line_to_type(tmp_path):
    done = backend(tmp_path, tools(tmp_path, "bash", "dirname", "env", "id"))
    assert done.returncode != 0 and "Traceback" not in done.stdout
    assert "cmake was not found" in done.stdout
    assert re.search("apt-get install -y .*cmake", done.stdout), done.stdout


def test_missing_compiler_is_named_with_the_line_to_type(tmp_path):
    done = backend(tmp_path, tools(tmp_path, "bash", "dirname", "env", "cmake", "ninja"))
    assert done.returncode != 0 and "Traceback" not in done.stdout
    assert "no C++ compiler was found" in done.stdout
    assert re.search(r"apt-get install -y .*g\+\+", done.stdout), done.stdout


def test_missing_library_is_named_with_the_line_to_type(tmp_path):
    path = tools(tmp_path, "bash", "dirname", "env", "c++", "g++")
    (path / "cmake").write_text(
        "#!/bin/bash\necho 'CMake Error at CMakeLists.txt:39 (find_package):'\n"
        "echo '  Could not find a package configuration file provided by \"fmt\" with any'\nexit 1\n")
    (path / "cmake").chmod(0o755)
    done = backend(tmp_path, path)
    assert done.returncode != 0 and "Traceback" not in done.stdout
    assert "cmake did not find fmt" in done.stdout
    assert "libfmt-dev" in done.stdout


def test_compile_error_is_shown_without_a_traceback(tmp_path):
    path = tools(tmp_path, "bash", "dirname", "env", "c++", "g++")
    (path / "cmake").write_text("#!/bin/bash\necho 'run.cpp:7: error: no such thing'\nexit 1\n")
    (path / "cmake").chmod(0o755)
    done = backend(tmp_path, path)
    assert done.returncode != 0 and "Traceback" not in done.stdout
    assert "no such thing" in done.stdout and "failed" in done.stdout


# -- With a wheel of its own: slow --------------------------------------------------------------------


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    fine(sys.executable, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", folder, ROOT,
         env=closed_network())
    found = list(folder.iterdir())
    assert [f.name for f in found] == [f"ticopd-{ticopd.__version__}-py3-none-linux_{os.uname().machine}.whl"]
    return found[0]


def environment_of(folder):
    """A clean virtual environment, with NumPy from outside and no setuptools of its own."""
    fine(sys.executable, "-m", "venv", "--system-site-packages", folder)
    return folder / "bin" / "python"


@pytest.mark.slow
def test_wheel_is_small_and_complete(wheel):
    assert wheel.stat().st_size < 10e6
    with zipfile.ZipFile(wheel) as z:
        assert z.testzip() is None
        names = set(z.namelist())
        info = f"ticopd-{ticopd.__version__}.dist-info"
        for file in (ROOT / "python" / "ticopd").rglob("*"):
            relative = file.relative_to(ROOT / "python").as_posix()
            if file.suffix in (".py", ".typed"):
                assert relative in names
        assert {"ticopd/lib/libticopd.so", "ticopd/bin/ticopd", f"{info}/RECORD"} <= names
        assert not [n for n in names if "__pycache__" in n or "libmpi" in n or "libc.so" in n]
        assert z.getinfo("ticopd/bin/ticopd").external_attr >> 16 & 0o111
        recorded = {line.split(",")[0] for line in z.read(f"{info}/RECORD").decode().split()}
        assert recorded == names
        about = z.read(f"{info}/METADATA").decode()
        for line in ("Requires-Python: >=3.9", "Requires-Dist: numpy", f"Version: {ticopd.__version__}"):
            assert f"{line}\n" in about
        assert "Root-Is-Purelib: false" in z.read(f"{info}/WHEEL").decode()
        for name in [n for n in names if n.startswith("ticopd/lib/tc_")]:
            licence = "lib" + Path(name).name.split(".")[0][3:] + ".txt"
            assert f"{info}/licences/{licence}" in names or not shutil.which("dpkg-query")


@pytest.mark.slow
def test_same_tree_gives_the_same_wheel(wheel, tmp_path):
    fine(sys.executable, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", tmp_path, ROOT,
         env=closed_network())
    assert (tmp_path / wheel.name).read_bytes() == wheel.read_bytes()


@pytest.mark.slow
def test_wheel_runs_in_a_clean_environment(wheel, tmp_path):
    python = environment_of(tmp_path / "v")
    fine(python, "-m", "pip", "install", wheel, env=closed_network())
    where = fine(python, "-c", TINY, cwd=tmp_path, env=closed_network())
    assert str(tmp_path / "v") in where
    assert ticopd.__version__ in fine(tmp_path / "v" / "bin" / "ticopd", "--version")


@pytest.mark.slow
@pytest.mark.parametrize("isolation", [[], ["--no-build-isolation"]], ids=["isolated", "not_isolated"])
def test_pip_install_of_the_tree_needs_no_network(tmp_path, isolation):
    python = environment_of(tmp_path / "v")
    fine(python, "-m", "pip", "install", *isolation, ROOT, env=closed_network())
    assert str(tmp_path / "v") in fine(python, "-c", TINY, cwd=tmp_path, env=closed_network())


@pytest.mark.slow
def test_command_line_of_the_package_finds_its_mpi_part(wheel, tmp_path):
    if shutil.which("mpirun") is None or not (HOME / "lib" / "libticopd_mpi.so").exists():
        pytest.skip("no mpirun, or built without MPI")
    (tmp_path / "c.toml").write_text(
        'iterations = 5\n[problem]\nobjective = "softmax"\ndata = "synthetic"\n'
        '[graph]\nkind = "ring"\nagents = 4\n[codec]\nkind = "sign"\n'
        '[algorithm]\nname = "choco_sgd"\neta = 0.1\ngamma = 0.2\n')
    said = fine(HOME / "bin" / "ticopd", "launch", "-n", "2", "--", "run", "c.toml", "--out", "out",
                cwd=tmp_path)
    assert (tmp_path / "out" / "run.json").exists(), said


@pytest.mark.slow
def test_source_distribution_holds_what_git_tracks(tmp_path):
    if not (ROOT / ".git").exists():
        pytest.skip("this tree is no git clone")
    code = f"import sys; sys.path.insert(0, {str(ROOT / 'python')!r}); import build_backend; " \
           f"print(build_backend.build_sdist({str(tmp_path)!r}))"
    name = fine(sys.executable, "-c", code).strip()
    assert (tmp_path / name).stat().st_size < 3e6
    listed = fine("tar", "tzf", tmp_path / name)
    for file in ("CMakeLists.txt", "pyproject.toml", "python/build_backend.py", "PKG-INFO"):
        assert f"ticopd-{ticopd.__version__}/{file}\n" in listed
