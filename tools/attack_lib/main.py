"""The command line: which campaigns, how many cases, which seed; failures are kept with what repeats them."""

import argparse
import collections
import json
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

from . import degenerate, files, kills, load, models, options, server
from .case import Finding, Limits, run_case
from .seeds import Seeds

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def campaigns():
    """All campaigns by name."""
    every = [*files.campaigns(), models.HandMade(), degenerate.Degenerate(), options.Options(), kills.Kills(), kills.FullDisk(), server.Clients()]
    return {campaign.name: campaign for campaign in every}


def parse(arguments):
    parser = argparse.ArgumentParser(prog="tools/attack", description="Seeded, bounded campaigns against the program; docs/reliability.md tells more.")
    parser.add_argument("--program", type=pathlib.Path, help="the program [default: target/release/varnorm, else target/debug/varnorm]")
    parser.add_argument("--cases", type=int, default=300, help="cases in all [default: 300]")
    parser.add_argument("--seed", type=int, default=1, help="another seed, other cases [default: 1]")
    parser.add_argument("--campaign", action="append", help="only this campaign; may be given several times")
    parser.add_argument("--case", type=int, help="only the case of this number, of one campaign")
    parser.add_argument("--first", type=int, default=0, help="number of the first case of each campaign [default: 0]")
    parser.add_argument("--failures", type=pathlib.Path, default=ROOT / "target/attack", help="folder that keeps failures [default: target/attack]")
    parser.add_argument("--minutes", type=float, help="stop after so many minutes")
    parser.add_argument("--jobs", type=int, default=1, help="processes that share the cases [default: 1]")
    parser.add_argument("--part", type=int, default=0, help=argparse.SUPPRESS)
    parser.add_argument("--load", type=float, metavar="SECONDS", help="instead: a server under the worst bodies for so long")
    parser.add_argument("--self-test", action="store_true", help="show that broken programs are found out")
    parser.add_argument("--list", action="store_true", help="list the campaigns")
    return parser.parse_args(arguments)


def plan(chosen, cases, first):
    """Which case of which campaign, in turns by weight, so that a run that is stopped has tried all kinds."""
    total = sum(campaign.weight for campaign in chosen)
    counts = {campaign.name: max(1, round(cases * campaign.weight / total)) for campaign in chosen}
    every = [((i + 0.5) / counts[c.name], c.name, first + i) for c in chosen for i in range(counts[c.name])]
    return [(name, index) for _, name, index in sorted(every)]


class Attack:
    """One run of campaigns."""

    def __init__(self, program, seed, failures, limits=None):
        self.program, self.seed, self.failures = str(program), seed, failures
        self.limits = limits or Limits()
        self.scratch = tempfile.TemporaryDirectory(prefix="attack-")
        self.seeds = Seeds(self.program, pathlib.Path(self.scratch.name) / "seeds")
        self.kinds, self.slowest, self.largest = collections.Counter(), (0.0, ""), (0, "")

    def one(self, campaign, index):
        """Runs one case; its findings."""
        rng = random.Random(f"{self.seed}/{campaign.name}/{index}")
        folder = pathlib.Path(self.scratch.name) / "case"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        outcomes = []
        try:
            if hasattr(campaign, "run"):
                findings = campaign.run(self.program, rng, self.seeds, folder, self.limits)
            else:
                case = campaign.case(rng, self.seeds)
                findings, outcomes = run_case(self.program, case, folder, self.limits)
        except Exception:  # a fault of the harness is a failure too, but does not end a long run
            findings = [Finding("harness", traceback.format_exc()[-700:])]
        for outcome in outcomes:
            where = f"{campaign.name} {index}"
            self.slowest = max(self.slowest, (outcome.seconds, where))
            self.largest = max(self.largest, (outcome.memory, where))
        if findings:
            self.keep(campaign, index, folder, findings, outcomes)
        return findings

    def keep(self, campaign, index, folder, findings, outcomes):
        """Saves the case and prints what repeats it."""
        self.kinds.update(f.kind for f in findings)
        kept = self.failures / f"{self.seed}-{campaign.name}-{index}"
        repeat = f"tools/attack --program {self.program} --seed {self.seed} --campaign {campaign.name} --case {index}"
        shutil.rmtree(kept, ignore_errors=True)
        shutil.copytree(folder, kept / "folder", symlinks=True)
        told = {"findings": [[f.kind, f.text] for f in findings], "repeat": repeat,
                "commands": [[o.arguments, o.code, o.err.decode("utf-8", "replace")[-4000:]] for o in outcomes]}
        (kept / "case.json").write_text(json.dumps(told, indent=1))
        for finding in findings:
            print(f"{finding.kind.upper()}: {clean(finding.text)}")
        print(f"  kept in {kept}\n  again: {repeat}", flush=True)

    def close(self, chosen):
        findings = [finding for c in chosen if hasattr(c, "close") for finding in c.close()]
        for finding in findings:
            self.kinds[finding.kind] += 1
            print(f"{finding.kind.upper()}: {clean(finding.text)}")
        self.scratch.cleanup()


def clean(text):
    """One short line without control letters."""
    return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in text)[:900]


def main(arguments=None):
    asked = parse(arguments)
    known = campaigns()
    if asked.self_test:
        from . import test_attack
        return test_attack.main()
    if asked.list:
        print("\n".join(f"{c.name:14} {(c.__doc__ or '').strip().splitlines()[0]}" for c in known.values()))
        return 0
    wrong = set(asked.campaign or ()) - known.keys()
    if wrong or (asked.case is not None and len(asked.campaign or ()) != 1):
        print(f"campaigns are {', '.join(known)}; give one of them with --case", file=sys.stderr)
        return 2
    built = (ROOT / "target/release/varnorm", ROOT / "target/debug/varnorm")
    program = asked.program or next((path for path in built if path.exists()), None)
    if program is None or not program.exists():
        print("there is no program; build it with `cargo build --release`, or give --program", file=sys.stderr)
        return 2
    if asked.load:
        with tempfile.TemporaryDirectory(prefix="attack-") as folder:
            return load.main(str(program.resolve()), folder, asked.load)
    chosen = [known[name] for name in asked.campaign or known]
    todo = plan(chosen, asked.cases, asked.first) if asked.case is None else [(chosen[0].name, asked.case)]
    if asked.jobs > 1 and asked.part == 0:
        return share(asked.jobs, arguments)
    todo = todo[max(asked.part - 1, 0)::asked.jobs]
    return attack(Attack(program.resolve(), asked.seed, asked.failures), known, chosen, todo, asked.minutes)


def share(jobs, arguments):
    """As many processes as asked for, each with its part of the cases."""
    words = sys.argv[1:] if arguments is None else arguments
    parts = [subprocess.Popen([sys.executable, sys.argv[0], *words, "--part", str(k + 1)]) for k in range(jobs)]
    return max([part.wait() for part in parts])


def attack(attacker, known, chosen, todo, minutes=None):
    """Runs the cases and tells the sum, also of a run that is stopped; 1 where there were findings."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    began, failed, done = time.monotonic(), 0, collections.Counter()
    try:
        for name, index in todo:
            if minutes and time.monotonic() - began > 60 * minutes:
                break
            failed += bool(attacker.one(known[name], index))
            done[name] += 1
            if sum(done.values()) % 500 == 0:
                print(f"{sum(done.values())} cases, {failed} failed, {time.monotonic() - began:.0f} s", flush=True)
    except KeyboardInterrupt:
        print("stopped on request")
    finally:
        attacker.close(chosen)
    print(f"{sum(done.values())} cases in {time.monotonic() - began:.0f} s ({', '.join(f'{n} {c}' for n, c in done.items())})")
    print(f"most processor time {attacker.slowest[0]:.1f} s ({attacker.slowest[1]}), most memory {attacker.largest[0] >> 20} MB ({attacker.largest[1]})")
    print(f"{failed} failed" + (f": {', '.join(f'{k} {c}' for k, c in attacker.kinds.items())}" if attacker.kinds else ""))
    return 1 if attacker.kinds else 0
