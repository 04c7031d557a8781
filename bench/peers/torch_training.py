"""Torch in the training suite: epochs of MSE and MAE(O,S), written in two ways.

`eager` is the usual code: the formula with masks and the default Adam. `optimized` is the fastest
eager version: constants precomputed, one relu instead of masks, fused Adam. Both gather each batch
by row indices, which is cheaper than a DataLoader.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Callable

import common

torch = common.require("torch")
np = common.require("numpy")

Tensor = Any


class Data:
    """Arrays of a case as tensors."""

    def __init__(self, job: dict[str, Any]) -> None:
        folder = Path(job["folder"])
        load = lambda name: np.load(folder / f"{name}.npy")
        self.features = torch.from_numpy(load("features"))
        self.costs = torch.from_numpy(load("costs"))
        self.parameters = torch.from_numpy(load("parameters"))[0]
        self.orders = torch.from_numpy(load("orders")).long()
        self.decisions = torch.zeros_like(self.costs)
        self.decisions.scatter_(1, torch.from_numpy(load("chosen")).long(), 1.0)


def model(job: dict[str, Any], data: Data) -> Any:
    """The network with the given initial parameters."""
    outputs = 1 if job["shared"] else data.costs.shape[1]
    sizes = [data.features.shape[-1], *job["hidden"], outputs]
    layers: list[Any] = []
    for inputs, width in zip(sizes, sizes[1:]):
        layers += [torch.nn.Linear(inputs, width), torch.nn.LeakyReLU(0.01)]
    network = torch.nn.Sequential(*layers[:-1])
    with torch.no_grad():
        start = 0
        for parameter in network.parameters():
            parameter.copy_(data.parameters[start : start + parameter.numel()].view_as(parameter))
            start += parameter.numel()
    return network


def eager_loss(name: str, data: Data) -> Callable[[Tensor, Tensor], Tensor]:
    """The loss as its formula reads; takes predictions and the rows they belong to."""
    if name == "MSE":
        return lambda predicted, rows: torch.nn.functional.mse_loss(predicted, data.costs[rows])

    def mae_os(predicted: Tensor, rows: Tensor) -> Tensor:
        costs, chosen = data.costs[rows], data.decisions[rows]
        predicted = predicted / predicted.norm(dim=1, keepdim=True)
        costs = costs / costs.norm(dim=1, keepdim=True)
        counts = ((chosen == 1) & (predicted > costs)) | ((chosen == 0) & (predicted < costs))
        return (counts * (predicted - costs).abs()).mean()

    return mae_os


def optimized_loss(name: str, data: Data) -> Callable[[Tensor, Tensor], Tensor]:
    """The same with constants precomputed and as few passes as eager torch allows."""
    if name == "MSE":
        return eager_loss(name, data)
    unit_costs = data.costs / data.costs.norm(dim=1, keepdim=True)
    signs = 2.0 * data.decisions - 1.0

    def mae_os(predicted: Tensor, rows: Tensor) -> Tensor:
        norms = predicted.norm(dim=1, keepdim=True)
        return torch.relu((predicted / norms - unit_costs[rows]) * signs[rows]).mean()

    return mae_os


def run(variant: str, job: dict[str, Any], data: Data) -> dict[str, Any]:
    """Trains from the initial parameters; returns times and mean loss of each epoch."""
    network = model(job, data)
    optimized = variant == "optimized"
    loss_of = (optimized_loss if optimized else eager_loss)(job["loss"], data)
    options = {"fused": True} if optimized else {}
    optimizer = torch.optim.Adam(network.parameters(), lr=job["learning_rate"], **options)
    clock = common.EpochClock()
    losses: list[float] = []
    for order in data.orders[: job["epochs"]]:
        total = 0.0
        for rows in order.split(job["batch_size"]):
            predicted = network(data.features[rows])
            if job["shared"]:
                predicted = predicted.squeeze(-1)
            loss = loss_of(predicted, rows)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(rows)
        clock.mark()
        losses.append(total / len(order))
    return {"name": variant, **clock.times(), "losses": losses}


def main() -> None:
    job = common.job()
    torch.set_num_threads(job["threads"])
    data = Data(job)
    runs = [run(variant, job, data) for variant in job["variants"]]
    common.respond({"version": torch.__version__, "runs": runs})


if __name__ == "__main__":
    main()
