"""Comparisons, searches, theory, reports, tables."""

import os
import signal
import subprocess
import threading

import numpy as np
import pytest
import ticopd
from conftest import Distance, LeastSquares, options

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

CONFIG = """
name = "small"
iterations = 60

[problem]
objective = "least_squares"
data = "synthetic"
samples = 60
features = 5
partition = "iid"

[graph]
agents = 4

[codec]
kind = "qsgd"
bits = 6

[algorithm]
name = "choco_sgd"
eta = 0.05
gamma = 0.4
"""

SEVERAL = CONFIG + """
[[run]]
label = "six bits"

[[run]]
label = "two bits"
codec.bits = 2
"""


@pytest.fixture
def config(tmp_path):
    file = tmp_path / "small.toml"
    file.write_text(CONFIG)
    return file


@pytest.fixture
def several(tmp_path):
    file = tmp_path / "several.toml"
    file.write_text(SEVERAL)
    return file


def test_compare_makes_the_runs_of_a_file(several, tmp_path):
    found = ticopd.compare(several, tmp_path / "out", {"iterations": 30}, threads=1)
    assert list(found.runs) == ["six bits", "two bits"]
    assert found["two bits"].config["codec"]["bits"] == 2
    assert found["six bits"].status == "finished"
    assert found.rows()[0]["iteration"] == 30
    assert (tmp_path / "out" / "summary.csv").exists()
    assert "six bits" in found._repr_html_()
    alone = ticopd.Run.from_toml(
        write(tmp_path / "alone.toml", CONFIG), set={"iterations": 30}
    )
    alone.step(30)
    assert alone.digest == found["six bits"].digest


def write(file, text):
    file.write_text(text)
    return file


def test_compare_refuses_a_folder_that_is_not_empty(several, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").write_text("x")
    with pytest.raises(ticopd.UsageError):
        ticopd.compare(several, tmp_path / "out")


def test_compare_stops_at_control_c_and_goes_on(several, tmp_path):
    long = {"iterations": 200000, "log.level": "rows"}
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        ticopd.compare(several, tmp_path / "out", long)
    timer.join()
    assert any((tmp_path / "out").iterdir())


def test_compare_of_runs_results_and_folders(tmp_path):
    pytest.importorskip("matplotlib").use("agg")
    first = ticopd.Run(Distance(), **options())
    first.step(60)
    second = ticopd.Run(Distance(), **options(codec="qsgd:8"))
    second.step(60)
    second.save(tmp_path / "second")
    found = ticopd.compare({"four bits": first, "eight bits": tmp_path / "second"})
    assert found.folder is None
    axes = found.plot("loss_max", "iteration")
    assert [line.get_label() for line in axes.lines] == ["four bits", "eight bits"]
    pytest.importorskip("pandas")
    assert list(found.frame().index) == ["four bits", "eight bits"]
    written = ticopd.compare({"four": first, "eight": tmp_path / "second"}, tmp_path / "out")
    assert (tmp_path / "out" / "summary.csv").exists()
    assert ticopd.read(tmp_path / "out" / "four").digest == first.digest
    assert written.data
    with pytest.raises(TypeError):
        ticopd.compare({"a": 3})


def test_labels_of_any_kind_stay_in_the_folder(tmp_path):
    labels = ["../up", "a/b", "..", ".", "x" * 300, "TiCoPD, 4 bit", "\u03b1: no"]
    runs = {label: ticopd.Run(Distance(), **options(iterations=5)) for label in labels}
    for run in runs.values():
        run.step(5)
    comparison = ticopd.compare(runs, tmp_path / "out")
    assert list(comparison.runs) == labels
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    folders = [path for path in (tmp_path / "out").iterdir() if path.is_dir()]
    assert len(folders) == len(labels)


def test_tune_finds_step_sizes_of_a_file_and_of_a_dict(config, tmp_path):
    tuned = ticopd.tune(config, tmp_path / "search", runs=3, threads=1)
    assert set(tuned.best) == {"eta", "gamma"}
    assert tuned.trials and "eta" in tuned.trials[0]
    run = ticopd.Run.from_toml(write(tmp_path / "tuned.toml", tuned.toml))
    assert run.config["algorithm"]["eta"] == pytest.approx(tuned.best["eta"])
    tree = ticopd.Run.from_toml(config).config
    again = ticopd.tune(tree, runs=3, search={"gamma": 0.4})
    assert set(again.best) == {"eta"} and again.folder is None and again.trials


def test_tune_takes_seeds_targets_and_lists(config, tmp_path):
    tuned = ticopd.tune(
        config,
        tmp_path / "search",
        runs=7,
        seeds=2,
        metric="iterations_to:loss_max=0.1",
        search={"gamma": 0.4, "codec.bits": [2, 4], "eta": {"schedule": "inverse", "t0": [1, 100]}},
        threads=1,
    )
    assert set(tuned.best) == {"codec.bits", "eta.c", "eta.t0"}
    assert tuned.best["codec.bits"] in (2, 4)
    assert tuned.held in (True, False, None)
    assert {trial["seed"] for trial in tuned.trials} == {1, 2}
    run = ticopd.Run.from_toml(write(tmp_path / "tuned.toml", tuned.toml))
    assert run.config["algorithm"]["eta"]["schedule"] == "inverse"
    assert run.config["algorithm"]["gamma"] == 0.4
    tree = run.config
    again = ticopd.tune(tree, runs=3, seeds=[5, 6], search={"codec.bits": [4, 8]}, threads=1)
    assert again.best["codec.bits"] in (4, 8)


@pytest.mark.parametrize(
    "options, says",
    [
        ({"seeds": 0}, "seeds"),
        ({"seeds": [1, 1]}, "seeds"),
        ({"metric": "bits_to:accuracy_mni=0.9"}, "accuracy_min"),
        ({"search": {"codec.bist": [2, 4]}}, "codec.bits"),
        ({"search": {"codec.bits": []}}, "list"),
    ],
)
def test_tune_refuses_bad_options_before_the_first_trial(config, options, says):
    with pytest.raises(ticopd.ConfigError, match=says):
        ticopd.tune(config, runs=3, **options)


def test_tune_asks_an_objective_of_your_own():
    run = ticopd.Run(
        LeastSquares(), **options(algorithm=ticopd.ChocoSGD(eta=0.001, gamma=0.1), iterations=40)
    )
    tuned = ticopd.tune(run.config, runs=3, objective=LeastSquares())
    assert set(tuned.best) == {"eta", "gamma"}
    assert tuned.best["eta"] > 0.001


def test_tune_passes_exceptions_of_the_objective_on():
    class Fails(LeastSquares):
        def value_and_gradient(self, agent, x, g):
            raise ZeroDivisionError("here")

    config = ticopd.Run(
        LeastSquares(), name="Fails", **options(algorithm=ticopd.DGD(eta=0.1), codec="identity")
    ).config
    with pytest.raises(ZeroDivisionError, match="here"):
        ticopd.tune(config, runs=3, objective=Fails())


def test_theory_is_that_of_the_command_line(config, program, tmp_path):
    import json

    file = write(
        tmp_path / "theory.toml",
        CONFIG.replace("eta = 0.05\ngamma = 0.4", "alpha = 0.05\ntheta = 0.5\neta = 0.1").replace(
            "choco_sgd", "ticopd"
        ),
    )
    done = subprocess.run(
        [program, "theory", file, "--json"], capture_output=True, text=True, check=True
    )
    expected = json.loads(done.stdout)
    found = ticopd.theory(file)
    assert found.keys() == expected.keys()
    own = ticopd.theory(ticopd.Run(LeastSquares(), **options()))
    assert own.keys() == expected.keys()


def test_tables_and_schema_describe_configs():
    tables = ticopd.tables()
    assert {"algorithms", "codecs", "graphs", "metrics", "keys"} <= set(tables)
    schema = ticopd.schema()
    assert schema["$schema"].endswith("2020-12/schema")
    assert "codec" in schema["properties"]


def test_read_of_a_folder_without_a_run_says_so(tmp_path):
    with pytest.raises(ticopd.Error):
        ticopd.read(tmp_path)
    with pytest.raises(ticopd.Error):
        ticopd.read(tmp_path / "none")
    (tmp_path / "run.json").write_text("{")
    with pytest.raises(ticopd.FormatError):
        ticopd.read(tmp_path)


def test_read_gives_what_the_command_line_wrote(config, program, tmp_path):
    subprocess.run(
        [program, "run", config, "--out", tmp_path / "out", "--quiet"], check=True
    )
    result = ticopd.read(tmp_path / "out")
    assert result.final.shape == (4, 5) and result.final.dtype == np.float32
    assert result.status == "finished" and len(result.digest) == 32
    assert result.config["codec"]["bits"] == 6
    assert result.metrics["iteration"][-1] == 60
    assert result.last["loss_max"] > 0
    assert "finished" in repr(result)
