"""Feasible sets, offered items and known costs that differ per row."""

import doctest
import inspect
import os
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest

import regretless as rl
from regretless.tables.parameters import parameter_columns

pytestmark = [
    pytest.mark.filterwarnings("ignore:costs are matched by position"),
    pytest.mark.filterwarnings("ignore:the model was trained or validated on"),
]

ROWS = 60
RNG = np.random.default_rng(7)
X = RNG.normal(size=(ROWS, 4)).astype(np.float32)
WEIGHTS = RNG.integers(1, 9, size=8).astype(float)

MODEL = """\
Minimize
 cost: x_a + x_b + x_c
Subject To
 north: x_a + x_b >= 4
 south: x_b + x_c >= 3
Bounds
 x_a <= 9
 x_b <= 9
 x_c <= 9
End
"""


def costs_of(width, low=1.0, high=10.0):
    return np.random.default_rng(width).uniform(low, high, size=(ROWS, width))


def chosen_cheapest(costs, parameters):
    return np.argsort(np.argsort(costs, kind="stable"), kind="stable") < parameters["needed"]


class Case:
    """A problem with parameters per row, and the problem of a row built by hand."""

    def __init__(self, problem, parameters, row_problem, costs):
        self.problem, self.parameters = problem, parameters
        self.row_problem, self.costs = row_problem, costs

    def by_hand(self, row):
        values = {
            name: entries[row] if entries.ndim > 1 else float(entries[row])
            for name, entries in self.parameters.items()
        }
        return self.row_problem(**values)


def knapsack_capacity(_folder):
    return Case(
        rl.Problem.knapsack(WEIGHTS, rl.column("cap")),
        {"cap": RNG.integers(5, 30, size=ROWS).astype(float)},
        lambda cap: rl.Problem.knapsack(WEIGHTS, cap),
        costs_of(8),
    )


def knapsack_weights(_folder):
    return Case(
        rl.Problem.knapsack(rl.columns("w"), 12.0, items=5),
        {"w": RNG.integers(1, 9, size=(ROWS, 5)).astype(float)},
        lambda w: rl.Problem.knapsack(w, 12.0),
        costs_of(5),
    )


def top_k(_folder):
    return Case(
        rl.Problem.top_k(6, rl.column("k")),
        {"k": RNG.integers(1, 6, size=ROWS).astype(float)},
        lambda k: rl.Problem.top_k(6, int(k)),
        costs_of(6),
    )


def grid_ends(_folder):
    sources, targets = RNG.integers(0, 4, size=ROWS), RNG.integers(11, 16, size=ROWS)
    sources, targets = 4 * (sources // 2) + sources % 2, np.where(targets < 14, 15, targets)
    return Case(
        rl.Problem.grid_path(4, 4, source=rl.column("from"), target=rl.column("to")),
        {"from": sources.astype(float), "to": targets.astype(float)},
        lambda **ends: rl.Problem.grid_path(4, 4, source=int(ends["from"]), target=int(ends["to"])),
        costs_of(24),
    )


def present_items(_folder):
    offered = (RNG.uniform(size=(ROWS, 7)) < 0.7).astype(float)
    offered[:, :2] = 1.0
    return Case(
        rl.Problem.top_k(7, 2, sense="maximize", present=rl.columns("offered")),
        {"offered": offered},
        lambda offered: rl.Problem.top_k(7, 2, sense="maximize", present=offered),
        costs_of(7),
    )


def assigned_pairs(_folder):
    allowed = (RNG.uniform(size=(ROWS, 12)) < 0.7).astype(float)
    # Agent i may always do task i.
    allowed[:, [0, 5, 10]] = 1.0
    return Case(
        rl.Problem.assignment(["a", "b", "c"], 4, present=rl.columns("allowed")),
        {"allowed": allowed},
        lambda allowed: rl.Problem.assignment(["a", "b", "c"], 4, present=allowed),
        costs_of(12),
    )


def budgets(_folder):
    weights = [[1.0, 3.0, 2.5], [2.0], [4.0, 0.5]]
    return Case(
        rl.Problem.multiple_choice_knapsack(weights, rl.column("budget")),
        {"budget": RNG.uniform(4, 9, size=ROWS)},
        lambda budget: rl.Problem.multiple_choice_knapsack(weights, budget),
        costs_of(6),
    )


def supplies(_folder):
    arcs = [("a", "b"), ("b", "c"), ("a", "c")]
    sent = RNG.integers(1, 5, size=ROWS).astype(float)
    supply = {"a": rl.column("sent"), "c": rl.column("got")}
    return Case(
        rl.Problem.min_cost_flow(arcs, supply, capacity=[2, np.inf, np.inf]),
        {"sent": sent, "got": -sent},
        lambda sent, got: rl.Problem.min_cost_flow(
            arcs, {"a": sent, "c": got}, capacity=[2, np.inf, np.inf]
        ),
        costs_of(3),
    )


def demands(_folder):
    capacity = np.array([[2.0, np.inf, 4.0], [3.0, 3.0, 3.0]])
    return Case(
        rl.Problem.transport([8.0, 6.0], rl.columns("need"), capacity=capacity, destinations=3),
        {"need": RNG.uniform(0, 4, size=(ROWS, 3))},
        lambda need: rl.Problem.transport([8.0, 6.0], need, capacity=capacity),
        costs_of(6),
    )


def model_file(folder):
    path = folder / "model.lp"
    path.write_text(MODEL)
    return Case(
        rl.Problem.from_file(
            path,
            rhs={"north": rl.column("d_north"), "south": rl.column("d_south")},
            upper={"x_a": rl.column("most_a")},
        ),
        {
            "d_north": RNG.uniform(2, 9, size=ROWS),
            "d_south": RNG.uniform(2, 9, size=ROWS),
            "most_a": RNG.uniform(1, 5, size=ROWS),
        },
        lambda d_north, d_south, most_a: rl.Problem.from_file(
            path, rhs={"north": d_north, "south": d_south}, upper={"x_a": most_a}
        ),
        costs_of(3),
    )


def function(_folder):
    return Case(
        rl.Problem.from_solver(
            chosen_cheapest, 5, sense="minimize", name="cheapest", parameters=["needed"]
        ),
        {"needed": RNG.integers(1, 5, size=ROWS).astype(float)},
        lambda needed: rl.Problem.from_solver(
            lambda costs: chosen_cheapest(costs, {"needed": needed}),
            5,
            sense="minimize",
            name="cheapest",
        ),
        costs_of(5),
    )


CASES = [
    knapsack_capacity,
    knapsack_weights,
    top_k,
    grid_ends,
    present_items,
    assigned_pairs,
    budgets,
    supplies,
    demands,
    model_file,
    function,
]


@pytest.fixture(params=CASES, ids=lambda case: case.__name__)
def case(request, tmp_path):
    return request.param(tmp_path)


def test_decisions_and_objectives_are_those_of_problems_built_by_hand(case):
    solved = case.problem.solve_all(case.costs, parameters=case.parameters)
    labels = rl.label(case.problem, case.costs, parameters=case.parameters)
    distinct = set()
    for row in range(ROWS):
        own = case.by_hand(row).solve(case.costs[row])
        values = {name: entries[row] for name, entries in case.parameters.items()}
        single = case.problem.solve(case.costs[row], parameters=values)
        for decision in (solved.decisions[row], labels.decisions[row], single.decision):
            np.testing.assert_array_equal(decision, own.decision)
        assert solved.objectives[row] == labels.objectives[row] == own.objective
        assert single.objective == own.objective
        distinct.add(own.decision.tobytes())
    assert len(distinct) > 3, "the rows of the test have different decisions"


def test_regrets_are_those_of_problems_built_by_hand(case):
    predictions = case.costs * np.random.default_rng(1).uniform(0.5, 2.0, size=case.costs.shape)
    regrets = rl.regret(case.problem, predictions, case.costs, parameters=case.parameters)
    evaluation = rl.evaluate(case.problem, predictions, C=case.costs, parameters=case.parameters)
    np.testing.assert_array_equal(evaluation.rows["regret"], regrets)
    for row in range(ROWS):
        one = slice(row, row + 1)
        own = rl.regret(case.by_hand(row), predictions[one], case.costs[one])
        np.testing.assert_array_equal(regrets[one], own)
    assert (regrets > 0).any()


def test_models_decide_for_the_set_of_the_row(case):
    costs = case.costs.astype(np.float32)
    model, report = rl.train(
        case.problem, X, costs, "MAE(O,S)", parameters=case.parameters, epochs=4, seed=1
    )
    problem = case.problem if case.problem.to_dict()["kind"] == "external" else None
    decided = model.decide(X, problem=problem, parameters=case.parameters)
    predicted = model.predict(X)
    for row in range(0, ROWS, 7):
        own = case.by_hand(row).solve(predicted[row])
        np.testing.assert_array_equal(decided.decisions[row], own.decision)
    evaluation = model.evaluate(X, costs, problem=problem, parameters=case.parameters)
    np.testing.assert_array_equal(
        evaluation.rows["regret"],
        rl.regret(case.problem, predicted, costs, parameters=case.parameters),
    )
    assert np.isfinite(report.test.regret)


def test_equal_parameters_give_the_model_of_the_fixed_problem(case):
    """The networks are the same, byte for byte; only the stored problem differs."""
    costs = case.costs.astype(np.float32)
    same = {name: np.repeat(entries[:1], ROWS, axis=0) for name, entries in case.parameters.items()}
    fixed = case.by_hand(0)
    for method in ("MAE(O,S)", "SPO+"):
        per_row, _ = rl.train(case.problem, X, costs, method, parameters=same, epochs=3, seed=2)
        by_hand, _ = rl.train(fixed, X, costs, method, epochs=3, seed=2)
        np.testing.assert_array_equal(per_row.predict(X), by_hand.predict(X))
        np.testing.assert_array_equal(per_row.coefficients, by_hand.coefficients)


def test_results_do_not_depend_on_the_number_of_threads(case):
    first, second = (
        rl.train(
            case.problem,
            X,
            case.costs,
            "SPO+",
            parameters=case.parameters,
            epochs=2,
            threads=threads,
        )[0].to_bytes()
        for threads in (1, 3)
    )
    assert first == second


def test_loss_values_are_those_of_problems_built_by_hand(case):
    predictions = case.costs * np.random.default_rng(3).uniform(0.5, 2.0, size=case.costs.shape)
    for name in ("MAE(O,S)", "MSE(O)", "SPO+", "PFYL(samples=2)"):
        loss = rl.Loss(case.problem, case.costs, name, parameters=case.parameters)
        values, gradients = loss.evaluate(predictions)
        for row in range(0, ROWS, 11):
            own = rl.Loss(case.by_hand(row), case.costs, name)
            own_values, own_gradients = own.evaluate(predictions[row : row + 1], rows=[row])
            np.testing.assert_array_equal(values[row : row + 1], own_values)
            np.testing.assert_array_equal(gradients[row : row + 1], own_gradients)


def test_the_problem_can_be_pickled_copied_and_described(case):
    assert pickle.loads(pickle.dumps(case.problem)) == case.problem or "external" in str(
        case.problem.to_dict()
    )
    assert case.problem.parameters == list(case.parameters)
    if case.problem.to_dict()["kind"] == "external":
        return
    again = rl.Problem(case.problem.to_dict())
    assert again == case.problem
    assert again.parameters == case.problem.parameters
    model, _ = rl.train(
        case.problem, X, case.costs, parameters=case.parameters, method="MAE(O,S)", epochs=1
    )
    loaded = rl.Model.from_bytes(model.to_bytes())
    assert loaded.problem == case.problem
    np.testing.assert_array_equal(
        loaded.decide(X, parameters=case.parameters).decisions,
        model.decide(X, parameters=case.parameters).decisions,
    )


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


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_parameters_may_be_a_frame_or_columns_of_the_features(library, tmp_path):
    frames = pytest.importorskip(library)
    case = model_file(tmp_path)
    frame = frames.DataFrame(case.parameters)
    by_arrays = case.problem.solve_all(case.costs, parameters=case.parameters)
    by_frame = case.problem.solve_all(case.costs, parameters=frame)
    np.testing.assert_array_equal(by_arrays.decisions, by_frame.decisions)
    features = frames.DataFrame({**{f"f{j}": X[:, j] for j in range(4)}, **case.parameters})
    names = list(case.parameters)
    model, _ = rl.train(
        case.problem, features, case.costs, parameters=names, method="MAE(O,S)", epochs=2
    )
    assert model.feature_names == list(features.columns)
    np.testing.assert_array_equal(
        np.asarray(model.decide(features, parameters=names).decisions),
        np.asarray(model.decide(features, parameters=case.parameters).decisions),
    )
    with pytest.raises(ValueError, match="X has no column 'd_west'"):
        model.decide(features, parameters=["d_west"])


def test_patterns_name_many_columns():
    problem = rl.Problem.knapsack(rl.columns("w_*"), rl.column("cap"), items=3)
    weights = RNG.integers(1, 6, size=(ROWS, 3)).astype(float)
    one = {"w": weights, "cap": np.full(ROWS, 7.0)}
    many = {"w_c": weights[:, 0], "w_a": weights[:, 1], "w_b": weights[:, 2], "cap": one["cap"]}
    costs = costs_of(3)
    by_array = rl.Problem.knapsack(rl.columns("w"), rl.column("cap"), items=3)
    np.testing.assert_array_equal(
        problem.solve_all(costs, parameters=many).decisions,
        by_array.solve_all(costs, parameters=one).decisions,
    )
    one_each = rl.Problem.knapsack([rl.column("w_c"), rl.column("w_a"), rl.column("w_b")], 7.0)
    del many["cap"]
    np.testing.assert_array_equal(
        one_each.solve_all(costs, parameters=many).decisions,
        by_array.solve_all(costs, parameters=one).decisions,
    )


BAD_PARAMETERS = [
    (None, "needs the parameter 'cap' of every row"),
    ({}, "needs the parameter 'cap'"),
    ({"cap": np.ones(ROWS - 1)}, f"'cap' has {ROWS - 1} rows, C has {ROWS}"),
    ({"cap": 5.0}, "one number per row"),
    ({"cap": np.ones((ROWS, 2))}, "2 numbers per row, but 1"),
    ({"cap": np.ones((ROWS, 1, 1))}, "one number per row"),
    ({"cap": np.full(ROWS, np.nan)}, "row 0, column cap"),
    ({"cap": np.array(["a"] * ROWS, dtype=object)}, "'cap', must be an array of numbers"),
    ({"cap": np.array([None] * ROWS, dtype=object)}, "row 0, column cap"),
    ({"cap": [[1.0], [1.0, 2.0]]}, "'cap', must be an array of numbers"),
    ({"cap": np.ones(ROWS), "vol": np.ones(ROWS)}, "does not read the parameter 'vol'"),
    ({"capacity": np.ones(ROWS)}, "does not read the parameter 'capacity'; it reads 'cap'"),
    (["cap"], "columns of X"),
    (np.ones(ROWS), "a mapping from names to arrays, or a DataFrame, not ndarray"),
    ({3: np.ones(ROWS)}, "names of type str"),
]


@pytest.mark.parametrize(("parameters", "words"), BAD_PARAMETERS)
def test_wrong_parameters_are_refused(parameters, words):
    problem = rl.Problem.knapsack(WEIGHTS, rl.column("cap"))
    costs = costs_of(8)
    for call in (
        lambda: problem.solve_all(costs, parameters=parameters),
        lambda: rl.label(problem, costs, parameters=parameters),
        lambda: rl.Loss(problem, costs, "SPO+", parameters=parameters),
        lambda: rl.regret(problem, costs, costs, parameters=parameters),
    ):
        with pytest.raises(ValueError, match=words):
            call()
    if parameters is None or not isinstance(parameters, list):
        with pytest.raises(ValueError, match=words.replace("C has", "X has")):
            rl.train(problem, X, costs, parameters=parameters)


def test_parameters_of_a_single_row():
    problem = rl.Problem.knapsack(WEIGHTS, rl.column("cap"))
    costs = costs_of(8)[0]
    solution = problem.solve(costs, parameters={"cap": 12})
    assert solution.objective == rl.Problem.knapsack(WEIGHTS, 12).solve(costs).objective
    for parameters, words in [
        (None, "needs the parameter 'cap'"),
        ({"cap": [[3.0]]}, "a number or a one-dimensional array"),
        ({"cap": [3.0, 4.0]}, "2 numbers per row, but 1"),
        ({"cap": 3.0, "w": 2.0}, "does not read the parameter 'w'"),
        (["cap"], "numbers by name"),
        (5.0, "numbers by name"),
    ]:
        with pytest.raises(ValueError, match=words):
            problem.solve(costs, parameters=parameters)
    with pytest.raises(RuntimeError, match="capacity"):
        problem.solve(costs, parameters={"cap": -1.0})


def test_problems_without_parameters_refuse_them():
    problem = rl.Problem.top_k(4, 2)
    assert problem.parameters == []
    with pytest.raises(ValueError, match="no parameters per row, and 'k' was given"):
        problem.solve_all(costs_of(4), parameters={"k": np.ones(ROWS)})


def test_a_row_without_a_decision_does_not_stop_the_others(tmp_path):
    case = model_file(tmp_path)
    parameters = {name: entries.copy() for name, entries in case.parameters.items()}
    parameters["d_north"][3] = 1000.0
    parameters["most_a"][5] = -1.0
    solved = case.problem.solve_all(case.costs, parameters=parameters)
    others = np.setdiff1d(np.arange(ROWS), [3, 5])
    assert np.isnan(solved.objectives[[3, 5]]).all()
    np.testing.assert_array_equal(
        solved.objectives[others],
        case.problem.solve_all(case.costs, parameters=case.parameters).objectives[others],
    )
    with pytest.warns(UserWarning, match="2 of the rows have no decision"):
        labels = rl.label(case.problem, case.costs, parameters=parameters)
    assert sorted(labels.failed) == [3, 5]
    assert "north" in labels.failed[3]


def test_labels_belong_to_their_parameters():
    case = knapsack_capacity(None)
    labels = rl.label(case.problem, case.costs, parameters=case.parameters)
    other = {"cap": case.parameters["cap"] + 1.0}
    with pytest.raises(ValueError, match="other parameters"):
        rl.evaluate(case.problem, case.costs, C=case.costs, labels=labels, parameters=other)
    with pytest.raises(ValueError, match="another problem"):
        rl.evaluate(case.by_hand(0), case.costs, C=case.costs, labels=labels)
    given = rl.Labels.from_decisions(
        case.problem, case.costs, labels.decisions, parameters=case.parameters
    )
    np.testing.assert_array_equal(given.objectives, labels.objectives)
    small = {"cap": np.ones(ROWS)}
    with pytest.raises(ValueError, match="label of instance"):
        rl.Labels.from_decisions(case.problem, case.costs, labels.decisions, parameters=small)


def test_stored_labels_and_shards_are_those_of_the_parameters(tmp_path):
    case = knapsack_capacity(None)
    store = tmp_path / "costs.npy"
    for shard in ("1/2", "2/2"):
        rl.label(case.problem, case.costs, parameters=case.parameters, store=store, shard=shard)
    joined = rl.label(case.problem, case.costs, parameters=case.parameters, store=store)
    direct = rl.label(case.problem, case.costs, parameters=case.parameters)
    np.testing.assert_array_equal(joined.decisions, direct.decisions)
    other = {"cap": case.parameters["cap"] + 3.0}
    again = rl.label(case.problem, case.costs, parameters=other, store=store)
    expected = rl.label(case.problem, case.costs, parameters=other)
    np.testing.assert_array_equal(again.decisions, expected.decisions)
    assert not np.array_equal(again.decisions, direct.decisions)


def test_known_costs_are_part_of_the_objective():
    known = np.random.default_rng(5).uniform(0, 8, size=(ROWS, 6))
    costs = costs_of(6)
    plain = rl.Problem.top_k(6, 2)
    per_row = plain.with_known(rl.columns("distance"))
    parameters = {"distance": known}
    solved = per_row.solve_all(costs, parameters=parameters)
    total = plain.solve_all(costs + known)
    np.testing.assert_array_equal(solved.decisions, total.decisions)
    np.testing.assert_array_equal(solved.objectives, total.objectives)
    predictions = costs * np.random.default_rng(6).uniform(0.5, 2, size=costs.shape)
    np.testing.assert_array_equal(
        rl.regret(per_row, predictions, costs, parameters=parameters),
        rl.regret(plain, predictions + known, costs + known),
    )
    fixed = plain.with_known(known[0])
    np.testing.assert_array_equal(
        fixed.solve_all(costs).objectives, plain.solve_all(costs + known[0]).objectives
    )
    assert fixed.solve(costs[1]).objective == plain.solve(costs[1] + known[0]).objective
    values, gradients = rl.Loss(per_row, costs, "SPO+", parameters=parameters).evaluate(predictions)
    totals = rl.Loss(plain, costs + known, "SPO+").evaluate(predictions + known)
    np.testing.assert_array_equal(values, totals[0])
    np.testing.assert_array_equal(gradients, totals[1])
    model, _ = rl.train(per_row, X, costs, parameters=parameters, method="MAE(O,S)", epochs=2)
    np.testing.assert_array_equal(
        model.decide(X, parameters=parameters).decisions,
        plain.solve_all(model.predict(X) + known).decisions,
    )
    mixed = plain.with_known([1.0, 0, 0, rl.column("toll"), 0, 0])
    tolls = np.zeros((ROWS, 6))
    tolls[:, 0], tolls[:, 3] = 1.0, known[:, 3]
    np.testing.assert_array_equal(
        mixed.solve_all(costs, parameters={"toll": known[:, 3]}).objectives,
        plain.solve_all(costs + tolls).objectives,
    )
    with pytest.raises(ValueError, match="known has 2 costs"):
        plain.with_known([1.0, 2.0])
    with pytest.raises(ValueError, match="Problem.solve"):
        rl.Solver(fixed)


def test_known_costs_have_factors_and_names():
    costs, prices = costs_of(4), np.random.default_rng(8).uniform(0, 5, size=(ROWS, 4))
    plain = rl.Problem.top_k(4, 2, sense="maximize")
    priced = plain.with_known(rl.columns("price", factor=-1))
    np.testing.assert_array_equal(
        priced.solve_all(costs, parameters={"price": prices}).objectives,
        plain.solve_all(costs - prices).objectives,
    )
    assert repr(rl.column("price", factor=-1)) == "column('price', factor=-1)"
    named = rl.Problem.from_arrays(
        [[1, 1, 1]], [2], sense="minimize", relations=">=", upper=1, names=["a", "b", "c"]
    )
    by_name = named.with_known({"b": 3.0, "c": rl.column("toll")})
    known = np.zeros((ROWS, 3))
    known[:, 1], known[:, 2] = 3.0, prices[:, 0]
    np.testing.assert_array_equal(
        by_name.solve_all(costs[:, :3], parameters={"toll": prices[:, 0]}).objectives,
        named.solve_all(costs[:, :3] + known).objectives,
    )
    with pytest.raises(ValueError, match="no cost is called 'd'"):
        named.with_known({"d": 1.0})
    pandas = pytest.importorskip("pandas")
    series = pandas.Series({"c": 2.0, "a": 1.0})
    assert named.with_known(series) == named.with_known({"a": 1.0, "c": 2.0})
    assert named.with_known(pandas.Series([1.0, 0.0, 2.0])) == named.with_known([1.0, 0.0, 2.0])


def test_a_function_gets_total_costs():
    prices = np.random.default_rng(8).uniform(0, 5, size=(ROWS, 5))
    case = function(None)
    total = case.problem.solve_all(case.costs + prices, parameters=case.parameters)
    priced = case.problem.with_known(rl.columns("price"))
    assert priced.parameters == ["needed", "price"]
    parameters = {**case.parameters, "price": prices}
    solved = priced.solve_all(case.costs, parameters=parameters)
    np.testing.assert_array_equal(solved.decisions, total.decisions)
    np.testing.assert_array_equal(solved.objectives, total.objectives)
    regrets = rl.regret(priced, case.costs[::-1], case.costs, parameters=parameters)
    expected = rl.regret(
        case.problem, case.costs[::-1] + prices, case.costs + prices, parameters=case.parameters
    )
    np.testing.assert_array_equal(regrets, expected)
    again = pickle.loads(pickle.dumps(priced))
    assert again == priced
    assert again != case.problem

    def cheapest(costs):
        return np.arange(len(costs)) == np.argmin(costs)

    plain = rl.Problem.from_solver(cheapest, 5, sense="minimize")
    fixed = plain.with_known([1.0, 2.0, rl.column("toll", factor=2.0), 0.0, 0.0])
    known = np.zeros((ROWS, 5))
    known[:, 0], known[:, 1], known[:, 2] = 1.0, 2.0, 2.0 * prices[:, 0]
    np.testing.assert_array_equal(
        fixed.solve_all(case.costs, parameters={"toll": prices[:, 0]}).objectives,
        plain.solve_all(case.costs + known).objectives,
    )
    with pytest.raises(ValueError, match="5 costs"):
        plain.with_known([1.0])


def test_arrays_take_columns():
    demands, most = RNG.uniform(1, 3, size=ROWS), RNG.uniform(1.5, 4, size=ROWS)
    problem = rl.Problem.from_arrays(
        [[1, 1, 1], [1, -1, 0]],
        [rl.column("demand"), 0],
        sense="minimize",
        relations=[">=", "=="],
        upper=[9, 9, rl.column("most")],
    )
    assert problem.parameters == ["most", "demand"]
    costs = costs_of(3)
    solved = problem.solve_all(costs, parameters={"demand": demands, "most": most})
    for row in range(ROWS):
        own = rl.Problem.from_arrays(
            [[1, 1, 1], [1, -1, 0]],
            [demands[row], 0],
            sense="minimize",
            relations=[">=", "=="],
            upper=[9, 9, most[row]],
        ).solve(costs[row])
        np.testing.assert_array_equal(solved.decisions[row], own.decision)
        assert solved.objectives[row] == own.objective
    for wrong in (rl.column("demand"), [rl.columns("demand"), 0]):
        with pytest.raises(ValueError, match="one number"):
            rl.Problem.from_arrays([[1, 1], [1, 0]], wrong, sense="minimize")


def test_costs_of_absent_items_may_be_missing():
    case = present_items(None)
    costs = np.where(case.parameters["offered"] == 1, case.costs, np.nan)
    complete = rl.label(case.problem, case.costs, parameters=case.parameters)
    labels = rl.label(case.problem, costs, parameters=case.parameters)
    np.testing.assert_array_equal(labels.decisions, complete.decisions)
    solved = case.problem.solve_all(costs, parameters=case.parameters)
    np.testing.assert_array_equal(solved.objectives, complete.objectives)
    model, _ = rl.train(
        case.problem, X, costs, parameters=case.parameters, method="MAE(O,S)", epochs=3
    )
    filled, _ = rl.train(
        case.problem, X, case.costs, parameters=case.parameters, method="MAE(O,S)", epochs=3
    )
    np.testing.assert_array_equal(model.predict(X), filled.predict(X))
    _, gradients = rl.Loss(case.problem, costs, "MSE", parameters=case.parameters).evaluate(
        np.ones_like(costs)
    )
    assert (gradients[case.parameters["offered"] == 0] == 0).all()
    assert (gradients[case.parameters["offered"] == 1] != 0).all()
    costs[4, 0] = np.nan
    for call in (rl.label, lambda *args, **named: args[0].solve_all(*args[1:], **named)):
        with pytest.raises(ValueError, match="row 4, column c0"):
            call(case.problem, costs, parameters=case.parameters)


def test_features_of_absent_items_do_not_matter():
    """Rows have different items: a table with as many columns as the largest row has items."""
    case = present_items(None)
    offered = case.parameters["offered"] == 1
    features = np.random.default_rng(12).normal(size=(ROWS, 7, 3)).astype(np.float32)
    models = []
    for filler in (0.0, 1000.0):
        table = np.where(offered[:, :, None], features, np.float32(filler))
        for method in ("MSE", "MAE(O,S)", "SPO+"):
            costs = np.where(offered, case.costs, filler)
            model, _ = rl.train(
                case.problem, table, costs, method, parameters=case.parameters, epochs=3
            )
            models.append(model.coefficients)
    for first, second in zip(models[:3], models[3:]):
        np.testing.assert_array_equal(first, second)


def test_a_predictor_of_items_serves_more_of_them():
    case = present_items(None)
    rng = np.random.default_rng(13)
    model, _ = rl.train(
        case.problem,
        rng.normal(size=(ROWS, 7, 3)),
        case.costs,
        parameters=case.parameters,
        method="MAE(O,S)",
        epochs=2,
    )
    features, offered = rng.normal(size=(5, 9, 3)), np.ones((5, 9))
    offered[1, 3] = 0.0
    larger = rl.Problem.top_k(9, 2, sense="maximize", present=rl.columns("offered"))
    parameters = {"offered": offered}
    decided = model.decide(features, problem=larger, parameters=parameters)
    expected = larger.solve_all(model.predict(features), parameters=parameters)
    np.testing.assert_array_equal(decided.decisions, expected.decisions)
    costs = rng.uniform(1, 9, size=(5, 9))
    evaluation = model.evaluate(features, costs, problem=larger, parameters=parameters)
    np.testing.assert_array_equal(
        evaluation.rows["regret"],
        rl.regret(larger, model.predict(features), costs, parameters=parameters),
    )
    with pytest.raises(ValueError, match="9 costs per row"):
        model.decide(features, parameters=parameters)


def test_importance_is_measured_with_parameters():
    case = knapsack_capacity(None)
    model, _ = rl.train(
        case.problem, X, case.costs, parameters=case.parameters, method="MAE(O,S)", epochs=5
    )
    found = model.permutation_importance(X, case.costs, parameters=case.parameters, repeats=2)
    assert len(found["regret_increase"]) == 4
    assert np.any(found["regret_increase"] != 0)
    with pytest.raises(ValueError, match="needs the parameter 'cap'"):
        model.permutation_importance(X, case.costs)


def test_a_row_of_a_frame_has_the_parameters_of_one_row():
    pandas = pytest.importorskip("pandas")
    case = knapsack_capacity(None)
    frame = pandas.DataFrame(case.parameters)
    solved = case.problem.solve_all(case.costs, parameters=frame)
    single = case.problem.solve(case.costs[7], parameters=frame.iloc[7])
    assert single.objective == solved.objectives[7]
    wrong_order = frame.iloc[::-1]
    costs = pandas.DataFrame(case.costs, columns=[f"item{j}" for j in range(8)])
    with pytest.raises(ValueError, match="parameters"):
        case.problem.solve_all(costs, parameters=wrong_order)


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


def test_threads_share_a_problem_with_parameters():
    case = knapsack_capacity(None)
    expected = case.problem.solve_all(case.costs, parameters=case.parameters).objectives
    found = [None] * 4

    def work(number):
        found[number] = case.problem.solve_all(
            case.costs, parameters=case.parameters, threads=2
        ).objectives

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for objectives in found:
        np.testing.assert_array_equal(objectives, expected)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_a_forked_process_solves_with_parameters():
    words = """
import multiprocessing, numpy as np, regretless as rl
problem = rl.Problem.knapsack([4, 3, 5], rl.column("cap"))
costs, caps = np.array([[10.0, 7, 12]] * 3), {"cap": np.array([8.0, 5, 4])}
def work(_):
    return problem.solve_all(costs, parameters=caps, threads=1).objectives.tolist()
first = work(0)
with multiprocessing.get_context("fork").Pool(2) as pool:
    assert pool.map(work, range(2)) == [first] * 2
assert first == [19.0, 12.0, 10.0]
"""
    subprocess.run([sys.executable, "-c", words], check=True, timeout=120)


def test_arrays_of_float64_are_read_in_place():
    numbers, flags = np.ones(5), np.ones((5, 2), dtype=bool)
    found = dict(parameter_columns({"a": numbers, "b": flags}, 5, ["a", "b"], None, None, "C"))
    assert found["a"] is numbers
    assert found["b"].dtype == np.float64


def test_files_with_row_changes_need_a_linear_model(tmp_path):
    path = tmp_path / "small.tsp"
    path.write_text(
        "NAME: small\nTYPE: TSP\nDIMENSION: 4\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n"
        "1 0 0\n2 0 1\n3 1 1\n4 1 0\nEOF\n"
    )
    with pytest.raises(ValueError, match="rhs changes a linear model"):
        rl.Problem.from_file(path, rhs={"a": 1.0})
    problem_file = tmp_path / "problem.toml"
    problem_file.write_text('kind = "top_k"\nitems = 12\nk = 3\nsense = "maximize"\n')
    with pytest.raises(ValueError, match="write it into the problem file"):
        rl.Problem.from_file(problem_file, rhs={"a": 1.0})


def test_problem_files_refer_to_columns_too(tmp_path):
    path = tmp_path / "problem.toml"
    path.write_text(
        'kind = "knapsack"\nweights = [[4.0, 3.0, 5.0]]\ncapacity = [{ column = "cap" }]\n'
    )
    by_file = rl.Problem(path)
    assert by_file == rl.Problem.knapsack([4.0, 3.0, 5.0], rl.column("cap"))
    assert by_file.parameters == ["cap"]
    assert by_file.solve([10, 7, 12], parameters={"cap": 8}).objective == 19.0


def test_places_that_cannot_differ_per_row_are_refused():
    with pytest.raises(ValueError, match="cannot come from a column"):
        rl.Problem({"kind": "grid_path", "grid": [rl.column("rows"), 4]})
    with pytest.raises(TypeError, match="named by text"):
        rl.column(3)
    assert repr(rl.columns("w_*")) == "columns('w_*')"


def test_constructors_are_the_problems_of_their_descriptions():
    pairs = [
        (
            rl.Problem.knapsack([[1, 2], [2, 1]], [3, 2]),
            {"kind": "knapsack", "weights": [[1, 2], [2, 1]], "capacity": [3, 2]},
        ),
        (
            rl.Problem.top_k(4, 2, sense="maximize", at_most=True),
            {"kind": "top_k", "items": 4, "k": 2, "sense": "maximize", "at_most": True},
        ),
        (rl.Problem.grid_path(3, 4), {"kind": "grid_path", "grid": [3, 4]}),
        (
            rl.Problem.assignment(["a", "b"], 2, sense="max", forbidden=[("a", 1)]),
            {
                "kind": "assignment",
                "agents": ["a", "b"],
                "tasks": 2,
                "sense": "maximize",
                "forbidden": [["a", 1]],
            },
        ),
        (
            rl.Problem.assignment(2, 2, present=np.array([[1, 0], [1, 1]])),
            {"kind": "assignment", "agents": 2, "tasks": 2, "present": [1, 0, 1, 1]},
        ),
        (
            rl.Problem.multiple_choice_knapsack(np.array([[1, 2], [3, 4]]), 5, optional=True),
            {
                "kind": "multiple_choice_knapsack",
                "weights": [[1, 2], [3, 4]],
                "capacity": 5,
                "optional": True,
            },
        ),
        (
            rl.Problem.min_cost_flow([(1, 2), (2, 3)], {1: 2, 3: -2}, capacity=[np.inf, 3]),
            {
                "kind": "min_cost_flow",
                "arcs": [[1, 2], [2, 3]],
                "supply": [2, 0, -2],
                "capacity": ["inf", 3],
            },
        ),
        (
            rl.Problem.transport([3, 1], [2], sources=["x", "y"], present=[[1], [0]]),
            {
                "kind": "transport",
                "supply": [3, 1],
                "demand": [2],
                "sources": ["x", "y"],
                "present": [1, 0],
            },
        ),
        (rl.Problem.tsp(5), {"kind": "tsp", "nodes": 5}),
        (
            rl.Problem.cvrp([2, 3, 1], 4, 2),
            {
                "kind": "cvrp",
                "demands": [2, 3, 1],
                "capacity": 4,
                "vehicles": 2,
                "single_customer_routes": True,
            },
        ),
    ]
    for problem, description in pairs:
        assert problem == rl.Problem(description)


def test_tours_and_routes_visit_the_customers_of_the_row():
    rng = np.random.default_rng(11)
    rows = 8
    visit = (rng.uniform(size=(rows, 6)) < 0.7).astype(float)
    visit[:, :4] = 1.0
    costs = rng.uniform(1, 10, size=(rows, 15))
    problem = rl.Problem.tsp(6, present=rl.columns("visit"))
    solved = problem.solve_all(costs, parameters={"visit": visit})
    for row in range(rows):
        own = rl.Problem.tsp(6, present=visit[row]).solve(costs[row])
        np.testing.assert_array_equal(solved.decisions[row], own.decision)
    demands = rng.integers(1, 4, size=(rows, 5)).astype(float)
    routes = rl.Problem.cvrp(rl.columns("demand"), rl.column("cap"), 3, customers=5)
    parameters = {"demand": demands, "cap": np.full(rows, 7.0)}
    solved = routes.solve_all(costs, parameters=parameters)
    for row in range(rows):
        own = rl.Problem.cvrp(demands[row], 7.0, 3).solve(costs[row])
        assert solved.objectives[row] == own.objective


WITH_EXAMPLES = [
    rl.column,
    rl.columns,
    rl.Problem.knapsack,
    rl.Problem.top_k,
    rl.Problem.grid_path,
    rl.Problem.assignment,
    rl.Problem.multiple_choice_knapsack,
    rl.Problem.min_cost_flow,
    rl.Problem.transport,
    rl.Problem.graph_path,
    rl.Problem.spanning_tree,
    rl.Problem.storage,
    rl.Problem.tsp,
    rl.Problem.cvrp,
    rl.Problem.from_arrays,
    rl.Problem.from_solver,
    rl.Problem.with_known,
]


@pytest.mark.parametrize("thing", WITH_EXAMPLES, ids=lambda thing: thing.__name__)
def test_the_examples_of_docstrings_run(thing):
    names = {"rl": rl, "np": np}
    text = inspect.getdoc(thing)
    example = doctest.DocTestParser().get_doctest(text, names, thing.__name__, None, 0)
    assert example.examples
    assert doctest.DocTestRunner(verbose=False).run(example).failed == 0


def test_the_estimator_takes_parameters():
    pandas = pytest.importorskip("pandas")
    sklearn = pytest.importorskip("regretless.sklearn")
    case = knapsack_capacity(None)
    features = pandas.DataFrame(X, columns=["a", "b", "c", "d"]).assign(cap=case.parameters["cap"])
    estimator = sklearn.DecisionFocusedRegressor(case.problem, "MAE(O,S)", epochs=3, random_state=0)
    estimator.fit(features, case.costs, parameters=["cap"])
    decided = estimator.decide(features, parameters=["cap"])
    predicted = estimator.predict(features)
    expected = case.problem.solve_all(predicted, parameters=case.parameters)
    np.testing.assert_array_equal(np.asarray(decided.decisions), expected.decisions)
    np.testing.assert_array_equal(
        estimator.transform(features, parameters=case.parameters), expected.decisions
    )
    score = estimator.score(features, case.costs, parameters=features[["cap"]])
    assert score == sklearn.regret_score(
        case.problem, case.costs, predicted, parameters=case.parameters
    )
    weighted = estimator.score(features, case.costs, np.ones(ROWS), parameters=case.parameters)
    assert weighted == pytest.approx(score)
    with pytest.raises(ValueError, match="needs the parameter 'cap'"):
        estimator.decide(features)
    again = pickle.loads(pickle.dumps(estimator))
    np.testing.assert_array_equal(again.transform(features, parameters=["cap"]), expected.decisions)


def test_cross_validation_routes_parameters():
    pandas = pytest.importorskip("pandas")
    sklearn = pytest.importorskip("sklearn")
    from sklearn.model_selection import cross_val_score

    from regretless.sklearn import DecisionFocusedRegressor, make_regret_scorer

    case = knapsack_capacity(None)
    frame = pandas.DataFrame(case.parameters)
    with sklearn.config_context(enable_metadata_routing=True):
        estimator = DecisionFocusedRegressor(case.problem, "MAE(O,S)", epochs=2, random_state=0)
        estimator.set_fit_request(parameters=True).set_score_request(parameters=True)
        by_score = cross_val_score(estimator, X, case.costs, cv=3, params={"parameters": frame})
        scorer = make_regret_scorer(case.problem).set_score_request(parameters=True)
        by_scorer = cross_val_score(
            estimator, X, case.costs, cv=3, scoring=scorer, params={"parameters": frame}
        )
    np.testing.assert_array_equal(by_score, by_scorer)
    assert np.isfinite(by_score).all()


def test_torch_losses_and_layers_take_the_parameters_of_the_batch():
    torch = pytest.importorskip("torch")
    from regretless.torch import DecisionLayer, DecisionLoss

    case = knapsack_capacity(None)
    predictions = torch.tensor(case.costs * 1.5 + 1.0, requires_grad=True)
    table = rl.Loss(case.problem, case.costs, "SPO+", parameters=case.parameters)
    values, gradients = table.evaluate(predictions.detach().numpy())
    by_number = DecisionLoss(
        case.problem, case.costs, "SPO+", parameters=case.parameters, reduction="sum"
    )
    by_number(predictions, torch.arange(ROWS)).backward()
    np.testing.assert_array_equal(predictions.grad.numpy(), gradients)
    added = DecisionLoss(case.problem, loss="SPO+", reduction="none")
    batch = torch.arange(10, 30)
    caps = {"cap": torch.tensor(case.parameters["cap"])[batch]}
    costs = torch.tensor(case.costs)
    found = added(predictions[batch], costs[batch], parameters=caps)
    np.testing.assert_array_equal(found.detach().numpy(), values[10:30])
    # Rows of equal costs and other capacities are other rows.
    larger = {"cap": caps["cap"] + 5.0}
    other = added(predictions[batch], costs[batch], parameters=larger)
    assert len(added.rows.tables) == 2
    assert not torch.equal(other, found)
    again = added(predictions[batch], costs[batch], parameters=caps)
    assert torch.equal(again, found)
    with pytest.raises(ValueError, match="give parameters beside the costs"):
        added(predictions[batch], costs[batch])
    with pytest.raises(ValueError, match="have the parameters of the table"):
        by_number(predictions, torch.arange(ROWS), parameters=case.parameters)
    for gradient in ("DBB", "NID", "DPO"):
        layer = DecisionLayer(case.problem, gradient, samples=3)
        decisions = layer(predictions[batch], parameters=caps)
        decisions.sum().backward()
        loads = decisions.detach().numpy() @ WEIGHTS
        assert (loads <= caps["cap"].numpy() + 1e-9).all()


def test_pyepo_models_refuse_parameters():
    pytest.importorskip("pyepo")
    from regretless.pyepo import as_pyepo

    for problem in (
        rl.Problem.knapsack(WEIGHTS, rl.column("cap")),
        rl.Problem.top_k(3, 1).with_known([1.0, 2.0, 3.0]),
        rl.Problem.from_solver(np.ones_like, 3, sense="minimize").with_known([1.0, 2.0, 3.0]),
    ):
        with pytest.raises(ValueError, match="one feasible set"):
            as_pyepo(problem)


def test_the_backends_of_a_cluster_get_parameters(tmp_path):
    from regretless import cluster

    case = knapsack_capacity(None)
    labels = cluster.label(
        case.problem,
        case.costs,
        backend="local",
        store=tmp_path / "costs.npy",
        shards=2,
        parameters=case.parameters,
    )
    direct = rl.label(case.problem, case.costs, parameters=case.parameters)
    np.testing.assert_array_equal(labels.decisions, direct.decisions)
    runs = [{"method": "MAE(O,S)", "epochs": 1}]
    reports = cluster.sweep(
        case.problem,
        X,
        case.costs,
        runs,
        backend="local",
        folder=tmp_path / "sweep",
        parameters=case.parameters,
    )
    _, report = rl.train(case.problem, X, case.costs, parameters=case.parameters, **runs[0])
    assert reports[0].test.regret == report.test.regret
    other = {"cap": case.parameters["cap"] + 4.0}
    changed = cluster.sweep(
        case.problem,
        X,
        case.costs,
        runs,
        backend="local",
        folder=tmp_path / "sweep",
        parameters=other,
    )
    assert changed[0].test.regret != report.test.regret


def test_boosted_trees_take_parameters():
    pytest.importorskip("xgboost")
    from regretless.trees import CostSensitiveObjective, RegretMetric

    case = knapsack_capacity(None)
    objective = CostSensitiveObjective(case.problem, case.costs, parameters=case.parameters)
    model = objective.fine_tune_xgboost(X, rounds=(3, 3), validation=0.3)
    decided = model.decide(X, parameters=case.parameters)
    expected = case.problem.solve_all(model.predict(X), parameters=case.parameters)
    np.testing.assert_array_equal(decided.decisions, expected.decisions)
    with pytest.raises(ValueError, match="no parameters of rows"):
        RegretMetric(case.problem)


def test_a_model_finds_its_parameter_columns_by_name():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    C = np.abs(X @ rng.normal(size=(3, 3)) + 3)
    columns = {f"w_{name}": rng.integers(1, 5, 60).astype(float) for name in "abc"}
    table = pandas.DataFrame({**columns, "cap": 5.0})
    problem = rl.Problem(
        {
            "kind": "knapsack",
            "items": 3,
            "weights": [{"columns": "w_*"}],
            "capacity": [{"column": "cap"}],
        }
    )
    model, _ = rl.train(problem, X, C, parameters=table, method="MSE", epochs=3)
    moved = table[["cap", "w_c", "w_a", "w_b"]]
    expected = model.decide(X, parameters=table).decisions
    assert np.array_equal(model.decide(X, parameters=moved).decisions, expected)
    regrets = [model.evaluate(X, C, parameters=frame).regret for frame in (table, moved)]
    assert regrets[0] == regrets[1]
    sklearn = pytest.importorskip("regretless.sklearn")
    estimator = sklearn.DecisionFocusedRegressor(problem, method="MSE", epochs=3, random_state=0)
    estimator.fit(X, C, parameters=table)
    scores = [estimator.score(X, C, parameters=frame) for frame in (table, moved)]
    assert scores[0] == scores[1]
    with pytest.raises(ValueError, match="w_b"):
        model.decide(X, parameters=table.rename(columns={"w_b": "w_x"}))


def test_trees_refuse_patterns_whose_order_they_do_not_store():
    trees = pytest.importorskip("regretless.trees")
    problem = rl.Problem(
        {"kind": "top_k", "items": 2, "k": 1, "sense": "minimize", "present": {"columns": "on_*"}}
    )
    present = {"on_a": [1, 1, 0], "on_b": [1, 1, 1]}
    with pytest.raises(ValueError, match="in the order of each table"):
        trees.CostSensitiveObjective(problem, np.ones((3, 2)), parameters=present)


def test_a_kept_solver_solves_rows_with_parameters_of_their_own():
    arcs = [("a", "b"), ("b", "c"), ("a", "c"), ("c", "a")]
    problem = rl.Problem.graph_path(arcs, source=rl.column("from"), target=rl.column("to"))
    solver = rl.Solver(problem)
    costs = np.random.default_rng(3).uniform(1, 5, size=(12, 4))
    for row, (source, target) in enumerate([("a", "c"), ("b", "a"), ("a", "b"), ("c", "b")] * 3):
        ends = {"from": source, "to": target}
        decision, objective = solver.solve(costs[row], parameters=ends)
        expected = problem.solve(costs[row], parameters=ends)
        assert objective == expected.objective
        np.testing.assert_array_equal(decision, expected.decision)
    with pytest.raises(ValueError, match="needs the parameter 'from'"):
        solver.solve(costs[0])
    with pytest.raises(ValueError, match="which is no node of the problem"):
        solver.solve(costs[0], parameters={"from": "a", "to": "z"})
    sack = rl.Problem.knapsack([[2, 3, 4]], capacity=rl.column("room"))
    solver = rl.Solver(sack)
    for room in [9.0, 2.0, 5.0]:
        decision, objective = solver.solve([3.0, 4.0, 6.0], parameters={"room": room})
        assert objective == sack.solve([3.0, 4.0, 6.0], parameters={"room": room}).objective
    with pytest.raises(RuntimeError, match="room|capacity"):
        solver.solve([3.0, 4.0, 6.0], parameters={"room": -1.0})


def table_with_capacities():
    """Features with a column that the problem reads, and costs."""
    pandas = pytest.importorskip("pandas")
    problem = rl.Problem.knapsack(WEIGHTS, capacity=rl.column("capacity"))
    table = pandas.DataFrame(X, columns=["a", "b", "c", "d"])
    table.insert(2, "capacity", RNG.integers(8, 20, size=ROWS).astype(float))
    return problem, table, costs_of(8)


def test_parameters_are_found_in_a_table_of_features():
    problem, table, costs = table_with_capacities()
    # They stay features, as on the command line.
    features, parameters = table, table[["capacity"]]
    model, report = rl.train(problem, table, costs, "MSE", epochs=2)
    expected, given = rl.train(problem, features, costs, "MSE", epochs=2, parameters=parameters)
    assert model.column_names == list(table.columns)
    assert report.test == given.test
    decisions = model.decide(table)
    other = expected.decide(features, parameters=parameters)
    np.testing.assert_array_equal(decisions.decisions, other.decisions)
    found = model.evaluate(table, costs)
    assert found.regret == expected.evaluate(features, costs, parameters=parameters).regret
    assert rl.evaluate(problem, model, table, costs).regret == found.regret
    settings = {"methods": ["MSE"], "seeds": 2, "epochs": 2}
    compared = rl.compare(problem, table, costs, **settings)
    given = rl.compare(problem, features, costs, parameters=parameters, **settings)
    assert compared.text == given.text
    times = np.arange(ROWS) // 4
    settings = {"methods": ["MSE"], "epochs": 2, "time": times}
    tested = rl.backtest(problem, table, costs, **settings)
    given = rl.backtest(problem, features, costs, parameters=parameters, **settings)
    assert tested.verdict == given.verdict
    named, _ = rl.train(problem, table, costs, "MSE", epochs=1, parameters=["capacity"])
    assert named.column_names == list(table.columns)
    assert len(named.decide(table)) == ROWS
    with pytest.raises(ValueError, match="capacity"):
        model.decide(table.drop(columns="capacity"))


def test_tables_of_polars_have_parameters_too():
    polars = pytest.importorskip("polars")
    problem, table, costs = table_with_capacities()
    model, _ = rl.train(problem, table, costs, "MSE", epochs=1)
    frame = polars.DataFrame({name: table[name].to_numpy() for name in table.columns})
    other, _ = rl.train(problem, frame, costs, "MSE", epochs=1)
    assert other.column_names == list(table.columns)
    np.testing.assert_array_equal(
        np.asarray(other.decide(frame).decisions), np.asarray(model.decide(table).decisions)
    )


def test_one_number_is_enough_to_explain_one_row():
    problem, table, costs = table_with_capacities()
    model, _ = rl.train(problem, table, costs, "MSE", epochs=1)
    row = table.iloc[0]
    capacity = float(table["capacity"].iloc[0])
    explained = model.explain(row, parameters={"capacity": capacity})
    assert explained == model.explain(row, parameters={"capacity": [capacity]})
    assert explained == model.explain(table.iloc[[0]])
    assert explained == model.explain(table.iloc[0])
    several = rl.Problem.top_k(3, k=1, present=rl.columns("offered"), sense="minimize")
    present = np.ones((ROWS, 3))
    model, _ = rl.train(several, X, costs_of(3), "MSE", epochs=1, parameters={"offered": present})
    explanation = model.explain(X[0], parameters={"offered": [1, 1, 0]})
    assert len(explanation.costs) == 2


def test_evaluations_say_why_a_row_has_no_label():
    arcs = [("a", "b"), ("b", "a"), ("a", "c")]
    path = rl.Problem.graph_path(arcs, source="a", target=rl.column("goal"))
    costs = np.array([[1.0, 1.0, 2.0], [-3.0, 1.0, 2.0], [1.0, 1.0, 2.0]])
    goals = pytest.importorskip("pandas").DataFrame({"goal": ["b", "b", "c"]})
    for labels in (None, rl.label(path, costs, parameters=goals)):
        evaluation = rl.evaluate(path, np.abs(costs), C=costs, parameters=goals, labels=labels)
        first, second, third = evaluation.rows["label_status"]
        assert first == third == "optimal"
        assert "cycle through node 'a', node 'b'" in second


def test_patterns_of_names_work_in_every_field(tmp_path):
    path = tmp_path / "plan.lp"
    path.write_text(MODEL)
    named = rl.Problem.from_file(
        path,
        upper={name: rl.column(f"most_{name[2:]}") for name in ("x_a", "x_b", "x_c")},
    ).with_known({name: rl.column(f"fee_{name[2:]}") for name in ("x_a", "x_b", "x_c")})
    by_pattern = rl.Problem.from_file(path, upper={"x_*": rl.column("most_*")}).with_known(
        {"x_*": rl.column("fee_*")}
    )
    parameters = {"most_a": 3, "most_b": 2, "most_c": 4, "fee_a": 1, "fee_b": 5, "fee_c": 0}
    parameters = {name: float(value) for name, value in parameters.items()}
    costs = [1.0, 2.0, 3.0]
    expected = named.solve(costs, parameters=parameters)
    found = by_pattern.solve(costs, parameters=parameters)
    assert found.objective == pytest.approx(expected.objective)
    assert list(found.decision) == pytest.approx(list(expected.decision))


def test_an_item_that_no_training_row_has_is_left_out_with_a_warning():
    rows = 60
    X = np.random.default_rng(0).normal(size=(rows, 2))
    C = 10 + np.random.default_rng(1).uniform(size=(rows, 4))
    C[:, 3] = np.nan
    present = np.ones((rows, 4))
    present[:, 3] = 0
    problem = rl.Problem.top_k(4, 1, present=rl.columns("on"))
    with pytest.warns(UserWarning, match="no training row has a value of c3"):
        model, _ = rl.train(
            problem, X, C, "MSE", parameters={"on": present}, split="order:0.2,0.2", epochs=2
        )
    with pytest.warns(UserWarning, match="no training row has a value of c3"):
        predicted = model.predict(X[:5])
    assert np.isnan(predicted[:, 3]).all()
    assert np.isfinite(predicted[:, :3]).all()
    with pytest.warns(UserWarning, match=r"c3 \(5 rows\)"):
        decided = model.decide(X[:5], parameters={"on": np.ones((5, 4))})
    assert (np.asarray(decided.decisions)[:, 3] == 0).all()
    true_costs = np.where(np.isnan(C[:5]), 99.0, C[:5])
    with pytest.warns(UserWarning, match=r"c3 \(5 rows\)"):
        evaluated = model.evaluate(X[:5], true_costs, parameters={"on": np.ones((5, 4))})
    assert evaluated.regret >= 0
    again = rl.Model.from_bytes(model.to_bytes())
    assert again == model


def test_rows_without_a_choice_are_noticed_in_training():
    rng = np.random.default_rng(3)
    X, C = rng.normal(size=(80, 2)), 5 + rng.uniform(size=(80, 3))
    chosen = np.eye(3)[rng.integers(0, 3, size=80)]
    problem = rl.Problem.top_k(3, 1, present=rl.columns("was"))
    with pytest.warns(UserWarning, match="leave no choice"):
        rl.train(problem, X, C, "MSE", parameters={"was": chosen}, epochs=2)
