"""PyEPO's models as our problems, and the other way round."""

import copy
import pickle

import numpy as np
import pytest

pytest.importorskip("pyepo", reason="pyepo is not installed")
pytest.importorskip("gurobipy", reason="gurobipy is not installed")

import pyepo  # noqa: E402
import torch  # noqa: E402
from pyepo.data.dataset import optDataset  # noqa: E402
from pyepo.func import SPOPlus  # noqa: E402
from pyepo.model.grb import knapsackModel, shortestPathModel, tspDFJModel, tspGGModel  # noqa: E402
from torch.utils.data import DataLoader  # noqa: E402

import regretless as rl  # noqa: E402
from regretless.pyepo import as_pyepo, from_pyepo  # noqa: E402


def model_of(name):
    """PyEPO's model of one of our benchmarks."""
    if name.startswith("SP"):
        return shortestPathModel(tuple(int(side) for side in name[2:].split("x")))
    if name.startswith("TSP"):
        return tspDFJModel(int(name[3:]))
    about = rl.Problem(name).to_dict()
    return knapsackModel(np.array(about["weights"]), np.array(about["capacity"]))


def trained_regret(model, features, costs, train):
    """Normalised regret after PyEPO's own loop."""
    torch.manual_seed(0)
    batches = DataLoader(optDataset(model, features[:train], costs[:train]), 16, shuffle=True, generator=torch.Generator().manual_seed(1))
    rest = DataLoader(optDataset(model, features[train:], costs[train:]), 32)
    predictor = torch.nn.Linear(features.shape[1], costs.shape[1])
    loss, optimizer = SPOPlus(model, processes=1), torch.optim.Adam(predictor.parameters(), lr=0.1)
    for _ in range(4):
        for x, c, w, z in batches:
            optimizer.zero_grad()
            loss(predictor(x), c, w, z).backward()
            optimizer.step()
    return pyepo.metric.regret(predictor, model, rest)


@pytest.mark.parametrize(("name", "rows"), [("SP5x5", 200), ("KS12", 150), ("TSP7", 100)])
def test_pyepos_loop_reaches_the_same_regret_with_our_problem(name, rows):
    features, costs = rl.generate(name, rows=rows, seed=0)
    model = model_of(name)
    theirs = trained_regret(model, features, costs, rows // 2)
    ours = trained_regret(as_pyepo(from_pyepo(model)), features, costs, rows // 2)
    assert ours == pytest.approx(theirs, abs=0.005)
    assert ours < 0.5


@pytest.mark.parametrize("name", ["SP4x6", "KS12", "TSP7"])
def test_both_worlds_find_the_same_optimum(name):
    model = model_of(name)
    problem = from_pyepo(model)
    _, costs = rl.generate(name, rows=5, seed=3)
    twin = as_pyepo(problem)
    for cost in costs:
        model.setObj(cost)
        twin.setObj(torch.from_numpy(cost))
        assert twin.solve()[1] == pytest.approx(model.solve()[1], rel=1e-5)
    assert (twin.num_cost, twin.modelSense) == (model.num_cost, model.modelSense)


def test_a_model_with_a_constraint_of_the_users_own_is_asked_itself():
    model = tspGGModel(6)
    _, costs = rl.generate("TSP6", rows=1, seed=0)
    free = from_pyepo(model).solve(costs[0])
    first = np.flatnonzero(free.decision)[0]
    bound = from_pyepo(model.addConstr(np.eye(model.num_cost)[first], 0))
    solution = bound.solve(costs[0])
    assert solution.decision[first] == 0
    assert solution.objective > free.objective


def test_copies_and_pickles_go_on_alone():
    model = as_pyepo(rl.Problem("SP5x5"))
    _, costs = rl.generate("SP5x5", rows=2, seed=0)
    model.setObj(costs[0])
    for twin in (model.copy(), copy.deepcopy(model)):
        twin.setObj(costs[1])
        assert twin.solve()[1] != model.solve()[1]
    again = pickle.loads(pickle.dumps(model))
    again.setObj(costs[0])
    assert again.solve()[1] == model.solve()[1]


def test_pyepos_pool_of_processes_solves_our_problem():
    features, costs = rl.generate("SP5x5", rows=40, seed=0)
    model = as_pyepo(rl.Problem("SP5x5"))
    table = DataLoader(optDataset(model, features, costs), 20)
    predictor = torch.nn.Linear(features.shape[1], costs.shape[1])
    alone = pyepo.metric.regret(predictor, model, table, processes=1)
    assert pyepo.metric.regret(predictor, model, table, processes=2) == alone


def test_a_cost_vector_of_the_wrong_length_is_refused():
    with pytest.raises(ValueError, match="40 costs are needed"):
        as_pyepo(rl.Problem("SP5x5")).setObj(np.ones(3))
