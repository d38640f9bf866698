"""The paper's statements, watched, the same as the program's."""

from __future__ import annotations

import json

import pytest

import varnorm
from varnorm.errors import ParameterError


def test_it_is_the_program_s(program, tmp_path):
    found = varnorm.theory(dimension=12, repeats=2, n_jobs=2)
    told = program("theory", "--dimension", 12, "--repeats", 2, "--format", "json", "-o", tmp_path)
    assert found.report == json.loads(told)
    assert {name: (tmp_path / name).read_text() for name in found.pictures} == found.pictures
    assert "slopes -0" in repr(found) and found._repr_html_().count("<svg") == 3
    with pytest.raises(ParameterError, match="alpha = -1: must be positive"):
        varnorm.theory(alpha=-1)
