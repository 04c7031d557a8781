"""PyEPO's models as our problems, and the other way round."""

import copy
import pickle

import numpy as np
import pytest

pytest.importorskip("pyepo", reason="pyepo is not installed")
pytest.importorskip("gurobipy", reason="gurobipy is not installed")

import gurobipy  # noqa: E402
import pyepo  # noqa: E402
import torch  # noqa: E402
from pyepo.data.dataset import optDataset  # noqa: E402
from pyepo.func import SPOPlus  # noqa: E402
from pyepo.model.grb import (  # noqa: E402
    knapsackModel,
    optGrbModel,  # noqa: E402
    shortestPathModel,
    tspDFJModel,
    tspGGModel,
)
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
    """Return the normalized regret after a loop of PyEPO."""
    torch.manual_seed(0)
    batches = DataLoader(
        optDataset(model, features[:train], costs[:train]),
        16,
        shuffle=True,
        generator=torch.Generator().manual_seed(1),
    )
    test_loader = DataLoader(optDataset(model, features[train:], costs[train:]), 32)
    predictor = torch.nn.Linear(features.shape[1], costs.shape[1])
    loss, optimizer = SPOPlus(model, processes=1), torch.optim.Adam(predictor.parameters(), lr=0.1)
    for _ in range(4):
        for x, c, w, z in batches:
            optimizer.zero_grad()
            loss(predictor(x), c, w, z).backward()
            optimizer.step()
    return pyepo.metric.regret(predictor, model, test_loader)


@pytest.mark.parametrize(("name", "rows"), [("SP5x5", 200), ("KS12", 150), ("TSP7", 100)])
def test_pyepos_loop_reaches_the_same_regret_with_our_problem(name, rows):
    features, costs = rl.generate(name, instances=rows, seed=0)
    model = model_of(name)
    expected = trained_regret(model, features, costs, rows // 2)
    actual = trained_regret(as_pyepo(from_pyepo(model)), features, costs, rows // 2)
    assert actual == pytest.approx(expected, abs=0.005)
    assert actual < 0.5


@pytest.mark.parametrize("name", ["SP4x6", "KS12", "TSP7"])
def test_both_libraries_find_the_same_optimum(name):
    model = model_of(name)
    problem = from_pyepo(model)
    _, costs = rl.generate(name, instances=5, seed=3)
    twin = as_pyepo(problem)
    for cost in costs:
        model.setObj(cost)
        twin.setObj(torch.from_numpy(cost))
        assert twin.solve()[1] == pytest.approx(model.solve()[1], rel=1e-5)
    assert (twin.num_cost, twin.modelSense) == (model.num_cost, model.modelSense)


def test_a_model_with_a_constraint_of_the_users_own_keeps_it():
    model = tspGGModel(6)
    _, costs = rl.generate("TSP6", instances=1, seed=0)
    free = from_pyepo(model).solve(costs[0])
    first = np.flatnonzero(free.decision)[0]
    bound = from_pyepo(model.addConstr(np.eye(model.num_cost)[first], 0))
    solution = bound.solve(costs[0])
    assert solution.decision[first] == 0
    assert solution.objective > free.objective


class Depots(optGrbModel):
    """A user's model: 8 binaries with costs, one without, two constraints, optionally quadratic."""

    def __init__(self, curved=False):
        self.curved = curved
        super().__init__()

    def _getModel(self):
        model = gurobipy.Model()
        model.Params.OutputFlag = 0
        x = model.addVars(8, vtype="B", name="x")
        y = model.addVar(vtype="B", obj=0.5, name="y")
        model.ModelSense = -1
        model.addConstr(sum((1 + i % 3) * x[i] for i in range(8)) <= 6 + 2 * y)
        model.addConstr(x[0] + x[1] <= 1)
        if self.curved:
            model.addConstr(x[2] * x[3] + x[4] * x[5] <= 1)
        model.setAttr("Obj", [y], [-0.5])
        model.update()
        return model, x


def best_of_depots(costs, curved):
    """By enumeration."""
    best = []
    for cost in costs:
        values = []
        for bits in np.ndindex(*[2] * 9):
            x, y = np.array(bits[:8]), bits[8]
            fits = ((1 + np.arange(8) % 3) @ x <= 6 + 2 * y) and x[0] + x[1] <= 1
            if fits and not (curved and x[2] * x[3] + x[4] * x[5] > 1):
                values.append(float(cost @ x) - 0.5 * y)
        best.append(max(values))
    return np.array(best)


@pytest.mark.parametrize("curved", [False, True])
def test_models_of_the_user_are_right_on_every_thread(curved):
    """Linear ones become a matrix; others are called, one call at a time."""
    problem = from_pyepo(Depots(curved))
    assert (problem.sense, problem.num_costs) == ("maximize", 8)
    costs = np.random.default_rng(0).uniform(0.1, 2, size=(40, 8)).astype(np.float32)
    right = best_of_depots(costs, curved)
    for _ in range(5):
        np.testing.assert_allclose(problem.solve_all(costs, threads=4).objectives, right, rtol=1e-5)
    np.testing.assert_allclose(rl.label(problem, costs, threads=4).objectives, right + 0, rtol=1e-5)
    assert (problem.to_dict()["kind"] == "linear_arrays") == (not curved)
    if not curved:
        assert pickle.loads(pickle.dumps(problem)) == problem


def test_changes_of_a_known_model_are_kept():
    weights, capacity = np.ones((1, 6)), np.array([3.0])

    class Picky(knapsackModel):
        def _getModel(self):
            model, x = super()._getModel()
            model.addConstr(x[0] + x[1] <= 1)
            return model, x

    changed = knapsackModel(weights, capacity)
    changed._model.addConstr(changed.x[0] + changed.x[1] <= 1)
    fixed = knapsackModel(weights, capacity)
    fixed.x[0].UB = 0
    assert from_pyepo(knapsackModel(weights, capacity)).to_dict()["kind"] == "knapsack"
    for model, right in [
        (Picky(weights, capacity), 6 + 4 + 3),
        (changed, 6 + 4 + 3),
        (fixed, 5 + 4 + 3),
    ]:
        assert from_pyepo(model).solve([6, 5, 4, 3, 2, 1]).objective == pytest.approx(right)


def test_copies_and_pickles_are_independent():
    model = as_pyepo(rl.Problem("SP5x5"))
    _, costs = rl.generate("SP5x5", instances=2, seed=0)
    model.setObj(costs[0])
    for twin in (model.copy(), copy.deepcopy(model)):
        twin.setObj(costs[1])
        assert twin.solve()[1] != model.solve()[1]
    again = pickle.loads(pickle.dumps(model))
    again.setObj(costs[0])
    assert again.solve()[1] == model.solve()[1]


def test_pyepos_pool_of_processes_solves_our_problem():
    features, costs = rl.generate("SP5x5", instances=40, seed=0)
    model = as_pyepo(rl.Problem("SP5x5"))
    table = DataLoader(optDataset(model, features, costs), 20)
    predictor = torch.nn.Linear(features.shape[1], costs.shape[1])
    alone = pyepo.metric.regret(predictor, model, table, processes=1)
    assert pyepo.metric.regret(predictor, model, table, processes=2) == alone


def test_a_cost_vector_of_the_wrong_length_is_refused():
    with pytest.raises(ValueError, match="40 costs are needed"):
        as_pyepo(rl.Problem("SP5x5")).setObj(np.ones(3))
