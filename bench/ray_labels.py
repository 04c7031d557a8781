"""Labels on a local Ray cluster of two nodes and in one process: speedup, overhead, a lost node.

    python bench/ray_labels.py [--problem TSP50] [--rows 400] [--shards 16]

Each node has one processor. The reference is one process with one thread; with two processors the
speedup is at most 2. In the last line the second node is killed while it works.
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
    """Start two nodes on loopback addresses; Ray replaces 127.0.0.1 by an outer address."""
    nodes = Cluster(
        initialize_head=True,
        head_node_args={
            "num_cpus": 1,
            "node_ip_address": "127.0.0.2",
            "include_dashboard": False,
            "object_store_memory": 150 * 2**20,
        },
    )
    nodes.add_node(num_cpus=1, node_ip_address="127.0.0.3", object_store_memory=150 * 2**20)
    ray.init(address=nodes.address, _node_ip_address="127.0.0.2", log_to_driver=False)
    return nodes


def seconds(work: object) -> float:
    """Return the wall time of a call."""
    begin = time.perf_counter()
    work()  # type: ignore[operator]
    return time.perf_counter() - begin


def kept(store: Path) -> bytes:
    """Return the bytes of the finished labels."""
    (file,) = Path(f"{store}.labels").glob("*.safetensors")
    return file.read_bytes()


def main() -> None:
    """Print four lines."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--problem", default="TSP50")
    parser.add_argument("--rows", type=int, default=400)
    parser.add_argument("--shards", type=int, default=16)
    args = parser.parse_args()
    problem = rl.Problem(args.problem)
    _, costs = rl.generate(args.problem, instances=args.rows, seed=0)
    folder = Path(tempfile.mkdtemp())
    alone = seconds(lambda: rl.label(problem, costs, store=folder / "alone", threads=1))
    print(f"{args.problem}, {args.rows} rows: one process, one thread {alone:.2f} s")
    begin = time.perf_counter()
    nodes = start()
    print(f"Ray {ray.__version__}: two nodes ready after {time.perf_counter() - begin:.1f} s")
    empty = 200
    cluster.map_shards("ray", empty_shard, 2)
    each = seconds(lambda: cluster.map_shards("ray", empty_shard, empty)) / empty
    options = {"backend": "ray", "shards": args.shards}
    cluster.label(problem, costs[:2], store=folder / "warm", backend="ray", shards=2)
    shared = seconds(lambda: cluster.label(problem, costs, store=folder / "shared", **options))
    same = kept(folder / "alone") == kept(folder / "shared")
    print(
        f"two nodes, {args.shards} shards {shared:.2f} s: speedup {alone / shared:.2f}, "
        f"{1e3 * each:.1f} ms per empty shard, same bytes: {same}"
    )
    victim = next(node for node in nodes.list_all_nodes() if node.head is False)
    killer = threading.Timer(shared / 3, lambda: nodes.remove_node(victim, allow_graceful=False))
    killer.start()
    broken = seconds(lambda: cluster.label(problem, costs, store=folder / "broken", **options))
    killer.join()
    same = kept(folder / "alone") == kept(folder / "broken")
    print(
        f"second node killed after {shared / 3:.2f} s: all rows after {broken:.2f} s, "
        f"same bytes: {same}"
    )
    ray.shutdown()
    nodes.shutdown()


def empty_shard(shard: str) -> str:
    """Return the name of the shard."""
    return shard


if __name__ == "__main__":
    main()
