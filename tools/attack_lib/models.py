"""Hand-made models: header fields and arrays changed, with a right checksum."""

import struct

from . import mutate, safetensors
from .case import Case, Step
from .seeds import MODELS

FLOATS = [float("nan"), float("inf"), float("-inf"), 0.0, -1.0, 1e308, -1e308, 5e-324, 1e17, 1e-17, -0.0]
INTEGERS = [0, 1, 2, 7, 2**32, 2**53, 2**63, 2**64 - 1, 99999999999]


def change_array(arrays, rng):
    """One array: values, size, shape, type, name, or no array at all."""
    name = rng.choice(sorted(arrays))
    kind, shape, values = arrays[name]
    action = rng.randrange(9)
    count = len(values) // 8
    pack = (lambda: struct.pack("<d", rng.choice(FLOATS))) if kind == "F64" else (lambda: struct.pack("<Q", rng.choice(INTEGERS)))
    if action <= 3 and count:
        for _ in range(rng.choice((1, 1, 2, count))):
            at = 8 * rng.randrange(count)
            values = values[:at] + pack() + values[at + 8:]
    elif action == 4:
        values, shape = values + pack(), [count + 1]
    elif action == 5 and count:
        values, shape = values[:-8], [count - 1]
    elif action == 6:
        shape = rng.choice(([count], [1, count], [count, 1], [count, 1, 1]))
    elif action == 7:
        kind = "U64" if kind == "F64" else "F64"
    elif rng.random() < 0.5:
        del arrays[name]
        return
    else:
        values = b"".join(pack() for _ in range(count))
    arrays[name] = (kind, shape, values)


class HandMade:
    """A model that somebody, or another program, wrote: read and right, or refused."""

    name, weight = "model-editor", 6

    def case(self, rng, seeds):
        header, arrays = safetensors.read(seeds.model(rng.randrange(len(MODELS))))
        for _ in range(rng.choice((1, 1, 1, 2, 3))):
            if rng.random() < 0.65 or not arrays:
                header = mutate.change_json(header, rng)
            else:
                change_array(arrays, rng)
        if rng.random() < 0.05 and arrays:
            other, _ = safetensors.read(seeds.model(rng.randrange(len(MODELS))))
            header = other
        files = {"made.model": safetensors.write(header, arrays), "data.ts": seeds.data["data.ts"]}
        return Case(files, [self.step(rng)])

    def step(self, rng):
        one = ["--threads", "1"]
        return rng.choice((
            Step(["inspect", "made.model", "--format", "json"], json=True),
            Step(["score", "made.model", "data.ts", "--format", "json", *one], json=True),
            Step(["score", "made.model", "data.ts", "-o", "out.csv", *one], writes=("out.csv",)),
            Step(["explain", "made.model", "data.ts", "--format", "json", *one], json=True),
            Step(["report", "made.model", "data.ts", "-o", "out.html", "--explain", "2", *one], writes=("out.html",)),
            Step(["report", "made.model", "-o", "out.html", *one], writes=("out.html",)),
            Step(["merge", "made.model", "made.model", "-o", "out.model", *one], writes=("out.model",)),
            Step(["fit", "data.ts", "--like", "made.model", "-o", "out.model", *one], writes=("out.model",)),
        ))
