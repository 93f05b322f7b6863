"""Networks of real sites for the tests beside this file: making, starting, killing and judging them."""
import json
import os
import random
import signal
import socket
import subprocess
import sys

CONFIG = """
name = "sites"
iterations = {rounds}
precision = "{precision}"
[problem]
objective = "softmax"
data = "synthetic"
samples = 240
features = {features}
classes = 3
partition = "iid"
[graph]
kind = "{graph}"
agents = 6
[codec]
kind = "{codec}"
[algorithm]
{algorithm}
[checkpoint]
every = {every}
[log]
every = 20
"""
TICOPD = 'name = "ticopd"\nalpha = 0.1\ntheta = 1\neta = 0.2'
BEER = 'name = "beer"\neta = 0.1\ngamma = 0.3'
CHOCO = 'name = "choco_sgd"\neta = 0.1\ngamma = 0.3'
KINDS = [
    dict(algorithm=TICOPD, codec="qsgd", graph="ring", precision="float", features=8),
    dict(algorithm=BEER, codec="qsgd", graph="complete", precision="double", features=8),
    dict(algorithm=CHOCO, codec="sign", graph="ring", precision="float", features=8),
]


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def skip_without_zmq(program):
    if not os.path.exists(os.path.join(os.path.dirname(os.path.abspath(program)),
                                       "libticopd_zmq.so")):
        skip("this build has no ZeroMQ")


def free_ports(count):
    """The first of so many ports in a row that nobody has."""
    while True:
        first = random.randrange(15000, 32000)  # connections take theirs from 32768 on
        try:
            for port in range(first, first + count):
                with socket.socket() as s:
                    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                    s.bind(("127.0.0.1", port))
            return first
        except OSError:
            pass


def peak_memory(pid):
    """In KiB, or 0 if the process has gone."""
    try:
        with open(f"/proc/{pid}/status") as f:
            return next((int(line.split()[1]) for line in f if line.startswith("VmHWM")), 0)
    except OSError:
        return 0


class Network:
    """Sites of one network in a folder: run.toml, net/, and for each site run-N and log-N."""

    def __init__(self, program, folder, sites, config):
        self.program, self.folder, self.sites = program, folder, sites
        self.processes, self.ended, self.memory = {}, set(), {}
        self.port = free_ports(sites)
        with open(f"{folder}/run.toml", "w") as f:
            f.write(config)
        made = self.ticopd("network", "init", "run.toml", "--sites", str(sites), "--out", "net",
                           "--port", str(self.port))
        reference = self.ticopd("run", "run.toml", "--out", "ref", "--quiet", "--json")
        if made.returncode or reference.returncode:
            raise SystemExit(made.stderr + reference.stderr)
        self.digest = json.loads(reference.stdout)["digest"]

    def ticopd(self, *words):
        return subprocess.run([self.program, *words], capture_output=True, text=True,
                              cwd=self.folder)

    def place(self, addresses):
        """Gives the sites other addresses in the roster, and signs it anew."""
        with open(f"{self.folder}/net/roster.toml") as f:
            text = f.read()
        for s, address in enumerate(addresses):
            text = text.replace(f'"127.0.0.1:{self.port + s}"', f'"{address}"')
        with open(f"{self.folder}/net/roster.toml", "w") as f:
            f.write(text)
        signed = self.ticopd("network", "sign", "net/roster.toml", "--key", "net/operator.key")
        if signed.returncode:
            raise SystemExit(signed.stderr)

    def command(self, s):
        return [self.program, "network", "join", "--roster", f"{self.folder}/net/roster.toml",
                "--as", f"site-{s}", "--key", f"{self.folder}/net/site-{s}.key",
                "--out", f"{self.folder}/run-{s}", "--threads", "1", "--json"]

    def start(self, s, *more):
        with open(f"{self.folder}/log-{s}", "a") as log:
            self.processes[s] = subprocess.Popen(self.command(s) + list(more), stdout=log,
                                                 stderr=log)

    def start_all(self):
        for s in range(self.sites):
            if s not in self.processes and s not in self.ended:
                self.start(s)

    def kill(self, s):
        """True if a process was there to be killed."""
        process = self.processes.pop(s, None)
        if process is None:
            return False
        process.send_signal(signal.SIGKILL)
        return process.wait() == -signal.SIGKILL

    def log(self, s):
        with open(f"{self.folder}/log-{s}") as log:
            return log.read()

    def look(self):
        """Takes note of who has ended; what went wrong, or nothing."""
        for s, process in list(self.processes.items()):
            self.memory[s] = max(self.memory.get(s, 0), peak_memory(process.pid))
            code = process.poll()
            if code is None:
                continue
            del self.processes[s]
            if code == 0:
                self.ended.add(s)
            elif code == 75:  # finished, but not sure that nobody needs it: all are started again
                self.ended.clear()
            else:
                return f"site-{s} ended with {code}: {self.log(s)[-400:]}"
        return None

    def status(self):
        """What `network status` says, by site; empty for a site that has said nothing yet."""
        folders = [f"run-{s}" for s in range(self.sites)
                   if os.path.exists(f"{self.folder}/run-{s}/status.json")]
        said = self.ticopd("network", "status", *folders, "--json") if folders else None
        sites = json.loads(said.stdout) if said and said.returncode == 0 else []
        by_name = {site["name"]: site for site in sites}
        return [by_name.get(f"site-{s}", {}) for s in range(self.sites)]

    def round_of(self, s):
        return self.status()[s].get("round", 0)

    def done(self):
        return len(self.ended) == self.sites

    def stop(self):
        for s in list(self.processes):
            self.kill(s)

    def judged(self):
        """What is wrong with the run that has ended, or nothing."""
        together = self.ticopd("network", "collect", *[f"run-{s}" for s in range(self.sites)],
                               "--out", "all", "--json")
        if together.returncode:
            return together.stderr
        if json.loads(together.stdout)["digest"] != self.digest:
            return "another digest than `ticopd run`"
        return None
