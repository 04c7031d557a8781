"""Costs are matched to a problem by name; feasible and optimal decisions are recomputed here."""

import itertools
import json
import pickle
import subprocess
import warnings

import numpy as np
import pytest

import regretless as rl

pandas = pytest.importorskip("pandas")

LP = """maximize
 obj: a + b + c
subject to
 room: 5 a + b + c <= 2
binary
 a b c
end
"""
WEIGHTS = {"a": 5.0, "b": 1.0, "c": 1.0}
ROOM = 2.0


@pytest.fixture
def problem(tmp_path):
    """The problem of a file: ``a`` has the largest value and never fits."""
    path = tmp_path / "toy.lp"
    path.write_text(LP)
    return rl.Problem.from_file(path)


@pytest.fixture
def tables():
    """Features, and costs with their columns in another order than the problem's."""
    f = np.arange(100) % 7
    features = pandas.DataFrame({"f": f.astype(float)})
    costs = pandas.DataFrame({"c": 1.0 - 0.25 * f, "b": 2.0 - 0.5 * f, "a": 9.0 + f})
    return features, costs


def best(costs):
    """The optimal objective of a row of costs, by enumeration."""
    choices = itertools.product((0, 1), repeat=len(WEIGHTS))
    worth = []
    for choice in choices:
        taken = dict(zip(WEIGHTS, choice))
        if sum(WEIGHTS[name] * taken[name] for name in WEIGHTS) <= ROOM:
            worth.append(sum(costs[name] * taken[name] for name in WEIGHTS))
    return max(worth)


def check_decisions(solutions, costs):
    """Every decision fits, and is the best for the costs, by name."""
    decisions = pandas.DataFrame(solutions.decisions, columns=solutions.cost_names)
    assert len(decisions) == len(costs)
    for (_, decision), (_, row) in zip(decisions.iterrows(), costs.iterrows()):
        assert sum(WEIGHTS[name] * decision[name] for name in WEIGHTS) <= ROOM
        assert sum(row[name] * decision[name] for name in WEIGHTS) == pytest.approx(
            best(row), abs=1e-4
        )


def mean_best(costs):
    return np.mean([best(row) for _, row in costs.iterrows()])


@pytest.fixture(autouse=True)
def no_warnings_unless_expected():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # These tests are about names, and evaluate on all rows.
        warnings.filterwarnings("ignore", "the model was trained or validated on")
        # Nor about how long a training takes.
        warnings.filterwarnings("ignore", "the last epoch was the best|the untrained model was")
        # Nor about good features and bad models.
        warnings.filterwarnings("ignore", "features? |.* has the test regret|.* better here")
        yield


def test_a_problem_has_the_names_of_its_costs(problem, tmp_path):
    assert problem.cost_names == ["a", "b", "c"]
    assert rl.Problem("KS5").cost_names is None
    some = rl.Problem.from_file(tmp_path / "toy.lp", costs=["c", "a"])
    assert some.cost_names == ["c", "a"]
    assert pickle.loads(pickle.dumps(problem)).cost_names == ["a", "b", "c"]


def test_frames_are_solved_and_labeled_by_name(problem, tables):
    _, costs = tables
    for columns in itertools.permutations("abc"):
        check_decisions(problem.solve_all(costs[list(columns)]), costs)
        labels = rl.label(problem, costs[list(columns)])
        assert labels.cost_names == ["a", "b", "c"]
        check_decisions(labels, costs)
    row = costs.iloc[0]
    found = problem.solve(row)
    assert found.objective == pytest.approx(best(row))
    assert found.cost_names == ["a", "b", "c"]
    _, objective = rl.Solver(problem).solve(row)
    assert objective == pytest.approx(best(row))
    known = rl.Labels.from_decisions(
        problem,
        costs,
        pandas.DataFrame(rl.label(problem, costs).decisions, columns=list("abc"))[["b", "c", "a"]],
    )
    check_decisions(known, costs)


def test_training_and_deciding_are_by_name(problem, tables):
    features, costs = tables
    settings = {"method": "MSE", "epochs": 30, "split": (0.2, 0.2)}
    model, report = rl.train(problem, features, costs, **settings)
    assert model.cost_names == ["a", "b", "c"]
    predicted = pandas.DataFrame(model.predict(features), columns=model.cost_names)
    check_decisions(model.decide(features), predicted)
    ordered, same = rl.train(problem, features, costs[["a", "b", "c"]], **settings)
    assert ordered.to_bytes() == model.to_bytes()
    assert same.test == report.test
    by_list, _ = rl.train(
        problem, features, costs.to_numpy(), cost_names=["c", "b", "a"], **settings
    )
    assert by_list.to_bytes() == model.to_bytes()
    # Regret recomputed by name.
    chosen = pandas.DataFrame(model.decide(features).decisions, columns=model.cost_names)
    worth = sum((costs[name] * chosen[name]).mean() for name in WEIGHTS)
    outcome = rl.evaluate(problem, model, features, costs)
    assert outcome.regret == pytest.approx(mean_best(costs) - worth, abs=1e-5)


def test_predictions_are_evaluated_by_name(problem, tables):
    _, costs = tables
    predictions = -costs[["b", "a", "c"]]
    chosen = pandas.DataFrame(problem.solve_all(predictions).decisions, columns=problem.cost_names)
    worth = sum(costs[name] * chosen[name] for name in WEIGHTS)
    regrets = [best(row) - earned for (_, row), earned in zip(costs.iterrows(), worth)]
    assert np.mean(regrets) > 0.1, "predictions that could not be outcome apart would show nothing"
    np.testing.assert_allclose(rl.regret(problem, predictions, costs), regrets, atol=1e-5)
    assert rl.evaluate(problem, costs, C=costs[["a", "c", "b"]]).regret == pytest.approx(
        0.0, abs=1e-6
    )


def test_a_loss_is_in_the_order_of_the_problem(problem, tables):
    _, costs = tables
    loss = rl.Loss(problem, costs, "MSE")
    ordered = costs[problem.cost_names]
    values, gradients = loss.evaluate(ordered)
    np.testing.assert_allclose(values, 0.0, atol=1e-12)
    np.testing.assert_allclose(gradients, 0.0, atol=1e-12)
    with pytest.raises(ValueError, match=r"predictions\[problem.cost_names\]"):
        loss.evaluate(costs)


def test_a_loss_is_in_the_order_of_its_table_where_the_problem_has_no_names(tables):
    _, costs = tables
    loss = rl.Loss(rl.Problem.top_k(3, 1), costs, "MSE")
    values, gradients = loss.evaluate(costs)
    np.testing.assert_allclose(values, 0.0, atol=1e-12)
    np.testing.assert_allclose(gradients, 0.0, atol=1e-12)
    with pytest.raises(ValueError, match=r"different order.*predictions\[C.columns\]"):
        loss.evaluate(costs[["a", "b", "c"]])
    with pytest.raises(ValueError, match="has 'bonus', only .* has 'a'"):
        loss.evaluate(costs.rename(columns={"a": "bonus"}))
    # Arrays have no names, and neither has the table of a loss made from one.
    loss.evaluate(costs.to_numpy())
    rl.Loss(rl.Problem.top_k(3, 1), costs.to_numpy(), "MSE").evaluate(costs[["a", "b", "c"]])


def test_weights_without_names_are_matched_by_position_with_one_warning(tables):
    features, costs = tables
    features = features.assign(shelf=2.0)
    calls = {
        "train": lambda problem: rl.train(problem, features, costs, "MSE", epochs=2),
        "label": lambda problem: rl.label(problem, costs, parameters=features[["shelf"]]),
        "compare": lambda problem: rl.compare(
            problem, features, costs, methods=["MSE"], seeds=1, epochs=2
        ),
        "Loss": lambda problem: rl.Loss(problem, costs, "MSE", parameters=features[["shelf"]]),
    }
    for name, call in calls.items():
        problem = rl.Problem.knapsack([5, 1, 1], capacity=rl.column("shelf"))
        with pytest.warns(UserWarning, match="position") as found:
            call(problem)
        assert len([one for one in found if "position" in str(one.message)]) == 1, name
        call(problem)  # once per problem
        named = rl.Problem.knapsack([5, 1, 1], rl.column("shelf"), items=["a", "b", "c"])
        call(named)
        assert named.cost_names == ["a", "b", "c"]
    # Without numbers of its own per cost, a problem has nothing to confuse them with.
    rl.label(rl.Problem.top_k(3, 1), costs)


def test_costs_among_the_features_cause_a_warning(tables):
    features, costs = tables
    problem = rl.Problem.top_k(3, 1)
    both = pandas.concat([features, costs[["b"]]], axis=1)
    with pytest.warns(UserWarning, match=r"X has columns that C has too \('b'\)"):
        rl.train(problem, both, costs, "MSE", epochs=2)
    rl.train(problem, both, costs, "MSE", epochs=2)  # once per problem
    problem = rl.Problem.top_k(3, 1)
    with pytest.warns(UserWarning, match="leave them out of X"):
        rl.compare(problem, both, costs, methods=["MSE"], seeds=1, epochs=2)
    rl.train(rl.Problem.top_k(3, 1), features, costs, "MSE", epochs=2)


def test_another_set_of_names_is_refused_and_the_differences_are_shown(problem, tables):
    features, costs = tables
    other = costs.rename(columns={"a": "bonus"})
    wide = costs.assign(extra=1.0)
    calls = [
        lambda table: rl.label(problem, table),
        lambda table: rl.train(problem, features, table),
        lambda table: problem.solve_all(table),
        lambda table: rl.Loss(problem, table, "MSE"),
        lambda table: rl.evaluate(problem, costs, C=table),
        lambda table: rl.evaluate(problem, table, C=costs),
    ]
    for call in calls:
        with pytest.raises(ValueError, match="has 'bonus', only .* has 'a'"):
            call(other)
        with pytest.raises(ValueError, match="has 'extra'"):
            call(wide)


def test_arrays_are_matched_by_position_with_one_warning(problem, tables):
    features, costs = tables
    array = costs[problem.cost_names].to_numpy()
    with pytest.warns(UserWarning, match="matched by position.*names them .'a' to 'c'") as outcome:
        labels = rl.label(problem, array)
        rl.train(problem, features, array, labels=labels, method="MAE(O,S)", epochs=1)
        rl.Loss(problem, array, "MSE")
    assert len([one for one in outcome if "position" in str(one.message)]) == 1
    check_decisions(labels, costs)
    check_decisions(problem.solve_all(array), costs)
    # Problems without names and arrays: nothing to say.
    sack = rl.Problem("KS5")
    X, C = rl.generate("KS5", instances=100)
    rl.train(sack, X, C, method="MAE(O,S)", epochs=1)
    # Its weights could belong to other columns.
    with pytest.warns(UserWarning, match="position"):
        rl.label(sack, pandas.DataFrame(C, columns=list("vwxyz")))


def test_every_list_of_names_is_warned_about():
    """A warning shows some of the names, which two tables can have in common."""
    sack = rl.Problem("KS16")
    _, C = rl.generate("KS16", instances=4)
    for names in ("abcdefghijklmnop", "abcdefghijklnmop", "abcdefghijklxyzp"):
        with pytest.warns(UserWarning, match="matched .*by position"):
            rl.label(sack, pandas.DataFrame(C, columns=list(names)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rl.label(sack, pandas.DataFrame(C, columns=list("abcdefghijklnmop")))


def test_labels_of_columns_that_are_no_names(problem, tables):
    _, costs = tables
    numbered = pandas.DataFrame(costs[problem.cost_names].to_numpy())
    with pytest.warns(UserWarning, match="matched by position"):
        check_decisions(rl.label(problem, numbered), costs)
    with pytest.raises(ValueError, match="several levels"):
        rl.label(problem, pandas.concat({"first": costs}, axis=1))
    with pytest.raises(ValueError, match="some labels of columns are strings"):
        rl.label(problem, costs.rename(columns={"a": 7}))
    double = costs.set_axis(["a", "b", "a"], axis=1)
    with pytest.raises(ValueError, match="named 'a'"):
        rl.label(problem, double)
    with pytest.raises(ValueError, match="named 'a'"):
        problem.solve_all(double)
    with pytest.raises(ValueError, match="empty name"):
        rl.label(problem, costs.set_axis(["a", "b", ""], axis=1))


def test_names_of_features_are_unique():
    X, C = rl.generate("KS5", instances=100)
    with pytest.raises(ValueError, match="two features are named 'x'"):
        rl.train(rl.Problem("KS5"), X, C, feature_names=["x", "y", "x", "z", "w"])
    with pytest.raises(ValueError, match="feature 1 .* empty name"):
        rl.train(rl.Problem("KS5"), X, C, feature_names=["x", "", "y", "z", "w"])
    with pytest.raises(ValueError, match="two costs are named 'a'"):
        rl.train(rl.Problem("KS5"), X, C, cost_names=list("abcda"))


def test_long_tables_move_with_their_costs(problem, tables):
    features, costs = tables
    # One feature per cost, which is the cost itself: a shared predictor can be exact.
    long = np.stack([costs.to_numpy(), np.ones(costs.shape)], axis=2)
    model, _ = rl.train(
        problem, long, costs, "MSE", epochs=300, learning_rate=0.05, select="last", split=(0.2, 0.2)
    )
    in_order = np.stack([costs[problem.cost_names].to_numpy(), np.ones(costs.shape)], axis=2)
    predicted = pandas.DataFrame(model.predict(in_order), columns=model.cost_names)
    check_decisions(model.decide(in_order), predicted)
    np.testing.assert_allclose(predicted, costs[problem.cost_names], atol=0.5)


def test_problems_of_arrays_and_functions_may_have_names(tables):
    _, costs = tables
    numbers = {"sense": "maximize", "upper": 1, "integer": True}
    named = rl.Problem.from_arrays([[5, 1, 1]], [2], names=["a", "b", "c"], **numbers)
    assert named.cost_names == ["a", "b", "c"] == rl.Problem(named.to_dict()).cost_names
    check_decisions(named.solve_all(costs), costs)
    framed = rl.Problem.from_arrays(pandas.DataFrame([WEIGHTS]), [2], **numbers)
    check_decisions(framed.solve_all(costs), costs)
    part = rl.Problem.from_arrays([[5, 1, 1]], [2], names=["a", None, "c"], costs=[0, 2], **numbers)
    assert part.cost_names == ["a", "c"]
    for wrong in (["a", "b", "a"], ["a", "", "c"], ["a", "b"], ["a", None, "c"]):
        with pytest.raises(ValueError):
            rl.Problem.from_arrays([[5, 1, 1]], [2], names=wrong, **numbers)
    plain = rl.Problem.from_arrays([[5, 1, 1]], [2], **numbers)
    assert plain.cost_names is None
    with pytest.warns(UserWarning, match="C names them .'a' to 'c'"):
        rl.label(plain, costs[["a", "b", "c"]])

    def take(row):
        fits = [
            np.array(choice)
            for choice in itertools.product((0, 1), repeat=3)
            if np.dot(choice, [5, 1, 1]) <= 2
        ]
        return max(fits, key=lambda choice: choice @ row)

    called = rl.Problem.from_solver(take, 3, sense="maximize", cost_names=["a", "b", "c"])
    assert called.cost_names == ["a", "b", "c"]
    check_decisions(called.solve_all(costs), costs)
    with pytest.raises(ValueError, match="2 names for 3 costs"):
        rl.Problem.from_solver(take, 3, sense="maximize", cost_names=["a", "b"])


def test_a_model_is_matched_to_another_problem_by_name(problem, tables, tmp_path):
    features, costs = tables
    model, _ = rl.train(problem, features, costs, "MSE", epochs=20)
    turned = tmp_path / "turned.lp"
    turned.write_text(
        LP.replace("a + b + c\n", "c + b + a\n", 1).replace("5 a + b + c", "c + b + 5 a")
    )
    other = rl.Problem.from_file(turned)
    assert other.cost_names == ["c", "b", "a"]
    predicted = pandas.DataFrame(model.predict(features), columns=model.cost_names)
    solutions = model.decide(features, problem=other)
    assert solutions.cost_names == ["c", "b", "a"]
    check_decisions(solutions, predicted)
    outcome, expected = (rl.evaluate(which, model, features, costs) for which in (other, problem))
    assert outcome.regret == pytest.approx(expected.regret)
    turned.write_text(LP.replace(" a", " z"))
    with pytest.raises(ValueError, match="only the model has 'a'"):
        model.decide(features, problem=rl.Problem.from_file(turned))


def test_a_model_holds_the_file_of_its_problem(problem, tables, tmp_path):
    features, costs = tables
    model, _ = rl.train(problem, features, costs, method="MAE(O,S)", epochs=1)
    expected = model.decide(features).to_frame()
    path, elsewhere = tmp_path / "toy.lp", tmp_path / "elsewhere"
    elsewhere.mkdir()
    model.save(elsewhere / "m.safetensors")
    path.write_text(LP.replace("<= 2", "<= 7"))
    taken = model.decide(features, problem=rl.Problem.from_file(path)).decisions
    assert taken["a"].any(), "with a custom problem the new file counts"
    moved = rl.Model.load(elsewhere / "m.safetensors")
    copies = [model, moved, pickle.loads(pickle.dumps(model))]
    for copy in copies:
        pandas.testing.assert_frame_equal(copy.decide(features).to_frame(), expected)
    path.unlink()
    for copy in copies:
        pandas.testing.assert_frame_equal(copy.decide(features).to_frame(), expected)
        assert copy.problem.cost_names == problem.cost_names
        assert copy.evaluate(features, costs).regret == model.evaluate(features, costs).regret


def test_the_command_line_and_python_agree_on_names(problem, tables, tmp_path, program):
    features, costs = tables
    table = pandas.concat([features, costs], axis=1).astype(np.float32)
    table.to_csv(tmp_path / "table.csv", index=False)
    (tmp_path / "toy.toml").write_text("kind = 'linear'\nfile = 'toy.lp'\n")

    def run(*words):
        done = subprocess.run(
            [*program, *words], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done

    columns = [
        "--data",
        "table.csv",
        "--features",
        "f",
        "--costs",
        "c,b,a",
        "--problem",
        str(tmp_path / "toy.toml"),
    ]
    run("train", *columns, "--method", "MAE(O,S)", "--epochs", "5", "--out", "m.safetensors")
    model, _ = rl.train(
        rl.Problem(tmp_path / "toy.toml"),
        table[["f"]],
        table[["c", "b", "a"]],
        method="MAE(O,S)",
        epochs=5,
    )
    assert model.to_bytes() == (tmp_path / "m.safetensors").read_bytes()
    run("decide", "--model", "m.safetensors", "--data", "table.csv", "--out", "d.csv")
    decided = pandas.read_csv(tmp_path / "d.csv", index_col="instance")
    pandas.testing.assert_frame_equal(
        decided, model.decide(table[["f"]]).to_frame(), check_dtype=False, check_names=False
    )
    assert list(decided.columns) == ["objective", "status", *model.cost_names]
    outcome = json.loads(
        run(
            "label", "--data", "table.csv", "--costs", "c,b,a", "--problem", "toy.toml", "--json"
        ).stdout
    )
    assert outcome["rows"] == len(table)
    loaded = rl.Model.load(tmp_path / "m.safetensors")
    assert loaded == model and loaded.cost_names == ["a", "b", "c"]


def test_polars_frames_have_names_too(problem, tables):
    polars = pytest.importorskip("polars")
    _, costs = tables
    check_decisions(
        problem.solve_all(polars.DataFrame({name: costs[name].to_numpy() for name in costs})), costs
    )


def test_scikit_learn_is_matched_by_name(problem, tables):
    pytest.importorskip("sklearn")
    from sklearn.linear_model import LinearRegression

    from regretless.sklearn import DecisionFocusedRegressor, make_regret_scorer, regret_score

    features, costs = tables
    # Without a seed, scikit-learn's convention is a new one in every run.
    estimator = DecisionFocusedRegressor(
        problem, method="MSE", epochs=200, learning_rate=0.05, random_state=0
    ).fit(features, costs)
    assert estimator.cost_names_in_ == ["c", "b", "a"]
    predicted = pandas.DataFrame(estimator.predict(features), columns=costs.columns)
    np.testing.assert_allclose(predicted.mean(), costs.mean(), atol=1.0)
    check_decisions(estimator.decide(features), predicted)
    score = estimator.score(features, costs)
    assert score == pytest.approx(estimator.score(features, costs[["a", "b", "c"]]))
    assert score == pytest.approx(estimator.score(features, costs.to_numpy()))
    chosen = pandas.DataFrame(problem.solve_all(predicted).decisions, columns=problem.cost_names)
    worth = sum((costs[name] * chosen[name]).sum() for name in WEIGHTS)
    most = sum(best(row) for _, row in costs.iterrows())
    sizes = sum(abs(best(row)) for _, row in costs.iterrows())
    assert score == pytest.approx(-(most - worth) / sizes, abs=1e-5)
    # Predictions of another regressor are arrays in the order of the table it was fitted to.
    plain = LinearRegression().fit(features, costs)
    assert make_regret_scorer(problem)(plain, features, costs) == pytest.approx(0.0, abs=1e-6)
    assert regret_score(problem, costs, costs.to_numpy()) == pytest.approx(0.0, abs=1e-6)


def test_clusters_label_and_train_by_name(problem, tables, tmp_path):
    from regretless import cluster

    features, costs = tables
    labels = cluster.label(problem, costs, backend="local", store=tmp_path / "labels", shards=2)
    check_decisions(labels, costs)
    runs = [{"method": "MSE", "epochs": 2}]
    report = cluster.sweep(
        problem, features.to_numpy(), costs, runs, backend="local", folder=tmp_path / "runs"
    )
    _, same = rl.train(problem, features.to_numpy(), costs, **runs[0])
    assert report[0].test == same.test


def test_trees_are_matched_by_name(problem, tables):
    pytest.importorskip("xgboost")
    from regretless.trees import CostSensitiveObjective

    features, costs = tables
    objective = CostSensitiveObjective(problem, costs)
    np.testing.assert_array_equal(objective.costs, costs[problem.cost_names].to_numpy(np.float32))
    model = objective.fine_tune_xgboost(features.to_numpy(), rounds=(20, 2), validation=0.5)
    assert model.cost_names == problem.cost_names
    predicted = pandas.DataFrame(model.predict(features.to_numpy()), columns=model.cost_names)
    check_decisions(model.decide(features.to_numpy()), predicted)
    with pytest.raises(ValueError, match=r"C\[problem.cost_names\]"):
        objective.fine_tune_xgboost(features.to_numpy(), base=model, validation=0.5)


def in_words(*names):
    return pandas.DataFrame(np.random.default_rng(2).uniform(1, 9, (40, len(names))), columns=names)


def position_notes(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = call()
    return result, [str(one.message) for one in caught if "by position" in str(one.message)]


def test_names_of_predictions_beside_costs_without_names_are_warned_about():
    """Positions decide which weight belongs to which prediction."""
    named = in_words("tea", "oil", "rice", "salt")
    costs, X = named.to_numpy(), np.arange(40.0).reshape(-1, 1)
    times = [f"2026-{1 + row // 28:02}-{1 + row % 28:02}" for row in range(40)]
    calls = [
        lambda sack: rl.regret(sack, named, costs),
        lambda sack: rl.evaluate(sack, named, C=costs),
        lambda sack: rl.Labels.from_decisions(sack, costs, named * 0.0),
        lambda sack: rl.Loss(sack, costs, "MSE").evaluate(named),
        lambda sack: rl.compare(
            sack, X, costs, methods=["MSE"], predictions={"mine": named}, seeds=1, epochs=1
        ),
        lambda sack: rl.backtest(
            sack,
            X,
            costs,
            time=times,
            methods=["MSE"],
            window=20,
            epochs=1,
            predictions={"mine": named},
        ),
    ]
    for call in calls:
        _, notes = position_notes(lambda call=call: call(rl.Problem.knapsack([2, 3, 4, 1], 6)))
        assert len(notes) == 1 and "by position: tea 2, oil 3" in notes[0]


def test_weights_of_another_problem_than_the_model_s_are_warned_about():
    named, X = in_words("tea", "oil", "rice", "salt"), np.arange(40.0).reshape(-1, 1)
    own = rl.Problem.knapsack([2, 3, 4, 1], 6, items=list(named.columns))
    (model, _), notes = position_notes(lambda: rl.train(own, X, named, "least squares"))
    assert notes == []
    calls = [
        lambda sack: model.decide(X, problem=sack),
        lambda sack: model.explain(X[0], problem=sack),
        lambda sack: model.evaluate(X, named, problem=sack),
    ]
    for call in calls:
        _, notes = position_notes(lambda call=call: call(rl.Problem.knapsack([1, 4, 3, 2], 6)))
        assert len(notes) == 1 and "by position: tea 1, oil 4" in notes[0]
        assert position_notes(lambda call=call: call(own))[1] == []
