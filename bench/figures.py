"""The figures. Each function times some programs in turns and returns rows of the table."""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from side import Side, python_with_torch, say, take_turns, torch_environment
from table import for_information, judged, not_here

HERE = Path(__file__).resolve().parent
SPEEDUPS = {("amx", 1): 8, ("amx", 2): 7, ("avx512", 1): 3.3, ("avx512", 2): 3.3}
SETTLE = 0.15  # s: threads of the previous program may still spin after their work
MOMENTS = "at the start / after 1,500 steps / overfit"


def threads_word(threads):
    return "1 thread" if threads == 1 else f"{threads} threads"


def require(holds, what):
    if not holds:
        sys.exit(f"run.py: check failed: {what}")


def last_line(command, environment=None):
    """The answer of a program that answers once."""
    side = Side(Path(command[0]).name, command, environment)
    side.process.stdin.close()
    require(side.process.wait() == 0, f"{side.name} ended with {side.process.returncode}")
    return side.about


# Gradients: errors, speed, and the overhead of an iteration.

def prepare(options):
    say("Preparing the paper's problem (the points take some minutes once, then are kept).")
    return last_line([options.build / "bench/bench_points", "--folder", options.points,
                      "--threads", max(options.threads)])


def check_reference(options, python):
    """Compares our float64 with PyTorch's; returns the errors of PyTorch in float32."""
    say("Checking the float64 reference against PyTorch.")
    threads = max(options.threads)
    answer = last_line([python, HERE / "gradient.py", options.points, threads, "--points"],
                       torch_environment(threads))
    for errors in answer["double"]:
        require(max(errors) < 1e-11, f"the float64 reference is off by {max(errors):.1e}")
    return answer["float"]


def gradient_sides(options, kernels, python):
    """The programs by (kernel, threads); PyTorch has the kernel None."""
    sides = {}
    for threads in options.threads:
        for kernel in kernels:
            say(f"Starting {kernel}, {threads_word(threads)}.")
            sides[kernel, threads] = Side(
                f"bench_gradient ({kernel})",
                [options.build / "bench/bench_gradient", "--folder", options.points,
                 "--threads", threads], {"TICOPD_KERNEL": kernel}, settle=SETTLE)
        if python:
            sides[None, threads] = Side(
                "gradient.py", [python, HERE / "gradient.py", options.points, threads],
                torch_environment(threads), settle=SETTLE)
    return sides


def error_row(name, gradients, losses, wanted=3e-7):
    text = " / ".join(f"{e:.1e}" for e in gradients)
    how = "losses: " + " / ".join(f"{e:.1e}" for e in losses)
    what = f"relative error of gradients against float64, {name}, {MOMENTS}"
    if wanted is None:
        return for_information(what, text, how)
    return judged(what, "3e-7 each", max(gradients) <= wanted, text, how)


def speed_row(sides, kernel, threads, wanted):
    what = f"gradients of ten agents, {kernel}, {threads_word(threads)}, against PyTorch"
    bound = f"{wanted:g} x" if wanted else ""
    ours = sides[kernel, threads].median("gradient")
    if (None, threads) not in sides:
        return not_here(what, bound, f"{ours:.1f} ms; PyTorch is not installed")
    theirs = sides[None, threads].median("gradient")
    fastest = min(sides[None, threads].times["gradient"])
    how = f"{ours:.1f} ms against {theirs:.1f} (its fastest {fastest:.1f})"
    if threads > 1 and not sides[None, threads].about["parallel"]:
        how += ", but PyTorch's BLAS is the serial build"
    ratio = theirs / ours
    if not wanted:
        return for_information(what, f"{ratio:.2f} x", how)
    return judged(what, bound, ratio >= wanted, f"{ratio:.2f} x", how)


def iteration_row(sides, kernel, threads):
    gradient, iteration = (sides[kernel, threads].median(q) for q in ("gradient", "iteration"))
    return judged(f"a whole TiCoPD iteration over its gradients alone, {kernel}, "
                  f"{threads_word(threads)}", "<= 1.15", iteration / gradient <= 1.15,
                  f"{iteration / gradient:.3f}", f"{iteration:.1f} ms over {gradient:.1f}")


def gradient_figures(options):
    about = prepare(options)
    kernels = [k["name"] for k in about["kernels"] if k["available"]]
    python = python_with_torch()
    if not python:
        say("PyTorch is missing (apt-get install python3-torch python3-numpy libopenblas0-openmp): "
            "there is no peer, and the float64 reference is not checked.")
    torch_errors = check_reference(options, python) if python else None
    sides = gradient_sides(options, kernels, python)
    turns = []  # an iteration right after its gradients, since the machine's speed may change within a minute
    for (kernel, _), side in sides.items():
        turns += [(side, "gradient"), (side, "iteration")] if kernel else [(side, "gradient")]
    say("Gradients and iterations, in turns:")
    take_turns(turns, options.repeats)

    for (kernel, _), side in sides.items():
        first = sides[kernel, options.threads[0]]
        if kernel:
            require(side.end == first.end and side.about == first.about,
                    f"{kernel} gives other bits with another number of threads")
        else:
            require(side.end["error"] < 1e-4, "PyTorch's gradients differ from ours")
    rows = []
    for kernel in [k["name"] for k in about["kernels"]]:
        for threads in options.threads:
            wanted = SPEEDUPS.get((kernel, threads))
            if kernel in kernels:
                rows.append(speed_row(sides, kernel, threads, wanted))
            else:
                rows.append(not_here(f"gradients of ten agents, {kernel}, {threads_word(threads)}, "
                                     "against PyTorch", f"{wanted:g} x" if wanted else "",
                                     "this machine cannot run it"))
    for kernel in kernels:
        errors = sides[kernel, options.threads[0]].about
        rows.append(error_row(kernel, errors["gradient_errors"], errors["loss_errors"]))
    if torch_errors:
        rows.append(error_row("PyTorch", *torch_errors, wanted=None))
    rows += [iteration_row(sides, about["used"], threads) for threads in options.threads]
    if python:
        about["peer"] = sides[None, options.threads[0]].about["kernel"]
    return rows, about


# The rest of a round.

def exchange_figures(options):
    program = options.build / "bench/bench_exchange"
    small = Side("bench_exchange", [program, "--agents", 10, "--dimension", 79510])
    say("Quantise, pack, unpack, update and memcpy, n = 10, d = 79,510, in turns:")
    take_turns([(small, "step"), (small, "memcpy"), (small, "encode")], 10 * options.repeats)
    step, copy, encode = (small.median(q) for q in ("step", "memcpy", "encode"))
    speed = small.about["encode_bytes"] / encode / 1e6
    rows = [judged("quantise + pack + unpack + update over memcpy of n d floats, n = 10, d = 79,510, "
                   "1 thread", "<= 4.5 x", step <= 4.5 * copy, f"{step / copy:.2f} x",
                   f"{step:.3f} ms over {copy:.3f}"),
            judged("qsgd encode, 8 bit, 1 thread, of input", "3 GB/s", speed >= 3,
                   f"{speed:.1f} GB/s", f"{encode:.3f} ms for ten rows of 79,510")]

    what = "the same at n = 4, d = 10^7, 2 threads: bytes moved over triad bandwidth"
    if max(options.threads) < 2:
        return rows + [not_here(what, "0.8", "one core")]
    large = Side("bench_exchange",
                 [program, "--agents", 4, "--dimension", 10**7, "--threads", 2])
    say("The same and a non-temporal triad, n = 4, d = 10^7, in turns:")
    take_turns([(large, "step"), (large, "triad")], options.repeats)
    moved = large.about["step_bytes"] / large.median("step") / 1e6
    triad = large.about["triad_bytes"] / large.median("triad") / 1e6
    rows.insert(1, judged(what, "0.8", moved >= 0.8 * triad, f"{moved / triad:.2f}",
                          f"{moved:.1f} GB/s over {triad:.1f}; {large.median('step'):.1f} ms, "
                          f"{large.about['bytes_per_coordinate']:g} bytes a coordinate"))
    return rows


def entropy_figures(options):
    side = Side("bench_entropy", [options.build / "bench/bench_entropy"])
    say("qsgd, entropy-coded and Elias-coded, d = 79,510, in turns:")
    questions = [f"{verb} {name}" for name in side.about["cases"] if " fixed " not in name
                 for verb in ("encode", "decode")]
    take_turns([(side, question) for question in questions], 10 * options.repeats)
    bits = (2, 4, 6, 8)

    def sizes(kind):
        return [side.about["cases"][f"{kind} {b}"] for b in bits]

    def listed(values, digits):
        return ", ".join(f"{value:.{digits}f}" for value in values)

    def lengths(kind):
        return [case["sent"] / case["entropy"] for case in sizes(kind)]

    def speeds(verb, kind):
        return [side.about["row_bytes"] / side.median(f"{verb} {kind} {b}") / 1e3 for b in bits]

    entropies = listed([case["entropy"] for case in sizes("gaussian entropy")], 3)
    longest = max(lengths("gaussian entropy"))
    rows = [judged("entropy-coded qsgd over the entropy of its symbols, Gaussian row of 79,510, longest of "
                   "2, 4, 6 and 8 bits", "<= 1.05 x", longest <= 1.05, f"{longest:.3f} x",
                   f"{listed(lengths('gaussian entropy'), 3)} x of {entropies} bits a coordinate; heavy tails "
                   f"{listed(lengths('heavy entropy'), 3)} x; Elias {listed(lengths('gaussian elias'), 2)} x")]
    for verb in ("encode", "decode"):
        slowest = min(speeds(verb, "gaussian entropy"))
        rows.append(judged(f"the same, {verb}, 1 thread, of input, slowest of them", "200 MB/s",
                           slowest >= 200, f"{slowest:.0f} MB/s",
                           f"{listed(speeds(verb, 'gaussian entropy'), 0)} MB/s; heavy tails "
                           f"{listed(speeds(verb, 'heavy entropy'), 0)}; Elias "
                           f"{listed(speeds(verb, 'gaussian elias'), 0)}"))
    return rows


def memory_figures(options):
    say("A short run of experiments/mnist_ring10.toml, for its memory.")
    with tempfile.TemporaryDirectory(prefix="ticopd-bench-") as folder:
        out = Path(folder) / "run"
        run = subprocess.run([options.build / "ticopd", "run",
                              HERE.parent / "experiments/mnist_ring10.toml", "--set",
                              "iterations=20", "--out", out, "--quiet"], stdout=subprocess.DEVNULL)
        require(run.returncode == 0, f"ticopd run ended with {run.returncode}")
        notes = json.loads((out / "run.json").read_text())
    require("memory" in notes, "run.json does not say what memory the run had")
    memory, features = notes["memory"], notes["memory"]["features"]
    held = memory["state"] + sum(features.values())
    require(0 < held <= memory["resident"] <= memory["peak"], "run.json's memory cannot be")
    ratio = memory["resident"] / held
    names = ", ".join(f"{name} {size / 1e6:.1f}" for name, size in features.items())
    return [judged("resident memory of a run over its state plus the packed features", "<= 1.3 x",
                   ratio <= 1.3, f"{ratio:.2f} x",
                   f"{memory['resident'] / 1e6:.1f} MB over {held / 1e6:.1f} (state "
                   f"{memory['state'] / 1e6:.1f}, {names}); at its peak "
                   f"{memory['peak'] / held:.2f} x")]


def agents_figures(options):
    few, many, threads = 1000, 10000, max(options.threads)
    say("Rounds of 1,000 and of 10,000 agents, in turns:")
    side = Side("bench_agents", [options.build / "bench/bench_agents", "--agents", few, many,
                                 "--threads", threads])
    take_turns([(side, str(few)), (side, str(many))], 2 * options.repeats)
    of_few, of_many = (1e3 * side.median(str(n)) / n for n in (few, many))
    return [judged("cost per agent and iteration from 1,000 to 10,000 agents, least squares, "
                   "d = 1,000", "within 2 x", max(of_few, of_many) <= 2 * min(of_few, of_many),
                   f"{of_many / of_few:.2f} x",
                   f"{of_few:.2f} us, then {of_many:.2f}, {threads_word(threads)}")]
