"""A sweep on Ray: three losses, two seeds, labels shared. Needs ray; starts a small cluster of its own if there is none."""

import os
import tempfile

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")

import ray

import regretless as rl
from regretless import cluster

# On a real cluster: ray.init(address="auto"), and a folder that all machines see.
ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, _node_ip_address="127.0.0.2")
problem = rl.Problem("KS32")
features, costs = rl.generate("KS32", rows=400, seed=0)
runs = [
    {"loss": loss, "seed": seed, "epochs": 20}
    for loss in ("MSE", "MSE(O)", "MAE(O,S)")
    for seed in (0, 1)
]
with tempfile.TemporaryDirectory() as folder:
    reports = cluster.sweep(problem, features, costs, runs, engine="ray", folder=folder)
for run, report in zip(runs, reports):
    print(run["loss"], "seed", run["seed"], report["test"])
ray.shutdown()
