"""What tests share: reference data beside the project, the program, recordings."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import varnorm

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared"


def shared_json(name: str) -> Any:
    path = SHARED / name
    if not path.exists():
        pytest.skip(f"{path} is not there")
    return json.loads(path.read_text())


@pytest.fixture(scope="session")
def uea() -> Path:
    folder = SHARED / "uea"
    if not folder.is_dir():
        pytest.skip(f"{folder} is not there")
    return folder


@pytest.fixture(scope="session")
def program() -> Any:
    """Runs the program; its path is in VARNORM_PROGRAM or in target/debug."""
    path = Path(os.environ.get("VARNORM_PROGRAM", ROOT / "target" / "debug" / "varnorm"))
    if not path.exists():
        pytest.skip(f"{path} is not built")

    def run(*arguments: object, check: bool = True, cwd: Path | None = None) -> str:
        found = subprocess.run([path, *map(str, arguments)], capture_output=True, text=True, cwd=cwd)
        assert found.returncode == 0 or not check, found.stderr
        return found.stdout

    return run


@pytest.fixture(scope="session")
def motions() -> tuple[varnorm.datasets.Dataset, varnorm.datasets.Dataset]:
    return varnorm.datasets.load_basic_motions()


@pytest.fixture()
def walks() -> np.ndarray:
    """Random walks: 30 series of 20 steps and 3 channels."""
    return np.random.default_rng(7).standard_normal((30, 20, 3)).cumsum(axis=1)
