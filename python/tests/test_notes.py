"""Every note of a training, comparison or backtest is raised where it belongs, and nowhere else.

``testdata/notes/cases.json`` has the tables, the texts, and the interfaces where a note makes no
sense, with the reason. The library and the command line are tested with the same file.
"""

import json
import warnings

import numpy as np
import pytest
from conftest import TESTDATA

import regretless as rl
from regretless.sklearn import DecisionFocusedRegressor

pd = pytest.importorskip("pandas")

FOLDER = TESTDATA / "notes"
FILE = json.loads((FOLDER / "cases.json").read_text())
PREDICTORS = ["module", "regressor"]
INTERFACES = ["train", "compare", "backtest", "fit", "sklearn", *PREDICTORS]


def with_defaults(case):
    """Return a case with all its fields."""
    return {**FILE["defaults"], "absent": {}, **case}


CASES = [with_defaults(case) for case in FILE["cases"]]


def expected_text(case, interface):
    """Return what an interface says in a case; None where it says nothing."""
    names = [interface, "predictor"] if interface in PREDICTORS else [interface]
    if any(name in case["absent"] for name in names):
        return None
    return next(case["text"][name] for name in [*names, "all"] if name in case["text"])


CELLS = [
    pytest.param(case, interface, id=f"{interface} - {case['note']}")
    for case in CASES
    for interface in INTERFACES
    if expected_text(case, interface) is not None
]


def wrong_for_similar_costs(costs):
    """Choose the second of two items when the first is a bit cheaper."""
    return [1.0, 0.0] if costs[0] + 2.0 < costs[1] else [0.0, 1.0]


def wrong_for_given_costs(costs):
    """Choose the second item where costs have three decimals, as those of the tables have."""
    are_given = np.abs(np.asarray(costs) * 1000 - np.round(np.asarray(costs) * 1000)).max() < 0.01
    return [0.0, 1.0] if are_given or costs[1] < costs[0] else [1.0, 0.0]


def problem_of(case):
    """Return the problem of a case: a file or a function."""
    if case["function"] is None:
        return rl.Problem(FOLDER / case["problem"])
    functions = {one.__name__: one for one in [wrong_for_similar_costs, wrong_for_given_costs]}
    function = functions[case["function"]]
    return rl.Problem.from_solver(function, num_costs=2, sense="minimize")


class LeastSquares:
    """A custom regressor."""

    def fit(self, X, y):
        """Fit all targets."""
        design = np.column_stack([np.ones(len(X)), X])
        self.coefficients = np.linalg.lstsq(design, y, rcond=None)[0]
        return self

    def predict(self, X):
        """Predict all targets."""
        return np.column_stack([np.ones(len(X)), X]) @ self.coefficients


def predictor_of(interface, X, C):
    """Return a custom predictor."""
    if interface == "regressor":
        return LeastSquares()
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    return torch.nn.Linear(X.shape[1], C.shape[1])


def said(case, interface):
    """Return everything that an interface says about the table of a case."""
    table = pd.read_csv(FOLDER / case["table"], parse_dates=["date"])
    X, C, days = table[case["features"]], table.filter(like="c_"), table["date"]
    problem, method = problem_of(case), case["method"]
    settings, options = case["settings"], dict(case["options"])
    parameters = table[case["parameters"]] if case["parameters"] else None
    options["parameters"] = parameters
    split = ("time", days) if case["split"] == "time:date" else case["split"]
    methods = ["MSE"] if method is None else [method, "MSE"]
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        result = ""
        if interface == "train":
            rl.train(problem, X, C, method, split=split, **options, **settings)
        elif interface == "compare":
            result = rl.compare(
                problem, X, C, methods=methods, split=split, seeds=1, **options, **settings
            )
        elif interface == "backtest":
            rolling = case["backtest"]
            result = rl.backtest(
                problem, X, C, time=days, methods=methods[:1], **rolling, **options, **settings
            )
        elif interface == "fit":
            result = rl.fit(
                problem,
                table,
                costs="c_*",
                features=case["features"],
                time="date",
                lags="none",
                method=case["fit"].get("method", method),
                **case["options"],
            )
            result = "\n".join([result.verdict, *result.remarks])
        elif interface in PREDICTORS:
            of_module = {**settings, "method": method if settings else "MSE"}
            rl.train(
                problem,
                X,
                C,
                predictor=predictor_of(interface, X, C),
                split=split,
                parameters=parameters,
                **(of_module if interface == "module" else {}),
            )
        else:
            seed = case["random_state"]
            estimator = DecisionFocusedRegressor(problem, method, random_state=seed, **settings)
            estimator.fit(X, C, parameters=parameters)
    assert all(issubclass(warning.category, UserWarning) for warning in found)
    return "\n".join([str(warning.message) for warning in found] + [str(result)])


@pytest.mark.parametrize(("case", "interface"), CELLS)
def test_a_note_is_raised_where_it_belongs(case, interface):
    assert expected_text(case, interface) in said(case, interface)


@pytest.mark.parametrize("interface", INTERFACES)
def test_a_clean_table_has_no_notes(interface):
    settled = {"epochs": 300, "learning_rate": 0.05}
    case = {"table": "clean.csv", "settings": settled}
    if interface == "module":
        case["method"] = "MSE"
    found = said(with_defaults(case), interface)
    for case in CASES:
        text = expected_text(case, interface)
        if text is not None and interface not in case.get("verdicts", []):
            assert text not in found, case["note"]


def test_every_cell_has_a_text_or_a_reason():
    for case in CASES:
        for interface in [*INTERFACES, "library"]:
            names = [interface, "predictor"] if interface in PREDICTORS else [interface]
            has_text = any(name in case["text"] for name in [*names, "all"])
            reasons = [case["absent"][name] for name in names if name in case["absent"]]
            assert has_text or len(reasons[0]) > 10, (case["note"], interface)


def wrong_problem():
    """Return a problem of a function that is not optimal for similar costs."""
    return rl.Problem.from_solver(wrong_for_similar_costs, num_costs=2, sense="minimize")


@pytest.mark.parametrize("interface", ["train", "compare", "backtest", "evaluate"])
def test_negative_regrets_of_a_function_are_told(interface):
    table = pd.read_csv(FOLDER / "clean.csv", parse_dates=["date"])
    X, C, days = table[["x", "y"]], table[["c_a", "c_b"]].to_numpy(), table["date"]
    # The function decides better if the first cost is predicted too low.
    predictions = np.column_stack([C[:, 0] - 2.0, C[:, 1]])
    problem, split, result = wrong_problem(), ("time", days), ""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        if interface == "train":
            # A model of costs that were lower before the test rows.
            lower = C - np.outer(np.arange(120) < 96, [2.0, 0.0])
            rl.train(problem, X, lower, "least squares", split=split)
        elif interface == "compare":
            given = {"shifted": predictions}
            result = rl.compare(
                problem, X, C, methods=["MSE"], predictions=given, split=split, seeds=1
            )
        elif interface == "backtest":
            given = {"shifted": predictions}
            result = rl.backtest(
                problem, X, C, time=days, methods=["MSE"], predictions=given, step=20
            )
        else:
            rl.evaluate(problem, predictions, C=C)
    text = "\n".join([str(warning.message) for warning in found] + [str(result)])
    assert "either the function is not optimal there" in text, text


def test_predictors_of_ones_own_get_the_notes_of_the_table():
    pytest.importorskip("sklearn")
    from sklearn.linear_model import LinearRegression

    table = pd.read_csv(FOLDER / "drift.csv", parse_dates=["date"])
    X, C = table[["x", "y"]], table[["c_a", "c_b"]]
    problem = rl.Problem(FOLDER / "one_of_two.toml")
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        rows = np.arange(120)
        split = (rows[:90], rows[90:95], rows[95:])
        rl.train(problem, X, C, predictor=LinearRegression(), split=split)
        split = (rows[:80], rows[80:115], rows[115:])
        rl.train(problem, X, C, predictor=LinearRegression(), split=split)
    texts = [str(warning.message) for warning in found]
    for text in [
        "feature x has another distribution in test rows",
        "2 costs have another distribution",
        "nothing can be concluded from fewer than 10",
    ]:
        assert any(text in found for found in texts), (text, texts)


def test_a_backtest_says_what_auto_chose_in_each_training():
    table = pd.read_csv(FOLDER / "clean.csv", parse_dates=["date"])
    problem = rl.Problem(FOLDER / "one_of_two.toml")
    X, C = table[["x", "y"]], table[["c_a", "c_b"]]
    result = rl.backtest(problem, X, C, time=table["date"], methods=["auto 1s"], step=30)
    reference, auto = result.summary["methods"][:2]
    assert "chosen" not in reference
    periods = [chosen["first_period"] for chosen in auto["chosen"]]
    assert periods == ["2026-03-02", "2026-04-01"]
    assert all(chosen["candidates"] for chosen in auto["chosen"])
    first = auto["chosen"][0]["candidates"][0]
    assert first.split()[0] in {"linear", "mlp:64"}
    assert any(remark.startswith("auto 1s chose, in 2 trainings: ") for remark in result.remarks)
