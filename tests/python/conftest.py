"""What all tests of the Python package share.

They use the package that is installed, or else the one in the tree with the library of
build/release.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

try:
    import ticopd
except ImportError:
    sys.path.insert(0, str(ROOT / "python"))
    os.environ.setdefault("TICOPD_LIBRARY", str(ROOT / "build" / "release" / "libticopd.so"))
    import ticopd

import numpy as np


@pytest.fixture(scope="session")
def root():
    return ROOT


@pytest.fixture(scope="session")
def program():
    """The command line."""
    own = Path(ticopd.__file__).parent / "bin" / "ticopd"
    for place in (os.environ.get("TICOPD_PROGRAM", ""), own, ROOT / "build" / "release" / "ticopd"):
        if place and Path(place).exists():
            return str(place)
    pytest.skip("the command line is not built")


@pytest.fixture(scope="session")
def child_environment():
    """For processes that import the same package."""
    environment = dict(os.environ)
    folder = str(Path(ticopd.__file__).resolve().parents[1])
    environment["PYTHONPATH"] = folder + os.pathsep + environment.get("PYTHONPATH", "")
    return environment


@pytest.fixture
def in_child(child_environment, tmp_path):
    """Runs a Python program in a process of its own; returns what it printed."""

    def run(text, timeout=60, code=0):
        done = subprocess.run(
            [sys.executable, "-c", text],
            env=child_environment,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=timeout,
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout

    return run


class Distance(ticopd.Objective):
    """Agent i wants every coordinate to be i; row by row."""

    def __init__(self, dimension=10, agents=None):
        self.dimension = dimension
        self.agents = agents

    def value_and_gradient(self, agent, x, g):
        g[:] = x - agent
        return 0.5 * float(g @ g)


class AllRows(ticopd.Objective):
    """The same, all rows at once."""

    def __init__(self, dimension=10, agents=8):
        self.dimension = dimension
        self.agents = agents

    def gradients(self, first, X, G):
        np.subtract(X, first + np.arange(len(X), dtype=X.dtype)[:, None], out=G)
        return 0.5 * (G * G).sum(axis=1)


class LeastSquares(ticopd.Objective):
    """||A_i x - b_i||^2 / (2 m), with batches."""

    def __init__(self, agents=4, samples=20, dimension=6, seed=3):
        random = np.random.default_rng(seed)
        self.agents, self.dimension = agents, dimension
        self.A = random.standard_normal((agents, samples, dimension))
        self.b = random.standard_normal((agents, samples))
        self.samples = [samples] * agents

    def value_and_gradient(self, agent, x, g):
        A, b = self.A[agent], self.b[agent]
        if self.batch is not None:
            A, b = A[self.batch], b[self.batch]
        r = A @ x - b
        g[:] = A.T @ r / len(b)
        return float(r @ r) / (2 * len(b))


OPTIONS = dict(
    graph="ring:4",
    codec="qsgd:4",
    algorithm=ticopd.TiCoPD(alpha=0.1, theta=1, eta=0.2),
    iterations=60,
)


def options(**changed):
    return {**OPTIONS, **changed}
