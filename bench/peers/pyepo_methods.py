"""PyEPO in the method suite: epochs of SPO+ and the perturbed Fenchel-Young loss with Gurobi.

The loop is that of PyEPO's tutorial. A DataLoader reads the batches in the job's order.
"""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import Any

import common

np = common.require("numpy")
torch = common.require("torch")
gp = common.require("gurobipy")
pyepo = common.require("pyepo")
grb = common.require("pyepo.model.grb")
func = common.require("pyepo.func")
dataset = common.require("pyepo.data.dataset")
metric = common.require("pyepo.metric")


def problem_model(problem: dict[str, Any]) -> Any:
    """PyEPO's own model of the problem, on one thread."""
    match problem["kind"]:
        case "grid_path":
            model = grb.shortestPathModel(tuple(problem["grid"]))
        case "knapsack":
            model = grb.knapsackModel(np.array(problem["weights"]), np.array(problem["capacity"]))
        case "tsp":
            model = grb.tspDFJModel(problem["nodes"])
        case kind:
            common.skip(f"PyEPO has no model for {kind} here")
    model._model.Params.Threads = 1
    return model


def predictor(parameters: Any, features: int, costs: int) -> Any:
    """The linear model with the given initial parameters."""
    network = torch.nn.Linear(features, costs)
    with torch.no_grad():
        network.weight.copy_(parameters[: features * costs].view(costs, features))
        network.bias.copy_(parameters[features * costs :])
    return network


class Training:
    """Data of a case, labeled once."""

    def __init__(self, job: dict[str, Any]) -> None:
        folder = Path(job["folder"])
        features, costs = np.load(folder / "features.npy"), np.load(folder / "costs.npy")
        self.job = job
        self.model = problem_model(job["problem"])
        self.train = dataset.optDataset(self.model, features[: job["train"]], costs[: job["train"]])
        self.test = dataset.optDataset(self.model, features[job["train"] :], costs[job["train"] :])
        self.parameters = torch.from_numpy(np.load(folder / "parameters.npy"))[0]
        self.orders = np.load(folder / "orders.npy").astype(int)

    def batches(self, epoch: int) -> Any:
        """A loader that yields the batches of an epoch."""
        order, size = self.orders[epoch].tolist(), self.job["batch_size"]
        batches = [order[start : start + size] for start in range(0, len(order), size)]
        return torch.utils.data.DataLoader(self.train, batch_sampler=batches)

    def run(self, method: dict[str, Any]) -> dict[str, Any]:
        """Trains one method; times, mean loss of each epoch, regret at the end."""
        samples = method["samples"]
        network = predictor(self.parameters, self.train.feats.shape[1], self.train.costs.shape[1])
        optimizer = torch.optim.Adam(network.parameters(), lr=self.job["learning_rate"])
        if samples:
            pfyl = func.perturbedFenchelYoung(self.model, n_samples=samples, sigma=1.0, processes=1)
            loss_of = lambda predicted, c, w, z: pfyl(predicted, w)
        else:
            loss_of = func.SPOPlus(self.model, processes=1)
        loaders = [self.batches(epoch) for epoch in range(method["epochs"])]
        clock = common.EpochClock()
        losses: list[float] = []
        for loader in loaders:
            total = 0.0
            for x, c, w, z in loader:
                loss = loss_of(network(x), c, w, z)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                total += loss.item() * len(x)
            clock.mark()
            losses.append(total / len(self.train))
        test = torch.utils.data.DataLoader(self.test, batch_size=256)
        regret = metric.regret(network, self.model, test)
        return {"name": method["name"], **clock.times(), "losses": losses, "regret": float(regret)}


def main() -> None:
    job = common.job()
    torch.set_num_threads(1)
    try:
        training = Training(job)
        runs = [training.run(method) for method in job["methods"]]
    except gp.GurobiError as error:
        common.skip(f"Gurobi refuses: {error}")
    names = ", ".join(f"{name} {version(name)}" for name in ("pyepo", "gurobipy", "torch"))
    common.respond({"version": names, "runs": runs})


if __name__ == "__main__":
    main()
