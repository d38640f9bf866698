"""Degenerate corpora x settings: fitted, scored and read again, or refused."""

import math

from . import seeds as material
from .case import Case, Finding, Step
from .files import loadable

KERNELS = ["flat_linear", "flat_rbf", "flat_poly:p=3", "integral_rbf", "integral_poly", "gak", "gak:band=3", "vrk", "sig_random:features=8", "sig",
           "sig:lift=rbf,level=3", "sig_fourier:level=2,features=8", "sig_pde", "sig_pde:lift=rbf", "sig_explicit:level=2", "rocket:features=84", "radon:directions=8"]
PREPARE = ["standard", "published", "none", "zscore=channel", "zscore=series", "zscore=robust", "zscore=step", "zscore=global,clip=3", "asinh", "resample=7", "pool=3",
           "time=1", "lead_lag", "visibility=t", "basepoint", "interpolate"]
CALIBRATION = ["auto", "none", "quantile", "split", "cross_fit", "leave_one_out", "gaussian", "fixed:threshold=1"]


def corpus(rng):
    """Series as lists of channels."""
    kind = rng.randrange(16)
    count, steps, channels = rng.choice((1, 2, 3, 8, 30)), rng.choice((1, 2, 3, 10, 40)), rng.choice((1, 1, 2, 5))
    if kind == 0:
        count, steps, channels = 3, 3, 500
    series = list(material.walks(count, steps, channels, rng.random()))
    scale = rng.choice((1e-300, 1e-160, 1e-9, 1e9, 1e150, 1e300, 1.7e308))
    change = {
        1: lambda v, i, t: 1.0, 2: lambda v, i, t: 0.0, 3: lambda v, i, t: v * scale, 4: lambda v, i, t: v + scale, 5: lambda v, i, t: scale,
        6: lambda v, i, t: float("nan") if i == 0 and t == 0 else v, 7: lambda v, i, t: float("inf") if i == 0 and t == 0 else v,
        8: lambda v, i, t: scale if i == 0 and t == 0 else v, 9: lambda v, i, t: float(t), 10: lambda v, i, t: math.copysign(scale, v),
        11: lambda v, i, t: v * 10.0 ** (i % 5 * 60 - 120), 12: lambda v, i, t: float(i), 13: lambda v, i, t: 1 + v * 1e-16,
    }.get(kind, lambda v, i, t: v)
    series = [[[change(v, i, t) for t, v in enumerate(channel)] for channel in one] for i, one in enumerate(series)]
    if kind == 14:
        series = [series[0]] * rng.choice((2, 20))
    if kind == 15:
        series = [[channel[:rng.randint(1, len(channel))] for channel in one[:1]] for one in series]
    return series


def options(rng):
    made = []
    if rng.random() < 0.3:
        made += ["--preset", rng.choice(("auto", "fast", "paper"))]
    else:
        made += ["--kernel", rng.choice(KERNELS)]
        for flag, values, share in (("--prepare", PREPARE, 0.5), ("--norm", ("exact", "tikhonov", "envelope"), 0.6), ("--alpha", ("auto", "0", "1e-300", "1e300", "1"), 0.2),
                                    ("--distance", ("conformance", "mahalanobis"), 0.4), ("--neighbour", ("1", "2", "100"), 0.15), ("--max-rank", ("1", "3", "1000"), 0.15),
                                    ("--space", ("gram", "landmarks:2", "landmarks:tolerance=0.01", "features"), 0.2)):
            if rng.random() < share:
                made += [flag, rng.choice(values)]
        made += rng.choice(([], [], ["--no-normalize"]))
    if rng.random() < 0.6:
        made += ["--calibration", rng.choice(CALIBRATION)]
    if rng.random() < 0.3:
        made += ["--level", rng.choice(("0.5", "0.2", "1e-9", "0.999999"))]
    if rng.random() < 0.3:
        made += ["--decision", rng.choice(("each", "benjamini_hochberg", "storey", "lord"))]
    if rng.random() < 0.2:
        made += ["--gaps", "interpolate"]
    return made


class Degenerate:
    """What an instrument that is off, saturated or in odd units records."""

    name, weight = "degenerate", 6

    def case(self, rng, seeds):
        train = corpus(rng)
        test = train if rng.random() < 0.6 else corpus(rng)
        one = ["--threads", "1"]
        fit = Step(["fit", "train.ts", "-o", "out.model", *options(rng), *one], writes=("out.model",))
        then = rng.choice((
            Step(["score", "out.model", "test.ts", "--format", "json", *one], json=True),
            Step(["report", "out.model", "test.ts", "-o", "out.html", "--explain", "1", *one], writes=("out.html",)),
            Step(["explain", "out.model", "test.ts", "--format", "json", *one], json=True),
        ))
        own = loadable if test is train and then.arguments[0] == "score" else None
        return Case({"train.ts": material.ts(train), "test.ts": material.ts(test)}, [fit, then], lambda f, o: [*(own(f, o) if own else []), *nan(f, o)])


def nan(folder, outcomes):
    """No page has a coordinate that is no number."""
    import pathlib
    page = pathlib.Path(folder) / "out.html"
    if page.exists() and any(f'{name}="{word}"'.encode() in page.read_bytes() for name in ("x", "y", "d", "cx", "cy", "width") for word in ("NaN", "inf", "-inf")):
        return [Finding("nan", "the report has a coordinate that is no number")]
    return []
