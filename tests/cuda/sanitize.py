#!/usr/bin/env python3
"""The CUDA tests under compute-sanitizer, many processes at a time.

    python3 tests/cuda/sanitize.py TEST_CUDA [--tool racecheck] [--filter GTEST_FILTER ...] [--jobs 8]

The tools slow the host as much as the device, so processes side by side finish earlier than one after the other.
First the tool must find the mistake that sanitizer_test.cu made for it. After that a test counts only when it passed
and its process ended with the tool's summary: what --seconds cut off is listed as not finished, and fails.

memcheck watches every kernel, those of cuBLAS too, which work on pointers from us. racecheck watches ours: with the
others it takes minutes a test and gigabytes of memory. Left out, those for int8 products fail in it with an illegal
access that is there at no other time (CUDA 13.0), so our own kernel is told to do these. And long tests are told to
be brief: the same kernels, fewer times. Both lose track where two threads launch at once ("failure to track a kernel
launch", "Error in printing record"), so the threads of such tests take turns.
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
IN_TURN = {"TICOPD_TEST_IN_TURN": "1"}  # threads of a test: see tests/cuda/device.hpp
ENVIRONMENT = {"memcheck": IN_TURN,
               "racecheck": {**IN_TURN, "TICOPD_CUDA_PRODUCTS": "own", "TICOPD_TEST_BRIEFLY": "1"}}
ALONE = re.compile("Estimated|Foretold")  # these measure the free memory of the device
NOTHING_TO_WATCH = "terminated before first instrumented API call"  # the test asks nothing of the device


def tests_of(program, filters):
    names, suite = {}, ""  # a dict keeps the order of the filters and has no name twice
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
            os.killpg(process.pid, signal.SIGKILL)  # the program too, which would go on without the tool
            raise


def finds_mistakes(program, tool):
    mistake = f"DISABLED_Sanitizer.FindsTheMistakeOf_{tool}"
    said, _ = run(program, tool, [mistake], 300, "--gtest_also_run_disabled_tests")
    found = re.search(SUMMARY[tool], said)
    return found is not None and found[1] != "0"


def sanitized(program, tool, names, end):
    """(names that passed under the tool and without a finding, what is wrong with the others, if any are)"""
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
