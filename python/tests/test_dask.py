"""Long work on Dask: the same bits as on one machine, whatever happens to workers, on a real cluster of two processes."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import varnorm
from varnorm.errors import DataError, FileError, FormatError, ParameterError

pytest.importorskip("distributed", reason="dask and distributed are not installed")

import dask
import dask.array
import dask.bag
import psutil
from distributed import Client, LocalCluster, WorkerPlugin

import varnorm.dask

LOCAL = dict(threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address="127.0.0.1:0")
GRID = {"folds": 2, "repeats": 1, "max_rank": 4, "alphas": [1e-2], "time": [False], "kernels": {"rbf": {"sigma": [1.0, 2.0]}, "mine": {"specs": ["gak"]}}}


@pytest.fixture(scope="module")
def client():
    with LocalCluster(n_workers=2, **LOCAL) as cluster, Client(cluster) as client:
        yield client


def series(count, steps, channels=2, seed=0):
    return np.random.default_rng(seed).standard_normal((count, steps, channels)).cumsum(axis=1)


def ragged(count, seed):
    lengths = np.random.default_rng(seed).integers(1, 30, count)
    return [series(1, length, seed=int(at))[0] for at, length in enumerate(lengths)]


class Counting(WorkerPlugin):
    """Writes down what a worker has finished."""

    name = "counting"

    def __init__(self, path):
        self.path = str(path)

    def setup(self, worker):
        self.worker = worker

    def transition(self, key, start, finish, **_):
        if start == "executing" and finish == "memory":
            with open(self.path, "a") as file:
                file.write(f"{key.rsplit('-', 5)[0]}\n")


def counted(client, path):
    """How many tasks of a function workers have finished since."""
    path.touch()
    client.register_plugin(Counting(path))
    return lambda name: path.read_text().split("\n").count(name)


@pytest.fixture()
def finished(client, tmp_path):
    yield counted(client, tmp_path / "finished")
    client.unregister_worker_plugin("counting")


@pytest.fixture()
def doomed():
    """A cluster of its own, to lose a worker of."""
    with LocalCluster(n_workers=2, **LOCAL) as cluster, Client(cluster, set_as_default=False) as client:
        yield client


def kill_one(client):
    """Kills a worker that is at work, without a word."""
    busy = max((len(tasks), address) for address, tasks in client.processing().items())[1]
    os.kill(client.run(os.getpid, workers=[busy])[busy], signal.SIGKILL)


# -- Gram matrices


@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("kernel", ["flat_rbf", "integral_poly", "gak", "vrk", "sig", "sig:level=7", "sig_pde", "sig_random"])
def test_a_gram_matrix_by_blocks_has_the_bits_of_the_whole(client, kernel, normalize):
    if kernel in ("flat_rbf", "integral_poly", "vrk"):
        X, Y = series(23, 12), series(9, 12, seed=1)
    else:
        X, Y = ragged(23, 1), ragged(9, 2)
    options = dict(normalize=normalize, layout="ntd")
    for block, given in [(8, (X,)), (7, (X, Y)), (7, (Y, X))]:
        found = varnorm.dask.gram(kernel, *given, block=block, **options)
        assert found.tobytes() == varnorm.gram(kernel, *given, **options).tobytes()


def test_other_ways_to_ask_for_it(client):
    X, Y = series(23, 12), series(9, 12, seed=1)
    heard = []
    options = dict(prepare="pool=4,zscore=channel", normalize=True, log=True, layout="ntd")
    found = varnorm.dask.gram("gak", X, Y, block=8, client=client, progress=lambda *word: heard.append(word), **options)
    assert found.tobytes() == varnorm.gram("gak", X, Y, **options).tobytes()
    assert heard == [("kernel values", done, 6) for done in range(1, 7)]
    # A size is chosen where none is given: small series in few blocks.
    whole = varnorm.gram("gak", X, normalize=True, layout="ntd")
    assert varnorm.dask.gram("gak", X, normalize=True, layout="ntd").tobytes() == whole.tobytes()
    lazy = varnorm.dask.gram("gak", X, normalize=True, layout="ntd", block=10, compute=False)
    assert lazy.shape == (23, 23) and lazy.chunks == ((10, 10, 3), (10, 10, 3))
    assert lazy.compute().tobytes() == whole.tobytes()
    assert lazy[12:].sum(axis=1).compute() == pytest.approx(whole[12:].sum(axis=1))
    # Without a cluster.
    for scheduler in ("threads", "synchronous"):
        with dask.config.set(scheduler=scheduler):
            assert varnorm.dask.gram("gak", X, normalize=True, layout="ntd", block=10).tobytes() == whole.tobytes()


def test_a_store_goes_on_where_it_was(client, finished, tmp_path):
    X, folder = series(30, 12), tmp_path / "blocks"
    whole = varnorm.gram("sig", X, normalize=True, layout="ntd")
    ask = dict(normalize=True, layout="ntd", store=folder)
    assert varnorm.dask.gram("sig", X, block=8, **ask).tobytes() == whole.tobytes()
    blocks = sorted(folder.glob("*.npy"))
    assert len(blocks) == 10 == finished("_block") and not list(folder.glob(".*"))
    for lost in blocks[3:5]:
        lost.unlink()
    times = {path: path.stat().st_mtime_ns for path in folder.glob("*.npy")}
    # The size of blocks is the store's where it is left out.
    assert varnorm.dask.gram("sig", X, **ask).tobytes() == whole.tobytes()
    assert finished("_block") == 12 and sorted(folder.glob("*.npy")) == blocks
    assert all(path.stat().st_mtime_ns == time for path, time in times.items())
    assert varnorm.dask.gram("sig", X, compute=False, **ask).compute().tobytes() == whole.tobytes()
    for other, word in [(dict(normalize=False), "normalize"), (dict(block=9), "block")]:
        with pytest.raises(FormatError, match=f"another {word}; go on"):
            varnorm.dask.gram("sig", X, **(ask | other))
    with pytest.raises(FormatError, match="another rows"):
        varnorm.dask.gram("sig", X + 1, **ask)


def test_a_file_takes_the_whole(client, finished, tmp_path):
    X, file = series(30, 12), tmp_path / "gram.npy"
    whole = varnorm.gram("gak", X, layout="ntd")
    for _ in range(2):  # the second time it is there
        found = varnorm.dask.gram("gak", X, layout="ntd", block=8, store=file)
        assert isinstance(found, np.memmap) and found.tobytes() == whole.tobytes()
        assert finished("_block") == 10
    assert np.load(file).tobytes() == whole.tobytes()
    assert [path.name for path in (tmp_path / "gram.npy.blocks").iterdir()] == ["gram.json"]
    np.save(tmp_path / "mine.npy", whole)
    with pytest.raises(FormatError, match="was not begun here"):
        varnorm.dask.gram("gak", X, layout="ntd", store=tmp_path / "mine.npy")


@pytest.mark.parametrize("stored", [False, True])
def test_a_lost_worker_costs_its_block(doomed, tmp_path, stored):
    X, folder = series(120, 90, 3), tmp_path / "blocks"
    times, last, finished = {}, [], counted(doomed, tmp_path / "finished")

    def heard(stage, done, total):
        if done == 5:
            times.update({path: path.stat().st_mtime_ns for path in folder.glob("*.npy")})
            kill_one(doomed)
        last.append((done, total))

    store = dict(store=folder) if stored else {}
    found = varnorm.dask.gram("gak:sigma=9", X, normalize=True, layout="ntd", block=20, progress=heard, client=doomed, **store)
    assert found.tobytes() == varnorm.gram("gak:sigma=9", X, normalize=True, layout="ntd", n_jobs=2).tobytes()
    assert last == [(done, 21) for done in range(1, 22)]
    if stored:
        assert len(times) >= 5 and all(path.stat().st_mtime_ns == time for path, time in times.items())
    # What was finished and not yet handed over when the worker died is all that may be done twice.
    assert 21 <= finished("_block") <= 23, finished("_block")


def test_a_client_that_is_not_the_current_one(tmp_path):
    """Futures belong to their client's loop: waiting for them on another's can miss that they are done, and wait for ever."""
    script = tmp_path / "script.py"
    script.write_text(ALONE)
    run = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=600)
    assert run.stdout == "[[5.0, 11.0], [11.0, 25.0]]\n", run.stderr


ALONE = """
from distributed import Client, LocalCluster
import varnorm.dask

if __name__ == "__main__":
    where = dict(host="127.0.0.1", dashboard_address="127.0.0.1:0")
    with LocalCluster(n_workers=1, **where) as cluster, Client(cluster, set_as_default=False) as client:
        print(varnorm.dask.gram("flat_linear", [[1.0, 2.0], [3.0, 4.0]], block=1, client=client).tolist())
"""


def test_mistakes_in_a_gram_matrix_are_told(client):
    for wrong, words in [(dict(block=0), "block = 0"), (dict(kernel="gakk"), "gakk")]:
        with pytest.raises(ParameterError, match=words):
            varnorm.dask.gram(**(dict(kernel="gak", X=series(4, 5), layout="ntd") | wrong))
    # What can be seen before anything is sent is told as by the plain call; what a block finds says where it is.
    with pytest.raises(DataError, match="series 5 has 1 steps where 2 are expected"):
        varnorm.dask.gram("flat_linear", [[1.0, 2.0]] * 5 + [[1.0]], block=4)
    # Whichever task comes first tells it, that of a block or that of self-values: both say from where they count.
    with pytest.raises(DataError, match=r"series 1 and 1 is inf.*\(rows are counted from series 4 here, columns from 4\)"):
        varnorm.dask.gram("flat_linear", [[1.0, 2.0]] * 5 + [[1e200, 0.0]], block=4)
    with pytest.raises(DataError, match=r"series 1 and 1 is inf.*\(rows are counted from series 4 here, columns from 4\)"):
        varnorm.dask.gram("flat_linear", [[1.0, 2.0]] * 5 + [[1e200, 0.0]], block=4, normalize=True)


def test_series_travel_by_pickle_and_may_lie_anywhere():
    given = varnorm.to_series(ragged(5, 3), layout="ntd")
    again = pickle.loads(pickle.dumps(given))
    assert again.values().tobytes() == given.values().tobytes() and again.lengths().tolist() == given.lengths().tolist()
    # As an array that came over a network: three bytes off any boundary.
    values = np.frombuffer(b"abc" + series(4, 6, 1).tobytes(), dtype=np.float64, offset=3).reshape(4, 6)
    assert not values.flags.aligned
    assert varnorm.gram("gak", values).tobytes() == varnorm.gram("gak", values.copy()).tobytes()


# -- scores


@pytest.fixture(scope="module")
def detector():
    train, _ = varnorm.datasets.load_basic_motions()
    return varnorm.NoveltyDetector("integral_rbf", contamination=0.2, layout="ntd").fit(train.X[train.y == "Standing"])


@pytest.fixture(scope="module")
def test_part():
    return varnorm.datasets.load_basic_motions()[1].X


def same_as(detector, X, found, sizes):
    """Whether scored series are what the detector finds about the whole."""
    assert found["score"].tobytes() == detector.novelty(X).tobytes()
    assert found["p_value"].tobytes() == detector.pvalues(X).tobytes()
    assert found["nearest"].tolist() == detector.nearest(X).tolist()
    findings = detector.findings(X)["findings"]
    assert found["novel"].tolist() == [finding["novel"] for finding in findings]
    assert found["outside_span"].tolist() == [finding["outside_span"] for finding in findings]
    assert found["partition"].tolist() == [at for at, size in enumerate(sizes) for _ in range(size)]
    assert found["series"].tolist() == [place for size in sizes for place in range(size)]


def test_scores_of_dask_arrays(client, detector, test_part):
    lazy = dask.array.from_array(test_part, chunks=(15, 30, 2))
    same_as(detector, test_part, varnorm.dask.score(detector, lazy), [15, 15, 10])
    found = varnorm.dask.score(detector, lazy, findings=True, level=0.3, decision="storey")
    assert found == detector.findings(test_part, level=0.3, decision="storey")
    records = varnorm.dask.score(detector, lazy, compute=False)
    assert records.shape == (40,) and records["score"].compute().tobytes() == detector.novelty(test_part).tobytes()
    with dask.config.set(scheduler="threads"):
        same_as(detector, test_part, varnorm.dask.score(detector, lazy), [15, 15, 10])
    table = varnorm.NoveltyDetector("gak", calibration="none").fit(test_part[:, :, 0])
    found = varnorm.dask.score(table, lazy[:, :, 0])
    assert found["score"].tobytes() == table.novelty(test_part[:, :, 0]).tobytes()
    assert np.isnan(found["p_value"]).all() and not found["novel"].any()


def test_scores_of_several_views(client, test_part):
    views = [{"kernel": "integral_rbf"}, {"kernel": "flat_rbf", "alpha": 0.1}]
    detector = varnorm.NoveltyDetector(views=views, contamination=0.2, layout="ntd").fit(test_part[10:20])
    lazy = dask.array.from_array(test_part, chunks=(15, -1, -1))
    found = varnorm.dask.score(detector, lazy)
    same_as(detector, test_part, found, [15, 15, 10])
    findings = detector.findings(test_part)
    assert found["views"].tolist() == [[view["score"] for view in one["views"]] for one in findings["findings"]]
    assert varnorm.dask.score(detector, lazy, findings=True) == findings
    records = varnorm.dask.score(detector, lazy, compute=False).compute()
    assert np.array_equal(records["views"], found["views"])


def test_scores_of_files_bags_and_delayed_objects(client, detector, test_part, tmp_path):
    sizes, files = [7, 21, 12], []
    for part, (stop, ending) in zip(np.split(test_part, [7, 28]), zip((7, 28, 40), ("npz", "ts", "csv"))):
        files.append(tmp_path / f"{stop}.{ending}")
        varnorm.datasets.save(files[-1], part, layout="ntd")
    heard = []
    found = varnorm.dask.score(detector, files, progress=lambda *word: heard.append(word))
    same_as(detector, test_part, found, sizes)
    assert heard == [("partitions", done, 3) for done in (1, 2, 3)]
    names = dask.bag.from_sequence([str(file) for file in files], npartitions=2)
    same_as(detector, test_part, varnorm.dask.score(detector, names), [28, 12])
    arrays = dask.bag.from_sequence(list(test_part), npartitions=4)
    same_as(detector, test_part, varnorm.dask.score(detector, arrays), [10] * 4)
    parts = [dask.delayed(part) for part in np.split(test_part, 2)]
    same_as(detector, test_part, varnorm.dask.score(detector, parts), [20, 20])
    lazy = varnorm.dask.score(detector, files, compute=False)
    assert [len(part) for part in dask.compute(*lazy)] == sizes
    for wrong, words in [(test_part, "must be a dask array"), ([], "no partition")]:
        with pytest.raises(ParameterError, match=words):
            varnorm.dask.score(detector, wrong)
    with pytest.raises(FileError, match="nowhere.ts"):
        varnorm.dask.score(detector, [tmp_path / "nowhere.ts"])


# -- studies


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """BasicMotions, cut short."""
    folder = tmp_path_factory.mktemp("data")
    (folder / "Motions").mkdir()
    for part, data in zip(("TRAIN", "TEST"), varnorm.datasets.load_basic_motions(), strict=True):
        varnorm.datasets.save(folder / "Motions" / f"Motions_{part}.ts", data.X[:, ::10], data.y, name="Motions", layout="ntd")
    return folder


@pytest.fixture(scope="module")
def plain(folder, tmp_path_factory):
    """The study on one machine: its folder's bytes."""
    run = tmp_path_factory.mktemp("plain")
    found = varnorm.study(folder, "Motions", grid=GRID, run=run, n_jobs=2)
    return found.table(), contents(run)


def contents(run):
    return {name: (run / name).read_bytes() for name in ("study.json", "units.jsonl")}


def test_a_study_has_the_bytes_of_one_machine(client, finished, folder, plain, program, tmp_path):
    table, bytes_of = plain
    heard, run = [], tmp_path / "run"
    ask = dict(grid=GRID, progress=lambda *word: heard.append(word))
    found = varnorm.dask.study(folder, "Motions", run=run, **ask)
    assert found.table() == table and contents(run) == bytes_of
    assert sorted(word[1:] for word in heard) == [(done, 12) for done in range(1, 13)] and finished("_unit") == 12
    assert program("study", "show", run) == table
    assert len((run / "times.jsonl").read_text().splitlines()) == 12
    # Lost lines are done again, and nothing else: here, and by the plain call.
    lines = bytes_of["units.jsonl"].splitlines(keepends=True)
    for go_on, done in [(varnorm.dask.study, 15), (varnorm.study, 15)]:
        (run / "units.jsonl").write_bytes(b"".join(lines[2:9] + lines[:1] + lines[11:]))
        go_on(folder, ["Motions"], run=run, **ask)
        assert contents(run) == bytes_of and finished("_unit") == done
    with pytest.raises(FormatError, match="another --select"):
        varnorm.dask.study(folder, "Motions", run=run, grid=GRID, select="marginal")
    with dask.config.set(scheduler="threads"):
        assert varnorm.dask.study(folder, "Motions", grid=GRID).table() == table


def test_a_lost_worker_costs_its_unit(doomed, folder, plain, tmp_path):
    done_before, finished = [], counted(doomed, tmp_path / "finished")

    def heard(unit, done, total):
        if done == 4:
            done_before.extend((tmp_path / "units.jsonl").read_text().splitlines())
            kill_one(doomed)

    found = varnorm.dask.study(folder, "Motions", grid=GRID, run=tmp_path, progress=heard, client=doomed)
    assert (found.table(), contents(tmp_path)) == plain
    assert len(done_before) == 4 and 12 <= finished("_unit") <= 14, finished("_unit")


# -- Ctrl-C, and what it costs


STOPPED = """
import numpy as np
from distributed import Client, LocalCluster
import varnorm.dask

if __name__ == "__main__":
    X = np.random.default_rng(0).standard_normal((600, 100, 3)).cumsum(axis=1)
    where = dict(host="127.0.0.1", dashboard_address="127.0.0.1:0")
    with LocalCluster(n_workers=2, threads_per_worker=1, **where) as cluster, Client(cluster) as client:
        try:
            varnorm.dask.gram("gak:sigma=9", X, layout="ntd", block=30, progress=lambda *_: print("block", flush=True))
            print("finished", flush=True)
        except KeyboardInterrupt:
            print(client.scheduler.address, flush=True)
        input()  # the client stays: workers are idle because of what it did, not because it is gone
"""


def test_ctrl_c_leaves_nothing_running(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(STOPPED)
    process = subprocess.Popen([sys.executable, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    family = []
    try:
        assert process.stdout.readline() == "block\n"
        family += [psutil.Process(process.pid), *psutil.Process(process.pid).children(recursive=True)]
        sent = time.monotonic()
        process.send_signal(signal.SIGINT)
        address = next(word for word in iter(process.stdout.readline, "") if word != "block\n").strip()
        assert address.startswith("tcp://127.0.0.1"), address
        workers_fall_idle(address, sent + 300)
        process.communicate("\n", timeout=300)
        _, alive = psutil.wait_procs(family, timeout=120)
        assert process.returncode == 0 and len(family) >= 3 and alive == []
    finally:
        for one in family:
            if one.is_running():
                one.kill()


def another_client(address, tries=5):
    """A client of a cluster at work. The first messages of a busy scheduler may come in one piece, which `distributed` asserts
    they do not."""
    try:
        return Client(address, set_as_default=False)
    except AssertionError:
        if tries == 1:
            raise
        time.sleep(0.5)
        return another_client(address, tries - 1)


def workers_fall_idle(address, deadline):
    with another_client(address) as client:
        # A lambda travels by value: those workers cannot import this file.
        at_work = lambda dask_worker: dask_worker.state.executing_count + len(dask_worker.state.ready)  # noqa: E731
        while any(client.run(at_work).values()) or any(client.processing().values()):
            assert time.monotonic() < deadline
            time.sleep(0.1)
        workers = [psutil.Process(pid) for pid in client.run(os.getpid).values()]
        used = sum(worker.cpu_times().user for worker in workers)
        time.sleep(1.0)
        assert sum(worker.cpu_times().user for worker in workers) - used < 0.5
        # The cluster is as good as before.
        found = varnorm.dask.gram("flat_linear", [[1.0, 2.0], [3.0, 4.0]], block=1, client=client)
        assert found.tolist() == [[5.0, 11.0], [11.0, 25.0]]


# -- fits


@pytest.mark.parametrize(("kernel", "space"), [("gak", "landmarks:12"), ("sig_fourier:features=16,level=2", "features"), ("flat_linear", "features")])
@pytest.mark.parametrize("distance", ["conformance", "mahalanobis"])
def test_a_fit_of_partitions_is_that_of_the_whole(client, kernel, space, distance):
    X, new = series(90, 12, seed=3), series(20, 12, seed=4)
    detector = varnorm.NoveltyDetector(kernel, space=space, distance=distance, layout="ntd")
    found = varnorm.dask.fit(detector, dask.array.from_array(X, chunks=(30, -1, -1)), client=client)
    whole = varnorm.NoveltyDetector(kernel, space=space, distance=distance, layout="ntd").fit(X[:30]).fit_like(X)
    assert not hasattr(detector, "detector_")
    assert found.n_series_in_ == 90
    np.testing.assert_allclose(found.novelty(new), whole.novelty(new), rtol=1e-10)
    np.testing.assert_allclose(found.pvalues(new), whole.pvalues(new), rtol=1e-12)


def test_a_fit_of_files_like_a_fitted_detector(client, tmp_path):
    X, new = series(60, 10, seed=5), series(9, 10, seed=6)
    paths = [tmp_path / f"{at}.npy" for at in range(3)]
    for at, path in enumerate(paths):
        np.save(path, X[20 * at : 20 * at + 20])
    detector = varnorm.NoveltyDetector("gak", space="landmarks:8", layout="ntd").fit(X[::4])
    found = varnorm.dask.fit(detector, paths, client=client)
    np.testing.assert_allclose(found.novelty(new), detector.fit_like(X).novelty(new), rtol=1e-10)
    with pytest.raises(ParameterError, match="not made of parts; choose space="):
        varnorm.dask.fit(varnorm.NoveltyDetector("gak"), paths, client=client)
    with pytest.raises(FileError, match="missing.npy"):
        varnorm.dask.fit(detector, [tmp_path / "missing.npy"], client=client)
