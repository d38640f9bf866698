"""Writes crates/varnorm/tests/data/rocket.json: what aeon's MiniRocket (BSD-3) learns and computes, for the kernel `rocket`.

    python -m venv VENV && VENV/bin/pip install aeon && VENV/bin/python tools/golden_rocket.py

Values are whole numbers divided by 8, so that aeon's sums in 32 bits are exact. Of one series the choice for the biases is
known: what is learned from it is compared too.
"""

from __future__ import annotations

import base64
import json
import os
from pathlib import Path
from typing import Any

# Compiling takes longer than these few series do.
os.environ["NUMBA_DISABLE_JIT"] = "1"

import numpy as np  # noqa: E402
from aeon.transformations.collection.convolution_based import MiniRocket  # noqa: E402
from aeon.transformations.collection.convolution_based._minirocket import _fit_dilations  # noqa: E402

FILE = Path(__file__).parent.parent / "crates" / "varnorm" / "tests" / "data" / "rocket.json"
#: Series, channels, steps, features.
CASES = [(1, 1, 9, 84), (1, 1, 50, 168), (3, 1, 33, 252), (2, 3, 40, 168), (2, 12, 17, 84)]
LENGTHS = [9, 10, 16, 17, 18, 24, 25, 33, 40, 41, 57, 64, 65, 100, 129, 150, 200, 257, 301, 401, 500, 640, 801, 1000, 1025, 1601, 2000, 2049]
FEATURES = [9996, 2688, 504]


def packed(numbers: Any, kind: str) -> str:
    return base64.b64encode(np.asarray(numbers, kind).tobytes()).decode()


def fitted(steps: int, channels: int, parameters: Any) -> dict[str, Any]:
    """The parameters of aeon in the form of the kernel's JSON."""
    sizes, members, dilations, counts, biases = parameters
    subsets, at = [], 0
    for size in sizes:
        subsets += [size, *sorted(members[at : at + size])]
        at += size
    return {
        "length": steps,
        "channels": channels,
        "dilations": dilations.tolist(),
        "counts": counts.tolist(),
        "subsets": packed(subsets, "<u4"),
        "biases": packed(biases, "<f8"),
    }


def case(series: int, channels: int, steps: int, features: int) -> dict[str, Any]:
    random = np.random.default_rng(steps)
    whole = random.integers(-40, 40, (series, channels, steps))
    rocket = MiniRocket(n_kernels=features, random_state=1)
    found = rocket.fit_transform(whole / 8)
    kernel = {"kernel": "rocket", "features": features, "fitted": fitted(steps, channels, rocket.parameters)}
    # As many digits as 32 bits have.
    values = [[float(f"{value:.7g}") for value in row] for row in found]
    return {"eighths": whole.transpose(0, 2, 1).tolist(), "kernel": kernel, "features": values}


def main() -> None:
    table = []
    for features in FEATURES:
        for length in LENGTHS:
            dilations, counts = _fit_dilations(length, features, 32)
            table.append({"length": length, "features": features, "dilations": dilations.tolist(), "counts": counts.tolist()})
    whole = {"about": "written by tools/golden_rocket.py with aeon", "cases": [case(*one) for one in CASES], "dilations": table}
    lines = json.dumps(whole, separators=(",", ":")).replace('{"eighths"', '\n{"eighths"').replace('{"length":', '\n{"length":')
    FILE.write_text(lines + "\n")


if __name__ == "__main__":
    main()
