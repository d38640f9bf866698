"""The harness itself: programs that are broken in one way each are found out, and a sound one is not accused."""

import contextlib
import io
import pathlib
import random
import signal
import stat
import sys
import tempfile
import textwrap
import unittest

from . import case, files, kills, models, mutate, safetensors, server
from .case import Case, Limits, Step
from .main import Attack, attack

QUICK = Limits(seconds=1, wall=3, memory=1 << 30)
SOUND = "error: data.ts: line 3: `x` is not a number; write NaN for a missing value"


class Stub:
    """A program in shell or Python, in a folder of its own beside an empty folder to run in."""

    def __init__(self, text, interpreter="/bin/sh"):
        self.home = tempfile.TemporaryDirectory()
        root = pathlib.Path(self.home.name)
        self.folder = root / "case"
        self.folder.mkdir()
        self.path = root / "program"
        self.path.write_text(f"#!{interpreter}\n{textwrap.dedent(text)}")
        self.path.chmod(self.path.stat().st_mode | stat.S_IEXEC)

    def kinds(self, step=None, further=None):
        step = step or Step(["fit", "data.ts", "-o", "out.json"], writes=("out.json",))
        asked = Case({"data.ts": b"@data\n"}, [step], further)
        found, _ = case.run_case(str(self.path), asked, self.folder, QUICK)
        return {finding.kind for finding in found}


class Judge(unittest.TestCase):
    """One broken program after another."""

    def found(self, text, *kinds, step=None, interpreter="/bin/sh"):
        self.assertEqual(Stub(text, interpreter).kinds(step), set(kinds), text)

    def test_a_sound_program_is_not_accused(self):
        self.found("echo '{}' > out.json")
        self.found(f"echo '{SOUND}' >&2; exit 2")

    def test_panics_and_signals(self):
        self.found("echo \"thread 'main' panicked at src/x.rs:1\" >&2; exit 101", "panic", "exit")
        self.found("kill -ABRT $$", "signal")
        self.found("kill -SEGV $$", "signal")
        self.found(f"echo '{SOUND}' >&2; exit 3", "exit")
        # 1 is the answer of `score --fail-on-novel` alone.
        self.found("echo '{}' > out.json; exit 1", "exit")
        self.found("echo '{}' > out.json; exit 1", step=Step(["score"], writes=("out.json",), may_flag=True))

    def test_hangs(self):
        self.found("while :; do :; done", "hang")
        self.found("exec sleep 30", "hang")

    def test_memory(self):
        eats = "x = bytearray(600 << 20)\nopen('out.json', 'w').write('{}')\n"
        narrow = Limits(seconds=20, wall=60, memory=1 << 30)
        stub = Stub(eats, sys.executable)
        outcome = case.run(str(stub.path), [], stub.folder, narrow)
        self.assertGreater(outcome.memory, 500 << 20)
        outcome.memory = 3 << 30
        self.assertEqual([f.kind for f in case.judge(outcome, Limits(), Step([]))], ["memory"])
        denied = case.run(str(stub.path), [], stub.folder, Limits(seconds=20, wall=60, memory=400 << 20))
        self.assertNotEqual(denied.code, 0)

    def test_files(self):
        self.found("echo '{}' > out.json; echo > .varnorm-abc", "leftover")
        self.found("echo '{}' > out.json; echo > core", "leftover")
        self.found("echo '{}' > out.json; echo >> data.ts", "source changed")
        self.found("echo '{}' > out.json; rm data.ts", "source changed")
        self.found(f"echo '{{' > out.json; echo '{SOUND}' >&2; exit 2", "half-written")
        self.found("echo '{' > out.json", "json")
        self.found(":", "no result")
        self.found("printf '1,2' > out.csv", "half-written", step=Step(["score"], writes=("out.csv",)))
        self.found("printf '<html>' > out.html", "half-written", step=Step(["report"], writes=("out.html",)))

    def test_words(self):
        self.found("exit 2", "silent")
        self.found("echo 'error: bad input' >&2; exit 2", "no action")
        self.found("printf 'error: choose \\033[31mred\\n' >&2; exit 2", "control")
        self.found("printf 'error: choose '; printf '%04000d' 1 >&2; exit 2", "silent")
        self.found("{ printf 'error: choose '; printf '%04000d' 1; } >&2; exit 2", "long")
        self.found("echo '[NaN]'", "json", step=Step(["score"], json=True))

    def test_a_converted_file_that_cannot_be_read(self):
        stub = Stub(f"if [ $1 = convert ]; then echo x > out.ts; else echo '{SOUND}' >&2; exit 2; fi")
        steps = [Step(["convert"], writes=("out.ts",)), Step(["inspect"])]
        found, _ = case.run_case(str(stub.path), Case({}, steps, files.readable), stub.folder, QUICK)
        self.assertEqual({f.kind for f in found}, {"unreadable"})


class Signals(unittest.TestCase):
    """What is judged after a signal."""

    def judged(self, after, code, how=signal.SIGTERM, old=b"old"):
        before = {"data.ts": b"1", **({"out": old} if old is not None else {})}
        return {f.kind for f in kills.judge(before, after, "out", old, b"whole", how, code, b"", ["fit"])}

    def test_ends(self):
        self.assertEqual(self.judged({"data.ts": b"1", "out": b"old"}, 2), set())
        self.assertEqual(self.judged({"data.ts": b"1", "out": b"whole"}, 0), set())
        self.assertEqual(self.judged({"data.ts": b"1", "out": b"who"}, 2), {"half-written"})
        self.assertEqual(self.judged({"data.ts": b"1"}, 2), {"half-written"})
        self.assertEqual(self.judged({"data.ts": b"1", "out": b"old"}, 0), {"no result"})
        self.assertEqual(self.judged({"data.ts": b"", "out": b"old"}, 2), {"source changed"})
        self.assertEqual(self.judged({"data.ts": b"1", "out": b"old", ".varnorm-x": b""}, 2), {"leftover"})
        self.assertEqual(self.judged({"data.ts": b"1", "out": b"old", ".varnorm-x": b""}, -9, signal.SIGKILL), set())
        self.assertEqual(self.judged({"data.ts": b"1", "out": b"old"}, None), {"hang"})
        self.assertEqual(self.judged({"data.ts": b"1", "out": b"old"}, 101), {"exit"})

    def test_a_real_signal_is_sent(self):
        stub = Stub("trap 'echo half > out; exit 2' TERM; while :; do sleep 0.05; done")
        code, _ = kills.killed(str(stub.path), [], stub.folder, signal.SIGTERM, 0.5)
        self.assertEqual(code, 2)
        self.assertEqual((stub.folder / "out").read_text(), "half\n")


SERVER = """
import http.server, os, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if BROKEN == "dies" and body == b"bad": os._exit(3)
        code = 500 if BROKEN == "500" and body == b"bad" else 422 if body == b"bad" else 200
        text = b'{"error": ""}' if BROKEN == "mute" and body == b"bad" else b'{"error": "send series"}'
        self.send_response(code); self.send_header("Content-Length", str(len(text))); self.end_headers(); self.wfile.write(text)
    def log_message(self, *_): pass
served = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(f"http://127.0.0.1:{served.server_port}/", flush=True)
served.serve_forever()
"""


class Served(unittest.TestCase):
    """Servers that answer 500, say nothing, or die."""

    def kinds(self, broken):
        stub = Stub(f"BROKEN = {broken!r}\n{SERVER}", sys.executable)
        clients, original = server.Clients(), server.hostile
        clients.server = server.Server(str(stub.path), stub.folder)
        clients.truth = clients.honest()
        server.hostile = lambda rng, seeds: ([server.request(b"bad")], True)
        try:
            found = clients.run(str(stub.path), random.Random(1), None, stub.folder, QUICK)
        finally:
            server.hostile = original
            if clients.server and clients.server.process.poll() is None:
                clients.server.stop(signal.SIGKILL)
        return {finding.kind for finding in found}

    def test_each(self):
        self.assertEqual(self.kinds("no"), set())
        self.assertEqual(self.kinds("500"), {"status"})
        self.assertEqual(self.kinds("mute"), {"sentence"})
        self.assertEqual(self.kinds("dies"), {"crash", "honest", "no answer"})

    def test_a_server_that_ignores_the_signal(self):
        stub = Stub(f"BROKEN = 'no'\nimport signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n{SERVER}", sys.executable)
        one = server.Server(str(stub.path), stub.folder)
        self.assertIsNone(one.stop(within=1)[1])


class Broken:
    """A campaign that fails itself."""

    name, weight = "broken", 1

    def case(self, rng, seeds):
        raise IndexError("a fault of the harness")


class Whole(unittest.TestCase):
    """A run from its beginning to its exit code."""

    def code(self, campaign, text):
        stub = Stub(text)
        attacker = Attack(stub.path, 1, stub.folder / "kept", QUICK)
        with contextlib.redirect_stdout(io.StringIO()) as said:
            code = attack(attacker, {campaign.name: campaign}, [campaign], [(campaign.name, 0)])
        return code, said.getvalue()

    def test_a_fault_is_kept_and_told(self):
        code, said = self.code(Broken(), "exit 0")
        self.assertEqual(code, 1)
        self.assertIn("HARNESS", said)
        self.assertIn("--campaign broken --case 0", said)


class Made(unittest.TestCase):
    """Cases are the same for the same seed, and mutators change something."""

    def test_mutators_change_and_repeat(self):
        text = b"@problemName x\n@data\n1,2,3:4,5,6:a\n7,8,9:1,2,3:b\n" * 5
        for mutator in (*mutate.TEXT, *mutate.BINARY):
            made = [mutator(text, random.Random(seed)) for seed in range(20)]
            self.assertEqual(made, [mutator(text, random.Random(seed)) for seed in range(20)], mutator.__name__)
            self.assertTrue(any(one != text for one in made), mutator.__name__)

    def test_models_are_put_together_as_they_were(self):
        arrays = {"b": ("F64", [2], bytes(16)), "a": ("U64", [1, 1], bytes(8))}
        made = safetensors.write({"format": 2}, arrays)
        self.assertEqual(safetensors.read(made), ({"format": 2}, arrays))
        safetensors.check(made)
        damaged = made[:-1] + b"\x01"
        self.assertRaises(ValueError, safetensors.check, damaged)

    def test_arrays_are_changed(self):
        seen = set()
        for seed in range(60):
            arrays = {"a": ("F64", [3], bytes(24)), "b": ("U64", [2], bytes(16))}
            models.change_array(arrays, random.Random(seed))
            seen.add(repr(arrays))
        self.assertGreater(len(seen), 15)


def main():
    """0 where every broken program was found out."""
    suite = unittest.defaultTestLoader.loadTestsFromModule(sys.modules[__name__])
    return 0 if unittest.TextTestRunner(verbosity=1).run(suite).wasSuccessful() else 1
