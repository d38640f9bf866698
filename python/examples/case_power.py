"""A case: daily power demand. Which days do not belong to this half of the year?

    python case_power.py [FOLDER]    # pictures go to FOLDER, or here; the data come with aeon: pip install aeon
"""

from __future__ import annotations

import sys
from pathlib import Path

import aeon
import numpy as np

import varnorm
from varnorm.plots import Curve, plot

DATA = Path(aeon.__file__).parent / "datasets" / "data" / "ItalyPowerDemand"
NORMAL = "1"


def main(folder: Path) -> None:
    train, test = (varnorm.datasets.load(DATA / f"ItalyPowerDemand_{part}.ts") for part in ("TRAIN", "TEST"))
    normal, others = train.X[train.y == NORMAL], test.y != NORMAL
    print(f"{len(normal)} normal series of {normal.shape[1]} steps; {len(test.X)} to be judged, {others.sum()} of another kind")

    # 34 days: enough for one false alarm in twenty.
    detector = varnorm.NoveltyDetector(contamination=0.05, layout="ntd").fit(normal)
    novelty, flagged = detector.novelty(test.X), detector.predict(test.X) == -1
    print(f"ROC AUC {varnorm.metrics.roc_auc(others, novelty):.3f}")
    print(f"flagged: {flagged[others].sum()} of {others.sum()} others, {flagged[~others].sum()} of {(~others).sum()} normal ones")

    # Where to look: the most novel series beside the normal one that is nearest to it.
    most = int(np.argmax(novelty))
    explanation = detector.explain(test.X[most])
    print("most novel:", explanation)

    shares = [(name, np.sort(novelty[of])) for name, of in (("the same half of the year", ~others), ("others", others))]
    curves = [Curve(name, np.linspace(0, 1, len(found)), found) for name, found in shares]
    curves.append(Curve("threshold", [0, 1], [-detector.offset_] * 2, "dashed"))
    picture = plot(curves, title="Days of one half of the year are normal", x="share of the series, by novelty", y="novelty")
    picture.save(folder / "case_power_novelty.svg")
    steps, nearest = np.arange(normal.shape[1]), normal[explanation.nearest]
    pair = [Curve("the most novel one", steps, test.X[most][:, 0]), Curve("the nearest normal one", steps, nearest[:, 0])]
    picture = plot(pair, title="The most novel one beside its nearest normal one", x="hour", y="demand, standardised")
    picture.save(folder / "case_power_nearest.svg")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
