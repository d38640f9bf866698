"""Detection in one's own sensor data, from a CSV file.

    python sensor_csv.py                               # on recordings that come with the package, written to a CSV first
    python sensor_csv.py FOLDER NORMAL.csv NEW.csv     # on yours: columns case_id, time, and one per sensor

Pictures go to FOLDER, or here.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd

import varnorm
from varnorm.plots import Curve, plot

SENSORS = ["acceleration x", "acceleration y", "acceleration z", "rotation x", "rotation y", "rotation z"]


def example_files(folder: Path) -> tuple[Path, Path]:
    """Two CSV files as a logger writes them: all standing recordings but a few, and those few with four that are not."""
    train, test = varnorm.datasets.load_basic_motions()
    standing = np.concatenate([train.X[train.y == "Standing"], test.X[test.y == "Standing"]])
    others = np.concatenate([test.X[test.y == "Walking"][:2], test.X[test.y == "Badminton"][:2]])
    normal, new = standing[:16], np.concatenate([standing[16:], others])
    names = [f"standing {at}" for at in range(20)]
    strange = ["walking a", "walking b", "badminton a", "badminton b"]
    for path, X, cases in [("normal.csv", normal, names[:16]), ("new.csv", new, names[16:] + strange)]:
        varnorm.datasets.save(folder / path, X, layout="ntd", case_names=cases, channel_names=SENSORS)
    return folder / "normal.csv", folder / "new.csv"


def main(folder: Path, normal_file: Path, new_file: Path) -> None:
    normal, new = pd.read_csv(normal_file), pd.read_csv(new_file)
    print(normal.head(3).to_string(index=False))

    # A table with one row per step is stated as such. Gaps would be filled by the step `interpolate`.
    detector = varnorm.NoveltyDetector(
        "integral_rbf", prepare="interpolate,standard", contamination=0.1, layout="long", calibration="leave_one_out"
    ).fit(normal)
    found = detector.findings(new, decision="each", as_frame=True)
    found.index = pd.Index(new["case_id"].drop_duplicates(), name="case")
    print(found[["score", "p_value", "novel"]].round(3).to_string())

    # Which sensor, and when? One case is a table of its own.
    worst = found["score"].idxmax()
    case = new[new["case_id"] == worst]
    explanation = detector.explain(case)
    sensors = [name for name in new.columns if name not in ("case_id", "time")]
    shares = pd.Series({sensors[part["channel"]]: part["adds"] for part in explanation.channels})
    print(f"what each sensor adds to the score of {worst}:")
    print(shares.sort_values(ascending=False).round(2).to_string())

    # The sensor that adds most, beside some normal recordings.
    sensor = str(shares.idxmax())
    some = [part for _, part in normal.groupby("case_id", sort=False)][:4]
    curves = [Curve(str(part["case_id"].iloc[0]), part["time"], part[sensor], "dashed") for part in some]
    curves.append(Curve(str(worst), case["time"], case[sensor]))
    plot(curves, title=f"{sensor}: {worst} and normal recordings", x="time", y=sensor).save(folder / "sensor_csv.svg")


if __name__ == "__main__":
    here = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    files = (Path(sys.argv[2]), Path(sys.argv[3])) if len(sys.argv) > 3 else example_files(here)
    main(here, *files)
