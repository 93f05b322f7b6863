"""A run from Python has the digest of the same run from the command line: every algorithm and codec."""

import json
import subprocess

import pytest
import ticopd

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of biased codecs

BASE = """
seed = 3
iterations = 25

[problem]
objective = "least_squares"
data = "synthetic"
samples = 80
features = 9
partition = "iid"
batch = 5

[graph]
kind = "star"
agents = 5
"""

# Small steps, so that every method stays finite on a star.
STEPS = {
    "ticopd": dict(alpha=0.05, theta=1.0, eta=0.1),
    "choco_sgd": dict(eta=0.05, gamma=0.3),
    "cp_sgd": dict(eta=0.05, gamma=0.5, omega=0.5),
    "def_atc": dict(mu=0.02, zeta=0.9, gamma=0.5),
    "beer": dict(eta=0.01, gamma=0.2),
    "dgd": dict(eta=0.05),
    "extra": dict(alpha=0.05),
    "gradient_tracking": dict(eta=0.02, form="atc"),
    "primal_dual": dict(eta=0.05, alpha=0.5, beta=0.5),
    "prox_gpda": dict(beta=2.0),
    "prox_pda_perturbed": dict(rho=2.0, gamma=0.01),
    "nids": dict(alpha=0.05),
    "lead": dict(eta=0.05, alpha=0.5, gamma=0.5),
    "dgd_quantized": dict(eta=0.02, quantize_self=True),
    "docom": dict(eta=0.02, gamma=0.2, beta=0.5, warm_start=True),
    "qdgd": dict(alpha=0.05, epsilon=0.2),
    "sparq_sgd": dict(eta=0.05, gamma=0.3, threshold=0.1, period=2),
    "local_sgd": dict(eta=0.05, period=3, average="star"),
    "qsparse_local_sgd": dict(eta=0.05, period=3),
    "choco_gossip": dict(gamma=0.3),
    "deepsqueeze": dict(eta=0.05, gamma=0.05),
    "magnusson": dict(eta=0.05, alpha=0.5, beta=0.5, r0=2.0, kappa=0.95),
}

CODECS = {
    "identity": {},
    "qsgd": dict(bits=4, coding="entropy"),
    "top_k": dict(fraction=0.3, then="qsgd", bits=6),
    "rand_k": dict(k=3),
    "sign": dict(bucket=4),
    "natural": {},
    "norm_sign": {},
    "random_gossip": dict(p=0.7),
    "adaptive": dict(omega=0.25, step=0.001),
    "threshold": dict(threshold=0.3),
    "grid": dict(bits=8, r0=4.0, kappa=1.0),
    "infinity": dict(bits=5, bucket=4),
}


def digest_of_command(program, folder, text):
    file = folder / "run.toml"
    file.write_text(text)
    done = subprocess.run(
        [program, "run", file, "--out", folder / "out", "--quiet", "--json", "--threads", "1"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["digest"]


def toml(table, name):
    lines = [f"[{name}]"]
    for key, value in table.items():
        lines.append(f"{key} = {json.dumps(value)}")
    return "\n".join(lines) + "\n"


def compare(program, tmp_path, algorithm, codec):
    text = BASE + toml(codec.to_config(), "codec") + toml(algorithm.to_config(), "algorithm")
    expected = digest_of_command(program, tmp_path, text)
    with ticopd.Run.from_toml(tmp_path / "run.toml") as run:
        run.step(10)
        run.step(100)
        assert run.finished
        assert run.digest == expected
    assert ticopd.read(tmp_path / "out").digest == expected


def test_all_are_covered():
    assert set(STEPS) == set(ticopd.methods.ALGORITHMS)
    assert set(CODECS) == set(ticopd.codecs.CODECS)


@pytest.mark.parametrize("name", STEPS)
def test_algorithm(name, program, tmp_path):
    uncompressed = {
        entry["name"]: entry["uncompressed"] or entry["own_codec"]
        for entry in ticopd.tables()["algorithms"]
    }
    codec = ticopd.Codec("identity") if uncompressed[name] else ticopd.Codec("qsgd", bits=6)
    compare(program, tmp_path, ticopd.algorithm(name, **STEPS[name]), codec)


@pytest.mark.parametrize("name", CODECS)
def test_codec(name, program, tmp_path):
    compare(
        program, tmp_path, ticopd.ChocoSGD(eta=0.02, gamma=0.1), ticopd.Codec(name, **CODECS[name])
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", STEPS)
def test_every_algorithm_with_every_codec(name, program, tmp_path):
    """Where the command line refuses a pair, Python does so in the same words."""
    made = 0
    for kind, given in CODECS.items():
        folder = tmp_path / kind
        folder.mkdir()
        codec, algorithm = ticopd.Codec(kind, **given), ticopd.algorithm(name, **STEPS[name])
        text = BASE + toml(codec.to_config(), "codec") + toml(algorithm.to_config(), "algorithm")
        (folder / "run.toml").write_text(text)
        done = subprocess.run(
            [program, "run", folder / "run.toml", "--out", folder / "out", "--quiet", "--json"],
            capture_output=True, text=True, timeout=60,
        )  # fmt: skip
        try:
            with ticopd.Run.from_toml(folder / "run.toml") as run:
                run.step(100)
                assert run.digest == json.loads(done.stdout)["digest"], kind
                made += 1
        except ticopd.Error as error:
            assert done.returncode == error.code, f"{kind}: {error}; {done.stderr}"
            assert str(error).split(":")[0] in done.stderr, f"{kind}: {error}; {done.stderr}"
    assert made >= 1


def test_one_source_per_agent(program, tmp_path):
    for agent in range(5):
        lines = [f"{(s * s + agent) / 4},{s % 3 - agent},{(s * 5 + agent) % 7}" for s in range(8 + agent)]
        (tmp_path / f"shard-{agent}.csv").write_text("\n".join(lines) + "\n")
    text = "\n".join(line for line in BASE.splitlines()
                     if line.split(" ")[0] not in ("samples", "features", "partition"))
    text = text.replace('data = "synthetic"', 'data = "csv:shard-{agent}.csv"')
    text += "\n" + toml(ticopd.ChocoSGD(eta=0.01, gamma=0.1).to_config(), "algorithm")
    expected = digest_of_command(program, tmp_path, text)
    with ticopd.Run.from_toml(tmp_path / "run.toml") as run:
        run.step(25)
        assert run.digest == expected
    (tmp_path / "shard-3.csv").unlink()
    with pytest.raises(ticopd.FormatError, match="agent 3: .*shard-3.csv"):
        ticopd.Run.from_toml(tmp_path / "run.toml")
