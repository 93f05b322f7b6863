"""The peer of bench_gradient: the same gradients by PyTorch, timed when asked.

Reads from a folder what bench_gradient left there, compares all ten gradients, then answers every line
"time" on the standard input with {"ms": ...}. Started by run.py, which sets the number of threads and
the BLAS in the environment.
"""
import ctypes
import json
import sys
import time
from pathlib import Path

try:
    import numpy
    import torch
except ImportError as missing:
    print(json.dumps({"missing": str(missing)}), flush=True)
    sys.exit(0)

AGENTS = 10


def model_at(point):
    """784-100-10 with the parameters bench_gradient starts from."""
    model = torch.nn.Sequential(
        torch.nn.Linear(784, 100), torch.nn.Sigmoid(), torch.nn.Linear(100, 10))
    torch.nn.utils.vector_to_parameters(torch.from_numpy(point), model.parameters())
    return model


def shards_of(folder):
    """Float features, resident, as a PyTorch user would keep them."""
    labels = numpy.fromfile(folder / "labels.u8", dtype=numpy.uint8)
    images = numpy.fromfile(folder / "images.u8", dtype=numpy.uint8).reshape(len(labels), 784)
    shards = []
    for agent in range(AGENTS):
        mine = labels == agent
        features = torch.from_numpy(images[mine].astype(numpy.float32) / numpy.float32(255))
        shards.append((features, torch.from_numpy(labels[mine].astype(numpy.int64))))
    return shards


def gradients(model, shards):
    loss = torch.nn.CrossEntropyLoss()
    rows = []
    for features, labels in shards:
        model.zero_grad(set_to_none=True)
        loss(model(features), labels).backward()
        rows.append([p.grad for p in model.parameters()])
    return rows


def largest_difference(rows, ours):
    """max over agents of ||ours - theirs|| / ||theirs||, in double."""
    worst = 0.0
    for row, mine in zip(rows, ours):
        theirs = numpy.concatenate([g.numpy().ravel() for g in row]).astype(numpy.float64)
        error = numpy.linalg.norm(mine - theirs) / numpy.linalg.norm(theirs)
        worst = max(worst, error) if error == error else float("nan")
    return float(worst)


def blas_of_torch():
    """Its name, and whether it can use more than one thread (Debian's serial build cannot)."""
    try:
        blas = ctypes.CDLL("libopenblas.so.0")
        blas.openblas_get_corename.restype = ctypes.c_char_p
        return "OpenBLAS " + blas.openblas_get_corename().decode(), blas.openblas_get_parallel() != 0
    except (OSError, AttributeError):
        return "unknown", True


def main():
    folder, threads = Path(sys.argv[1]), int(sys.argv[2])
    torch.set_num_threads(threads)
    shards = shards_of(folder)
    model = model_at(numpy.fromfile(folder / "point.f32", dtype=numpy.float32))
    ours = numpy.fromfile(folder / "gradients.f32", dtype=numpy.float32).reshape(AGENTS, -1)
    difference = largest_difference(gradients(model, shards), ours)
    name, parallel = blas_of_torch()
    print(json.dumps({"kernel": f"PyTorch {torch.__version__}, {name}", "parallel": parallel,
                      "difference": difference}), flush=True)
    for _ in sys.stdin:
        begin = time.perf_counter()
        gradients(model, shards)
        print(json.dumps({"ms": 1e3 * (time.perf_counter() - begin)}), flush=True)


if __name__ == "__main__":
    main()
