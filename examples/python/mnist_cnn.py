"""A convolutional network in PyTorch, trained by ten agents who see one digit each.

    build/python/bin/python examples/python/mnist_cnn.py --out build/mnist_cnn

TiCoPD with 8-bit and with top-k messages beside CHOCO-SGD and DGD: the worst test accuracy of the ten
models, the bits that an agent sent, and where the time went. Leaves cnn.png and table.md in the folder.
MNIST is fetched into ticopd's cache if it is not there.
"""

import argparse
import subprocess
import sys
from pathlib import Path

import numpy as np
import ticopd
import torch
from torch import nn

QSGD = ticopd.Qsgd(bits=8, scaled=False)
# The tenth of each difference that is largest, in 6 bits, entropy-coded.
TOP_K = ticopd.TopK(fraction=0.1, then=ticopd.Qsgd(bits=6, scaled=False), coding="entropy")

METHODS = {
    "TiCoPD, 8-bit qsgd": (ticopd.TiCoPD(alpha=0.1, theta=2, eta=0.5), QSGD),
    # The surrogates begin at the common start: from zero, top-k would send the start bit by bit, and
    # the neighbours' pull towards zero kills the rectifiers. With constant steps the worst model goes
    # up and down by some tenths. So alpha is halved every 1,000 rounds, and theta doubled: their
    # product, the weight of the neighbours, stays.
    "TiCoPD, top-k": (ticopd.TiCoPD(alpha=ticopd.step(0.1, 0.5, 1000), theta=ticopd.step(2, 2, 1000),
                                    eta=0.3, warm_start=True), TOP_K),
    "CHOCO-SGD, 8-bit qsgd": (ticopd.ChocoSGD(eta=0.02, gamma=0.9), QSGD),
    "DGD, uncompressed": (ticopd.DGD(eta=0.05), ticopd.Identity()),
}


def mnist(part):
    """Images (N x 1 x 28 x 28, from 0 to 1) and labels as tensors; part is "train" or "t10k"."""
    fetch = [sys.executable, "-m", "ticopd", "data", "fetch", "mnist"]
    folder = Path(subprocess.run(fetch, stdout=subprocess.PIPE, text=True, check=True).stdout.split()[-1])
    images = np.fromfile(folder / f"{part}-images-idx3-ubyte", np.uint8)[16:].reshape(-1, 1, 28, 28)
    labels = np.fromfile(folder / f"{part}-labels-idx1-ubyte", np.uint8)[8:]
    return torch.from_numpy(images.astype(np.float32) / 255), torch.from_numpy(labels.astype(np.int64))


def network():
    return nn.Sequential(
        nn.Conv2d(1, 8, 5, stride=2, padding=2), nn.ReLU(),
        nn.Conv2d(8, 16, 5, stride=2, padding=2), nn.ReLU(),
        nn.Flatten(), nn.Linear(16 * 7 * 7, 10))


def problem(batch):
    """Ten agents, the training images of one digit each."""
    torch.manual_seed(1)
    images, labels = mnist("train")
    shards = [(images[labels == digit], labels[labels == digit]) for digit in range(10)]
    return ticopd.torch.Objective(network(), nn.functional.cross_entropy, shards, batch_size=batch)


def worst_accuracy(run, images, labels, chunk=500):
    """Of the models that the run has now, on all test images."""
    worst = 1.0
    for agent in run.hosted:
        model = run.model(agent).eval()
        with torch.no_grad():
            right = sum((model(images[i : i + chunk]).argmax(1) == labels[i : i + chunk]).sum().item()
                        for i in range(0, len(labels), chunk))
        worst = min(worst, right / len(labels))
    return worst


def train(label, objective, test, rounds, points):
    """Makes one run; returns its curve, (Mbit sent by an agent, worst accuracy), and its seconds."""
    algorithm, codec = METHODS[label]
    run = ticopd.Run(objective, graph="ring", codec=codec, algorithm=algorithm, iterations=rounds,
                     log={"level": "rows", "every": max(1, rounds // points)})
    curve = []
    while not run.finished:
        run.step(max(1, rounds // points), progress=sys.stderr.isatty())
        curve.append((run.last["bits_payload"] / 1e6, worst_accuracy(run, *test)))
    return np.array(curve), run.summary["seconds"]


def table(found):
    """Worst accuracy, bits and seconds of every method, in Markdown."""
    lines = [
        "| | worst accuracy | Mbit sent by an agent | Mbit to 0.9 | seconds in PyTorch | seconds in ticopd |",
        "|---|---|---|---|---|---|",
    ]
    for label, (curve, seconds) in found.items():
        there = curve[curve[:, 1] >= 0.9, 0]
        ours = seconds["exchange"] + seconds["update"]
        lines.append(f"| {label} | {curve[-1, 1]:.4f} | {curve[-1, 0]:,.0f} | "
                     f"{format(there[0], ',.0f') if len(there) else 'not reached'} | "
                     f"{seconds['gradient']:.1f} | {ours:.1f} |")
    return "\n".join(lines)


def draw(found, file):
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4), dpi=120, layout="constrained")
    axes = figure.add_subplot(xscale="log", ylim=(0, 1), xlabel="Mbit sent by an agent",
                              ylabel="worst test accuracy of ten models")
    for label, (curve, _) in found.items():
        axes.plot(*curve.T, label=label)
    axes.grid(alpha=0.3)
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=4, fontsize="small", frameon=False)
    figure.savefig(file)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--iterations", type=int, default=5000)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--points", type=int, default=30, help="how often the accuracy is measured")
    parser.add_argument("--test-images", type=int, default=10_000)
    parser.add_argument("--out", type=Path, help="a folder for cnn.png and table.md")
    options = parser.parse_args()

    objective = problem(options.batch)
    test = [part[: options.test_images] for part in mnist("t10k")]
    print(f"{objective.dimension:,} parameters, {options.iterations:,} rounds, batches of {options.batch}")
    found = {}
    for label in METHODS:
        found[label] = train(label, objective, test, options.iterations, options.points)
        print(f"{label:24}{found[label][0][-1, 1]:8.4f}", flush=True)
    text = table(found)
    print(text)
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
        (options.out / "table.md").write_text(text + "\n")
        draw(found, options.out / "cnn.png")


if __name__ == "__main__":
    main()
