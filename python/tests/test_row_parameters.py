"""Parameters per row: decisions, labels, trainings and messages of all problem kinds."""

import os
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest
from row_problems import (
    CASES,
    MODEL,
    RNG,
    ROWS,
    WEIGHTS,
    X,
    costs_of,
    knapsack_capacity,
    model_file,
)

import regretless as rl
from regretless.tables.parameters import parameter_columns

pytestmark = [
    pytest.mark.filterwarnings("ignore:costs are matched by position"),
    pytest.mark.filterwarnings("ignore:the model was trained or validated on"),
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
