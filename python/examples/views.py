"""Which view sees what: one corpus, six ways of being novel, and what each view of the default says about them.

    python views.py [FOLDER]    # pictures go to FOLDER, or here
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import varnorm
from varnorm.plots import Curve, plot

STEPS = 120
Random = np.random.Generator
Series = NDArray[np.float64]


def machine(random: Random, events: tuple[int, int] = (35, 85), period: float = 12.0, lag: float = 0.25) -> Series:
    """A cycle of a machine: two channels that swing together, and two events, a rise and later a dip."""
    t = np.arange(STEPS)
    phase = 2 * np.pi * (t / period + random.uniform())
    rise, dip = (np.exp(-(((t - at - random.integers(-4, 5)) / 5) ** 2)) for at in events)
    swing = np.stack([np.sin(phase), np.sin(phase - 2 * np.pi * lag)], axis=1)
    noise = 0.4 * random.standard_normal((STEPS, 2))
    cycle: Series = 0.5 * swing + 1.5 * (rise - dip)[:, None] + noise
    return cycle


def with_spikes(random: Random) -> Series:
    """Sensor glitches: single steps, far out."""
    x = machine(random)
    x[random.choice(STEPS, 2, replace=False), 0] += 2.5
    return x


KINDS: dict[str, Callable[[Random], Series]] = {
    "normal": machine,
    "other order": lambda random: machine(random, events=(85, 35)),
    "later events": lambda random: machine(random, events=(45, 95)),
    "faster swing": lambda random: machine(random, period=11.0),
    "out of step": lambda random: machine(random, lag=0.38),
    "spikes": with_spikes,
    "louder": lambda random: 1.12 * machine(random),
}


def main(folder: Path) -> None:
    random = np.random.default_rng(7)
    corpus = np.stack([machine(random) for _ in range(40)])
    new = {kind: np.stack([make(random) for _ in range(40)]) for kind, make in KINDS.items()}
    detector = varnorm.NoveltyDetector(layout="ntd").fit(corpus)
    views = [view["kernel"]["kernel"] for view in detector.views_]

    # Each view alone: how far it lifts novel series above normal ones; 0.5 is guessing.
    alone = {name: varnorm.NoveltyDetector(views=[view], layout="ntd").fit(corpus) for name, view in zip(views, detector.views_, strict=True)}
    methods: dict[str, Any] = alone | {"combined": detector}
    normal = {name: method.novelty(new["normal"]) for name, method in methods.items()}
    print(f"{'ROC AUC':14}" + "".join(f"{name:>10}" for name in methods) + "   flagged")
    areas: dict[str, list[float]] = {name: [] for name in methods}
    for kind, series in new.items():
        if kind == "normal":
            continue
        for name, method in methods.items():
            scores = np.concatenate([normal[name], method.novelty(series)])
            areas[name].append(varnorm.metrics.roc_auc(np.arange(80) >= 40, scores))
        flagged = int((detector.predict(series) == -1).sum())
        print(f"{kind:14}" + "".join(f"{areas[name][-1]:10.3f}" for name in methods) + f"  {flagged:5} of 40")
    print(f"{'normal':14}" + " " * 10 * len(methods) + f"  {int((detector.predict(new['normal']) == -1).sum()):5} of 40")

    kinds = [kind for kind in KINDS if kind != "normal"]
    curves = [Curve(name, np.arange(len(kinds)), areas[name], "points") for name in methods]
    labels = ", ".join(f"{at} {kind}" for at, kind in enumerate(kinds))
    plot(curves, title="What each view sees", x=labels, y="ROC AUC").save(folder / "views_areas.svg")

    # The kinds themselves, one above the other: channel 0 of one series each.
    shown = [Curve(kind, np.arange(STEPS), new[kind][0][:, 0] - 5 * at) for at, kind in enumerate(KINDS)]
    plot(shown, title="One series of each kind, channel 0, moved apart", x="step", y="value").save(folder / "views_kinds.svg")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
