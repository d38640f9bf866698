"""Data files: `.ts`, `.arff`, `.csv`, `.npy` and `.npz`, and a small real data set inside the package."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Union

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._input import Layout, from_series, to_series

__all__ = ["Dataset", "load", "load_arff", "load_basic_motions", "load_csv", "load_split", "load_ts", "save"]

PathLike = Union[str, "os.PathLike[str]"]


@dataclass
class Dataset:
    """Series with what their file says about them."""

    name: str
    X: Any
    """A 3-D array where all series have one length, else a list of 2-D arrays."""
    y: Any
    """A label per series, as written in the file: an array of words, or None."""
    case_names: list[str] | None = None
    channel_names: list[str] | None = None
    times: list[str] | None = None
    """A timestamp per step of all series, as written."""
    notes: list[str] = field(default_factory=list)
    """What the reader noticed and you should know."""

    @classmethod
    def _of(cls, read: _core.Dataset, layout: Layout) -> Dataset:
        y = None if read.labels is None else np.asarray(read.labels, dtype=np.str_)
        X = from_series(read.series, layout)
        return cls(read.name, X, y, read.case_names, read.channel_names, read.times, read.notes)


def load(
    *paths: PathLike,
    csv_layout: str = "auto",
    time: str | None = None,
    case: str | None = None,
    columns: Sequence[str] = (),
    ignore: Sequence[str] = (),
    decimal: str | None = None,
    skip: int = 0,
    layout: Layout = "ntd",
) -> Dataset:
    """Reads files and folders of any known format as one data set; extensions tell formats.

    Parameters
    ----------
    csv_layout : {"auto", "wide", "long", "recording"}
        How the rows of a CSV file make series: told from the header, one row per series, one row per step of many series, or
        one row per step of a single one.
    time, case, columns, ignore, decimal, skip :
        What a table leaves open, in the words of the program's options: the column of times (`"Date=dmy"`), the one that names
        the series, the channels, columns to leave out, `"point"` or `"comma"`, and lines before the header.
    layout : {"ntd", "nct"}
        The axes of what is returned.
    """
    files = [os.fspath(path) for path in paths]
    read = _core.read(files, csv_layout, time, case, list(columns), list(ignore), decimal, skip)
    return Dataset._of(read, layout)


def load_ts(path: PathLike, *, layout: Layout = "ntd") -> Dataset:
    """Reads a `.ts` file, as of sktime, aeon and the UEA archive."""
    return load(path, layout=layout)


def load_arff(path: PathLike, *, layout: Layout = "ntd") -> Dataset:
    """Reads an `.arff` file, as of Weka and the UEA archive."""
    return load(path, layout=layout)


def load_csv(path: PathLike, *, csv_layout: str = "auto", layout: Layout = "ntd", **table: Any) -> Dataset:
    """Reads a `.csv` file; see `load`, whose words about tables can be given too."""
    return load(path, csv_layout=csv_layout, layout=layout, **table)


def load_split(folder: PathLike, name: str, *, layout: Layout = "ntd") -> tuple[Dataset, Dataset]:
    """Reads `folder/NAME/NAME_TRAIN.ts` and `NAME_TEST.ts` (or `.arff`)."""
    train, test = _core.read_split(os.fspath(folder), name)
    return Dataset._of(train, layout), Dataset._of(test, layout)


def load_basic_motions(*, layout: Layout = "ntd") -> tuple[Dataset, Dataset]:
    """BasicMotions, training and test part: 40 series each, 100 steps of 6 channels, in 4 classes, recorded with a smart watch.

    >>> train, test = load_basic_motions()
    >>> train.X.shape, sorted(set(train.y.tolist()))
    ((40, 100, 6), ['Badminton', 'Running', 'Standing', 'Walking'])
    """
    train, test = _core.basic_motions()
    return Dataset._of(train, layout), Dataset._of(test, layout)


def save(
    path: PathLike,
    X: Any,
    y: Sequence[object] | NDArray[Any] | None = None,
    *,
    name: str = "series",
    layout: Layout = None,
    case_names: list[str] | None = None,
    channel_names: list[str] | None = None,
    times: list[str] | None = None,
    csv_shape: str = "long",
    lossy: bool = False,
) -> list[str]:
    """Writes series to a file, whole or not at all; its extension tells the format. Values come back bit by bit.

    Returns what had to be dropped, which is nothing unless `lossy` allows it.
    """
    labels = None if y is None else [str(label) for label in y]
    series = to_series(X, layout)
    return _core.write(os.fspath(path), name, series, labels, case_names, channel_names, times, csv_shape, lossy)
