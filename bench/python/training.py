"""Ten agents train the paper's network on MNIST with PyTorch's gradients: by ticopd, by PyTorch alone, and by
a loop as people write it by hand, with messages that are only simulated.

`ours` makes rounds of ticopd; `bare` computes the gradients of such rounds and nothing else; `by_hand` makes
rounds of the same method in torch, whose qsgd rounds the numbers but packs no bits. `_full` takes all samples
of each agent in place of batches of 32. Needs MNIST in ticopd's cache.
"""
import sys
from pathlib import Path

import numpy as np
import ticopd
import torch
from ask import answer, say
from torch import nn

AGENTS, BATCH = 10, 32
ALPHA, THETA, ETA, BETA = 0.3, 0.3333, 0.0333, 0.6
ROUNDS = {"batch": 60, "full": 1}  # of a turn


def network():
    return nn.Sequential(nn.Linear(784, 100), nn.Sigmoid(), nn.Linear(100, 10))


def shards(folder):
    images = np.fromfile(Path(folder) / "train-images-idx3-ubyte", np.uint8)[16:].reshape(-1, 784)
    labels = np.fromfile(Path(folder) / "train-labels-idx1-ubyte", np.uint8)[8:]
    return [(torch.from_numpy(images[labels == i].astype(np.float32) / 255),
             torch.from_numpy(labels[labels == i].astype(np.int64))) for i in range(AGENTS)]


class Ours:
    def __init__(self, data, batch):
        objective = ticopd.torch.Objective(network(), nn.functional.cross_entropy, data, batch_size=batch)
        self.run = ticopd.Run(objective, graph="ring", codec="qsgd:8", iterations=1_000_000,
                              algorithm=ticopd.TiCoPD(alpha=ALPHA, theta=THETA, eta=ETA, beta=BETA),
                              log={"level": "rows", "every": 100_000})
        self.run.step(1)

    def rounds(self, count):
        self.run.step(count)

    def spread(self):
        return float(np.abs(self.run.x - self.run.x.mean(axis=0)).max())


class Bare:
    """The gradients alone, each agent's model a torch module with weights of its own."""

    def __init__(self, data, batch):
        self.data, self.batch = data, batch
        self.models = [network() for _ in data]

    def gradient(self, i):
        images, labels = self.data[i]
        if self.batch:
            picked = torch.randint(len(labels), (self.batch,))
            images, labels = images[picked], labels[picked]
        self.models[i].zero_grad()
        nn.functional.cross_entropy(self.models[i](images), labels).backward()

    def rounds(self, count):
        for _ in range(count):
            for i in range(AGENTS):
                self.gradient(i)


class ByHand(Bare):
    """TiCoPD as a user of torch would write it: rows of all agents as one tensor, weights copied in and gradients
    copied out, the neighbours by torch.roll, and qsgd as arithmetic on floats."""

    def __init__(self, data, batch):
        super().__init__(data, batch)
        start = torch.nn.utils.parameters_to_vector(self.models[0].parameters()).detach()
        self.x = start.repeat(AGENTS, 1)
        self.dual, self.xhat = torch.zeros_like(self.x), torch.zeros_like(self.x)
        self.grad = torch.empty_like(self.x)

    @staticmethod
    def qsgd(v, bits=8):
        levels = 2**bits - 1
        tau = 1 + min(v.shape[1] / levels**2, v.shape[1] ** 0.5 / levels)
        norm = v.norm(dim=1, keepdim=True)
        level = torch.floor(v.abs() * (levels / norm.clamp_min(1e-30)) + torch.rand_like(v))
        return v.sign() * level * (norm / (levels * tau))

    def rounds(self, count):
        for _ in range(count):
            self.xhat += self.qsgd(self.x - self.xhat)
            for i, model in enumerate(self.models):
                with torch.no_grad():
                    torch.nn.utils.vector_to_parameters(self.x[i], model.parameters())
                self.gradient(i)
                self.grad[i] = torch.cat([p.grad.reshape(-1) for p in model.parameters()])
            mixed = 2 * self.xhat - self.xhat.roll(1, 0) - self.xhat.roll(-1, 0)
            self.x = (BETA * self.x + (1 - BETA) * self.xhat
                      - ALPHA * (self.grad + self.dual + THETA * mixed))
            self.dual += ETA * mixed


def main():
    torch.manual_seed(1)
    data = shards(sys.argv[1])
    sides = {(name, size): kind(data, BATCH if size == "batch" else None)
             for name, kind in (("ours", Ours), ("bare", Bare), ("by_hand", ByHand))
             for size in (("batch",) if name == "by_hand" else ("batch", "full"))}
    say({"rounds": ROUNDS, "parameters": sides["ours", "batch"].run.x.shape[1], "torch": torch.__version__,
         "torch_threads": torch.get_num_threads()})
    answer({f"{name}_{size}": lambda side=side, size=size: side.rounds(ROUNDS[size])
            for (name, size), side in sides.items()})
    by_hand = sides["by_hand", "batch"]
    say({"finite": bool(torch.isfinite(by_hand.x).all() and np.isfinite(sides["ours", "batch"].run.x).all()),
         "spread": sides["ours", "batch"].spread(),
         "spread_by_hand": float((by_hand.x - by_hand.x.mean(0)).abs().max())})


if __name__ == "__main__":
    main()
