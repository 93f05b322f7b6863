"""The table of figures: the goal, the measured value, and whether the goal is met."""
import datetime
import os
import platform
from dataclasses import dataclass
from pathlib import Path

BEGIN, END = "<!-- bench:begin -->", "<!-- bench:end -->"


@dataclass
class Row:
    what: str
    wanted: str  # "": for information
    measured: str
    verdict: str
    how: str = ""


def judged(what, wanted, enough, measured, how=""):
    return Row(what, wanted, measured, "met" if enough else "**not met**", how)


def for_information(what, measured, how=""):
    return Row(what, "", measured, "", how)


def not_here(what, wanted, why):
    return Row(what, wanted, "", "not here", why)


def as_markdown(rows):
    lines = ["| what | at least | measured | | how |", "|---|---|---|---|---|"]
    lines += [f"| {r.what} | {r.wanted} | {r.measured} | {r.verdict} | {r.how} |" for r in rows]
    return "\n".join(lines)


def machine():
    """The name of the processor, the number of its cores, and the date."""
    name = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                name = line.split(":", 1)[1].strip()
                break
    return f"{name}, {cores()} cores, {datetime.date.today().isoformat()}"


def cores():
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def write_between_marks(document, text):
    before, rest = document.read_text().split(BEGIN)
    after = rest.split(END)[1]
    document.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}")
