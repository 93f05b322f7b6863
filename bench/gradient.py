"""The peer of bench_gradient: the same gradients in PyTorch.

    python3 bench/gradient.py FOLDER THREADS             times them on request
    python3 bench/gradient.py FOLDER THREADS --points    prints their errors at three moments

It reads the files that bench_points wrote to the folder. run.py starts it and sets threads and BLAS in
the environment. With --points it also computes the gradients in double, and so checks the reference for
our own kernels.
"""
import ctypes
import json
import sys
import time
from pathlib import Path

import numpy
import torch

AGENTS, MOMENTS = 10, 3


def make_model(dtype):
    return torch.nn.Sequential(
        torch.nn.Linear(784, 100), torch.nn.Sigmoid(), torch.nn.Linear(100, 10)).to(dtype)


def set_point(model, point):
    dtype = next(model.parameters()).dtype
    with torch.no_grad():
        torch.nn.utils.vector_to_parameters(torch.from_numpy(point).to(dtype), model.parameters())


def load_shards(folder, dtype):
    """Features as floats in memory, as a PyTorch user would keep them."""
    labels = numpy.fromfile(folder / "labels.u8", dtype=numpy.uint8)
    images = numpy.fromfile(folder / "images.u8", dtype=numpy.uint8).reshape(len(labels), 784)
    shards = []
    for agent in range(AGENTS):
        mine = labels == agent
        shards.append((torch.from_numpy(images[mine]).to(dtype) / 255,
                       torch.from_numpy(labels[mine].astype(numpy.int64))))
    return shards


def gradient(model, shard):
    """Loss and gradient; parameters have the order of the rows of points.f32."""
    features, labels = shard
    model.zero_grad(set_to_none=True)
    loss = torch.nn.functional.cross_entropy(model(features), labels)
    loss.backward()
    return loss, [p.grad for p in model.parameters()]


def as_row(parts):
    return numpy.concatenate([part.numpy().ravel() for part in parts]).astype(numpy.float64)


def worst_errors(folder, dtype):
    """For each moment the worst relative error of ten agents, against the reference in double."""
    points = numpy.fromfile(folder / "points.f32", dtype=numpy.float32).reshape(MOMENTS, AGENTS, -1)
    right = numpy.fromfile(folder / "gradients.f64").reshape(points.shape)
    right_losses = numpy.fromfile(folder / "losses.f64").reshape(MOMENTS, AGENTS)
    model, shards = make_model(dtype), load_shards(folder, dtype)
    errors = numpy.zeros((MOMENTS, AGENTS))
    loss_errors = numpy.zeros((MOMENTS, AGENTS))
    for moment in range(MOMENTS):
        for agent in range(AGENTS):
            set_point(model, points[moment, agent])
            loss, parts = gradient(model, shards[agent])
            reference = right[moment, agent]
            errors[moment, agent] = (numpy.linalg.norm(as_row(parts) - reference)
                                     / numpy.linalg.norm(reference))
            loss_errors[moment, agent] = abs(loss.item() / right_losses[moment, agent] - 1)
    return errors.max(axis=1).tolist(), loss_errors.max(axis=1).tolist()


def blas_of_torch():
    """The name of PyTorch's BLAS, and whether it supports threads (Debian's serial build does not)."""
    try:
        blas = ctypes.CDLL("libopenblas.so.0")
        blas.openblas_get_corename.restype = ctypes.c_char_p
        return "OpenBLAS " + blas.openblas_get_corename().decode(), blas.openblas_get_parallel() != 0
    except (OSError, AttributeError):
        return "unknown BLAS", True


def tell(line):
    print(json.dumps(line), flush=True)


def answer(folder):
    shards, model = load_shards(folder, torch.float32), make_model(torch.float32)
    set_point(model, numpy.fromfile(folder / "points.f32", dtype=numpy.float32, count=79510))
    name, parallel = blas_of_torch()
    tell({"kernel": f"PyTorch {torch.__version__}, {name}", "parallel": parallel})
    rows = []
    for _ in sys.stdin:
        begin = time.perf_counter()
        rows = [gradient(model, shard) for shard in shards]
        tell({"ms": 1e3 * (time.perf_counter() - begin)})
    reference = numpy.fromfile(folder / "gradients.f64", count=AGENTS * 79510).reshape(AGENTS, -1)
    tell({"error": max(float(numpy.linalg.norm(as_row(parts) - right) / numpy.linalg.norm(right))
                       for (_, parts), right in zip(rows, reference))})


def main():
    folder, threads = Path(sys.argv[1]), int(sys.argv[2])
    torch.set_num_threads(threads)
    if sys.argv[3:] == ["--points"]:
        in_double, in_float = (worst_errors(folder, t) for t in (torch.float64, torch.float32))
        tell({"double": in_double, "float": in_float})
    else:
        answer(folder)


if __name__ == "__main__":
    main()
