"""The gallery: pictures of what varnorm computes, on the smart-watch recordings inside the package.

    python gallery.py [FOLDER]    # pictures go to FOLDER, or here
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import varnorm
from varnorm.plots import Curve, Picture, plot

Floats = NDArray[np.float64]
MOTIONS = ("Walking", "Standing", "Running", "Badminton")
TRAIN, TEST = varnorm.datasets.load_basic_motions()
NORMAL = TRAIN.X[TRAIN.y == "Walking"]
STEPS = np.arange(TRAIN.X.shape[1])


def fitted(kernel: str | None = None, normal: Floats = NORMAL) -> varnorm.NoveltyDetector:
    return varnorm.NoveltyDetector(kernel, contamination=0.1, layout="ntd").fit(normal)


def sorted_points(name: str, values: Floats) -> Curve:
    return Curve(name, np.arange(len(values)), np.sort(values), "points")


def data() -> Iterator[tuple[str, Picture]]:
    """What the recordings look like."""
    curves = [Curve(motion, STEPS, TEST.X[motion == TEST.y][0][:, 0]) for motion in MOTIONS]
    yield "recordings", plot(curves, title="One recording of each motion, channel 0", x="step", y="acceleration")
    values = varnorm.gram("integral_rbf", TEST.X[::5], layout="ntd")
    rows = [Curve(motion, np.arange(8), values[2 * at], "line_and_points") for at, motion in enumerate(dict.fromkeys(TEST.y))]
    yield "kernel", plot(rows, title="Every fifth recording beside one of each motion", x="recording", y="kernel value")


def scores() -> Iterator[tuple[str, Picture]]:
    """How novel recordings are, and how sure that is."""
    detector = fitted()
    novelty, pvalues = detector.novelty(TEST.X), detector.pvalues(TEST.X)
    curves = [sorted_points(motion, novelty[motion == TEST.y]) for motion in MOTIONS]
    curves.append(Curve("threshold", [0, 9], [-detector.offset_] * 2, "dashed"))
    yield "novelty", plot(curves, title="Walking is normal", x="recordings of a motion, by novelty", y="novelty")
    normal = np.sort(pvalues[TEST.y == "Walking"])
    curves = [Curve("new recordings of walking", np.linspace(0.1, 1, 10), normal, "points")]
    curves.append(Curve("as promised", [0, 1], [0, 1], "dashed"))
    yield "pvalues", plot(curves, title="P-values of normal recordings", x="share of recordings", y="p-value at most")
    sizes, curves = range(3, 11), []
    for kernel in ("flat_rbf", "integral_rbf", None):
        found = [fitted(kernel, NORMAL[:size]).novelty(TEST.X) for size in sizes]
        areas = [varnorm.metrics.roc_auc(TEST.y != "Walking", novelty) for novelty in found]
        curves.append(Curve(kernel or "default", list(sizes), areas, "line_and_points"))
    yield "corpus_size", plot(curves, title="How many normal recordings it takes", x="normal recordings", y="ROC AUC")


def views() -> Iterator[tuple[str, Picture]]:
    """What single kernels see."""
    curves = []
    for kernel in ("flat_rbf", "gak", "radon", "rocket"):
        novelty = fitted(kernel).novelty(TEST.X)
        curves.append(sorted_points(kernel, novelty[TEST.y == "Standing"] / np.median(novelty[TEST.y == "Walking"])))
    title, x = "Standing, where walking is normal", "recordings of standing, by novelty"
    yield "views", plot(curves, title=title, x=x, y="times the median of walking")
    shares, detector = np.linspace(0, 1, 11), fitted()
    noise = np.random.default_rng(5).standard_normal(NORMAL[0].shape) * NORMAL[0].std(axis=0)
    spoiled = np.stack([TEST.X[TEST.y == "Walking"][0] + share * noise for share in shares])
    curves = [Curve("novelty", shares, detector.novelty(spoiled), "line_and_points")]
    curves.append(Curve("threshold", [0, 1], [-detector.offset_] * 2, "dashed"))
    title, x = "A normal recording with more and more noise", "noise, in deviations of a channel"
    yield "noise", plot(curves, title=title, x=x, y="novelty")


def reasons() -> Iterator[tuple[str, Picture]]:
    """Why a recording is novel."""
    explanation = fitted().explain(TEST.X[TEST.y == "Running"][0])
    for name, parts, place, title, x in (
        ("channels", explanation.channels, "channel", "Which channels make a run novel", "channel"),
        ("segments", explanation.segments, "first_step", "Which stretches of time do", "first step of the stretch"),
    ):
        ordered = sorted(parts, key=lambda part: int(part[place]))
        at, adds = [part[place] for part in ordered], [part["adds"] for part in ordered]
        yield name, plot([Curve("adds to the score", at, adds, "line_and_points")], title=title, x=x, y="score less without it")


def norms() -> Iterator[tuple[str, Picture]]:
    """What the norms do."""
    curves = []
    for kernel in ("flat_rbf", "gak", "sig"):
        values = varnorm.VarianceNorm.from_kernel(kernel, NORMAL, layout="ntd").eigenvalues
        curves.append(Curve(kernel, np.arange(1, len(values) + 1), values / values.sum(), "line_and_points"))
    title, y = "Spectra of ten recordings of walking", "share of the variance"
    yield "eigenvalues", plot(curves, title=title, x="eigenvector", y=y, y_log=True)
    norm, alphas = varnorm.VarianceNorm.from_kernel("gak", NORMAL, layout="ntd"), np.geomspace(1e-4, 1, 13)
    runs, curves = TEST.X[TEST.y == "Running"], []
    for name in ("envelope", "tikhonov"):
        means = [norm.mahalanobis(runs, norm=name, alpha=float(alpha)).mean() for alpha in alphas]
        curves.append(Curve(name, alphas, means, "line_and_points"))
    title = "Mean distance of runs from walking"
    yield "regularisation", plot(curves, title=title, x="alpha", y="distance", x_log=True, y_log=True)


def main(folder: Path) -> None:
    for part in (data, scores, views, reasons, norms):
        for name, picture in part():
            picture.save(folder / f"gallery_{name}.svg")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
