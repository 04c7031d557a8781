"""Problems solved by Python functions: serialized calls, limits, senses and messages."""

import concurrent.futures
import threading
import time
import warnings

import numpy as np
import pytest
from python_solvers import COSTS, USES, Stateful, problem_of, right

import regretless as rl


@pytest.mark.parametrize("use", USES)
def test_a_function_is_called_once_at_a_time(use):
    solver = Stateful()
    assert USES[use](problem_of(solver))
    assert (solver.most, solver.calls >= len(COSTS)) == (1, True)


def test_torch_calls_a_function_once_at_a_time():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    from regretless.torch import DecisionLayer, DecisionLoss

    solver = Stateful()
    problem = problem_of(solver)
    loss = DecisionLoss(problem, COSTS, "SPO+")
    predictions = torch.tensor(COSTS, requires_grad=True)
    loss(predictions, torch.arange(len(COSTS))).backward()
    decisions = DecisionLayer(problem)(torch.tensor(COSTS))
    assert (decisions.argmax(dim=1).numpy() == COSTS.argmin(axis=1)).all()
    assert (solver.most, float(predictions.grad.abs().max())) == (1, 0.0)


def test_threads_of_python_and_problems_of_one_object_share_a_lock():
    solver = Stateful()
    shared = problem_of(solver)
    others = [shared, shared, problem_of(solver), problem_of(solver)]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        assert all(pool.map(lambda problem: right(problem.solve_all(COSTS)), others))
    assert (solver.most, solver.calls) == (1, 4 * len(COSTS))


def test_a_function_that_is_thread_safe_is_called_by_several_threads_at_once():
    # The barrier opens only where both calls run at the same time; one alone would wait forever.
    both = threading.Barrier(2)
    waits = True

    def solve(costs):
        if waits:
            both.wait(timeout=30)
        return np.arange(len(costs)) == np.argmin(costs)

    problem = rl.Problem.from_solver(solve, 6, sense="minimize", thread_safe=True)
    solutions = problem.solve_all(COSTS, threads=2)
    assert right(solutions)
    # Given decisions are checked by one call after the other.
    waits = False
    labels = rl.Labels.from_decisions(problem, COSTS, solutions.decisions)
    waits = True
    loss = rl.Loss(problem, COSTS, "SPO+", labels=labels, threads=2)
    assert (loss.evaluate(COSTS)[0] < 1e-5).all()


def test_limits_and_searches_that_a_function_does_not_have_are_refused():
    rng = np.random.default_rng(0)
    X, C = rng.normal(size=(30, 2)), rng.uniform(1, 2, size=(30, 3))
    problem = rl.Problem.from_solver(cheapest_of_three, 3, sense="minimize")
    for limits in [{"nodes": 10}, {"gap": 0.01}, {"seconds": 1.0}]:
        with pytest.raises(ValueError, match="your own function; leave out .*inside the function"):
            problem.solve_all(C, **limits)
    with pytest.raises(ValueError, match="'node-limit 10' has no effect"):
        problem.solve_all(C, heuristic="node-limit 10")
    for method in ["SPO+ node-limit 10", "SPO+ warm certify"]:
        with pytest.raises(ValueError, match="has no effect"):
            rl.train(problem, X, C, method=method, epochs=1)


def cheapest_of_three(costs):
    return np.arange(3) == np.argmin(costs)


def test_a_problem_of_the_other_sense_is_refused():
    rng = np.random.default_rng(0)
    X, C = rng.normal(size=(30, 2)), rng.uniform(1, 2, size=(30, 3))
    problem = rl.Problem.from_solver(cheapest_of_three, 3, sense="minimize")
    model, _ = rl.train(problem, X, C, method="MAE(O,S)", epochs=1)
    other = rl.Problem.from_solver(cheapest_of_three, 3, sense="maximize")
    for call in [model.decide, lambda X, problem: model.evaluate(X, C, problem=problem)]:
        with pytest.raises(ValueError, match="maximizes, but the model was trained .* minimizes"):
            call(X, problem=other)
    assert len(model.decide(X, problem=rl.Problem.top_k(3, 1)).decisions) == 30


def test_a_wrong_sense_is_suspected_and_objectives_that_depend_on_costs_are_refused():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    C = 10 + X @ rng.normal(size=(2, 3)) + rng.normal(size=(60, 3))
    wrong = rl.Problem.from_solver(cheapest_of_three, 3, sense="maximize")
    with pytest.warns(UserWarning, match='is the sense "minimize"'):
        rl.train(wrong, X, C, method="MAE(O,S)", epochs=2)

    def with_rent(costs):
        decision = cheapest_of_three(costs)
        return decision, costs @ decision + 3 * costs[0]

    rented = rl.Problem.from_solver(with_rent, 3, sense="minimize")
    with pytest.raises(ValueError, match="the difference depends on the costs"):
        rl.train(rented, X, C, method="MAE(O,S)", epochs=2)


def test_costs_that_are_not_finite_are_a_value_error():
    problem = rl.Problem.top_k(2, 1)
    for bad in [np.nan, np.inf]:
        with pytest.raises(ValueError, match="cost 1 is"):
            problem.solve([1, bad])


def test_a_slow_function_is_announced_before_its_validation():
    def slow(costs):
        time.sleep(0.03)
        return cheapest_of_three(costs)

    rng = np.random.default_rng(0)
    X, C = rng.normal(size=(60, 2)), rng.uniform(1, 2, size=(60, 3))
    problem = rl.Problem.from_solver(slow, 3, sense="minimize")
    begun = time.monotonic()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        message = "validation regret takes .* solves, about .*; select = validation-loss"
        with pytest.raises(UserWarning, match=message):
            rl.train(problem, X, C, method="MAE(O,S)", epochs=1000)
    # Three minutes of validation were to come.
    assert time.monotonic() - begun < 60
