"""Measures every figure of docs/performance.md and prints a table.

    python3 bench/run.py [--build build/bench] [--threads 1 2] [--repeats 15] [--only python] [--write]

Programs to be compared are timed in turns within one run, and figures are ratios of medians: only these
are meaningful on a machine whose speed changes. Each program checks its results; a wrong result ends the
run with the name of the program and a non-zero code. A figure that misses its goal does not end the run;
the table says so. The peer is PyTorch (Debian: python3-torch python3-numpy libopenblas0-openmp).
"""
import argparse
import sys
import time
from pathlib import Path

from figures import (agents_figures, entropy_figures, exchange_figures, gradient_figures,
                     memory_figures, require)
from python_figures import python_figures
from ranks import ranks_figures
from side import say
from sites import sites_figures
from table import as_markdown, cores, machine, write_between_marks

HERE = Path(__file__).resolve().parent
DOCUMENT = HERE.parent / "docs/performance.md"


def busy_share():
    """The busy share of all processors, over one second in which we do nothing."""
    def ticks():
        if not Path("/proc/stat").exists():
            return 0, 0
        numbers = [int(n) for n in Path("/proc/stat").read_text().splitlines()[0].split()[1:]]
        return sum(numbers), numbers[3] + numbers[4]  # all; idle or waiting for a disk
    (all_before, idle_before), _, (all_after, idle_after) = ticks(), time.sleep(1), ticks()
    return 1 - (idle_after - idle_before) / max(1, all_after - all_before)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, default=HERE.parent / "build/bench",
                        help="build folder, configured with TICOPD_BUILD_BENCH (build/bench)")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--only", choices=["python", "sites"], help="these figures alone; nothing is written")
    parser.add_argument("--write", action="store_true", help="the table into docs/performance.md too")
    options = parser.parse_args()
    options.threads = [t for t in options.threads if t <= cores()] or [1]
    options.build = options.build.resolve()  # programs run in other folders
    options.points = options.build / "bench/points"
    needed = "bench_sites" if options.only == "sites" else "bench_python"
    if not (options.build / "bench" / needed).is_file():
        sys.exit(f"run.py: {options.build} has no benchmarks: build with -DTICOPD_BUILD_BENCH=ON")

    busy = busy_share()
    if busy > 0.1:
        say(f"Something else runs here, {100 * busy:.0f} % of all cores: the figures will be poor, above "
            "all PyTorch's with all of them.")
    begin = time.monotonic()
    if options.only:
        print(as_markdown(python_figures(options, require) if options.only == "python"
                          else sites_figures(options)))
        return
    rows, about = gradient_figures(options)
    rows += exchange_figures(options) + entropy_figures(options)
    rows += memory_figures(options) + agents_figures(options)
    rows += ranks_figures(options)
    rows += sites_figures(options)
    rows += python_figures(options, require)
    steps = about["overfit_steps"]
    text = "\n\n".join([
        f"{machine()}, `make bench`. Kernel chosen here: {about['used']}; BLAS: {about['blas']}; peer: "
        f"{about.get('peer', 'none, PyTorch is missing')}; data: {about['data']}.",
        as_markdown(rows),
        f"Points: after {about['late_steps']:,} steps the mean of the agents' losses is "
        f"{about['losses'][1]:.3f}; each agent then went on alone for {min(steps)} to {max(steps)} "
        f"steps until its own was below 1e-4."])
    print(text)
    if options.write:
        write_between_marks(DOCUMENT, text)
    say(f"{time.monotonic() - begin:.0f} s in all.")


if __name__ == "__main__":
    main()
