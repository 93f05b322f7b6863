#!/usr/bin/env python3
"""The PyTorch peers of the CUDA figures: one full gradient of ten agents over 60,000 images.

    python3 bench/cuda/peers.py [FOLDER] [--compile]    medians in microseconds, as one JSON object
    python3 bench/cuda/peers.py --check                 the same arithmetic, small, on the CPU

FOLDER holds MNIST's training set as idx files, with or without gzip. Without FOLDER the images are
random bytes, with as many images per label as MNIST. There are four peers: autograd over ten modules;
passes written by hand and batched over the agents (batched.py); the same with two hidden layers; and a
whole iteration of TiCoPD around them (iteration.py). The passes written by hand are replayed as a CUDA
graph: as in the formulas (plainly_us), and in every arrangement that could suit cuBLAS; the fastest of
these is `us`. --compile adds torch.compile with autotuned kernels, which takes minutes to start.
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
PLAINLY = "written plainly"  # bmm and elementwise operations as in the formulas
MATMUL = {"fp32": "highest", "tf32": "high"}  # PyTorch's words for them


def read_idx(folder, name):
    """The numbers of an idx file, packed or not."""
    path = folder / name
    data = path.read_bytes() if path.exists() else gzip.open(f"{path}.gz").read()
    sizes = [int.from_bytes(data[4 + 4 * i:8 + 4 * i], "big") for i in range(data[3])]
    return numpy.frombuffer(data, numpy.uint8, offset=4 + 4 * len(sizes)).reshape(sizes)


def load_shards(folder, counts, device):
    """One (images, labels) per agent: all images of one digit, as floats, resident on the device."""
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
    """One network per agent, each with its own parameters."""
    torch.manual_seed(1)
    widths, models = [PIXELS, *hidden, CLASSES], []
    for _ in range(AGENTS):
        layers = []
        for before, after in zip(widths, widths[1:]):
            layers += [torch.nn.Linear(before, after), torch.nn.Sigmoid()]
        models.append(torch.nn.Sequential(*layers[:-1]).to(device))
    return models


def eager(models, shards):
    """The obvious code: a loss and a backward pass per agent."""
    for model, (features, labels) in zip(models, shards):
        model.zero_grad(set_to_none=True)
        torch.nn.functional.cross_entropy(model(features), labels).backward()


def reference_rows(models, shards):
    """The gradient of each agent as one row, by autograd in double."""
    rows = []
    for model, (features, labels) in zip(models, shards):
        eager([model.double()], [(features.double(), labels)])
        rows.append(torch.cat([p.grad.flatten() for p in model.parameters()]))
        model.float()  # exact, since every float is a double
    return rows


def worst_error(groups, reference):
    rows = [row.double() for group in groups for row in group.rows()]
    return max(float((row - right).norm() / right.norm()) for row, right in zip(rows, reference))


def arrangements(models, shards, compiler):
    """All arrangements worth trying: a name, and a function that makes its groups of agents."""
    yield PLAINLY, lambda: [Compiled(models, shards, lambda passes: passes)]
    yield "samples last", lambda: [Batched(models, shards, True)]
    for split in (1, 2, 4, 8):
        yield f"samples first, sums in {split}", lambda: [Batched(models, shards, False, split)]
    for last in (True, False):  # hardly any padding, and the device overlaps the agents
        yield (f"an agent a stream, samples {'last' if last else 'first'}",
               lambda: [Batched([m], [s], last) for m, s in zip(models, shards)])
    if compiler:
        yield "torch.compile", lambda: [Compiled(models, shards, compiler)]


def captured(parts, before=None, after=None):
    """Captures calls as one CUDA graph: `before`, then `parts` in parallel, then `after`."""
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
    with torch.cuda.stream(main):  # warm-up: cuBLAS allocates its workspaces, Triton compiles
        for _ in range(3):
            all_steps()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=main):
        all_steps()
    return graph


def median_us(call, inner, repetitions=40):
    """Measures `inner` calls in a row, so that launches on an idle device do not count."""
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
    """The fastest arrangement with the faster of the two libraries, and all results."""
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
    """A whole iteration, with its gradient written plainly and in the given arrangement."""
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
    """Checks that x moved by the gradient, and that the surrogate is within one level of x."""
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
    """Checks on the CPU that every arrangement gives autograd's gradients."""
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
