"""The cost of sites: sessions over bare sockets, an iteration over MPI ranks, and checkpoints."""
import os
import resource
import shutil
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from side import Side, say, take_turns
from table import cores, judged, not_here

HERE = Path(__file__).resolve().parent
LOCKSTEP = "rounds a second of sites in lockstep, 90 kB frames, CURVE, over the bare sockets"
SAVED = "the same with a checkpoint every 100 rounds"
MPI = "the paper's problem, n = 10: an iteration of 5 sites over one of `launch -n 5`, 1 thread each"
SHARE = "24 MB of state, a checkpoint a minute: share of the run"
ITERATIONS = 60


def session_rows(options):
    folder = tempfile.mkdtemp(prefix="ticopd-bench-sites-")
    side = Side("bench_sites", [options.build / "bench/bench_sites", "--folder", folder])
    take_turns([(side, q) for q in ("bare", "sessions", "saved", "sessions", "bare", "state")],
               options.repeats)
    shutil.rmtree(folder)
    second = {q: 1e3 * side.about["rounds"] / side.median(q) for q in ("bare", "sessions", "saved")}
    lockstep, saved = (second[q] / second["bare"] for q in ("sessions", "saved"))
    # The system runs four threads on two processors in one of two ways, and changes at any time.
    best = min(side.times["bare"]) / min(side.times["sessions"])
    share = side.median("state") / 60e3
    work = side.end["processor_ms"]
    return [judged(LOCKSTEP, "0.8", lockstep >= 0.8, f"{lockstep:.3f}",
                   f"{second['sessions']:,.0f} over {second['bare']:,.0f} rounds a second; of the best turns "
                   f"{best:.3f}, of processor time {work['bare'] / work['sessions']:.3f}"),
            judged(SAVED, "0.3", saved >= 0.3, f"{saved:.3f}", f"{second['saved']:,.0f} rounds a second"),
            judged(SHARE, "0.5 % at most", share <= 0.005, f"{100 * share:.2f} %",
                   f"{side.median('state'):.0f} ms for one")]


def timed(commands, folder):
    """Runs the commands at once: seconds, and seconds of the processors in all of them."""
    used = lambda: sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
    begin, before = time.monotonic(), used()
    processes = [subprocess.Popen([str(w) for w in c], cwd=folder, stdout=subprocess.DEVNULL)
                 for c in commands]
    for c, p in zip(commands, processes):
        if p.wait() != 0:
            raise SystemExit(f"run.py: {' '.join(map(str, c))} ended with {p.returncode}")
    return time.monotonic() - begin, used() - before


def mpi_row(options):
    """Whole runs of N and of 3 N iterations, in turns: their difference is 2 N iterations, without the
    start and the end of the programs."""
    program = options.build / "ticopd"
    if not (options.build / "libticopd_mpi.so").is_file():
        return not_here(MPI, "1.1 x at most", "built without MPI")
    folder = Path(tempfile.mkdtemp(prefix="ticopd-bench-sites-"))
    problem = HERE.parent / "experiments/mnist_ring10.toml"
    spent = {}
    for turn in range(max(2, options.repeats // 3)):
        for rounds in (ITERATIONS, 3 * ITERATIONS):
            words = ["--set", f"iterations={rounds}", "--set", f"log.every={rounds}"]
            net = folder / f"net-{turn}-{rounds}"
            subprocess.run([program, "network", "init", problem, "--sites", "5", "--out", net, *words,
                            "--port", str(20000 + os.getpid() % 20000)],
                           check=True, stdout=subprocess.DEVNULL)
            sites = [[program, "network", "join", "--roster", net / "roster.toml", "--as", f"site-{s}",
                      "--key", net / f"site-{s}.key", "--out", net / f"run-{s}", "--threads", "1",
                      "--quiet"] for s in range(5)]
            ranks = [[program, "launch", "-n", "5", "--threads", "1", "--", "run", problem, "--out",
                      folder / f"mpi-{turn}-{rounds}", "--quiet", *words]]
            for what, commands in (("sites", sites), ("ranks", ranks)):
                spent.setdefault((what, rounds), []).append(timed(commands, folder))
        say(f"  {turn + 1} turns of sites and ranks")
    shutil.rmtree(folder)
    def iteration(what, kind):
        few, many = (statistics.median(t[kind] for t in spent[what, rounds])
                     for rounds in (ITERATIONS, 3 * ITERATIONS))
        return 1e3 * (many - few) / (2 * ITERATIONS)
    wall, work = (iteration("sites", kind) / iteration("ranks", kind) for kind in (0, 1))
    return judged(MPI, "1.1 x at most", wall <= 1.1, f"{wall:.2f} x",
                  f"{iteration('sites', 0):.1f} ms over {iteration('ranks', 0):.1f}; of processor time "
                  f"{work:.2f} x, {iteration('sites', 1):.1f} ms over {iteration('ranks', 1):.1f}")


def sites_figures(options):
    if not (options.build / "bench/bench_sites").is_file():
        return [not_here(what, "", "built without ZeroMQ") for what in (LOCKSTEP, SAVED, SHARE, MPI)]
    if cores() < 2:
        return [not_here(what, "", "one core") for what in (LOCKSTEP, SAVED, SHARE, MPI)]
    say("Two sites, and the bare sockets, in turns:")
    return session_rows(options) + [mpi_row(options)]
