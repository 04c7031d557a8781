"""Labels on a local Ray cluster of two nodes and in one process: speedup, overhead, a lost node.

    python bench/ray_labels.py [--problem TSP100] [--rows 3000] [--shards 16]

Each node has one processor. The reference is one process with one thread; with two processors the
speedup is at most 2. Last, the second node is killed after a third of the time that two nodes need.
Labels of other bytes than those of one process end the script with an error.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
# Ray's workers give way to other programs; the process that they are compared with does not.
os.environ.setdefault("RAY_worker_niceness", "0")

import ray
from ray.cluster_utils import Cluster

import regretless as rl
from regretless import cluster

# Shards without work that are timed together.
EMPTY_SHARDS = 200


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


def seconds(name: str, work: Callable[[], object]) -> float:
    """Return the wall time of a call, and report it."""
    begin = time.perf_counter()
    work()
    passed = time.perf_counter() - begin
    print(f"{name}: {passed:.2f} s", file=sys.stderr, flush=True)
    return passed


def kept(store: Path) -> bytes:
    """Return the bytes of the finished labels."""
    (file,) = Path(f"{store}.labels").glob("*.safetensors")
    return file.read_bytes()


def check_bytes(folder: Path, name: str) -> None:
    """End with an error if labels are not those of one process."""
    if kept(folder / name) != kept(folder / "alone"):
        sys.exit(f"labels of '{name}' have other bytes than those of one process")


def empty_shard(shard: str) -> str:
    """Return the name of the shard."""
    return shard


def measured(arguments: argparse.Namespace, folder: Path) -> dict[str, str]:
    """Label in one process, on two nodes, and on two nodes of which one is killed."""
    problem = rl.Problem(arguments.problem)
    _, costs = rl.generate(arguments.problem, instances=arguments.rows, seed=0)

    def label(name: str) -> None:
        options = {"backend": "ray", "shards": arguments.shards}
        cluster.label(problem, costs, store=folder / name, **options)

    alone = seconds(
        "one process", lambda: rl.label(problem, costs, store=folder / "alone", threads=1)
    )
    begin = time.perf_counter()
    nodes = start()
    starting = time.perf_counter() - begin
    try:
        # Workers start with the first work that they get.
        cluster.map_shards("ray", empty_shard, 2)
        empty = seconds(
            f"{EMPTY_SHARDS} empty shards",
            lambda: cluster.map_shards("ray", empty_shard, EMPTY_SHARDS),
        )
        cluster.label(problem, costs[:2], store=folder / "warm", backend="ray", shards=2)
        shared = seconds("two nodes", lambda: label("shared"))
        check_bytes(folder, "shared")
        victim = next(node for node in nodes.list_all_nodes() if node.head is False)
        killer = threading.Timer(
            shared / 3, lambda: nodes.remove_node(victim, allow_graceful=False)
        )
        killer.start()
        broken = seconds("two nodes, one killed", lambda: label("broken"))
        killer.join()
        check_bytes(folder, "broken")
    finally:
        ray.shutdown()
        nodes.shutdown()
    return {
        "one process (s)": f"{alone:.1f}",
        f"two nodes, {arguments.shards} shards (s)": f"{shared:.1f}",
        "speedup": f"{alone / shared:.2f}",
        "an empty shard (ms)": f"{1e3 * empty / EMPTY_SHARDS:.1f}",
        "starting the cluster (s)": f"{starting:.1f}",
        "second node killed after (s)": f"{shared / 3:.1f}",
        "all rows finished with that node killed (s)": f"{broken:.1f}",
    }


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--problem", default="TSP100")
    parser.add_argument("--rows", type=int, default=3000)
    parser.add_argument("--shards", type=int, default=16)
    arguments = parser.parse_args()
    print(f"Ray {ray.__version__}", file=sys.stderr)
    folder = Path(tempfile.mkdtemp())
    try:
        # Ray reports the node that was killed on standard output.
        with contextlib.redirect_stdout(sys.stderr):
            values = measured(arguments, folder)
    finally:
        shutil.rmtree(folder)
    print("| measurement | value |\n|---|---:|")
    for name, value in values.items():
        print(f"| {name} | {value} |")


if __name__ == "__main__":
    main()
