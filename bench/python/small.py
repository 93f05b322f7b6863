"""What bench_python makes from C++, made from Python: small rounds, and payloads.

The objective answers for the rows of all agents at once. The digest must be that of C++.
"""
import numpy as np
import ticopd
from ask import answer, say

ROUNDS, REPEATS, ROW = 2000, 500, 79510


class Distance(ticopd.Objective):
    agents, dimension = 8, 100
    centres = np.arange(8, dtype=np.float32)[:, None]

    def gradients(self, first, X, G):
        np.subtract(X, self.centres, out=G)


def make_run():
    return ticopd.Run(Distance(), graph="ring", codec="qsgd:4", iterations=1_000_000_000,
                      algorithm=ticopd.TiCoPD(alpha=0.1, theta=2, eta=0.4, beta=0.2),
                      log={"level": "rows", "every": 1_000_000})


class Payloads:
    def __init__(self):
        self.codec = ticopd.Qsgd(bits=8)
        self.v = (np.random.default_rng(1).random(ROW) - 0.5).astype(np.float32)
        self.w = np.empty(ROW, np.float32)
        self.payload, self.round = b"", 0

    def run(self):
        codec, v, w, first = self.codec, self.v, self.w, self.round + 1
        for r in range(first, first + REPEATS):
            payload = codec.encode(v, seed=1, round=r, agent=0)
            codec.decode(payload, ROW, seed=1, round=r, agent=0, out=w)
        self.payload, self.round = payload, r


def main():
    checked = make_run()
    checked.step(ROUNDS)
    payloads = Payloads()
    payloads.run()
    run = make_run()
    say({"digest": checked.digest, "rounds": ROUNDS, "payload": len(payloads.payload)})
    answer({"rounds": lambda: run.step(ROUNDS), "codec": payloads.run})
    say({"round": run.round})


if __name__ == "__main__":
    main()
