"""Labelling on a local Ray cluster of two nodes beside the same in one process: speed-up, overhead, and a lost node.

    python bench/ray_labels.py [--problem TSP50] [--rows 400] [--shards 16]

Each node has one processor. One process with one thread is the yardstick; with two processors a speed-up of 2 is the most.
In the last line the second node is killed while it works.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import threading
import time
from pathlib import Path

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")

import ray
from ray.cluster_utils import Cluster

import regretless as rl
from regretless import cluster


def start() -> Cluster:
    """Two nodes on loopback addresses; the first address of loopback would be taken for the machine's outer one."""
    nodes = Cluster(
        initialize_head=True,
        head_node_args={"num_cpus": 1, "node_ip_address": "127.0.0.2", "include_dashboard": False, "object_store_memory": 150 * 2**20},
    )
    nodes.add_node(num_cpus=1, node_ip_address="127.0.0.3", object_store_memory=150 * 2**20)
    ray.init(address=nodes.address, _node_ip_address="127.0.0.2", log_to_driver=False)
    return nodes


def seconds(work: object) -> float:
    """Wall time of a call."""
    begin = time.perf_counter()
    work()  # type: ignore[operator]
    return time.perf_counter() - begin


def kept(store: Path) -> bytes:
    """The bytes of the finished labels."""
    (file,) = Path(f"{store}.labels").glob("*.safetensors")
    return file.read_bytes()


def main() -> None:
    """Prints four lines."""
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--problem", default="TSP50")
    words.add_argument("--rows", type=int, default=400)
    words.add_argument("--shards", type=int, default=16)
    told = words.parse_args()
    problem = rl.Problem(told.problem)
    _, costs = rl.generate(told.problem, rows=told.rows, seed=0)
    folder = Path(tempfile.mkdtemp())
    alone = seconds(lambda: rl.label(problem, costs, store=folder / "alone", threads=1))
    print(f"{told.problem}, {told.rows} rows: one process, one thread {alone:.2f} s")
    begin = time.perf_counter()
    nodes = start()
    print(f"Ray {ray.__version__}: two nodes ready after {time.perf_counter() - begin:.1f} s")
    empty = 200
    cluster.map_shards("ray", nothing, 2)
    each = seconds(lambda: cluster.map_shards("ray", nothing, empty)) / empty
    options = {"engine": "ray", "shards": told.shards}
    cluster.label(problem, costs[:2], store=folder / "warm", engine="ray", shards=2)
    shared = seconds(lambda: cluster.label(problem, costs, store=folder / "shared", **options))
    same = kept(folder / "alone") == kept(folder / "shared")
    print(f"two nodes, {told.shards} shards {shared:.2f} s: speed-up {alone / shared:.2f}, {1e3 * each:.1f} ms per empty shard, same bytes: {same}")
    victim = next(node for node in nodes.list_all_nodes() if node.head is False)
    killer = threading.Timer(shared / 3, lambda: nodes.remove_node(victim, allow_graceful=False))
    killer.start()
    broken = seconds(lambda: cluster.label(problem, costs, store=folder / "broken", **options))
    killer.join()
    same = kept(folder / "alone") == kept(folder / "broken")
    print(f"second node killed after {shared / 3:.2f} s: all rows after {broken:.2f} s, same bytes: {same}")
    ray.shutdown()
    nodes.shutdown()


def nothing(shard: str) -> str:
    """What an empty shard does."""
    return shard


if __name__ == "__main__":
    main()
