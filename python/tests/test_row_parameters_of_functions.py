"""Row parameters of problems that Python functions solve."""

import pickle

import numpy as np
import pytest
from row_problems import RNG, ROWS, X, chosen_cheapest, costs_of, function

import regretless as rl

pytestmark = [
    pytest.mark.filterwarnings("ignore:costs are matched by position"),
    pytest.mark.filterwarnings("ignore:the model was trained or validated on"),
]


def test_a_function_with_parameters_can_be_pickled():
    problem = rl.Problem.from_solver(
        chosen_cheapest, 5, sense="minimize", parameters=["needed"], check=check_count
    )
    again = pickle.loads(pickle.dumps(problem))
    assert again == problem
    assert again.parameters == ["needed"]
    assert again != rl.Problem.from_solver(chosen_cheapest, 5, sense="minimize")


def check_count(decision, parameters):
    return decision.sum() == parameters["needed"]


def test_a_function_gets_numbers_and_arrays_of_the_row():
    seen = []

    def solve(costs, parameters):
        seen.append(parameters)
        return np.asarray(parameters["allowed"]) * (costs < parameters["most"])

    problem = rl.Problem.from_solver(solve, 3, sense="maximize", parameters=["most", "allowed"])
    allowed = (RNG.uniform(size=(ROWS, 3)) < 0.5).astype(float)
    parameters = {"allowed": allowed, "most": np.linspace(2, 9, ROWS)}
    costs = costs_of(3)
    solved = problem.solve_all(costs, parameters=parameters)
    np.testing.assert_array_equal(solved.decisions, allowed * (costs < parameters["most"][:, None]))
    assert [type(values["most"]) for values in seen] == [float] * ROWS
    np.testing.assert_array_equal([values["allowed"] for values in seen], allowed)
    problem.solve(costs[0], parameters={"most": 1.5, "allowed": [1, 0, 1]})
    assert list(seen[-1]) == ["most", "allowed"]
    with pytest.raises(ValueError, match="needs the parameter 'most'"):
        problem.solve_all(costs)
    with pytest.raises(ValueError, match="not a name of its own"):
        rl.Problem.from_solver(solve, 3, sense="maximize", parameters=["most", "most"])


def test_an_exception_of_the_function_is_raised_unchanged():
    def solve(costs, parameters):
        raise LookupError(parameters["needed"])

    problem = rl.Problem.from_solver(solve, 5, sense="minimize", parameters=["needed"])
    with pytest.raises(LookupError, match=r"2\.5"):
        problem.solve_all(costs_of(5)[:1], parameters={"needed": [2.5]})


@pytest.mark.parametrize("thread_safe", [False, True])
def test_methods_with_a_pool_need_a_check_of_the_function(thread_safe):
    case = function(None)
    for method in ("MAP", "NCE", "LTR(pair)", "SPO+ cache 5%"):
        with pytest.raises(ValueError, match="check of decisions"):
            rl.train(case.problem, X, case.costs, method, parameters=case.parameters, epochs=1)
        with pytest.raises(ValueError, match="check of decisions"):
            rl.Loss(case.problem, case.costs, method, parameters=case.parameters)
    checked = []

    def check(decision, parameters):
        checked.append(decision)
        return decision.sum() == parameters["needed"]

    problem = rl.Problem.from_solver(
        chosen_cheapest,
        5,
        sense="minimize",
        parameters=["needed"],
        check=check,
        thread_safe=thread_safe,
    )
    _, report = rl.train(problem, X, case.costs, "MAP", parameters=case.parameters, epochs=2)
    assert np.isfinite(report.test.regret)
    assert len(checked) > ROWS
    other = {"needed": 5.0 - case.parameters["needed"]}
    labels = rl.label(problem, case.costs, parameters=case.parameters)
    with pytest.raises(ValueError, match="refuses the decision"):
        rl.Labels.from_decisions(problem, case.costs, labels.decisions, parameters=other)
    again = rl.Labels.from_decisions(
        problem, case.costs, labels.decisions, parameters=case.parameters
    )
    np.testing.assert_array_equal(again.decisions, labels.decisions)


def test_decisions_that_the_check_refuses_are_no_decisions():
    problem = rl.Problem.from_solver(
        lambda costs: costs > 5, 4, sense="maximize", check=lambda decision: decision.sum() <= 2
    )
    costs = costs_of(4)
    feasible = (costs > 5).sum(axis=1) <= 2
    solved = problem.solve_all(costs)
    np.testing.assert_array_equal(np.isnan(solved.objectives), ~feasible)
    assert "refuses" in solved.statuses[int(np.argmin(feasible))]
