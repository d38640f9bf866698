"""All kernels. Written by `generate_kernels.py` from the library's catalogue: do not edit.

A parameter given as a number is taken literally; one that is "auto" is worked out from the corpus.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from ._kernel import Kernel, kernel_from

__all__ = ["BY_NAME", "FlatLinear", "FlatPoly", "FlatRbf", "Gak", "IntegralPoly", "IntegralRbf", "Kernel", "Radon", "Rocket", "Sig", "SigExplicit", "SigFourier", "SigPde", "SigRandom", "Vrk", "kernel_from"]


@dataclass
class FlatLinear(Kernel):
    """<x,y>

    Series of one length (preparation `resample` brings them there).
    """

    name: ClassVar[str] = "flat_linear"


@dataclass
class FlatRbf(Kernel):
    """exp(-|x-y|^2 / (2 sigma^2))

    Series of one length (preparation `resample` brings them there).

    Parameters
    ----------
    sigma :
        bandwidth; auto: median distance of corpus series (default auto)
    """

    name: ClassVar[str] = "flat_rbf"
    sigma: float | Literal["auto"] = "auto"


@dataclass
class FlatPoly(Kernel):
    """(<x,y> + c)^p

    Series of one length (preparation `resample` brings them there).

    Parameters
    ----------
    c :
        constant >= 0; auto: mean <x,x> of the corpus (default auto)
    p :
        degree, 1 to 32 (default 2)
    """

    name: ClassVar[str] = "flat_poly"
    c: float | Literal["auto"] = "auto"
    p: int = 2


@dataclass
class IntegralRbf(Kernel):
    """integral of exp(-|x_t-y_t|^2 / (2 sigma^2)) dt

    Series of one length (preparation `resample` brings them there).

    Parameters
    ----------
    sigma :
        bandwidth; auto: median distance of corpus points at one time (default auto)
    """

    name: ClassVar[str] = "integral_rbf"
    sigma: float | Literal["auto"] = "auto"


@dataclass
class IntegralPoly(Kernel):
    """integral of (<x_t,y_t> + c)^p dt

    Series of one length (preparation `resample` brings them there).

    Parameters
    ----------
    c :
        constant >= 0; auto: mean <x_t,x_t> of the corpus (default auto)
    p :
        degree, 1 to 32 (default 2)
    """

    name: ClassVar[str] = "integral_poly"
    c: float | Literal["auto"] = "auto"
    p: int = 2


@dataclass
class Gak(Kernel):
    """sum over alignments of prod k/(2-k), k = exp(-|x_s-y_t|^2 / (2 sigma^2))

    Series of any lengths.

    Parameters
    ----------
    sigma :
        bandwidth; auto: 0.25 times the median distance of corpus points times sqrt(mean length) (default
        auto)
    band :
        steps an alignment may leave the diagonal by
    floor :
        k/(2-k) is at least this; published: 1e-10 (default 0)
    """

    name: ClassVar[str] = "gak"
    sigma: float | Literal["auto"] = "auto"
    band: int | None = None
    floor: float = 0.0


@dataclass
class Vrk(Kernel):
    """1 + sum_k prod_{t<k} lambda^2 / (1 - tau^2 <x_{T-t}, y_{T-t}>)

    Series of one length (preparation `resample` brings them there).

    Parameters
    ----------
    tau :
        needs tau |x_t| < 1; auto: 0.5 / the longest corpus point (default auto)
    lambda_ :
        weight of the past, above 0 and at most 1 (default 0.9)
    clip :
        points longer than clip/tau are shortened to it (0 < clip < 1); none: 0.95 where tau is auto, else
        an error
    """

    name: ClassVar[str] = "vrk"
    tau: float | Literal["auto"] = "auto"
    lambda_: float = 0.9
    clip: float | Literal["published"] | None = None


@dataclass
class SigRandom(Kernel):
    """<Z(x), Z(y)> / features, dZ = sum_i tanh(A_i Z + b_i) dx^i, A and b random

    Series of any lengths.

    Parameters
    ----------
    features :
        number of random features (default 50)
    variance :
        variance of the entries of the random matrices; auto: 1 / features (default auto)
    seed :
        seed of the random matrices (default 0)
    """

    name: ClassVar[str] = "sig_random"
    features: int = 50
    variance: float | Literal["auto"] = "auto"
    seed: int = 0


@dataclass
class Sig(Kernel):
    """sum over m = 0..level of scale^m <S_m(x), S_m(y)>

    Series of any lengths.

    Parameters
    ----------
    level :
        last level, 1 to 32 (default 5)
    order :
        most uses of one increment, 1 (fastest) to level (exact for piecewise linear paths) (default 1)
    lift :
        static kernel of the points: linear or rbf (default linear)
    sigma :
        bandwidth of the rbf lift; auto: 0.7 times the median distance of corpus points (default auto)
    scale :
        factor of the lifted kernel; auto: 1 / channels (linear) or 4 (rbf) (default auto)
    compat :
        published: 1 + the last level alone, to reproduce published numbers
    """

    name: ClassVar[str] = "sig"
    level: int = 5
    order: int = 1
    lift: Literal["linear", "rbf"] = "linear"
    sigma: float | Literal["auto"] = "auto"
    scale: float | Literal["auto"] = "auto"
    compat: Literal["published"] | None = None


@dataclass
class SigFourier(Kernel):
    """sum over m = 0..level of scale^m <F_m(x), F_m(y)>, F_m random; on average sig:order=1,lift=rbf

    Series of any lengths.

    Parameters
    ----------
    level :
        last level, 1 to 32 (default 5)
    features :
        random features of a level, 1 to 4096; the error falls like 1 / sqrt(features) (default 256)
    form :
        tensor: projected to features per level; diagonal: 2^m times features at level m (default tensor)
    sigma :
        bandwidth of the rbf lift; auto: median distance of corpus points (default auto)
    scale :
        factor of the lifted kernel; auto: 1 (default auto)
    seed :
        seed of the random numbers (default 0)
    """

    name: ClassVar[str] = "sig_fourier"
    level: int = 5
    features: int = 256
    form: Literal["tensor", "diagonal"] = "tensor"
    sigma: float | Literal["auto"] = "auto"
    scale: float | Literal["auto"] = "auto"
    seed: int = 0


@dataclass
class SigPde(Kernel):
    """sum over all m of scale^m <S_m(x), S_m(y)>, as the solution of u_st = z u

    Series of any lengths.

    Parameters
    ----------
    lift :
        static kernel of the points: linear or rbf (default linear)
    sigma :
        bandwidth of the rbf lift; auto: median distance of corpus points (default auto)
    scale :
        factor of the lifted kernel; auto: 1 / the median of max_t |x_t - x_0|^2 (linear) or 1 (rbf)
        (default auto)
    tolerance :
        relative accuracy, 1e-13 to 0.1, by grids or polynomials as fine as it takes (default 1e-8)
    dyadic :
        instead of tolerance: the published scheme with every cell halved so many times, 0 to 10
    """

    name: ClassVar[str] = "sig_pde"
    lift: Literal["linear", "rbf"] = "linear"
    sigma: float | Literal["auto"] = "auto"
    scale: float | Literal["auto"] = "auto"
    tolerance: float | None = None
    dyadic: int | None = None


@dataclass
class SigExplicit(Kernel):
    """sum over m = 0..level of scale^m <S_m(x), S_m(y)>, from the d + .. + d^level features S

    Series of any lengths.

    Parameters
    ----------
    level :
        last level, 1 to 32; few channels only (default 3)
    scale :
        factor of the inner product of increments; auto: 1 / channels (default auto)
    """

    name: ClassVar[str] = "sig_explicit"
    level: int = 3
    scale: float | Literal["auto"] = "auto"


@dataclass
class Rocket(Kernel):
    """<phi(x), phi(y)> / features, phi the shares of steps at which convolutions exceed biases

    Series of any lengths.

    Parameters
    ----------
    features :
        number of features, a multiple of 84 (default 9996)
    seed :
        chooses series for the biases, and subsets of channels (default 0)
    """

    name: ClassVar[str] = "rocket"
    features: int = 9996
    seed: int = 0


@dataclass
class Radon(Kernel):
    """<phi(x), phi(y)> / features, phi the shares of steps whose windows are at or below thresholds

    Series of any lengths.

    Parameters
    ----------
    directions :
        number of random directions (default 100)
    thresholds :
        thresholds of every direction (default 20)
    window :
        steps of a window, each of them as far apart as the direction's dilation (default 9)
    seed :
        seed of the directions (default 0)
    """

    name: ClassVar[str] = "radon"
    directions: int = 100
    thresholds: int = 20
    window: int = 9
    seed: int = 0


#: Kernels by their names in the program and in JSON.
BY_NAME: dict[str, type[Kernel]] = {
    "flat_linear": FlatLinear,
    "flat_rbf": FlatRbf,
    "flat_poly": FlatPoly,
    "integral_rbf": IntegralRbf,
    "integral_poly": IntegralPoly,
    "gak": Gak,
    "vrk": Vrk,
    "sig_random": SigRandom,
    "sig": Sig,
    "sig_fourier": SigFourier,
    "sig_pde": SigPde,
    "sig_explicit": SigExplicit,
    "rocket": Rocket,
    "radon": Radon,
}
