"""A torch network trained with SPO+ on tours, without a solver's licence. Needs torch."""

import torch

import regretless as rl
from regretless.torch import DecisionLoss

torch.manual_seed(0)
problem = rl.Problem("TSP15")
features, costs = rl.generate("TSP15", rows=300, seed=0)
inputs, train = torch.from_numpy(features), 200
labels = rl.label(problem, costs[:train])
best = rl.label(problem, costs[train:])

network = torch.nn.Sequential(
    torch.nn.Linear(features.shape[1], 32), torch.nn.ReLU(), torch.nn.Linear(32, costs.shape[1])
)
loss = DecisionLoss(problem, "SPO+", costs[:train], labels=labels)
optimizer = torch.optim.Adam(network.parameters(), lr=0.01)


def regret() -> float:
    """How much dearer the tours are than the best ones, on rows never trained on."""
    with torch.no_grad():
        predictions = network(inputs[train:]).numpy()
    return rl.evaluate(problem, predictions, C=costs[train:], labels=best)["normalized_regret"]


print(f"untrained: {regret():.1%}")
for epoch in range(10):
    for rows in torch.randperm(train).split(32):
        optimizer.zero_grad()
        loss(network(inputs[rows]), rows).backward()
        optimizer.step()
print(f"after 10 epochs: {regret():.1%}")
