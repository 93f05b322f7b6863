"""One life of a command: it is started, killed at a moment, and waited for with all its children."""
import os
import signal
import subprocess
import time

from kills.watch import Watch, wait_for_event

WATCHDOG = 180  # seconds; nothing here takes that long on any machine


class Stuck(Exception):
    """A process of ours that should have ended goes on."""


def children(pid):
    try:
        tasks = os.listdir(f"/proc/{pid}/task")
        found = []
        for task in tasks:
            with open(f"/proc/{pid}/task/{task}/children") as file:
                found += [int(word) for word in file.read().split()]
        return found
    except OSError:
        return []


def descendants(pid):
    """The processes below this one, parents first."""
    found = children(pid)
    for child in found:
        found += children(child)  # the list grows while it is walked
    return found


def is_rank(pid, ticopd):
    try:
        if os.readlink(f"/proc/{pid}/exe") != ticopd:
            return False
        with open(f"/proc/{pid}/environ", "rb") as file:
            return b"OMPI_COMM_WORLD_RANK=" in file.read()
    except OSError:
        return False


def marked(mark):
    """All processes that were started with this mark in their environment."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/environ", "rb") as file:
                    if mark in file.read().split(b"\0"):
                        found.append(int(name))
            except OSError:
                pass
    return found


def kill(pids):
    """How many of them were still there to be killed."""
    hit = 0
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
            hit += 1
        except ProcessLookupError:
            pass
    return hit


class Life:
    """Runs `words` in the folder. `kill_at` kills it; without that it ends by itself."""

    def __init__(self, words, folder, ticopd, mark):
        self.words, self.folder, self.ticopd = words, folder, ticopd
        self.mark = b"TICOPD_KILL_CHAIN=" + mark.encode()
        scratch = os.path.join(folder, "t")
        os.makedirs(scratch, exist_ok=True)
        environment = dict(os.environ, TICOPD_KILL_CHAIN=mark, TMPDIR=scratch,
                           OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                           # A killed rank cannot remove its shared memory; here the chain does.
                           OMPI_MCA_btl_vader_backing_directory=scratch)
        # Before the start: no event must be missed.
        self.watch = Watch(folder)
        self.watch.forget_early()
        self.output = open(os.path.join(folder, "output.txt"), "wb")
        self.began = time.monotonic()
        self.process = subprocess.Popen(words, cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                                        stdout=self.output, stderr=subprocess.STDOUT,
                                        start_new_session=True)

    def ended(self):
        return self.process.poll() is not None

    def kill_at(self, moment, before):
        """True if the kill came before the end. `before` is called just before it."""
        if moment.seconds > 0:
            try:
                self.process.wait(moment.seconds)
                return False
            except subprocess.TimeoutExpired:
                pass
        if moment.file:
            if not wait_for_event(self.watch, moment.file, moment.stage, self.ended, WATCHDOG):
                return False
            if moment.then > 0:
                time.sleep(moment.then)
        else:
            before()
        if moment.victim == "program":
            return not self.ended() and kill([self.process.pid]) > 0
        return self.kill_of_ranks(moment.victim, moment.number)

    def kill_of_ranks(self, victim, number):
        """Kills launch, mpirun, a rank, all ranks or everything; waits for ranks to be there."""
        while not self.ended():
            below = descendants(self.process.pid)
            ranks = [pid for pid in below if is_rank(pid, self.ticopd)]
            if victim == "launch":
                return kill([self.process.pid]) > 0
            if victim == "everything":
                return kill([self.process.pid, *below]) > 0
            if victim == "mpirun" and below:
                return kill(below[:1]) > 0
            if victim == "ranks" and ranks:
                return kill(ranks) > 0
            if victim == "rank" and len(ranks) > 0:
                return kill([ranks[number % len(ranks)]]) > 0
            time.sleep(0.001)
        return False

    def end(self):
        """Waits until the program and all that it started have ended. Its exit code."""
        try:
            try:
                code = self.process.wait(WATCHDOG)
            except subprocess.TimeoutExpired:
                raise Stuck(f"{' '.join(self.words)}: still at work after {WATCHDOG} s") from None
            until = time.monotonic() + WATCHDOG
            while left := marked(self.mark):
                if time.monotonic() > until:
                    raise Stuck(f"processes {left} outlived the program that started them")
                time.sleep(0.002)
            self.seconds = time.monotonic() - self.began
            return code
        finally:
            kill(marked(self.mark))
            self.watch.close()
            self.output.close()

    def said(self):
        with open(self.output.name, errors="replace") as file:
            return file.read()
