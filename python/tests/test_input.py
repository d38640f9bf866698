"""Arrays, lists and tables become the same series; what could be read in two ways is refused."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pandas
import polars
import pyarrow
import pytest

import varnorm
from varnorm import NoveltyDetector, from_series, to_series
from varnorm.errors import DataError, ParameterError

KERNEL = "gak:sigma=3"


@pytest.fixture()
def expected(walks):
    return varnorm.gram(KERNEL, walks, layout="ntd")


def test_every_form_is_the_same_series(walks, expected):
    strided = np.zeros((60, 20, 6))[::2, :, ::2]
    strided[:] = walks
    frozen = walks.copy()
    frozen.flags.writeable = False
    forms = [
        (walks.transpose(0, 2, 1), "nct"),
        (np.ascontiguousarray(walks.transpose(0, 2, 1)), "nct"),
        (strided, "ntd"),
        (np.asfortranarray(walks), "ntd"),
        (frozen, "ntd"),
        (list(walks), "ntd"),
        ([x.T for x in walks], "nct"),
        ([pandas.DataFrame(x) for x in walks], None),
        (to_series(walks, "ntd"), None),
    ]
    for data, layout in forms:
        assert np.array_equal(varnorm.gram(KERNEL, data, layout=layout), expected)
    single = walks.astype(np.float32)
    assert np.array_equal(
        varnorm.gram(KERNEL, single, layout="ntd"), varnorm.gram(KERNEL, single.astype(float), layout="ntd")
    )


def test_one_channel_needs_no_layout(walks):
    table = np.ascontiguousarray(walks[:, :, 0])
    expected = varnorm.gram(KERNEL, walks[:, :, :1], layout="ntd")
    for data in (table, list(table), table.tolist(), pandas.DataFrame(table), polars.DataFrame(table)):
        assert np.array_equal(varnorm.gram(KERNEL, data), expected)
    unequal = [x[: 10 + at % 5] for at, x in enumerate(table)]
    assert to_series(unequal).lengths().tolist() == [len(x) for x in unequal]
    assert [x[:, 0].tolist() for x in from_series(to_series(unequal))] == [x.tolist() for x in unequal]


def long_table(walks: np.ndarray) -> pandas.DataFrame:
    parts = []
    for at in (2, 0, 1):
        steps = 20 - at
        frame = pandas.DataFrame(walks[at, :steps], columns=["x", "y", "z"])
        frame.insert(0, "time", np.arange(steps) * 0.5)
        frame.insert(0, "case_id", f"case {at}")
        parts.append(frame)
    return pandas.concat(parts)


def test_long_tables_of_every_library(walks):
    frame = long_table(walks)
    expected = varnorm.gram(KERNEL, [walks[2, :18], walks[0], walks[1, :19]], layout="ntd")
    shuffled = pandas.concat([frame[:1], frame[1:].sample(frac=1, random_state=1)])
    shuffled["label"] = "a"
    tables = [frame, polars.from_pandas(frame), pyarrow.Table.from_pandas(frame)]
    for table in tables:
        assert np.array_equal(varnorm.gram(KERNEL, table, layout="long"), expected)
    # Whatever the order of rows: steps are in the order of time, series in that of their first rows.
    found = to_series(shuffled, "long")
    assert sorted(found.lengths().tolist()) == [18, 19, 20]
    assert np.array_equal(found.values()[:18], walks[2, :18])


def test_a_long_table_that_cannot_be_read_says_why(walks):
    frame = long_table(walks)
    for table, words in [
        (frame.drop(columns="time"), "needs a case column and a time column"),
        (frame[["case_id", "time"]], "no column of values"),
        (pandas.concat([frame, frame[:1]]), "two rows at time"),
        (frame.assign(x="word"), "not of numbers"),
        (frame.assign(id=1), "have the same meaning"),
        (walks, "must be a table"),
    ]:
        with pytest.raises(DataError, match=words):
            to_series(table, "long")


def test_what_can_be_read_in_two_ways_is_refused(walks):
    for data, words in [
        (walks, r"layout='ntd' means 30 series of 20 steps and 3 channels, layout='nct' 30 series of 20 channels and 3 steps"),
        (list(walks), r"X\[0\] has the shape \(20, 3\)"),
        (walks[0, 0], "Reshape your data"),
        ([1.0, 2.0], "scalars"),
        ([walks[0], walks[1, :, :2]], "state which"),
        ([], "no series"),
        (np.array([["a", "b"]]), "not of numbers"),
        (np.ones((2, 2), dtype=complex), "Complex data not supported"),
        (np.ones((2, 0)), "0 feature"),
    ]:
        with pytest.raises(DataError, match=words):
            to_series(data)
    with pytest.raises(DataError, match=r"X\[1\] has 2 channels where X\[0\] has 3"):
        to_series([walks[0], walks[1, :, :2]], "ntd")
    with pytest.raises(DataError, match="at least one step"):
        to_series([walks[0], walks[1, :0]], "ntd")
    with pytest.raises(ParameterError, match="must be 'ntd', 'nct', 'long' or None"):
        to_series(walks, "tnd")  # type: ignore[arg-type]


def test_a_model_keeps_to_its_channels_and_steps(walks):
    detector = NoveltyDetector("flat_rbf", layout="ntd").fit(walks)
    with pytest.raises(DataError, match="have 2 channels where 3 are expected"):
        detector.predict(walks[:, :, :2])
    with pytest.raises(DataError, match="10 steps where 20 are expected"):
        detector.predict(walks[:, :10])
    table = NoveltyDetector().fit(walks[:, :, 0])
    with pytest.raises(ValueError, match="X has 10 features, but NoveltyDetector is expecting 20 features"):
        table.predict(walks[:, :10, 0])


def test_a_contiguous_array_is_not_copied(walks):
    for data, layout in [(walks, "ntd"), (np.ascontiguousarray(walks[:, :, 0]), None), ([walks[0]], "ntd")]:
        series = to_series(data, layout)
        assert series.is_view
    changed = walks.copy()
    series = to_series(changed, "ntd")
    changed[0, 0, 0] = 123.0
    assert series.values()[0, 0] == 123.0
    # A model is another matter: it must not change with the caller's array.
    for prepare in ("none", "standard"):
        changed = walks.copy()
        detector = NoveltyDetector(prepare=prepare, layout="ntd").fit(changed)
        before = detector.novelty(walks)
        changed[:] = 0.0
        assert np.array_equal(detector.novelty(walks), before)


def test_padding_with_nan_says_how_long_series_are(walks):
    unequal = [x[: 8 + at % 13] for at, x in enumerate(walks)]
    padded = np.full((30, 20, 3), np.nan)
    for at, x in enumerate(unequal):
        padded[at, : len(x)] = x
    expected = varnorm.gram(KERNEL, unequal, layout="ntd")
    channels_first = np.ascontiguousarray(padded.transpose(0, 2, 1))
    for data, layout in [(padded, "ntd"), (channels_first, "nct"), (np.ma.masked_invalid(padded), "ntd")]:
        assert to_series(data, layout).lengths().tolist() == [len(x) for x in unequal]
        assert np.array_equal(varnorm.gram(KERNEL, data, layout=layout), expected)
    # The same for a series on its own.
    detector = NoveltyDetector("gak", layout="ntd").fit(padded)
    assert np.array_equal(detector.novelty(padded), detector.novelty(unequal))
    assert detector.explain(padded[3]).to_json() == detector.explain(unequal[3]).to_json()
    with pytest.raises(DataError, match="19 steps|20 steps|one length|lengths"):
        NoveltyDetector("flat_rbf", layout="ntd").fit(padded)
    # A gap is no end: not in the middle, and not in one channel alone.
    for place in [(4, 5), (4, 5, 1), (12, 19, 1)]:
        gap = padded.copy()
        gap[place] = np.nan
        with pytest.raises(DataError, match=f"series {place[0]}, step {place[1]}, channel {place[2] if len(place) > 2 else 0}"):
            detector.novelty(gap)
    padded[7] = np.nan
    with pytest.raises(DataError, match=r"X\[7\] is empty: all its values are NaN"):
        to_series(padded, "ntd")


def test_arrays_of_tslearn_are_read(walks):
    utils = pytest.importorskip("tslearn.utils", reason="tslearn is not installed")
    unequal = [x[: 8 + at % 13] for at, x in enumerate(walks)]
    data = utils.to_time_series_dataset(unequal)
    assert data.shape == (30, 20, 3) and np.isnan(data).any()
    assert np.array_equal(varnorm.gram(KERNEL, data, layout="ntd"), varnorm.gram(KERNEL, unequal, layout="ntd"))


MEMORY = """
import resource, sys
import numpy as np, varnorm
data = np.ones((40, 400_000, 1)); data[:, 0, 0] = np.arange(40)
varnorm.gram("flat_linear", data[:2], layout="ntd")
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
varnorm.gram("flat_linear", data, layout="ntd")
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / (data.nbytes / 1024))
"""


def test_memory_of_a_large_array_is_not_taken_twice():
    # 128 MB of series; what grows is the packing of tiles.
    share = float(subprocess.run([sys.executable, "-c", MEMORY], capture_output=True, text=True, check=True).stdout)
    assert share < 0.5, share


def test_masked_values_are_missing_values(walks):
    marked = walks.copy()
    marked[3, 4, 1] = -999
    masked = np.ma.masked_values(marked, -999)
    missing = walks.copy()
    missing[3, 4, 1] = np.nan
    detector = NoveltyDetector("flat_rbf", layout="ntd").fit(walks)
    forms = [masked, list(masked), masked.astype(np.float32)]
    for form in forms:
        with pytest.raises(DataError, match="series 3, step 4, channel 1: the value is missing"):
            detector.pvalues(form)
    assert np.isnan(to_series([np.ma.masked_values([1, -999, 2], -999)] * 2).values()).sum() == 2
    filling = dict(prepare="interpolate,standard", layout="ntd")
    found = [NoveltyDetector("flat_rbf", **filling).fit(walks).pvalues(data) for data in (masked, missing)]
    assert np.array_equal(*found)
    # One option decides, when a detector is fitted or when it scores.
    remembered = NoveltyDetector(gaps="interpolate", layout="ntd").fit(missing)
    assert np.array_equal(NoveltyDetector(layout="ntd").fit(walks).set_params(gaps="interpolate").pvalues(masked), NoveltyDetector(gaps="interpolate", layout="ntd").fit(walks).pvalues(missing))
    assert remembered.settings()["gaps"] == "interpolate" and remembered.detector_.views().count("interpolate") == 3
    # A mask that hides nothing changes nothing, and whole numbers may be masked too.
    assert np.array_equal(detector.pvalues(np.ma.array(walks)), detector.pvalues(walks))
    whole = np.ma.masked_equal(np.arange(12).reshape(3, 4), 5)
    assert np.isnan(to_series(whole).values()).sum() == 1


def test_dates_are_no_values(walks):
    dates = np.array([["2024-01-01", "NaT"], ["2024-01-02", "2024-01-03"]], dtype="datetime64[s]")
    frame = long_table(walks)
    frame["when"] = pandas.Timestamp("2024-01-01")
    for data, layout in [
        (dates, None),
        (dates - dates[0, 0], None),
        (dates[:, :, None], "ntd"),
        (list(dates), None),
        (pandas.DataFrame(dates), None),
        (np.ma.array(dates), None),
        (frame, "long"),
        (polars.from_pandas(frame), "long"),
    ]:
        with pytest.raises(DataError, match="numbers"):
            to_series(data, layout)
