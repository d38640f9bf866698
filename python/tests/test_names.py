"""Channels go by their names and series by their times, whatever table they come in."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas
import polars
import pyarrow
import pytest

import varnorm
from varnorm import NoveltyDetector, to_series
from varnorm.errors import DataError, VarnormError, VarnormWarning

NAMES = ["pressure", "flow", "heat"]


def frames(walks: np.ndarray) -> list[pandas.DataFrame]:
    return [pandas.DataFrame(x, columns=NAMES) for x in walks]


def multi(walks: np.ndarray) -> pandas.DataFrame:
    index = pandas.MultiIndex.from_product([range(len(walks)), range(walks.shape[1])], names=["instance", "time"])
    return pandas.DataFrame(walks.reshape(-1, 3), columns=NAMES, index=index)


def quiet(call):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found = call()
    return found, [str(one.message) for one in told if issubclass(one.category, VarnormWarning)]


def test_every_table_of_several_series_is_the_same_series(walks):
    expected = to_series(walks, "ntd")
    nested = pandas.DataFrame({name: [pandas.Series(x[:, at]) for x in walks] for at, name in enumerate(NAMES)})
    long = multi(walks).reset_index().rename(columns={"instance": "case_id"})
    tables = [
        multi(walks),
        frames(walks),
        [polars.from_pandas(frame) for frame in frames(walks)],
        [pyarrow.Table.from_pandas(frame, preserve_index=False) for frame in frames(walks)],
        [frame.assign(time=np.arange(len(frame)) * 1.0) for frame in frames(walks)],
        nested,
        long,
        polars.from_pandas(long),
        pyarrow.Table.from_pandas(long),
    ]
    for table in tables:
        found = to_series(table)
        assert found.lengths().tolist() == expected.lengths().tolist()
        assert np.array_equal(found.values(), expected.values())
        assert found.channel_names == NAMES
        assert found.sampling_step is None
    detector = NoveltyDetector("flat_rbf").fit(multi(walks))
    assert detector.n_series_in_ == len(walks)
    assert detector.channel_names_ == NAMES


def test_columns_are_matched_by_name(walks):
    order = ["heat", "pressure", "flow"]
    mixed = [frame if at % 2 else frame[order] for at, frame in enumerate(frames(walks)[::-1])][::-1]
    assert np.array_equal(to_series(mixed).values(), to_series(walks, "ntd").values())
    for fitted_on in (frames(walks), multi(walks)):
        detector = NoveltyDetector("flat_rbf").fit(fitted_on)
        expected, told = quiet(lambda: detector.pvalues(frames(walks)))
        assert not told
        for table in ([frame[order] for frame in frames(walks)], multi(walks)[order]):
            found, told = quiet(lambda table=table: detector.pvalues(table))
            assert np.array_equal(found, expected)
            assert told == ["the channels are in another order than in the model; they were matched by name"]
        found, told = quiet(lambda: detector.pvalues(multi(walks).assign(more=1.0)))
        assert np.array_equal(found, expected)
        assert told == ["channels that the model lacks were ignored: more"]
        detector.set_params(layout="ntd")
        found, told = quiet(lambda: detector.pvalues(walks))
        assert np.array_equal(found, expected)
        assert told == ["the data do not name their channels; they are taken by position: pressure, flow, heat"]
        detector.set_params(layout=None)
        with pytest.raises(VarnormError, match="a channel of the model is missing: flow; the data have pressure, heat"):
            detector.pvalues(multi(walks)[["pressure", "heat"]])


def test_tables_of_a_list_must_have_the_same_columns(walks):
    one, other = frames(walks[:2])
    for table, words in [
        (other.rename(columns={"flow": "x"}), r"X\[1\] has the channels pressure, x, heat where X\[0\] has .*; flow is missing"),
        (other[["pressure", "flow"]], r"X\[1\] has 2 channels where X\[0\] has 3 \(it lacks heat\)"),
        (other.assign(x=1.0), r"X\[1\] has 4 channels where X\[0\] has 3 \(it has x beside\)"),
        (other[:0], r"X\[1\] is empty"),
        (other.assign(flow="word"), "the column 'flow' is not of numbers"),
    ]:
        with pytest.raises(DataError, match=words):
            to_series([one, table])


def test_times_are_kept_sorted_and_compared(walks):
    stamps = pandas.date_range("2024-03-01", periods=20, freq="10ms")
    recordings = [frame.set_axis(stamps) for frame in frames(walks)]
    detector = NoveltyDetector("flat_rbf").fit(recordings)
    assert detector.sampling_step_ == "10 ms"
    zoned = [frame.set_axis(stamps.tz_localize("Europe/London")) for frame in frames(walks)]
    expected = detector.novelty(recordings)
    assert np.array_equal(detector.novelty(zoned), expected)
    shuffled = [frame.sample(frac=1, random_state=at) for at, frame in enumerate(recordings)]
    found, told = quiet(lambda: detector.novelty(shuffled))
    assert np.array_equal(found, expected)
    assert told == ["the steps of 30 series were not in the order of their times and were sorted"]
    slow = [frame.set_axis(pandas.date_range("2024-03-01", periods=20, freq="1s")) for frame in frames(walks)]
    with pytest.raises(VarnormError, match="are 1 s apart where those of the model are 10 ms apart"):
        detector.novelty(slow)
    with pytest.raises(VarnormError, match="where most series are 10 ms apart"):
        to_series([*recordings, slow[0]])
    late = stamps.to_series().reset_index(drop=True)
    late[10:] += pandas.Timedelta("1h")
    gap, told = quiet(lambda: detector.novelty([frame.set_axis(pandas.Index(late)) for frame in frames(walks)]))
    assert len(told) == 1 and "30 gaps of more than 1.5 sampling steps" in told[0]
    # Text stamps and durations do as well.
    long = multi(walks).reset_index(level=0)
    texts = long.assign(time=np.tile(stamps.strftime("%d.%m.%Y %H:%M:%S.%f"), 30), case_id=long["instance"]).drop(columns="instance")
    assert np.array_equal(detector.novelty(texts), expected)
    apart = [frame.set_axis(pandas.to_timedelta(np.arange(20) * 10, unit="ms")) for frame in frames(walks)]
    assert to_series(apart).sampling_step == "10 ms"


def test_what_a_model_knows_survives_files_and_pickles(walks, tmp_path):
    stamps = pandas.date_range("2024-03-01", periods=20, freq="10ms")
    detector = NoveltyDetector("flat_rbf").fit([frame.set_axis(stamps) for frame in frames(walks)])
    detector.save(tmp_path / "a.model")
    for again in (NoveltyDetector.load(tmp_path / "a.model"), pickle.loads(pickle.dumps(detector))):
        assert (again.channel_names_, again.sampling_step_) == (NAMES, "10 ms")
    series = to_series(frames(walks))
    again = pickle.loads(pickle.dumps(series))
    assert again.channel_names == NAMES and np.array_equal(again.values(), series.values())
    assert series.select([1, 0]).channel_names == NAMES


def test_a_single_series_gets_a_hint(walks):
    detector = NoveltyDetector("flat_rbf", layout="ntd").fit(walks)
    for call in (detector.novelty, detector.predict, NoveltyDetector(layout="ntd").fit):
        with pytest.raises(DataError, match=r"for a single series give X\[None\]"):
            call(walks[0])
    with pytest.raises(DataError, match=r"for a single series give X\[None\]"):
        varnorm.gram("flat_rbf", walks[0], layout="ntd")
    timed = frames(walks)[0].set_axis(pandas.date_range("2024-03-01", periods=20, freq="1s"))
    with pytest.raises(DataError, match=r"it is a single recording; give a list of tables, as in \[X\]"):
        NoveltyDetector().fit(timed)


class Tensor:
    """What has DLPack and nothing else."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    def __dlpack__(self, **options: object) -> object:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()


def test_tensors_are_arrays(walks):
    assert np.array_equal(to_series(Tensor(walks.copy()), "ntd").values(), to_series(walks, "ntd").values())


def test_errors_name_the_channel(walks):
    tables = frames(walks)
    detector = NoveltyDetector("flat_rbf").fit(tables)
    tables[3].loc[4, "flow"] = np.nan
    for call in (detector.novelty, NoveltyDetector("flat_rbf").fit):
        with pytest.raises(DataError, match="channel 1, named flow: series 3, step 4, channel 1: the value is missing"):
            call(tables)
    constant = [frame.assign(heat=1.0) for frame in frames(walks)]
    _, told = quiet(lambda: NoveltyDetector("flat_rbf").fit(constant))
    assert any("channel heat is constant in the corpus" in words for words in told)
    explanation = detector.explain(frames(walks)[0])
    assert explanation.channel_names == NAMES
    assert any(f"channel {name} (" in repr(explanation) for name in NAMES)
