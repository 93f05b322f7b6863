"""Objectives from PyTorch: gradients, data, buffers, and what is refused."""

import copy
import gc
import warnings

import numpy as np
import pytest
import ticopd

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from torch import nn  # noqa: E402
from torch.utils.data import (  # noqa: E402
    DataLoader,
    Dataset,
    IterableDataset,
    Subset,
    TensorDataset,
)

AGENTS, SAMPLES, FEATURES, CLASSES = 3, 24, 6, 3
entropy = nn.functional.cross_entropy


def network(seed=1, hidden=5):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(FEATURES, hidden), nn.Tanh(), nn.Linear(hidden, CLASSES))


def shards(dtype=torch.float32, samples=SAMPLES):
    generator = torch.Generator().manual_seed(5)
    return [
        (
            torch.randn(samples, FEATURES, generator=generator).to(dtype),
            torch.randint(CLASSES, (samples,), generator=generator),
        )
        for _ in range(AGENTS)
    ]


def options(**changed):
    algorithm = ticopd.TiCoPD(alpha=0.1, theta=0.5, eta=0.2)
    return {
        **dict(graph="ring:3", codec="qsgd:8", algorithm=algorithm, iterations=30),
        **changed,
    }


def make(model=None, loss=entropy, data=None, batch_size=8, run=None, **more):
    data = shards() if data is None else data
    objective = ticopd.torch.Objective(model or network(), loss, data, batch_size, **more)
    return ticopd.Run(objective, **options(**(run or {})))


def row_of(module):
    return torch.cat([p.detach().reshape(-1) for p in module.parameters()]).numpy()


# -- Gradients and data ------------------------------------------------------------------------------


def test_dgd_is_what_a_loop_in_torch_computes():
    """x_i <- sum_j W_ij x_j - eta grad f_i(x_i), with autograd's gradients."""
    run = make(
        batch_size=None,
        model=network().double(),
        data=shards(torch.float64),
        run=dict(codec="identity", algorithm=ticopd.DGD(eta=0.1), iterations=20),
    )
    run.step(20)
    W = np.full((3, 3), 1 / 3)  # a ring of three, Metropolis weights
    models = [network().double() for _ in range(AGENTS)]
    X = np.stack([row_of(m) for m in models])
    for _ in range(20):
        G = []
        for x, model, (inputs, targets) in zip(X, models, shards(torch.float64)):
            nn.utils.vector_to_parameters(torch.from_numpy(x), model.parameters())
            model.zero_grad()
            entropy(model(inputs), targets).backward()
            G.append(torch.cat([p.grad.reshape(-1) for p in model.parameters()]).numpy())
        X = W @ X - 0.1 * np.stack(G)
    assert run.x.dtype == np.float64
    assert np.allclose(run.x, X, rtol=0, atol=1e-12)


def test_sizes_of_chunks_do_not_change_the_gradient():
    runs = [
        make(batch_size=None, chunk=c, model=network().double(), data=shards(torch.float64))
        for c in (1, 7, 4096)
    ]
    for run in runs:
        run.step(10)
    assert np.allclose(runs[0].x, runs[1].x, atol=1e-12)
    assert np.allclose(runs[0].x, runs[2].x, atol=1e-12)


class Pairs(Dataset):
    """The samples of a tuple of tensors, one by one."""

    def __init__(self, tensors):
        self.tensors = tensors

    def __len__(self):
        return len(self.tensors[0])

    def __getitem__(self, i):
        return self.tensors[0][i], self.tensors[1][i]


@pytest.mark.parametrize(
    "kind",
    [
        TensorDataset,
        lambda *t: Pairs(t),
        lambda *t: Subset(TensorDataset(*t), range(len(t[0]))),
        lambda *t: list(t),
    ],
    ids=["TensorDataset", "Dataset", "Subset", "list"],
)
@pytest.mark.parametrize("batch_size", [8, None])
def test_kinds_of_data_sets_are_the_same_run(kind, batch_size):
    run = make(batch_size=batch_size)
    other = make(data=[kind(*pair) for pair in shards()], batch_size=batch_size)
    for each in (run, other):
        each.step(30)
    assert run.digest == other.digest
    assert np.array_equal(run.metrics["loss_local"], other.metrics["loss_local"], equal_nan=True)


def test_batches_are_drawn_by_ticopd_and_do_not_depend_on_torch_s_seed():
    digests = set()
    for seed in (1, 2):
        run = make()
        torch.manual_seed(seed)
        run.step(30)
        digests.add(run.digest)
    assert len(digests) == 1
    run = make(run=dict(seed=2))
    run.step(30)
    assert run.digest not in digests


def test_loaders_draw_by_themselves_and_start_anew_at_their_end():
    seen = []

    class Counted(Pairs):
        def __getitem__(self, i):
            seen.append(i)
            return super().__getitem__(i)

    data = [DataLoader(Counted(pair), batch_size=10, shuffle=True) for pair in shards()]
    run = make(data=data, batch_size=None, run=dict(iterations=3, log="rows"))
    run.step(3)
    assert sorted(seen) == sorted(list(range(SAMPLES)) * AGENTS)  # 10 + 10 + 4: an epoch
    assert run.config["problem"]["batch"] == 10


def test_loader_in_order_is_the_run_of_those_batches():
    data = [DataLoader(TensorDataset(*pair), batch_size=SAMPLES) for pair in shards()]
    run, full = make(data=data, batch_size=None), make(batch_size=None)
    for each in (run, full):
        each.step(30)
    assert run.digest == full.digest


def test_two_runs_of_one_objective_have_streams_of_their_own():
    data = [DataLoader(TensorDataset(*pair), batch_size=8) for pair in shards()]
    objective = ticopd.torch.Objective(network(), entropy, data)
    first, second = (ticopd.Run(objective, **options()) for _ in range(2))
    for _ in range(30):
        first.step(1), second.step(1)
    assert first.digest == second.digest


def test_loader_with_workers_while_a_run_lives():
    data = [DataLoader(TensorDataset(*pair), batch_size=8, num_workers=1) for pair in shards()]
    run = make(data=data, batch_size=None, run=dict(iterations=4))
    plain = [DataLoader(TensorDataset(*pair), batch_size=8) for pair in shards()]
    other = make(data=plain, batch_size=None, run=dict(iterations=4))
    assert run.step(4) == other.step(4) == 4
    assert run.digest == other.digest


def test_forward_takes_data_that_are_not_pairs():
    class Rows(Dataset):
        def __init__(self, x):
            self.x = x

        def __len__(self):
            return len(self.x)

        def __getitem__(self, i):
            return {"x": self.x[i]}

    model = nn.Sequential(nn.Linear(FEATURES, 2), nn.Linear(2, FEATURES))
    run = make(
        model, None, [Rows(x) for x, _ in shards()], batch_size=None,
        forward=lambda module, batch: ((module(batch["x"]) - batch["x"]) ** 2).mean(),
        run=dict(iterations=200),
    )  # fmt: skip
    before = run.measure()["loss_mean"]
    run.step(200)
    assert run.last["loss_local"] < before


# -- Models ----------------------------------------------------------------------------------------


def test_frozen_parameters_stay_and_are_not_sent():
    model = network()
    for p in model[0].parameters():
        p.requires_grad_(False)
    run = make(model)
    assert run.x.shape == (AGENTS, 5 * CLASSES + CLASSES)
    run.step(30)
    made = run.model(1)
    assert torch.equal(made[0].weight, model[0].weight)
    assert not torch.equal(made[2].weight, model[2].weight)


def test_shared_parameters_are_sent_once():
    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.down = nn.Linear(FEATURES, FEATURES, bias=False)
            self.up = nn.Linear(FEATURES, FEATURES, bias=False)
            self.up.weight = self.down.weight

        def forward(self, x):
            return self.up(torch.tanh(self.down(x)))

    run = make(Tied())
    assert run.x.shape == (AGENTS, FEATURES * FEATURES)
    run.step(10)
    made = run.model(0)
    assert made.up.weight is made.down.weight
    assert np.array_equal(row_of(made), run.x[0])


def test_the_user_s_model_and_data_are_never_changed():
    model, data = network(), shards()
    before, kept = copy.deepcopy(model.state_dict()), copy.deepcopy(data)
    run = make(model, data=data)
    run.step(30)
    assert all(torch.equal(v, before[k]) for k, v in model.state_dict().items())
    assert all(p.grad is None for p in model.parameters())
    assert all(torch.equal(a, b) for new, old in zip(data, kept) for a, b in zip(new, old))


def test_all_agents_start_at_the_model_s_weights():
    model = network(seed=9)
    run = make(model)
    assert np.array_equal(run.x, np.stack([row_of(model)] * AGENTS))


def test_model_of_an_agent_is_a_copy():
    run = make()
    run.step(5)
    module = run.model(2)
    assert np.array_equal(row_of(module), run.x[2])
    with torch.no_grad():
        for p in module.parameters():
            p.zero_()
    assert run.x[2].any()
    made = run._objective.module(run.x[1])
    assert np.array_equal(row_of(made), run.x[1])
    with pytest.raises(ValueError, match="shape"):
        run._objective.module(run.x[1][:-1])


def test_a_module_outlives_its_run():
    run = make()
    run.step(5)
    module, row = run.model(0), run.x[0].copy()
    run.close()
    del run
    gc.collect()
    assert np.array_equal(row_of(module), row)


def test_sparse_gradients_and_unused_parameters():
    class Words(nn.Module):
        def __init__(self):
            super().__init__()
            self.table = nn.Embedding(7, 4, sparse=True)
            self.out = nn.Linear(4, CLASSES)
            self.unused = nn.Parameter(torch.ones(3))

        def forward(self, words):
            return self.out(self.table(words).mean(dim=1))

    torch.manual_seed(1)
    data = [(torch.randint(7, (20, 5)), torch.randint(CLASSES, (20,))) for _ in range(AGENTS)]
    run = make(Words(), data=data, run=dict(codec="identity"))
    before = run.measure()["loss_mean"]
    run.step(30)
    assert run.measure()["loss_mean"] < before
    assert np.allclose(run.x[:, :3], 1)  # a parameter of the module itself comes first


@pytest.mark.parametrize("seed", [1, 2])
def test_dropout_repeats_with_torch_s_seed(seed):
    digests = []
    for _ in range(2):
        model = nn.Sequential(nn.Linear(FEATURES, 8), nn.Dropout(0.5), nn.Linear(8, CLASSES))
        with torch.no_grad():
            for p in model.parameters():
                p.fill_(0.1)
        run = make(model)
        torch.manual_seed(seed)
        run.step(30)
        digests.append(run.digest)
    assert digests[0] == digests[1]


# -- Metrics ---------------------------------------------------------------------------------------


def test_accuracy_of_a_test_set_and_metrics_of_a_module():
    test = shards()[0]
    run = make(test=test, run=dict(metrics={"norm": lambda m: m[0].weight.norm()}, log=10))
    run.step(30)
    for agent in range(AGENTS):
        module = run.model(agent)
        module.eval()
        right = (module(test[0]).argmax(1) == test[1]).float().mean().item()
        assert right >= run.last["accuracy_min"] - 1e-6
    norms = [run.model(i)[0].weight.norm().item() for i in range(AGENTS)]
    assert run.last["norm_max"] == pytest.approx(max(norms), rel=1e-6)
    assert run.last["norm_min"] == pytest.approx(min(norms), rel=1e-6)


def test_accuracy_of_one_output_is_its_sign_and_a_function_may_count():
    torch.manual_seed(2)
    data = [(x, (y > 0).float()[:, None]) for x, y in shards()]
    loss = nn.functional.binary_cross_entropy_with_logits
    model = nn.Linear(FEATURES, 1)
    run = make(model, loss, data, test=data[0])
    run.step(30)
    x, y = data[0]
    shares = [((run.model(i)(x) > 0) == (y > 0)).float().mean().item() for i in range(AGENTS)]
    assert run.last["accuracy_min"] == pytest.approx(min(shares))
    counted = make(model, loss, data, test=data[0], accuracy=lambda output, target: 6)
    counted.step(30)
    assert counted.last["accuracy_mean"] == pytest.approx(6 / SAMPLES)


def test_full_metrics_are_those_of_the_modules():
    doubles = shards(torch.float64)
    run = make(network().double(), data=doubles, run=dict(log={"level": "full"}))
    run.step(30)
    worst = max(
        np.mean([entropy(run.model(i)(x), y).item() for x, y in shards(torch.float64)])
        for i in range(AGENTS)
    )
    assert run.last["loss_max"] == pytest.approx(worst, rel=1e-12)
    local = np.mean(
        [entropy(run.model(i)(x), y).item() for i, (x, y) in enumerate(shards(torch.float64))]
    )
    own = make(network().double(), data=doubles)
    own.step(30)
    assert own.digest == run.digest
    assert own.last["loss_local"] == pytest.approx(local, rel=1e-12)


# -- Buffers ---------------------------------------------------------------------------------------


def normed(seed=1):
    torch.manual_seed(seed)
    return nn.Sequential(
        nn.Linear(FEATURES, 5), nn.BatchNorm1d(5), nn.Dropout(0.2), nn.Linear(5, CLASSES)
    )


def buffers(run):
    return [{k: v.clone() for k, v in run.model(i).named_buffers()} for i in range(AGENTS)]


def same(first, second):
    return all(torch.equal(a[k], b[k]) for a, b in zip(first, second) for k in a)


def test_running_statistics_are_each_agent_s_own_and_only_rounds_change_them():
    run = make(normed(), run=dict(log="rows"))
    run.step(10)
    own = buffers(run)
    assert not torch.equal(own[0]["1.running_mean"], own[1]["1.running_mean"])
    assert int(own[0]["1.num_batches_tracked"]) == 10
    run.measure("full")
    assert same(own, buffers(run))


def test_an_exception_in_the_middle_changes_neither_models_nor_buffers_nor_dropout():
    """Agent 2 fails at some rounds, after the others have answered; the question is asked again."""

    def trained(fails):
        model = normed()
        count = {"left": 0}

        def loss(output, target):
            if output.requires_grad:
                count["left"] += 1
                if fails and count["left"] % 7 == 0:
                    raise RuntimeError("not now")
            return entropy(output, target)

        run = make(model, loss)
        torch.manual_seed(3)
        while not run.finished:
            try:
                run.step(30)
            except RuntimeError as error:
                assert str(error) == "not now"
        return run

    run, undisturbed = trained(True), trained(False)
    assert run.digest == undisturbed.digest
    assert same(buffers(run), buffers(undisturbed))


def test_buffers_are_saved_and_go_on(tmp_path):
    def run_of(**more):
        model = nn.Sequential(nn.Linear(FEATURES, 5), nn.BatchNorm1d(5), nn.Linear(5, CLASSES))
        with torch.no_grad():
            for p in model.parameters():
                p.copy_(torch.linspace(-1, 1, p.numel()).reshape(p.shape))
        return make(model, run=more)

    run = run_of()
    run.step(12)
    run.save(tmp_path / "half")
    run.step(18)
    again = run_of(resume=tmp_path / "half")
    again.step(18)
    assert again.digest == run.digest
    assert same(buffers(again), buffers(run))
    assert run.last == {**again.last, "seconds": run.last["seconds"]}

    file = tmp_path / "half" / "buffers" / "1.npz"
    good = file.read_bytes()
    for bad in (b"", good[:100], b"x" * 500, good[:-30]):
        file.write_bytes(bad)
        with pytest.raises(ticopd.FormatError, match="1.npz"):
            run_of(resume=tmp_path / "half")
    file.unlink()
    with pytest.warns(RuntimeWarning, match="agent 1"):
        run_of(resume=tmp_path / "half")


def test_a_run_with_a_module_pickles_with_its_buffers():
    import pickle

    model = nn.Sequential(nn.Linear(FEATURES, 5), nn.BatchNorm1d(5), nn.Linear(5, CLASSES))
    run = make(model)
    run.step(9)
    again = pickle.loads(pickle.dumps(run))
    assert same(buffers(run), buffers(again))
    for each in (run, again):
        each.step(21)
    assert run.digest == again.digest


def test_other_data_are_refused_when_a_run_goes_on(tmp_path):
    run = make()
    run.step(5)
    run.save(tmp_path / "run")
    other = shards()
    other[1][0][3, 2] += 1
    with pytest.raises(ticopd.ConfigError, match="agent 1|data"):
        make(data=other, run=dict(resume=tmp_path / "run"))


# -- What is refused -------------------------------------------------------------------------------


class Endless(IterableDataset):
    def __iter__(self):
        yield torch.zeros(FEATURES), 0


x0, y0 = shards()[0]
Objective = ticopd.torch.Objective


def made(model=None, loss=entropy, data=None, *more, **named):
    return Objective(model or network(), loss, shards() if data is None else data, *more, **named)


def loader(*tensors, **more):
    return DataLoader(TensorDataset(*tensors), **more)


half, mixed = network().half(), nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2).double())

REFUSED = {
    "a class for a model": (lambda: made(nn.Linear), TypeError, "nn.Module"),
    "a function for a model": (lambda: made(len), TypeError, "nn.Module"),
    "no loss": (lambda: made(loss=None), TypeError, "loss"),
    "two losses": (lambda: made(forward=len), TypeError, "one of"),
    "a loss that is no function": (lambda: made(loss=3), TypeError, "function"),
    "one data set": (lambda: made(data=TensorDataset(x0, y0)), TypeError, "each agent"),
    "one loader": (lambda: made(data=loader(x0, y0)), TypeError, "each agent"),
    "a tensor": (lambda: made(data=x0), TypeError, "each agent"),
    "no data": (lambda: made(data=[]), ValueError, "none"),
    "no samples": (lambda: made(data=[(x0, y0), (x0[:0], y0[:0])]), ValueError, r"datasets\[1\]"),
    "two lengths": (lambda: made(data=[(x0, y0[:5])]), ValueError, r"\[5, 24\]"),
    "endless data": (lambda: made(data=[Endless()]), TypeError, "length"),
    "an endless loader": (lambda: made(data=[DataLoader(Endless())]), TypeError, "length"),
    "two kinds": (lambda: made(data=[(x0, y0), loader(x0, y0)]), TypeError, "one kind"),
    "a batch and a loader": (lambda: made(data=[loader(x0, y0)], batch_size=4), ValueError, "own"),
    "a batch of none": (lambda: made(batch_size=0), ValueError, "batch_size = 0"),
    "a chunk of none": (lambda: made(chunk=0), ValueError, "chunk = 0"),
    "half precision": (lambda: made(half), ValueError, "float16"),
    "two precisions": (lambda: made(mixed), ValueError, "several types"),
    "another device": (lambda: made(nn.Linear(2, 2, device="meta")), ValueError, "meta"),
    "nothing to train": (lambda: made(nn.Tanh()), ValueError, "no parameters"),
    "more agents": (lambda: make(run=dict(graph="ring:4")), ticopd.ConfigError, "3 agents"),
    "precisions": (lambda: make(run=dict(precision="double")), ticopd.ConfigError, "float"),
    "a test set of one tensor": (lambda: make(test=x0), TypeError, "test"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_when_made(name):
    make_it, kind, words = REFUSED[name]
    with pytest.raises(kind, match=words):
        make_it()


def step_with(**changed):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        make(**changed).step(3)


def empty_loaders():
    return [loader(*shard, batch_size=99, drop_last=True) for shard in shards()]


doubles, narrow = shards(torch.float64), [(x[:, :2], y) for x, y in shards()]
triples = [(x, y, y) for x, y in shards()]

WRONG_IN_A_ROUND = {
    "losses": (dict(loss=lambda o, t: entropy(o, t, reduction="none")), ValueError, "mean"),
    "a number": (dict(loss=lambda o, t: entropy(o, t).item()), TypeError, "tensor"),
    "a loss cut off": (dict(loss=lambda o, t: entropy(o, t).detach()), ValueError, "detach"),
    "nan": (dict(loss=lambda o, t: entropy(o, t) * np.nan), FloatingPointError, "agent 0"),
    "samples of another type": (dict(data=doubles), RuntimeError, "dtype|Double|type"),
    "samples of another shape": (dict(data=narrow), RuntimeError, "shape"),
    "three tensors a sample": (dict(data=triples), TypeError, "pair"),
    "no batches": (dict(data=empty_loaders(), batch_size=None), ValueError, "0.*drop_last"),
}


@pytest.mark.parametrize("name", WRONG_IN_A_ROUND)
def test_refused_in_a_round(name):
    changed, kind, words = WRONG_IN_A_ROUND[name]
    with pytest.raises(kind, match=words):
        step_with(**changed)
