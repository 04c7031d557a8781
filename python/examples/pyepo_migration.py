"""From PyEPO in one line: PyEPO's model becomes a problem, for PyEPO's loop or for ours.

Needs pyepo and gurobipy (for the model that is replaced).
"""

import pyepo
import torch
from pyepo.model.grb import shortestPathModel
from torch.utils.data import DataLoader

import regretless as rl
from regretless.pyepo import as_pyepo, from_pyepo

X, C = pyepo.data.shortestpath.genData(300, 5, (5, 5), deg=6, noise_width=0.5, seed=0)
gurobi_model = shortestPathModel((5, 5))

# 1. PyEPO's training loop with the built-in solver.
model = as_pyepo(from_pyepo(gurobi_model))
dataset = pyepo.data.dataset.optDataset(model, X, C)
torch.manual_seed(0)
predictor = torch.nn.Linear(5, C.shape[1])
with torch.no_grad():
    # Outputs are costs: they begin at the mean of the training rows.
    predictor.bias.copy_(torch.as_tensor(C.mean(axis=0)))
loss = pyepo.func.SPOPlus(model, processes=1)
optimizer = torch.optim.Adam(predictor.parameters(), lr=0.05)
for _ in range(5):
    for x, c, w, z in DataLoader(dataset, batch_size=32, shuffle=True):
        optimizer.zero_grad()
        loss(predictor(x), c, w, z).backward()
        optimizer.step()
regret = pyepo.metric.regret(predictor, model, DataLoader(dataset, 64))
print(f"PyEPO's loop, built-in solver: regret {regret:.1%}")

# 2. Training with regretless.
problem = from_pyepo(gurobi_model)
trained, _ = rl.train(problem, X, C, method="MAE(O,S)", seed=0, epochs=50)
print(f"regretless.train: regret {trained.evaluate(X, C).normalized_regret:.1%}")
