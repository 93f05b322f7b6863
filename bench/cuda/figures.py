#!/usr/bin/env python3
"""Compares our CUDA figures with PyTorch on the same GPU and prints a table. Order: ours, the peers, ours.

    python3 bench/cuda/figures.py BENCH_CUDA [MNIST_FOLDER]     `make bench` calls it where there is a GPU

BENCH_CUDA is the program of bench_cuda.cu. It finds MNIST in the cache of `ticopd data fetch mnist`.
The peers read the idx files of MNIST_FOLDER, or generate random images of the same shape.
"""
import json
import subprocess
import sys
from datetime import date
from pathlib import Path

PAPER = "paper, qsgd 8 bits"


def ours(program, data):
    return json.loads(subprocess.run([program, data], check=True, capture_output=True, text=True).stdout)


def peers(folder):
    command = [sys.executable, str(Path(__file__).parent / "peers.py"), *folder]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)


def main():
    program, folder = sys.argv[1], sys.argv[2:3]
    data = "mnist" if folder else "digits"
    first = ours(program, data)
    peer = peers(folder)
    second = ours(program, data)

    def us(problem, figure="round"):  # the mean of two medians, one before and one after the peers
        return (first[problem][figure] + second[problem][figure]) / 2

    rows = []

    def row(what, bar, measured, met, how):
        rows.append(f"| {what} | {bar} | {measured} | {'met' if met else '**not met**' if met is not None else ''} | {how} |")

    paper = us(PAPER)
    spread = "{:.1f} and {:.1f}".format(*(run[PAPER]["round"] for run in (first, second)))
    row("TiCoPD, 8-bit qsgd, the paper's problem, an iteration", "<= 75 us", f"{paper:.1f} us", paper <= 75,
        f"CUDA events, {spread} us before and after the peers; its gradient alone {us(PAPER, 'gradient'):.1f}; "
        f"the iteration by the host's clock {us(PAPER, 'round_host'):.1f}")

    def against(what, bar, peer_us, mine, how):
        row(what, f"{bar} x" if bar else "", f"{peer_us / mine:.1f} x",
            peer_us / mine >= bar if bar else None, f"{peer_us:.0f} us over {mine:.1f}; {how}")

    tf32, whole, two = (peer[name] for name in ("batched_tf32", "iteration_tf32", "batched_two_hidden_tf32"))
    against("against the same iteration in PyTorch, hand-batched, CUDA graph, TF32, written plainly", 8,
            whole["plainly_us"], paper, "exchange and update included, messages not packed")
    against("its gradient against ours", None, tf32["plainly_us"], us(PAPER, "gradient"), "written plainly")
    against("its gradient against our whole iteration", None, tf32["plainly_us"], paper, "written plainly")
    against("against the same iteration with the fastest arrangement of its gradient that we found", None,
            whole["us"], paper, whole["arrangement"])
    against("that gradient against our whole iteration", None, tf32["us"], paper,
            f"{tf32['arrangement']}; relative error {tf32['relative_error']:.0e}")
    against("the fastest gradient in fp32 against our whole iteration", None, peer["batched_fp32"]["us"], paper,
            peer["batched_fp32"]["arrangement"])
    against("PyTorch eager autograd over ten modules against our whole iteration", 70, peer["eager_tf32"]["us"], paper,
            "its gradient; TF32 allowed")
    general = us("two hidden layers 200-100", "gradient")
    against("two hidden layers 200-100: PyTorch's gradient, TF32, CUDA graph, written plainly, against ours", 1.5,
            two["plainly_us"], general, "the general digit path")
    against("the fastest arrangement of that against ours", None, two["us"], general, two["arrangement"])
    rest = us(PAPER) - us(PAPER, "gradient")
    row("encode + decode + update of an iteration, n = 10", "<= 12 us", f"{rest:.1f} us", rest <= 12,
        "the iteration less its gradient; alone the update takes "
        f"{us(PAPER, 'update'):.1f}, an exchange that nobody measured before {us(PAPER, 'exchange'):.1f}")
    for problem in first:
        if problem in ("device", PAPER):
            continue
        parts = ", ".join(f"{part} {us(problem, part):.0f}" for part in ("gradient", "exchange", "update"))
        row(f"{problem}: an iteration", "", f"{us(problem):.0f} us", None, parts + " us alone")

    print(f"{first['device']}, {date.today()}, `python3 bench/cuda/figures.py`; PyTorch {peer['torch']}; "
          f"data: {peer['data']}.\n\n| what | at least | measured | | how |\n|---|---|---|---|---|")
    print("\n".join(rows))


if __name__ == "__main__":
    main()
