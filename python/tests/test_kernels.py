"""Kernels: the same numbers as the golden files, as other libraries and as the program."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest
from conftest import shared_json
from sklearn.base import clone

import varnorm
from varnorm import kernels
from varnorm.errors import DataError, ParameterError

CATALOGUE = json.loads(varnorm._core.catalogue())


def arrays(golden, *names):
    return [[np.array(x) for x in golden[name]] for name in names]


def assert_close(found, expected, relative):
    np.testing.assert_allclose(found, np.array(expected), rtol=relative, atol=relative * 1e-2)


def golden_kernel(case):
    """The kernel of a case, whether logarithms are meant, and how close it has to be."""
    name, params = case["kernel"], dict(case["params"])
    if name == "log_gak":
        return kernels.Gak(sigma=params["sigma"], floor=1e-10), True, 1e-10
    if name == "sig_pde_dyadic":
        dyadic = params.pop("order")
        return kernels.SigPde(dyadic=dyadic, **params), False, 1e-10
    if name == "sig_truncated_order1":
        return kernels.Sig(order=1, **params), False, 1e-12
    if name == "sig_truncated_exact":
        return kernels.Sig(order=params["level"], **params), False, 1e-12
    if name in kernels.BY_NAME:
        return kernels.kernel_from({"kernel": name} | params), False, 1e-12
    return None


def test_the_golden_file():
    golden = shared_json("golden/kernels.json")
    X, Y, ragged = arrays(golden, "X", "Y", "ragged")
    seen = 0
    for case in golden["cases"]:
        found = golden_kernel(case)
        if found is None:
            continue
        kernel, log, relative = found
        assert_close(kernel(X, log=log, layout="ntd"), case["xx"], relative)
        assert_close(kernel(X, Y, log=log, layout="ntd"), case["xy"], relative)
        if "x_ragged" in case:
            assert_close(kernel(X, ragged, log=log, layout="ntd", n_jobs=2), case["x_ragged"], relative)
        seen += 1
    assert seen == 26


def test_untruncated_signatures_of_the_golden_file():
    golden = shared_json("golden/sig_untruncated_exact.json")
    (paths,) = arrays(golden, "paths")
    assert_close(kernels.SigPde(scale=1.0)(paths, layout="ntd"), golden["k"], 1e-8)


def test_tslearn_has_the_same_alignment_kernel(walks):
    metrics = pytest.importorskip("tslearn.metrics", reason="tslearn is not installed")
    unequal = [x[: 12 + at % 9] for at, x in enumerate(walks)]
    from tslearn.utils import to_time_series_dataset

    for data, theirs in [(walks, walks), (unequal, to_time_series_dataset(unequal))]:
        for sigma in (3.0, 12.0):
            found = varnorm.gram(kernels.Gak(sigma=sigma), data, normalize=True, layout="ntd")
            # tslearn's k / (2 - k) has a floor of its own far below what matters at these bandwidths.
            np.testing.assert_allclose(found, metrics.cdist_gak(theirs, sigma=sigma), rtol=0, atol=1e-10)


def test_pysiglib_has_the_same_signature_kernel(walks):
    pysiglib = pytest.importorskip("pysiglib", reason="pysiglib needs PyTorch: see requirements-peers.txt")
    data = np.ascontiguousarray(walks[:8] * 0.2)
    for dyadic in (0, 1, 2):
        found = varnorm.gram(kernels.SigPde(scale=1.0, dyadic=dyadic), data, layout="ntd")
        np.testing.assert_allclose(found, pysiglib.sig_kernel_gram(data, data, dyadic_order=dyadic), rtol=1e-10)
        found = varnorm.gram(kernels.SigPde(lift="rbf", sigma=1.5, scale=1.0, dyadic=dyadic), data, layout="ntd")
        lift = pysiglib.RBFKernel(2 * 1.5**2)
        theirs = pysiglib.sig_kernel_gram(data, data, dyadic_order=dyadic, static_kernel=lift)
        np.testing.assert_allclose(found, theirs, rtol=1e-10)


@pytest.mark.parametrize("info", CATALOGUE, ids=lambda info: info["name"])
def test_every_kernel_is_an_object_with_the_program_s_words(info, walks, program, tmp_path):
    kernel = kernels.kernel_from(info["example"])
    assert type(kernel) is kernels.BY_NAME[info["name"]]
    assert kernels.kernel_from(kernel.to_words()) == kernel == pickle.loads(pickle.dumps(kernel)) == clone(kernel)
    data = walks * 0.05
    np.save(tmp_path / "walks.npy", data)
    program("gram", tmp_path / "walks.npy", "--kernel", kernel.to_words(), "--normalize", "-o", tmp_path / "gram.npy")
    found = varnorm.gram(kernel, data, normalize=True, layout="ntd", n_jobs=2)
    assert np.array_equal(found, np.load(tmp_path / "gram.npy"))
    # Every parameter left to itself: worked out from the columns.
    bare = kernels.BY_NAME[info["name"]]()
    assert np.array_equal(bare(data, layout="ntd"), bare.resolve(data, layout="ntd")(data, layout="ntd"))


def test_preparation_is_learned_from_the_columns(walks, program, tmp_path):
    np.save(tmp_path / "x.npy", walks[:10])
    np.save(tmp_path / "y.npy", walks[10:])
    arguments = ("--kernel", "flat_rbf", "--prepare", "published", "-o", tmp_path / "gram.npy")
    program("gram", tmp_path / "x.npy", tmp_path / "y.npy", *arguments)
    found = varnorm.gram("flat_rbf", walks[:10], walks[10:], prepare="published", layout="ntd")
    assert np.array_equal(found, np.load(tmp_path / "gram.npy"))


def test_mistakes_are_told_in_the_library_s_words(walks):
    for kernel, words in [
        ("flat_rfb", "flat_rfb: is not a kernel; choose one of flat_linear, flat_rbf"),
        (kernels.Gak(sigma=-1.0), "sigma = -1: must be a positive number or auto"),
        (kernels.SigPde(dyadic=1, tolerance=1e-9), "give either a tolerance or a dyadic order"),
        ({"kernel": "gak", "tau": 1}, "gak has no such parameter; it has: sigma, band, floor"),
        (3, "kernel = 3: must be a kernel, its words"),
        (kernels.Gak(sigma=object()), "neither a number nor a word"),
    ]:
        with pytest.raises(ParameterError, match=words):
            varnorm.gram(kernel, walks, layout="ntd")
    with pytest.raises(ParameterError, match="gak has no such parameter"):
        kernels.Gak().set_params(tau=1)
    with pytest.raises(DataError, match="a flat kernel needs series of equal length, but series 1 has 19 steps"):
        varnorm.gram("flat_linear", [walks[0], walks[1, 1:]], layout="ntd")
    with pytest.raises(DataError, match=r"series 2, step 3, channel 1: the value is missing \(NaN\)"):
        broken = walks.copy()
        broken[2, 3, 1] = np.nan
        varnorm.gram("flat_linear", broken, layout="ntd")
    assert varnorm.gram("flat_rbf:sigma=1", walks, layout="ntd").shape == (30, 30)
    assert kernels.FlatRbf(sigma=np.float64(1))(walks, layout="ntd").shape == (30, 30)
