"""Problems: by name, file, arrays and function; solving one and many."""

import pickle
import subprocess
import sys

import numpy as np
import pytest

import regretless as rl

COSTS = np.random.default_rng(0).uniform(1, 10, size=(40, 12)).astype(np.float32)

MODEL = """\
Maximize
 value: 3 x1 + 2 x2 + 4 x3 + 1 y
Subject To
 weight: 2 x1 + 3 x2 + 4 x3 + 1 y <= 6
 atleast: x1 + x2 + x3 >= 1
 link: y - x1 = 0
Bounds
 y <= 1
Binary
 x1 x2 x3
End
"""


def test_names_files_and_dicts_describe_the_same_problem(tmp_path):
    path = tmp_path / "problem.toml"
    path.write_text('kind = "top_k"\nitems = 12\nk = 3\nsense = "maximize"\n')
    by_dict = rl.Problem({"kind": "top_k", "items": 12, "k": 3, "sense": "maximize"})
    assert rl.Problem(str(path)) == rl.Problem(path) == rl.Problem.from_file(path) == by_dict
    assert (by_dict.sense, by_dict.num_costs, by_dict.name) == ("maximize", 12, "top 3 of 12")
    assert by_dict.to_dict() == {
        "kind": "top_k",
        "items": 12,
        "k": 3,
        "at_most": False,
        "sense": "maximize",
    }
    assert rl.Problem("KS12") != rl.Problem("KS12", seed=1)
    np.testing.assert_allclose(
        by_dict.solve_all(COSTS).objectives, np.sort(COSTS)[:, -3:].sum(axis=1), rtol=1e-6
    )


def test_unknown_names_are_refused_with_the_choices():
    with pytest.raises(ValueError, match="SP5x5"):
        rl.Problem("KSX")
    with pytest.raises(ValueError, match="unknown variant"):
        rl.Problem({"kind": "tour"})
    with pytest.raises(FileNotFoundError, match=r"nowhere\.toml"):
        rl.Problem("nowhere.toml")


def test_arrays_and_a_model_file_are_the_same_problem(tmp_path):
    path = tmp_path / "model.lp"
    path.write_text(MODEL)
    by_file = rl.Problem.from_file(path, costs="x*")
    A = np.array([[2, 3, 4, 1], [1, 1, 1, 0], [-1, 0, 0, 1]], dtype=float)
    by_arrays = rl.Problem.from_arrays(
        A,
        [6, 1, 0],
        sense="maximize",
        relations=["<=", ">=", "=="],
        upper=1,
        integer=[True, True, True, False],
        costs=[0, 1, 2],
        known_costs=[0, 0, 0, 1],
    )
    assert (
        (by_file.sense, by_file.num_costs)
        == (by_arrays.sense, by_arrays.num_costs)
        == ("maximize", 3)
    )
    np.testing.assert_array_equal(by_file.costs, [3, 2, 4])
    left, right = by_file.solve_all(COSTS[:, :3]), by_arrays.solve_all(COSTS[:, :3])
    np.testing.assert_array_equal(left.decisions, right.decisions)
    np.testing.assert_allclose(left.objectives, right.objectives)
    # Brute force, the known cost of y = x1 included.
    choices = [np.array(bits) for bits in np.ndindex(2, 2, 2)]
    fits = [x for x in choices if 3 * x[0] + 3 * x[1] + 4 * x[2] <= 6 and x.sum() >= 1]
    best = [max(float(c @ x) + x[0] for x in fits) for c in COSTS[:, :3]]
    np.testing.assert_allclose(left.objectives, best, rtol=1e-6)


def test_sparse_matrices_are_read_as_they_are():
    sparse = pytest.importorskip("scipy.sparse")
    A = np.ones((1, 12))
    dense = rl.Problem.from_arrays(A, [4], sense="minimize", relations="==", upper=1)
    assert (
        rl.Problem.from_arrays(sparse.csc_array(A), [4], sense="minimize", relations="==", upper=1)
        == dense
    )
    solutions = dense.solve_all(COSTS)
    rebuilt = sparse.csr_array(solutions.sparse(), shape=(len(solutions), dense.num_costs))
    np.testing.assert_array_equal(rebuilt.toarray(), solutions.decisions)


def test_arrays_that_do_not_fit_are_refused_by_name():
    A = np.ones((2, 3))
    for arguments, word in [
        ({"b": [1]}, "b has 1 entries and needs 2"),
        ({"b": [1, 2], "upper": [1, 2]}, "upper has 2 entries and needs 3"),
        ({"b": [1, 2], "relations": "<>"}, "unknown relation '<>'"),
        ({"b": [1, 2], "costs": [0, 5]}, r"costs\[1\] is 5 of 3"),
        ({"b": [1, 2], "lower": 2, "upper": 1}, "column x0"),
        ({"b": [1, float("nan")]}, "nan, which no row can satisfy|NaN, which no row can satisfy"),
        ({"b": [1, -np.inf]}, "-inf, which no row can satisfy"),
        ({"b": [1, 2], "lower": np.inf}, r"lower\[0\] is inf"),
    ]:
        b = arguments.pop("b")
        with pytest.raises(ValueError, match=word):
            rl.Problem.from_arrays(A, b, sense="minimize", **arguments)
    with pytest.raises(ValueError, match="minimize, maximize"):
        rl.Problem.from_arrays(A, [1, 2], sense="up")


def test_published_files_are_read(tmp_path):
    tour = tmp_path / "square.tsp"
    coordinates = "1 0 0\n2 0 3\n3 4 3\n4 4 0\n"
    tour.write_text(
        "NAME : square\nTYPE : TSP\nDIMENSION : 4\nEDGE_WEIGHT_TYPE : EUC_2D\n"
        f"NODE_COORD_SECTION\n{coordinates}EOF\n"
    )
    problem = rl.Problem.from_file(tour)
    assert problem.solve(problem.costs).objective == 14
    sack = tmp_path / "sack.txt"
    sack.write_text("1\n3 1 0\n10 20 30\n1 2 3\n4\n")
    problem = rl.Problem.from_file(sack)
    assert problem.solve(problem.costs).objective == 40
    with pytest.raises(ValueError, match="problems 1 to 1, not 2"):
        rl.Problem.from_file(sack, problem_number=2)


def cheapest(costs):
    decision = np.zeros(len(costs))
    decision[np.argmin(costs)] = 1
    return decision


def test_a_function_is_a_problem():
    problem = rl.Problem.from_solver(cheapest, 12, sense="minimize")
    solutions = problem.solve_all(COSTS)
    np.testing.assert_array_equal(solutions.decisions.argmax(axis=1), COSTS.argmin(axis=1))
    built_in = rl.Problem({"kind": "top_k", "items": 12, "k": 1, "sense": "minimize"})
    X = COSTS[:, :3]
    for loss in ["MAE(O,S)", "SPO+"]:
        model, _ = rl.train(problem, X, COSTS, loss, epochs=3)
        expected, _ = rl.train(built_in, X, COSTS, loss, epochs=3)
        np.testing.assert_array_equal(model.predict(X), expected.predict(X))
    with pytest.raises(ValueError, match="pass it again"):
        model.decide(X)
    assert len(model.decide(X, problem=problem)) == len(X)


def test_a_function_sees_the_costs_of_the_user():
    seen = []

    def most_expensive(costs):
        seen.append(costs)
        return cheapest(-costs)

    problem = rl.Problem.from_solver(most_expensive, 12, sense="maximize")
    assert problem.solve(COSTS[0]).objective == pytest.approx(COSTS[0].max())
    np.testing.assert_array_equal(seen[0], COSTS[0].astype(np.float64))


def test_a_function_may_return_its_objective_or_none():
    with_rent = rl.Problem.from_solver(lambda c: (cheapest(c), c.min() + 5), 12, sense="minimize")
    assert with_rent.solve(COSTS[0]).objective == pytest.approx(COSTS[0].min() + 5)

    def picky(costs):
        return None if costs[0] > 5 else cheapest(costs)

    problem = rl.Problem.from_solver(picky, 12, sense="minimize")
    solutions = problem.solve_all(COSTS)
    barred = COSTS[:, 0] > 5
    assert (np.array(solutions.statuses) == np.where(barred, "infeasible", "optimal")).all()
    assert (
        np.isnan(solutions.objectives[barred]).all() and np.isnan(solutions.decisions[barred]).all()
    )
    with pytest.raises(RuntimeError, match="feasible"):
        problem.solve(COSTS[barred][0])
    with pytest.warns(UserWarning, match="have no decision and are left out"):
        labels = rl.label(problem, COSTS)
    assert sorted(labels.failed) == np.flatnonzero(barred).tolist()


class Mine(Exception):
    pass


@pytest.mark.parametrize("threads", [1, 2])
def test_exceptions_of_a_function_are_raised_unchanged(threads):
    raised = Mine("nothing to see")

    def broken(costs):
        raise raised

    problem = rl.Problem.from_solver(broken, 12, sense="minimize")
    for call in [
        lambda: problem.solve(COSTS[0]),
        lambda: problem.solve_all(COSTS, threads=threads),
        lambda: rl.label(problem, COSTS, threads=threads),
        lambda: rl.train(problem, COSTS, COSTS, threads=threads),
        lambda: rl.regret(problem, COSTS, COSTS, threads=threads),
    ]:
        with pytest.raises(Mine) as caught:
            call()
        assert caught.value is raised
    # The exception of one call is not that of the next.
    calls = []

    def later(costs):
        calls.append(1)
        if len(calls) == 3:
            raise raised
        return cheapest(costs)

    problem = rl.Problem.from_solver(later, 12, sense="minimize")
    with pytest.raises(Mine):
        problem.solve_all(COSTS, threads=threads)
    assert len(calls) < len(COSTS)
    assert problem.solve_all(COSTS, threads=threads).statuses == ["optimal"] * len(COSTS)


def test_decisions_of_a_function_are_checked():
    for returned, word in [
        (lambda c: np.ones(3), "3 values for 12 costs"),
        (lambda c: np.full(12, 0.5), "neither 0 nor 1"),
        (lambda c: np.full(12, np.nan), "not a finite"),
        (lambda c: "left", "the decision"),
    ]:
        with pytest.raises(ValueError, match=word):
            rl.Problem.from_solver(returned, 12, sense="minimize").solve(COSTS[0])
    half = rl.Problem.from_solver(lambda c: np.full(12, 0.5), 12, sense="minimize", binary=False)
    assert half.solve(COSTS[0]).objective == pytest.approx(COSTS[0].sum() / 2)


def test_problems_survive_a_pickle():
    for problem in [
        rl.Problem("KS12", seed=4),
        rl.Problem.from_arrays(np.ones((1, 12)), [4], sense="maximize", upper=1),
        rl.Problem.from_solver(cheapest, 12, sense="minimize", name="cheapest"),
    ]:
        again = pickle.loads(pickle.dumps(problem))
        assert again == problem and hash(again) == hash(problem)
        np.testing.assert_array_equal(
            again.solve_all(COSTS).decisions, problem.solve_all(COSTS).decisions
        )


def test_results_do_not_depend_on_threads_or_kind_of_array():
    problem = rl.Problem("KS12")
    first = problem.solve_all(COSTS, threads=1)
    for costs in [COSTS.astype(np.float64), COSTS.tolist(), np.asfortranarray(COSTS), COSTS[::1]]:
        again = problem.solve_all(costs, threads=2)
        np.testing.assert_array_equal(again.decisions, first.decisions)
        np.testing.assert_array_equal(again.objectives, first.objectives)


NO_COPY = """
import resource, numpy as np, regretless as rl
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
costs = np.ones((30_000, 1000), dtype=np.float32)
problem = rl.Problem({"kind": "top_k", "items": 1000, "k": 1, "sense": "minimize"})
problem.solve_all(costs[:10])
before = peak()
problem.solve_all(costs, threads=2)
assert peak() - before < costs.nbytes / 2, (peak() - before, costs.nbytes)
"""


def test_arrays_of_single_precision_are_not_copied():
    pytest.importorskip("resource")
    subprocess.run([sys.executable, "-c", NO_COPY], check=True)


@pytest.mark.parametrize(
    "costs, word",
    [
        (np.ones((3, 11)), "11 costs per row"),
        (np.ones(12), "C has 1 dimension and needs 2"),
        ([["a"] * 12], "array of numbers"),
        (np.where(np.arange(36).reshape(3, 12) == 17, np.inf, 1), "row 1, column c5: inf"),
    ],
)
def test_invalid_tables_are_refused_with_row_and_column(costs, word):
    with pytest.raises(ValueError, match=word):
        rl.Problem("KS12").solve_all(costs)


def test_tables_of_other_dimensions_are_refused_by_the_name_of_their_argument():
    problem, (X, C) = rl.Problem("KS12"), rl.generate("KS12", instances=4)
    loss = rl.Loss(problem, C, "MSE")
    calls = [
        ("C", lambda: problem.solve_all(C[0])),
        ("C", lambda: rl.label(problem, C[0])),
        ("C", lambda: rl.Loss(problem, C[0], "MSE")),
        ("C", lambda: rl.train(problem, X, C[0])),
        ("C", lambda: rl.evaluate(problem, C, C=C[0])),
        ("predictions", lambda: rl.evaluate(problem, C[0], C=C)),
        ("predictions", lambda: rl.regret(problem, C[0], C)),
        ("predictions", lambda: loss.evaluate(C[0])),
        ("decisions", lambda: rl.Labels.from_decisions(problem, C, C[0])),
    ]
    for argument, call in calls:
        with pytest.raises(ValueError, match=f"^{argument} has 1 dimension and needs 2"):
            call()
    with pytest.raises(ValueError, match="^c has 2 dimensions and needs 1"):
        problem.solve(C)


def test_a_heuristic_may_decide():
    _, C = rl.generate("TSP8", instances=20)
    problem = rl.Problem("TSP8")
    best, quick = problem.solve_all(C), problem.solve_all(C, heuristic="local-search")
    assert (quick.objectives >= best.objectives - 1e-6).all()
    with pytest.raises(ValueError, match="local search"):
        rl.Problem("KS12").solve_all(COSTS, heuristic="local-search")


def test_keywords_of_model_files_are_refused_for_problem_files(tmp_path):
    path = tmp_path / "problem.toml"
    path.write_text('kind = "top_k"\nitems = 3\nk = 1\nsense = "max"\n')
    assert rl.Problem.from_file(path).sense == "maximize"
    for keywords in [{"costs": ["x"]}, {"sense": "minimize"}, {"vehicles": 2}]:
        with pytest.raises(ValueError, match="write it into the problem file"):
            rl.Problem.from_file(path, **keywords)
