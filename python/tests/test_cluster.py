"""Labels and sweeps on engines: the same bytes as one process, also when a node is lost."""

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


def shard_and_sum(shard, numbers):
    """Work that says who did what."""
    return shard, float(numbers.sum())


@pytest.fixture
def engine(request):
    """An engine by name, started here and stopped afterwards."""
    name = request.param
    if name == "dask":
        distributed = pytest.importorskip("dask.distributed", reason="dask is not installed")
        with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as workers:
            with distributed.Client(workers) as client:
                yield client
        return
    if name == "joblib":
        pytest.importorskip("joblib", reason="joblib is not installed")
    yield name


@pytest.mark.parametrize("engine", ["here", "joblib", "dask"], indirect=True)
def test_results_come_in_the_order_of_shards(engine):
    found = cluster.map_shards(engine, shard_and_sum, 5, np.arange(4.0))
    assert found == [(f"{index}/5", 6.0) for index in range(1, 6)]


@pytest.mark.parametrize("engine", ["here", "joblib", "dask"], indirect=True)
def test_labels_of_an_engine_are_the_bytes_of_one_process(engine, tmp_path):
    problem = rl.Problem("KS32")
    _, costs = rl.generate("KS32", rows=60, seed=0)
    rl.label(problem, costs, store=tmp_path / "alone")
    labels = cluster.label(problem, costs, engine=engine, store=tmp_path / "shared", shards=7)
    assert kept(tmp_path / "alone") == kept(tmp_path / "shared")
    np.testing.assert_array_equal(labels.objectives, rl.label(problem, costs).objectives)


def test_a_sweep_goes_on_where_it_was_stopped(tmp_path, monkeypatch):
    problem = rl.Problem("SP5x5")
    features, costs = rl.generate("SP5x5", rows=60, seed=0)
    runs = [{"loss": loss, "seed": seed, "epochs": 2} for loss in ("MSE", "MAE(O,S)") for seed in (0, 1)]
    first = cluster.sweep(problem, features, costs, runs, engine="here", folder=tmp_path)
    assert len(first) == 4 and first[0] != first[2]
    files = sorted(tmp_path.glob("*.json"))
    files[1].unlink()
    trained = []
    real = rl.train
    monkeypatch.setattr(rl, "train", lambda *words, **settings: trained.append(settings) or real(*words, **settings))
    again = cluster.sweep(problem, features, costs, runs, engine="here", folder=tmp_path)
    assert len(trained) == 1 and len(again) == 4


def test_an_unknown_engine_is_refused_with_the_choices():
    with pytest.raises(ValueError, match="'here', 'ray', 'dask', 'joblib'"):
        cluster.map_shards("spark", shard_and_sum, 2)


def test_ray_must_be_connected_first():
    ray = pytest.importorskip("ray", reason="ray is not installed")
    if ray.is_initialized():
        pytest.skip("another test has connected Ray")
    with pytest.raises(RuntimeError, match="ray.init"):
        cluster.map_shards("ray", shard_and_sum, 2)


def test_a_ray_node_killed_at_work_changes_no_byte(tmp_path, monkeypatch):
    ray = pytest.importorskip("ray", reason="ray is not installed")
    from ray.cluster_utils import Cluster

    def node_of(shard):
        """Where a shard runs; slow enough that one node cannot take them all."""
        threading.Event().wait(0.3)
        return ray.get_runtime_context().get_node_id()

    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    _, costs = rl.generate("KS12", rows=160, seed=0)

    def slow_choice(cost):
        """The best item, after a while: a node dies before all is done, however fast the machine."""
        threading.Event().wait(0.03)
        return (np.arange(12) == np.argmax(cost)).astype(float)

    problem = rl.Problem.from_callable(slow_choice, 12, sense="maximize", name="slow choice")
    rl.label(problem, costs, store=tmp_path / "alone")
    # The first address of loopback would be taken for the machine's outer one, and nobody would answer.
    settings = {"num_cpus": 1, "include_dashboard": False, "object_store_memory": 100 * 2**20}
    nodes = Cluster(initialize_head=True, head_node_args={**settings, "node_ip_address": "127.0.0.2"})
    try:
        second = nodes.add_node(num_cpus=1, node_ip_address="127.0.0.3", object_store_memory=100 * 2**20)
        ray.init(address=nodes.address, _node_ip_address="127.0.0.2", log_to_driver=False)
        places = set(cluster.map_shards("ray", node_of, 8))
        assert len(places) == 2, "both nodes work"
        parts = tmp_path / "shared.labels"

        def kill_when_it_works():
            while not list(parts.glob("*.parts/*")):
                threading.Event().wait(0.02)
            missing.append(16 - len(list(parts.glob("*.parts/*"))))
            nodes.remove_node(second, allow_graceful=False)

        missing: list[int] = []
        killer = threading.Thread(target=kill_when_it_works, daemon=True)
        killer.start()
        cluster.label(problem, costs, engine="ray", store=tmp_path / "shared", shards=16)
        killer.join(timeout=60)
        assert missing and missing[0] > 8, "the node was lost while there was work for it"
        assert not killer.is_alive() and not second.any_processes_alive(), "the node is dead"
    finally:
        ray.shutdown()
        nodes.shutdown()
    assert kept(tmp_path / "alone") == kept(tmp_path / "shared")

