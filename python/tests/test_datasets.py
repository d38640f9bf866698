"""Files: read, written, converted."""

from __future__ import annotations

import numpy as np
import pytest

from varnorm import datasets
from varnorm.errors import FileError, FormatError, ParameterError


def test_every_format_comes_back_bit_by_bit(walks, tmp_path):
    labels = ["a", "b", "c"] * 10
    for name in ("x.ts", "x.arff", "x.npz", "x.csv"):
        assert datasets.save(tmp_path / name, walks, labels, name="x", layout="ntd") == []
        found = datasets.load(tmp_path / name)
        assert np.array_equal(found.X, walks) and found.y.tolist() == labels, name
    assert np.array_equal(datasets.load_ts(tmp_path / "x.ts", layout="nct").X, walks.transpose(0, 2, 1))
    assert np.array_equal(datasets.load_arff(tmp_path / "x.arff").X, walks)
    unequal = [x[: 5 + at % 7] for at, x in enumerate(walks)]
    datasets.save(tmp_path / "u.ts", unequal, layout="ntd")
    for found, expected in zip(datasets.load(tmp_path / "u.ts").X, unequal, strict=True):
        assert np.array_equal(found, expected)
    for found, expected in zip(datasets.load(tmp_path / "u.ts", layout="nct").X, unequal, strict=True):
        assert np.array_equal(found, expected.T)


def test_names_are_kept_and_checked(walks, tmp_path):
    names = [f"run {at}" for at in range(30)]
    path = tmp_path / "named.csv"
    datasets.save(path, walks, layout="ntd", case_names=names, channel_names=["x", "y", "z"])
    found = datasets.load_csv(path)
    assert found.case_names == names and found.channel_names == ["x", "y", "z"] and found.y is None
    with pytest.raises(ParameterError, match="channel_names = 2 of them: there must be 3"):
        datasets.save(path, walks, layout="ntd", channel_names=["x", "y"])
    with pytest.raises(FormatError, match="cannot hold"):
        datasets.save(tmp_path / "named.npy", walks, layout="ntd", case_names=names)
    assert datasets.save(tmp_path / "named.npy", walks, layout="ntd", case_names=names, lossy=True) == ["case names"]


def test_files_that_cannot_be_read_say_where(tmp_path):
    with pytest.raises(FileError, match="cannot read .*none.ts"):
        datasets.load(tmp_path / "none.ts")
    (tmp_path / "bad.ts").write_text("@data\n1,2\n1,x\n")
    with pytest.raises(FormatError, match="bad.ts: line 3"):
        datasets.load_ts(tmp_path / "bad.ts")
    with pytest.raises(ParameterError, match="csv_layout = tall"):
        datasets.load_csv(tmp_path / "bad.ts", csv_layout="tall")


def test_a_published_split(uea):
    train, test = datasets.load_split(uea, "BasicMotions")
    ours = datasets.load_basic_motions()
    for found, expected in zip((train, test), ours, strict=True):
        assert np.array_equal(found.X, expected.X) and np.array_equal(found.y, expected.y)
