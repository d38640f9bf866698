"""Benchmarks: detectors as they come, each class of labelled data sets in turn taken as normal, no label in any fit."""

from __future__ import annotations

import csv
import json
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Union

import numpy as np

from . import _core
from ._progress import Listening, Progress
from .datasets import load_split
from .errors import ParameterError

PathLike = Union[str, "os.PathLike[str]"]

#: An estimator with `fit` and `score_samples`, or a function of the corpus and the test series that gives a score each.
Other = Union[Any, Callable[[Any, Any], Any]]


class Benchmark:
    """The outcomes of a benchmark: a table, and pandas frames."""

    def __init__(self, native: _core.Benchmark) -> None:
        self._native = native

    def to_json(self) -> list[dict[str, Any]]:
        """An entry per data set, class and method: `varnorm bench --format json`."""
        found: list[dict[str, Any]] = json.loads(self._native.outcomes())
        return found

    def outcomes(self) -> Any:
        """The same as a pandas frame."""
        import pandas

        return pandas.DataFrame(self.to_json()).drop(columns="data")

    def means(self) -> Any:
        """Means over the classes of each data set, one row per data set and method, as a pandas frame."""
        found = self.outcomes()
        figures = ["roc_auc", "average_precision", "novel_flagged", "normal_flagged", "fit_seconds", "score_seconds"]
        there = [name for name in figures if name in found]
        return found.groupby(["dataset", "method"], sort=False)[there].mean().reset_index()

    def table(self, layout: str = "text") -> str:
        """The program's table: "text", "markdown" or "html"."""
        return self._native.table(layout)

    def __repr__(self) -> str:
        return self.table()

    def _repr_html_(self) -> str:
        return self.table("html")


def benchmark(
    folder: PathLike,
    datasets: str | Sequence[str] | None = None,
    *,
    methods: str | Sequence[str] | None = None,
    others: Mapping[str, Other] | None = None,
    scores: Mapping[str, PathLike] | None = None,
    level: float | None = None,
    output: PathLike | None = None,
    n_jobs: int | None = None,
    progress: Progress = None,
) -> Benchmark:
    """Compares detectors as they come on labelled data sets, without a search: `varnorm bench`.

    Each class in turn is normal. A method is fitted on its training series alone and scores the whole test split; labels judge
    the scores and choose nothing.

    Parameters
    ----------
    folder : path
        Holds `NAME/NAME_TRAIN.ts` and `NAME/NAME_TEST.ts`, or the same in `.arff`.
    datasets : str or list of str, optional
        The data sets' names; all of the folder where it is left out.
    methods : str or list of str, optional
        Presets ("auto", "fast", "paper") and the plain nearest neighbour ("nearest"); all of them where it is left out.
    others : dict of name and method, optional
        Methods of other packages. An estimator with `fit` and `score_samples`, as scikit-learn's `IsolationForest`, is cloned
        and gets series as flat rows, so that it needs one length. A function gets the corpus and the test series, each of
        shape `(series, steps, channels)` or a list of such series, and gives a score per test series; higher is more novel.
    scores : dict of name and path, optional
        Scores made elsewhere: CSV files with dataset, class, series, score.
    level : float, optional
        The false-alarm rate that flags promise.
    output : path, optional
        Keep every outcome in this folder, and go on from what is there.
    n_jobs, progress :
        As for `NoveltyDetector`.
    """
    names = [datasets] if isinstance(datasets, str) else list(datasets or [])
    with ExitStack() as kept:
        files = {name: os.fspath(path) for name, path in (scores or {}).items()}
        if others:
            there = Path(kept.enter_context(tempfile.TemporaryDirectory()))
            for at, (name, method) in enumerate(others.items()):
                files[name] = str(_scored(Path(folder), names or _listed(Path(folder)), name, method, there / f"{at}.csv"))
        asked = {
            "folder": os.fspath(folder),
            "datasets": names,
            "methods": [methods] if isinstance(methods, str) else None if methods is None else list(methods),
            "scores": list(files.items()),
            "level": level,
            "output": None if output is None else os.fspath(output),
        }
        listener = kept.enter_context(Listening(progress))
        return Benchmark(_core.Benchmark.run(json.dumps(asked), n_jobs, listener))


def _listed(folder: Path) -> list[str]:
    """The data sets of a folder, as the program lists them."""
    return sorted(d.name for d in folder.iterdir() if any((d / f"{d.name}_TRAIN.{end}").is_file() for end in ("ts", "arff")))


def _scored(folder: Path, datasets: list[str], name: str, method: Other, file: Path) -> Path:
    """Scores of another package's method, in the form that benchmarks read."""
    with file.open("w", newline="") as stream:
        lines = csv.writer(stream)
        lines.writerow(["dataset", "class", "series", "score"])
        for dataset in datasets:
            train, test = load_split(folder, dataset)
            for label in dict.fromkeys(train.y):
                corpus = _members(train.X, np.flatnonzero(train.y == label))
                found = np.asarray(_scores(method, corpus, test.X, f"{name} on {dataset}"), dtype=float).ravel()
                if len(found) != len(test.y):
                    raise ParameterError(f"others: {name} gave {len(found)} scores for the {len(test.y)} test series of {dataset}; it must give one per series")
                lines.writerows([dataset, label, at, repr(float(score))] for at, score in enumerate(found))
    return file


def _members(X: Any, indices: Any) -> Any:
    return X[indices] if isinstance(X, np.ndarray) else [X[i] for i in indices]


def _scores(method: Other, corpus: Any, test: Any, what: str) -> Any:
    if not hasattr(method, "fit"):
        return method(corpus, test)
    from sklearn.base import clone

    flat = []
    for X in (corpus, test):
        if not isinstance(X, np.ndarray):
            raise ParameterError(f"others: {what}: the series have several lengths, and an estimator takes rows of one; give a function of corpus and test series instead")
        flat.append(X.reshape(len(X), -1))
    if flat[0].shape[1] != flat[1].shape[1]:
        raise ParameterError(f"others: {what}: training and test series differ in length; give a function of corpus and test series instead")
    # In scikit-learn higher means more normal.
    return -clone(method).fit(flat[0]).score_samples(flat[1])
