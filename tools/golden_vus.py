"""Writes crates/varnorm/tests/data/vus.json: VUS-PR and VUS-ROC as TSB-AD computes them, on seeded series.

    pip install numpy scikit-learn statsmodels && pip install --no-deps TSB-AD==1.5
    python tools/golden_vus.py crates/varnorm/tests/data/vus.json
"""

import json
import sys

import numpy as np
from TSB_AD.evaluation.basic_metrics import generate_curve


def labels(points, stretches):
    anomalous = np.zeros(points, int)
    for first, last in stretches:
        anomalous[first : last + 1] = 1
    return anomalous


# Name, points, window, labelled stretches, decimals of the scores (few make ties).
CASES = [
    ("one stretch", 400, 100, [(200, 230)], 4),
    ("one point", 300, 40, [(150, 150)], 4),
    ("both ends", 350, 30, [(0, 6), (120, 140), (340, 349)], 4),
    ("buffers that meet", 350, 60, [(100, 104), (110, 112), (125, 140), (260, 262)], 4),
    ("neighbours at distance two", 260, 20, [(50, 52), (54, 54), (56, 60)], 4),
    ("ties", 300, 25, [(80, 95), (200, 220)], 0),
    ("no buffer", 300, 0, [(80, 95), (200, 220)], 2),
    ("fewer points than thresholds", 90, 16, [(20, 25), (70, 71)], 4),
    ("mostly anomalous", 200, 50, [(10, 90), (100, 190)], 4),
]


def main(path):
    generator = np.random.default_rng(24)
    found = []
    for name, points, window, stretches, decimals in CASES:
        anomalous = labels(points, stretches)
        lagging = np.roll(anomalous, 4) * generator.uniform(0.5, 2.5)
        scores = np.round(generator.normal(size=points) + lagging, decimals) + 0.0
        roc, pr = generate_curve(anomalous, scores, window)[-2:]
        found.append(
            {
                "name": name,
                "window": window,
                "vus_pr": float(pr),
                "vus_roc": float(roc),
                "anomalous": anomalous.tolist(),
                "scores": scores.tolist(),
            }
        )
    with open(path, "w") as file:
        file.write("[\n" + ",\n".join(json.dumps(case) for case in found) + "\n]\n")


if __name__ == "__main__":
    main(sys.argv[1])
