"""What an unfriendly user tries: the right exception comes, or nothing; never a crash or wrong bits."""

import asyncio
import copy
import gc
import multiprocessing
import os
import pickle
import sys
import threading
import warnings

import numpy as np
import pytest
import ticopd
from conftest import AllRows, Distance, LeastSquares, options

IDENTITY = dict(seed=1, round=7, agent=0)
V = np.arange(6, dtype=np.float32)


def run(objective=None, **changed):
    return ticopd.Run(objective or Distance(), **options(**changed))


def stepped(rounds=3, objective=None, **changed):
    made = run(objective, **changed)
    made.step(rounds)
    return made


def digest_of(objective=None, **changed):
    return stepped(60, objective, **changed).digest


def config(**tables):
    return {"problem": {"objective": "external"}, "graph": {"agents": 3}, **tables}


class Losses(AllRows):
    def __init__(self, losses):
        super().__init__(agents=4)
        self.losses = losses

    def gradients(self, first, X, G):
        super().gradients(first, X, G)
        return self.losses


WRONG = {
    "precision is a class": (lambda: run(precision=np.float64), TypeError, "precision"),
    "start is complex": (lambda: run(start=np.zeros(10, complex)), TypeError, "start.*complex"),
    "start is too large": (lambda: run(start=[1e300] * 10), ValueError, "start is inf"),
    "set has a number as key": (lambda: run(set={4: 4}), TypeError, "set: 4 is no key"),
    "set is a list": (lambda: run(set=[("seed", 1)]), TypeError, "set: .*dict"),
    "name is no text": (lambda: run(name="a\udc80b"), ticopd.ConfigError, "UTF-8"),
    "metrics are a list": (lambda: run(metrics=[len]), TypeError, "metrics: a list"),
    "ranks are a number": (lambda: run(ranks=5), TypeError, "ranks: a int"),
    "callback is a number": (lambda: run().step(1, callback=5), TypeError, "callback: a int"),
    "losses are texts": (lambda: stepped(objective=Losses(list("1234"))), TypeError, "4 losses"),
    "losses are complex": (lambda: stepped(objective=Losses(np.ones(4) * 1j)), ValueError, "losses"),
    "config is a number": (lambda: ticopd.Run.from_config(5), TypeError, "config: a int"),
    "problem is a number": (
        lambda: ticopd.Run.from_config({"problem": 5}),
        ticopd.ConfigError,
        "problem = 5: allowed is a table",
    ),
    "graph is a number": (
        lambda: ticopd.Run.from_config(config(graph=5), objective=Distance()),
        ticopd.ConfigError,
        "graph = 5: allowed is a table",
    ),
    "fraction is nan": (lambda: ticopd.Codec("top_k:nan"), ticopd.ConfigError, "codec.k = nan"),
    "then is a class": (lambda: ticopd.TopK(k=3, then=ticopd.Qsgd), TypeError, "Qsgd is a class"),
    "seed is negative": (
        lambda: ticopd.Qsgd().encode(V, seed=-1, round=1, agent=0),
        ValueError,
        "seed = -1",
    ),
    "round is too large": (
        lambda: ticopd.Qsgd().encode(V, seed=1, round=2**32, agent=0),
        ValueError,
        "round = 4294967296",
    ),
    "agent is too large": (
        lambda: ticopd.Qsgd().decode(b"12345678", 6, seed=1, round=1, agent=2**32),
        ValueError,
        "agent = 4294967296",
    ),
    "channel is too large": (
        lambda: ticopd.Qsgd().encode(V, channel=65536, **IDENTITY),
        ValueError,
        "channel = 65536",
    ),
    "payload is a number": (lambda: ticopd.Qsgd().decode(8, 6, **IDENTITY), TypeError, "a int"),
    "payload is a list": (lambda: ticopd.Qsgd().decode([1], 6, **IDENTITY), TypeError, "a list"),
    "d is a shape": (lambda: ticopd.Qsgd().decode(b"", (2, 3), **IDENTITY), TypeError, "d = "),
    "d is negative": (lambda: ticopd.Qsgd().payload_bytes(-1), ValueError, "d = -1"),
    "d is huge": (lambda: ticopd.Qsgd().error_bound(2**70), ValueError, "d = 1180"),
    "path with a NUL": (lambda: run().save("a\0b"), ValueError, "NUL"),
    "folder with a NUL": (lambda: ticopd.read("a\0b"), ValueError, "NUL"),
    "file with a NUL": (lambda: ticopd.Run.from_toml("a\0b"), ValueError, "NUL"),
    "deadline is nan": (lambda: ticopd.ranks(float("nan")).__enter__(), ticopd.UsageError, "deadline"),
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_arguments(what, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    call, kind, words = WRONG[what]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(kind, match=words):
            call()
    assert not list(tmp_path.iterdir())


def test_arrays_of_every_kind_are_encoded_alike():
    q = ticopd.Qsgd(bits=4)
    expected = q.encode(V, **IDENTITY)
    misaligned = np.frombuffer(b"x" + V.tobytes(), np.float32, offset=1)
    assert not misaligned.flags.aligned
    backwards = V[::-1].copy()[::-1]
    readonly = V.copy()
    readonly.flags.writeable = False
    for v in (misaligned, backwards, readonly, V.view(np.ma.MaskedArray), V.view(np.recarray)):
        assert q.encode(v, **IDENTITY) == expected
    numbers = {key: np.int64(value) for key, value in IDENTITY.items()}
    assert q.encode(V, **numbers) == expected


def test_one_coordinate_and_one_agent():
    assert np.isfinite(stepped(60, Distance(1)).x).all()
    alone = run(Distance(3, 1), graph="ring", codec="identity", algorithm=ticopd.DGD(eta=0.5))
    alone.step(60)
    assert abs(alone.x).max() < 1e-6


def test_an_objective_that_changes_its_own_attributes_changes_nothing():
    class Changes(Distance):
        def value_and_gradient(self, agent, x, g):
            loss = super().value_and_gradient(agent, x, g)
            self.round, self.batch, self.wants_values, self.agents = 77, 5, "x", 99
            return loss

    assert digest_of(Changes(), name="a") == digest_of(name="a")


def test_closing_inside_of_the_objective_ends_the_step():
    class Closes(Distance):
        run = None

        def value_and_gradient(self, agent, x, g):
            if self.run is not None and self.round == 2:
                self.run.close()
            return super().value_and_gradient(agent, x, g)

    objective = Closes()
    made = run(objective)
    objective.run = made
    with pytest.raises(ticopd.UsageError, match="closed"):
        made.step(5)
    assert "closed" in repr(made)


@pytest.mark.parametrize("kind", [StopIteration, GeneratorExit, SystemExit, RecursionError])
def test_exceptions_of_any_kind_come_out_as_they_are(kind):
    class Raises(Distance):
        now = False

        def value_and_gradient(self, agent, x, g):
            if self.now:
                raise kind
            return super().value_and_gradient(agent, x, g)

    objective = Raises()
    made = run(objective, name="a")
    made.step(3)
    objective.now = True
    with pytest.raises(kind):
        made.step(3)
    objective.now = False
    made.step(60)
    assert made.digest == digest_of(name="a")


def test_runs_take_turns_in_asyncio():
    async def go(made):
        while not made.finished:
            made.step(3)
            await asyncio.sleep(0)
        return made.digest

    async def all_of_them():
        return await asyncio.gather(*[go(run()) for _ in range(4)])

    assert set(asyncio.run(all_of_them())) == {digest_of()}


def test_copies_go_on_by_themselves():
    made = stepped()
    for other in (copy.copy(made), copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
        other.step(60)
        assert other.digest == digest_of()
    assert made.round == 3


def test_a_run_may_be_pickled_in_its_callback():
    kept = []
    made = run()
    made.step(5, callback=lambda r: kept.append(pickle.dumps(r)) and None)
    assert [pickle.loads(each).round for each in kept] == [1, 2, 3, 4, 5]


def test_runs_in_cycles_are_collected():
    gc.collect()
    before = len(os.listdir("/proc/self/task"))
    for _ in range(20):
        made = stepped()
        made.myself = made
        made._objective.run = made
    del made
    gc.collect()
    assert len(os.listdir("/proc/self/task")) <= before


def work_in_another_process(rounds):
    return stepped(rounds).digest


@pytest.mark.parametrize("method", ["fork", "forkserver", "spawn"])
def test_processes_of_multiprocessing_make_runs_of_their_own(method):
    made = stepped()
    with multiprocessing.get_context(method).Pool(2) as pool:
        found = pool.map(work_in_another_process, [60, 60])
    made.step(57)
    assert set(found) == {made.digest}


@pytest.mark.parametrize("name", ["größe ∇ 数", "a b'c\"d", "-x", "a\udcff"])
def test_folders_have_any_name(name, tmp_path):
    made = stepped(60)
    made.save(tmp_path / name)
    assert ticopd.read(tmp_path / name).digest == made.digest
    again = run(resume=tmp_path / name)
    assert again.round == 60


def test_a_folder_that_cannot_be_written_leaves_the_run_as_it_is(tmp_path):
    made = stepped()
    (tmp_path / "file").write_text("mine")
    for place in ("/proc/nothing", tmp_path / "file" / "below"):
        with pytest.raises(ticopd.Error):
            made.save(place)
    made.step(60)
    assert made.digest == digest_of()
    assert (tmp_path / "file").read_text() == "mine"


def test_a_current_folder_that_is_gone_is_no_reason_to_fail(tmp_path, in_child):
    text = (
        "import os, tempfile, ticopd\n"
        "place = tempfile.mkdtemp(); os.chdir(place); os.rmdir(place)\n"
        "class Mine(ticopd.Objective):\n"
        "    dimension = 5\n"
        "    def value_and_gradient(self, agent, x, g):\n"
        "        g[:] = x - agent\n"
        "        return 0.0\n"
        "run = ticopd.Run(Mine(), graph='ring:3', algorithm=ticopd.DGD(eta=0.1))\n"
        "print(run.step(5))\n"
    )
    assert in_child(text) == "5\n"


PROGRAM = """
import sys, warnings
import numpy as np, ticopd
class Mine(ticopd.Objective):
    dimension = 5
    def value_and_gradient(self, agent, x, g):
        g[:] = x - agent
        return 0.5 * float(g @ g)
    def __del__(self):
        pass
run = ticopd.Run(Mine(), graph="ring:3", codec="qsgd:4", algorithm=ticopd.TiCoPD(alpha=.1, theta=1, eta=.2),
                 iterations=30)
run.step(30, progress=True)
run.save("out")
print(run.digest, ticopd.read("out").digest == run.digest)
"""


@pytest.mark.parametrize(
    "flags", [["-O"], ["-OO"], ["-W", "error"], ["-I"], ["-X", "dev"], ["-b", "-b"], ["-X", "utf8=0"]], ids=" ".join
)
def test_python_with_flags_makes_the_same_run(flags, child_environment, tmp_path, monkeypatch):
    import subprocess

    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    folder = child_environment["PYTHONPATH"].split(os.pathsep)[0]
    done = subprocess.run(
        [sys.executable, *flags, "-c", f"import sys; sys.path.insert(0, {folder!r})\n" + PROGRAM],
        env={**child_environment, "LC_ALL": "C"}, cwd=tmp_path, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Warning" not in done.stderr and "Traceback" not in done.stderr, done.stderr
    exec(PROGRAM.replace("print(", "expected = ("), found := {})
    assert done.stdout.split() == [found["expected"][0], "True"]


@pytest.mark.parametrize("stream", ["stderr", "stdout"])
def test_closed_streams_do_not_matter(stream, in_child):
    text = PROGRAM.replace("run.step(30", f"sys.{stream}.close(); sys.{stream} = None\nrun.step(30")
    text = text.replace("print(run.digest, ", "assert (")
    in_child(text)


def test_without_numpy_one_line_says_what_to_do(in_child):
    text = (
        "import sys; sys.modules['numpy'] = None\n"
        "try:\n    import ticopd\nexcept ImportError as error:\n    print(error)\n"
    )
    said = in_child(text)
    assert said.startswith("ticopd needs NumPy") and "pip install numpy" in said


def test_threads_that_share_a_codec_each_get_their_own_bytes():
    codec, wrong = ticopd.Qsgd(bits=4), []
    vectors = [np.random.default_rng(k).standard_normal(5000).astype(np.float32) for k in range(4)]
    expected = [codec.encode(v, **IDENTITY) for v in vectors]

    def work(k):
        for _ in range(50):
            if codec.encode(vectors[k], **IDENTITY) != expected[k]:
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_batches_cannot_be_used_to_change_the_run():
    class Scribbles(LeastSquares):
        def value_and_gradient(self, agent, x, g):
            loss = super().value_and_gradient(agent, x, g)
            if self.batch is not None:
                self.batch[:] = 0
            return loss

    assert digest_of(Scribbles(), batch=4, name="a") == digest_of(LeastSquares(), batch=4, name="a")
