"""Runs with objectives in NumPy."""

import json
import subprocess
import warnings

import numpy as np
import pytest
import ticopd
from conftest import AllRows, Distance, LeastSquares, options


def test_program_of_the_readme_finds_the_mean():
    run = ticopd.Run(
        Distance(100),
        graph=ticopd.ring(8),
        codec=ticopd.Qsgd(bits=4),
        algorithm=ticopd.TiCoPD(alpha=0.1, theta=2, eta=0.4),
        iterations=400,
    )
    assert run.step(400) == 400
    assert run.finished and run.round == 400
    assert np.abs(run.x - 3.5).max() < 1e-5
    assert run.step(10) == 0


def test_rows_one_by_one_and_all_at_once_are_the_same_run():
    one = ticopd.Run(Distance(), **options(graph="ring:8"))
    all_rows = ticopd.Run(AllRows(), **options(graph="ring"))
    one.step(60)
    all_rows.step(60)
    assert one.digest == all_rows.digest
    assert np.array_equal(one.x, all_rows.x)


def test_steps_of_any_length_make_the_same_run():
    whole = ticopd.Run(Distance(), **options())
    whole.step(60)
    parts = ticopd.Run(Distance(), **options())
    assert [parts.step(k) for k in (1, 0, 7, 50, 50)] == [1, 0, 7, 50, 2]
    assert whole.digest == parts.digest


def test_codec_and_graph_by_text_dict_and_object_are_the_same_run():
    digests = set()
    for graph, codec in (
        ("ring:4", "qsgd:4"),
        (ticopd.ring(4), ticopd.Qsgd(bits=4)),
        ({"kind": "ring", "agents": 4}, {"kind": "qsgd", "bits": 4}),
    ):
        run = ticopd.Run(Distance(), **options(graph=graph, codec=codec))
        run.step(60)
        digests.add(run.digest)
    assert len(digests) == 1


def test_graph_as_edges_matrix_and_networkx_are_the_same_run():
    networkx = pytest.importorskip("networkx")
    matrix = np.zeros((4, 4), int)
    for i in range(4):
        matrix[i, (i + 1) % 4] = matrix[(i + 1) % 4, i] = 1
    named = networkx.relabel_nodes(networkx.cycle_graph(4), dict(enumerate("abcd")))
    digests = set()
    for graph in (
        "ring:4",
        ticopd.edges([(0, 1), (2, 1), (2, 3), (3, 0)]),
        matrix,
        matrix.tolist(),
        networkx.cycle_graph(4),
        named,
    ):
        run = ticopd.Run(Distance(), **options(graph=graph))
        run.step(60)
        digests.add(run.digest)
    assert len(digests) == 1


def test_dtype_of_arrays_is_the_precision():
    seen = set()

    class Seen(Distance):
        def value_and_gradient(self, agent, x, g):
            seen.add((x.dtype, g.dtype, x.shape, x.flags.writeable))
            return super().value_and_gradient(agent, x, g)

    for precision, dtype in (("float", np.float32), ("double", np.float64)):
        seen.clear()
        run = ticopd.Run(Seen(), **options(precision=precision))
        run.step(5)
        assert seen == {(np.dtype(dtype), np.dtype(dtype), (10,), False)}
        assert run.x.dtype == dtype


def test_x_is_read_only_for_objectives():
    class Writes(Distance):
        def value_and_gradient(self, agent, x, g):
            x[:] = 0
            return 0.0

    run = ticopd.Run(Writes(), **options())
    with pytest.raises(ValueError, match="read-only"):
        run.step()


def test_start_is_common_to_all_agents():
    start = np.linspace(0, 1, 10)
    run = ticopd.Run(Distance(), **options(start=start))
    assert np.array_equal(run.x, np.tile(start.astype(np.float32), (4, 1)))

    class Own(Distance):
        start = np.ones(10)

    assert np.array_equal(ticopd.Run(Own(), **options()).x, np.ones((4, 10), np.float32))


def test_batches_are_drawn_from_seed_agent_and_round():
    drawn = []

    class Batches(LeastSquares):
        def value_and_gradient(self, agent, x, g):
            if self.batch is not None:
                drawn.append((self.round, agent, tuple(self.batch)))
            return super().value_and_gradient(agent, x, g)

    digests = []
    for _ in range(2):
        drawn.clear()
        run = ticopd.Run(Batches(), **options(batch=5))
        run.step(10)
        digests.append((run.digest, list(drawn)))
    assert digests[0] == digests[1]
    assert {len(numbers) for _, _, numbers in drawn} == {5}
    assert {agent for _, agent, _ in drawn} == {0, 1, 2, 3}
    assert {round for round, _, _ in drawn} == set(range(1, 11))
    assert all(0 <= k < 20 for _, _, numbers in drawn for k in numbers)
    assert len({numbers for _, _, numbers in drawn}) > 30


def test_batches_of_all_rows_are_a_list():
    class Rows(ticopd.Objective):
        agents, dimension, samples = 4, 3, [5, 6, 7, 8]

        def gradients(self, first, X, G):
            G[:] = X
            if self.batch is None:
                assert self.wants_values
                return np.zeros(len(X))
            assert len(self.batch) == len(X)
            for r, numbers in enumerate(self.batch):
                assert len(numbers) == 2 and numbers.max() < self.samples[first + r]
            return None

    ticopd.Run(Rows(), **options(batch=2)).step(20)


def test_losses_are_only_needed_when_rows_are_logged():
    class Lazy(Distance):
        def value_and_gradient(self, agent, x, g):
            loss = super().value_and_gradient(agent, x, g)
            return loss if self.wants_values else None

    eager, lazy = (ticopd.Run(kind(), **options()) for kind in (Distance, Lazy))
    eager.step(60)
    lazy.step(60)
    assert eager.digest == lazy.digest
    assert np.array_equal(eager.metrics["loss_max"], lazy.metrics["loss_max"])


def test_an_objective_without_values_logs_rows():
    class None_(Distance):
        has_values = False

        def value_and_gradient(self, agent, x, g):
            g[:] = x - agent

    run = ticopd.Run(None_(), **options(log="rows"))
    run.step(60)
    assert np.isnan(run.metrics["loss_max"]).all()
    assert run.metrics["consensus"][-1] > 0


def test_metrics_have_every_logged_row():
    run = ticopd.Run(Distance(), **options(log=20))
    run.step(30)
    first = run.metrics
    assert list(first["iteration"]) == [0, 1, 20]
    run.step(30)
    metrics = run.metrics
    assert list(metrics["iteration"]) == [0, 1, 20, 40, 60]
    assert metrics["iteration"].dtype == np.int64
    assert np.array_equal(metrics["loss_max"][:3], first["loss_max"])
    assert metrics["bits_payload"][-1] > 0


def test_log_of_step_is_for_the_first_round():
    run = ticopd.Run(Distance(), **options())
    run.step(20, log=10)
    assert list(run.metrics["iteration"]) == [0, 1, 10, 20]
    with pytest.raises(ticopd.UsageError):
        run.step(20, log=5)


def test_own_metrics_and_accuracy_are_logged():
    class Accurate(Distance):
        def accuracy(self, x):
            return float(np.clip(x.mean(), 0, 1))

    run = ticopd.Run(
        Accurate(), metrics={"first": lambda x: x[0], "size": np.linalg.norm}, **options(log=30)
    )
    run.step(60)
    metrics = run.metrics
    x = run.x
    assert metrics["first_min"][-1] == x[:, 0].min()
    assert metrics["first_max"][-1] == x[:, 0].max()
    assert metrics["first_mean"][-1] == pytest.approx(x[:, 0].mean(), rel=1e-5)
    assert metrics["accuracy_min"][-1] == pytest.approx(min(1, x.mean(axis=1).min()))
    assert "size_mean" in metrics


def test_test_is_a_function_of_the_model():
    run = ticopd.Run(Distance(), test=lambda x: 0.25, **options(log="rows"))
    run.step(10)
    assert run.metrics["accuracy_min"][-1] == 0.25


def test_measure_leaves_the_digest_and_the_log_as_they_are():
    run = ticopd.Run(Distance(), **options())
    run.step(7)
    before, rows = run.digest, len(run.metrics["iteration"])
    full = run.measure()
    assert full["loss_max"] > 0 and full["iteration"] == 7
    assert "loss_max" not in run.measure("rows")
    assert run.digest == before and len(run.metrics["iteration"]) == rows
    run.step(53)
    other = ticopd.Run(Distance(), **options())
    other.step(60)
    assert run.digest == other.digest


def test_callback_is_called_after_every_round_and_may_stop():
    rounds = []
    run = ticopd.Run(Distance(), **options())
    assert run.step(10, callback=lambda r: rounds.append(r.round)) == 10
    assert rounds == list(range(1, 11))
    assert run.step(50, callback=lambda r: r.round == 20) == 10
    other = ticopd.Run(Distance(), **options())
    other.step(20)
    assert np.array_equal(run.x, other.x)


@pytest.mark.parametrize("tqdm", [True, False])
def test_progress_writes_to_standard_error_only(tqdm, capsys, monkeypatch):
    if not tqdm:
        monkeypatch.setitem(__import__("sys").modules, "tqdm.auto", None)
    run = ticopd.Run(Distance(), **options())
    assert run.step(60, progress=True) == 60
    said = capsys.readouterr()
    assert said.out == ""
    assert "60" in said.err


def test_save_read_and_resume(tmp_path):
    run = ticopd.Run(Distance(), **options())
    run.step(25)
    run.save(tmp_path / "half")
    half = ticopd.read(tmp_path / "half")
    assert half.status == "interrupted" and half.final is None
    run.step(35)
    run.save(tmp_path / "whole")
    whole = ticopd.read(tmp_path / "whole")
    assert whole.status == "finished"
    assert whole.digest == run.digest
    assert np.array_equal(whole.final, run.x)
    for name, column in run.metrics.items():
        same = {"atol": 1e-3} if name == "seconds" else {"rtol": 0, "atol": 0}
        assert np.allclose(column, whole.metrics[name], equal_nan=True, **same), name

    resumed = ticopd.Run(Distance(), **options(resume=tmp_path / "half"))
    assert resumed.round == 25
    assert resumed.step(100) == 35
    assert resumed.digest == run.digest
    assert np.array_equal(resumed.metrics["loss_max"], run.metrics["loss_max"], equal_nan=True)


def test_a_finished_run_is_made_longer(tmp_path):
    short = ticopd.Run(Distance(), **options(iterations=33))
    short.step(33)
    short.save(tmp_path / "run")
    longer = ticopd.Run(Distance(), **options(resume=tmp_path / "run"))
    assert longer.round == 33
    longer.step(7)
    longer.save(tmp_path / "run")
    half = ticopd.read(tmp_path / "run")
    assert half.status == "interrupted" and half.final is None
    longer.step(100)
    longer.save(tmp_path / "run")
    whole = ticopd.Run(Distance(), **options())
    whole.step(60)
    assert longer.digest == whole.digest != short.digest
    assert np.array_equal(longer.metrics["iteration"], whole.metrics["iteration"])
    assert np.array_equal(ticopd.read(tmp_path / "run").final, whole.x)
    with pytest.raises(ticopd.ConfigError, match="longer, not shorter"):
        ticopd.Run(Distance(), **options(iterations=33, resume=tmp_path / "run"))


def test_a_fingerprint_refuses_other_data(tmp_path):
    class Marked(Distance):
        data = "a"

        def fingerprint(self, agent):
            return f"{self.data}{agent}"

    run = ticopd.Run(Marked(), **options())
    run.step(5)
    run.save(tmp_path / "run")
    other = Marked()
    other.data = "b"
    with pytest.raises(ticopd.ConfigError):
        ticopd.Run(other, **options(resume=tmp_path / "run"))


def test_config_goes_to_toml_and_back(tmp_path):
    run = ticopd.Run(
        Distance(), **options(set={"network.noise": "gaussian", "network.noise_scale": 0.01})
    )
    file = tmp_path / "run.toml"
    file.write_text(run.to_toml())
    again = ticopd.Run.from_toml(file, objective=Distance())
    third = ticopd.Run.from_config(run.config, objective=Distance())
    for each in (run, again, third):
        each.step(60)
    assert run.digest == again.digest == third.digest
    changed = ticopd.Run.from_toml(
        file, set={"codec.bits": 2, "iterations": 30}, objective=Distance()
    )
    assert changed.config["codec"]["bits"] == 2
    assert changed.step(100) == 30


def test_summary_has_what_run_json_has():
    run = ticopd.Run(Distance(), **options())
    run.step(60)
    summary = run.summary
    assert summary["status"] == "finished"
    assert summary["config"]["problem"]["objective"] == "external"
    assert summary["config"]["problem"]["name"] == "Distance"
    assert summary["digest"] == run.digest
    assert len(run.ledger) > 0


def test_warnings_of_the_library_are_python_warnings():
    with pytest.warns(RuntimeWarning, match="biased|unbiased"):
        ticopd.Run(
            Distance(),
            **options(codec="sign", algorithm=ticopd.DgdQuantized(eta=0.01)),
        )


def test_schedules_are_those_of_the_config():
    sizes = ticopd.inverse_sqrt(1.0, t0=99)
    assert sizes(1) == 0.1
    assert ticopd.inverse(10.0, 100)(25) == 0.08
    assert ticopd.step(0.1, 0.5, 1000)(1001) == 0.05
    assert ticopd.constant(0.3)(9) == 0.3
    algorithm = ticopd.ChocoSGD(eta=ticopd.step(0.1, 0.5, 20), gamma=0.5)
    run = ticopd.Run(Distance(), **options(algorithm=algorithm))
    assert run.config["algorithm"]["eta"] == {
        "schedule": "step",
        "c": 0.1,
        "factor": 0.5,
        "every": 20.0,
    }
    run.step(60)
    plain = ticopd.Run(Distance(), **options(algorithm=ticopd.ChocoSGD(eta=0.1, gamma=0.5)))
    plain.step(60)
    assert plain.digest != run.digest


def test_frame_plot_and_page(tmp_path):
    pandas = pytest.importorskip("pandas")
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    run = ticopd.Run(Distance(), **options())
    run.step(60)
    frame = run.frame()
    assert isinstance(frame, pandas.DataFrame)
    assert frame.index.name == "iteration" and frame["loss_max"].iloc[-1] > 0
    axes = run.plot("consensus", "iteration", label="mine")
    assert axes.get_yscale() == "log"
    assert len(axes.lines[0].get_xdata()) == len(frame)
    assert run.plot(ax=axes) is axes
    assert "<table>" in run._repr_html_() and "svg" in run._repr_html_()
    run.save(tmp_path / "run")
    result = ticopd.read(tmp_path / "run")
    assert "finished" in result._repr_html_()
    assert len(result.frame()) == len(frame)
    with pytest.raises(ValueError, match='did you mean "loss_max"'):
        run.plot("loss_mx")


def test_model_is_a_copy_of_a_row():
    run = ticopd.Run(Distance(), **options())
    run.step(5)
    row = run.model(2)
    assert np.array_equal(row, run.x[2])
    row[:] = 0
    assert run.x[2].any()
    assert run.hosted == range(4)
    with pytest.raises(IndexError):
        run.model(4)


def test_a_diverging_run_raises_with_its_round():
    run = ticopd.Run(
        Distance(), **options(codec="identity", algorithm=ticopd.DGD(eta=100.0), iterations=2000)
    )
    with pytest.raises(ticopd.Diverged) as caught:
        run.step(2000)
    assert 0 < caught.value.round == run.round < 2000
    assert caught.value.code == 76
    assert "lower" in str(caught.value)
    with pytest.raises(ticopd.Diverged):
        run.step(1)
    assert len(run.metrics["iteration"]) > 1


def test_the_command_line_goes_on_with_what_python_saved_of_its_own_objective(program, tmp_path):
    text = """
iterations = 40
[problem]
objective = "least_squares"
data = "synthetic"
samples = 60
features = 5
partition = "iid"
[graph]
agents = 3
[codec]
kind = "qsgd"
[algorithm]
name = "choco_sgd"
eta = 0.05
gamma = 0.4
"""
    file = tmp_path / "run.toml"
    file.write_text(text)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run = ticopd.Run.from_toml(file)
    run.step(15)
    run.save(tmp_path / "out")
    done = subprocess.run(
        [program, "run", file, "--out", tmp_path / "out", "--resume", "--quiet", "--json"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    run.step(25)
    assert json.loads(done.stdout)["digest"] == run.digest


def test_a_run_that_diverged_says_so_though_the_objective_fails_first():
    """Messages are made while the objective computes: both see the model that is not finite."""

    class Strict(Distance):
        def value_and_gradient(self, agent, x, g):
            if not np.isfinite(x).all():
                raise ValueError("the model has a nan")
            g[:] = 3e38 if self.round == 3 else x - agent
            return 0.0

    algorithm = ticopd.TiCoPD(alpha=10, theta=1, eta=1, beta=0.5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the steps are too long
        run = ticopd.Run(
            Strict(agents=4), **options(algorithm=algorithm, log={"level": "rows", "every": 60})
        )
    with pytest.raises(ticopd.Diverged, match="round 4, channel . is not finite") as caught:
        run.step(60)
    assert caught.value.round == run.round == 3
    assert not run.pending
    with pytest.raises(ticopd.Diverged):
        run.step(1)
