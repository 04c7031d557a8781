"""From PyEPO in one line: its model becomes our problem; its loop goes on with it, or ours takes over.

Needs pyepo and gurobipy (for the model that is left behind).
"""

import pyepo
import torch
from pyepo.model.grb import shortestPathModel
from torch.utils.data import DataLoader

import regretless as rl
from regretless.pyepo import as_pyepo, from_pyepo

features, costs = pyepo.data.shortestpath.genData(300, 5, (5, 5), deg=6, noise_width=0.5, seed=0)
theirs = shortestPathModel((5, 5))

# 1. PyEPO's own loop, solved here.
model = as_pyepo(from_pyepo(theirs))
table = pyepo.data.dataset.optDataset(model, features, costs)
torch.manual_seed(0)
predictor = torch.nn.Linear(5, costs.shape[1])
loss, optimizer = (
    pyepo.func.SPOPlus(model, processes=1),
    torch.optim.Adam(predictor.parameters(), lr=0.05),
)
for _ in range(5):
    for x, c, w, z in DataLoader(table, batch_size=32, shuffle=True):
        optimizer.zero_grad()
        loss(predictor(x), c, w, z).backward()
        optimizer.step()
print(
    f"PyEPO's loop, our solver: regret {pyepo.metric.regret(predictor, model, DataLoader(table, 64)):.1%}"
)

# 2. The whole training here.
problem = from_pyepo(theirs)
trained, _ = rl.train(problem, features, costs, loss="MAE(O,S)", seed=0, epochs=50)
worth = rl.evaluate(problem, trained, features, costs)
print(f"regretless.train: regret {worth['normalized_regret']:.1%}")
