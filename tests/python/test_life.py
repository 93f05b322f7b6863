"""Memory, threads, forks, pickles, and the end of the process."""

import gc
import os
import pickle
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import ticopd
from conftest import AllRows, Distance, LeastSquares, options


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def threads():
    return len(os.listdir("/proc/self/task"))


def make_runs(count):
    for k in range(count):
        run = ticopd.Run(AllRows(50, 4), **options(iterations=5))
        run.step(3)
        if k % 3 == 0:
            run.x, run.metrics, run.digest
        if k % 5 == 0:
            run.close()


@pytest.mark.parametrize("count", [1000, pytest.param(10000, marks=pytest.mark.slow)])
def test_runs_leave_no_memory_and_no_threads(count):
    make_runs(count // 5)
    gc.collect()
    before, running = resident(), threads()
    make_runs(count)
    gc.collect()
    assert resident() - before < 2_000_000 + 200 * count
    assert threads() <= running


def test_a_run_is_freed_without_the_garbage_collector():
    gc.collect()
    gc.disable()
    try:
        before = threads()
        run = ticopd.Run(Distance(), **options())
        run.step(3)
        assert threads() > before
        del run
        assert threads() == before
    finally:
        gc.enable()


def test_a_view_of_x_keeps_its_run_alive():
    run = ticopd.Run(Distance(), **options())
    run.step(10)
    row = run.x[2, 3:7]
    expected = row.copy()
    x = run.x
    del run
    gc.collect()
    make_runs(20)
    assert np.array_equal(row, expected)
    assert np.array_equal(x[2, 3:7], expected)


def test_x_follows_the_run_and_is_read_only():
    run = ticopd.Run(Distance(), **options())
    x = run.x
    assert x is run.x
    assert not x.any()
    row = x[1]
    run.step(30)
    assert x.any() and np.array_equal(row, run.x[1])
    assert run.measure("rows")["consensus"] == pytest.approx(
        float(((x - x.mean(axis=0)) ** 2).sum()), rel=1e-4
    )
    with pytest.raises(ValueError):
        x[0] = 1
    with pytest.raises(ValueError):
        x.flags.writeable = True
    run.close()
    assert x.shape == (4, 10) and x.any()


def test_arrays_of_a_question_may_outlive_the_run():
    kept = []

    class Keeps(Distance):
        def value_and_gradient(self, agent, x, g):
            kept.append((x, g))
            return super().value_and_gradient(agent, x, g)

    run = ticopd.Run(Keeps(), **options())
    run.step(5)
    run.close()
    del run
    gc.collect()
    assert all(np.isfinite(x).all() and np.isfinite(g).all() for x, g in kept)


def test_a_closed_run_says_so():
    with ticopd.Run(Distance(), **options()) as run:
        run.step(2)
    for use in (lambda: run.step(), lambda: run.x, lambda: run.digest, lambda: run.round):
        with pytest.raises(ticopd.UsageError, match="closed"):
            use()
    run.close()
    assert "closed" in repr(run)


def test_a_second_thread_is_refused_while_the_run_steps():
    entered, leave = threading.Event(), threading.Event()

    class Waits(Distance):
        def value_and_gradient(self, agent, x, g):
            entered.set()
            leave.wait(10)
            return super().value_and_gradient(agent, x, g)

    run = ticopd.Run(Waits(), **options())
    worker = threading.Thread(target=run.step, args=(3,))
    worker.start()
    try:
        assert entered.wait(10)
        for use in (run.step, run.measure, lambda: run.x, lambda: run.metrics, lambda: run.digest):
            with pytest.raises(ticopd.UsageError, match="another thread"):
                use()
    finally:
        leave.set()
        worker.join()
    assert run.round == 3
    assert run.step(2) == 2  # and from this thread afterwards


def test_the_objective_cannot_use_its_own_run():
    class Nested(Distance):
        run = None

        def value_and_gradient(self, agent, x, g):
            if self.run is not None and self.round == 2:
                self.run.step()
            return super().value_and_gradient(agent, x, g)

    objective = Nested()
    run = ticopd.Run(objective, **options())
    objective.run = run
    with pytest.raises(ticopd.UsageError, match="waits for the answer"):
        run.step(5)
    objective.run = None
    assert run.step(5) == 5


def test_two_runs_may_take_turns_and_share_an_objective():
    objective = LeastSquares()
    one = ticopd.Run(objective, **options(batch=3))
    two = ticopd.Run(objective, **options(batch=3))
    for _ in range(30):
        one.step()
        two.step(2)
    one.step(30)
    assert one.digest == two.digest


def test_runs_in_several_threads():
    digests = []

    def work():
        run = ticopd.Run(Distance(), **options())
        run.step(60)
        digests.append(run.digest)

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(digests) == 4 and len(set(digests)) == 1


# -- Forks ----------------------------------------------------------------------------------------


def in_fork(work):
    """What a child of os.fork finds, as text."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        text = "nothing"
        try:
            text = work()
        except BaseException as error:
            text = f"{type(error).__name__}: {error}"
        finally:
            os.write(write, text.encode())
            os._exit(0)
    os.close(write)
    with os.fdopen(read) as file:
        text = file.read()
    _, status = os.waitpid(child, 0)
    assert status == 0
    return text


def test_every_call_raises_in_the_child_of_a_fork():
    run = ticopd.Run(Distance(), **options())
    run.step(5)
    uses = {
        "step": run.step,
        "measure": run.measure,
        "save": lambda: run.save("nowhere"),
        "x": lambda: run.x,
        "metrics": lambda: run.metrics,
        "digest": lambda: run.digest,
        "round": lambda: run.round,
        "finished": lambda: run.finished,
        "summary": lambda: run.summary,
    }

    def work():
        found = []
        for name, use in uses.items():
            try:
                use()
                found.append(f"{name} did not raise")
            except ticopd.UsageError as error:
                if "fork" not in str(error):
                    found.append(f"{name}: {error}")
        return "; ".join(found) or "fine"

    assert in_fork(work) == "fine"
    assert run.step(55) == 55


def test_destructors_do_nothing_in_the_child_and_new_runs_work_there():
    codec = ticopd.Codec("qsgd", bits=4)
    payload = codec.encode(np.ones(9, np.float32), seed=1, round=1, agent=0)
    run = ticopd.Run(Distance(), **options())
    run.step(5)
    x = run.x
    expected = x.copy()
    holder = [run]

    def work():
        nonlocal x
        holder[0].close()
        holder.clear()
        x = None
        gc.collect()
        assert codec.encode(np.ones(9, np.float32), seed=1, round=1, agent=0) == payload
        child = ticopd.Run(Distance(), **options())
        child.step(60)
        return child.digest

    digest = in_fork(work)
    assert np.array_equal(run.x, expected)
    run.step(55)
    assert run.digest == digest


def test_multiprocessing_with_a_run_that_lives():
    import multiprocessing

    run = ticopd.Run(Distance(), **options())
    run.step(5)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(abs, range(-4, 0)) == [4, 3, 2, 1]
        run.step(5)
    assert run.round == 10


# -- Pickles --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "thing",
    [
        ticopd.ring(8),
        ticopd.erdos_renyi(10, p=0.3, drop=0.1),
        ticopd.edges([(0, 1), (1, 2)]),
        ticopd.Qsgd(bits=4),
        ticopd.Codec("top_k", fraction=0.1, then="qsgd", bits=3),
        ticopd.TiCoPD(alpha=0.1, theta=1, eta=ticopd.inverse(1, 10)),
        ticopd.inverse_sqrt(1, 100),
        ticopd.ConfigError("no", 78),
        ticopd.Diverged("far", 76, 12),
    ],
    ids=repr,
)
def test_plain_things_pickle(thing):
    again = pickle.loads(pickle.dumps(thing))
    assert type(again) is type(thing)
    assert repr(again) == repr(thing)
    if isinstance(thing, Exception):
        assert again.code == thing.code and vars(again) == vars(thing)
    else:
        assert again == thing and hash(again) == hash(thing)


def test_a_run_pickles_and_goes_on_with_the_same_bits():
    run = ticopd.Run(LeastSquares(), **options(batch=4))
    run.step(20)
    again = pickle.loads(pickle.dumps(run))
    assert again.round == 20
    assert np.array_equal(again.x, run.x)
    for each in (run, again):
        each.step(40)
    assert run.digest == again.digest
    assert np.array_equal(run.metrics["loss_max"], again.metrics["loss_max"], equal_nan=True)


def test_a_run_without_rounds_and_a_finished_one_pickle():
    run = ticopd.Run(LeastSquares(), **options())
    fresh = pickle.loads(pickle.dumps(run))
    assert fresh.round == 0 and fresh.step(60) == 60
    done = pickle.loads(pickle.dumps(fresh))
    assert done.finished and done.digest == fresh.digest and done.step() == 0


def test_results_pickle(tmp_path):
    run = ticopd.Run(Distance(), **options())
    run.step(60)
    run.save(tmp_path / "run")
    result = ticopd.read(tmp_path / "run")
    again = pickle.loads(pickle.dumps(result))
    assert again.digest == result.digest
    assert np.array_equal(again.final, result.final)


# -- The process ----------------------------------------------------------------------------------

PROGRAM = """
import ticopd, numpy, threading
class Mine(ticopd.Objective):
    dimension = 5
    def value_and_gradient(self, agent, x, g):
        g[:] = x - agent
        return 0.0
def make():
    return ticopd.Run(Mine(), graph="ring:3", algorithm=ticopd.DGD(eta=0.1))
"""


def test_a_process_ends_with_runs_that_live(in_child):
    assert in_child(PROGRAM + "run = make(); run.step(5); x = run.x; print('done')") == "done\n"


def test_a_process_ends_with_a_question_open(in_child):
    text = PROGRAM + (
        "run = make()\n"
        "Mine.value_and_gradient = lambda *a: 1/0\n"
        "objective = run._objective\n"
        "try:\n    run._answer = run._session.answerer(); run.step(5)\n"
        "except ZeroDivisionError:\n    print('open', run.pending)\n"
    )
    assert in_child(text) == "open True\n"


def test_runs_are_closed_before_the_process_ends(in_child):
    text = (
        "import atexit\n"
        "atexit.register(lambda: print('closed', run._handle.address is None))\n"
    ) + PROGRAM
    text += "run = make()\nrun.step(5)\n"
    assert in_child(text) == "closed True\n"


def test_a_process_ends_while_a_daemon_thread_steps(in_child):
    text = PROGRAM + (
        "import time\n"
        "run = make()\n"
        "run2 = ticopd.Run(Mine(), graph='ring:3', algorithm=ticopd.DGD(eta=0.1), iterations=10**8,"
        " log='rows')\n"
        "threading.Thread(target=run2.step, args=(10**8,), daemon=True).start()\n"
        "time.sleep(0.3)\nprint('done')\n"
    )
    assert in_child(text) == "done\n"


def test_import_is_quick_and_starts_nothing(child_environment):
    text = (
        "import sys, time, os, numpy\n"
        "before = len(os.listdir('/proc/self/task'))\n"
        "environment = dict(os.environ)\n"
        "began = time.perf_counter()\n"
        "import ticopd\n"
        "spent = time.perf_counter() - began\n"
        "assert len(os.listdir('/proc/self/task')) == before\n"
        "assert environment == dict(os.environ)\n"
        "assert not {'torch', 'pandas', 'matplotlib', 'mpi4py', 'networkx', 'tqdm'} & set(sys.modules)\n"
        "maps = open('/proc/self/maps').read()\n"
        "assert 'libmpi' not in maps\n"
        "print(spent)\n"
    )
    spent = min(
        float(
            subprocess.run(
                [sys.executable, "-c", text],
                env=child_environment,
                check=True,
                capture_output=True,
                text=True,
            ).stdout
        )
        for _ in range(5)
    )
    assert spent < 0.3


def test_numpy_keeps_its_blas_threads():
    pools = pytest.importorskip("threadpoolctl")
    before = pools.threadpool_info()
    run = ticopd.Run(LeastSquares(), **options())
    run.step(60)
    known = {pool["filepath"] for pool in before}
    assert [pool for pool in pools.threadpool_info() if pool["filepath"] in known] == before


def test_a_wrong_library_is_an_import_error_that_says_what_to_do(child_environment, tmp_path):
    for value, words in (
        (str(tmp_path / "none.so"), "make python"),
        ("relative.so", "absolute"),
        ("/etc/hostname", "cannot load"),
    ):
        done = subprocess.run(
            [sys.executable, "-c", "import ticopd"],
            env={**child_environment, "TICOPD_LIBRARY": value},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 1
        assert "ImportError" in done.stderr and words in done.stderr


def test_the_command_line_is_python_m_ticopd(child_environment, program):
    done = subprocess.run(
        [sys.executable, "-m", "ticopd", "list", "codecs"],
        env={**child_environment, "TICOPD_PROGRAM": program},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0 and "qsgd" in done.stdout
    done = subprocess.run(
        [sys.executable, "-m", "ticopd", "no-such-command"],
        env={**child_environment, "TICOPD_PROGRAM": program},
        capture_output=True,
    )
    assert done.returncode == 64


def test_waiting_costs_no_processor_time():
    run = ticopd.Run(Distance(), **options())
    run.step(5)
    before = time.process_time()
    time.sleep(0.3)
    assert time.process_time() - before < 0.1
