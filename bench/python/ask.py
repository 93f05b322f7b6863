"""The protocol of bench/ask.hpp for programs in Python: a line about themselves, an answer for each line."""
import json
import sys
import time


def say(line):
    print(json.dumps(line), flush=True)


def answer(actions):
    for word in sys.stdin:
        begin = time.perf_counter()
        actions[word.strip()]()
        say({"ms": 1000 * (time.perf_counter() - begin)})
