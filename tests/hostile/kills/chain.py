"""A chain: a command is killed again and again, and must end as if nobody had touched it."""
import collections
import dataclasses
import os
import random
import shutil
import subprocess
import threading
import time

from kills.committed import Committed
from kills.folder import Violation, checkpoint_rounds, read, require, unfinished
from kills.life import Life, Stuck
from kills.situations import AIMS

SIGKILLED, INTERRUPTED = -9, 75
STAGES_TO_HIT = ["created", "written", "created", "written", "closed", "renamed"]


@dataclasses.dataclass
class Moment:
    seconds: float      # after the start
    file: str = ""      # and then, if given, when a file of this name gets to the stage
    stage: str = ""
    then: float = 0     # and so many seconds later
    victim: str = "program"
    number: int = 0     # of the rank

    def __str__(self):
        aim = f", then {self.file} {self.stage}, then {self.then:.4f} s" if self.file else ""
        return f"{self.victim} at {self.seconds:.3f} s{aim}"


@dataclasses.dataclass
class Outcome:
    name: str
    kills: int = 0
    survived: int = 0      # kills after which all that was promised was there, and the next life began
    aimed: int = 0
    seconds: float = 0
    committed: int = 0     # bytes that were committed when kills came, summed over the kills
    lost: int = 0
    hit: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    violation: str = ""
    folder: str = ""


def draw_moment(dice, kind, expected):
    moment = Moment(dice.random() * expected)
    if dice.random() < 0.5:
        moment.file = dice.choice(AIMS[kind])
        moment.stage = dice.choice(STAGES_TO_HIT)
        moment.then = dice.choice([0, 0, dice.random() * 0.001, dice.random() * 0.02])
        if dice.random() < 0.5:
            moment.seconds = 0
    if kind == "mpi":
        moment.victim = dice.choice(["rank", "rank", "ranks", "everything", "mpirun", "launch"])
        moment.number = dice.randrange(12)
    return moment


class Reference:
    """A situation that nobody disturbs: made when the first chain needs it."""

    def __init__(self, situation, folder):
        self.situation, self.folder = situation, folder
        self.seconds = None
        self.lock = threading.Lock()

    def make_once(self, ticopd):
        with self.lock:
            if self.seconds is not None:
                return
            os.makedirs(self.folder)
            write_config(self.situation, self.folder)
            seconds = self._run(self.situation.command(ticopd, "out"))
            if self.situation.kind == "mpi":  # the result is that of one process, the time of three
                seconds = self._run(self.situation.command(ticopd, "three", ranks=3))
            self.seconds = seconds

    def _run(self, words):
        began = time.monotonic()
        environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1",
                           OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
        done = subprocess.run(words, cwd=self.folder, env=environment, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, errors="replace", check=False)
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(words)}: ended with {done.returncode} undisturbed: "
                             f"{done.stderr}")
        return time.monotonic() - began


def write_config(situation, folder):
    with open(os.path.join(folder, "small.toml"), "w") as file:
        file.write(situation.text)


class Chain:
    def __init__(self, ticopd, reference, seed, number, folder):
        self.ticopd, self.reference, self.folder = ticopd, reference, folder
        self.situation = reference.situation
        self.dice = random.Random(f"{seed} {self.situation.kind} {number}")
        self.out = os.path.join(folder, "out")
        self.mark = os.path.basename(os.path.dirname(folder)) + "/" + os.path.basename(folder)
        self.outcome = Outcome(self.situation.name, folder=folder)
        self.at_call, self.seen = None, -1
        self.committed = Committed(self.situation.kind, os.path.join(reference.folder, "out"))

    def run(self, kills, keep=False):
        os.makedirs(self.folder)
        write_config(self.situation, self.folder)
        began = time.monotonic()
        try:
            while self._live(self.outcome.kills < kills):
                pass
            self._require_end()
        except Exception as broken:  # a file that this script cannot read is a violation as well
            known = isinstance(broken, (Violation, Stuck))
            self.outcome.violation = f"{broken if known else repr(broken)}\n  its folder: {self.folder}"
            self._note(f"VIOLATION: {broken}")
        self.outcome.seconds = time.monotonic() - began
        self.outcome.lost = self.committed.lost()
        if not self.outcome.violation and not keep:
            shutil.rmtree(self.folder)
        return self.outcome

    def run_to_call(self, call, number):
        """Killed before its n-th call of this name, and resumed. False if it makes fewer."""
        self.at_call = call, number
        return self.run(1).kills > 0

    def _note(self, text):
        with open(os.path.join(self.folder, "chain.log"), "a") as file:
            file.write(text + "\n")

    def _words(self):
        ranks = self.dice.choice([3, 3, 3, 2, 4]) if self.situation.kind == "mpi" else 0
        words = self.situation.command(self.ticopd, "out", ranks)
        return words + ["--resume"] if self.outcome.kills else words

    def _live(self, doomed):
        """One life. False if it was the last."""
        words = self._words()
        left = self.reference.seconds * (1 - 0.85 * self.committed.share())
        moment = draw_moment(self.dice, self.situation.kind, left) if doomed else None
        came = False
        if doomed and self.at_call:
            words, moment = before_call(words, *self.at_call), None
        life = Life(words, self.folder, self.ticopd, self.mark)
        try:
            if moment:
                self.seen = -1
                came = life.kill_at(moment, self._look_at_checkpoint)
        finally:
            code = life.end()
        self._note(f"{' '.join(words)}: {moment or ''}{'' if came or not moment else ' (too late)'}"
                   f": {code}")
        if code == 0:
            return False
        by_kill = (SIGKILLED, INTERRUPTED) if self.situation.kind == "mpi" else (SIGKILLED,)
        require(doomed and code in by_kill, f"{' '.join(words)}: ended with {code}: {life.said()}")
        self._after_kill(moment)
        return True

    def _look_at_checkpoint(self):
        file = os.path.join(self.out, "checkpoint.safetensors")
        data = read(file)
        if data is not None:
            self.seen, _ = checkpoint_rounds(data, file)

    def _after_kill(self, moment):
        o = self.outcome
        o.kills += 1
        o.aimed += self.at_call is not None or bool(moment.file)
        left = unfinished(self.out) if os.path.isdir(self.out) else []
        o.hit[kind_of_write(left)] += 1
        self.committed.look(self.out)
        if self.seen >= 0:
            found, _ = checkpoint_rounds(read(self.out, "checkpoint.safetensors") or b"", self.out)
            require(found >= self.seen,
                    f"{self.out}: round {self.seen} was saved before the kill, {found} after it")
        self._note(f"  left {left}; {100 * self.committed.share():.0f} % are committed")
        o.committed += self.committed.bytes()
        o.survived += 1

    def _require_end(self):
        self.committed.require_end(self.out)
        if self.situation.kind in ("run", "mpi"):
            done = subprocess.run([self.ticopd, "audit", "out"], cwd=self.folder,
                                  capture_output=True, text=True, check=False)
            require(done.returncode == 0, f"audit {self.out}: {done.returncode}: {done.stderr}")


# All by which a program changes what is on the disk.
FILE_CALLS = ["mkdir", "open", "openat", "write", "pwrite64", "fsync", "rename", "unlink", "rmdir"]


def before_call(words, call, number):
    """The command under strace, which kills it before its n-th call of this name."""
    return ["strace", "-qq", "-o", "/dev/null", "-e", f"trace={call}",
            "-e", f"inject={call}:signal=KILL:when={number}", *words]


def kind_of_write(left):
    """What the kill interrupted, told by the temporary files it left."""
    for name in ("checkpoint", "metrics.csv", "run.json", "final.npy", "trials.csv", "search.json",
                 "compare.json", "summary.csv", "tuned.toml", "report.html", ".safetensors",
                 "picture", "/.ticopd."):
        if any(name in "/" + file for file in left):
            return {"/.ticopd.": "figure", "picture": "figure",
                    ".safetensors": "checkpoint"}.get(name, name)
    return "between writes"
