"""Campaigns of damaged files: data of every format, models, settings, studies, benchmarks and scores."""

from . import arrays, mutate
from .case import Case, Step
from .seeds import MODELS, STUDY

ONE = ["--threads", "1"]
KERNELS = ["flat_linear", "flat_rbf", "integral_rbf", "gak", "sig", "sig_pde", "rocket:features=84", "radon:directions=8"]


def use(name, rng, seeds, files):
    """A random command on a data file, with the files that it needs besides."""
    options = []
    if rng.random() < 0.2:
        options += ["--csv-layout", rng.choice(("auto", "wide", "long", "recording"))]
    gaps = ["--gaps", "interpolate"] if rng.random() < 0.3 else []
    action = rng.randrange(10)
    if action <= 2:
        return Step(["inspect", name, "--format", "json", *options], json=True)
    if action <= 5:
        out = rng.choice(("out.ts", "out.arff", "out.csv", "out.npy", "out.npz"))
        how = rng.choice(([], ["--lossy"])) + rng.choice(([], ["--csv", "wide"]))
        return Step(["convert", name, out, *how, *options], writes=(out,))
    if action == 6:
        kernel = rng.choice(([], ["--preset", "fast"], ["--kernel", rng.choice(KERNELS)], ["--kernel", rng.choice(KERNELS)]))
        return Step(["fit", name, "-o", "out.model", *kernel, *gaps, *options, *ONE], writes=("out.model",))
    if action == 7:
        return Step(["gram", name, "--kernel", rng.choice(KERNELS), "-o", "out.npy", *options, *ONE], writes=("out.npy",))
    files["ok.model"] = seeds.model(rng.choice((1, 3, 4, 6)))
    if action == 8:
        out = rng.choice(("out.json", "out.csv"))
        return Step(["score", "ok.model", name, "-o", out, *gaps, *options, *ONE], writes=(out,))
    command = rng.choice((["explain", "ok.model", name, "--format", "json"], ["report", "ok.model", name, "-o", "out.html", "--explain", "2"]))
    return Step([*command, *gaps, *options, *ONE], writes=("out.html",) if "-o" in command else (), json="-o" not in command)


class Data:
    """Damaged data files of one format."""

    def __init__(self, name, sources, mutators, weight):
        self.name, self.sources, self.mutators, self.weight = name, sources, mutators, weight

    def case(self, rng, seeds):
        source = rng.choice(self.sources)
        files = {}
        content = mutate.some(seeds.data[source], rng, self.mutators)
        name = source if rng.random() < 0.93 else "data." + rng.choice(("ts", "arff", "csv", "npy", "npz"))
        files[name] = content
        steps = [use(name, rng, seeds, files)]
        # What was written can be read.
        if steps[0].arguments[0] == "convert":
            steps.append(Step(["inspect", steps[0].writes[0], "--format", "json"], json=True))
            return Case(files, steps, readable)
        return Case(files, steps)


def readable(_, outcomes):
    """After a conversion that went well, the result is read; after one that did not, nothing is asked."""
    from .case import Finding
    if len(outcomes) > 1 and outcomes[1].code != 0:
        return [Finding("unreadable", f"{' '.join(outcomes[0].arguments)} wrote what is refused: {outcomes[1].err.decode('utf-8', 'replace')[:400]}")]
    return []


class Models:
    """Model files with damaged bytes: never accepted."""

    name, weight = "model-bytes", 1

    def case(self, rng, seeds):
        model = seeds.model(rng.randrange(len(MODELS)))
        damaged = mutate.some(model, rng, mutate.BINARY)
        command = rng.choice((["inspect", "bad.model", "--format", "json"], ["score", "bad.model", "data.ts", "--format", "json", *ONE]))
        judge = None if damaged == model else accepted
        return Case({"bad.model": damaged, "data.ts": seeds.data["data.ts"]}, [Step(command, json=True)], judge)


def accepted(folder, outcomes):
    from .case import Finding
    # Spaces after the header's JSON are not under the checksum; a model in which nothing else changed is the same.
    if outcomes[0].code == 0:
        return [Finding("accepted", "a damaged model was read")] if not harmless(folder) else []
    return []


def harmless(folder):
    import pathlib
    from . import safetensors
    try:
        safetensors.check((pathlib.Path(folder) / "bad.model").read_bytes())
        return True
    except (ValueError, KeyError):
        return False


class Settings:
    """Settings with changed values or text."""

    name, weight = "settings", 2

    def case(self, rng, seeds):
        text = mutate.json_text(seeds.settings(rng.randrange(len(MODELS))), rng)
        files = {"settings.json": text, "data.ts": seeds.data["data.ts"]}
        if rng.random() < 0.4:
            return Case(files, [Step(["fit", "--settings", "settings.json", "--print-settings"], json=True)])
        fit = Step(["fit", "data.ts", "-o", "out.model", "--settings", "settings.json", "--normal", "a", *ONE], writes=("out.model",))
        return Case(files, [fit, Step(["score", "out.model", "data.ts", "--format", "json", *ONE], json=True)], loadable)


def loadable(_, outcomes):
    """What fit wrote, score reads."""
    from .case import Finding
    if len(outcomes) > 1 and outcomes[1].code != 0:
        return [Finding("unreadable", f"a fitted model is refused: {outcomes[1].err.decode('utf-8', 'replace')[:400]}")]
    return []


class Study:
    """Run lines, headers, grids and scores of studies and benchmarks."""

    name, weight = "study", 2

    def case(self, rng, seeds):
        kind = rng.randrange(6)
        if kind <= 1:
            return self.damaged_run(rng, seeds)
        if kind == 2:
            grid = mutate.json_text(seeds.sets["grid.json"], rng)
            return Case({**seeds.sets, "grid.json": grid}, [Step([*STUDY, "--dry-run"] if rng.random() < 0.5 else [*STUDY, "--no-baselines"])])
        if kind == 3:
            files = {**seeds.sets, "scores.csv": mutate.some(seeds.scores, rng, mutate.TEXT)}
            command = rng.choice(([*STUDY, "--no-baselines"], ["bench", "sets", "--methods", "nearest", *ONE, "--quiet"]))
            return Case(files, [Step([*command, "--scores", "mine=scores.csv"])])
        if kind == 4:
            files = {**seeds.sets, **seeds.bench}
            name = rng.choice([n for n in files if n.startswith("bench/")])
            files[name] = mutate.some(files[name], rng, mutate.TEXT)
            return Case(files, [Step(["bench", "sets", "--methods", "fast,nearest", "-o", "bench", "--format", "json", *ONE, "--quiet"], writes=("bench",), json=True)])
        name = rng.choice(("sets/Tiny/Tiny_TRAIN.ts", "sets/Tiny/Tiny_TEST.ts"))
        files = {**seeds.sets, name: mutate.some(seeds.sets[name], rng, mutate.TEXT)}
        command = rng.choice(([*STUDY, "--format", "json"], ["bench", "sets", "--methods", "nearest,fast", "--format", "json", *ONE, "--quiet"]))
        return Case(files, [Step(command, json=True)])

    def damaged_run(self, rng, seeds):
        files = {**seeds.sets, **seeds.study}
        name = rng.choice(("run/units.jsonl", "run/units.jsonl", "run/study.json", "run/times.jsonl"))
        if name not in files:
            name = "run/units.jsonl"
        how = mutate.TEXT if name != "run/study.json" else [mutate.json_text]
        files[name] = mutate.some(files[name], rng, how)
        command = rng.choice((["study", "show", "run", "--format", "json"], ["report", "run", "-o", "out.html"],
                              ["study", "merge", "run", "-o", "whole"], ["study", "compare", "run", "run"], [*STUDY, "--run", "run"]))
        writes = {"report": ("out.html",)}.get(command[0], ("whole",) if "merge" in command else ("run",) if "--run" in command else ())
        truth = seeds.study["run/units.jsonl"]
        damaged = name == "run/units.jsonl"
        return Case(files, [Step(command, writes=writes, json="json" in command)], (lambda f, o: same_numbers(f, o, truth)) if damaged else None)


def same_numbers(folder, outcomes, truth):
    """A run that goes on over damaged lines ends with the lines of the undamaged run, or is refused."""
    import pathlib
    from .case import Finding
    if outcomes[0].code != 0 or "--run" not in outcomes[0].arguments:
        return []
    found = (pathlib.Path(folder) / "run/units.jsonl").read_bytes()
    return [] if found == truth else [Finding("wrong numbers", "a damaged run went on to another result")]


def campaigns():
    text = mutate.TEXT
    npz = [arrays.npz, arrays.npz, *mutate.BINARY[:4]]
    npy = [lambda _, rng: arrays.npy(rng), lambda _, rng: arrays.npy(rng), *mutate.BINARY]
    return [Data("ts", ["data.ts"], text, 3), Data("arff", ["data.arff"], text, 2), Data("csv", ["long.csv", "wide.csv", "recording.csv"], text, 4),
            Data("npy", ["data.npy"], npy, 2), Data("npz", ["data.npz"], npz, 2), Models(), Settings(), Study()]
