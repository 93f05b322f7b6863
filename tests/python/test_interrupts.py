"""Ctrl-C, signals and exceptions at any moment leave a run that goes on with the same bits."""

import os
import random
import signal
import threading
import time

import numpy as np
import pytest
import ticopd
from conftest import AllRows, Distance, options

METHODS = [
    ticopd.TiCoPD(alpha=0.1, theta=1, eta=0.2),
    ticopd.BEER(eta=0.05, gamma=0.3),
    ticopd.DoCoM(eta=0.05, gamma=0.3, beta=0.5),
    ticopd.ChocoSGD(eta=0.05, gamma=0.3),
]


def undisturbed(algorithm, rounds, kind=Distance):
    run = ticopd.Run(kind(), **options(graph="ring:8", algorithm=algorithm, iterations=rounds))
    run.step(rounds)
    return run.digest


class Mistake(Exception):
    pass


class Fails(Distance):
    """Raises at random calls, before or after a part of the answer was written."""

    def __init__(self, seed, chance):
        super().__init__()
        self.random = random.Random(seed)
        self.chance = chance
        self.raised = 0

    def value_and_gradient(self, agent, x, g):
        if self.random.random() < self.chance:
            self.raised += 1
            g[:] = 1e9
            raise Mistake(f"at agent {agent}")
        return super().value_and_gradient(agent, x, g)


@pytest.mark.parametrize("algorithm", METHODS, ids=lambda a: a.name)
def test_300_exceptions_change_nothing(algorithm):
    raised = 0
    expected = undisturbed(algorithm, 120)
    for seed in range(100):
        objective = Fails(seed, 0.0)
        run = ticopd.Run(objective, **options(graph="ring:8", algorithm=algorithm, iterations=120))
        objective.chance = 0.05
        while not run.finished:
            before = run.round
            try:
                made = run.step(50)
                assert run.round - before == made
            except Mistake:
                assert run.pending
                assert run.round >= before
        assert run.digest == expected
        raised += objective.raised
        if raised >= 80:  # four methods
            break
    assert raised >= 75


def test_the_round_that_is_finished_counts_as_one():
    objective = Fails(1, 0.0)
    run = ticopd.Run(objective, **options())
    run.step(10)
    objective.chance = 1.0
    with pytest.raises(Mistake):
        run.step(5)
    objective.chance = 0.0
    assert run.round == 10 and run.pending
    assert run.step(3) == 3
    assert run.round == 13 and not run.pending


def interrupted(run, rounds, seed, raise_signal):
    """Makes the rounds while signals arrive at random moments; returns how many were felt."""
    rng = random.Random(seed)
    felt = 0
    while True:
        try:
            raise_signal(rng)
            while not run.finished:
                run.step(rounds)
            signal.setitimer(signal.ITIMER_REAL, 0)
            return felt
        except KeyboardInterrupt:
            felt += 1


@pytest.fixture
def timer_is_control_c():
    def handler(number, frame):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, handler)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def test_300_interrupts_change_nothing(timer_is_control_c):
    felt = 0
    for number, algorithm in enumerate(METHODS * 25):
        kind = AllRows if number % 2 else Distance
        expected = undisturbed(algorithm, 150, kind)
        run = ticopd.Run(kind(), **options(graph="ring:8", algorithm=algorithm, iterations=150))
        felt += interrupted(
            run,
            150,
            number,
            lambda rng: signal.setitimer(signal.ITIMER_REAL, rng.uniform(0.0002, 0.004)),
        )
        assert run.digest == expected, f"{algorithm}, seed {number}"
        if felt >= 300:
            break
    assert felt >= 300


def test_real_sigint_ends_a_step_at_once_and_changes_nothing():
    class Slow(Distance):
        def value_and_gradient(self, agent, x, g):
            time.sleep(0.0005)
            return super().value_and_gradient(agent, x, g)

    expected = undisturbed(METHODS[0], 60)
    run = ticopd.Run(Slow(), **options(graph="ring:8", algorithm=METHODS[0], iterations=60))
    felt = 0
    while not run.finished:
        timer = threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT))
        began = time.monotonic()
        try:
            try:  # on a busy machine the signal may come as early as here
                timer.start()
                run.step(60)
            finally:  # or as late as here
                timer.cancel()
                timer.join()
        except KeyboardInterrupt:
            felt += 1
            assert time.monotonic() - began < 5
    assert felt >= 2
    assert run.digest == expected


def test_sigint_ends_a_run_of_the_library_s_own_objective(tmp_path):
    file = tmp_path / "run.toml"
    file.write_text(
        'iterations = 100000000\n[problem]\nobjective = "least_squares"\ndata = "synthetic"\npartition = "iid"\n'
        '[log]\nlevel = "rows"\n[codec]\nkind = "qsgd"\n'
        '[algorithm]\nname = "choco_sgd"\neta = 0.01\ngamma = 0.3\n'
    )
    run = ticopd.Run.from_toml(file)
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        run.step(100000000)
    assert time.monotonic() - began < 5
    made = run.round
    time.sleep(0.2)
    assert run.round == made  # it does not go on behind our back
    other = ticopd.Run.from_toml(file)
    other.step(made)
    assert np.array_equal(other.x, run.x)


def test_an_exception_while_measuring_gives_the_measurement_up():
    objective = Fails(1, 0.0)
    run = ticopd.Run(objective, **options())
    run.step(10)
    objective.chance = 1.0
    with pytest.raises(Mistake):
        run.measure()
    objective.chance = 0.0
    assert not run.pending
    assert run.measure()["loss_max"] > 0
    assert run.step(50) == 50


def test_an_exception_while_the_run_is_made_closes_it():
    with pytest.raises(Mistake):
        ticopd.Run(Fails(1, 1.0), **options(algorithm=METHODS[1]))  # BEER asks when it is made


def test_nan_in_a_gradient_names_agent_and_round_and_the_run_goes_on():
    class Nan(Distance):
        wrong = False

        def value_and_gradient(self, agent, x, g):
            loss = super().value_and_gradient(agent, x, g)
            if self.wrong and agent == 2 and self.round == 7:
                g[3] = np.nan
            return loss

    for kind in (Nan, Nan):
        objective = kind()
        run = ticopd.Run(objective, **options())
        objective.wrong = True
        with pytest.raises(
            FloatingPointError, match="agent 2, round 7: the gradient is nan at coordinate 3"
        ):
            run.step(60)
        assert run.round == 6 and run.pending
        objective.wrong = False
        assert run.step(54) == 54
        other = ticopd.Run(Distance(), **options())
        other.step(60)
        assert run.digest == other.digest


def test_infinity_in_a_gradient_of_all_rows_is_found():
    class Infinite(AllRows):
        def gradients(self, first, X, G):
            losses = super().gradients(first, X, G)
            if self.round == 3:
                G[5, 1] = -np.inf
            return losses

    run = ticopd.Run(Infinite(), **options(graph="ring"))
    with pytest.raises(
        FloatingPointError, match="agent 5, round 3: the gradient is -inf at coordinate 1"
    ):
        run.step(60)


def test_a_gradient_that_is_never_written_is_noticed():
    class Rebinds(Distance):
        def value_and_gradient(self, agent, x, g):
            g = x - agent  # a new array: nothing is written
            return 0.5 * float(g @ g)

    run = ticopd.Run(Rebinds(), **options())
    with pytest.raises(FloatingPointError, match="was it written into g"):
        run.step()


def test_large_gradients_are_no_mistake():
    class Large(Distance):
        def value_and_gradient(self, agent, x, g):
            g[:] = 1e30
            return 1.0

    run = ticopd.Run(Large(), **options(codec="identity", algorithm=ticopd.DGD(eta=1e-30)))
    assert run.step(3) == 3


def test_save_with_an_open_question_finishes_the_round(tmp_path):
    objective = Fails(1, 0.0)
    run = ticopd.Run(objective, name="fails", **options())
    run.step(10)
    objective.chance = 1.0
    with pytest.raises(Mistake):
        run.step(5)
    objective.chance = 0.0
    run.save(tmp_path / "run")
    assert run.round == 11
    resumed = ticopd.Run(Distance(), name="fails", **options(resume=tmp_path / "run"))
    assert resumed.round == 11


def test_save_when_the_objective_still_fails_writes_an_earlier_round(tmp_path):
    objective = Fails(1, 0.0)
    run = ticopd.Run(objective, name="fails", **options())
    run.step(10)
    objective.chance = 1.0
    with pytest.raises(Mistake):
        run.step(5)
    with pytest.warns(RuntimeWarning, match="round 11 could not be finished"):
        run.save(tmp_path / "run")
    objective.chance = 0.0
    resumed = ticopd.Run(Distance(), name="fails", **options(resume=tmp_path / "run"))
    assert resumed.round <= 10
    resumed.step(60)
    run.step(60)
    assert resumed.digest == run.digest
