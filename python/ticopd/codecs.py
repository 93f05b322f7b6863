"""The codecs, a class for each.

Made by `python -m ticopd._generate` from the tables of the library; do not edit.
"""

from __future__ import annotations

from typing import Any, ClassVar, Dict, Optional, Type, Union

from ._codec import Codec


class Identity(Codec):
    """The row itself, in the run's precision.

    >>> ticopd.Identity()
    Identity()
    """

    kind: ClassVar[str] = "identity"
    _defaults: ClassVar[Dict[str, Any]] = {}

    def __init__(self) -> None:
        super().__init__("identity")


class Qsgd(Codec):
    """Random rounding to 2^bits levels of the norm, and a sign.

    Args:
        bits: levels 0 to 2^bits - 1; a whole number from 1 to 16.
        bucket: one norm or scale per so many coordinates; 0: one for the row; a whole number
            from 0 to 2147483647.
        scaled: divide by tau, which makes it contract.
        coding: how quantised symbols become bits: `fixed` (planes of so many bits), `entropy`
            (near the entropy of each message's symbols), `elias` (the code of the QSGD paper).
            The numbers of a run stay the same. Codecs without symbols refuse all but `fixed`;
            one of "fixed", "entropy", "elias".

    >>> ticopd.Qsgd(bits=4)
    Qsgd(bits=4)
    """

    kind: ClassVar[str] = "qsgd"
    _defaults: ClassVar[Dict[str, Any]] = {
        "bits": 8,
        "bucket": 0,
        "scaled": True,
        "coding": "fixed",
    }

    def __init__(
        self,
        *,
        bits: int = 8,
        bucket: int = 0,
        scaled: bool = True,
        coding: str = "fixed",
    ) -> None:
        super().__init__("qsgd", bits=bits, bucket=bucket, scaled=scaled, coding=coding)


class TopK(Codec):
    """The k largest magnitudes and their indices.

    Args:
        k: coordinates to send; this or `codec.fraction`; a whole number from 1 to 2147483647.
        fraction: k = max(1, floor(fraction d)); above 0, at most 1; in place of `k`.
        then: the codec of the kept values; left out, they travel as they are; one of "qsgd",
            "sign", "natural", "norm_sign", "infinity".
        coding: how quantised symbols become bits: `fixed` (planes of so many bits), `entropy`
            (near the entropy of each message's symbols), `elias` (the code of the QSGD paper).
            The numbers of a run stay the same. Codecs without symbols refuse all but `fixed`;
            one of "fixed", "entropy", "elias".

    >>> ticopd.TopK(fraction=0.02)
    TopK(fraction=0.02)
    """

    kind: ClassVar[str] = "top_k"
    _defaults: ClassVar[Dict[str, Any]] = {"coding": "fixed"}

    def __init__(
        self,
        *,
        k: Optional[int] = None,
        fraction: Optional[float] = None,
        then: Union[Codec, str, None] = None,
        coding: str = "fixed",
    ) -> None:
        super().__init__("top_k", k=k, fraction=fraction, then=then, coding=coding)


class RandK(Codec):
    """K coordinates that both ends draw from the seed: values only.

    Args:
        k: coordinates to send; this or `codec.fraction`; a whole number from 1 to 2147483647.
        fraction: k = max(1, floor(fraction d)); above 0, at most 1; in place of `k`.
        unbiased: scale by d / k.
        then: the codec of the kept values; left out, they travel as they are; one of "qsgd",
            "sign", "natural", "norm_sign", "infinity".

    >>> ticopd.RandK(fraction=0.02)
    RandK(fraction=0.02)
    """

    kind: ClassVar[str] = "rand_k"
    _defaults: ClassVar[Dict[str, Any]] = {"unbiased": False}

    def __init__(
        self,
        *,
        k: Optional[int] = None,
        fraction: Optional[float] = None,
        unbiased: bool = False,
        then: Union[Codec, str, None] = None,
    ) -> None:
        super().__init__("rand_k", k=k, fraction=fraction, unbiased=unbiased, then=then)


class Sign(Codec):
    """One bit per coordinate and the mean magnitude.

    Args:
        bucket: one norm or scale per so many coordinates; 0: one for the row; a whole number
            from 0 to 2147483647.

    >>> ticopd.Sign()
    Sign()
    """

    kind: ClassVar[str] = "sign"
    _defaults: ClassVar[Dict[str, Any]] = {"bucket": 0}

    def __init__(self, *, bucket: int = 0) -> None:
        super().__init__("sign", bucket=bucket)


class Natural(Codec):
    """Random rounding to powers of two: signs and exponents.

    Args:
        coding: how quantised symbols become bits: `fixed` (planes of so many bits), `entropy`
            (near the entropy of each message's symbols), `elias` (the code of the QSGD paper).
            The numbers of a run stay the same. Codecs without symbols refuse all but `fixed`;
            one of "fixed", "entropy", "elias".

    >>> ticopd.Natural()
    Natural()
    """

    kind: ClassVar[str] = "natural"
    _defaults: ClassVar[Dict[str, Any]] = {"coding": "fixed"}

    def __init__(self, *, coding: str = "fixed") -> None:
        super().__init__("natural", coding=coding)


class NormSign(Codec):
    """One bit per coordinate and half the largest magnitude.

    Args:
        bucket: one norm or scale per so many coordinates; 0: one for the row; a whole number
            from 0 to 2147483647.

    >>> ticopd.NormSign()
    NormSign()
    """

    kind: ClassVar[str] = "norm_sign"
    _defaults: ClassVar[Dict[str, Any]] = {"bucket": 0}

    def __init__(self, *, bucket: int = 0) -> None:
        super().__init__("norm_sign", bucket=bucket)


class RandomGossip(Codec):
    """The row with probability p, else nothing.

    Args:
        p: the chance that the row travels; above 0, at most 1.

    >>> ticopd.RandomGossip()
    RandomGossip()
    """

    kind: ClassVar[str] = "random_gossip"
    _defaults: ClassVar[Dict[str, Any]] = {"p": 0.5}

    def __init__(self, *, p: float = 0.5) -> None:
        super().__init__("random_gossip", p=p)


class Adaptive(Codec):
    """Random rounding to points apart by omega |x| + step, in ternary digits.

    Args:
        omega: error in proportion to the coordinate; 0 is a uniform grid; 0 to 1000000.
        step: error whatever the coordinate; 1e-30 to 1e+30.
        coding: how quantised symbols become bits: `fixed` (planes of so many bits), `entropy`
            (near the entropy of each message's symbols), `elias` (the code of the QSGD paper).
            The numbers of a run stay the same. Codecs without symbols refuse all but `fixed`;
            one of "fixed", "entropy", "elias".

    >>> ticopd.Adaptive()
    Adaptive()
    """

    kind: ClassVar[str] = "adaptive"
    _defaults: ClassVar[Dict[str, Any]] = {"omega": 0.25, "step": 0.001, "coding": "fixed"}

    def __init__(self, *, omega: float = 0.25, step: float = 0.001, coding: str = "fixed") -> None:
        super().__init__("adaptive", omega=omega, step=step, coding=coding)


class Threshold(Codec):
    """The magnitudes of at least threshold times the largest.

    Args:
        threshold: keep magnitudes of at least so much of the largest; zeros are never kept; 0
            to 1.
        then: the codec of the kept values; left out, they travel as they are; one of "qsgd",
            "sign", "natural", "norm_sign", "infinity".
        coding: how quantised symbols become bits: `fixed` (planes of so many bits), `entropy`
            (near the entropy of each message's symbols), `elias` (the code of the QSGD paper).
            The numbers of a run stay the same. Codecs without symbols refuse all but `fixed`;
            one of "fixed", "entropy", "elias".

    >>> ticopd.Threshold()
    Threshold()
    """

    kind: ClassVar[str] = "threshold"
    _defaults: ClassVar[Dict[str, Any]] = {"threshold": 0.1, "coding": "fixed"}

    def __init__(
        self,
        *,
        threshold: float = 0.1,
        then: Union[Codec, str, None] = None,
        coding: str = "fixed",
    ) -> None:
        super().__init__("threshold", threshold=threshold, then=then, coding=coding)


class Grid(Codec):
    """2^bits cells of a box that shrinks by kappa each round; for magnusson.

    Args:
        bits: 2^bits cells; a whole number from 1 to 16.
        r0: the box of round 1 is -r0 to r0; above 0, at most 8.50706e+37.
        kappa: the box's factor each round; above 0, at most 1.
        coding: how quantised symbols become bits: `fixed` (planes of so many bits), `entropy`
            (near the entropy of each message's symbols), `elias` (the code of the QSGD paper).
            The numbers of a run stay the same. Codecs without symbols refuse all but `fixed`;
            one of "fixed", "entropy", "elias".

    >>> ticopd.Grid()
    Grid()
    """

    kind: ClassVar[str] = "grid"
    _defaults: ClassVar[Dict[str, Any]] = {"bits": 8, "r0": 1.0, "kappa": 0.99, "coding": "fixed"}

    def __init__(
        self,
        *,
        bits: int = 8,
        r0: float = 1.0,
        kappa: float = 0.99,
        coding: str = "fixed",
    ) -> None:
        super().__init__("grid", bits=bits, r0=r0, kappa=kappa, coding=coding)


class Infinity(Codec):
    """Random rounding to 2^(bits - 1) levels of the largest magnitude.

    Args:
        bits: 0 to 2^(bits - 1); a whole number from 1 to 16.
        bucket: one norm or scale per so many coordinates; 0: one for the row; a whole number
            from 0 to 2147483647.
        coding: how quantised symbols become bits: `fixed` (planes of so many bits), `entropy`
            (near the entropy of each message's symbols), `elias` (the code of the QSGD paper).
            The numbers of a run stay the same. Codecs without symbols refuse all but `fixed`;
            one of "fixed", "entropy", "elias".

    >>> ticopd.Infinity()
    Infinity()
    """

    kind: ClassVar[str] = "infinity"
    _defaults: ClassVar[Dict[str, Any]] = {"bits": 8, "bucket": 0, "coding": "fixed"}

    def __init__(self, *, bits: int = 8, bucket: int = 0, coding: str = "fixed") -> None:
        super().__init__("infinity", bits=bits, bucket=bucket, coding=coding)


CODECS: Dict[str, Type[Codec]] = {
    "identity": Identity,
    "qsgd": Qsgd,
    "top_k": TopK,
    "rand_k": RandK,
    "sign": Sign,
    "natural": Natural,
    "norm_sign": NormSign,
    "random_gossip": RandomGossip,
    "adaptive": Adaptive,
    "threshold": Threshold,
    "grid": Grid,
    "infinity": Infinity,
}

__all__ = [
    "Identity",
    "Qsgd",
    "TopK",
    "RandK",
    "Sign",
    "Natural",
    "NormSign",
    "RandomGossip",
    "Adaptive",
    "Threshold",
    "Grid",
    "Infinity",
]
