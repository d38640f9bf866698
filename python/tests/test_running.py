"""Long calls: stopped by Ctrl-C, told of progress, without Python's lock; short calls: little overhead, no leaks."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import varnorm
from varnorm.errors import ParameterError

LONG = """
import os, sys, threading, time
import numpy as np, varnorm
work, target = sys.argv[1], sys.argv[2]
data = np.random.default_rng(0).standard_normal((900, 300, 2)).cumsum(axis=1)
detector = varnorm.NoveltyDetector("gak", layout="ntd", n_jobs=2, prepare="none")
calls = {
    "gram": lambda: varnorm.gram("gak", data, layout="ntd", n_jobs=2),
    "fit": lambda: detector.fit(data).save(target),
    "one": lambda: varnorm.gram("sig_pde", data[:, :100], layout="ntd"),
    "eigen": lambda: varnorm.VarianceNorm.from_vectors(np.random.default_rng(0).standard_normal((3000, 3000))),
    "study": lambda: varnorm.study(target, ["D"], kernels=["gak"], run=target + "/run"),
}
print("go", flush=True)
try:
    calls[work]()
    print("finished")
except KeyboardInterrupt:
    print("stopped", flush=True)
    os._exit(0)
"""


def dataset(folder):
    """A data set for a study that takes long."""
    (folder / "D").mkdir()
    generator = np.random.default_rng(1)
    for part in ("TRAIN", "TEST"):
        X, y = generator.standard_normal((60, 80, 2)), ["a", "b"] * 30
        varnorm.datasets.save(folder / "D" / f"D_{part}.ts", X, y, name="D", layout="ntd")


@pytest.mark.parametrize("work", ["gram", "fit", "one", "eigen", "study"])
def test_ctrl_c_stops_the_work(work, tmp_path):
    target = tmp_path / "model"
    if work == "study":
        dataset(tmp_path)
        target = tmp_path
    process = subprocess.Popen(
        [sys.executable, "-c", LONG, work, str(target)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "go\n"
    # Time to begin. The work takes half a minute: if it were not stopped, it would say that it has finished.
    time.sleep(1.0)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=600)
    assert out.startswith("stopped"), (out, err)
    if work == "fit":
        assert os.listdir(tmp_path) == []
    if work == "study":
        # Every line is whole.
        varnorm.Study.read(tmp_path / "run").units()


def test_progress_is_told_and_can_stop(walks):
    data = np.random.default_rng(0).standard_normal((400, 100, 2))
    heard = []
    varnorm.gram("gak:sigma=9", data, layout="ntd", progress=lambda *word: heard.append(word))
    stage, done, total = heard[-1]
    assert len(heard) > 1 and stage == "kernel values" and done == total
    assert all(isinstance(word[0], str) and 0 < word[1] <= word[2] for word in heard)

    asked = []

    def stop(*word):
        asked.append(word)
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        varnorm.gram("sig_pde", np.tile(data, (3, 1, 1)), layout="ntd", progress=stop)
    assert len(asked) == 1, "it went on after it was told to stop"
    with pytest.raises(ParameterError, match="must be True, False or a function"):
        varnorm.gram("flat_rbf", walks, layout="ntd", progress="yes")


def test_a_bar_is_drawn_by_tqdm(walks, capsys):
    pytest.importorskip("tqdm")
    data = np.random.default_rng(0).standard_normal((400, 100, 2))
    varnorm.gram("gak:sigma=9", data, layout="ntd", progress=True)
    assert "kernel values" in capsys.readouterr().err


def test_python_goes_on_meanwhile():
    data = np.random.default_rng(0).standard_normal((500, 100, 2))
    ticks, over = [], threading.Event()

    def tick():
        while not over.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.01)

    thread = threading.Thread(target=tick)
    thread.start()
    began = time.monotonic()
    varnorm.gram("gak:sigma=9", data, layout="ntd")
    took = time.monotonic() - began
    over.set()
    thread.join()
    during = [tick for tick in ticks if began <= tick <= began + took]
    # With the lock held there would be a tick at the beginning and one at the end.
    assert len(during) > 2, (took, len(during))


def test_a_forked_child_works_too(walks):
    expected = varnorm.gram("gak:sigma=9", walks, layout="ntd", n_jobs=2)
    child = os.fork()
    if child == 0:
        same = np.array_equal(varnorm.gram("gak:sigma=9", walks, layout="ntd", n_jobs=2), expected)
        os._exit(0 if same else 1)
    for _ in range(6000):
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            assert status == 0
            return
        time.sleep(0.05)
    os.kill(child, signal.SIGKILL)
    pytest.fail("the child did not come back")


LEAK = """
import gc, os
import numpy as np, varnorm
def resident():
    gc.collect()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
data = np.random.default_rng(0).standard_normal((40, 100, 6))
def fits(count):
    for _ in range(count):
        detector = varnorm.NoveltyDetector("flat_rbf", layout="ntd", calibration="leave_one_out").fit(data)
        detector.novelty(data)
        varnorm.gram("flat_rbf", data, layout="ntd", n_jobs=2)
fits(200)
before = resident()
fits(1000)
print((resident() - before) / data.nbytes)
"""


def test_a_thousand_fits_leave_no_memory_behind():
    # A leak of one array per fit would show as a growth of a thousand arrays.
    found = subprocess.run([sys.executable, "-c", LEAK], capture_output=True, text=True, check=True).stdout
    assert float(found) < 20, found


def test_too_many_series_are_an_error_and_not_the_end():
    program = """
import resource
import numpy as np
import varnorm
resource.setrlimit(resource.RLIMIT_AS, (4_000_000_000, 4_000_000_000))
X = np.random.default_rng(0).normal(size=(60_000, 3))
for call in (lambda: varnorm.NoveltyDetector("flat_rbf").fit(X), lambda: varnorm.gram("flat_linear", X)):
    try:
        call()
    except MemoryError as problem:
        assert isinstance(problem, varnorm.errors.OutOfMemory), problem
        print("GB" in str(problem) and "landmarks" in str(problem))
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (0, "True\nTrue\n"), ran.stderr
