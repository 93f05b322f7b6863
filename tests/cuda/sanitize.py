#!/usr/bin/env python3
"""Runs the CUDA tests under compute-sanitizer, many processes at a time.

    python3 tests/cuda/sanitize.py TEST_CUDA [--tool racecheck] [--filter GTEST_FILTER ...] [--jobs 8]

The tools slow the host as much as the device, so parallel processes finish earlier than sequential ones. First the
tool must find the mistake in sanitizer_test.cu that was made for it. After that a test counts only if it passed and
its process ended with the tool's summary. A test that --seconds cut off is listed as not finished, and fails.

memcheck watches every kernel, also those of cuBLAS, which work on our pointers. racecheck watches only our kernels:
with cuBLAS's it would take minutes and gigabytes per test. The unwatched int8 products of cuBLAS fail under racecheck
with an illegal access that never occurs otherwise (CUDA 13.0), so our own kernel replaces them. Long tests run in
brief mode: the same kernels, fewer times. Both tools lose track when two threads launch at once ("failure to track a
kernel launch", "Error in printing record"), so the threads of such tests take turns.
"""
import argparse
import os
import re
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

SUMMARY = {"memcheck": r"ERROR SUMMARY: (\d+) error", "racecheck": r"RACECHECK SUMMARY: (\d+) hazard"}
WATCHED = {"memcheck": [], "racecheck": ["--kernel-name", "kns=ticopd"]}
IN_TURN = {"TICOPD_TEST_IN_TURN": "1"}  # the threads of a test run one after the other, see tests/cuda/device.hpp
ENVIRONMENT = {"memcheck": IN_TURN,
               "racecheck": {**IN_TURN, "TICOPD_CUDA_PRODUCTS": "own", "TICOPD_TEST_BRIEFLY": "1"}}
ALONE = re.compile("Estimate")  # these measure the free memory of the device
NOTHING_TO_WATCH = "terminated before first instrumented API call"  # the test does not use the device


def tests_of(program, filters):
    names, suite = {}, ""  # a dict keeps the order of the filters and removes duplicates
    for chosen in filters:
        listed = subprocess.run([program, "--gtest_list_tests", f"--gtest_filter={chosen}"],
                                check=True, capture_output=True, text=True).stdout
        for line in listed.splitlines():
            name = line.split("#")[0].strip()
            if line.startswith("  ") and not suite.startswith("DISABLED_"):
                names[suite + name] = None
            elif name.endswith("."):
                suite = name
    return list(names)


def run(program, tool, names, seconds, *more):
    command = ["compute-sanitizer", "--tool", tool, *WATCHED[tool], program, "--gtest_filter=" + ":".join(names), *more]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
                          env={**os.environ, **ENVIRONMENT[tool]}) as process:
        try:
            return process.communicate(timeout=seconds)[0], process.returncode
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # also the test program, which would outlive the tool
            raise


def finds_mistakes(program, tool):
    mistake = f"DISABLED_Sanitizer.FindsTheMistakeOf_{tool}"
    said, _ = run(program, tool, [mistake], 300, "--gtest_also_run_disabled_tests")
    found = re.search(SUMMARY[tool], said)
    return found is not None and found[1] != "0"


def sanitized(program, tool, names, end):
    """Returns (names that passed without a finding, what is wrong with the others or None)."""
    if end <= time.monotonic():
        return [], "not begun"
    try:
        said, status = run(program, tool, names, end - time.monotonic())
    except subprocess.TimeoutExpired:
        return [], "not finished"
    found = re.search(SUMMARY[tool], said)
    clean = (status == 0 and found and found[1] == "0") or NOTHING_TO_WATCH in said
    passed = re.findall(r"^\[       OK \] (\S+)", said, re.MULTILINE)
    if clean and set(passed) == set(names):
        return passed, None
    return [], f"exit status {status}\n{said[-4000:]}"


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("program")
    options.add_argument("--tool", choices=sorted(SUMMARY), default="memcheck")
    options.add_argument("--filter", action="append", help="as --gtest_filter takes it; with several, in their order")
    options.add_argument("--jobs", type=int, default=8, help="processes at a time")
    options.add_argument("--chunk", type=int, default=1, help="tests a process")
    options.add_argument("--seconds", type=float, default=3600, help="for all of it")
    asked = options.parse_args()

    if not finds_mistakes(asked.program, asked.tool):
        sys.exit(f"{asked.tool} does not find the mistake of sanitizer_test.cu")
    names = tests_of(asked.program, asked.filter or ["*"])
    side_by_side, alone = ([n for n in names if bool(ALONE.search(n)) == is_alone] for is_alone in (False, True))
    chunks = [side_by_side[i:i + asked.chunk] for i in range(0, len(side_by_side), asked.chunk)]
    begin = time.monotonic()
    clean, wrong = 0, []

    def work(chunk):
        nonlocal clean
        own = time.monotonic()
        passed, trouble = sanitized(asked.program, asked.tool, chunk, begin + asked.seconds)
        clean += len(passed)
        if trouble:
            wrong.append((chunk, trouble))
        now = time.monotonic()
        print(f"{now - begin:6.1f} s  {clean}/{len(names)}  {now - own:5.1f} s  {chunk[0]}"
              f"{' and next' if len(chunk) > 1 else ''}: {trouble.splitlines()[0] if trouble else 'clean'}", flush=True)

    with ThreadPoolExecutor(asked.jobs) as pool:
        list(pool.map(work, chunks))
    for name in alone:
        work([name])
    for chunk, trouble in wrong:
        print("\n" + "\n".join(chunk) + "\n" + trouble)
    print(f"\n{asked.tool}: {clean} of {len(names)} tests clean")
    return 0 if names and clean == len(names) else 1


if __name__ == "__main__":
    sys.exit(main())
