"""Hostile clients against `varnorm serve`: every answer is a status with a sentence, honest clients notice nothing."""

import contextlib
import json
import pathlib
import re
import resource
import signal
import socket
import subprocess
import time

from . import arrays, mutate
from .case import CRASH, Finding

#: A server has so many megabytes at its default limits.
MEMORY = 512
HONEST = json.dumps({"series": [[[0.1 * t, 0.5] for t in range(20)]]}).encode()


class Server:
    """A server of a model, on a port that the system chooses."""

    def __init__(self, program, folder, *options, model="ok.model"):
        # No pipe: nobody reads while it runs.
        self.log = open(pathlib.Path(folder) / "server.log", "wb+")
        limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
        self.process = subprocess.Popen([program, "serve", model, "--listen", "127.0.0.1:0", *options], cwd=folder,
                                        stdout=self.log, stderr=self.log, preexec_fn=limit)
        until = time.monotonic() + 60
        while not (found := re.search(rb"http://127\.0\.0\.1:(\d+)", self.said())):
            if self.process.poll() is not None or time.monotonic() > until:
                raise RuntimeError(f"the server does not start: {self.said()!r}")
            time.sleep(0.02)
        self.port = int(found.group(1))

    def said(self):
        return pathlib.Path(self.log.name).read_bytes()

    def memory(self):
        """Most megabytes that were resident."""
        try:
            status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
            return int(re.search(r"VmHWM:\s+(\d+)", status).group(1)) / 1024
        except (OSError, AttributeError):
            return 0.0

    def stop(self, how=signal.SIGTERM, within=60):
        """Seconds until the server has ended; its exit code."""
        began = time.monotonic()
        self.process.send_signal(how)
        try:
            code = self.process.wait(within)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            code = None
        self.log.close()
        return time.monotonic() - began, code


def talk(port, parts, pause=0.0, timeout=20, finish=False):
    """Sends the parts and reads to the end of an answer; the bytes, and whether the server was silent too long."""
    answer = b""
    with socket.create_connection(("127.0.0.1", port), timeout=timeout) as stream:
        try:
            for part in parts:
                stream.sendall(part)
                time.sleep(pause)
            if finish:
                stream.shutdown(socket.SHUT_WR)
        except OSError:
            pass
        try:
            while not whole(answer) and (chunk := stream.recv(1 << 16)):
                answer += chunk
        except TimeoutError:
            return answer, True
        except OSError:
            pass
    return answer, False


def whole(answer):
    """Whether an answer is complete."""
    head, gap, body = answer.partition(b"\r\n\r\n")
    length = re.search(rb"content-length: (\d+)", head, re.IGNORECASE)
    return bool(gap) and length is not None and len(body) >= int(length.group(1))


def request(body, path="/v1/score", kind="application/json", extra=b"", host="localhost", method="POST", length=None):
    length = len(body) if length is None else length
    return (f"{method} {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n".encode()
            + extra + b"\r\n" + body)


def hostile(rng, seeds):
    """Parts to send, and whether an answer is due."""
    kind = rng.randrange(16)
    name = rng.choice(sorted(seeds.data))
    file = seeds.data[name]
    text = ["recording.csv", "long.csv", "wide.csv", "data.ts", "data.arff"]
    if kind == 0:
        return [request(mutate.json_text(HONEST, rng))], True
    if kind <= 3:
        how = mutate.TEXT if name in text else [arrays.npz] if name.endswith("npz") else [lambda _, r: arrays.npy(r)]
        path = rng.choice(("/v1/score", "/v1/score", "/v1/report"))
        return [request(mutate.some(file, rng, how), f"{path}?name={name}", "application/octet-stream")], True
    if kind == 4:
        return [request(HONEST, length=rng.choice((0, 1, len(HONEST) - 5)))], True
    if kind == 5:
        return [request(HONEST, length=rng.choice(("-1", "x", "1e9", "99999999999999999999999", "16777217", str(2**63))))], True
    if kind == 6:
        head = b"POST /v1/score HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
        chunk = rng.choice((b"-2\r\n", b"zz\r\n", b"5\r\nab", b"ffffffffffffffffffff\r\n", b"3\r\nabc\r\n0\r\n\r\n", b"1\r\n{\r\n" * 50 + b"0\r\n\r\n", b"5;x=" + b"y" * 20000 + b"\r\n"))
        return [head, chunk], True
    if kind == 7:
        many = b"".join(f"X-{i}: {'v' * rng.choice((1, 100))}\r\n".encode() for i in range(rng.choice((50, 120, 5000))))
        return [request(HONEST, extra=rng.choice((many, b"X: " + b"y" * 200000 + b"\r\n")))], True
    if kind == 8:
        hosts = ["evil.example", "[::1].evil", "localhost.evil", "", "127.0.0.1@evil", "localhost:99999", "LOCALHOST", "a" * 5000, "127.1"]
        return [request(HONEST, host=rng.choice(hosts))], True
    if kind == 9:
        query = rng.choice(("level=nan", "level=1e999", "decision=x", "name=../../etc/passwd", "name=%00.csv", "name=a.exe", "normal=%1b%5b31m", "level=0.1&level=0.2",
                            "csv_layout=x", "gaps=interpolate", "explain=99999999999", "segments=0", "curves=1e9", "%zz=1", "name=" + "a" * 9000))
        return [request(HONEST, rng.choice(("/v1/score?", "/v1/report?")) + query)], True
    if kind == 10:
        methods = ["GET", "PUT", "DELETE", "OPTIONS", "HEAD", "TRACE", "PATCH", "FOO", "CONNECT"]
        path = rng.choice(("/", "/v1/score", "/v1/reload", "/metrics", "/v1/model", "/../..", "//", "/%2e%2e", "/healthz", "*", "http://evil/", "/v1/score/x"))
        return [request(b"", path, method=rng.choice(methods))], True
    if kind == 11:
        return [rng.randbytes(rng.choice((1, 20, 3000))) + rng.choice((b"", b"\r\n\r\n"))], False
    if kind == 12:
        return [request(HONEST)[:rng.randrange(len(HONEST))]], False
    if kind == 13:
        whole_text = request(HONEST)
        return [whole_text[i:i + 40] for i in range(0, len(whole_text), 40)], True
    if kind == 14:
        return [request(b"x" * rng.choice((17 << 20, 16 << 20)), kind=rng.choice(("application/json", "text/plain", "APPLICATION/JSON", "")))], True
    head = request(HONEST, kind="application/json").replace(b"Connection: close\r\n", b"")
    return [head * rng.choice((2, 20))], True


class Clients:
    """One hostile client after another against one server, an honest request after each."""

    name, weight = "server", 4

    def __init__(self):
        self.server = self.truth = None

    def run(self, program, rng, seeds, folder, limits):
        parts, due = hostile(rng, seeds)
        if self.server is None:
            (seeds.folder / "ok.model").write_bytes(seeds.model(3))
            self.server = Server(program, seeds.folder, "--time-limit", "5", "--threads", "2")
            self.truth = self.honest()
        (pathlib.Path(folder) / "request.bin").write_bytes(b"".join(parts)[:1 << 20])
        found = []
        answer, silent = talk(self.server.port, parts, 0.001 if len(parts) > 3 else 0.0, finish=not due)
        if due and not b"HTTP/1." in answer:
            # A client that sends too much may lose the answer to a reset; the server has read its part.
            if sum(map(len, parts)) < 100_000:
                found.append(Finding("no answer", f"{'silent for 20 s' if silent else 'closed without a status'}: {parts[0][:200]!r}"))
        found += judge_answer(answer, parts)
        if self.honest() != self.truth:
            found.append(Finding("honest", f"an honest request was answered otherwise after {parts[0][:200]!r}"))
            # A server that is dying may not be dead yet.
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.server.process.wait(2)
        if self.server.process.poll() is not None or CRASH.search(self.server.said()):
            found.append(Finding("crash", self.server.said()[-600:].decode("utf-8", "replace")))
            self.close()
        elif self.server.memory() > MEMORY:
            found.append(Finding("memory", f"the server took {self.server.memory():.0f} MB"))
            self.close()
        return found

    def honest(self):
        try:
            answer, _ = talk(self.server.port, [request(HONEST)])
            return re.sub(rb"\r\ndate: [^\r]*", b"", answer, flags=re.IGNORECASE)
        except OSError as error:
            return str(error).encode()

    def close(self):
        """Ends the server; findings about how it ended."""
        if self.server is None:
            return []
        server, self.server = self.server, None
        if server.process.poll() is not None:
            server.log.close()
            return []
        seconds, code = server.stop()
        if code != 0 or seconds > 20:
            return [Finding("stop", f"SIGTERM: exit code {code} after {seconds:.1f} s (time limit 5 s)")]
        return []


def judge_answer(answer, parts):
    """A status of HTTP; never 500; a refusal has a sentence."""
    found = []
    for status, body in re.findall(rb"HTTP/1\.[01] (\d+)[^\r]*\r\n.*?\r\n\r\n(.*?)(?=HTTP/1\.[01] |\Z)", answer, re.DOTALL)[:30]:
        code = int(status)
        where = parts[0][:120]
        if code == 500 or not 200 <= code < 600:
            found.append(Finding("status", f"{code} {body[:300]!r} to {where!r}"))
        if 400 <= code < 500 and body.startswith(b"{"):
            sentence = json.loads(body).get("error", "")
            if not sentence or len(sentence) > 3000:
                found.append(Finding("sentence", f"{code} {sentence[:300]!r} to {where!r}"))
    return found
