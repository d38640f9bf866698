"""Tables of pandas, polars and Arrow: long ones, one row per step."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import DataError

#: Names of columns, as in the program's CSV files.
CASES = ("case_id", "case", "series_id", "series", "id")
TIMES = ("time", "timestamp", "timepoint", "step", "t")
LABELS = ("label", "class", "target")


def is_frame(data: Any) -> bool:
    """Whether it is a table with named columns."""
    return hasattr(data, "columns") or hasattr(data, "column_names") or hasattr(data, "__arrow_c_stream__")


def columns_of(frame: Any) -> dict[str, NDArray[Any]]:
    """The columns by name. What is no pandas frame goes through Arrow's C interface, without a copy where types allow."""
    if hasattr(frame, "iloc"):
        return {str(name): frame.iloc[:, at].to_numpy() for at, name in enumerate(frame.columns)}
    if hasattr(frame, "__arrow_c_stream__"):
        try:
            import pyarrow
        except ImportError:
            pass
        else:
            table = pyarrow.table(frame)
            # The index of a pandas frame, as Arrow writes it, is no channel.
            names = [name for name in table.column_names if not name.startswith("__index_level_")]
            return {name: table.column(name).to_numpy() for name in names}
        try:
            import polars
        except ImportError:
            raise DataError("a table in Arrow's form needs pyarrow or polars to be read; install one of them") from None
        frame = polars.DataFrame(frame)
        return {name: frame[name].to_numpy() for name in frame.columns}
    raise DataError(f"a {type(frame).__name__} is not a table that can be read; give a pandas, polars or Arrow table")


def _one(columns: dict[str, NDArray[Any]], names: tuple[str, ...]) -> str | None:
    found = [name for name in columns if name.lower() in names]
    if len(found) > 1:
        raise DataError(f"the columns {found[0]!r} and {found[1]!r} have the same meaning; rename or remove one")
    return found[0] if found else None


def read_long(frame: Any) -> tuple[NDArray[np.float64], NDArray[np.int64], list[Any]]:
    """Values (one row per step), lengths and names of the series of a long table. Series are in the order of their first
    rows, steps in the order of time."""
    columns = columns_of(frame)
    case, time, label = (_one(columns, names) for names in (CASES, TIMES, LABELS))
    if case is None or time is None:
        raise DataError(
            "layout = 'long': the table needs a case column and a time column; name them 'case_id' and 'time' "
            f"(it has {', '.join(map(repr, columns))})"
        )
    channels = [name for name in columns if name not in (case, time, label)]
    if not channels:
        raise DataError("layout = 'long': the table has no column of values beside those of case, time and label")
    names, first, case_of = np.unique(columns[case], return_index=True, return_inverse=True)
    place = np.argsort(np.argsort(first))[case_of]
    order = np.lexsort((columns[time], place))
    values = np.empty((len(order), len(channels)))
    for at, name in enumerate(channels):
        if columns[name].dtype.kind in "mM":
            raise DataError(f"the column {name!r} is of dates or durations, not of numbers; convert it first, or leave it out")
        try:
            values[:, at] = columns[name][order].astype(np.float64)
        except (TypeError, ValueError) as problem:
            raise DataError(f"the column {name!r} is not of numbers: {problem}") from None
    times = columns[time][order]
    twice = (times[1:] == times[:-1]) & (place[order][1:] == place[order][:-1])
    if twice.any():
        at = int(np.flatnonzero(twice)[0])
        raise DataError(f"the series {columns[case][order[at]]!r} has two rows at time {times[at]!r}; keep one")
    return values, np.bincount(place).astype(np.int64), list(names[np.argsort(first)])
