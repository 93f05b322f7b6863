#!/usr/bin/env python3
"""The PyTorch peers of the CUDA figures: one full gradient of ten agents over 60,000 images.

    python3 bench/cuda/peers.py [FOLDER] [--compile]    medians in microseconds, as one JSON object
    python3 bench/cuda/peers.py --check                 the same arithmetic, small, on the CPU

FOLDER holds MNIST's training set as idx files, packed (.gz) or not; without it the images are random
bytes, as many of each label as MNIST has. Four peers: autograd over ten modules; the passes written
out and batched over the agents (batched.py); those with two hidden layers; and a whole iteration of
TiCoPD around them (iteration.py). The written-out ones are replayed as a CUDA graph: as the formulas
have them (plainly_us), and in every arrangement that could suit cuBLAS, of which the fastest is `us`.
--compile adds torch.compile with autotuned kernels, which takes minutes to get ready.
"""
import argparse
import gzip
import json
import statistics
from pathlib import Path

import numpy
import torch

from batched import Batched, Compiled
from iteration import ALPHA, BETA, LEVELS, THETA, Iteration

AGENTS, PIXELS, CLASSES = 10, 784, 10
COUNTS = [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949]  # of each digit in MNIST
PLAINLY = "written plainly"  # bmm and elementwise operations as the formulas have them
MATMUL = {"fp32": "highest", "tf32": "high"}  # PyTorch's words for them


def read_idx(folder, name):
    """The numbers of an idx file, packed or not."""
    path = folder / name
    data = path.read_bytes() if path.exists() else gzip.open(f"{path}.gz").read()
    sizes = [int.from_bytes(data[4 + 4 * i:8 + 4 * i], "big") for i in range(data[3])]
    return numpy.frombuffer(data, numpy.uint8, offset=4 + 4 * len(sizes)).reshape(sizes)


def load_shards(folder, counts, device):
    """One (images, labels) for each agent: all images of one digit, in floating point, resident."""
    if folder:
        images = read_idx(folder, "train-images-idx3-ubyte").reshape(-1, PIXELS)
        labels = read_idx(folder, "train-labels-idx1-ubyte")
        parts = [images[labels == digit] for digit in range(AGENTS)]
    else:
        draw = numpy.random.default_rng(1)
        parts = [draw.integers(0, 256, (count, PIXELS), dtype=numpy.uint8) for count in counts]
    return [(torch.from_numpy(part.copy()).to(device).float() / 255,
             torch.full((len(part),), digit, device=device)) for digit, part in enumerate(parts)]


def make_models(hidden, device):
    """One network for each agent, each at a point of its own."""
    torch.manual_seed(1)
    widths, models = [PIXELS, *hidden, CLASSES], []
    for _ in range(AGENTS):
        layers = []
        for before, after in zip(widths, widths[1:]):
            layers += [torch.nn.Linear(before, after), torch.nn.Sigmoid()]
        models.append(torch.nn.Sequential(*layers[:-1]).to(device))
    return models


def eager(models, shards):
    """What one writes first: a loss and a backward pass for each agent."""
    for model, (features, labels) in zip(models, shards):
        model.zero_grad(set_to_none=True)
        torch.nn.functional.cross_entropy(model(features), labels).backward()


def reference_rows(models, shards):
    """Each agent's gradient as one row: autograd's, in double."""
    rows = []
    for model, (features, labels) in zip(models, shards):
        eager([model.double()], [(features.double(), labels)])
        rows.append(torch.cat([p.grad.flatten() for p in model.parameters()]))
        model.float()  # nothing is lost: every float is a double
    return rows


def worst_error(groups, reference):
    rows = [row.double() for group in groups for row in group.rows()]
    return max(float((row - right).norm() / right.norm()) for row, right in zip(rows, reference))


def arrangements(models, shards, compiler):
    """Everything worth trying: a name, and what makes its groups of agents."""
    yield PLAINLY, lambda: [Compiled(models, shards, lambda passes: passes)]
    yield "samples last", lambda: [Batched(models, shards, True)]
    for split in (1, 2, 4, 8):
        yield f"samples first, sums in {split}", lambda: [Batched(models, shards, False, split)]
    for last in (True, False):  # nearly nothing is padded, and the device overlaps the agents
        yield (f"an agent a stream, samples {'last' if last else 'first'}",
               lambda: [Batched([m], [s], last) for m, s in zip(models, shards)])
    if compiler:
        yield "torch.compile", lambda: [Compiled(models, shards, compiler)]


def captured(parts, before=None, after=None):
    """Calls as one CUDA graph: `parts` side by side, and what comes before and after all of them."""
    main, others = torch.cuda.Stream(), [torch.cuda.Stream() for _ in parts[1:]]

    def all_steps():  # on `main`
        if before:
            before()
        for stream in others:
            stream.wait_stream(main)
        parts[0]()
        for stream, part in zip(others, parts[1:]):
            with torch.cuda.stream(stream):
                part()
            main.wait_stream(stream)
        if after:
            after()

    torch.cuda.synchronize()
    with torch.cuda.stream(main):  # before the capture cuBLAS takes its workspaces, Triton compiles
        for _ in range(3):
            all_steps()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=main):
        all_steps()
    return graph


def median_us(call, inner, repetitions=40):
    """`inner` calls in a row make one measurement, so that no launch from an idle device is counted."""
    for _ in range(3 * inner):
        call()
    times = []
    for _ in range(repetitions):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        for _ in range(inner):
            call()
        end.record()
        end.synchronize()
        times.append(1e3 * begin.elapsed_time(end) / inner)
    return round(statistics.median(times), 1)


def batched(models, shards, precision, compiler):
    """The fastest arrangement with the faster of the two libraries, and all that were tried."""
    torch.set_float32_matmul_precision(MATMUL[precision])
    reference, tried = reference_rows(models, shards), {}
    for blas in ("cublas", "cublaslt"):
        torch.backends.cuda.preferred_blas_library(blas)
        for name, make in arrangements(models, shards, compiler):
            groups = make()
            graph = captured([group.step for group in groups])
            tried[f"{name} ({blas})"] = {"us": median_us(graph.replay, inner=10),
                                         "relative_error": worst_error(groups, reference)}
            del graph, groups
    best = min(tried, key=lambda name: tried[name]["us"])
    plainly = min(found["us"] for name, found in tried.items() if name.startswith(PLAINLY))
    return {**tried[best], "arrangement": best, "plainly_us": plainly, "tried": tried}


def whole(models, shards, precision, arrangement):
    """A whole iteration, with its gradient written plainly and in the arrangement given."""
    torch.set_float32_matmul_precision(MATMUL[precision])
    found = {}
    for blas in ("cublas", "cublaslt"):
        torch.backends.cuda.preferred_blas_library(blas)
        for name, make in arrangements(models, shards, None):
            if name != PLAINLY and f"{name} ({blas})" != arrangement:
                continue
            all_of_it = Iteration(make())
            graph = captured(all_of_it.parts(), before=all_of_it.exchange, after=all_of_it.update)
            found[f"{name} ({blas})"] = median_us(graph.replay, inner=10)
            del graph, all_of_it
    return {"us": found[arrangement], "arrangement": arrangement, "tried": found,
            "plainly_us": min(us for name, us in found.items() if name.startswith(PLAINLY))}


def check_iteration(make, reference):
    """What the step did with x is the gradient, and the surrogate is a level's width from x at most."""
    it = Iteration(make())
    x = it.x.clone()
    it.exchange()
    moved, width = it.surrogate * it.tau, x.norm(dim=1, keepdim=True) / LEVELS
    assert bool(((moved - x).abs() <= 1.001 * width).all())
    for part in it.parts():
        part()
    it.update()
    h = it.surrogate
    mixed = 2 * h - h.roll(1, 0) - h.roll(-1, 0)
    taken = (BETA * x + (1 - BETA) * h - it.x) / ALPHA - THETA * mixed
    agent, error = 0, 0.0
    for group in it.groups:
        first, n = 0, len(group.weights[0])
        group.gradients = []
        for w in group.weights:
            group.gradients.append(taken[agent:agent + n, first:first + w[0].numel()].view(w.shape))
            first += w[0].numel()
        for row, right in zip(group.rows(), reference[agent:agent + n]):
            error = max(error, float((row - right).norm() / right.norm()))
        agent += n
    return error


def check():
    """On the CPU: every arrangement has autograd's gradients."""
    shards = load_shards(None, [count // 100 for count in COUNTS], "cpu")
    for hidden in ([100], [200, 100]):
        models = make_models(hidden, "cpu")
        reference = reference_rows(models, shards)
        for name, make in arrangements(models, shards, compiler=lambda passes: passes):
            groups = make()
            for group in groups:
                group.step()
            error = worst_error(groups, reference)
            print(f"{hidden} {name}: relative error {error:.1e}")
            assert error < 1e-6
            error = check_iteration(make, reference)
            print(f"{hidden} {name}, a whole iteration: {error:.1e}")
            assert error < 1e-4  # a difference of models, in floats


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", nargs="?", type=Path, help="MNIST's idx files")
    parser.add_argument("--compile", action="store_true", help="try torch.compile too")
    parser.add_argument("--check", action="store_true", help="the arithmetic, on the CPU")
    given = parser.parse_args()
    if given.check:
        return check()
    compiler = None
    if given.compile:
        compiler = lambda f: torch.compile(f, mode="max-autotune-no-cudagraphs", dynamic=False)
    shards = load_shards(given.folder, COUNTS, "cuda")
    one, two = make_models([100], "cuda"), make_models([200, 100], "cuda")
    result = {"torch": torch.__version__, "device": torch.cuda.get_device_name(),
              "data": "MNIST" if given.folder else "random bytes",
              "samples": sum(len(labels) for _, labels in shards)}
    for precision, word in MATMUL.items():
        torch.set_float32_matmul_precision(word)
        result[f"eager_{precision}"] = {"us": median_us(lambda: eager(one, shards), inner=3)}
        result[f"batched_{precision}"] = batched(one, shards, precision, compiler)
    result["iteration_tf32"] = whole(one, shards, "tf32", result["batched_tf32"]["arrangement"])
    result["batched_two_hidden_tf32"] = batched(two, shards, "tf32", compiler)
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
