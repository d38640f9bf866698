"""Variance norms of samples, and areas under curves, against scikit-learn and the golden file."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import shared_json
from sklearn.covariance import EmpiricalCovariance
from sklearn.metrics import average_precision_score, roc_auc_score

import varnorm
from varnorm import VarianceNorm
from varnorm.errors import DataError, ParameterError


def test_vectors_of_full_rank_have_the_mahalanobis_distance_of_scikit_learn():
    generator = np.random.default_rng(3)
    mix = generator.standard_normal((6, 6)) * np.geomspace(1, 1e-3, 6)
    X = generator.standard_normal((200, 6)) @ mix + 5
    queries = generator.standard_normal((50, 6)) @ mix + 5
    theirs = EmpiricalCovariance().fit(X).mahalanobis(queries)
    norm = VarianceNorm.from_vectors(X)
    np.testing.assert_allclose(norm.mahalanobis(queries, norm="exact") ** 2, theirs, rtol=1e-9)


def test_inner_products_and_coordinates_are_other_ways_to_the_same():
    generator = np.random.default_rng(4)
    X, queries = generator.standard_normal((200, 6)), generator.standard_normal((50, 6))
    theirs = EmpiricalCovariance().fit(X).mahalanobis(queries)
    # Around any point: the mean is taken off by the norm itself.
    by_gram = VarianceNorm.from_gram(X @ X.T)
    found = by_gram.mahalanobis(queries @ X.T, squares=(queries**2).sum(axis=1), norm="tikhonov", alpha=0.0)
    np.testing.assert_allclose(found**2, theirs, rtol=1e-9)
    mix = generator.standard_normal((6, 6))
    coordinates = VarianceNorm.from_coordinates(X @ mix)
    np.testing.assert_allclose(coordinates.mahalanobis(queries @ mix, norm="exact") ** 2, theirs, rtol=1e-9)


def test_the_golden_file_at_its_full_rank():
    golden = shared_json("golden/algorithms.json")
    rank, threshold = golden["max_rank"], golden["eigenvalue_threshold"]
    norm = VarianceNorm.from_gram(golden["gram"], max_rank=rank, eigenvalue_threshold=threshold)
    np.testing.assert_allclose(norm.eigenvalues, golden["eigenvalues"], rtol=1e-12)
    seen = 0
    for case in golden["by_alpha"]:
        for name in ("tikhonov", "envelope"):
            for distance in ("mahalanobis", "conformance"):
                expected = case.get(f"{name}_{distance}_by_rank")
                if expected is None:
                    continue
                measured = norm.measure(
                    golden["cross"], squares=golden["self_query"], norm=name, alpha=case["alpha"], distance=distance
                )
                np.testing.assert_allclose(measured.scores, [by_rank[-1] for by_rank in expected], rtol=1e-9)
                assert (measured.nearest is None) == (distance == "mahalanobis")
                seen += 1
    assert seen == 18


def test_functions_on_finer_grids_have_the_same_norm():
    # The same sample of two modes on [0, 1], seen on two grids: norms agree to the rule's accuracy.
    weights = np.random.default_rng(5).standard_normal((40, 2))

    def seen(grid, weights):
        return weights @ np.stack([np.sin(np.pi * grid), np.sin(2 * np.pi * grid)])

    query, found = np.array([[1.0, -2.0]]), []
    for points in (51, 201):
        grid = np.linspace(0, 1, points)
        norm = VarianceNorm.from_functions(seen(grid, weights), grid)
        found.append(norm.mahalanobis(seen(grid, query), alpha=0.1)[0])
    assert abs(found[0] - found[1]) < 1e-3
    cube = VarianceNorm.from_functions(np.ones((5, 51, 2)) * weights[:5, None, :], np.linspace(0, 1, 51))
    assert len(cube.eigenvalues) == 2


def test_off_the_span_the_exact_norm_is_infinite():
    norm = VarianceNorm.from_vectors([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [3.0, 0.0]])
    measured = norm.measure([[1.5, 0.25]], norm="exact")
    assert np.isinf(measured.scores[0]) and measured.off_span[0] == pytest.approx(0.25) and norm.tolerance < 0.25
    assert norm.conformance([[3.0, 0.0]], norm="envelope")[0] == pytest.approx(0.0, abs=1e-9)


def test_series_under_a_kernel_and_the_gaussian_law(walks):
    norm = VarianceNorm.from_kernel("flat_linear", walks, normalize=False, layout="ntd")
    flat = VarianceNorm.from_vectors(walks.reshape(30, -1), eigenvalue_threshold=1e-10 * norm.eigenvalues[0])
    scores = norm.mahalanobis(walks)
    np.testing.assert_allclose(scores, flat.mahalanobis(walks.reshape(30, -1)), rtol=1e-7)
    p = norm.gaussian_pvalues(np.sort(scores))
    assert ((p >= 0) & (p <= 1)).all() and (np.diff(p) <= 0).all()


def test_mistakes_are_told():
    with pytest.raises(ParameterError, match="needs the inner product of each element with itself"):
        VarianceNorm.from_gram(np.eye(3)).mahalanobis(np.eye(3))
    with pytest.raises(DataError, match=r"squares has the shape \(2,\)"):
        VarianceNorm.from_gram(np.eye(3)).mahalanobis(np.eye(3), squares=[1.0, 1.0])
    with pytest.raises(ParameterError, match="a Gram matrix is symmetric"):
        VarianceNorm.from_gram([[1.0, 2.0], [0.0, 1.0]])
    with pytest.raises(ParameterError, match="norm = exakt"):
        VarianceNorm.from_vectors(np.eye(3)).mahalanobis(np.eye(3), norm="exakt")
    with pytest.raises(ParameterError, match="distance = far: is not a distance; choose one of conformance"):
        VarianceNorm.from_vectors(np.eye(3)).measure(np.eye(3), distance="far")
    with pytest.raises(ParameterError, match="as many columns as the sample"):
        VarianceNorm.from_vectors(np.eye(3)).mahalanobis(np.eye(2))
    with pytest.raises(DataError, match="one element per row"):
        VarianceNorm.from_vectors(np.ones(3))


def test_areas_are_those_of_scikit_learn():
    generator = np.random.default_rng(11)
    for size, values in [(7, 3), (60, 1000), (500, 20), (2000, 5)]:
        scores = generator.integers(0, values, size) / 7
        positive = generator.random(size) < 0.3
        positive[:2] = True, False
        assert abs(varnorm.metrics.roc_auc(positive, scores) - roc_auc_score(positive, scores)) < 1e-12
        found = varnorm.metrics.average_precision(positive, scores)
        assert abs(found - average_precision_score(positive, scores)) < 1e-12
    with pytest.raises(ParameterError, match="as many as there are labels"):
        varnorm.metrics.roc_auc([True], [1.0, 2.0])
    with pytest.raises(ParameterError, match="NaN at 1"):
        varnorm.metrics.average_precision([True, False], [1.0, np.nan])
