"""Studies: kernels, norms and distances compared on labelled data sets, each class in turn taken as normal."""

from __future__ import annotations

import html
import json
import os
from collections.abc import Mapping, Sequence
from typing import Any, Union

from . import _core
from ._progress import Listening, Progress

PathLike = Union[str, "os.PathLike[str]"]

#: Letters of rows in tables.
LETTERS = {
    "conformance": "C",
    "conformance_envelope": "C+",
    "mahalanobis": "M",
    "mahalanobis_envelope": "M+",
    "nearest": "N",
    "residual": "R",
    "external": "E",
}


class Study:
    """The results of a study: tables as pandas frames, text, LaTeX; figures as SVG."""

    def __init__(self, native: _core.Study) -> None:
        self._native = native

    @classmethod
    def read(cls, run: PathLike, *, published: PathLike | None = None) -> Study:
        """Reads a run folder, finished or not; `published` puts the numbers of such a file beside them."""
        return cls(_core.Study.read(os.fspath(run), None if published is None else os.fspath(published)))

    def to_json(self) -> dict[str, Any]:
        """Means over classes: `varnorm study show --format json`."""
        found: dict[str, Any] = json.loads(self._native.results())
        return found

    def units(self) -> Any:
        """One row per data set, kernel, class and method, as a pandas frame."""
        import pandas

        rows = []
        for unit in json.loads(self._native.units()):
            head = {"dataset": unit["dataset"], "kernel": unit["kernel"], "class": unit["class"]}
            for method, found in unit["methods"].items():
                (roc_low, roc_high), (pr_low, pr_high) = found["roc_interval"], found["pr_interval"]
                areas = {"roc_auc": found["roc_auc"], "roc_low": roc_low, "roc_high": roc_high}
                areas |= {"pr_auc": found["pr_auc"], "pr_low": pr_low, "pr_high": pr_high}
                rows.append(head | {"method": method} | areas | found["chosen"])
        return pandas.DataFrame(rows)

    def means(self) -> Any:
        """Means over classes, one row per data set, kernel and method, as a pandas frame."""
        units = self.units()
        keys = ["dataset", "kernel", "method"]
        return units.groupby(keys, sort=False)[["roc_auc", "pr_auc"]].mean().reset_index()

    def pivot(self, area: str = "roc_auc") -> Any:
        """The paper's layout: data sets and methods as rows, kernels as columns, as a pandas frame."""
        means = self.means()
        means["method"] = means["method"].map(LETTERS)
        return means.pivot_table(index=["dataset", "method"], columns="kernel", values=area, sort=False)

    def table(self, layout: str = "text", rows: Sequence[str] | None = None) -> str:
        """The program's tables: "text", "csv", "markdown" or "latex"; `rows` by their letters, such as ["C", "M+"]."""
        return self._native.table(layout, None if rows is None else list(rows))

    def figures(self, *, envelope: bool = False) -> dict[str, str]:
        """The paper's figures as SVG, by the names of their files."""
        return dict(self._native.figures(envelope))

    def compare(self, before: Study, *, tolerance: float = 5e-4) -> dict[str, Any]:
        """Which means moved since another study, by how much, with a paired test."""
        found: dict[str, Any] = json.loads(self._native.compare(before._native, tolerance))
        return found

    def __repr__(self) -> str:
        return self.table()

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.table())}</pre>" + "".join(self.figures().values())


def study(
    folder: PathLike,
    datasets: str | Sequence[str],
    *,
    kernels: Sequence[str] | None = None,
    run: PathLike | None = None,
    grid: Mapping[str, Any] | None = None,
    published: PathLike | None = None,
    compat: str | None = None,
    select: str = "joint",
    shard: str | None = None,
    baselines: bool = True,
    scores: Mapping[str, PathLike] | None = None,
    n_jobs: int | None = None,
    progress: Progress = None,
) -> Study:
    """Compares kernels and distances on labelled data sets, each class in turn taken as normal: `varnorm study`.

    Parameters
    ----------
    folder : path
        Holds `NAME/NAME_TRAIN.ts` and `NAME/NAME_TEST.ts`.
    datasets : str or list of str
        The data sets' names.
    kernels : list of str, optional
        Rows of the grid; all where it is left out.
    run : path, optional
        Keep every finished unit in this folder, and go on from what is there: it can be stopped at any moment.
    grid : dict, optional
        What to try; `varnorm.study_grid()` is the published grid.
    published : path, optional
        Judge the parameters of this file; no search.
    compat : {"none", "published"}, optional
        Which variants; the published ones with `published`.
    select : {"joint", "marginal"}
        How the best parameters are chosen; marginal is the published rule.
    shard : str, optional
        Only the k-th of n parts of the units: "2/5". Join them with `varnorm.study_merge`.
    baselines : bool
        Whether k-NN on flattened series is a column too.
    scores : dict of name and path, optional
        Columns of scores made elsewhere: CSV files with dataset, class, series, score.
    n_jobs, progress :
        As for `NoveltyDetector`.
    """
    names = [datasets] if isinstance(datasets, str) else list(datasets)
    with Listening(progress) as listener:
        native = _core.Study.run(
            os.fspath(folder),
            names,
            None if kernels is None else list(kernels),
            None if run is None else os.fspath(run),
            None if grid is None else json.dumps(grid),
            None if published is None else os.fspath(published),
            compat,
            select,
            shard,
            baselines,
            [(name, os.fspath(path)) for name, path in (scores or {}).items()],
            n_jobs,
            listener,
        )
    return Study(native)


def study_merge(pieces: Sequence[PathLike], output: PathLike) -> Study:
    """Joins pieces of one study, made with `shard`, into one run folder."""
    return Study(_core.study_merge([os.fspath(piece) for piece in pieces], os.fspath(output)))


def study_grid() -> dict[str, Any]:
    """The published grid, to be changed and given to `study`."""
    found: dict[str, Any] = json.loads(_core.study_grid())
    return found
