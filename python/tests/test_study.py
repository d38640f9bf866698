"""Studies, the same as the program's."""

from __future__ import annotations

import json

import pandas
import pytest

import varnorm
from varnorm.errors import FormatError, ParameterError

GRID = {"folds": 2, "repeats": 1, "max_rank": 4, "alphas": [1e-2], "time": [False], "kernels": {"rbf": {"sigma": [1.0, 2.0]}, "mine": {"specs": ["gak"]}}}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """BasicMotions, cut short."""
    folder = tmp_path_factory.mktemp("data")
    (folder / "Motions").mkdir()
    for part, data in zip(("TRAIN", "TEST"), varnorm.datasets.load_basic_motions(), strict=True):
        varnorm.datasets.save(folder / "Motions" / f"Motions_{part}.ts", data.X[:, ::10], data.y, name="Motions", layout="ntd")
    return folder


@pytest.fixture(scope="module")
def result(folder):
    return varnorm.study(folder, "Motions", grid=GRID, n_jobs=2)


def test_it_is_the_program_s_study(folder, result, program, tmp_path):
    (tmp_path / "grid.json").write_text(json.dumps(GRID))
    arguments = ("study", folder, "--datasets", "Motions", "--grid", tmp_path / "grid.json", "--run", tmp_path / "run")
    assert program(*arguments) == result.table()
    assert json.loads(program("study", "show", tmp_path / "run", "--format", "json")) == result.to_json()
    again = varnorm.Study.read(tmp_path / "run")
    assert again.table("latex") == result.table("latex")
    # A run of the program goes on here: nothing is left to do.
    heard = []
    varnorm.study(folder, "Motions", grid=GRID, run=tmp_path / "run", progress=lambda *word: heard.append(word))
    assert heard == []


def test_results_are_frames_and_pictures(result):
    units = result.units()
    assert isinstance(units, pandas.DataFrame) and set(units.kernel) == {"rbf", "mine", "knn"}
    assert set(units["class"]) == {"Standing", "Running", "Walking", "Badminton"}
    assert ((units.roc_low <= units.roc_auc) & (units.roc_auc <= units.roc_high)).all()
    means = result.means().set_index(["kernel", "method"]).roc_auc
    expected = result.to_json()["Motions"]["rbf"]["mahalanobis"]["roc_auc"]
    assert means["rbf", "mahalanobis"] == pytest.approx(expected, rel=1e-12)
    assert result.pivot().loc[("Motions", "C"), "rbf"] == pytest.approx(means["rbf", "conformance"])
    assert set(result.figures()) == {"alphas.svg", "ranks.svg", "scatter.svg"}
    assert result._repr_html_().count("<svg") == 3 and repr(result) == result.table()
    assert result.table("markdown", ["C"]).count("| C |") == 2
    assert result.compare(result)["moved"] == []


def test_pieces_make_the_whole(folder, result, tmp_path):
    for piece in (1, 2):
        varnorm.study(folder, ["Motions"], grid=GRID, run=tmp_path / str(piece), shard=f"{piece}/2")
    whole = varnorm.study_merge([tmp_path / "1", tmp_path / "2"], tmp_path / "whole")
    assert whole.table() == result.table()
    page = varnorm.study_report(tmp_path / "whole", compare=tmp_path / "1")
    assert page.startswith("<!doctype html>") and page.count("<svg") >= 3 and "srcdoc=" in page._repr_html_()


def test_scores_made_elsewhere_are_a_column(folder, tmp_path):
    _, test = varnorm.datasets.load_basic_motions()
    lines = ["dataset,class,series,score"]
    for normal in sorted(set(test.y)):
        lines += [f"Motions,{normal},{at},{float(label != normal)}" for at, label in enumerate(test.y)]
    (tmp_path / "oracle.csv").write_text("\n".join(lines))
    found = varnorm.study(folder, "Motions", kernels=["rbf"], grid=GRID, scores={"oracle": tmp_path / "oracle.csv"})
    units = found.units()
    assert (units[units.kernel == "oracle"].roc_auc == 1.0).all()


def test_mistakes_are_told(folder, tmp_path):
    for wrong, words in [
        (dict(kernels=["rfb"]), "rfb"),
        (dict(grid={"fold": 3}), "unknown field `fold`"),
        (dict(shard="3/2"), "must be k/n"),
        (dict(select="best"), "select = best"),
    ]:
        with pytest.raises(ParameterError, match=words):
            varnorm.study(folder, "Motions", **wrong)
    with pytest.raises(FormatError, match="there is no Nowhere_TRAIN.ts"):
        varnorm.study(folder, "Nowhere")
    with pytest.raises(ParameterError, match="rows are C"):
        varnorm.Study.read(_begun(folder, tmp_path)).table(rows=["Q"])


def _begun(folder, tmp_path):
    grid = varnorm.study_grid() | {"folds": 2, "repeats": 1, "max_rank": 2, "kernels": {"linear": {}}}
    varnorm.study(folder, "Motions", grid=grid, run=tmp_path / "begun", baselines=False)
    return tmp_path / "begun"


def test_the_published_parameters(uea):
    published = uea.parent / "paper" / "published.json"
    if not published.exists():
        pytest.skip(f"{published} is not there")
    found = varnorm.study(uea, "Epilepsy", kernels=["linear", "rbf"], published=published)
    expected = json.loads(published.read_text())["Epilepsy"]["kernels"]
    for kernel in ("linear", "rbf"):
        for method in ("conformance", "mahalanobis"):
            for area in ("roc_auc", "pr_auc"):
                reached = found.to_json()["Epilepsy"][kernel][method][area]
                assert abs(reached - expected[kernel][method][area]) < 1e-4, (kernel, method, area)
    assert "C*" in found.table()
