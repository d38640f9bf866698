"""Scores of other packages for `varnorm bench-long`, on the same normal and test parts.

    pip install numpy pandas stumpy pyod
    python tools/long_peers.py ARCHIVES scores --methods stumpy,sub_pca,iforest --groups UCR
    varnorm bench-long ARCHIVES --groups UCR --scores stumpy-100=scores/stumpy-100.csv ...

Writes a file per method with the columns recording, point, score. stumpy's AB-join (one channel only) is made with windows of
50, 100 and 200 steps, a file each: the best of them is for the reader of the table to take. Sub-PCA and IForest are PyOD's PCA
and IForest on flattened windows of 64 steps (one channel) or 16 (several), fitted on the normal part. Window scores become
scores of points by the mean over the windows that cover a point. Archives: UCR, SKAB, TSB-AD and arrays in threes.
"""

import argparse
import csv
import pathlib
import re

import numpy as np

STUMPY_WINDOWS = (50, 100, 200)
SKAB_NORMAL = 400
MOST_WINDOWS = 2000


def recordings(folder):
    """Group, name, normal rows and test rows of every recording, as `varnorm bench-long` splits them."""
    import pandas as pd

    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder)
        group = inside.parts[0] if len(inside.parts) > 1 else ""
        name = inside.with_suffix("").as_posix()
        if found := re.search(r"_(\d+)_\d+_\d+\.txt$", path.name):
            rows = np.array(path.read_text().split(), float)[:, None]
            yield group, name, rows[: int(found[1])], rows[int(found[1]) :]
        elif path.name.endswith("_test_label.npy"):
            train, test = (np.load(str(path).replace("_test_label", part)) for part in ("_train", "_test"))
            wide = lambda rows: rows.reshape(len(rows), -1).astype(float)
            yield group, name.removesuffix("_test_label"), wide(train), wide(test)
        elif found := re.search(r"_tr_(\d+)_1st_\d+\.csv$", path.name):
            rows = pd.read_csv(path).drop(columns="Label").to_numpy(float)
            yield group, name, rows[: int(found[1])], rows[int(found[1]) :]
        elif path.suffix == ".csv" and {"anomaly", "changepoint"} <= set(
            path.open().readline().strip().split(";")
        ):
            table = pd.read_csv(path, sep=";").drop(columns=["datetime", "anomaly", "changepoint"])
            rows = table.to_numpy(float)
            yield group, name, rows[:SKAB_NORMAL], rows[SKAB_NORMAL:]


def spread(scores, window, points):
    """For every point the mean over the windows (stride 1) that cover it."""
    sums, counts = np.zeros(points), np.zeros(points)
    for offset in range(window):
        sums[offset : offset + len(scores)] += scores
        counts[offset : offset + len(scores)] += 1
    return sums / counts


def stumpy_scores(window):
    def scores(normal, test):
        import stumpy

        if normal.shape[1] > 1 or min(len(normal), len(test)) < window:
            return None
        profile = stumpy.stump(test[:, 0], window, normal[:, 0], ignore_trivial=False)[:, 0].astype(float)
        finite = np.isfinite(profile)
        profile[~finite] = profile[finite].max()
        return spread(profile, window, len(test))

    return scores


def pyod_scores(make):
    def scores(normal, test):
        window = 64 if normal.shape[1] == 1 else 16
        mean, deviation = normal.mean(0), normal.std(0)
        deviation = np.where(deviation > 1e-8, deviation, 1.0)
        flat = lambda rows: np.lib.stride_tricks.sliding_window_view((rows - mean) / deviation, window, axis=0)
        train, queries = (flat(rows).reshape(len(rows) - window + 1, -1) for rows in (normal, test))
        kept = np.linspace(0, len(train) - 1, min(len(train), MOST_WINDOWS)).astype(int)
        detector = make()
        detector.fit(train[kept])
        return spread(detector.decision_function(queries), window, len(test))

    return scores


def sub_pca():
    from pyod.models.pca import PCA

    return PCA()


def iforest():
    from pyod.models.iforest import IForest

    return IForest(random_state=0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("archives", type=pathlib.Path)
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("--methods", default="stumpy,sub_pca,iforest")
    parser.add_argument("--groups", default="", help="folders of the archives, separated by commas [all]")
    given = parser.parse_args()
    known = {"sub_pca": {"sub-pca": pyod_scores(sub_pca)}, "iforest": {"iforest": pyod_scores(iforest)}}
    known["stumpy"] = {f"stumpy-{window}": stumpy_scores(window) for window in STUMPY_WINDOWS}
    groups = set(filter(None, given.groups.split(",")))
    given.output.mkdir(parents=True, exist_ok=True)
    for method in given.methods.split(","):
        for name, scores in known[method].items():
            with open(given.output / f"{name}.csv", "w", newline="") as file:
                writer = csv.writer(file, lineterminator="\n")
                writer.writerow(["recording", "point", "score"])
                for group, recording, normal, test in recordings(given.archives):
                    if groups and group not in groups:
                        continue
                    found = scores(normal, test)
                    if found is not None:
                        writer.writerows((recording, at, f"{score:.9g}") for at, score in enumerate(found))
                        print(name, recording, flush=True)


if __name__ == "__main__":
    main()
