"""What users give, as a set of series. Nothing is guessed: what can be read in two ways has to be stated."""

from __future__ import annotations

from typing import Any, Literal, Union

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._frames import Table, is_frame, is_long, is_nested, is_timed, read_long, read_nested, read_recordings
from .errors import DataError, ParameterError

#: "ntd": series, steps, channels (tslearn, KSig). "nct": series, channels, steps (aeon, sktime). "long": a table with one
#: row per step.
Layout = Union[None, Literal["ntd", "nct", "long"]]
LAYOUTS = (None, "ntd", "nct", "long")


def to_series(data: Any, layout: Layout = None, name: str = "X") -> _core.SeriesSet:
    """A set of series from an array, a list of arrays or a table; without a copy where it is float64 and contiguous.

    | given | read as |
    |---|---|
    | 3-D array | by `layout`: "ntd" or "nct"; a series ends where all its channels are NaN up to the end (padding) |
    | 2-D array, table | one row per series of one channel, without `layout` |
    | list of 2-D arrays | one series each, of any lengths, by `layout` without its n |
    | list of 1-D arrays | one series of one channel each, of any lengths |
    | list of tables | one series each: columns are channels, matched by name; a column `time` or an index of stamps is the time |
    | table with columns case_id and time | one row per step (`layout="long"` insists on it) |
    | pandas table with an index of two levels | one row per step: series and time (sktime's pd-multiindex) |
    | pandas table whose cells are series | one row per series (sktime's nested_univ) |

    Names of channels and the sampling step are kept where a table tells them; see `channel_names` and `sampling_step`.
    """
    if layout not in LAYOUTS:
        raise ParameterError(f"layout = {layout!r}: must be 'ntd', 'nct', 'long' or None")
    if isinstance(data, _core.SeriesSet):
        return data
    if hasattr(data, "toarray"):
        raise DataError(f"{name} is sparse; time series are dense: give an array")
    if layout == "long":
        if not is_frame(data):
            raise DataError(f"layout = 'long': {name} must be a table, not a {type(data).__name__}")
        return _from_rows(read_long(data))
    if is_long(data):
        return _from_rows(read_long(data))
    if is_nested(data):
        return _from_rows(read_nested(data))
    if is_timed(data):
        raise DataError(f"the rows of {name} are times: it is a single recording; give a list of tables, as in [{name}]")
    if isinstance(data, (list, tuple)) or (isinstance(data, np.ndarray) and data.dtype == object):
        return _from_list(list(data), layout, name)
    array = as_array(data, name)
    if array.ndim == 2 and layout is not None and not is_frame(data):
        rows, columns = array.shape
        raise DataError(
            f"{name} has the shape {array.shape} and layout = {layout!r} is of 3-D arrays; for a single series give {name}[None], "
            f"for {rows} series of one channel and {columns} steps leave `layout` out or give {name}[:, :, None] as 'ntd'"
        )
    if array.ndim == 2:
        return _from_table(array, name)
    if array.ndim == 3:
        return _from_cube(array, layout, name)
    raise DataError(
        f"{name} is a {array.ndim}-D array. Expected 2D array (series of one channel), 3D array or list of arrays. "
        "Reshape your data: array.reshape(1, -1) is a single series of one channel"
    )


def to_one(data: Any, layout: Layout = None, name: str = "x") -> _core.SeriesSet:
    """A single series: 1-D for one channel, else 2-D by the layout without its n."""
    if isinstance(data, _core.SeriesSet) or (is_frame(data) and (layout == "long" or is_long(data) or is_nested(data))):
        found = to_series(data, layout, name)
    elif np.ndim(data) not in (1, 2):
        raise DataError(f"{name} must be a single series: 1-D for one channel, else 2-D; it is a {np.ndim(data)}-D array")
    elif np.ndim(data) == 2 and layout in ("ntd", "nct") and not is_frame(data):
        found = _from_cube(as_array(data, name)[None], layout, name)
    else:
        found = _from_list([data], layout, name)
    if len(found) != 1:
        raise DataError(f"{name} must be a single series, and there are {len(found)}")
    return found


def as_array(data: Any, name: str) -> NDArray[Any]:
    """An array of what was given. A masked value is a missing one, so it becomes NaN."""
    if isinstance(data, np.ma.MaskedArray):
        if data.dtype.kind not in "biuf":
            raise DataError(f"{name} is a masked array of the type {data.dtype}; give one of numbers")
        filled: NDArray[np.float64] = np.ma.filled(data.astype(np.float64), np.nan)
        return filled
    if hasattr(data, "__dlpack__") and not hasattr(data, "__array__"):
        return np.from_dlpack(data)
    return data if type(data) is np.ndarray else np.asarray(data)


def refuse_times(array: NDArray[Any], name: str) -> None:
    """Dates have no zero and no unit of their own, and NaT would become a number."""
    if array.dtype.kind in "mM":
        raise DataError(
            f"{name} is of dates or durations ({array.dtype}), not of numbers; convert them first, as in "
            "(x - x[0]) / numpy.timedelta64(1, 's'), and leave NaT out"
        )


def _floats(array: NDArray[Any], name: str) -> NDArray[np.float64]:
    if array.dtype.kind == "c":
        raise DataError(f"{name}: Complex data not supported; give real and imaginary part as channels")
    refuse_times(array, name)
    try:
        return np.ascontiguousarray(array, dtype=np.float64)
    except (TypeError, ValueError) as problem:
        raise DataError(f"{name} is not of numbers: {problem}") from None


def _from_rows(table: Table) -> _core.SeriesSet:
    return _core.SeriesSet(np.ascontiguousarray(table.values), table.lengths, table.channels, table.times, table.unit)


def _equal(flat: NDArray[np.float64], count: int, steps: int) -> _core.SeriesSet:
    return _core.SeriesSet(flat, np.full(count, steps, dtype=np.int64))


def _from_table(array: NDArray[Any], name: str) -> _core.SeriesSet:
    count, steps = array.shape
    if steps == 0:
        raise DataError(f"{name}: Found array with 0 feature(s) (shape={array.shape}) while a minimum of 1 is required.")
    return _equal(_floats(array, name).reshape(-1, 1), count, steps)


def _from_cube(array: NDArray[Any], layout: Layout, name: str) -> _core.SeriesSet:
    count, second, third = array.shape
    if layout is None:
        raise DataError(
            f"{name} has the shape {array.shape}, which can be read in two ways; state which: layout='ntd' means {count} "
            f"series of {second} steps and {third} channels, layout='nct' {count} series of {second} channels and {third} steps"
        )
    if second == 0 or third == 0:
        raise DataError(f"{name} has the shape {array.shape}: a series needs at least one step and one channel")
    if layout == "nct":
        array = array.transpose(0, 2, 1)
    return _unpadded(_floats(array, name), name)


def _unpadded(cube: NDArray[np.float64], name: str) -> _core.SeriesSet:
    """Series of a 3-D array (series, steps, channels), each up to its last step that has a value: tslearn pads with NaN.

    A missing value before that step is a gap, and stays one.
    """
    count, steps, channels = cube.shape
    # Most arrays are not padded: a look at the last steps says so.
    padded = np.flatnonzero(np.isnan(cube[:, -1]).all(axis=1))
    if len(padded) == 0:
        return _equal(cube.reshape(-1, channels), count, steps)
    lengths = np.full(count, steps, dtype=np.int64)
    for at in padded:
        kept = np.flatnonzero(~np.isnan(cube[at]).all(axis=1))
        if len(kept) == 0:
            raise DataError(f"{name}[{at}] is empty: all its values are NaN; leave it out")
        lengths[at] = kept[-1] + 1
    return _core.SeriesSet(cube[np.arange(steps) < lengths[:, None]], lengths)


def _from_list(items: list[Any], layout: Layout, name: str) -> _core.SeriesSet:
    if not items:
        raise DataError(f"{name}: Found array with 0 sample(s): there is no series")
    if all(is_frame(item) for item in items):
        return _from_rows(read_recordings(items, name))
    arrays: list[NDArray[Any]] = []
    for at, item in enumerate(items):
        framed = is_frame(item)
        array = as_array(item, f"{name}[{at}]")
        refuse_times(array, f"{name}[{at}]")
        if array.ndim == 1:
            array = array.reshape(-1, 1)
        elif array.ndim != 2:
            problem = "scalars; give one array per series. Reshape your data" if array.ndim == 0 else f"{array.ndim}-D arrays"
            raise DataError(f"{name} is a list of {problem}. Expected 2D array, or a list of 1-D or 2-D arrays")
        elif layout is None and not framed:
            rows, columns = array.shape
            raise DataError(
                f"{name}[{at}] has the shape {array.shape}, which can be read in two ways; state which: layout='ntd' means "
                f"{rows} steps of {columns} channels, layout='nct' {rows} channels of {columns} steps"
            )
        elif layout == "nct" and not framed:
            array = array.T
        arrays.append(array)
    channels = arrays[0].shape[1]
    for at, array in enumerate(arrays):
        if array.shape[1] != channels:
            raise DataError(f"{name}[{at}] has {array.shape[1]} channels where {name}[0] has {channels}; give series of one kind")
        if array.shape[0] == 0 or channels == 0:
            raise DataError(f"{name}[{at}] is empty: a series needs at least one step and one channel")
    lengths = np.array([len(array) for array in arrays], dtype=np.int64)
    whole = arrays[0] if len(arrays) == 1 else np.concatenate(arrays)
    return _core.SeriesSet(_floats(whole, name), lengths)


def from_series(series: _core.SeriesSet, layout: Layout = "ntd") -> Any:
    """A 3-D array where all series have one length, else a list of 2-D arrays."""
    if layout not in ("ntd", "nct"):
        raise ParameterError(f"layout = {layout!r}: must be 'ntd' or 'nct'")
    values, lengths = series.values(), series.lengths()
    if len(lengths) and (lengths == lengths[0]).all():
        cube = values.reshape(len(lengths), int(lengths[0]), series.channels)
        return cube if layout == "ntd" else np.ascontiguousarray(cube.transpose(0, 2, 1))
    parts = np.split(values, np.cumsum(lengths)[:-1])
    return [part if layout == "ntd" else np.ascontiguousarray(part.T) for part in parts]
