"""What a chain has on disk, life after life: nothing that was committed may go."""
import json
import os

from kills.folder import (FILES, RunState, Violation, checkpoint_rounds, files_below, read, require,
                          require_same_end, require_same_so_far, table, unfinished, untimed)


class CommittedRun:
    """A run folder: its checkpoint never falls back, and the rows up to it and the end never change."""

    def __init__(self, whole):
        self.whole = whole
        self.round, self.size, self.lines, self.end = -1, 0, [], {}
        self.began_at = set()  # rounds at which a life found the run
        self.lost = 0          # bytes

    def look(self, folder):
        state = RunState(folder)
        require_same_so_far(state, self.whole)
        if state.round < self.round:
            self.lost += self.size
        gone = [line for line in self.lines if line not in state.lines]
        self.lost += sum(map(len, gone))
        changed = [name for name, data in self.end.items() if read(folder, name) != data]
        self.lost += sum(len(self.end[name]) for name in changed)
        require(state.round >= self.round,
                f"{folder}: the checkpoint of round {self.round} is gone; there is {state.round}")
        require(not gone, f"{folder}/metrics.csv: committed rows are gone: {gone[:2]}")
        require(not changed, f"{folder}: {changed} changed after the run had ended")
        self.round, self.size = state.round, state.checkpoint_bytes
        self.lines = state.committed_lines()
        if state.status == self.whole.status:
            self.end = {name: read(folder, name) for name in FILES if read(folder, name) is not None}
        self.began_at.add(max(0, state.round))
        return state

    def bytes(self):
        return self.size + sum(map(len, self.lines)) + sum(map(len, self.end.values()))

    def share(self):
        return max(0, self.round) / max(1, self.whole.round) if not self.end else 1

    def require_end(self, folder):
        state = RunState(folder)
        require_same_end(state, self.whole)
        if state.status != "finished":
            return
        # Each life went on from the very checkpoint that the one before it had left.
        begins = sorted({0, state.round} | self.began_at)
        expected = list(zip(begins, begins[1:]))
        require(state.parts() == expected,
                f"{folder}/run.json: its parts are {state.parts()}, and the lives were {expected}")


class CommittedSearch:
    """The folder of a search: lines of trials.csv never go."""

    def __init__(self, whole):
        self.whole = whole  # a folder
        self.lines, self.lost = [], 0

    def look(self, folder):
        for file in files_below(folder):
            if file.endswith(".safetensors"):
                path = os.path.join(folder, file)
                checkpoint_rounds(read(path), path)
        data = read(folder, "trials.csv")
        if data is not None:
            table(data, folder + "/trials.csv")
        lines = [] if data is None else data.splitlines(keepends=True)
        made = (read(self.whole, "trials.csv") or b"").splitlines(keepends=True)
        require(all(line in made for line in lines),
                f"{folder}/trials.csv: a trial differs from the undisturbed search")
        gone = [line for line in self.lines if line not in lines]
        self.lost += sum(map(len, gone))
        require(not gone, f"{folder}/trials.csv: committed trials are gone: {gone[:2]}")
        self.lines = lines

    def bytes(self):
        return sum(map(len, self.lines))

    def share(self):
        made = (read(self.whole, "trials.csv") or b"").splitlines()
        return len(self.lines) / max(1, len(made))

    def require_end(self, folder):
        require(read(folder, "trials.csv") == read(self.whole, "trials.csv"),
                f"{folder}/trials.csv: differs from the undisturbed search")


class Committed:
    """All that a command of this kind writes, beside the folder of the undisturbed command."""

    # Files that name neither times nor the command line: equal byte for byte, whenever they are there.
    EXACT = {"tuned.toml", "figure.svg", "figure.png", "search.svg", "search.png"}

    def __init__(self, kind, whole):
        self.kind, self.whole = kind, whole
        holds = {"run": "run.json", "mpi": "run.json", "compare": "run.json", "tune": "trials.csv"}
        make = CommittedSearch if kind == "tune" else lambda folder: CommittedRun(RunState(folder))
        self.parts = {os.path.dirname(file): make(os.path.join(whole, os.path.dirname(file)))
                      for file in files_below(whole) if os.path.basename(file) == holds[kind]}

    def look(self, out):
        """After a kill. Violation if a promise was broken."""
        for name, part in self.parts.items():
            if os.path.isdir(os.path.join(out, name)):
                part.look(os.path.normpath(os.path.join(out, name)))
            elif part.bytes() > 0:
                part.lost += part.bytes()
                raise Violation(f"{out}/{name}: the folder is gone")
        self._require_exact(out)

    def _require_exact(self, out):
        for file in files_below(out):
            if os.path.basename(file) in self.EXACT and "/.ticopd." not in "/" + file:
                require(read(out, file) == read(self.whole, file),
                        f"{out}/{file}: differs from that of the undisturbed command")
            if os.path.basename(file) == "search.json":  # the answer is written at the end
                begun, whole = (json.loads(read(place, file)) for place in (out, self.whole))
                require(begun == whole or
                        begun == {k: v for k, v in whole.items() if k != "answer"},
                        f"{out}/{file}: differs from that of the undisturbed command")
        for file in ("summary.csv", "groups.csv"):
            data = read(out, file)
            if data is not None:
                whole = table(read(self.whole, file), file)
                require(untimed(table(data, f"{out}/{file}")) == untimed(whole),
                        f"{out}/{file}: differs from that of the undisturbed command")

    def require_end(self, out):
        """After the command ended by itself."""
        self.look(out)
        left = unfinished(out)
        require(not left, f"{out}: temporary files are left: {left}")
        require(files_below(out) == files_below(self.whole),
                f"{out}: has other files than the undisturbed command: "
                f"{set(files_below(out)) ^ set(files_below(self.whole))}")
        for name, part in self.parts.items():
            part.require_end(os.path.normpath(os.path.join(out, name)))

    def bytes(self):
        return sum(part.bytes() for part in self.parts.values())

    def lost(self):
        return sum(part.lost for part in self.parts.values())

    def share(self):
        return sum(part.share() for part in self.parts.values()) / len(self.parts)
