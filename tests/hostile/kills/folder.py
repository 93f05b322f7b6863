"""Reads what a command left on disk, as an outsider: nothing here uses ticopd."""
import csv
import io
import json
import os

FILES = {"metrics.csv", "run.json", "final.npy", "checkpoint.safetensors"}


class Violation(Exception):
    """A promise that was not kept."""


def require(kept, what):
    if not kept:
        raise Violation(what)


def read(*path):
    """The bytes of a file; None if it is not there."""
    try:
        with open(os.path.join(*path), "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None


def files_below(folder):
    return sorted(os.path.relpath(os.path.join(at, name), folder)
                  for at, _, names in os.walk(folder) for name in names)


def unfinished(folder):
    """Files that were being written: they have no final name yet."""
    return [file for file in files_below(folder)
            if file.endswith(".tmp") or "/.ticopd." in "/" + file]


def checkpoint_rounds(data, file):
    """The round of a checkpoint, which must be complete, and the last round that was logged then."""
    require(len(data) >= 8, f"{file}: a checkpoint of {len(data)} bytes")
    length = int.from_bytes(data[:8], "little")
    try:
        header = json.loads(data[8:8 + length])
        ends = [value["data_offsets"][1] for key, value in header.items() if key != "__metadata__"]
        notes = header["__metadata__"]
        rounds = int(notes["round"]), int(notes.get("logged", -1))
    except (ValueError, KeyError, TypeError) as error:
        raise Violation(f"{file}: its header does not parse: {error}") from None
    require(8 + length + max(ends) == len(data), f"{file}: is cut off")
    return rounds


def without(rows, forgotten):
    """A table without the cells of these columns: times differ from life to life."""
    keep = [i for i, name in enumerate(rows[0] if rows else []) if not forgotten(name)]
    return [[row[i] for i in keep] for row in rows]


def table(data, file):
    require(data.endswith(b"\n"), f"{file}: its last line is cut off")
    rows = list(csv.reader(io.StringIO(data.decode())))
    require(all(len(row) == len(rows[0]) for row in rows), f"{file}: a row has missing cells")
    return rows


class RunState:
    """A run folder at one moment: everything under its final name is complete, or it is a violation."""

    def __init__(self, folder):
        self.folder = folder
        at = lambda name: os.path.join(folder, name)
        data = read(at("checkpoint.safetensors"))
        self.round, self.logged = (
            (-1, -1) if data is None else checkpoint_rounds(data, at("checkpoint.safetensors")))
        self.checkpoint_bytes = 0 if data is None else len(data)
        data = read(at("metrics.csv"))
        self.lines = [] if data is None else data.splitlines(keepends=True)
        self.rows = [] if data is None else table(data, at("metrics.csv"))
        self.final = read(at("final.npy"))
        data = read(at("run.json"))
        try:
            self.summary = None if data is None else json.loads(data)
        except ValueError as error:
            raise Violation(f"{at('run.json')}: does not parse: {error}") from None
        self.status = None if self.summary is None else self.summary.get("status", "none")

    def committed_lines(self):
        """The rows of metrics.csv that the checkpoint counts as made."""
        return [line for line, row in zip(self.lines, self.rows)
                if row[0] != "iteration" and int(row[0]) <= self.logged]

    def parts(self):
        """The rounds at which a life began that saved more than it found."""
        parts = self.summary.get("transport", {}).get("parts", [])
        return [(p["from_round"], p["to_round"]) for p in parts if p["from_round"] < p["to_round"]]


def untimed(rows):
    times = {"seconds", "seconds_mid", "seconds_low", "seconds_high"}
    return without(rows, lambda name: name in times or name.endswith("_seconds"))


def require_same_so_far(state, whole):
    """A run at any moment: its rows are those of the undisturbed run, and it never lies."""
    where = state.folder
    if state.rows:
        require(untimed(state.rows) == untimed(whole.rows)[:len(state.rows)],
                f"{where}/metrics.csv: a row differs from the undisturbed run")
    require(state.final is None or state.final == whole.final,
            f"{where}/final.npy: differs from the undisturbed run")
    require(state.status in (None, "running", "interrupted", whole.status),
            f"{where}/run.json: status {state.status}")
    if state.status == whole.status:
        require_same_end(state, whole)


def require_same_end(state, whole):
    where = state.folder
    require(state.summary is not None, f"{where}/run.json: is missing")
    for key in ("status", "digest", "ledger", "iterations", "last", "inputs", "reason"):
        require(state.summary.get(key) == whole.summary.get(key),
                f"{where}/run.json: {key} differs from the undisturbed run")
    require(untimed(state.rows) == untimed(whole.rows),
            f"{where}/metrics.csv: differs from the undisturbed run")
    require(state.final == whole.final, f"{where}/final.npy: differs from the undisturbed run")
    require(whole.status != "finished" or state.round == whole.round,
            f"{where}: the last checkpoint is of round {state.round}, not {whole.round}")
