"""What campaigns begin with: small data of every format, models, settings and a study, made once per run."""

import functools
import json
import math
import pathlib
import random
import subprocess

#: Options of models: between them every kind of kernel, space, norm, calibration and array.
MODELS = [
    "", "--preset fast", "--preset paper", "--kernel flat_rbf", "--kernel gak --landmarks 6", "--kernel rocket:features=84 --space features",
    "--kernel sig_random:features=8 --space features --calibration none", "--kernel sig_pde --norm exact --calibration split:holdout=0.3,seed=0",
    "--kernel flat_linear --norm tikhonov --distance mahalanobis --calibration gaussian", "--kernel radon:directions=8,thresholds=4",
    "--normal a --kernel integral_rbf --norm exact --calibration supervised --no-normalize",
    "--kernel vrk --calibration cross_fit --prepare zscore=series,resample=12", "--kernel sig_fourier:level=2,features=8 --gaps interpolate",
    "--kernel sig_explicit:level=2 --decision storey --level 0.2 --prepare time=1,pool=5",
]
GRID = {"folds": 3, "repeats": 2, "seed": 1, "max_rank": 4, "alphas": [1e-4, 1e-2], "time": [False],
        "kernels": {"rbf": {"sigma": [0.5, 1]}, "my_row": {"specs": ["flat_linear", "sig:level=2"]}}}
STUDY = ["study", "sets", "--datasets", "Tiny", "--grid", "grid.json", "--threads", "1", "--quiet"]


def walks(count, steps, channels, seed):
    """Waves with noise, those of label b twice as fast."""
    rng = random.Random(seed)
    for i in range(count):
        phase, speed = rng.random() * 6, 0.5 if i % 4 else 1.0
        yield [[round(math.sin(speed * t + phase + c) + rng.gauss(0, 0.2), 4) for t in range(steps)] for c in range(channels)]


def ts(series, name="Tiny"):
    """A .ts file of labelled series, each a list of channels."""
    rows = [":".join(",".join(map(str, channel)) for channel in one) + (":a" if i % 4 else ":b") for i, one in enumerate(series)]
    lengths = {len(channel) for one in series for channel in one}
    head = [f"@problemName {name}", "@timeStamps false", "@missing false", f"@univariate {str(len(series[0]) == 1).lower()}",
            f"@dimensions {len(series[0])}", f"@equalLength {str(len(lengths) == 1).lower()}",
            f"@seriesLength {max(lengths)}", "@classLabel true a b", "@data"]
    return ("\n".join(head + rows) + "\n").encode()


def recording(steps, seed):
    """A CSV of one recording with times."""
    rng = random.Random(seed)
    rows = [f"{t * 0.1:.1f},{rng.gauss(0, 1):.3f},{rng.gauss(5, 1):.3f}" for t in range(steps)]
    return ("time,speed,current\n" + "\n".join(rows) + "\n").encode()


class Seeds:
    """Made by the program itself, in a folder of its own; each thing when it is first asked for."""

    def __init__(self, program, folder):
        self.program, self.folder = program, pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "data.ts").write_bytes(ts(list(walks(24, 20, 2, 1))))
        (self.folder / "recording.csv").write_bytes(recording(60, 2))
        (self.folder / "grid.json").write_text(json.dumps(GRID))
        for part, seed in (("TRAIN", 3), ("TEST", 4)):
            path = self.folder / f"sets/Tiny/Tiny_{part}.ts"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(ts(list(walks(16, 12, 2, seed))))

    def run(self, *arguments):
        ran = subprocess.run([self.program, *arguments], cwd=self.folder, capture_output=True, text=True, timeout=600)
        if ran.returncode != 0:
            raise RuntimeError(f"a seed could not be made: {' '.join(arguments)}: {ran.stderr}")
        return ran.stdout

    def bytes(self, name):
        return (self.folder / name).read_bytes()

    @functools.cached_property
    def data(self):
        """Bytes of the same series in every format, by file name."""
        made = {"data.ts": [], "data.arff": [], "long.csv": ["--csv", "long"], "wide.csv": ["--csv", "wide"], "data.npz": [], "data.npy": ["--lossy"]}
        for name, options in made.items():
            if name != "data.ts":
                self.run("convert", "data.ts", name, *options)
        return {name: self.bytes(name) for name in (*made, "recording.csv")}

    @functools.lru_cache(maxsize=None)
    def model(self, which):
        """Bytes of one of the models."""
        name = f"m{which}.model"
        self.run("fit", "data.ts", "-o", name, "--threads", "1", "--quiet", *MODELS[which].split())
        return self.bytes(name)

    @functools.lru_cache(maxsize=None)
    def settings(self, which):
        return self.run("fit", "--print-settings", *MODELS[which].split()).encode()

    @functools.cached_property
    def sets(self):
        """The folder of labelled data sets, and the grid."""
        names = ("sets/Tiny/Tiny_TRAIN.ts", "sets/Tiny/Tiny_TEST.ts", "grid.json")
        return {name: self.bytes(name) for name in names}

    @functools.cached_property
    def study(self):
        """The files of a finished study."""
        self.run(*STUDY, "--run", "run")
        return {f"run/{path.name}": path.read_bytes() for path in (self.folder / "run").iterdir()}

    @functools.cached_property
    def bench(self):
        """The files of a finished benchmark."""
        self.run("bench", "sets", "--methods", "fast,nearest", "-o", "bench", "--threads", "1", "--quiet")
        return {f"bench/{path.name}": path.read_bytes() for path in (self.folder / "bench").iterdir()}

    @functools.cached_property
    def scores(self):
        """A CSV of scores made elsewhere."""
        rows = [f"Tiny,{label},{i},{i * 0.37 % 1:.3f}" for label in "ab" for i in range(16)]
        return ("dataset,class,series,score\n" + "\n".join(rows) + "\n").encode()
