"""The algorithms, a class for each.

Made by `python -m ticopd._generate` from the tables of the library; do not edit.
"""

from __future__ import annotations

from typing import Any, ClassVar, Dict, Optional, Type

from ._algorithm import AlgorithmType
from ._schedule import Step


class TiCoPD(AlgorithmType):
    """Liu, Yau, Wai 2025, Algorithm 1.

    Args:
        alpha: primal step size; above 0.
        theta: penalty on disagreement; above 0.
        eta: dual step size; above 0.
        beta: weight of x against its surrogate; 0 to 1; left out: 1 - alpha theta
            lambda_max(L).
        gamma: gain of the surrogate; above 0, at most 1.
        warm_start: surrogates start at x0.

    >>> ticopd.TiCoPD(alpha=0.1, theta=0.1, eta=0.1)
    TiCoPD(alpha=0.1, theta=0.1, eta=0.1)
    """

    name: ClassVar[str] = "ticopd"
    paper: ClassVar[str] = "Liu, Yau, Wai 2025, Algorithm 1"
    _kinds: ClassVar[Dict[str, str]] = {
        "alpha": "number",
        "theta": "number",
        "eta": "number",
        "beta": "number",
        "gamma": "number",
        "warm_start": "flag",
    }
    _defaults: ClassVar[Dict[str, Any]] = {"beta": None, "gamma": 1.0, "warm_start": False}
    alpha: Step
    theta: Step
    eta: Step
    beta: Optional[Step]
    gamma: Step
    warm_start: bool

    def __init__(
        self,
        *,
        alpha: Step,
        theta: Step,
        eta: Step,
        beta: Optional[Step] = None,
        gamma: Step = 1.0,
        warm_start: bool = False,
    ) -> None:
        super().__init__(
            alpha=alpha, theta=theta, eta=eta, beta=beta, gamma=gamma, warm_start=warm_start
        )


class ChocoSGD(AlgorithmType):
    """Koloskova, Stich, Jaggi 2019, Algorithm 2.

    Args:
        eta: gradient step size; above 0.
        gamma: gossip step size; above 0, at most 1.
        warm_start: surrogates start at x0.

    >>> ticopd.ChocoSGD(eta=0.1, gamma=0.1)
    ChocoSGD(eta=0.1, gamma=0.1)
    """

    name: ClassVar[str] = "choco_sgd"
    paper: ClassVar[str] = "Koloskova, Stich, Jaggi 2019, Algorithm 2"
    _kinds: ClassVar[Dict[str, str]] = {"eta": "number", "gamma": "number", "warm_start": "flag"}
    _defaults: ClassVar[Dict[str, Any]] = {"warm_start": False}
    eta: Step
    gamma: Step
    warm_start: bool

    def __init__(self, *, eta: Step, gamma: Step, warm_start: bool = False) -> None:
        super().__init__(eta=eta, gamma=gamma, warm_start=warm_start)


class CpSGD(AlgorithmType):
    """Xie et al. 2024, after Yi et al. 2022.

    Args:
        eta: step size; above 0.
        gamma: penalty on disagreement; above 0.
        omega: weight of the dual; above 0.
        alpha_x: gain of the memory x^c; above 0, at most 1.
        warm_start: the memory starts at x0.

    >>> ticopd.CpSGD(eta=0.1, gamma=0.1, omega=0.1)
    CpSGD(eta=0.1, gamma=0.1, omega=0.1)
    """

    name: ClassVar[str] = "cp_sgd"
    paper: ClassVar[str] = "Xie et al. 2024, after Yi et al. 2022"
    _kinds: ClassVar[Dict[str, str]] = {
        "eta": "number",
        "gamma": "number",
        "omega": "number",
        "alpha_x": "number",
        "warm_start": "flag",
    }
    _defaults: ClassVar[Dict[str, Any]] = {"alpha_x": 1.0, "warm_start": False}
    eta: Step
    gamma: Step
    omega: Step
    alpha_x: Step
    warm_start: bool

    def __init__(
        self,
        *,
        eta: Step,
        gamma: Step,
        omega: Step,
        alpha_x: Step = 1.0,
        warm_start: bool = False,
    ) -> None:
        super().__init__(eta=eta, gamma=gamma, omega=omega, alpha_x=alpha_x, warm_start=warm_start)


class DefATC(AlgorithmType):
    """Nassif et al. 2024, DEF-ATC.

    Args:
        mu: step size; above 0.
        zeta: damping of the differential; above 0, at most 1.
        gamma: mixing step size; above 0, at most 1.

    >>> ticopd.DefATC(mu=0.1, gamma=0.1)
    DefATC(mu=0.1, gamma=0.1)
    """

    name: ClassVar[str] = "def_atc"
    paper: ClassVar[str] = "Nassif et al. 2024, DEF-ATC"
    _kinds: ClassVar[Dict[str, str]] = {"mu": "number", "zeta": "number", "gamma": "number"}
    _defaults: ClassVar[Dict[str, Any]] = {"zeta": 1.0}
    mu: Step
    zeta: Step
    gamma: Step

    def __init__(self, *, mu: Step, zeta: Step = 1.0, gamma: Step) -> None:
        super().__init__(mu=mu, zeta=zeta, gamma=gamma)


class BEER(AlgorithmType):
    """Zhao et al. 2022, Algorithm 1.

    Args:
        eta: step size; above 0.
        gamma: mixing step size; above 0, at most 1.
        warm_start: H starts at x0, G at the gradients.

    >>> ticopd.BEER(eta=0.1, gamma=0.1)
    BEER(eta=0.1, gamma=0.1)
    """

    name: ClassVar[str] = "beer"
    paper: ClassVar[str] = "Zhao et al. 2022, Algorithm 1"
    _kinds: ClassVar[Dict[str, str]] = {"eta": "number", "gamma": "number", "warm_start": "flag"}
    _defaults: ClassVar[Dict[str, Any]] = {"warm_start": False}
    eta: Step
    gamma: Step
    warm_start: bool

    def __init__(self, *, eta: Step, gamma: Step, warm_start: bool = False) -> None:
        super().__init__(eta=eta, gamma=gamma, warm_start=warm_start)


class DGD(AlgorithmType):
    """Nedic, Ozdaglar 2009, equation (3). It sends its models uncompressed and takes no codec
    but identity.

    Args:
        eta: step size; above 0.

    >>> ticopd.DGD(eta=0.1)
    DGD(eta=0.1)
    """

    name: ClassVar[str] = "dgd"
    paper: ClassVar[str] = "Nedic, Ozdaglar 2009, equation (3)"
    _kinds: ClassVar[Dict[str, str]] = {"eta": "number"}
    _defaults: ClassVar[Dict[str, Any]] = {}
    eta: Step

    def __init__(self, *, eta: Step) -> None:
        super().__init__(eta=eta)


class EXTRA(AlgorithmType):
    """Shi, Ling, Wu, Yin 2015. It sends its models uncompressed and takes no codec but
    identity.

    Args:
        alpha: step size; above 0.

    >>> ticopd.EXTRA(alpha=0.1)
    EXTRA(alpha=0.1)
    """

    name: ClassVar[str] = "extra"
    paper: ClassVar[str] = "Shi, Ling, Wu, Yin 2015"
    _kinds: ClassVar[Dict[str, str]] = {"alpha": "number"}
    _defaults: ClassVar[Dict[str, Any]] = {}
    alpha: Step

    def __init__(self, *, alpha: Step) -> None:
        super().__init__(alpha=alpha)


class GradientTracking(AlgorithmType):
    """Nedic, Olshevsky, Shi 2017; Xu, Zhu, Soh, Xie 2015. It sends its models uncompressed and
    takes no codec but identity.

    Args:
        eta: step size; above 0.
        form: mix before the step, or after it; one of "diging", "atc".

    >>> ticopd.GradientTracking(eta=0.1)
    GradientTracking(eta=0.1)
    """

    name: ClassVar[str] = "gradient_tracking"
    paper: ClassVar[str] = "Nedic, Olshevsky, Shi 2017; Xu, Zhu, Soh, Xie 2015"
    _kinds: ClassVar[Dict[str, str]] = {"eta": "number", "form": "choice"}
    _defaults: ClassVar[Dict[str, Any]] = {"form": "diging"}
    eta: Step
    form: str

    def __init__(self, *, eta: Step, form: str = "diging") -> None:
        super().__init__(eta=eta, form=form)


class PrimalDual(AlgorithmType):
    """Yi et al. 2021. It sends its models uncompressed and takes no codec but identity.

    Args:
        eta: step size; above 0.
        alpha: penalty on disagreement; above 0.
        beta: weight of the dual; above 0.

    >>> ticopd.PrimalDual(eta=0.1, alpha=0.1, beta=0.1)
    PrimalDual(eta=0.1, alpha=0.1, beta=0.1)
    """

    name: ClassVar[str] = "primal_dual"
    paper: ClassVar[str] = "Yi et al. 2021"
    _kinds: ClassVar[Dict[str, str]] = {"eta": "number", "alpha": "number", "beta": "number"}
    _defaults: ClassVar[Dict[str, Any]] = {}
    eta: Step
    alpha: Step
    beta: Step

    def __init__(self, *, eta: Step, alpha: Step, beta: Step) -> None:
        super().__init__(eta=eta, alpha=alpha, beta=beta)


class ProxGPDA(AlgorithmType):
    """Hong, Hajinezhad, Zhao 2017. It sends its models uncompressed and takes no codec but
    identity.

    Args:
        beta: penalty; the step size is 1 / (2 beta degree); above 0.

    >>> ticopd.ProxGPDA(beta=0.1)
    ProxGPDA(beta=0.1)
    """

    name: ClassVar[str] = "prox_gpda"
    paper: ClassVar[str] = "Hong, Hajinezhad, Zhao 2017"
    _kinds: ClassVar[Dict[str, str]] = {"beta": "number"}
    _defaults: ClassVar[Dict[str, Any]] = {}
    beta: Step

    def __init__(self, *, beta: Step) -> None:
        super().__init__(beta=beta)


class ProxPdaPerturbed(AlgorithmType):
    """Hajinezhad, Hong 2019. It sends its models uncompressed and takes no codec but identity.

    Args:
        rho: penalty; the step size is 1 / (rho lambda_max(L)); above 0.
        gamma: perturbation of the dual; rho gamma < 1; above 0.

    >>> ticopd.ProxPdaPerturbed(rho=0.1, gamma=0.1)
    ProxPdaPerturbed(rho=0.1, gamma=0.1)
    """

    name: ClassVar[str] = "prox_pda_perturbed"
    paper: ClassVar[str] = "Hajinezhad, Hong 2019"
    _kinds: ClassVar[Dict[str, str]] = {"rho": "number", "gamma": "number"}
    _defaults: ClassVar[Dict[str, Any]] = {}
    rho: Step
    gamma: Step

    def __init__(self, *, rho: Step, gamma: Step) -> None:
        super().__init__(rho=rho, gamma=gamma)


class NIDS(AlgorithmType):
    """Li, Shi, Yan 2019; Yuan et al. 2019. It sends its models uncompressed and takes no codec
    but identity.

    Args:
        alpha: step size; above 0.

    >>> ticopd.NIDS(alpha=0.1)
    NIDS(alpha=0.1)
    """

    name: ClassVar[str] = "nids"
    paper: ClassVar[str] = "Li, Shi, Yan 2019; Yuan et al. 2019"
    _kinds: ClassVar[Dict[str, str]] = {"alpha": "number"}
    _defaults: ClassVar[Dict[str, Any]] = {}
    alpha: Step

    def __init__(self, *, alpha: Step) -> None:
        super().__init__(alpha=alpha)


class LEAD(AlgorithmType):
    """Liu, Li, Wang, Tang, Yan 2021.

    Args:
        eta: step size; above 0.
        alpha: gain of the memory h; above 0, at most 1.
        gamma: dual step size; above 0.
        warm_start: the memory starts at x0.

    >>> ticopd.LEAD(eta=0.1)
    LEAD(eta=0.1)
    """

    name: ClassVar[str] = "lead"
    paper: ClassVar[str] = "Liu, Li, Wang, Tang, Yan 2021"
    _kinds: ClassVar[Dict[str, str]] = {
        "eta": "number",
        "alpha": "number",
        "gamma": "number",
        "warm_start": "flag",
    }
    _defaults: ClassVar[Dict[str, Any]] = {"alpha": 0.5, "gamma": 1.0, "warm_start": False}
    eta: Step
    alpha: Step
    gamma: Step
    warm_start: bool

    def __init__(
        self,
        *,
        eta: Step,
        alpha: Step = 0.5,
        gamma: Step = 1.0,
        warm_start: bool = False,
    ) -> None:
        super().__init__(eta=eta, alpha=alpha, gamma=gamma, warm_start=warm_start)


class DgdQuantized(AlgorithmType):
    """Liu, Yau, Wai 2025, direct quantisation.

    Args:
        eta: step size; above 0.
        quantize_self: an agent quantises its own model too.

    >>> ticopd.DgdQuantized(eta=0.1)
    DgdQuantized(eta=0.1)
    """

    name: ClassVar[str] = "dgd_quantized"
    paper: ClassVar[str] = "Liu, Yau, Wai 2025, direct quantisation"
    _kinds: ClassVar[Dict[str, str]] = {"eta": "number", "quantize_self": "flag"}
    _defaults: ClassVar[Dict[str, Any]] = {"quantize_self": False}
    eta: Step
    quantize_self: bool

    def __init__(self, *, eta: Step, quantize_self: bool = False) -> None:
        super().__init__(eta=eta, quantize_self=quantize_self)


class DoCoM(AlgorithmType):
    """Yau, Wai 2022, Algorithm 1.

    Args:
        eta: step size; above 0.
        gamma: mixing step size; above 0, at most 1.
        beta: weight of the newest gradient; above 0, at most 1.
        warm_start: x's surrogates start at x0, y's at the gradients.

    >>> ticopd.DoCoM(eta=0.1, gamma=0.1, beta=0.1)
    DoCoM(eta=0.1, gamma=0.1, beta=0.1)
    """

    name: ClassVar[str] = "docom"
    paper: ClassVar[str] = "Yau, Wai 2022, Algorithm 1"
    _kinds: ClassVar[Dict[str, str]] = {
        "eta": "number",
        "gamma": "number",
        "beta": "number",
        "warm_start": "flag",
    }
    _defaults: ClassVar[Dict[str, Any]] = {"warm_start": False}
    eta: Step
    gamma: Step
    beta: Step
    warm_start: bool

    def __init__(self, *, eta: Step, gamma: Step, beta: Step, warm_start: bool = False) -> None:
        super().__init__(eta=eta, gamma=gamma, beta=beta, warm_start=warm_start)


class QDGD(AlgorithmType):
    """Reisizadeh et al. 2019, Algorithm 1.

    Args:
        alpha: gradient step size; above 0; left out: 0.3 / T^(1/6).
        epsilon: weight of what is new; above 0, at most 1; left out: 15 / T^(1/2), at most 1.

    >>> ticopd.QDGD()
    QDGD()
    """

    name: ClassVar[str] = "qdgd"
    paper: ClassVar[str] = "Reisizadeh et al. 2019, Algorithm 1"
    _kinds: ClassVar[Dict[str, str]] = {"alpha": "number", "epsilon": "number"}
    _defaults: ClassVar[Dict[str, Any]] = {"alpha": None, "epsilon": None}
    alpha: Optional[Step]
    epsilon: Optional[Step]

    def __init__(self, *, alpha: Optional[Step] = None, epsilon: Optional[Step] = None) -> None:
        super().__init__(alpha=alpha, epsilon=epsilon)


class SparqSGD(AlgorithmType):
    """Singh et al. 2019, Algorithm 1.

    Args:
        eta: gradient step size; above 0.
        gamma: gossip step size; above 0, at most 1.
        threshold: c_t: speaks where (x - xhat)^2 > c_t eta_t^2; from 0.
        period: rounds between exchanges; a whole number, 1 to 1000000000.

    >>> ticopd.SparqSGD(eta=0.1, gamma=0.1, threshold=0.1)
    SparqSGD(eta=0.1, gamma=0.1, threshold=0.1)
    """

    name: ClassVar[str] = "sparq_sgd"
    paper: ClassVar[str] = "Singh et al. 2019, Algorithm 1"
    _kinds: ClassVar[Dict[str, str]] = {
        "eta": "number",
        "gamma": "number",
        "threshold": "number",
        "period": "whole",
    }
    _defaults: ClassVar[Dict[str, Any]] = {"period": 1}
    eta: Step
    gamma: Step
    threshold: Step
    period: int

    def __init__(self, *, eta: Step, gamma: Step, threshold: Step, period: int = 1) -> None:
        super().__init__(eta=eta, gamma=gamma, threshold=threshold, period=period)


class LocalSGD(AlgorithmType):
    """Stich 2019. It sends its models uncompressed and takes no codec but identity.

    Args:
        eta: step size; above 0.
        period: rounds between averages; a whole number, 1 to 1000000000.
        average: with the neighbours, or of all at agent 0; one of "mixing", "star".

    >>> ticopd.LocalSGD(eta=0.1)
    LocalSGD(eta=0.1)
    """

    name: ClassVar[str] = "local_sgd"
    paper: ClassVar[str] = "Stich 2019"
    _kinds: ClassVar[Dict[str, str]] = {"eta": "number", "period": "whole", "average": "choice"}
    _defaults: ClassVar[Dict[str, Any]] = {"period": 4, "average": "mixing"}
    eta: Step
    period: int
    average: str

    def __init__(self, *, eta: Step, period: int = 4, average: str = "mixing") -> None:
        super().__init__(eta=eta, period=period, average=average)


class QsparseLocalSGD(AlgorithmType):
    """Basu et al. 2019, Algorithm 1.

    Args:
        eta: step size; above 0.
        period: rounds between exchanges; a whole number, 1 to 1000000000.

    >>> ticopd.QsparseLocalSGD(eta=0.1)
    QsparseLocalSGD(eta=0.1)
    """

    name: ClassVar[str] = "qsparse_local_sgd"
    paper: ClassVar[str] = "Basu et al. 2019, Algorithm 1"
    _kinds: ClassVar[Dict[str, str]] = {"eta": "number", "period": "whole"}
    _defaults: ClassVar[Dict[str, Any]] = {"period": 4}
    eta: Step
    period: int

    def __init__(self, *, eta: Step, period: int = 4) -> None:
        super().__init__(eta=eta, period=period)


class ChocoGossip(AlgorithmType):
    """Koloskova, Stich, Jaggi 2019, Algorithm 1.

    Args:
        gamma: gossip step size; above 0, at most 1.

    >>> ticopd.ChocoGossip(gamma=0.1)
    ChocoGossip(gamma=0.1)
    """

    name: ClassVar[str] = "choco_gossip"
    paper: ClassVar[str] = "Koloskova, Stich, Jaggi 2019, Algorithm 1"
    _kinds: ClassVar[Dict[str, str]] = {"gamma": "number"}
    _defaults: ClassVar[Dict[str, Any]] = {}
    gamma: Step

    def __init__(self, *, gamma: Step) -> None:
        super().__init__(gamma=gamma)


class DeepSqueeze(AlgorithmType):
    """Tang et al. 2019.

    Args:
        eta: gradient step size; above 0.
        gamma: gossip step size; above 0, at most 1.

    >>> ticopd.DeepSqueeze(eta=0.1, gamma=0.1)
    DeepSqueeze(eta=0.1, gamma=0.1)
    """

    name: ClassVar[str] = "deepsqueeze"
    paper: ClassVar[str] = "Tang et al. 2019"
    _kinds: ClassVar[Dict[str, str]] = {"eta": "number", "gamma": "number"}
    _defaults: ClassVar[Dict[str, Any]] = {}
    eta: Step
    gamma: Step

    def __init__(self, *, eta: Step, gamma: Step) -> None:
        super().__init__(eta=eta, gamma=gamma)


class Magnusson(AlgorithmType):
    """Magnusson et al. 2020, on Yi et al. 2021. It brings its own codec and takes no other but
    identity.

    Args:
        eta: step size; above 0.
        alpha: penalty on disagreement; above 0.
        beta: weight of the dual; above 0.
        r0: half the width of the first box; above 0.
        kappa: the box's factor each round; above 0, at most 1.
        bits: of a coordinate; a whole number, 2 to 16.

    >>> ticopd.Magnusson(eta=0.1, alpha=0.1, beta=0.1, r0=0.1, kappa=0.1)
    Magnusson(eta=0.1, alpha=0.1, beta=0.1, r0=0.1, kappa=0.1)
    """

    name: ClassVar[str] = "magnusson"
    paper: ClassVar[str] = "Magnusson et al. 2020, on Yi et al. 2021"
    _kinds: ClassVar[Dict[str, str]] = {
        "eta": "number",
        "alpha": "number",
        "beta": "number",
        "r0": "number",
        "kappa": "number",
        "bits": "whole",
    }
    _defaults: ClassVar[Dict[str, Any]] = {"bits": 8}
    eta: Step
    alpha: Step
    beta: Step
    r0: float
    kappa: float
    bits: int

    def __init__(
        self,
        *,
        eta: Step,
        alpha: Step,
        beta: Step,
        r0: float,
        kappa: float,
        bits: int = 8,
    ) -> None:
        super().__init__(eta=eta, alpha=alpha, beta=beta, r0=r0, kappa=kappa, bits=bits)


ALGORITHMS: Dict[str, Type[AlgorithmType]] = {
    "ticopd": TiCoPD,
    "choco_sgd": ChocoSGD,
    "cp_sgd": CpSGD,
    "def_atc": DefATC,
    "beer": BEER,
    "dgd": DGD,
    "extra": EXTRA,
    "gradient_tracking": GradientTracking,
    "primal_dual": PrimalDual,
    "prox_gpda": ProxGPDA,
    "prox_pda_perturbed": ProxPdaPerturbed,
    "nids": NIDS,
    "lead": LEAD,
    "dgd_quantized": DgdQuantized,
    "docom": DoCoM,
    "qdgd": QDGD,
    "sparq_sgd": SparqSGD,
    "local_sgd": LocalSGD,
    "qsparse_local_sgd": QsparseLocalSGD,
    "choco_gossip": ChocoGossip,
    "deepsqueeze": DeepSqueeze,
    "magnusson": Magnusson,
}

__all__ = [
    "TiCoPD",
    "ChocoSGD",
    "CpSGD",
    "DefATC",
    "BEER",
    "DGD",
    "EXTRA",
    "GradientTracking",
    "PrimalDual",
    "ProxGPDA",
    "ProxPdaPerturbed",
    "NIDS",
    "LEAD",
    "DgdQuantized",
    "DoCoM",
    "QDGD",
    "SparqSGD",
    "LocalSGD",
    "QsparseLocalSGD",
    "ChocoGossip",
    "DeepSqueeze",
    "Magnusson",
]
