#!/usr/bin/env python3
"""Scores of aeon's ROCKAD for `varnorm bench --scores rockad=rockad.csv`.

    pip install "aeon>=1.6"
    python3 tools/rockad_scores.py ../shared/uea -o rockad.csv                        # all data sets of the folder
    python3 tools/rockad_scores.py ../shared/uea -o rockad.csv --datasets NATOPS --kernels 10000

Each class in turn is normal: ROCKAD is fitted on its training series, with aeon's own settings, and scores the whole test
split. Series of several lengths are resampled to the longest training series of the class, as ROCKET needs one length. A
class with fewer training series than neighbours uses as many as it has. The file has a line per data set, class and test
series: dataset,class,series,score; it appears when all is done.
"""
import argparse
import csv
import os
import sys
from pathlib import Path

import numpy as np

NEIGHBOURS = 5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="with NAME/NAME_TRAIN.ts and NAME/NAME_TEST.ts")
    parser.add_argument("-o", "--output", type=Path, required=True, help="the CSV file to write")
    parser.add_argument("--datasets", help="names, separated by commas [default: all in the folder]")
    parser.add_argument("--kernels", type=int, help="number of ROCKET's kernels [default: aeon's]")
    parser.add_argument("--seed", type=int, default=0, help="of kernels and bootstrap [default: 0]")
    chosen = parser.parse_args()
    found = sorted(path.parent.name for path in chosen.folder.glob("*/*_TRAIN.ts"))
    names = chosen.datasets.split(",") if chosen.datasets else found
    unknown = [name for name in names if name not in found]
    if unknown or not names:
        sys.exit(f"error: {chosen.folder} has no data set {', '.join(unknown)}; it has {', '.join(found) or 'none'}")
    partial = chosen.output.with_name(chosen.output.name + ".part")
    with partial.open("w", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(["dataset", "class", "series", "score"])
        for name in names:
            for label, scores in scored(chosen.folder, name, chosen.kernels, chosen.seed):
                writer.writerows([name, label, i, repr(float(score))] for i, score in enumerate(scores))
                print(f"{name}/{label}: {len(scores)} scores", file=sys.stderr)
    os.replace(partial, chosen.output)


def scored(folder: Path, name: str, kernels: int | None, seed: int):
    """The scores of the test split, for each class of one data set."""
    from aeon.anomaly_detection.collection import ROCKAD
    from aeon.datasets import load_from_ts_file

    train, labels = load_from_ts_file(str(folder / name / f"{name}_TRAIN.ts"))
    test, _ = load_from_ts_file(str(folder / name / f"{name}_TEST.ts"))
    written = as_written(folder / name / f"{name}_TRAIN.ts")
    # In the order of first appearance, as the program has them.
    for label in dict.fromkeys(labels):
        corpus = [series for series, other in zip(train, labels) if other == label]
        steps = max(series.shape[1] for series in corpus)
        options = {} if kernels is None else {"n_kernels": kernels}
        detector = ROCKAD(n_neighbors=min(NEIGHBOURS, len(corpus)), random_state=seed, **options)
        detector.fit(of_one_length(corpus, steps))
        yield written.get(label, label), detector.predict(of_one_length(test, steps))


def as_written(path: Path) -> dict[str, str]:
    """The labels of a file by their lower-case form, which is all that aeon keeps of them."""
    with path.open() as lines:
        declared = next((line for line in lines if line.lower().startswith("@classlabel true")), "")
    return {label.lower(): label for label in declared.split()[2:]}


def of_one_length(collection, steps: int) -> np.ndarray:
    """Series by channel and step, stretched linearly where their length is another."""

    def stretched(channel: np.ndarray) -> np.ndarray:
        if len(channel) == steps:
            return channel
        return np.interp(np.linspace(0, len(channel) - 1, steps), np.arange(len(channel)), channel)

    return np.stack([np.stack([stretched(channel) for channel in series]) for series in collection])


if __name__ == "__main__":
    main()
