"""A server under the worst bodies within its limits, with honest clients beside them, and a model that is replaced."""

import io
import json
import os
import signal
import struct
import threading
import time
import zipfile

from .seeds import Seeds
from .server import HONEST, Server, request, talk

#: Kernel `gak` takes series of any length, and is the dearest for long ones.
MODEL = 4


def labels():
    """As many series as fit in the limit of a body, each with a label of its own."""
    rows = "".join(f"1:2:{i:07d}\n" for i in range(1_200_000))
    return "labels.ts", ("@problemName x\n@univariate false\n@dimensions 2\n@classLabel true a\n@data\n" + rows).encode()[:16 << 20]


def bomb():
    """A small archive that becomes large."""
    count, out = 250_000_000, io.BytesIO()
    head = f"{{'descr': '|u1', 'fortran_order': False, 'shape': (1, {count // 2}, 2), }}\n".encode()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        with archive.open("X.npy", "w", force_zip64=True) as member:
            member.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head)
            for _ in range(count // 10_000_000):
                member.write(bytes(10_000_000))
    return "bomb.npz", out.getvalue()


def recording():
    """One recording as long as the limit of steps allows, in a CSV."""
    return "long.csv", b"time,a,b\n" + b"".join(b"%d,%d,0\n" % (t, t % 7) for t in range(99_000))


def numbers():
    """JSON of many series."""
    one = [[0.25, 0.5]] * 80
    return None, json.dumps({"series": [one] * 9_000}, separators=(",", ":")).encode()[:16 << 20]


def nested():
    return None, b'{"series":' + b"[" * (15 << 20)


BODIES = [labels, bomb, recording, numbers, nested]


class Load:
    """Counts and times of all clients."""

    def __init__(self, port):
        self.port, self.over = port, threading.Event()
        self.times, self.wrong, self.statuses = [], [], {}
        self.bodies = [make() for make in BODIES]

    def attack(self, begin):
        """One body after another, whatever the answer."""
        i = begin
        while not self.over.is_set():
            name, body = self.bodies[i % len(self.bodies)]
            i += 1
            path = f"/v1/score?name={name}" if name else "/v1/score"
            try:
                answer, _ = talk(self.port, [request(body, path, "application/octet-stream" if name else "application/json")], timeout=60)
            except OSError:
                answer = b""
            key = (name or "json", answer[9:12].decode("ascii", "replace") or "closed")
            self.statuses[key] = self.statuses.get(key, 0) + 1

    def honest(self, truths):
        """Small requests, one every 50 ms; each answer is that of one of the models."""
        while not self.over.is_set():
            began = time.monotonic()
            try:
                answer, _ = talk(self.port, [request(HONEST)], timeout=40)
            except OSError as error:
                answer = str(error).encode()
            self.times.append(time.monotonic() - began)
            if answer.partition(b"\r\n\r\n")[2] not in truths:
                self.wrong.append(answer[:200])
            time.sleep(0.05)

    def replace(self, folder, contents):
        """The model file is replaced, and the server told so, again and again."""
        i = 0
        while not self.over.wait(0.7):
            i += 1
            (folder / "next.model").write_bytes(contents[i % 2])
            os.replace(folder / "next.model", folder / "load.model")
            try:
                talk(self.port, [request(b"", "/v1/reload")], timeout=40)
            except OSError:
                pass


def share(times, part):
    return sorted(times)[min(len(times) - 1, int(part * len(times)))] * 1000


def main(program, folder, seconds):
    """Prints the figures; 1 where an honest request was not answered rightly or the server did not stop."""
    seeds = Seeds(program, folder)
    contents = [seeds.model(MODEL), seeds.model(3)]
    truths = []
    for content in contents:
        (seeds.folder / "load.model").write_bytes(content)
        server = Server(program, seeds.folder, model="load.model")
        truths.append(talk(server.port, [request(HONEST)])[0].partition(b"\r\n\r\n")[2])
        server.stop()
    server = Server(program, seeds.folder, model="load.model")
    load = Load(server.port)
    quiet = Load.__new__(Load)
    quiet.port, quiet.over, quiet.times, quiet.wrong = server.port, threading.Event(), [], []
    alone = threading.Thread(target=quiet.honest, args=(truths,))
    alone.start()
    time.sleep(min(5, seconds))
    quiet.over.set()
    alone.join()
    print(f"alone: {len(quiet.times)} honest requests, median {share(quiet.times, 0.5):.1f} ms, 99 % within {share(quiet.times, 0.99):.1f} ms, {len(quiet.wrong)} wrong")
    jobs = [threading.Thread(target=load.attack, args=(i,), daemon=True) for i in (0, 2)]
    jobs += [threading.Thread(target=load.honest, args=(truths,), daemon=True), threading.Thread(target=load.replace, args=(seeds.folder, contents), daemon=True)]
    for job in jobs:
        job.start()
    time.sleep(seconds)
    memory = server.memory()
    # Honest requests end before the server does; the attack goes on.
    load.over.set()
    jobs[2].join(60)
    last = threading.Thread(target=talk, args=(server.port, [request(load.bodies[3][1])]), daemon=True)
    last.start()
    time.sleep(1)
    took, code = server.stop(signal.SIGTERM)
    print(f"attacked for {seconds:.0f} s by two clients, model replaced every 0.7 s: {len(load.times)} honest requests, median {share(load.times, 0.5):.1f} ms, "
          f"99 % within {share(load.times, 0.99):.1f} ms, longest {max(load.times) * 1000:.0f} ms, {len(load.wrong)} wrong")
    print("answers to the attack: " + ", ".join(f"{name} {status}: {count}" for (name, status), count in sorted(load.statuses.items())))
    print(f"most memory {memory:.0f} MB; SIGTERM under a request that works: exit code {code} after {took:.1f} s")
    for answer in load.wrong[:5]:
        print(f"wrong: {answer!r}")
    return 1 if load.wrong or code != 0 or memory > 512 else 0
