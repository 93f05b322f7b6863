"""Wrong arguments: each ends in an error of the right type, whose message says what is wrong.

Errors of the objective's data and of PyTorch are in test_torch.py, and of answers in
test_interrupts.py.
"""

import math
import threading
import warnings

import numpy as np
import pytest
import ticopd
from conftest import AllRows, Distance, LeastSquares, options

ConfigError = ticopd.ConfigError


def run(objective=None, **changed):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ticopd.Run(Distance() if objective is None else objective, **options(**changed))


def stepped(objective, **changed):
    made = run(objective, **changed)
    made.step(3)


class Returns(Distance):
    """Row by row; returns what it is told to."""

    def __init__(self, what):
        super().__init__()
        self.what = what

    def value_and_gradient(self, agent, x, g):
        g[:] = x - agent
        return self.what


class ReturnsRows(AllRows):
    def __init__(self, what):
        super().__init__(agents=4)
        self.what = what

    def gradients(self, first, X, G):
        super().gradients(first, X, G)
        return self.what


class Writes(Distance):
    """Assigns something to g."""

    def __init__(self, what):
        super().__init__()
        self.what = what

    def value_and_gradient(self, agent, x, g):
        g[:] = self.what
        return 0.0


class NoMethods(ticopd.Objective):
    dimension = 3


class NoDimension:
    def value_and_gradient(self, agent, x, g):
        return 0.0


def with_attribute(**attributes):
    objective = Distance()
    for name, value in attributes.items():
        setattr(objective, name, value)
    return objective


def tico(**steps):
    return ticopd.TiCoPD(**{**dict(alpha=0.1, theta=1, eta=0.2), **steps})


qsgd = ticopd.Qsgd(bits=4)
v = np.ones(9, np.float32)
identity = dict(seed=1, round=1, agent=0)

# name: (call, type, words of the message)
OBJECTIVES = {
    "a class": (lambda: run(Distance), TypeError, "Distance is a class"),
    "a number": (lambda: run(3), TypeError, "value_and_gradient"),
    "no methods": (lambda: run(NoMethods()), TypeError, "gradients"),
    "no dimension": (lambda: run(NoDimension()), TypeError, "dimension"),
    "dimension 0": (lambda: run(with_attribute(dimension=0)), ConfigError, "dimension = 0"),
    "dimension -3": (lambda: run(with_attribute(dimension=-3)), ConfigError, "dimension = -3"),
    "dimension 2.5": (lambda: run(with_attribute(dimension=2.5)), TypeError, "2.5"),
    "dimension 2^70": (lambda: run(with_attribute(dimension=2**70)), Exception, "dimension"),
    "other agents": (lambda: run(with_attribute(agents=5)), ConfigError, "agents = 4"),
    "agents 0": (lambda: run(with_attribute(agents=0)), ConfigError, "agents"),
    "samples for 2": (lambda: run(with_attribute(samples=[3, 3])), ValueError, "samples"),
    "samples of 0": (lambda: run(with_attribute(samples=[3, 0, 3, 3])), ValueError, r"samples\[1\]"),
    "precision half": (lambda: run(with_attribute(precision="half")), ConfigError, "half"),
    "start of 3": (lambda: run(start=[1, 2, 3]), ValueError, r"\(10,\)"),
    "start with nan": (lambda: run(start=[math.nan] * 10), ValueError, "finite"),
    "start of words": (lambda: run(start=["a"] * 10), ValueError, "a"),
    "batch without samples": (lambda: run(batch=4), ConfigError, 'batch = 4.*allowed is "full"$'),
    "batch 0": (lambda: run(LeastSquares(), batch=0), ConfigError, "batch"),
    "batch of words": (lambda: run(LeastSquares(), batch="some"), TypeError, "some"),
    "metric of words": (lambda: run(metrics={"size": "x"}), TypeError, "size"),
    "metric with a comma": (lambda: run(metrics={"a,b": len}), ConfigError, "a,b"),
    "metric like a column": (lambda: run(metrics={"loss": len}), ConfigError, "loss"),
    "accuracy in percent": (
        lambda: stepped(Distance(), test=lambda x: 97.3),
        ValueError,
        "97.3; allowed is a share from 0 to 1",
    ),
    "accuracy below 0": (
        lambda: stepped(Distance(), metrics={"accuracy": lambda x: -1}),
        ValueError,
        "-1; allowed",
    ),
    "test of numbers": (lambda: run(test=[1, 2]), TypeError, "test"),
}

FOLDERS = {
    "a folder with other files": (lambda f: f.mkdir(), "save: .*folder holds files, but no run"),
    "a file": (lambda f: f.write_text("x"), "^/.*folder: is a file"),
}


@pytest.mark.parametrize("what", FOLDERS)
def test_what_cannot_be_saved_to_is_refused_in_pythons_words(what, tmp_path):
    make, words = FOLDERS[what]
    folder = tmp_path / "folder"
    make(folder)
    if folder.is_dir():
        (folder / "letter.txt").write_text("mine")
    with pytest.raises(ticopd.UsageError, match=words) as caught:
        run().save(folder)
    assert "--" not in str(caught.value)


ANSWERS = {
    "no loss": (lambda: stepped(Returns(None)), TypeError, "agent 0"),
    "loss of text": (lambda: stepped(Returns("1")), TypeError, "str"),
    "loss and gradient": (lambda: stepped(Returns((1.0, v))), TypeError, "tuple"),
    "two losses": (lambda: stepped(Returns(np.ones(2))), ValueError, r"\(2,\)"),
    "complex loss": (lambda: stepped(Returns(1j)), TypeError, "complex"),
    "nan": (lambda: stepped(Returns(math.nan)), FloatingPointError, "agent 0, round"),
    "one loss for all": (lambda: stepped(ReturnsRows(1.0)), TypeError, "4 losses"),
    "five losses": (lambda: stepped(ReturnsRows(np.ones(5))), ValueError, r"\(5,\)"),
    "no losses": (lambda: stepped(ReturnsRows(None)), TypeError, "None"),
    "gradients returned": (lambda: stepped(ReturnsRows(np.ones((4, 10)))), ValueError, "written"),
    "gradient too short": (lambda: stepped(Writes(np.ones(4))), ValueError, "broadcast|shape"),
    "gradient of words": (lambda: stepped(Writes("a")), ValueError, "a"),
    "infinite gradient": (lambda: stepped(Writes(math.inf)), FloatingPointError, "inf at"),
}

SETTINGS = {
    "no algorithm": (lambda: ticopd.Run(Distance(), graph="ring:4"), TypeError, "algorithm"),
    "algorithm misspelt": (lambda: run(algorithm="ticpod"), ConfigError, "ticopd"),
    "algorithm without steps": (lambda: run(algorithm="choco_sgd"), ConfigError, "eta"),
    "algorithm's class": (lambda: run(algorithm=ticopd.DGD), TypeError, "instance"),
    "algorithm 3": (lambda: run(algorithm=3), TypeError, "int"),
    "step of text": (lambda: tico(alpha="x"), TypeError, "algorithm.alpha"),
    "step nan": (lambda: tico(alpha=math.nan), ConfigError, "algorithm.alpha"),
    "step infinite": (lambda: tico(eta=math.inf), ConfigError, "algorithm.eta"),
    "step below 0": (lambda: run(algorithm=tico(alpha=-1)), ConfigError, "algorithm.alpha = -1"),
    "step True": (lambda: tico(alpha=True), TypeError, "True"),
    "option misspelt": (
        lambda: run(algorithm={"name": "ticopd", "alpa": 1, "theta": 1, "eta": 1}),
        ConfigError,
        "alpha",
    ),
    "argument misspelt": (lambda: ticopd.DGD(eat=1), TypeError, "eat"),
    "codec misspelt": (lambda: run(codec="qsdg:4"), ConfigError, "qsgd"),
    "codec 3": (lambda: run(codec=3), TypeError, "int"),
    "codec's class": (lambda: run(codec=ticopd.Qsgd), TypeError, "instance"),
    "codec:words": (lambda: ticopd.Codec("qsgd:many"), ConfigError, "many"),
    "bits 0": (lambda: ticopd.Qsgd(bits=0), ConfigError, "codec.bits = 0"),
    "bits 99": (lambda: ticopd.Qsgd(bits=99), ConfigError, "codec.bits = 99"),
    "fraction 2": (lambda: ticopd.TopK(fraction=2.0), ConfigError, "codec.fraction"),
    "bits twice": (lambda: ticopd.Codec("qsgd:4", bits=4), ConfigError, "twice"),
    "another codec's option": (lambda: ticopd.Codec("sign", fraction=0.1), ConfigError, "fraction"),
    "graph misspelt": (lambda: run(graph="rign:4"), ConfigError, "ring"),
    "graph without agents": (lambda: run(graph="ring"), ConfigError, "graph.agents"),
    "graph 3": (lambda: run(graph=3), TypeError, "int"),
    "graph:words": (lambda: run(graph="ring:many"), ConfigError, "many"),
    "ring of 0": (lambda: ticopd.ring(0), ConfigError, "graph.agents"),
    "ring of 2.5": (lambda: ticopd.ring(2.5), TypeError, "2.5"),
    "drop 2": (lambda: run(graph=ticopd.ring(4, drop=2.0)), ConfigError, "graph.drop"),
    "iterations 0": (lambda: run(iterations=0), ConfigError, "iterations"),
    "iterations -1": (lambda: run(iterations=-1), ConfigError, "iterations"),
    "iterations 1e3": (lambda: run(iterations=1e3), TypeError, "1000.0"),
    "iterations 2^70": (lambda: run(iterations=2**70), ConfigError, "iterations"),
    "seed of text": (lambda: run(seed="one"), TypeError, "seed"),
    "seed -1": (lambda: run(seed=-1), ConfigError, "seed"),
    "precision": (lambda: run(precision="half"), ConfigError, "precision"),
    "device": (lambda: run(device="cuda"), ticopd.UnavailableError, "device"),
    "weights": (lambda: run(weights="metropolitan"), ConfigError, "metropolis"),
    "log level": (lambda: run(log="all"), ConfigError, "log.level"),
    "log 0": (lambda: run(log=0), ConfigError, "log.every"),
    "log key": (lambda: run(log={"evry": 3}), ConfigError, "every"),
    "log of words": (lambda: run(log=2.5), TypeError, "log"),
    "set misspelt": (lambda: run(set={"network.nose": 1}), ConfigError, "noise"),
    "set into a value": (lambda: run(set={"seed.x": 1}), ConfigError, "seed"),
    "set an object": (lambda: run(set={"network.noise": object()}), TypeError, "object"),
    "set nan": (lambda: run(set={"network.noise_scale": math.nan}), ConfigError, "noise_scale"),
    "resume nothing": (lambda: run(resume="no/such/folder"), ticopd.Error, "no/such/folder"),
    "an unknown argument": (lambda: run(itertions=3), TypeError, "itertions"),
}

CALLS = {
    "step -1": (lambda: run().step(-1), ValueError, "-1"),
    "step 2.5": (lambda: run().step(2.5), TypeError, "2.5"),
    "step log 0": (lambda: run().step(3, log=0), ValueError, "log = 0"),
    "measure all": (lambda: run().measure("all"), ValueError, "rows, local, full"),
    "model 9": (lambda: run().model(9), IndexError, "agent 9"),
    "model -1": (lambda: run().model(-1), IndexError, "-1"),
    "model one": (lambda: run().model("one"), TypeError, "one"),
    "plot a column": (lambda: run().plot("los_max"), ValueError, "loss_max"),
    "read nothing": (lambda: ticopd.read("no/such/folder"), ticopd.Error, "no/such/folder"),
    "read a number": (lambda: ticopd.read(3), TypeError, "int"),
    "no file": (lambda: ticopd.Run.from_toml("no.toml"), ConfigError, "no.toml"),
    "no objective": (
        lambda: ticopd.Run.from_config({"problem": {"objective": "external", "name": "Mine"}}),
        ConfigError,
        "Mine",
    ),
    "an objective too many": (
        lambda: ticopd.Run.from_config({"problem": {"objective": "mlp"}}, objective=Distance()),
        ConfigError,
        "external",
    ),
    "compare nothing": (lambda: ticopd.compare({}), ValueError, "no run"),
    "compare no files": (lambda: ticopd.compare([]), ticopd.Error, "file"),
    "compare a number": (lambda: ticopd.compare({"a": 3}), TypeError, "'a' is a int"),
    "compare, label 3": (lambda: ticopd.compare({3: run()}), TypeError, "label 3"),
    "compare, label a=b": (lambda: ticopd.compare({"a=b": run()}, "out"), ValueError, "a=b"),
    "compare, no label": (lambda: ticopd.compare({"": run()}, "out"), ValueError, "''"),
    "encode a matrix": (lambda: qsgd.encode(np.ones((2, 2)), **identity), ValueError, r"\(2, 2\)"),
    "encode words": (lambda: qsgd.encode(["a"], **identity), TypeError, "float32"),
    "encode integers": (lambda: qsgd.encode([1, 2], **identity), TypeError, "int64"),
    "encode half": (lambda: qsgd.encode(v.astype("f2"), **identity), TypeError, "float16"),
    "round of text": (lambda: qsgd.encode(v, seed=1, round="1", agent=0), TypeError, "round"),
    "encode nothing": (lambda: qsgd.encode(v[:0], **identity), ticopd.UsageError, "0 numbers"),
    "decode rubbish": (lambda: qsgd.decode(b"x", 9, **identity), ticopd.FormatError, "1 bytes"),
    "decode nothing": (lambda: qsgd.decode(b"", 9, **identity), ticopd.FormatError, "0 bytes"),
    "decode into a list": (lambda: qsgd.decode(b"", 9, out=[0] * 9, **identity), ValueError, "out"),
    "decode into 8": (lambda: qsgd.decode(b"", 9, out=v[:8], **identity), ValueError, "9"),
    "decode -1 numbers": (lambda: qsgd.decode(b"", -1, **identity), ValueError, "negative|-1"),
    "schedule of text": (lambda: ticopd.inverse("c", 1), TypeError, "c"),
    "schedule nan": (lambda: ticopd.inverse(math.nan, 1), ConfigError, "c"),
    "an edge of three": (lambda: ticopd.edges([(0, 1, 2)]), TypeError, "pair"),
    "a self-loop": (lambda: ticopd.edges([(1, 1)]), ConfigError, "self-loop"),
    "an edge twice": (lambda: ticopd.edges([(0, 1), (1, 0)]), ConfigError, "twice"),
    "agent -1": (lambda: ticopd.edges([(-1, 0)]), ConfigError, "from 0"),
    "edges of more agents": (lambda: ticopd.edges([(0, 5)], agents=3), ConfigError, "agent 5"),
    "no edges": (lambda: ticopd.edges([]), ConfigError, "none"),
    "two islands": (lambda: run(graph=ticopd.edges([(0, 1), (2, 3)])), ConfigError, "connected"),
    "a lopsided matrix": (
        lambda: ticopd.from_adjacency([[0, 1], [0, 0]]), ConfigError, "symmetric",
    ),
    "a matrix of weights": (
        lambda: ticopd.from_adjacency([[0, 0.5], [0.5, 0]]), ConfigError, "0 and 1",
    ),
    "a diagonal": (lambda: ticopd.from_adjacency([[1, 1], [1, 0]]), ConfigError, "diagonal"),
    "no square": (lambda: ticopd.from_adjacency([[0, 1]]), ConfigError, "square"),
    "a matrix of words": (lambda: ticopd.from_adjacency([["a"]]), ConfigError, "numbers"),
    "a matrix of nan": (lambda: ticopd.from_adjacency([[math.nan]]), ConfigError, "nan"),
}  # fmt: skip

CASES = {**OBJECTIVES, **ANSWERS, **SETTINGS, **CALLS}


@pytest.mark.parametrize("name", CASES)
def test_refused(name):
    call, kind, words = CASES[name]
    before = threading.active_count()
    with pytest.raises(kind, match=words) as caught:
        call()
    assert "Traceback" not in str(caught.value)
    assert threading.active_count() == before


def test_no_case_is_lost():
    assert len(CASES) == sum(map(len, (OBJECTIVES, ANSWERS, SETTINGS, CALLS))) >= 100
