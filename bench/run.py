"""One iteration's gradients: ticopd against PyTorch, in turns within one run, as a table.

    python3 bench/run.py [--program build/bench/bench/bench_gradient] [--threads 1 2] [--repeats 15]

Ten agents, 784-100-10 sigmoid perceptron, 60,000 images split by label. PyTorch computes the same ten
gradients (Debian: python3-torch python3-numpy libopenblas0-openmp) and gets what is best for it: the BLAS
core its CPU deserves, where OpenBLAS 0.3.21 would fall back to SSE3, and the BLAS build that shares its
threads. The gradients are compared before anything is timed, and a difference above 1e-4 fails the run.
Beside it a whole iteration of TiCoPD: 8-bit messages encoded, decoded and applied, and the update.
Times are medians; trust the ratios.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
LARGEST_DIFFERENCE = 1e-4


class Side:
    """A program that prints what it is, then one time for every line it reads."""

    def __init__(self, command, environment=None):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, env=environment)
        self.about = self.read(command)
        self.times = {}

    def read(self, command):
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"run.py: {command[0]} ended early with code {self.process.wait()}")
        return json.loads(line)

    def time(self, what):
        time.sleep(0.15)  # the other side's threads may still spin for a while after their work
        self.process.stdin.write(what + "\n")
        self.process.stdin.flush()
        self.times.setdefault(what, []).append(self.read(self.process.args)["ms"])

    def close(self):
        self.process.stdin.close()
        self.process.wait()

    def median(self, what):
        return statistics.median(self.times[what])


def threaded_blas():
    """Debian's builds of OpenBLAS for several threads, the one that shares PyTorch's OpenMP first."""
    for build in ("openblas-openmp", "openblas-pthread"):
        for folder in sorted(Path("/usr/lib").glob(f"*/{build}")):
            if (folder / "libopenblas.so.0").exists():
                return str(folder)
    return None


def peer_environment(threads, blas):
    flags = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    environment = dict(os.environ, OMP_NUM_THREADS=str(threads), OPENBLAS_NUM_THREADS=str(threads))
    core = "SkylakeX" if "avx512vl" in flags else "Haswell" if "avx2" in flags else None
    if core:
        environment.setdefault("OPENBLAS_CORETYPE", core)
    if blas:
        before = os.environ.get("LD_LIBRARY_PATH")
        environment["LD_LIBRARY_PATH"] = blas + (":" + before if before else "")
        if "pthread" in blas:  # two pools of spinning threads on the same cores: three times slower
            environment.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    return environment


def python_with_torch():
    """This interpreter, or Debian's where this one is another and has no PyTorch."""
    for python in (sys.executable, "/usr/bin/python3"):
        if Path(python).exists() and subprocess.run(
                [python, "-c", "import torch, numpy"], stderr=subprocess.DEVNULL).returncode == 0:
            return python
    return None


def compare(options, python, folder, threads):
    """One row of the table; False where the gradients differ."""
    sides = [Side([options.program, "--folder", folder, "--threads", str(threads)])]
    if python:  # starts when the files are there
        sides.append(Side([python, str(HERE / "gradient.py"), folder, str(threads)],
                          peer_environment(threads, options.blas)))
    for repeat in range(options.repeats + 2):
        for side in sides:
            side.time("gradient")
        sides[0].time("iteration")
        if repeat < 2:  # warm-up
            for side in sides:
                side.times.clear()
    for side in sides:
        side.close()
    ours = sides[0]
    what = f"{ours.about['data']}; {ours.about['kernel']}"
    gradient, iteration = ours.median("gradient"), ours.median("iteration")
    row = f"{threads:7d}  {gradient:11.1f}  {iteration:12.1f}"
    if not python:
        print(f"{row}  {'-':>10}  {'-':>8}  {'-':>9}  {'-':>10}   {what}")
        return True
    peer = sides[1]
    theirs = peer.median("gradient")
    difference = peer.about["difference"]
    print(f"{row}  {theirs:10.1f}  {gradient / theirs:8.2f}  {iteration / theirs:9.2f}  "
          f"{difference:10.1e}   {what} | {peer.about['kernel']}")
    if threads > 1 and not peer.about["parallel"]:
        print("         PyTorch's BLAS is the serial build, so this row flatters ticopd: "
              "apt-get install libopenblas0-openmp")
    return difference < LARGEST_DIFFERENCE


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default=str(HERE.parent / "build/bench/bench/bench_gradient"))
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--blas", default=threaded_blas(), metavar="DIR",
                        help="folder of the BLAS that PyTorch loads (default: %(default)s)")
    options = parser.parse_args()
    if not Path(options.program).is_file():
        sys.exit(f"run.py: {options.program} is not there: build with -DTICOPD_BUILD_BENCH=ON")

    python = python_with_torch()
    if not python:
        print("PyTorch is missing (apt-get install python3-torch python3-numpy "
              "libopenblas0-openmp): only ticopd is timed, there is no ratio and no check.")
    print("threads  gradient ms  iteration ms  PyTorch ms  gradient  iteration  difference   what")
    print("                                    (gradient)  ratio     ratio")
    with tempfile.TemporaryDirectory(prefix="ticopd-bench-") as folder:
        equal = [compare(options, python, folder, threads) for threads in options.threads]
    if not all(equal):
        sys.exit(f"run.py: the gradients differ by more than {LARGEST_DIFFERENCE:g}")


if __name__ == "__main__":
    main()
