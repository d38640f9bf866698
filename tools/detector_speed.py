#!/usr/bin/env python3
"""Times the default detector against aeon's ROCKAD, in turn: fit on a class and score the test split, for all classes.

    python tools/detector_speed.py ../shared/uea [DATASETS] [--threads 2]     # where varnorm and aeon are installed

ROCKAD is called once before it is timed, so that what it compiles is not counted. A ratio is of the sums over the classes.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from rockad_scores import NEIGHBOURS, of_one_length

import varnorm


def rockad(corpus: list[np.ndarray], test: list[np.ndarray], threads: int) -> None:
    from aeon.anomaly_detection.collection import ROCKAD

    steps = max(series.shape[0] for series in corpus)
    train, new = (of_one_length([series.T for series in these], steps) for these in (corpus, test))
    ROCKAD(n_neighbors=min(NEIGHBOURS, len(corpus)), random_state=0, n_jobs=threads).fit(train).predict(new)


def default(corpus: list[np.ndarray], test: list[np.ndarray], threads: int) -> None:
    varnorm.NoveltyDetector(layout="ntd", n_jobs=threads).fit(corpus).predict(test)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("datasets", nargs="?", default="BasicMotions,Epilepsy,JapaneseVowels,NATOPS,RacketSports")
    parser.add_argument("--threads", type=int, default=2)
    chosen = parser.parse_args()
    warm = False
    for name in chosen.datasets.split(","):
        train, test = varnorm.datasets.load_split(chosen.folder, name)
        new, times = list(test.X), {"varnorm": 0.0, "ROCKAD": 0.0}
        for label in dict.fromkeys(train.y):
            corpus = [series for series, other in zip(train.X, train.y, strict=True) if other == label]
            if not warm:
                rockad(corpus, new, chosen.threads)
                warm = True
            for who, work in (("varnorm", default), ("ROCKAD", rockad)):
                began = time.perf_counter()
                work(corpus, new, chosen.threads)
                times[who] += time.perf_counter() - began
        ours, theirs = times.values()
        print(f"{name}: varnorm {ours:.2f} s, ROCKAD {theirs:.2f} s, ratio {theirs / ours:.1f}", flush=True)


if __name__ == "__main__":
    main()
