"""A sweep on Ray: three methods, two seeds, shared labels. Needs ray; starts a small cluster."""

import os
import tempfile

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")

import ray

import regretless as rl
from regretless import cluster

# On a real cluster: ray.init(address="auto"), and a folder that all machines see.
ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, _node_ip_address="127.0.0.2")
problem = rl.Problem("KS32")
X, C = rl.generate("KS32", instances=400, seed=0)
runs = [
    {"method": method, "seed": seed, "epochs": 20}
    for method in ("MSE", "MSE(O)", "MAE(O,S)")
    for seed in (0, 1)
]
with tempfile.TemporaryDirectory() as folder:
    reports = cluster.sweep(problem, X, C, runs, backend="ray", folder=folder)
for report in reports:
    print(report.method, "seed", report.seed, report.test)
print("best on the validation rows:", reports.best())
ray.shutdown()
