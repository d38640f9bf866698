"""A first hour with varnorm: from recordings to decisions, with pictures.

    python first_hour.py [FOLDER]    # pictures go to FOLDER, or here
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import varnorm
from varnorm.plots import Curve, plot

MOTIONS = ("Walking", "Standing", "Running", "Badminton")


def main(folder: Path) -> None:
    # Smart-watch recordings: 100 steps of 6 channels, four motions, a training and a test part.
    train, test = varnorm.datasets.load_basic_motions()
    print("training part", train.X.shape, "of", ", ".join(sorted(set(train.y.tolist()))))

    # What is normal? Here: walking. Ten recordings are few, so one in ten false alarms has to be allowed.
    normal = train.X[train.y == "Walking"]
    # One kernel that compares point by point takes standing still for calm walking. The default combines three views: the
    # distribution of windows, short patterns, and the order of events.
    for kernel in ("flat_rbf", None):
        detector = varnorm.NoveltyDetector(kernel, contamination=0.1, layout="ntd").fit(normal)
        # Novelty: higher is more novel. A p-value is the chance of a normal series scoring as high.
        novelty = detector.novelty(test.X)
        flagged = detector.predict(test.X) == -1
        views = ", ".join(view["kernel"]["kernel"] for view in detector.views_)
        print(f"{views}: ROC AUC {varnorm.metrics.roc_auc(test.y != 'Walking', novelty):.3f}")
        for motion in MOTIONS:
            of = test.y == motion
            median, count = np.median(novelty[of]), int(flagged[of].sum())
            print(f"  {motion:10} median novelty {median:6.2f}  flagged {count} of {int(of.sum())}")

    # A picture: every test recording, by motion, and the threshold.
    curves = []
    for at, motion in enumerate(MOTIONS):
        scores = np.sort(novelty[test.y == motion])
        curves.append(Curve(motion, 10 * at + np.arange(len(scores)), scores, "points"))
    curves.append(Curve("threshold", [0, 39], [-detector.offset_] * 2, "dashed"))
    picture = plot(curves, title="Novelty of the test recordings", x="recording", y="novelty")
    picture.save(folder / "first_hour_novelty.svg")

    # Why? The most novel recording, explained.
    most = int(np.argmax(novelty))
    explanation = detector.explain(test.X[most])
    print("most novel is", test.y[most] + ":", explanation)

    # Beside its nearest normal recording, in the channel that adds most to its score.
    # A view may have a channel more, of time.
    recorded = [part for part in explanation.channels if part["channel"] < normal.shape[2]]
    channel = max(recorded, key=lambda part: float(part["adds"]))["channel"]
    steps = np.arange(100)
    nearest = normal[explanation.nearest]
    pair = [
        Curve(f"the {test.y[most].lower()} recording", steps, test.X[most][:, channel]),
        Curve("its nearest normal recording", steps, nearest[:, channel]),
    ]
    plot(pair, title=f"Channel {channel}", x="step", y="value").save(folder / "first_hour_nearest.svg")

    # The model file is the program's too: varnorm score walking.model new.csv
    detector.save(folder / "walking.model")
    again = varnorm.NoveltyDetector.load(folder / "walking.model", layout="ntd")
    print("loaded again, the same bits:", np.array_equal(again.novelty(test.X), novelty))


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
