"""Runs programs that are timed in turns, and sets the environment of the PyTorch peer."""
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path


def say(line):
    """Prints progress for the person who waits."""
    print(line, file=sys.stderr, flush=True)


class Side:
    """A program that describes itself, answers every line with a time, and prints a result at its end.

    `about` and `end` are the first and the last line; `times` holds the answers in ms by question. If a
    check fails, the program prints it and ends, and run.py ends too.
    """

    def __init__(self, name, command, environment=None, settle=0.0):
        self.name, self.settle = name, settle
        self.process = subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True,
                                        env=dict(os.environ, **(environment or {})))
        self.about = self._read()
        self.times = {}
        self.end = None

    def _read(self):
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"run.py: {self.name} failed, code {self.process.wait()}")
        return json.loads(line)

    def ask(self, question):
        time.sleep(self.settle)
        try:
            self.process.stdin.write(question + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # _read reports the error
        self.times.setdefault(question, []).append(self._read()["ms"])

    def close(self):
        self.process.stdin.close()
        self.end = self._read()
        if self.process.wait() != 0:
            sys.exit(f"run.py: {self.name} failed, code {self.process.returncode}")

    def median(self, question):
        return statistics.median(self.times[question])


def take_turns(turns, repeats, warm_up=2):
    """Asks every (side, question) once, then all of them again; drops the first rounds."""
    begin = time.monotonic()
    for repeat in range(warm_up + repeats):
        for side, question in turns:
            side.ask(question)
        if repeat + 1 == warm_up:
            for side, _ in turns:
                side.times.clear()
        if (repeat + 1) % max(1, repeats // 4) == 0:
            say(f"  {repeat + 1} of {warm_up + repeats} turns, {time.monotonic() - begin:.0f} s")
    for side in dict.fromkeys(side for side, _ in turns):
        side.close()


def python_with_torch():
    """This interpreter, or Debian's if this one has no PyTorch."""
    for python in (sys.executable, "/usr/bin/python3"):
        if Path(python).exists() and subprocess.run(
                [python, "-c", "import torch, numpy"], stderr=subprocess.DEVNULL).returncode == 0:
            return python
    return None


def threaded_blas():
    """Debian's multi-threaded builds of OpenBLAS; the one that shares PyTorch's OpenMP comes first."""
    for build in ("openblas-openmp", "openblas-pthread"):
        for folder in sorted(Path("/usr/lib").glob(f"*/{build}")):
            if (folder / "libopenblas.so.0").exists():
                return str(folder)
    return None


def torch_environment(threads):
    """The best settings for PyTorch: the right BLAS core for this CPU, since OpenBLAS 0.3.21 falls back to
    SSE3 on processors it does not know, and the BLAS build that shares PyTorch's threads."""
    flags = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    environment = {"OMP_NUM_THREADS": str(threads), "OPENBLAS_NUM_THREADS": str(threads)}
    core = "SkylakeX" if "avx512vl" in flags else "Haswell" if "avx2" in flags else None
    if core and "OPENBLAS_CORETYPE" not in os.environ:
        environment["OPENBLAS_CORETYPE"] = core
    blas = threaded_blas()
    if blas:
        before = os.environ.get("LD_LIBRARY_PATH")
        environment["LD_LIBRARY_PATH"] = blas + (":" + before if before else "")
        if "pthread" in blas:  # two pools of spinning threads on the same cores are three times slower
            environment["OMP_WAIT_POLICY"] = os.environ.get("OMP_WAIT_POLICY", "PASSIVE")
    return environment
