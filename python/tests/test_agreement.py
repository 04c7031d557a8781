"""Five cases of users: every interface that supports one gives the same decisions and regret.

Constraints and regret are computed here independently of the library, by the names of variables.
"""

import csv
import json
import pathlib
import subprocess
import threading
import time

import numpy as np
import pytest

import regretless as rl

pandas = pytest.importorskip("pandas")
pytest.importorskip("sklearn")

from regretless.sklearn import DecisionFocusedRegressor, make_regret_scorer  # noqa: E402

SETTINGS = {"method": "MAE(O,S)", "epochs": 15, "split": (60, 20, 20), "seed": 3}
FLAGS = ["--method", "MAE(O,S)", "--epochs", "15", "--split", "60,20,20", "--seed", "3"]
ROWS = 100


def features_of(rows, width, seed):
    return np.random.default_rng(seed).normal(size=(rows, width)).round(3)


def costs_of(features, names, seed):
    """Costs that are linear in the features up to noise, one column per name."""
    random = np.random.default_rng(seed)
    weights = random.normal(size=(features.shape[1], len(names)))
    noise = random.normal(size=(len(features), len(names)))
    return pandas.DataFrame((20 + 3 * features @ weights + noise).round(3), columns=names)


class Constraints:
    """Rows `sum of weight times variable <= limit`, over named binary variables."""

    def __init__(self, rows):
        self.rows = rows

    def check(self, decision):
        for weights, limit in self.rows:
            load = sum(weight * decision[name] for name, weight in weights.items())
            assert load <= limit + 1e-6, f"{load} of {limit}: {decision}"
        assert all(abs(value - round(value)) < 1e-6 for value in decision.values())

    def best(self, costs, sense):
        """The best objective over all choices."""
        names = list(costs)
        choices = np.array(np.meshgrid(*[[0, 1]] * len(names))).reshape(len(names), -1).T
        feasible = np.ones(len(choices), bool)
        for weights, limit in self.rows:
            feasible &= choices @ [weights.get(name, 0.0) for name in names] <= limit + 1e-9
        worth = (choices @ [costs[name] for name in names])[feasible]
        return worth.max() if sense == "maximize" else worth.min()


def regret_by_name(decisions, costs, constraints, sense):
    """Mean regret of decisions (a frame), each checked against the constraints."""
    regrets = []
    for (_, decision), (_, row) in zip(decisions.iterrows(), costs.iterrows()):
        decision, row = dict(decision), dict(row)
        constraints.check(decision)
        paid = sum(row[name] * decision[name] for name in row)
        best = constraints.best(row, sense)
        regrets.append(best - paid if sense == "maximize" else paid - best)
    assert min(regrets) > -1e-3
    return float(np.mean(regrets))


def frame(solutions, index=None):
    return pandas.DataFrame(solutions.decisions, columns=solutions.cost_names, index=index)


def assert_interfaces_agree(problem, X, C, constraints, sense):
    """Python, scikit-learn and torch (where installed) give the same decisions and regret."""
    model, report = rl.train(problem, X, C, **SETTINGS)
    predictions = pandas.DataFrame(model.predict(X), columns=model.cost_names or list(C.columns))
    decided = (
        model.decide(X)
        if problem.to_dict()["kind"] != "external"
        else problem.solve_all(predictions)
    )
    names = decided.cost_names or list(C.columns)
    decisions = pandas.DataFrame(decided.decisions, columns=names)
    expected = regret_by_name(decisions, C, constraints, sense)
    assert np.mean(rl.regret(problem, predictions, C)) == pytest.approx(
        expected, rel=1e-4, abs=1e-4
    )
    assert rl.evaluate(problem, predictions, C=C).regret == pytest.approx(
        expected, rel=1e-4, abs=1e-4
    )
    test = slice(80, 100)
    outcome = regret_by_name(decisions[test], C[test], constraints, sense)
    assert report.test.regret == pytest.approx(outcome, rel=1e-4, abs=1e-4)
    # scikit-learn scores the same predictions alike, whatever the order of its columns.
    fitted = DecisionFocusedRegressor(problem, epochs=5, random_state=3).fit(X, C)
    chosen = fitted.decide(X)
    chosen = pandas.DataFrame(chosen.decisions, columns=chosen.cost_names or list(C.columns))
    regret = regret_by_name(chosen, C, constraints, sense)
    best = np.mean([abs(constraints.best(dict(row), sense)) for _, row in C.iterrows()])
    assert -fitted.score(X, C) == pytest.approx(regret / best, rel=1e-3, abs=1e-5)
    assert make_regret_scorer(problem)(fitted, X, C) == pytest.approx(fitted.score(X, C), rel=1e-6)
    try:
        import torch

        from regretless.torch import DecisionLayer, DecisionLoss
    except ImportError:
        return model, decisions
    ordered = predictions[problem.cost_names or list(C.columns)].to_numpy(np.float64)
    layer = DecisionLayer(problem)(torch.from_numpy(ordered)).numpy()
    assert (layer == decisions[problem.cost_names or list(C.columns)].to_numpy()).all()
    loss = DecisionLoss(problem, C, "SPO+")
    true = C[problem.cost_names or list(C.columns)].to_numpy(np.float64)
    assert float(loss(torch.from_numpy(true), torch.arange(ROWS))) == pytest.approx(0.0, abs=1e-6)
    return model, decisions


def run(program, folder, *words):
    done = subprocess.run(
        [*program, *words], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def train_and_decide(program, folder, *data):
    """Decisions, test regret and model of the command line, as it writes them."""
    report = json.loads(
        run(program, folder, "train", *data, *FLAGS, "--out", "m.safetensors", "--json")
    )
    return report, (pathlib.Path(folder) / "m.safetensors").read_bytes()


NAMES = ["truck", "barge", "rail", "air", "drone", "bike"]
MODEL_AND_TABLE = ("--model", "m.safetensors", "--data", "table.csv")
LP = """maximize
 obj: truck + barge + rail + air + drone + bike
subject to
 weight: 4 truck + 3 barge + 5 rail + 2 air + drone + bike <= 9
 slots: truck + air + drone <= 2
binary
 truck barge rail air drone bike
end
"""
LIMITS = Constraints(
    [
        ({"truck": 4, "barge": 3, "rail": 5, "air": 2, "drone": 1, "bike": 1}, 9),
        ({"truck": 1, "air": 1, "drone": 1}, 2),
    ]
)


def write_lp(folder):
    (folder / "model.lp").write_text(LP)
    (folder / "problem.toml").write_text('kind = "linear"\nfile = "model.lp"\n')
    return rl.Problem.from_file(folder / "model.lp")


def test_a_linear_model_whose_table_has_its_columns_in_another_order(tmp_path, program):
    problem = write_lp(tmp_path)
    X = pandas.DataFrame(features_of(ROWS, 3, 1), columns=["f", "g", "h"])
    C = costs_of(X.to_numpy(), NAMES, 2)[sorted(NAMES)]
    pandas.concat([X, C], axis=1).to_csv(tmp_path / "table.csv", index=False)
    model, decisions = assert_interfaces_agree(problem, X, C, LIMITS, "maximize")
    data = [
        "--data",
        "table.csv",
        "--features",
        "f,g,h",
        "--costs",
        ",".join(sorted(NAMES)),
        "--problem",
        "problem.toml",
    ]
    report, _ = train_and_decide(program, tmp_path, *data)
    outcome = regret_by_name(decisions[80:], C[80:], LIMITS, "maximize")
    assert report["test"]["regret"] == pytest.approx(outcome, rel=1e-4, abs=1e-4)
    run(program, tmp_path, "decide", *MODEL_AND_TABLE, "--out", "d.csv")
    written = pandas.read_csv(tmp_path / "d.csv")[NAMES]
    assert (written.to_numpy() == decisions[NAMES].to_numpy()).all()
    outcome = json.loads(run(program, tmp_path, "evaluate", *MODEL_AND_TABLE, "--json"))
    assert outcome["regret"] == pytest.approx(
        regret_by_name(written, C, LIMITS, "maximize"), rel=1e-4, abs=1e-4
    )
    run(program, tmp_path, "decide", *MODEL_AND_TABLE, "--out", "s.csv", "--sparse")
    with open(tmp_path / "s.csv", newline="") as file:
        entries = {(int(row["instance"]), row["column"]) for row in csv.DictReader(file)}
    assert entries == {(i, name) for i in range(ROWS) for name in NAMES if decisions[name][i] == 1}


def test_a_long_table_whose_items_come_in_another_order(tmp_path, program):
    write_lp(tmp_path)
    random = np.random.default_rng(5)
    order = ["bike", "air", "truck", "rail", "drone", "barge"]
    rows = []
    for day in range(ROWS):
        for item in order:
            demand, wind = random.normal(size=2).round(3)
            rows.append(
                (day, item, demand, wind, round(15 + 4 * demand - 2 * wind + random.normal(), 3))
            )
    table = pandas.DataFrame(rows, columns=["day", "mode", "demand", "wind", "value"])
    table.to_csv(tmp_path / "long.csv", index=False)
    columns = ["--instance-column", "day", "--item-column", "mode"]
    data = ["--data", "long.csv", *columns, "--cost-column", "value", "--problem", "problem.toml"]
    report, bytes_of_program = train_and_decide(program, tmp_path, *data)
    run(
        program,
        tmp_path,
        "decide",
        "--model",
        "m.safetensors",
        "--data",
        "long.csv",
        *columns,
        "--out",
        "d.csv",
    )
    decisions = pandas.read_csv(tmp_path / "d.csv")[NAMES]
    C = table.pivot(index="day", columns="mode", values="value")[NAMES].reset_index(drop=True)
    outcome = regret_by_name(
        decisions[80:].reset_index(drop=True), C[80:].reset_index(drop=True), LIMITS, "maximize"
    )
    assert report["test"]["regret"] == pytest.approx(outcome, rel=1e-4, abs=1e-4)
    # The same table as arrays: one row of features per item, in the order of the problem.
    X = np.stack(
        [table[table["mode"] == name][["demand", "wind"]].to_numpy() for name in NAMES], axis=1
    )
    problem = rl.Problem.from_file(tmp_path / "model.lp")
    model, same = rl.train(problem, X, C, feature_names=["demand", "wind"], **SETTINGS)
    assert same.test.regret == pytest.approx(report["test"]["regret"], rel=1e-6)
    decided = frame(model.decide(X))
    assert (decided[NAMES].to_numpy() == decisions.to_numpy()).all()


def test_a_frame_that_was_pivoted(tmp_path):
    problem = rl.Problem.from_arrays(
        sense="minimize",
        A=[[1, 1, 1, 1], [3, 1, 2, 2]],
        b=[2, 5],
        relations=[">=", "<="],
        upper=1,
        integer=True,
        names=["north", "east", "south", "west"],
    )
    names = problem.cost_names
    limits = Constraints(
        [({name: -1 for name in names}, -2), ({"north": 3, "east": 1, "south": 2, "west": 2}, 5)]
    )
    X = pandas.DataFrame(features_of(ROWS, 4, 7), columns=list("abcd"))
    C = costs_of(X.to_numpy(), names, 8)
    long = C.assign(day=range(ROWS)).melt(id_vars="day", var_name="site", value_name="cost")
    pivoted = long.pivot(index="day", columns="site", values="cost")
    assert list(pivoted.columns) != names
    assert_interfaces_agree(problem, X, pivoted, limits, "minimize")


class Stateful:
    """A solver with state: an objective is set, then optimized without the interpreter lock."""

    limits = Constraints([({"a": 2, "b": 3, "c": 4, "d": 1}, 5)])

    def __init__(self):
        self.objective, self.inside = None, threading.Semaphore(1)
        choices = np.array(np.meshgrid(*[[0, 1]] * 4)).reshape(4, -1).T
        self.choices = choices[choices @ [2, 3, 4, 1] <= 5]

    def __call__(self, costs):
        assert self.inside.acquire(blocking=False), "called while another call was running"
        try:
            self.objective = np.array(costs)
            time.sleep(2e-4)
            return self.choices[np.argmax(self.choices @ self.objective)].astype(float)
        finally:
            self.inside.release()


def test_a_function_with_state():
    problem = rl.Problem.from_solver(
        Stateful(), 4, sense="maximize", cost_names=list("abcd"), name="own"
    )
    X = pandas.DataFrame(features_of(ROWS, 3, 9), columns=["x", "y", "z"])
    C = costs_of(X.to_numpy(), list("abcd"), 10)[["d", "b", "a", "c"]]
    assert_interfaces_agree(problem, X, C, Stateful.limits, "maximize")


def test_a_model_of_pyepo_with_constraints_of_its_own():
    pytest.importorskip("pyepo", reason="pyepo is not installed")
    gurobipy = pytest.importorskip("gurobipy", reason="gurobipy is not installed")
    from pyepo.model.grb import optGrbModel

    from regretless.pyepo import from_pyepo

    class Crew(optGrbModel):
        def _getModel(self):
            model = gurobipy.Model("crew")
            model.Params.OutputFlag = 0
            x = model.addVars(5, name="shift", vtype=gurobipy.GRB.BINARY)
            model.ModelSense = gurobipy.GRB.MAXIMIZE
            model.addConstr(gurobipy.quicksum(x[i] for i in range(5)) <= 3)
            model.addConstr(x[0] + x[1] <= 1)
            model.addConstr(2 * x[2] + x[3] + 3 * x[4] <= 4)
            return model, x

    problem = from_pyepo(Crew())
    names = problem.cost_names or [f"shift[{i}]" for i in range(5)]
    one = dict.fromkeys(names, 1)
    limits = Constraints(
        [(one, 3), ({names[0]: 1, names[1]: 1}, 1), ({names[2]: 2, names[3]: 1, names[4]: 3}, 4)]
    )
    X = pandas.DataFrame(features_of(ROWS, 3, 11), columns=["x", "y", "z"])
    C = costs_of(X.to_numpy(), names, 12)[names[::-1]]
    if problem.cost_names is None:
        C = C[names]
    assert_interfaces_agree(problem, X, C, limits, "maximize")
