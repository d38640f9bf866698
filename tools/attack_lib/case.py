"""A case: files, commands, and a judge that looks at what each command did."""

import dataclasses
import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import tempfile
import time


@dataclasses.dataclass
class Limits:
    """What a command may take. Seconds are of the processor, so that a busy machine convicts nobody."""

    seconds: float = 20.0
    wall: float = 120.0
    memory: int = 2 << 30


@dataclasses.dataclass
class Step:
    """One command. `writes` are the files that it may leave; `file_limit` is a full disk for files above it."""

    arguments: list
    writes: tuple = ()
    json: bool = False
    file_limit: int = 0
    may_flag: bool = False
    #: Whether it is run though the command before it failed.
    always: bool = False


@dataclasses.dataclass
class Case:
    """Files by name, and commands that are run in their folder one after another."""

    files: dict
    steps: list
    #: A further judge: takes the folder and the outcomes, gives findings.
    judge: object = None


@dataclasses.dataclass
class Outcome:
    """What a command did. `code` is negative where a signal ended it."""

    arguments: list
    code: int
    out: bytes
    err: bytes
    seconds: float
    wall: float
    memory: int
    late: bool


@dataclasses.dataclass
class Finding:
    """What was wrong, in a word and a sentence."""

    kind: str
    text: str


def run(program, arguments, folder, limits, file_limit=0, environment=None):
    """Runs the program within the limits and measures what it took."""
    def prepare():
        resource.setrlimit(resource.RLIMIT_AS, (limits.memory, limits.memory))
        seconds = int(limits.seconds) + 1
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 2))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if file_limit:
            resource.setrlimit(resource.RLIMIT_FSIZE, (file_limit, file_limit))

    began = time.monotonic()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = subprocess.Popen([program, *arguments], cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                 preexec_fn=prepare, env=environment)
        code, usage, late = wait(child, began + limits.wall)
        out.seek(0)
        err.seek(0)
        return Outcome(list(arguments), code, out.read(1 << 24), err.read(1 << 24), usage.ru_utime + usage.ru_stime,
                       time.monotonic() - began, usage.ru_maxrss * 1024, late)


def wait(child, until):
    """Waits for a child and its resource usage; ends it when its time is over."""
    late, pause = False, 0.001
    while True:
        process, status, usage = os.wait4(child.pid, os.WNOHANG)
        if process:
            child.returncode = os.waitstatus_to_exitcode(status)
            return child.returncode, usage, late
        if time.monotonic() > until and not late:
            late = True
            child.send_signal(signal.SIGKILL)
        time.sleep(pause)
        pause = min(0.02, pause * 1.3)


CRASH = re.compile(rb"panicked at|RUST_BACKTRACE|stack overflow|memory allocation of|fatal runtime error|thread '.*' has")

#: What an action begins with, or how a sentence says what would be right.
ACTION = re.compile(
    r"\b(add|allow|ask|check|choose|close|convert|copy|correct|cut|delete|download|drop|end|fill|fit|fix|free|give|go on"
    r"|keep|leave|lower|make|name|open|pass|prepare|put|raise|read it|remove|rename|repair|repeat|replace|run|save|say"
    r"|scale|see|send|set|shorten|split|start|stop|take|try|turn|use|wait|write|expected|needs?|must|should|is wanted"
    r"|known|instead|takes?|os error|it has|there (is|are)|are:|possible values|at (least|most)|above|below|between|only|either)(\b|(?<=:))", re.IGNORECASE)

#: Longest refusal that somebody would read.
LONGEST = 3000


def judge(outcome, limits, step):
    """Findings about one command: how it ended and what it said."""
    found = []
    words = outcome.err.decode("utf-8", "replace")
    if outcome.late or -outcome.code in (signal.SIGXCPU,) or outcome.seconds > limits.seconds:
        found.append(Finding("hang", f"{outcome.seconds:.1f} s of processor time, {outcome.wall:.1f} s in all"))
    elif outcome.code < 0:
        found.append(Finding("signal", f"ended by signal {-outcome.code}: {words[-300:]}"))
    elif outcome.code not in ((0, 1, 2) if step.may_flag else (0, 2)):
        found.append(Finding("exit", f"exit code {outcome.code}: {words[-300:]}"))
    if CRASH.search(outcome.err) or CRASH.search(outcome.out):
        found.append(Finding("panic", words[-600:]))
    if outcome.memory > limits.memory:
        found.append(Finding("memory", f"{outcome.memory >> 20} MB"))
    found += judge_words(outcome, words)
    if outcome.code == 0 and step.json:
        found += judge_json(outcome.out)
    return found


def judge_words(outcome, words):
    """A refusal is one readable sentence with an action; nothing else reaches the terminal."""
    found = []
    for name, text in (("stderr", words), ("stdout", outcome.out.decode("utf-8", "replace"))):
        bad = next((c for c in text if (ord(c) < 32 and c not in "\n\t") or 0x7F <= ord(c) < 0xA0), None)
        if bad:
            found.append(Finding("control", f"{name} has the letter U+{ord(bad):04X}"))
    if outcome.code != 2:
        return found
    at = words.find("error: ")
    if at < 0:
        return [*found, Finding("silent", f"exit code 2 without a sentence: {words[-300:]!r}")]
    sentence = words[at + 7:].strip()
    if not sentence:
        found.append(Finding("silent", "exit code 2 with an empty sentence"))
    elif not ACTION.search(sentence):
        found.append(Finding("no action", sentence[:600]))
    if len(sentence) > LONGEST:
        found.append(Finding("long", f"a refusal of {len(sentence)} letters: {sentence[:200]}"))
    return found


def judge_json(text):
    """Standard output is whole JSON, without the words NaN and Infinity."""
    try:
        json.loads(text, parse_constant=refuse_constant)
    except ValueError as error:
        return [Finding("json", f"{error}: {text[-200:]!r}")]
    return []


def refuse_constant(word):
    raise ValueError(f"{word} is not JSON")


def snapshot(folder):
    """The files of a folder with their bytes, as deep as they lie; links by where they point."""
    found = {}
    for path in pathlib.Path(folder).rglob("*"):
        if path.is_symlink():
            found[str(path.relative_to(folder))] = os.readlink(path).encode()
        elif path.is_file():
            found[str(path.relative_to(folder))] = path.read_bytes()
    return found


def judge_files(before, after, step, outcome):
    """Nothing but results is left, sources stay, and a result is whole or as it was."""
    found = []
    written = lambda name: any(name == w or name.startswith(w + "/") for w in step.writes)
    for name in sorted(after.keys() - before.keys()):
        if not written(name) or pathlib.Path(name).name.startswith(".varnorm-"):
            found.append(Finding("leftover", f"{name} ({len(after[name])} bytes)"))
    for name, content in before.items():
        if not written(name) and after.get(name) != content:
            found.append(Finding("source changed", name))
    for name in step.writes:
        # A folder is a run that can go on: its own judge looks at it.
        if name not in before and name not in after and any(n.startswith(name + "/") for n in after):
            continue
        if outcome.code not in (0, 1) and after.get(name) != before.get(name):
            found.append(Finding("half-written", f"{name} changed though the command failed"))
        elif outcome.code in (0, 1):
            found += judge_result(name, after.get(name))
    return found


def judge_result(name, content):
    """A result that was promised is there, to its end."""
    if not content:
        return [Finding("no result", f"exit code 0, but {name} is {'empty' if content is not None else 'not there'}")]
    if name.endswith(".json"):
        return judge_json(content)
    if name.endswith(".html") and not content.rstrip().endswith(b"</html>"):
        return [Finding("half-written", f"{name} ends in {content[-40:]!r}")]
    if name.endswith(".csv") and not content.endswith(b"\n"):
        return [Finding("half-written", f"{name} ends in {content[-40:]!r}")]
    return []


def run_case(program, case, folder, limits):
    """Runs a case in an empty folder; its findings, and what its commands did."""
    for name, content in case.files.items():
        path = pathlib.Path(folder) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    findings, outcomes = [], []
    for step in case.steps:
        if outcomes and outcomes[-1].code != 0 and not step.always:
            break
        before = snapshot(folder)
        outcome = run(program, step.arguments, folder, limits, step.file_limit)
        outcomes.append(outcome)
        found = judge(outcome, limits, step) + judge_files(before, snapshot(folder), step, outcome)
        findings += [Finding(f.kind, f"{' '.join(map(str, step.arguments))}: {f.text}") for f in found]
    if case.judge:
        findings += case.judge(folder, outcomes)
    return findings, outcomes
