"""Tables of pandas, polars and Arrow: long ones, those with an index of series and times, and lists of recordings."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .errors import DataError

#: Names of columns, as in the program's CSV files.
CASES = ("case_id", "case", "series_id", "series", "id")
TIMES = ("time", "timestamp", "timepoint", "step", "t")
LABELS = ("label", "class", "target")

#: Nanoseconds since 1970, numbers, or texts; one per row.
Times = Any


class Table(NamedTuple):
    """Series of a table: one row per step."""

    values: NDArray[np.float64]
    lengths: NDArray[np.int64]
    cases: list[Any]
    """A name per series."""
    channels: list[str] | None
    times: Times
    """One per row, or None where they only count."""
    unit: str | None = None
    """Of times that are numbers, where it is known."""


def is_frame(data: Any) -> bool:
    """Whether it is a table with named columns."""
    return hasattr(data, "columns") or hasattr(data, "column_names") or hasattr(data, "__arrow_c_stream__")


def is_long(data: Any) -> bool:
    """Whether it is a table that says by itself that rows are steps of several series: by an index of series and times, as
    sktime has it, or by columns of both names."""
    if not is_frame(data):
        return False
    if _has_levels(data):
        return True
    names = [str(name).lower() for name in column_names(data)]
    return any(name in CASES for name in names) and any(name in TIMES for name in names)


def is_nested(data: Any) -> bool:
    """Whether the cells of a pandas frame are series themselves (sktime's nested_univ)."""
    if not hasattr(data, "iloc") or len(data) == 0 or len(data.columns) == 0:
        return False
    return all(np.ndim(data.iloc[0, at]) == 1 for at in range(len(data.columns)))


def is_timed(data: Any) -> bool:
    """Whether the rows of a pandas frame are times: it is one recording."""
    index = getattr(data, "index", None)
    return hasattr(data, "iloc") and getattr(getattr(index, "dtype", None), "kind", "O") in "mM"


def _has_levels(data: Any) -> bool:
    return hasattr(data, "iloc") and getattr(data.index, "nlevels", 1) > 1


def column_names(frame: Any) -> list[Any]:
    """The names of the columns, without a look at the values."""
    if hasattr(frame, "column_names"):
        return list(frame.column_names)
    if hasattr(frame, "columns"):
        return list(frame.columns)
    return list(columns_of(frame))


def columns_of(frame: Any) -> dict[str, NDArray[Any]]:
    """The columns by name. What is no pandas frame goes through Arrow's C interface, without a copy where types allow."""
    if hasattr(frame, "iloc"):
        twins = {name for name in map(str, frame.columns) if list(map(str, frame.columns)).count(name) > 1}
        if twins:
            raise DataError(f"two columns are named {min(twins)!r}; give every column its own name")
        return {str(name): _plain(frame.iloc[:, at]) for at, name in enumerate(frame.columns)}
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


def _plain(column: Any) -> NDArray[Any]:
    """A pandas column or index as an array: stamps with a zone in UTC."""
    if getattr(column.dtype, "tz", None) is not None:
        stamps = column.dt if hasattr(column, "dt") else column
        column = stamps.tz_convert("UTC")
        column = (column.dt if hasattr(column, "dt") else column).tz_localize(None)
    array: NDArray[Any] = column.to_numpy()
    return array


def _one(columns: dict[str, NDArray[Any]], names: tuple[str, ...]) -> str | None:
    found = [name for name in columns if name.lower() in names]
    if len(found) > 1:
        raise DataError(f"the columns {found[0]!r} and {found[1]!r} have the same meaning; rename or remove one")
    return found[0] if found else None


def read_long(frame: Any) -> Table:
    """The series of a table whose rows are steps, in the order of their first rows."""
    columns = columns_of(frame)
    if _has_levels(frame):
        if frame.index.nlevels != 2:
            raise DataError(f"the index has {frame.index.nlevels} levels; give two: series and time")
        cases, times = (_plain(frame.index.get_level_values(level)) for level in (0, 1))
        return _grouped(columns, cases, times)
    case, time, label = (_one(columns, names) for names in (CASES, TIMES, LABELS))
    if case is None or time is None:
        raise DataError(
            "layout = 'long': the table needs a case column and a time column; name them 'case_id' and 'time' "
            f"(it has {', '.join(map(repr, columns))})"
        )
    channels = {name: column for name, column in columns.items() if name not in (case, time, label)}
    if not channels:
        raise DataError("layout = 'long': the table has no column of values beside those of case, time and label")
    return _grouped(channels, columns[case], columns[time])


def _grouped(channels: dict[str, NDArray[Any]], cases: NDArray[Any], times: NDArray[Any]) -> Table:
    names, first, case_of = np.unique(cases, return_index=True, return_inverse=True)
    place = np.argsort(np.argsort(first))[case_of]
    order = np.argsort(place, kind="stable")
    lengths = np.bincount(place).astype(np.int64)
    found = list(names[np.argsort(first)])
    values = matrix(channels)[order]
    times, place = times[order], place[order]
    by_time = np.lexsort((times, place))
    twice = (times[by_time][1:] == times[by_time][:-1]) & (place[by_time][1:] == place[by_time][:-1])
    if twice.any():
        at = int(by_time[np.flatnonzero(twice)[0]])
        raise DataError(f"the series {found[place[at]]!r} has two rows at time {times[at]!r}; keep one")
    unit = "s" if times.dtype.kind == "m" else None
    return Table(values, lengths, found, list(channels), as_times(times, lengths), unit)


def matrix(columns: dict[str, NDArray[Any]]) -> NDArray[np.float64]:
    """Columns of numbers side by side."""
    values = np.empty((len(next(iter(columns.values()))), len(columns)))
    for at, (name, column) in enumerate(columns.items()):
        if column.dtype.kind in "mM":
            raise DataError(f"the column {name!r} is of dates or durations, not of numbers; convert it first, or leave it out")
        try:
            values[:, at] = column.astype(np.float64)
        except (TypeError, ValueError) as problem:
            raise DataError(f"the column {name!r} is not of numbers: {problem}") from None
    return values


def as_times(times: NDArray[Any], lengths: NDArray[np.int64]) -> Times:
    """Times as the library wants them; none where they only count the steps of each series from 0."""
    kind = times.dtype.kind
    if kind in "mM":
        if np.isnat(times).any():
            raise DataError("a time is missing (NaT); fill it in, or leave the row out")
        if kind == "m":
            return times / np.timedelta64(1, "s")
        return np.ascontiguousarray(times.astype("datetime64[ns]").astype(np.int64))
    if kind in "iuf":
        numbers = times.astype(np.float64)
        counts = np.concatenate([np.arange(length) for length in lengths]) if len(lengths) else numbers
        return None if np.array_equal(numbers, counts) else numbers
    return [str(time) for time in times]


def read_recordings(frames: list[Any], name: str) -> Table:
    """One recording per table: rows are steps, columns are channels, in the order of the first table. A column of times, or
    an index of stamps, is the time."""
    values, lengths, times = [], [], []
    channels: list[str] | None = None
    for at, frame in enumerate(frames):
        columns = columns_of(frame)
        time = _one(columns, TIMES)
        when = columns.pop(time) if time is not None and len(columns) > 1 else None
        if when is None and is_timed(frame):
            when = _plain(frame.index)
        if not columns or len(next(iter(columns.values()))) == 0:
            raise DataError(f"{name}[{at}] is empty: a series needs at least one step and one channel")
        if channels is None:
            channels = list(columns)
        values.append(matrix(_like_the_first(columns, channels, f"{name}[{at}]", name)))
        lengths.append(len(values[-1]))
        times.append(when)
    counted = all(channel == str(at) for at, channel in enumerate(channels or []))
    every = np.array(lengths, dtype=np.int64)
    known = [when for when in times if when is not None]
    joined: NDArray[Any] | None = np.concatenate(known) if len(known) == len(times) else None
    unit = "s" if joined is not None and joined.dtype.kind == "m" else None
    when = None if joined is None else as_times(joined, every)
    # Columns that are only counted have no names.
    return Table(np.concatenate(values), every, [], None if counted else channels, when, unit)


def _like_the_first(columns: dict[str, NDArray[Any]], channels: list[str], this: str, name: str) -> dict[str, NDArray[Any]]:
    missing = [channel for channel in channels if channel not in columns]
    extra = [channel for channel in columns if channel not in channels]
    counted = all(channel.isdigit() for channel in [*columns, *channels])
    if len(columns) != len(channels) and (counted or not (missing and extra)):
        what = f" (it lacks {', '.join(missing)})" if missing else f" (it has {', '.join(extra)} beside)"
        raise DataError(f"{this} has {len(columns)} channels where {name}[0] has {len(channels)}{what}; give series of one kind")
    if missing:
        raise DataError(
            f"{this} has the channels {', '.join(columns)} where {name}[0] has {', '.join(channels)}; "
            f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing: rename or add"
        )
    return {channel: columns[channel] for channel in channels}


def read_nested(frame: Any) -> Table:
    """A pandas frame whose cells are series: a row per series, a column per channel."""
    values, lengths = [], []
    for row in range(len(frame)):
        cells = [np.asarray(frame.iloc[row, at], dtype=np.float64) for at in range(len(frame.columns))]
        if len({len(cell) for cell in cells}) != 1 or len(cells[0]) == 0:
            raise DataError(f"series {row}: its channels have {', '.join(str(len(cell)) for cell in cells)} steps; give one length")
        values.append(np.stack(cells, axis=1))
        lengths.append(len(cells[0]))
    channels = [str(name) for name in frame.columns]
    return Table(np.concatenate(values), np.array(lengths, dtype=np.int64), list(frame.index), channels, None)
