"""Signals at random moments: what was there stays whole, and a study that goes on ends the same."""

import pathlib
import shutil
import signal
import subprocess
import time

from . import seeds as material
from .case import CRASH, Finding, snapshot
from .seeds import STUDY

ONE = ["--threads", "1", "--quiet"]
#: Commands that take long enough to be met, with what they write.
COMMANDS = [
    (["fit", "big.ts", "-o", "out.model", "--kernel", "flat_rbf", *ONE], "out.model"),
    (["fit", "big.ts", "-o", "out.model", *ONE], "out.model"),
    (["score", "ok.model", "big.ts", "-o", "out.csv", *ONE], "out.csv"),
    (["convert", "big.ts", "out.csv", *ONE], "out.csv"),
    (["convert", "big.ts", "out.npz", *ONE], "out.npz"),
    (["gram", "big.ts", "--kernel", "gak", "-o", "out.npy", *ONE], "out.npy"),
    (["report", "ok.model", "big.ts", "-o", "out.html", *ONE], "out.html"),
]
SIGNALS = [signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGKILL]


class Kills:
    """One command or study, ended at a random moment."""

    name, weight = "kills", 2

    def __init__(self):
        self.expected = {}

    def run(self, program, rng, seeds, folder, limits):
        """The findings of one case; it does not go through files and commands."""
        folder = pathlib.Path(folder)
        for name, content in seeds.sets.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
        if rng.random() < 0.35:
            return self.study(program, rng, seeds, folder)
        (folder / "big.ts").write_bytes(material.ts(list(material.walks(120, 60, 3, 7))))
        (folder / "ok.model").write_bytes(self.model(program, seeds))
        which = rng.randrange(len(COMMANDS))
        words, out = COMMANDS[which]
        whole, seconds = self.measure(program, which, words, out, folder)
        old = rng.choice((None, b"an old result\n", whole))
        (folder / out).unlink(missing_ok=True)
        if old is not None:
            (folder / out).write_bytes(old)
        before = snapshot(folder)
        how = rng.choice(SIGNALS)
        code, err = killed(program, words, folder, how, rng.random() * seconds * 1.2)
        return judge(before, snapshot(folder), out, old, whole, how, code, err, words)

    def model(self, program, seeds):
        if "model" not in self.expected:
            (seeds.folder / "big.ts").write_bytes(material.ts(list(material.walks(120, 60, 3, 7))))
            seeds.run("fit", "big.ts", "-o", "big.model", "--kernel", "flat_rbf", *ONE)
            self.expected["model"] = seeds.bytes("big.model")
        return self.expected["model"]

    def measure(self, program, which, words, out, folder):
        """What the command writes when it is left alone, and how long it takes."""
        if which not in self.expected:
            began = time.monotonic()
            subprocess.run([program, *words], cwd=folder, capture_output=True, check=True, timeout=300)
            self.expected[which] = ((folder / out).read_bytes(), time.monotonic() - began)
        return self.expected[which]

    def study(self, program, rng, seeds, folder):
        """A study that is ended several times and goes on has the bytes of one that was left alone."""
        truth, found = seeds.study["run/units.jsonl"], []
        words = [*STUDY, "--run", "run"]
        for _ in range(rng.choice((1, 2, 3))):
            how = rng.choice(SIGNALS)
            # What a kill before this one left is nobody's fault.
            before = snapshot(folder)
            code, err = killed(program, words, folder, how, rng.random() * 0.3)
            found += ended(how, code, err, words)
            if how != signal.SIGKILL:
                found += [Finding("leftover", name) for name in snapshot(folder) if ".varnorm-" in name and name not in before]
        done = subprocess.run([program, *words], cwd=folder, capture_output=True, timeout=300)
        if done.returncode != 0:
            return [*found, Finding("not resumed", done.stderr.decode("utf-8", "replace")[-400:])]
        if (folder / "run/units.jsonl").read_bytes() != truth:
            found.append(Finding("wrong numbers", "a study that was ended and went on has other lines"))
        shutil.rmtree(folder / "run")
        return found


def killed(program, words, folder, how, delay):
    """Starts, waits, sends the signal; the exit code and what was said."""
    child = subprocess.Popen([program, *words], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    time.sleep(delay)
    child.send_signal(how)
    try:
        _, err = child.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        child.kill()
        child.communicate()
        return None, b""
    return child.returncode, err


def ended(how, code, err, words):
    text = " ".join(words)
    if code is None:
        return [Finding("hang", f"{text}: still running 60 s after {how.name}")]
    # Before the program has its own handler, the signal's default holds.
    fine = (0, 2, -how)
    if code not in fine or CRASH.search(err):
        return [Finding("exit", f"{text}: {code} after {how.name}: {err[-300:]!r}")]
    return []


def judge(before, after, out, old, whole, how, code, err, words):
    found, text = ended(how, code, err, words), " ".join(words)
    for name in after.keys() - before.keys() - {out}:
        if how != signal.SIGKILL or not name.startswith(".varnorm-"):
            found.append(Finding("leftover", f"{text}: {name} after {how.name}"))
    for name, content in before.items():
        if name != out and after.get(name) != content:
            found.append(Finding("source changed", f"{text}: {name} after {how.name}"))
    result = after.get(out)
    if result not in (old, whole):
        found.append(Finding("half-written", f"{text}: {out} is neither old nor whole after {how.name} ({len(result or b'')} bytes)"))
    if code == 0 and result != whole:
        found.append(Finding("no result", f"{text}: exit code 0 after {how.name} without the result"))
    return found


class FullDisk:
    """Files may not grow beyond a size: as on a full disk, the write fails (and the kernel sends SIGXFSZ)."""

    name, weight = "full-disk", 1

    def case(self, rng, seeds):
        from .case import Case, Step
        files = {"data.ts": seeds.data["data.ts"], "ok.model": seeds.model(3), **seeds.sets}
        words, out = rng.choice((
            (["fit", "data.ts", "-o", "out.model", "--preset", "fast", *ONE], "out.model"), (["convert", "data.ts", "out.csv", *ONE], "out.csv"),
            (["convert", "data.ts", "out.npz", *ONE], "out.npz"), (["convert", "data.ts", "out.ts", *ONE], "out.ts"), (["gram", "data.ts", "-o", "out.npy", *ONE], "out.npy"),
            (["score", "ok.model", "data.ts", "-o", "out.json", *ONE], "out.json"), (["report", "ok.model", "data.ts", "-o", "out.html", *ONE], "out.html"),
            ([*STUDY, "--run", "run"], "run"), (["bench", "sets", "--methods", "nearest", "-o", "bench", *ONE], "bench")))
        if rng.random() < 0.5 and "." in out:
            files[out] = b"an old result\n"
        limit = rng.choice((1, 10, 100, 500, 1000, 4096, rng.randrange(1, 20000)))
        steps = [Step(words, writes=(out,), file_limit=limit)]
        if out == "run":
            truth = seeds.study["run/units.jsonl"]
            steps.append(Step(words, writes=(out,), always=True))
            return Case(files, steps, lambda folder, outcomes: resumed(folder, outcomes, truth))
        return Case(files, steps)


def resumed(folder, outcomes, truth):
    """With room again, the study ends as it would have."""
    if outcomes[1].code != 0:
        return [Finding("not resumed", outcomes[1].err.decode("utf-8", "replace")[-400:])]
    found = (pathlib.Path(folder) / "run/units.jsonl").read_bytes()
    return [] if found == truth else [Finding("wrong numbers", "a study that met a full disk went on to another result")]
