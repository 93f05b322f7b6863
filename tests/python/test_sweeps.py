"""Comparisons over seeds and swept keys."""

import pytest
import ticopd
from test_studies import CONFIG

SWEEP = """seeds = 3
sweep = { "codec.bits" = [2, 6] }
"""

GROUPS = ["small, codec.bits = 2", "small, codec.bits = 6"]


@pytest.fixture
def swept(tmp_path):
    file = tmp_path / "swept.toml"
    file.write_text(SWEEP + CONFIG)
    return file


def test_a_file_with_seeds_and_a_sweep_gives_groups(swept, tmp_path):
    found = ticopd.compare(swept, tmp_path / "out", {"iterations": 20}, threads=2, jobs=2)
    assert list(found.groups) == GROUPS
    assert [run.config["seed"] for run in found.groups[GROUPS[1]]] == [1, 2, 3]
    row = found.rows()[4]
    assert (row["group"], row["seed"], row["codec.bits"]) == (GROUPS[1], 2, 6)
    assert row["label"] == GROUPS[1] + ", seed 2"
    assert found.data["report"]["sweep"] == ["codec.bits"]
    assert [group["label"] for group in found.data["report"]["groups"]] == GROUPS


def test_groups_are_a_frame(swept, tmp_path):
    pytest.importorskip("pandas")
    found = ticopd.compare(swept, tmp_path / "out", {"iterations": 20})
    frame = found.group_frame()
    last = frame[(frame.group == GROUPS[0]) & (frame.iteration == 20)].iloc[0]
    losses = sorted(run.last["loss_max"] for run in found.groups[GROUPS[0]])
    assert (last.loss_max_low, last.loss_max_mid, last.loss_max_high) == tuple(losses)
    assert last["codec.bits"] == 2
    assert last.runs == 3
    assert set(found.frame()["group"]) == set(GROUPS)


def test_the_same_as_a_dict(swept, tmp_path):
    run = ticopd.Run.from_toml(write_alone(tmp_path), set={"iterations": 20})
    tree = {**run.config, "seeds": [1, 4], "sweep": {"codec.bits": [2, 6]}}
    found = ticopd.compare(tree, tmp_path / "out")
    assert len(found.runs) == 4
    run.step(20)
    assert found[GROUPS[1] + ", seed 1"].digest == run.digest


def write_alone(tmp_path):
    file = tmp_path / "small.toml"
    file.write_text(CONFIG)
    return file


def test_settings_may_ask_for_seeds_and_sweeps(tmp_path):
    wanted = {"iterations": 10, "seeds": 2, "sweep": {"algorithm.eta": [0.01, 0.05]}}
    found = ticopd.compare(write_alone(tmp_path), tmp_path / "out", wanted)
    assert len(found.groups) == 2
    assert len(found.runs) == 4


def test_without_them_nothing_is_new(tmp_path):
    found = ticopd.compare(write_alone(tmp_path), tmp_path / "out", {"iterations": 10})
    assert list(found.groups) == ["small"]
    assert "group" not in found.rows()[0]
    with pytest.raises(ticopd.UsageError):
        found.group_frame()


@pytest.mark.parametrize(
    "text, word",
    [
        ("seeds = 0\n", "seeds"),
        ('sweep = { "codec.bitz" = [1] }\n', "codec.bits"),
        ('sweep = { "codec.bits" = [] }\n', "at least one"),
        ('sweep = { "graph.p" = [0.5] }\n', "no run uses"),
    ],
)
def test_bad_ones_are_refused_before_any_run(tmp_path, text, word):
    file = tmp_path / "bad.toml"
    file.write_text(text + CONFIG)
    with pytest.raises(ticopd.ConfigError, match=word):
        ticopd.compare(file, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_run_of_such_a_file_names_compare(swept):
    with pytest.raises(ticopd.ConfigError, match="compare"):
        ticopd.Run.from_toml(swept)
