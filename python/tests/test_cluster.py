"""Labels, sweeps and backtests on backends: the bytes of one process, also after a lost node."""

import contextlib
import json
import threading
from pathlib import Path

import numpy as np
import pytest

import regretless as rl
from regretless import cluster


def kept(store):
    """The bytes of the finished labels."""
    (file,) = Path(f"{store}.labels").glob("*.safetensors")
    return file.read_bytes()


def stored_rows(folder):
    """The number of rows in the label files of a folder; merged files may hold a row twice."""
    rows = 0
    for path in folder.glob("*.safetensors"):
        try:
            content = path.read_bytes()
        except FileNotFoundError:  # merged meanwhile
            continue
        header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
        rows += header["keys"]["shape"][0] // 2
    return rows


def shard_and_sum(shard, numbers):
    """Work that returns its shard and arguments."""
    return shard, float(numbers.sum())


@pytest.fixture
def backend(request):
    """A backend by name, started for the test and stopped afterwards."""
    name = request.param
    if name == "dask":
        distributed = pytest.importorskip("dask.distributed", reason="dask is not installed")
        with distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None
        ) as workers:
            with distributed.Client(workers) as client:
                yield client
        return
    if name == "joblib":
        pytest.importorskip("joblib", reason="joblib is not installed")
    yield name


@pytest.mark.parametrize("backend", ["local", "joblib", "dask"], indirect=True)
def test_results_come_in_the_order_of_shards(backend):
    found = cluster.map_shards(backend, shard_and_sum, 5, np.arange(4.0))
    assert found == [(f"{index}/5", 6.0) for index in range(1, 6)]


@pytest.mark.parametrize("backend", ["local", "joblib", "dask"], indirect=True)
def test_labels_of_a_backend_have_the_bytes_of_one_process(backend, tmp_path):
    problem = rl.Problem("KS32")
    _, costs = rl.generate("KS32", instances=60, seed=0)
    rl.label(problem, costs, store=tmp_path / "alone")
    labels = cluster.label(problem, costs, backend=backend, store=tmp_path / "shared", shards=7)
    assert kept(tmp_path / "alone") == kept(tmp_path / "shared")
    np.testing.assert_array_equal(labels.objectives, rl.label(problem, costs).objectives)


def test_an_interrupted_sweep_resumes(tmp_path, monkeypatch):
    problem = rl.Problem("SP5x5")
    features, costs = rl.generate("SP5x5", instances=60, seed=0)
    runs = [
        {"method": method, "seed": seed, "epochs": 2}
        for method in ("MSE", "MAE(O,S)")
        for seed in (0, 1)
    ]
    first = cluster.sweep(problem, features, costs, runs, backend="local", folder=tmp_path)
    assert len(first) == 4 and first[0] != first[2]
    files = sorted(tmp_path.glob("*.json"))
    files[1].unlink()
    trained = []
    real = rl.train
    monkeypatch.setattr(
        rl, "train", lambda *words, **settings: trained.append(settings) or real(*words, **settings)
    )
    again = cluster.sweep(problem, features, costs, runs, backend="local", folder=tmp_path)
    assert len(trained) == 1 and len(again) == 4


SWEEP = [{"method": "MSE", "epochs": 2}]


def swept(folder, problem, features, costs, runs=SWEEP):
    """The reports of a sweep here, without what depends on the clock."""
    reports = cluster.sweep(problem, features, costs, runs, backend="local", folder=folder)
    return [(report.test, report.validation, report.solves) for report in reports]


def test_a_sweep_of_another_problem_of_the_same_name_is_retrained(tmp_path):
    features, costs = rl.generate("KS12", instances=60, seed=0)
    problems = [rl.Problem("KS12", seed=seed) for seed in (0, 1)]
    assert problems[0].name == problems[1].name
    alone = [
        swept(tmp_path / str(place), problem, features, costs)
        for place, problem in enumerate(problems)
    ]
    shared = [swept(tmp_path / "shared", problem, features, costs) for problem in problems]
    assert alone[0] != alone[1] and shared == alone


def test_a_sweep_of_a_changed_file_is_retrained(tmp_path):
    features, costs = rl.generate("KS12", instances=60, seed=0)
    items = [f"x{item}" for item in range(12)]
    found = []
    for most in (2, 9):
        total = " + ".join(items)
        rows = f"Maximize\n {total}\nSubject To\n {total} <= {most}\n"
        rows += f"Binary\n {' '.join(items)}\nEnd\n"
        (tmp_path / "choice.lp").write_text(rows)
        problem = rl.Problem.from_file(tmp_path / "choice.lp")
        found.append(
            [swept(tmp_path / folder, problem, features, costs) for folder in ("shared", str(most))]
        )
    assert found[0][0] == found[0][1] != found[1][0] == found[1][1]


def test_a_sweep_of_another_function_of_the_same_name_is_retrained(tmp_path):
    features, costs = rl.generate("KS12", instances=60, seed=0)

    def choice(best):
        """The item with the highest or lowest cost."""
        return rl.Problem.from_solver(
            lambda cost: (np.arange(12) == best(cost)).astype(float),
            12,
            sense="maximize",
            name="choice",
        )

    least, most = (
        swept(tmp_path / "shared", choice(best), features, costs) for best in (np.argmin, np.argmax)
    )
    assert least == swept(tmp_path / "least", choice(np.argmin), features, costs)
    assert most == swept(tmp_path / "most", choice(np.argmax), features, costs) != least


def test_runs_that_differ_within_long_arrays_are_different_runs(tmp_path):
    # Numpy shortens the text of more than 1000 numbers.
    features, costs = rl.generate("SP5x5", instances=3600, seed=0)
    problem, rows = rl.Problem("SP5x5"), np.arange(3600)
    other = rows.copy()
    other[500:700], other[1700:1900] = rows[1700:1900], rows[500:700]
    splits = [np.split(order, 3) for order in (rows, other)]
    assert str(splits[0]) == str(splits[1])
    runs = [{"method": "MSE", "epochs": 1, "split": tuple(split)} for split in splits]
    together = swept(tmp_path / "together", problem, features, costs, runs)
    assert together[0] != together[1]
    assert len(list((tmp_path / "together").glob("*.json"))) == 2
    lists = [{**run, "split": tuple(part.tolist() for part in run["split"])} for run in runs]
    assert swept(tmp_path / "lists", problem, features, costs, lists) == together


def test_settings_that_cannot_be_hashed_are_refused_before_any_solve(tmp_path):
    features, costs = rl.generate("SP5x5", instances=60, seed=0)
    for setting in (object(), lambda: 0, {1, 2}):
        with pytest.raises(ValueError, match="'init_model' holds a"):
            swept(
                tmp_path,
                rl.Problem("SP5x5"),
                features,
                costs,
                [{"method": "MSE", "init_model": setting}],
            )
    assert not list(tmp_path.iterdir())
    with pytest.raises(ValueError, match="at least 1 run"):
        swept(tmp_path, rl.Problem("SP5x5"), features, costs, [])


def test_hashes_depend_on_the_content_of_values():
    same = [[1, 2], (1, 2), range(1, 3)]
    assert len({cluster.digest(value) for value in same}) == 1
    different = [
        [1, 2],
        [12],
        [[1], 2],
        ["1", 2],
        [1.0, 2],
        [True, 2],
        None,
        "None",
        [],
        {},
        {"a": 1},
        {"a": "1"},
    ]
    arrays = [
        np.array([1, 2]),
        np.array([1.0, 2.0]),
        np.array([[1, 2]]),
        np.array([1, 2], dtype=np.int32),
    ]
    assert len({cluster.digest(value) for value in different + arrays}) == len(different) + len(
        arrays
    )
    assert cluster.digest(np.float64(0.1)) == cluster.digest(0.1)
    problem, (features, costs) = rl.Problem("SP5x5"), rl.generate("SP5x5", instances=60, seed=0)
    models = [
        rl.train(problem, features, costs, "MSE", epochs=1, seed=seed)[0] for seed in (0, 1, 0)
    ]
    first, second, third = map(cluster.digest, models)
    assert first == third != second


def test_an_unknown_backend_is_refused_with_the_choices():
    with pytest.raises(ValueError, match="'local', 'ray', 'dask', 'joblib'"):
        cluster.map_shards("spark", shard_and_sum, 2)


def test_ray_must_be_connected_first():
    ray = pytest.importorskip("ray", reason="ray is not installed")
    if ray.is_initialized():
        pytest.skip("another test has connected Ray")
    with pytest.raises(RuntimeError, match="ray.init"):
        cluster.map_shards("ray", shard_and_sum, 2)


def ray_places(ray):
    """The nodes of Ray on which shards run; slow enough that one node cannot take them all."""

    # Workers cannot import this file: the function is sent as a whole.
    def node_of(shard):
        threading.Event().wait(0.3)
        return ray.get_runtime_context().get_node_id()

    return set(cluster.map_shards("ray", node_of, 8))


@contextlib.contextmanager
def two_ray_nodes(ray):
    """Two nodes of Ray on this machine; the context is the cluster and its second node."""
    from ray.cluster_utils import Cluster

    # Ray replaces the first loopback address by an outer one, which does not respond here.
    settings = {"num_cpus": 1, "include_dashboard": False, "object_store_memory": 100 * 2**20}
    nodes = Cluster(
        initialize_head=True, head_node_args={**settings, "node_ip_address": "127.0.0.2"}
    )
    try:
        second = nodes.add_node(
            num_cpus=1, node_ip_address="127.0.0.3", object_store_memory=100 * 2**20
        )
        ray.init(address=nodes.address, _node_ip_address="127.0.0.2", log_to_driver=False)
        yield nodes, second
    finally:
        ray.shutdown()
        nodes.shutdown()


def test_a_killed_ray_node_does_not_change_the_result(tmp_path, monkeypatch):
    ray = pytest.importorskip("ray", reason="ray is not installed")
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    _, costs = rl.generate("KS12", instances=160, seed=0)

    def slow_choice(cost):
        """The best item, slow enough that a node dies before the work is done."""
        threading.Event().wait(0.03)
        return (np.arange(12) == np.argmax(cost)).astype(float)

    problem = rl.Problem.from_solver(slow_choice, 12, sense="maximize", name="slow choice")
    rl.label(problem, costs, store=tmp_path / "alone")
    with two_ray_nodes(ray) as (nodes, second):
        assert len(ray_places(ray)) == 2, "both nodes work"
        folder = tmp_path / "shared.labels"

        def kill_when_it_works():
            while not stored_rows(folder):
                threading.Event().wait(0.02)
            missing.append(len(costs) - stored_rows(folder))
            nodes.remove_node(second, allow_graceful=False)

        missing: list[int] = []
        killer = threading.Thread(target=kill_when_it_works, daemon=True)
        killer.start()
        cluster.label(problem, costs, backend="ray", store=tmp_path / "shared", shards=16)
        killer.join(timeout=60)
        assert missing and missing[0] > len(costs) / 2, "the node was lost during the work"
        assert not killer.is_alive() and not second.any_processes_alive(), "the node is dead"
    assert kept(tmp_path / "alone") == kept(tmp_path / "shared")


def backtest_inputs():
    """A history of 40 days and the settings of a quick backtest."""
    features, costs = rl.generate("KS12", instances=40, seed=0)
    settings = {"time": np.arange(40), "methods": ["MSE", "SPO+"], "step": 5, "epochs": 2}
    return rl.Problem("KS12"), features, costs, settings


def backtest_files(folder):
    """The content of all files of a backtest but the labels, by path."""
    files = {path.relative_to(folder): path for path in folder.rglob("*") if path.is_file()}
    return {
        str(name): path.read_bytes()
        for name, path in files.items()
        if not str(name).startswith("labels")
    }


@pytest.mark.parametrize("backend", ["local", "joblib", "dask"], indirect=True)
def test_a_backtest_on_a_backend_has_the_bytes_of_one_process(backend, tmp_path):
    problem, features, costs, settings = backtest_inputs()
    alone = rl.backtest(problem, features, costs, out=tmp_path / "alone", **settings)
    shared = cluster.backtest(
        problem, features, costs, backend=backend, out=tmp_path / "shared", shards=3, **settings
    )
    assert shared.summary == alone.summary
    files = backtest_files(tmp_path / "alone")
    # Four folds of least squares, two methods and two other baselines; three files of results.
    assert len(files) == 4 * 5 + 3
    assert backtest_files(tmp_path / "shared") == files
    with pytest.raises(TypeError, match="labels the rows itself"):
        labels = rl.label(problem, costs)
        cluster.backtest(
            problem, features, costs, backend="local", out=tmp_path, labels=labels, **settings
        )


def test_a_backtest_on_two_ray_nodes_has_the_bytes_of_one_process(tmp_path, monkeypatch):
    ray = pytest.importorskip("ray", reason="ray is not installed")
    problem, features, costs, settings = backtest_inputs()
    rl.backtest(problem, features, costs, out=tmp_path / "alone", **settings)
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    with two_ray_nodes(ray):
        assert len(ray_places(ray)) == 2, "both nodes work"
        cluster.backtest(
            problem, features, costs, backend="ray", out=tmp_path / "shared", shards=8, **settings
        )
    assert backtest_files(tmp_path / "shared") == backtest_files(tmp_path / "alone")


def test_a_sweep_refuses_rows_in_another_order(tmp_path):
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    problem = rl.Problem("SP5x5")
    features, costs = (
        pandas.DataFrame(table) for table in rl.generate("SP5x5", instances=30, seed=0)
    )
    costs.index = costs.index[::-1]
    with pytest.raises(
        ValueError, match="X and C have the same row labels in a different order: row 0 "
    ):
        cluster.sweep(
            problem,
            features,
            costs,
            [{"method": "MSE", "epochs": 1}],
            backend="local",
            folder=tmp_path,
        )
    assert not list(tmp_path.iterdir()), "nothing is solved before the check"


@pytest.mark.parametrize("backend", ["local", "joblib"], indirect=True)
def test_a_sweep_uses_the_names_of_features(backend, tmp_path):
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    problem = rl.Problem("SP5x5")
    features, costs = rl.generate("SP5x5", instances=30, seed=0)
    names = [f"f{number}" for number in range(features.shape[1])]
    features = pandas.DataFrame(features, columns=names)
    start, _ = rl.train(problem, features, costs, method="MSE", epochs=1)
    runs = [{"method": "MSE", "epochs": 1, "init_model": start}]
    (report,) = cluster.sweep(problem, features, costs, runs, backend=backend, folder=tmp_path)
    assert report.test == rl.train(problem, features, costs, **runs[0])[1].test
    # Names in a different order are other features than those of the first model.
    features.columns = names[::-1]
    with pytest.raises(ValueError, match="feature"):
        cluster.sweep(problem, features, costs, runs, backend=backend, folder=tmp_path)
