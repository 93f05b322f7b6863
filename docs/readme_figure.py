#!/usr/bin/env python3
"""Median and range over seeds of the runs in compare folders, as CSV for readme_figure.gp.

    python3 docs/readme_figure.py runs/readme-1 runs/readme-2 ... > docs/readme_figure.csv
"""
import csv
import statistics
import sys
from pathlib import Path


def rows(folder):
    with open(folder / "metrics.csv", newline="") as file:
        return {int(row["iteration"]): row for row in csv.DictReader(file)}


def main():
    seeds = [Path(name) for name in sys.argv[1:]]
    labels = [run.parent.name for run in sorted(seeds[0].glob("*/metrics.csv"))]
    out = csv.writer(sys.stdout, lineterminator="\n")
    columns = [f"{metric}_{what}" for metric in ("loss", "accuracy") for what in ("median", "low", "high")]
    out.writerow(["run", "iteration", "megabits"] + columns)
    for label in labels:
        runs = [rows(seed / label) for seed in seeds]
        for iteration in sorted(set.intersection(*(set(run) for run in runs)) - {0}):
            def of(column):
                return [float(run[iteration][column]) for run in runs]

            cells = [statistics.median(of("bits_payload")) / 1e6]
            for column in ("loss_max", "accuracy_min"):
                cells += [statistics.median(of(column)), min(of(column)), max(of(column))]
            out.writerow([label, iteration] + [f"{cell:.5g}" for cell in cells])


main()
