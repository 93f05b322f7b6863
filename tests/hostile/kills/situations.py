"""What is killed: small problems for each command, between them most methods, codecs and graphs.

A run takes about a quarter of a second of computing. Checkpoints are frequent, so that kills hit them.
"""
import dataclasses

KINDS = ("run", "compare", "tune", "mpi")

SYNTHETIC = """
[problem]
objective = "softmax"
data = "synthetic"
samples = 240
features = 6
classes = 4
partition = "iid"
"""

DIGITS = """
[problem]
objective = "mlp"
hidden = [4]
data = "digits"
samples = 60
partition = "iid"
"""


def often(rounds, every):
    """The top of a file: so many rounds, a checkpoint every so many, and rows on and between them."""
    return f"""iterations = {rounds}
[log]
every = {every // 2 + 7}
[checkpoint]
every = {every}
[network]
deadline_s = 10
"""


TICOPD = '[algorithm]\nalpha = 0.3\ntheta = 0.3\neta = 0.03\n'

RUNS = {
    "ticopd, 8 bits, mini-batches": often(2400, 200) + SYNTHETIC + "batch = 8\n"
    '[graph]\nagents = 5\n[codec]\nkind = "qsgd"\n' + TICOPD,
    "ticopd, links that drop, noise, double": often(1600, 130)
    .replace("deadline_s = 10", 'deadline_s = 10\nnoise = "uniform"\nnoise_scale = 1e-4')
    .replace("iterations", 'precision = "double"\niterations', 1) + SYNTHETIC +
    '[graph]\nkind = "complete"\nagents = 4\ndrop = 0.3\n[codec]\nkind = "qsgd"\nbits = 4\n' + TICOPD,
    "choco_sgd, top_k then qsgd, entropy": often(160, 14) + DIGITS +
    '[graph]\nkind = "path"\nagents = 4\n'
    '[codec]\nkind = "top_k"\nfraction = 0.1\nthen = "qsgd"\ncoding = "entropy"\n'
    '[algorithm]\nname = "choco_sgd"\neta = 0.2\ngamma = 0.1\n',
    "beer, rand_k, a message in flight": often(1500, 120) + SYNTHETIC +
    '[graph]\nkind = "star"\nagents = 5\n[codec]\nkind = "rand_k"\nfraction = 0.3\n'
    '[algorithm]\nname = "beer"\neta = 0.05\ngamma = 0.1\n',
    "lead, unbiased qsgd, double": often(1800, 160)
    .replace("iterations", 'precision = "double"\niterations', 1) + SYNTHETIC +
    '[graph]\nkind = "torus"\nagents = 6\n[codec]\nkind = "qsgd"\nscaled = false\n'
    '[algorithm]\nname = "lead"\neta = 0.1\n',
    "docom, natural, random graph": often(1300, 110) + SYNTHETIC + "batch = 4\n"
    '[graph]\nkind = "erdos_renyi"\nagents = 6\n[codec]\nkind = "natural"\n'
    '[algorithm]\nname = "docom"\neta = 0.05\ngamma = 0.1\nbeta = 0.5\n',
    "sparq_sgd, sign, silent rounds": often(2600, 220) + SYNTHETIC +
    '[graph]\nagents = 4\n[codec]\nkind = "sign"\n'
    '[algorithm]\nname = "sparq_sgd"\neta = 0.05\ngamma = 0.1\nthreshold = 2.0\nperiod = 3\n',
    "cp_sgd over three ranks that are threads": often(900, 80)
    .replace("deadline_s = 10", 'deadline_s = 10\ntransport = "threads"\nranks = 3') + SYNTHETIC +
    '[graph]\nagents = 6\n[codec]\nkind = "infinity"\nbits = 6\n'
    '[algorithm]\nname = "cp_sgd"\neta = 0.1\ngamma = 1.0\nomega = 0.1\n',
    "local_sgd, uncompressed": often(3000, 250) + SYNTHETIC + "batch = 8\n"
    '[graph]\nkind = "exponential"\nagents = 6\n'
    '[algorithm]\nname = "local_sgd"\neta = 0.05\n',
    "least squares, adaptive codec": often(2000, 170) +
    SYNTHETIC.replace("softmax", "least_squares").replace("classes = 4\n", "") +
    '[graph]\nagents = 4\n[codec]\nkind = "adaptive"\ncoding = "entropy"\n' + TICOPD,
}

SIDE_BY_SIDE = "seeds and sweeps, three runs at once"

COMPARISONS = {
    "three methods, and one that diverges": often(500, 90) + SYNTHETIC +
    '[graph]\nagents = 4\n[codec]\nkind = "qsgd"\n' + TICOPD + """
[[run]]
label = "TiCoPD, 8 bits"
[[run]]
label = "DGD with steps that are too long"
algorithm = { name = "dgd_quantized", eta = 9e9 }
[[run]]
label = "CHOCO-SGD"
algorithm = { name = "choco_sgd", eta = 0.1, gamma = 0.2 }
[[run]]
label = "BEER, 4 bits"
codec.bits = 4
algorithm = { name = "beer", eta = 0.05, gamma = 0.2 }
""",
    "two codecs on digits": often(60, 9) + DIGITS + '[graph]\nagents = 4\n' + TICOPD + """
[report]
targets = { loss_max = 1.0 }
[[run]]
label = "top_k"
codec = { kind = "top_k", fraction = 0.2 }
[[run]]
label = "uncompressed"
""",
    SIDE_BY_SIDE: "seeds = 3\n" + often(400, 60) + SYNTHETIC + "batch = 8\nseed = 5\n"
    '[graph]\nkind = "erdos_renyi"\nagents = 5\n[codec]\nkind = "qsgd"\n' + TICOPD + """
[sweep]
"codec.bits" = [1, 3]
[report]
targets = { loss_max = 0.5 }
band = "deviation"
[[run]]
label = "TiCoPD"
[[run]]
label = "CHOCO-SGD"
algorithm = { name = "choco_sgd", eta = 0.1, gamma = 0.2 }
[[run]]
label = "DGD, steps swept until they diverge"
algorithm = { name = "dgd_quantized", eta = 0.1 }
sweep = { "algorithm.eta" = [0.02, 9e9] }
""",
}

SEARCHES = {
    "ticopd, by rounds": (often(64, 5) + SYNTHETIC +
                          '[graph]\nagents = 4\n[codec]\nkind = "qsgd"\n' + TICOPD, ["--runs", "4"]),
    "choco_sgd, by bits": (often(48, 5) + SYNTHETIC + "batch = 8\n"
                           '[graph]\nagents = 5\n[codec]\nkind = "top_k"\nfraction = 0.2\n'
                           'coding = "entropy"\nthen = "qsgd"\n'
                           '[algorithm]\nname = "choco_sgd"\neta = 0.1\ngamma = 0.2\n',
                           ["--runs", "4", "--budget-bits", "6e3"]),
    "two methods in one file": (often(32, 3) + SYNTHETIC + '[graph]\nagents = 4\n' + """
[[run]]
label = "DGD"
algorithm = { name = "dgd", eta = 0.1 }
[[run]]
label = "NIDS"
algorithm = { name = "nids", alpha = 0.1 }
""", ["--runs", "3"]),
}

CLUSTERS = {
    "ticopd, 8 bits": RUNS["ticopd, 8 bits, mini-batches"].replace("agents = 5", "agents = 6"),
    "ticopd, links that drop": RUNS["ticopd, links that drop, noise, double"],
    "beer, a message in flight": RUNS["beer, rand_k, a message in flight"],
}

# The files that kills are aimed at. Some are written often, some once.
AIMS = {
    "run": ("checkpoint", "metrics.csv", "run.json", "final.npy"),
    "compare": ("checkpoint", "metrics.csv", "run.json", "final.npy", "compare.json", "summary.csv",
                "groups.csv", "picture", "figure", "report.html"),
    "tune": (".safetensors", "trials.csv", "search.json", "picture", "search.", "tuned.toml"),
    "mpi": ("checkpoint", "metrics.csv", "run.json", "final.npy"),
}


@dataclasses.dataclass(frozen=True)
class Situation:
    kind: str
    name: str
    text: str
    options: tuple = ()

    def command(self, ticopd, out, ranks=0):
        words = ["compare" if self.kind == "compare" else "tune" if self.kind == "tune" else "run",
                 "small.toml", "--out", out, "--quiet", *self.options]
        if ranks:
            return [ticopd, "launch", "-n", str(ranks), "--", *words, "--threads", "1"]
        threads = "3" if self.name == SIDE_BY_SIDE else "2" if self.kind == "tune" else "1"
        return [ticopd, *words, "--threads", threads]


def situations(kind):
    if kind == "tune":
        return [Situation(kind, name, text, tuple(options))
                for name, (text, options) in SEARCHES.items()]
    texts = {"run": RUNS, "compare": COMPARISONS, "mpi": CLUSTERS}[kind]
    return [Situation(kind, name, text) for name, text in texts.items()]
