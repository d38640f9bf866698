"""Odd words for every option: absurd sizes, odd numbers, odd letters."""

from . import mutate
from .case import Case, Step
from .seeds import STUDY

NUMBERS = [word for word in mutate.NUMBERS if "\0" not in word]
SIZES = ["0", "1", "2", "1000", "65535", "10000000000", "9007199254740992", "18446744073709551615", "1e18", "1.8e19", "-1", "0.5", "nan", "inf", ""]
WORDS = ["auto", "none", "x", "", "\x1b[31m", "💥", "a" * 300, "--help", ",", "=", ":", "{", "[]", "{}", "null", "true", "published", "standard"]
PARAMETERS = ["sigma", "c", "p", "band", "floor", "tau", "lambda", "clip", "features", "variance", "seed", "level", "order", "lift", "scale", "compat",
              "tolerance", "dyadic", "form", "directions", "thresholds", "window", "x"]
KERNELS = ["flat_linear", "flat_rbf", "flat_poly", "integral_rbf", "integral_poly", "gak", "vrk", "sig_random", "sig", "sig_fourier", "sig_pde",
           "sig_explicit", "rocket", "radon"]
STEPS = ["pool", "resample", "zscore", "clip", "time", "visibility", "lead_lag", "asinh", "basepoint", "interpolate"]
FIT = ["--alpha", "--neighbour", "--max-rank", "--eigenvalue-threshold", "--landmarks", "--memory", "--level", "--calibration", "--space", "--norm",
       "--distance", "--preset", "--normal", "--decision", "--gaps"]


def odd(rng):
    return rng.choice((rng.choice(SIZES), rng.choice(SIZES), rng.choice(NUMBERS), rng.choice(WORDS)))


def kernel(rng):
    name = rng.choice(KERNELS)
    pairs = ",".join(f"{rng.choice(PARAMETERS)}={odd(rng)}" for _ in range(rng.choice((0, 1, 1, 1, 2, 3))))
    return f"{name}:{pairs}" if pairs else rng.choice((name, name.upper(), name + ":", odd(rng)))


def preparation(rng):
    return ",".join(rng.choice((name, f"{name}={odd(rng)}")) for name in rng.choices(STEPS, k=rng.choice((1, 1, 2, 3))))


def calibration(rng):
    method = rng.choice(("split", "cross_fit", "fixed", "supervised", "quantile", "gaussian", "leave_one_out", "auto"))
    return f"{method}:{rng.choice(('holdout', 'seed', 'folds', 'threshold', 'objective', 'x'))}={odd(rng)}"


class Options:
    """Every option that takes a value."""

    name, weight = "options", 6

    def case(self, rng, seeds):
        one = ["--threads", "1"]
        files = {"data.ts": seeds.data["data.ts"]}
        action = rng.randrange(8)
        if action <= 3:
            words = ["fit", "data.ts", "-o", "out.model", *one]
            for _ in range(rng.choice((1, 1, 2))):
                what = rng.randrange(6)
                words += {0: lambda: ["--kernel", kernel(rng)], 1: lambda: ["--kernel", kernel(rng)], 2: lambda: ["--prepare", preparation(rng)],
                          3: lambda: ["--calibration", calibration(rng)]}.get(what, lambda: [rng.choice(FIT), odd(rng)])()
            return Case(files, [Step(words, writes=() if "--help" in words else ("out.model",))])
        if action == 4:
            return Case(files, [Step(["gram", "data.ts", "--kernel", kernel(rng), "--prepare", preparation(rng), "-o", "out.npy", *one], writes=("out.npy",))])
        if action == 5:
            files |= seeds.sets
            option = rng.choice(("--shard", "--kernels", "--datasets", "--rows", "--format", "--published", "--scores", "--select"))
            return Case(files, [Step([*STUDY, "--dry-run", option, odd(rng)])])
        files["ok.model"] = seeds.model(3)
        command = rng.choice((["score", "ok.model", "data.ts", rng.choice(("--level", "--decision", "--format", "--normal", "--gaps")), odd(rng)],
                              ["explain", "ok.model", "data.ts", rng.choice(("--series", "--segments")), odd(rng)],
                              ["theory", "consistency", "--seed", odd(rng)], ["inspect", "ok.model", "--format", odd(rng)], ["demo", rng.choice(("--level", "--kernel")), odd(rng)],
                              ["score", odd(rng), odd(rng)], ["convert", "data.ts", "out." + rng.choice(("ts", "x", "", "csv")), rng.choice(("--csv", "--csv-layout")), odd(rng)],
                              ["report", "ok.model", "data.ts", "-o", "out.html", rng.choice(("--explain", "--segments", "--curves")), odd(rng)]))
        words = [word.replace("\0", "") for word in command] + one
        out = {"convert": [w for w in words if w.startswith("out.")], "report": ["out.html"]}.get(words[0], [])
        return Case(files, [Step(words, writes=tuple(out))])
