"""scikit-learn's digits: a PyTorch network beside the same network of `ticopd run`.

    build/python/bin/python examples/python/digits.py

Ten agents hold one digit each. The two runs start from the same weights, draw the same batches and the
same random rounding of messages. They differ by the rounding of sums, since PyTorch adds in another order:
in double by a part in a million millions. In single precision (--precision float) such a difference now
and then moves a number of a message by a whole step of its rounding, and small batches amplify that.
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np
import ticopd
import torch
from sklearn.datasets import load_digits


def arrays():
    """1,797 images of 8 x 8 pixels, 0 to 1, sorted by label: 1,500 to train with, 297 to test."""
    images, labels = load_digits(return_X_y=True)
    images, labels = (images / 16).astype(np.float32), labels.astype(np.int64)
    return (images[:1500], labels[:1500]), (images[1500:], labels[1500:])


def config(folder, iterations, precision):
    """The run in the words of the command line; `folder` has the arrays."""
    return {
        "iterations": iterations,
        "precision": precision,
        "problem": {"objective": "mlp", "hidden": [32], "activation": "tanh",
                    "data": f"npy:{folder}", "partition": "label", "batch": 16},
        "graph": {"kind": "ring", "agents": 10},
        "codec": {"kind": "qsgd", "bits": 8},
        "algorithm": {"name": "ticopd", "alpha": 0.3, "theta": 0.333, "eta": 0.0333, "beta": 0.6},
        "log": {"every": max(1, iterations // 20)},
    }


def network(dtype):
    layers = torch.nn.Sequential(torch.nn.Linear(64, 32), torch.nn.Tanh(), torch.nn.Linear(32, 10))
    return layers.to(dtype)


def run_both(iterations, precision):
    """(ours, PyTorch's) after so many rounds."""
    train, test = arrays()
    with tempfile.TemporaryDirectory() as folder:
        for name, array in zip(("X", "y", "X_test", "y_test"), (*train, *test)):
            np.save(Path(folder, f"{name}.npy"), array)
        ours = ticopd.Run.from_config(config(folder, iterations, precision))
        start = ours.x[0].copy()
        ours.step(iterations)

    dtype = {"float": torch.float32, "double": torch.float64}[precision]
    images, labels = torch.from_numpy(train[0]).to(dtype), torch.from_numpy(train[1])
    datasets = [(images[labels == digit], labels[labels == digit]) for digit in range(10)]
    objective = ticopd.torch.Objective(
        network(dtype), torch.nn.functional.cross_entropy, datasets, batch_size=16,
        test=(torch.from_numpy(test[0]).to(dtype), torch.from_numpy(test[1])))
    plan = config("", iterations, precision)
    theirs = ticopd.Run(
        objective, graph=plan["graph"], codec=plan["codec"], start=start, iterations=iterations,
        precision=precision, algorithm=ticopd.algorithm(plan["algorithm"].pop("name"), **plan["algorithm"]),
        log={**plan["log"], "level": "full"})
    theirs.step(iterations)
    return ours, theirs


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--iterations", type=int, default=1000)
    parser.add_argument("--precision", choices=("double", "float"), default="double")
    options = parser.parse_args()
    ours, theirs = run_both(options.iterations, options.precision)

    print(f"{'round':>8}{'worst loss':>14}{'in PyTorch':>14}{'worst accuracy':>18}{'in PyTorch':>14}")
    for row in zip(ours.metrics["iteration"], ours.metrics["loss_max"], theirs.metrics["loss_max"],
                   ours.metrics["accuracy_min"], theirs.metrics["accuracy_min"]):
        print("{:8d}{:14.6f}{:14.6f}{:18.4f}{:14.4f}".format(*row))
    gap = np.abs(theirs.metrics["loss_max"] / ours.metrics["loss_max"] - 1).max()
    print(f"largest relative difference of the losses: {gap:.2g}")
    for name, run in (("ticopd's own network", ours), ("PyTorch's", theirs)):
        seconds = run.summary["seconds"]
        print(f"{name}: {seconds['total'] - seconds['metrics']:.2f} s of rounds, "
              f"{seconds['gradient']:.2f} s of them gradients")


if __name__ == "__main__":
    main()
