"""A torch network trained with SPO+ for a TSP, without a solver's license. Needs torch."""

import torch

import regretless as rl
from regretless.torch import DecisionLoss

torch.manual_seed(0)
problem = rl.Problem("TSP15")
X, C = rl.generate("TSP15", instances=300, seed=0)
inputs, train = torch.from_numpy(X), 200
labels = rl.label(problem, C[:train])
test_labels = rl.label(problem, C[train:])

network = torch.nn.Sequential(
    torch.nn.Linear(X.shape[1], 32), torch.nn.ReLU(), torch.nn.Linear(32, C.shape[1])
)
# Outputs are numbers around 0: costs are mean + deviation * output.
mean, deviation = torch.from_numpy(C[:train].mean(axis=0)), torch.from_numpy(C[:train].std(axis=0))
loss = DecisionLoss(problem, C[:train], loss="SPO+", labels=labels)
optimizer = torch.optim.Adam(network.parameters(), lr=0.01)


def regret() -> float:
    """Return the normalized regret on the test rows."""
    with torch.no_grad():
        predictions = (mean + deviation * network(inputs[train:])).numpy()
    result = rl.evaluate(problem, predictions, C=C[train:], labels=test_labels)
    return result.normalized_regret


print(f"untrained: {regret():.1%}")
for _ in range(10):
    for rows in torch.randperm(train).split(32):
        optimizer.zero_grad()
        loss(mean + deviation * network(inputs[rows]), rows).backward()
        optimizer.step()
print(f"after 10 epochs: {regret():.1%}")
