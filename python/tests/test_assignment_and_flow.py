"""Assignments, multiple-choice knapsacks, flows and transports, compared with scipy."""

import pickle

import numpy as np
import pytest

import regretless as rl

optimize = pytest.importorskip("scipy.optimize")


@pytest.mark.parametrize("shape", [(6, 6), (4, 7), (7, 4), (1, 3)])
@pytest.mark.parametrize("sense", ["minimize", "maximize"])
def test_assignments_are_those_of_scipy(shape, sense):
    rng = np.random.default_rng(shape[0])
    problem = rl.Problem.assignment(*shape, sense=sense)
    costs = rng.normal(size=(20, *shape))
    solved = problem.solve_all(costs.reshape(20, -1))
    for cost, objective, decision in zip(costs, solved.objectives, solved.decisions):
        pairs = optimize.linear_sum_assignment(cost, maximize=sense == "maximize")
        assert objective == pytest.approx(cost[pairs].sum(), abs=1e-5)
        np.testing.assert_array_equal(np.argwhere(decision.reshape(shape)), np.transpose(pairs))


def test_offers_are_those_of_an_integer_program():
    rng = np.random.default_rng(2)
    weights = rng.uniform(1, 5, size=(8, 4))
    problem = rl.Problem.multiple_choice_knapsack(weights, 18.0)
    values = rng.uniform(-1, 4, size=(10, 32))
    rows = np.vstack([np.kron(np.eye(8), np.ones((1, 4))), weights.reshape(1, -1)])
    limits = optimize.LinearConstraint(rows, [1.0] * 8 + [-np.inf], [1.0] * 8 + [18.0])
    for value, objective in zip(values, problem.solve_all(values).objectives):
        best = optimize.milp(-value, constraints=limits, integrality=1, bounds=(0, 1))
        assert objective == pytest.approx(-best.fun, abs=1e-5)


def test_flows_are_those_of_a_linear_program():
    rng = np.random.default_rng(3)
    nodes, arcs = 12, 50
    tails = np.concatenate([np.arange(nodes), rng.integers(0, nodes, arcs - nodes)])
    heads = (tails + np.where(np.arange(arcs) < nodes, 1, rng.integers(1, nodes, arcs))) % nodes
    capacity = np.where(np.arange(arcs) < nodes, np.inf, rng.uniform(1, 4, arcs))
    supply = rng.normal(size=nodes)
    supply -= supply.mean()
    problem = rl.Problem.min_cost_flow(
        np.stack([tails, heads], axis=1), dict(enumerate(supply)), capacity=capacity
    )
    balance = np.zeros((nodes, arcs))
    balance[tails, np.arange(arcs)] += 1.0
    balance[heads, np.arange(arcs)] -= 1.0
    bounds = np.stack([np.zeros(arcs), capacity], axis=1)
    costs = rng.uniform(0, 5, size=(10, arcs))
    solved = problem.solve_all(costs)
    for cost, objective, flow in zip(costs, solved.objectives, solved.decisions):
        best = optimize.linprog(cost, A_eq=balance, b_eq=supply, bounds=bounds)
        assert objective == pytest.approx(best.fun, abs=1e-5)
        np.testing.assert_allclose(balance @ flow, supply, atol=1e-5)


def test_costs_of_what_is_absent_may_be_missing():
    problem = rl.Problem.assignment(2, 2, forbidden=[(0, 0)])
    np.testing.assert_array_equal(problem.solve([np.nan, 1.0, 2.0, 3.0]).decision, [0, 1, 1, 0])
    problem = rl.Problem.transport([3, 3], [2], present=[[0], [1]])
    np.testing.assert_array_equal(problem.solve([np.nan, 1.0]).decision, [0, 2])


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (
            lambda: rl.Problem.assignment(["Ann", "Ben"], 2, forbidden=[("Ann", 0), ("Ben", 0)]),
            "agents Ann, Ben may do only task 1",
        ),
        (
            lambda: rl.Problem.multiple_choice_knapsack([[2, 3], [4]], 5),
            "weigh 6, more than the capacity 5",
        ),
        (
            lambda: rl.Problem.min_cost_flow([("a", "b")], {"a": 3, "b": -3}, capacity=2),
            "node b needs 3, but only 2 can reach it",
        ),
        (
            lambda: rl.Problem.min_cost_flow([("a", "b")], {"a": 3, "b": -2}),
            "supplies sum to 3 and demands to 2",
        ),
        (lambda: rl.Problem.transport([1, 1], [3]), "need 3, more than the 2"),
        (
            lambda: rl.Problem.transport([1], rl.columns("need")),
            "does not state the number of destinations",
        ),
    ],
)
def test_what_cannot_be_solved_is_refused_with_the_reason(build, message):
    with pytest.raises(ValueError, match=message):
        build()


def test_a_row_without_a_flow_says_why():
    problem = rl.Problem.transport([4, 4], rl.columns("need"), destinations=2)
    assert problem.solve(np.ones(4), parameters={"need": [2, 3]}).objective == 5.0
    with pytest.raises(RuntimeError, match="need 10, more than the 8"):
        problem.solve(np.ones(4), parameters={"need": [9, 1]})


def test_problems_can_be_pickled_and_named():
    problem = rl.Problem.min_cost_flow([("a", "b", "road")], {"a": 1, "b": -1})
    assert pickle.loads(pickle.dumps(problem)) == problem
    assert problem.cost_names == ["road"]
    named = rl.Problem.assignment(["Ann", "Ben"], ["x", "y"])
    assert named.cost_names == ["Ann-x", "Ann-y", "Ben-x", "Ben-y"]
