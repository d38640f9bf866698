"""The program inside the wheel is the program."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import numpy as np

def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "varnorm", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True)


def test_the_demo_prints_what_the_program_prints(program):
    found = run("demo")
    assert found.returncode == 0, found.stderr
    assert found.stdout == program("demo")


def test_the_script_is_the_module():
    script = Path(sys.executable).with_name("varnorm")
    assert script.exists(), "the wheel has no script"
    found = subprocess.run([script, "--version"], capture_output=True, text=True)
    assert (found.returncode, found.stdout) == (0, run("--version").stdout)


def test_usage_and_exit_codes(program, tmp_path):
    assert "Usage: varnorm" in run("--help").stdout
    wrong = run("score", tmp_path / "none.model", tmp_path / "none.csv")
    assert (wrong.returncode, wrong.stdout) == (2, "") and wrong.stderr.startswith("error: ")
    assert run("no-such-command").returncode == 2
    assert run("kernels", "--format", "json").stdout == program("kernels", "--format", "json")


def test_ctrl_c_stops_it_without_a_traceback(tmp_path):
    np.save(tmp_path / "many.npy", np.random.default_rng(1).standard_normal((3000, 200, 3)))
    command = [sys.executable, "-m", "varnorm", "gram", "many.npy", "--kernel", "gak", "-o", "gram.npy"]
    started = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    # It talks when its handler is there.
    assert started.stderr is not None and started.stderr.readline().startswith("kernel gak")
    started.send_signal(signal.SIGINT)
    _, talk = started.communicate(timeout=60)
    assert started.returncode == 2, talk
    assert "Traceback" not in talk and "nothing was written" in talk
    assert not (tmp_path / "gram.npy").exists()
