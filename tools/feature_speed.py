"""Times `varnorm.Rocket` against aeon's MiniRocket, and `varnorm.Radon` against plain NumPy, in turn.

    python tools/feature_speed.py [threads]     # where varnorm and aeon are installed

Each is called once before it is timed; a ratio is of the medians of the rounds.
"""

from __future__ import annotations

import os
import statistics
import sys
import time

THREADS = int(sys.argv[1]) if len(sys.argv) > 1 else 1
os.environ.update(dict.fromkeys(["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"], str(THREADS)))

import numpy as np  # noqa: E402
from aeon.transformations.collection.convolution_based import MiniRocket  # noqa: E402

import varnorm  # noqa: E402

ROUNDS = 5
#: Series, channels, steps.
SHAPES = [(100, 1, 100), (100, 6, 100), (40, 1, 1000), (40, 6, 1000)]


def radon_numpy(X: np.ndarray, directions: np.ndarray, thresholds: np.ndarray, dilations: int) -> np.ndarray:
    """The definition, series by series: all windows, one product, all comparisons."""
    rows = []
    for x in X:
        padded = np.pad(x, ((4 * dilations, 4 * dilations), (0, 0)))
        at = np.arange(len(x))[:, None] + 4 * dilations
        places = np.concatenate([(np.arange(9) - 4) * d for d in range(1, dilations + 1)])
        products = padded[at + places].reshape(len(x), -1) @ directions
        rows.append((products[:, :, None] < thresholds).mean(axis=0).ravel())
    return np.array(rows)


def in_turn(name: str, ours, theirs) -> None:
    ours(), theirs()
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(ROUNDS):
        for which, work in enumerate((ours, theirs)):
            start = time.perf_counter()
            work()
            times[which].append(time.perf_counter() - start)
    a, b = (statistics.median(of) for of in times)
    print(f"{name}: varnorm {1e3 * a:.1f} ms, other {1e3 * b:.1f} ms, ratio {b / a:.1f}", flush=True)


def main() -> None:
    random = np.random.default_rng(0)
    print(f"{THREADS} thread(s)")
    for count, channels, steps in SHAPES:
        X = random.standard_normal((count, steps, channels)).cumsum(axis=1)
        shape = f"{count} series of {steps} steps, {channels} channels"
        rocket = varnorm.Rocket(layout="ntd", n_jobs=THREADS).fit(X)
        theirs = MiniRocket(n_kernels=9996, n_jobs=THREADS, random_state=0)
        T = np.ascontiguousarray(X.transpose(0, 2, 1))
        theirs.fit(T)
        in_turn(f"rocket, {shape}", lambda: rocket.transform(X), lambda: theirs.transform(T))
        radon = varnorm.Radon(layout="ntd", n_jobs=THREADS).fit(X)
        dilations = min(steps // 9, 10)
        directions = random.standard_normal((9 * dilations * channels, 100))
        thresholds = np.sort(random.standard_normal((100, 20)), axis=1)
        in_turn(f"radon, {shape}", lambda: radon.transform(X), lambda: radon_numpy(X, directions, thresholds, dilations))


if __name__ == "__main__":
    main()
