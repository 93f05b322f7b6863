"""Codecs alone, from Python."""

import math
import os
import pickle
import threading

import numpy as np
import pytest
import ticopd
from ticopd.codecs import CODECS

D = 257
SOME = {
    "identity": [{}],
    "qsgd": [{}, {"bits": 1}, {"bits": 4}, {"bits": 8, "coding": "entropy"}, {"bucket": 64}],
    "top_k": [{"k": 7}, {"fraction": 0.1, "then": ticopd.Qsgd(bits=6), "coding": "entropy"}],
    "rand_k": [{"k": 7}, {"fraction": 0.5}],
    "sign": [{}, {"bucket": 32}],
    "norm_sign": [{}, {"bucket": 32}],
    "threshold": [{"threshold": 0.5}],
    "random_gossip": [{"p": 0.5}],
    "grid": [{"r0": 6, "kappa": 1}],  # a box that holds all of the numbers below
}
ALL = [(name, given) for name in CODECS for given in SOME.get(name, [{}])]
identity = dict(seed=3, round=5, agent=2)


def numbers(dtype=np.float32, seed=1):
    return np.random.default_rng(seed).standard_normal(D).astype(dtype)


@pytest.fixture(params=ALL, ids=lambda c: f"{c[0]}{sorted(c[1])}")
def codec(request):
    name, given = request.param
    return ticopd.Codec(name, **given)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_what_is_decoded_is_as_near_as_promised(codec, dtype):
    v, bound = numbers(dtype), codec.error_bound(D)
    errors, first = [], None
    for round in range(1, 41):
        b = codec.encode(v, seed=3, round=round, agent=2)
        w = codec.decode(b, D, seed=3, round=round, agent=2, dtype=dtype)
        assert type(b) is bytes and w.dtype == dtype and w.shape == (D,)
        if dtype == np.float32:
            assert len(b) <= codec.payload_bytes(D)
            assert len(b) == codec.payload_bytes(D) or not codec.fixed_length(D)
        assert b == codec.encode(v, seed=3, round=round, agent=2)
        first = w if first is None else first
        errors.append(float(np.sum((w - v) ** 2)))
    size = float(v @ v)
    assert np.mean(errors) <= 1.3 * (bound.relative * size + bound.absolute) + 1e-9
    assert np.isfinite(first).all()


def test_out_is_filled_and_returned(codec):
    v, out = numbers(), np.full(D, 9, np.float32)
    b = codec.encode(v, **identity)
    assert codec.decode(bytearray(b), D, out=out, **identity) is out
    assert np.array_equal(out, codec.decode(memoryview(b), D, **identity))


def test_strides_lists_and_read_only_vectors_are_taken():
    q, v = ticopd.Qsgd(bits=8), numbers()
    wide = np.empty((D, 3), np.float32)
    wide[:, 1] = v
    assert q.encode(wide[:, 1], **identity) == q.encode(v, **identity)
    v.flags.writeable = False
    assert q.encode(v, **identity) == q.encode(v.copy(), **identity)
    assert q.encode(v.tolist(), **identity) == q.encode(v.astype(float), **identity)


def test_rounding_depends_on_the_message_s_identity():
    q, v = ticopd.Qsgd(bits=2), numbers()
    ways = [
        dict(seed=s, round=r, agent=a, channel=c)
        for s in (1, 2) for r in (1, 2) for a in (0, 1) for c in (0, 1)
    ]  # fmt: skip
    assert len({q.encode(v, **way) for way in ways}) == len(ways)


def test_codecs_compare_hash_print_and_pickle(codec):
    again = pickle.loads(pickle.dumps(codec))
    assert again == codec and hash(again) == hash(codec)
    assert eval(repr(codec), vars(ticopd)) == codec
    assert ticopd.Codec(**codec.to_config()) == codec
    v = numbers()
    assert again.encode(v, **identity) == codec.encode(v, **identity)


@pytest.mark.parametrize(
    "short, long",
    [
        ("qsgd:4", ticopd.Qsgd(bits=4)),
        ("top_k:10", ticopd.TopK(k=10)),
        ("top_k:0.1", ticopd.TopK(fraction=0.1)),
        ("random_gossip:0.25", ticopd.Codec("random_gossip", p=0.25)),
        ("sign:64", ticopd.Codec("sign", bucket=64)),
    ],
)
def test_short_forms(short, long):
    assert ticopd.Codec(short) == long


def test_damaged_payloads_are_an_error_or_numbers_and_never_more(codec):
    """Bytes are changed, cut off and added: FormatError, or D numbers."""
    random = np.random.default_rng(7)
    b = codec.encode(numbers(), **identity)
    refused = 0
    for _ in range(300):
        bad = bytearray(b)
        kind = random.integers(3)
        if kind == 0 and bad:
            for _ in range(random.integers(1, 6)):
                bad[random.integers(len(bad))] = random.integers(256)
        elif kind == 1:
            bad = bad[: random.integers(len(bad) + 1)]
        else:
            bad += random.bytes(random.integers(1, 20))
        try:
            w = codec.decode(bytes(bad), D, **identity)
        except ticopd.FormatError:
            refused += 1
        else:
            assert w.shape == (D,)
    assert refused > 0


def test_nan_is_refused_or_passed_on_but_never_hidden(codec):
    v = numbers()
    v[17] = math.nan
    try:
        b = codec.encode(v, **identity)
    except ticopd.Error:
        return
    if codec == ticopd.Codec("identity"):
        assert math.isnan(codec.decode(b, D, **identity)[17])


def test_one_codec_in_many_threads():
    q, v = ticopd.Qsgd(bits=4), numbers()
    wanted = [q.encode(v, seed=1, round=r, agent=0) for r in range(200)]
    found = {}

    def work(me):
        found[me] = [q.encode(v, seed=1, round=r, agent=0) for r in range(200)]

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(found[i] == wanted for i in range(4))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_codec_goes_on_in_the_child_of_a_fork():
    q, v = ticopd.Qsgd(bits=4), numbers()
    wanted = q.encode(v, **identity)
    child = os.fork()
    if child == 0:
        os._exit(0 if q.encode(v, **identity) == wanted else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def placed(v, offset):
    """A copy of v whose first number lies `offset` bytes behind a multiple of 64."""
    memory = np.empty(v.nbytes + 128, np.uint8)
    first = -memory.ctypes.data % 64 + offset
    there = memory[first : first + v.nbytes].view(v.dtype)
    there[:] = v
    assert there.ctypes.data % 64 == offset
    return there


@pytest.mark.parametrize("dtype", (np.float32, np.float64))
def test_vectors_may_lie_anywhere(dtype):
    codec = ticopd.Qsgd(bits=4)
    v = np.linspace(-1, 1, 33).astype(dtype)
    name = dict(seed=1, round=2, agent=3)
    payload = codec.encode(v, **name)
    plain = codec.decode(payload, 33, dtype=dtype, **name)
    read_only = v.copy()
    read_only.flags.writeable = False
    for other in (read_only, np.repeat(v, 3)[::3], *(placed(v, at) for at in (0, 1, 2, 4, 7, 12))):
        assert codec.encode(other, **name) == payload
    for at in (0, 4, 8, 12):
        out = placed(np.zeros_like(v), at)
        if out.flags.aligned:
            assert np.array_equal(codec.decode(payload, 33, out=out, **name), plain)
    for wrong in (placed(v, 1), read_only, np.repeat(v, 3)[::3], v[:-1], v.reshape(1, 33), list(v)):
        with pytest.raises(ValueError, match="out must be a vector of 33 numbers"):
            codec.decode(payload, 33, out=wrong, **name)


def test_payloads_are_texts_of_their_own():
    """A payload is written into the bytes that are returned; no later call may change them."""
    codec = ticopd.Qsgd(bits=8)
    v = np.linspace(-1, 1, 500).astype(np.float32)
    kept = [codec.encode(v, seed=1, round=r, agent=0) for r in range(20)]
    again = [codec.encode(v, seed=1, round=r, agent=0) for r in range(20)]
    assert kept == again and len(set(kept)) == 20
    assert [len(codec.encode(v[:d], seed=1, round=1, agent=0)) for d in (500, 3, 1, 500)] == [
        codec.payload_bytes(d) for d in (500, 3, 1, 500)
    ]
