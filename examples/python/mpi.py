"""One run over several processes, each with the data of its own agents only.

    mpirun -n 4 build/python/bin/python examples/python/mpi.py

The digest is the same with any number of processes. An exception on one rank ends all of them, with its
message: try --fail-on-rank 2.
"""

import argparse

import numpy as np
import ticopd

DIMENSION, ROWS = 50, 40


class OwnRows(ticopd.Objective):
    """Least squares. An agent's rows are read when it is asked about, so a rank reads only its own."""

    dimension = DIMENSION
    precision = "double"

    def __init__(self, fail=False):
        self.fail = fail
        self.data = {}

    def load(self, agent):  # in place of a file that only this machine has
        if agent not in self.data:
            random = np.random.default_rng(agent)
            A = random.standard_normal((ROWS, DIMENSION))
            self.data[agent] = A, A @ (1 + random.standard_normal(DIMENSION) / 2)
        return self.data[agent]

    def value_and_gradient(self, agent, x, g):
        if self.fail and self.round == 100:
            raise RuntimeError(f"agent {agent} cannot read its data")
        A, b = self.load(agent)
        residual = A @ x - b
        g[:] = A.T @ residual / ROWS
        return float(residual @ residual) / (2 * ROWS)


def make_run(objective, agents, iterations, ranks=None):
    return ticopd.Run(
        objective,
        graph=ticopd.ring(agents),
        codec=ticopd.Qsgd(bits=4),
        algorithm=ticopd.TiCoPD(alpha=0.2, theta=1, eta=0.2),
        iterations=iterations,
        log={"level": "local"},
        ranks=ranks,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--agents", type=int, default=8)
    parser.add_argument("--iterations", type=int, default=400)
    parser.add_argument("--fail-on-rank", type=int, metavar="RANK",
                        help="raises an exception on this rank, in round 100")
    options = parser.parse_args()

    with ticopd.ranks() as ranks:
        objective = OwnRows(fail=ranks.rank == options.fail_on_rank)
        run = make_run(objective, options.agents, options.iterations, ranks)
        run.step(options.iterations)
        last, digest = run.last, run.digest  # gathered from all ranks: every rank asks for them
        if ranks.rank == 0:
            print(f"{ranks.size} processes, {options.agents} agents: consensus error "
                  f"{last['consensus']:.3g}, {last['bits_payload'] / 1000:.1f} kbit sent by an agent")
            print(f"digest {digest}")


if __name__ == "__main__":
    main()
