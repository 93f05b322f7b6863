"""What Python costs: rounds and payloads beside those of C++, and a training loop beside PyTorch alone."""

import os
import subprocess
from pathlib import Path

from side import Side, say, take_turns, torch_environment
from table import judged, not_here

HERE = Path(__file__).resolve().parent
PYTHON = HERE.parent / "build/python/bin/python"

ROUND = "a round with a NumPy gradient of all rows at once, n = 8, d = 100, over the round in C++"
CODEC = "encode and decode of 79,510 numbers in 8 bits from Python, over C++"
SHARE = "ten agents, MNIST network, PyTorch gradients of {}: ticopd's own share of the time"
BY_HAND = "the same loop by hand in PyTorch, with a simulated qsgd exchange, batches of 32, over ours"
SHARES = {"batch": ("32 samples", 20), "full": ("all samples", 2)}


def mnist():
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache, "ticopd", "mnist")


def blas_core():
    """The right core type for PyTorch's OpenBLAS, and nothing else."""
    best = torch_environment(1)
    return {name: best[name] for name in best if name == "OPENBLAS_CORETYPE"}


def missing():
    """Why nothing can be measured here, or nothing."""
    if not PYTHON.exists():
        return "there is no build/python: make python"
    if subprocess.run([PYTHON, "-c", "import ticopd, torch"], stderr=subprocess.DEVNULL).returncode:
        return "PyTorch is not installed"
    if not (mnist() / "train-images-idx3-ubyte").exists():
        return "MNIST is not there: ticopd data fetch mnist"
    return ""


def small_rows(options, require):
    """Rounds and payloads, in turns with C++. Digests and lengths must agree."""
    say("Small rounds and payloads from Python and C++, in turns:")
    python = Side("small.py", [PYTHON, HERE / "python/small.py"])
    cpp = Side("bench_python", [options.build / "bench/bench_python"])
    for what in ("digest", "rounds", "payload"):
        require(python.about[what] == cpp.about[what], f"Python and C++ differ in {what}")
    take_turns([(side, q) for q in ("rounds", "codec") for side in (python, cpp)], 3 * options.repeats)
    rounds = [1e3 * side.median("rounds") / cpp.about["rounds"] for side in (python, cpp)]
    codec = [1e3 * side.median("codec") / cpp.about["codec_repeats"] for side in (python, cpp)]
    slower, dearer = rounds[0] / rounds[1], codec[0] / codec[1]
    return [judged(ROUND, "<= 4.5 x", slower <= 4.5, f"{slower:.2f} x", "{:.1f} us over {:.1f}".format(*rounds)),
            judged(CODEC, "<= 1.15 x", dearer <= 1.15, f"{dearer:.3f} x", "{:.1f} us over {:.1f}".format(*codec))]


def training_rows(options, require):
    say("Training with PyTorch's gradients: by ticopd, gradients alone, and by hand, in turns:")
    # With PyTorch's own number of threads: two for such small products take longer than one.
    side = Side("training.py", [PYTHON, HERE / "python/training.py", mnist()], blas_core())
    take_turns([(side, q) for q in ("ours_batch", "bare_batch", "by_hand_batch", "ours_full", "bare_full")],
               options.repeats)
    require(side.end["finite"], "the models of training.py are not finite")
    rows = []
    for size, (samples, most) in SHARES.items():
        ours, bare = (side.median(f"{who}_{size}") / side.about["rounds"][size] for who in ("ours", "bare"))
        share = 100 * (1 - bare / ours)
        rows.append(judged(SHARE.format(samples), f"<= {most} %", share <= most, f"{share:.1f} %",
                           f"{ours:.2f} ms a round, {bare:.2f} of them PyTorch's"))
    ours, by_hand = (side.median(q) / side.about["rounds"]["batch"] for q in ("ours_batch", "by_hand_batch"))
    rows.append(judged(BY_HAND, ">= 2 x", by_hand >= 2 * ours, f"{by_hand / ours:.2f} x",
                       f"{by_hand:.2f} ms a round over {ours:.2f}; PyTorch {side.about['torch']}, "
                       f"{side.about['torch_threads']} of its threads"))
    return rows


def python_figures(options, require):
    why = missing()
    if why:
        return [not_here(what, bar, why) for what, bar in
                [(ROUND, "<= 4.5 x"), (CODEC, "<= 1.15 x"), (BY_HAND, ">= 2 x")]
                + [(SHARE.format(samples), f"<= {most} %") for samples, most in SHARES.values()]]
    return small_rows(options, require) + training_rows(options, require)
