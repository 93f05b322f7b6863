"""Least squares in NumPy: ten agents, each with its own rows of A x = b, on a ring with 4-bit messages.

    build/python/bin/python examples/python/least_squares.py

Together they must find what a solver with all rows would find, although no agent sees another's rows.
"""

import argparse

import numpy as np
import ticopd


class LeastSquares(ticopd.Objective):
    """Agent i has f_i(x) = |A_i x - b_i|^2 / (2 m)."""

    def __init__(self, A, b):
        self.A, self.b = A, b
        self.agents, _, self.dimension = A.shape
        self.precision = "double"

    def gradients(self, first, X, G):  # the rows of all agents at once; row r is agent first + r
        A, b = self.A[first : first + len(X)], self.b[first : first + len(X)]
        residuals = np.einsum("imk,ik->im", A, X) - b
        np.einsum("imk,im->ik", A, residuals, out=G)
        G /= A.shape[1]
        return (residuals**2).sum(axis=1) / (2 * A.shape[1])


def made_up(agents=10, rows=40, dimension=30, seed=1):
    """Every agent has a solution of its own: what they agree on is nobody's favourite."""
    random = np.random.default_rng(seed)
    A = random.standard_normal((agents, rows, dimension))
    own = 1 + 0.5 * random.standard_normal((agents, dimension))
    return A, np.einsum("imk,ik->im", A, own)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--iterations", type=int, default=600)
    rounds = parser.parse_args().iterations

    A, b = made_up()
    best = np.linalg.lstsq(A.reshape(-1, A.shape[2]), b.reshape(-1), rcond=None)[0]
    methods = {
        "TiCoPD, 4-bit qsgd": (ticopd.TiCoPD(alpha=0.2, theta=1, eta=0.25), "qsgd:4"),
        "CHOCO-SGD, 4-bit qsgd": (ticopd.ChocoSGD(eta=0.1, gamma=0.4), "qsgd:4"),
        "DGD, uncompressed": (ticopd.DGD(eta=0.1), "identity"),
    }
    print(f"{'':24}{'distance to the solution':>26}{'kbit sent by an agent':>24}")
    for label, (algorithm, codec) in methods.items():
        run = ticopd.Run(LeastSquares(A, b), graph="ring", codec=codec, algorithm=algorithm,
                         iterations=rounds)
        run.step(rounds)
        distance = np.abs(run.x - best).max()
        print(f"{label:24}{distance:26.3g}{run.last['bits_payload'] / 1000:24.1f}")
        if label.startswith("TiCoPD") and distance > 1e-6:
            raise SystemExit("TiCoPD did not find the solution")


if __name__ == "__main__":
    main()
