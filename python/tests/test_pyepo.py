"""PyEPO's models as our problems, and the other way round."""

import copy
import pickle
import warnings
from itertools import combinations

import numpy as np
import pytest

pytest.importorskip("pyepo", reason="pyepo is not installed")
pytest.importorskip("gurobipy", reason="gurobipy is not installed")

import gurobipy  # noqa: E402
import pyepo  # noqa: E402
import torch  # noqa: E402
from pyepo.data.dataset import optDataLoader, optDataset, optDatasetConstrs  # noqa: E402
from pyepo.func import SPOPlus  # noqa: E402
from pyepo.metric.unambregret import calUnambRegret  # noqa: E402
from pyepo.model.grb import (  # noqa: E402
    knapsackModel,
    optGrbModel,  # noqa: E402
    shortestPathModel,
    tspDFJModel,
    tspGGModel,
    vrpMTZModel,
    vrpRCIModel,
)
from torch.utils.data import DataLoader  # noqa: E402

import regretless as rl  # noqa: E402
from regretless import pyepo as ours  # noqa: E402
from regretless.pyepo import as_pyepo, from_pyepo  # noqa: E402


def model_of(name):
    """PyEPO's model of one of our benchmarks."""
    if name.startswith("SP"):
        return shortestPathModel(tuple(int(side) for side in name[2:].split("x")))
    if name.startswith("TSP"):
        return tspDFJModel(int(name[3:]))
    if name.startswith("CVRP"):
        return vrpRCIModel(5, [2.0, 1.0, 3.0, 2.0], 5.0, 2)
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
    """Linear ones become a matrix; others are called, one call at a time, with a warning."""
    if curved:
        with pytest.warns(UserWarning, match="slower than PyEPO itself.*quadratic"):
            problem = from_pyepo(Depots(curved))
    else:
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


def small_language_model():
    """Twelve of the least costs, six of which are predicted, with an own cost for the others."""
    from pyepo import dsl

    x, y = dsl.Variable(6, vtype=pyepo.EPO.BINARY), dsl.Variable(6, vtype=pyepo.EPO.BINARY)
    costs = dsl.Parameter(6)
    known = np.linspace(0.1, 0.9, 6)
    objective = dsl.Minimize(costs @ x + (known @ y + 3.0))
    return dsl.Problem(objective, [x.sum() + y.sum() >= 4, x.sum() >= 2])


@pytest.mark.parametrize("backend", ["gurobi", "pyomo", "ortools"])
def test_models_of_pyepos_language_become_a_matrix(backend):
    if backend != "gurobi":
        pytest.importorskip(backend, reason=f"{backend} is not installed")
    options = {"solver": "gurobi_direct"} if backend == "pyomo" else {}
    model = small_language_model().compile(backend=backend, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        problem = from_pyepo(model)
    assert problem.to_dict()["kind"] == "linear_arrays"
    for costs in np.random.default_rng(1).uniform(-1, 2, size=(10, 6)):
        model.setObj(costs)
        decision, objective = model.solve()
        solution = problem.solve(costs)
        assert solution.objective == pytest.approx(objective, abs=1e-5)
        np.testing.assert_allclose(solution.decision, decision[model.c_pred_index], atol=1e-6)


def test_models_that_are_called_return_the_predicted_part_of_their_decisions():
    model = small_language_model().compile(backend="gurobi")
    problem = ours.wrap_solver(model, thread_safe=False)
    costs = np.random.default_rng(2).uniform(-1, 2, size=6)
    assert problem.solve(costs).objective == pytest.approx(
        from_pyepo(model).solve(costs).objective, abs=1e-5
    )


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


KINDS = ["SP4x3", "KS8", "TSP6", "CVRP5"]


def costs_of(model, count, seed=0):
    return np.random.default_rng(seed).uniform(0.1, 1.0, size=(count, model.num_cost))


def solved(model, costs):
    model.setObj(costs)
    return model.solve()


@pytest.mark.parametrize("name", KINDS)
def test_models_have_the_attributes_of_pyepos_own(name):
    theirs = model_of(name)
    twin = as_pyepo(from_pyepo(theirs))
    attributes = {
        "SP": ["grid", "arcs"],
        "KS": ["weights", "capacity", "items"],
        "TS": ["num_nodes", "nodes", "edges"],
        "CV": ["num_nodes", "nodes", "edges", "demands", "capacity", "num_vehicle"],
    }[name[:2]]
    for attribute in attributes:
        np.testing.assert_array_equal(getattr(twin, attribute), getattr(theirs, attribute))
    assert (twin.num_cost, twin.modelSense) == (theirs.num_cost, theirs.modelSense)
    rebuilt = twin.rebuild()
    assert type(rebuilt) is type(twin) and rebuilt.get_config().keys() == twin.get_config().keys()
    if name[:2] in ("TS", "CV"):
        cost = costs_of(twin, 1)[0]
        decision, _ = solved(twin, cost)
        assert twin.getTour(decision) == theirs.getTour(decision)


def test_classes_take_the_arguments_of_pyepos():
    assert ours.shortestPathModel((3, 4)).grid == (3, 4)
    assert ours.knapsackModel([[1.0, 2.0]], [2.0]).num_cost == 2
    assert ours.tspModel(5).num_nodes == 5
    assert ours.vrpModel(4, [1.0, 1.0, 1.0], 3.0, 1).num_vehicle == 1
    for wrong in (lambda: ours.shortestPathModel((2.5, 3)), lambda: ours.tspModel(2)):
        with pytest.raises(ValueError):
            wrong()
    with pytest.raises(AttributeError, match="portfolioModel"):
        _ = ours.portfolioModel
    # PyEPO allows weights below 0.
    negative = ours.knapsackModel([[1.0, -2.0, 3.0]], [0.5])
    assert (
        solved(negative, [1.0, -0.5, 1.0])[1]
        == solved(knapsackModel([[1.0, -2.0, 3.0]], [0.5]), [1.0, -0.5, 1.0])[1]
    )


@pytest.mark.parametrize("name", ["KS8", "TSP6", "CVRP5"])
def test_further_constraints_have_the_optimum_that_pyepos_models_find(name):
    theirs = model_of(name)
    twin = as_pyepo(from_pyepo(theirs))
    random = np.random.default_rng(1)
    for cost in costs_of(twin, 6):
        decision, objective = solved(twin, cost)
        # At least one of the chosen variables must change.
        chosen = np.flatnonzero(decision > 0.5)
        row = np.zeros(twin.num_cost)
        row[chosen] = random.uniform(0.5, 1.5, size=len(chosen))
        bound = 0.9 * row.sum()
        expected = solved(theirs.addConstr(row, bound), cost)[1]
        added = twin.addConstr(torch.from_numpy(row), bound)
        assert added.solve()[1] == pytest.approx(expected, rel=1e-5), "keeps the costs"
        found, value = solved(added, cost)
        assert row @ found <= bound + 1e-6 and value != pytest.approx(objective, rel=1e-6)
        assert value == pytest.approx(expected, rel=1e-5)
        assert twin.solve()[1] == objective, "the model itself has no constraint"
        bound_problem = from_pyepo(added)
        assert bound_problem.solve(cost).objective == pytest.approx(expected, rel=1e-5)


def test_paths_with_a_further_constraint_are_paths():
    """PyEPO's model is a linear program, whose decisions would be fractions of paths."""
    model = as_pyepo(rl.Problem("SP4x4"))
    lengths, costs = costs_of(model, 2)
    best = min(
        (costs @ path, lengths @ path)
        for path in all_paths(model)
        if lengths @ path <= 0.8 * lengths @ solved(model, costs)[0]
    )
    decision, objective = solved(
        model.addConstr(lengths, 0.8 * lengths @ solved(model, costs)[0]), costs
    )
    assert set(np.unique(decision)) <= {0.0, 1.0}
    assert objective == pytest.approx(best[0], rel=1e-6)


def all_paths(model):
    """All paths through a grid, as decisions."""
    paths = [([0], np.zeros(model.num_cost))]
    found = []
    while paths:
        nodes, decision = paths.pop()
        if nodes[-1] == model.grid[0] * model.grid[1] - 1:
            found.append(decision)
        for number, (tail, head) in enumerate(model.arcs):
            if tail == nodes[-1]:
                longer = decision.copy()
                longer[number] = 1.0
                paths.append(([*nodes, head], longer))
    return found


@pytest.mark.parametrize(
    ("coefficients", "bound", "words"),
    [
        (np.ones((8, 1)), 1.0, "one-dimensional"),
        (np.ones(7), 1.0, "8 coefficients are needed"),
        (np.append(np.ones(7), np.nan), 1.0, "finite"),
        (np.ones(8), np.inf, "rhs"),
        (np.ones(8), True, "rhs"),
        (np.ones(8), "1", "rhs"),
    ],
)
def test_invalid_constraints_are_refused(coefficients, bound, words):
    with pytest.raises(ValueError, match=words):
        as_pyepo(rl.Problem("KS8")).addConstr(coefficients, bound)


def test_without_a_solution_the_error_is_that_of_pyepos_models():
    model = as_pyepo(rl.Problem("KS8")).addConstr(np.ones(8), -1.0)
    model.setObj(np.ones(8))
    with pytest.raises(RuntimeError, match="found no solution"):
        model.solve()


@pytest.mark.parametrize("name", ["SP4x3", "KS8", "TSP6", "CVRP5"])
def test_relaxations_bound_the_optimum_and_keep_further_constraints(name):
    model = as_pyepo(from_pyepo(model_of(name)))
    row = np.zeros(model.num_cost)
    sign = 1.0 if model.modelSense == pyepo.EPO.MINIMIZE else -1.0
    for cost in costs_of(model, 5):
        decision, objective = solved(model, cost)
        relaxation = model.relax()
        assert sign * solved(relaxation, cost)[1] <= sign * objective + 1e-6
        row[:] = 0.0
        row[np.flatnonzero(decision > 0.5)[0]] = 1.0
        cut = model.addConstr(row, 0.25).relax()
        fraction, bound = solved(cut, cost)
        assert row @ fraction <= 0.25 + 1e-6
        assert sign * bound >= sign * solved(relaxation, cost)[1] - 1e-6
        with pytest.raises(RuntimeError, match="relaxed already"):
            cut.relax()
    if name[:2] in ("TS", "CV"):
        with pytest.raises(RuntimeError, match="fractional"):
            model.relax().getTour(decision)


def test_the_relaxation_of_a_knapsack_is_that_of_pyepo():
    theirs = model_of("KS8")
    model = as_pyepo(from_pyepo(theirs))
    for cost in costs_of(model, 5):
        assert solved(model.relax(), cost)[1] == pytest.approx(
            solved(theirs.relax(), cost)[1], rel=1e-5
        )


@pytest.mark.parametrize("name", ["SP3x3", "KS8"])
def test_unambiguous_regret_is_that_of_pyepos_models(name):
    theirs = model_of(name)
    twin = as_pyepo(from_pyepo(theirs))
    true, predicted = costs_of(twin, 8, 0), np.round(costs_of(twin, 8, 1), 1)
    for cost, prediction in zip(true, predicted):
        best = solved(twin, cost)[1]
        expected = calUnambRegret(theirs, prediction, cost, best)
        assert calUnambRegret(twin, prediction, cost, best) == pytest.approx(expected, abs=1e-4)


def linear_choice():
    """Three items of which at most two fit, all with predicted costs."""
    return rl.Problem.from_arrays(
        np.array([[2.0, 1.0, 1.0], [1.0, 1.0, 1.0]]),
        [2.0, 1.0],
        relations=["<=", ">="],
        sense="maximize",
        upper=1.0,
        integer=True,
    )


BINDING = {
    "SP4x3": rl.Problem("SP4x3"),
    "KS8": rl.Problem("KS8"),
    "TSP7": rl.Problem("TSP7"),
    "CVRP6": rl.Problem(
        {"kind": "cvrp", "demands": [2.0, 1.0, 3.0, 2.0, 1.0], "capacity": 7.0, "vehicles": 3}
    ),
    "top 2": rl.Problem({"kind": "top_k", "items": 5, "k": 2, "sense": "minimize"}),
    "linear": linear_choice(),
    "assignment": rl.Problem.assignment(["a", "b", "c"], 4, forbidden=[("b", 2)]),
    "offers": rl.Problem.multiple_choice_knapsack([[1, 3], [2, 4, 1]], 5, present=[1, 1, 1, 0, 1]),
    "KS5 absent": rl.Problem(
        {"kind": "knapsack", "weights": [3, 4, 2, 5, 3], "capacity": 8, "present": [1, 0, 1, 1, 1]}
    ),
    "top 2 absent": rl.Problem(
        {"kind": "top_k", "items": 5, "k": 2, "sense": "minimize", "present": [1, 1, 0, 1, 1]}
    ),
    "TSP7 absent": rl.Problem({"kind": "tsp", "nodes": 7, "present": [0, 1, 1, 0, 1, 1, 1]}),
    "CVRP6 absent": rl.Problem(
        {
            "kind": "cvrp",
            "demands": [2.0, 9.0, 1.0, 3.0, 2.0],
            "capacity": 7.0,
            "vehicles": 2,
            "present": [1, 0, 1, 1, 1],
        }
    ),
}
SMALLER = {
    "KS5 absent": {"kind": "knapsack", "weights": [3, 2, 5, 3], "capacity": 8},
    "top 2 absent": {"kind": "top_k", "items": 4, "k": 2, "sense": "minimize"},
    "TSP7 absent": {"kind": "tsp", "nodes": 5},
    "CVRP6 absent": {"kind": "cvrp", "demands": [2, 1, 3, 2], "capacity": 7, "vehicles": 2},
}


def present_costs(problem):
    """Return which costs exist, from the list of items, nodes or customers."""
    about = problem.to_dict()
    flags = about["present"]
    if about["kind"] in ("knapsack", "top_k"):
        return np.array(flags, dtype=bool)
    nodes = flags if about["kind"] == "tsp" else [1, *flags]
    return np.array([bool(a and b) for a, b in combinations(nodes, 2)])


@pytest.mark.parametrize("name", SMALLER)
def test_models_with_absent_items_are_those_of_the_others(name):
    problem = BINDING[name]
    present = present_costs(problem)
    model, smaller = as_pyepo(problem), as_pyepo(rl.Problem(SMALLER[name]))
    for cost in costs_of(model, 5):
        decision, objective = solved(smaller, cost[present])
        row = decision * 1.0
        limit = float(row.sum() - 1.0)
        full_row = np.zeros(len(present))
        full_row[present] = row
        pairs = [
            (model, smaller),
            (model.relax(), smaller.relax()),
            (model.addConstr(full_row, limit), smaller.addConstr(row, limit)),
            (model.addConstr(full_row, limit).relax(), smaller.addConstr(row, limit).relax()),
        ]
        for full, expected in pairs:
            found, value = solved(full, cost)
            assert not found[~present].any()
            assert value == pytest.approx(solved(expected, cost[present])[1], abs=1e-6)
        assert solved(model, cost)[1] == pytest.approx(objective)


@pytest.mark.parametrize("name", BINDING)
def test_binding_constraints_are_valid_and_bind(name):
    """The normal of a constraint that binds has its maximum over all decisions at the optimum."""
    problem = BINDING[name]
    model = as_pyepo(problem)
    costs = costs_of(model, 5).astype(np.float32)
    table = optDatasetConstrs(model, np.zeros((5, 2), dtype=np.float32), costs)
    sign = -1.0 if problem.sense == "minimize" else 1.0
    for decision, normals in zip(table.sols.numpy(), table.ctrs):
        rows = normals.numpy()
        assert len(rows) >= model.num_cost
        for row in rows:
            highest = sign * problem.solve(sign * row).objective
            assert row @ decision == pytest.approx(highest, abs=1e-5)
    loader = optDataLoader(table, batch_size=5)
    assert next(iter(loader))[-1].shape[2] == model.num_cost


@pytest.mark.parametrize("name", ["SP4x3", "top 2", "TSP7", "top 2 absent", "TSP7 absent"])
def test_binding_constraints_span_the_cone_of_the_optimum(name):
    """Costs under which the relaxation has the decision as its optimum are in the cone."""
    optimize = pytest.importorskip("scipy.optimize")
    problem = BINDING[name]
    model = as_pyepo(problem)
    for cost in costs_of(model, 6):
        decision, _ = solved(model, cost)
        if name.startswith("TSP7"):
            # Far from every other tour, so the relaxation has no other optimum.
            cost = cost + 3.0 * (1.0 - decision)
        if name in SMALLER:
            # What is absent is not chosen at any cost.
            cost[~present_costs(problem)] = -5.0
        table = optDatasetConstrs(
            model, np.zeros((1, 2), dtype=np.float32), cost[None].astype(np.float32)
        )
        np.testing.assert_array_equal(table.sols[0].numpy(), decision)
        direction = -cost if problem.sense == "minimize" else cost
        _, distance = optimize.nnls(table.ctrs[0].numpy().T.astype(float), direction)
        assert distance < 1e-5


@pytest.mark.parametrize("name", ["SP4x3", "KS8"])
def test_binding_constraints_are_those_of_pyepos_models(name):
    theirs = model_of(name)
    features = np.zeros((4, 2), dtype=np.float32)
    costs = costs_of(theirs, 4).astype(np.float32)
    tables = [optDatasetConstrs(m, features, costs) for m in (theirs, as_pyepo(from_pyepo(theirs)))]
    for expected, actual in zip(*(table.ctrs for table in tables)):
        in_order = [sorted(map(tuple, rows.numpy().tolist())) for rows in (expected, actual)]
        np.testing.assert_allclose(in_order[0], in_order[1])


@pytest.mark.parametrize("name", ["TSP7", "CVRP6"])
def test_all_subtour_constraints_that_bind_are_listed(name):
    """By enumeration of the sets of three nodes or more, of routes without the depot."""
    problem = BINDING[name]
    model = as_pyepo(problem)
    first = 0 if name == "TSP7" else 1
    sizes = [3] if name == "TSP7" else [3, 4, 5]
    costs = costs_of(model, 4).astype(np.float32)
    table = optDatasetConstrs(model, np.zeros((4, 2), dtype=np.float32), costs)
    count = 0
    for decision, normals in zip(table.sols.numpy(), table.ctrs):
        listed = {tuple(row) for row in normals.numpy().tolist()}
        for size in sizes:
            for nodes in combinations(range(first, model.num_nodes), size):
                row = np.array([float(set(edge) <= set(nodes)) for edge in model.edges])
                if row @ decision == size - 1:
                    assert tuple(row) in listed
                    count += 1
    assert count > 3


def test_further_constraints_bind_too():
    model = as_pyepo(rl.Problem("TSP6"))
    cost = costs_of(model, 1)[0]
    decision, _ = solved(model, cost)
    row = decision.astype(float)
    added = model.addConstr(row, row.sum() - 2.0)  # another tour differs in two edges or more
    table = optDatasetConstrs(added, np.zeros((1, 2), np.float32), cost[None].astype(np.float32))
    assert any(np.array_equal(normal, row) for normal in table.ctrs[0].numpy())


def partly_known():
    """A shop that opens at a known cost of 2, or not; the gains of items are predicted."""
    return rl.Problem.from_arrays(
        np.array([[1.0, 0.0, -1.0], [0.0, 1.0, -1.0]]),
        [0.0, 0.0],
        sense="maximize",
        upper=1.0,
        integer=True,
        costs=[0, 1],
        known_costs=[0.0, 0.0, -2.0],
    )


def test_known_costs_count_in_pyepos_regret():
    problem = partly_known()
    model = as_pyepo(problem)
    assert model.num_cost == 2 and model.c_pred_index.tolist() == [0, 1]
    costs = np.random.default_rng(0).uniform(0.5, 2.0, size=(40, 2)).astype(np.float32)
    table = DataLoader(optDataset(model, costs, costs), 8)
    predictor = torch.nn.Linear(2, 2)
    with torch.no_grad():
        predicted = predictor(torch.from_numpy(costs)).numpy()
    expected = rl.evaluate(problem, predicted, C=costs).normalized_regret
    assert expected > 0.01
    assert pyepo.metric.regret(predictor, model, table) == pytest.approx(expected, rel=1e-4)
    loss = SPOPlus(model, processes=1)
    for features, true, decisions, objectives in table:
        loss(predictor(features), true, decisions, objectives).backward()
    assert torch.isfinite(predictor.weight.grad).all()
    with pytest.raises(ValueError, match="predict the costs of all columns"):
        optDatasetConstrs(model, costs, costs)
    closed = model.addConstr([0.0, 0.0, 1.0], 0.0)
    assert solved(closed, [9.0, 9.0])[1] == 0.0


def test_known_costs_of_a_file_are_refused_before_pyepo_leaves_them_out(tmp_path):
    file = tmp_path / "shop.lp"
    file.write_text(
        "maximize\n gain: 1 a + 1 b - 2 open\nsubject to\n r: a + b - 2 open <= 0\n"
        "binary\n a b open\nend\n"
    )
    model = as_pyepo(rl.Problem.from_file(file, costs=["a", "b"]))
    with pytest.raises(ValueError, match="known costs"):
        solved(model, [2.0, 2.0])
    for change in (model.relax, lambda: model.addConstr([1.0, 1.0], 1.0)):
        with pytest.raises(NotImplementedError, match="from_highspy"):
            change()


def test_functions_have_no_further_constraints():
    model = as_pyepo(rl.Problem.from_solver(lambda c: c < 0.5, 3, sense="minimize"))
    assert solved(model, [0.1, 0.9, 0.2])[0].tolist() == [1.0, 0.0, 1.0]
    for change in (model.relax, lambda: model.addConstr(np.ones(3), 1.0)):
        with pytest.raises(NotImplementedError, match="a Python function is called as it is"):
            change()


def test_pyepos_pool_of_processes_keeps_further_constraints():
    features, costs = rl.generate("SP4x4", instances=20, seed=0)
    for model in (
        as_pyepo(rl.Problem("SP4x4")).addConstr(np.append(1.0, np.zeros(23)), 0.0),
        as_pyepo(rl.Problem("KS24")).relax(),
    ):
        table = DataLoader(optDataset(model, features, costs), 20)
        predictor = torch.nn.Linear(features.shape[1], costs.shape[1])
        alone = pyepo.metric.regret(predictor, model, table, processes=1)
        assert pyepo.metric.regret(predictor, model, table, processes=2) == alone
        again = pickle.loads(pickle.dumps(model))
        assert solved(again, costs[0])[1] == solved(model, costs[0])[1]


def test_models_come_back_as_their_problem():
    for problem in [*BINDING.values(), partly_known()]:
        assert from_pyepo(as_pyepo(problem)) == problem


def test_routes_of_pyepo_become_routes():
    for theirs in (vrpRCIModel, vrpMTZModel):
        model = theirs(5, [2.0, 1.0, 3.0, 2.0], 5.0, 2)
        problem = from_pyepo(model)
        assert problem.to_dict()["kind"] == "cvrp"
        for cost in costs_of(model, 3):
            assert problem.solve(cost).objective == pytest.approx(solved(model, cost)[1], rel=1e-5)
