"""Cases in the Python package: problems by constructors, dicts or files; tables of any library."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pandas
import polars
import pyarrow

import regretless as rl
from regretless.solving.kinds import constructed_kinds

from .files import toml_text
from .outcomes import Evaluated, Failed, Noted, Predicted, Session, Solved
from .references import CYCLE, FEASIBLE, UNBOUNDED, UNDECIDED, statuses_under
from .studies import explain_a_row, run_study

CONSTRUCTORS = {kind["name"] for kind in constructed_kinds()}
ROW_NOTE = re.compile(
    r"row (?P<only>\d+) has no decision|(?P<count>\d+) of the rows have no decision .*the first is "
    r"row (?P<first>\d+)"
)
POSITION_NOTE = "costs are matched by position"


def as_arguments(value):
    """References to columns as the constructors take them."""
    if isinstance(value, dict) and set(value) <= {"column", "columns", "factor"}:
        factor = {"factor": value["factor"]} if "factor" in value else {}
        if "column" in value:
            return rl.column(value["column"], **factor)
        return rl.columns(value["columns"], **factor)
    if isinstance(value, dict):
        return {key: as_arguments(one) for key, one in value.items()}
    if isinstance(value, list):
        return [as_arguments(one) for one in value]
    return value


def build_problem(case, folder, form):
    """The problem by its constructor, from a dict or from a file."""
    drawn, spec = case.drawn, dict(case.drawn.spec)
    kind = spec["kind"]
    for name, text in drawn.files.items():
        (folder / name).write_text(text, encoding="utf-8")
    if kind == "function":
        names = {"cost_names": drawn.names} if drawn.names else {}
        parameters = {"parameters": list(case.draw.parameters)} if case.draw.parameters else {}
        return rl.Problem.from_solver(
            spec["solve"], drawn.width, sense=spec["sense"], **names, **parameters
        )
    if form == "file" or kind == "linear":
        path = folder / "problem.toml"
        path.write_text(toml_text(spec), encoding="utf-8")
        return rl.Problem.from_file(path)
    if form == "dict" or kind not in CONSTRUCTORS:
        return rl.Problem(finite(spec))
    known = spec.pop("known", None)
    spec = {key: as_arguments(value) for key, value in spec.items() if key != "kind"}
    if kind == "grid_path":
        spec["rows"], spec["cols"] = spec.pop("grid")
    problem = getattr(rl.Problem, kind)(**spec)
    return problem if known is None else problem.with_known(as_arguments(known))


def finite(value):
    """Numbers as a dict has them: a text instead of a bound that is infinite."""
    if isinstance(value, dict):
        # Columns of `linear_arrays` leave out a bound that is not there.
        is_column = set(value) >= {"lower", "upper", "integer"}
        return {
            key: finite(one) for key, one in value.items() if not (is_column and one in INFINITE)
        }
    if isinstance(value, list):
        return [finite(one) for one in value]
    return "inf" if isinstance(value, float) and value == np.inf else value


INFINITE = (np.inf, -np.inf)


class PythonRun:
    """The calls of one case."""

    def __init__(self, case, folder):
        self.case, self.folder, self.rng = case, folder, case.rng
        self.form = str(self.rng.choice(["constructor", "dict", "file"]))
        self.layout = str(self.rng.choice(["array", "array", "pandas", "polars", "arrow"]))
        self.threads = int(self.rng.choice([1, 1, 2]))
        self.session = Session()
        self.problem = None
        self.was_warned = False

    def table(self, costs, may_lack=True):
        """Costs as the layout has them: by name, in any order, where the problem has names."""
        drawn = self.case.drawn
        costs = costs.copy()
        # True costs of what is absent may be missing, predictions may not.
        if may_lack and drawn.present is not None and self.rng.random() < 0.5:
            costs[drawn.present == 0] = np.nan
        if self.layout == "array":
            return costs if self.rng.random() < 0.7 else costs.tolist()
        names = drawn.names or [f"c{cost}" for cost in range(drawn.width)]
        order = self.rng.permutation(drawn.width) if drawn.names else np.arange(drawn.width)
        columns = {names[place]: costs[:, place] for place in order}
        library = {"pandas": pandas.DataFrame, "polars": polars.DataFrame, "arrow": pyarrow.table}
        return library[self.layout](columns)

    def parameters(self):
        values = self.case.draw.parameters
        if not values:
            return None
        if (
            any(np.asarray(one).dtype == object for one in values.values())
            or self.rng.random() < 0.4
        ):
            return pandas.DataFrame({name: list(one) for name, one in values.items()})
        return {name: np.asarray(one) for name, one in values.items()}

    def call(self, operation, function, expects_error=False):
        """Call the package; returns its result, or None, and the warnings."""
        self.session.reproduction.append(operation)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                result = function()
            except (ValueError, RuntimeError) as error:
                expected = expects_error
                if expects_error is None:
                    # A training ends where predictions have no decision.
                    expected = "unbounded" in str(error) or "cycle" in str(error)
                self.session.outcomes.append(Failed(operation, str(error), expected))
                self.was_warned |= any(POSITION_NOTE in str(one.message) for one in caught)
                return None, []
        if expects_error:
            self.session.outcomes.append(Noted(operation, "an error", False, True))
        return result, [str(one.message) for one in caught]

    def study(self, function, features, **settings):
        """Train, compare or backtest on the costs of the case; the result, or None."""
        result, _ = self.call(
            function.__name__,
            lambda: function(
                self.problem,
                features,
                self.case.costs.astype(np.float32),
                parameters=self.parameters(),
                threads=self.threads,
                **settings,
            ),
            None,
        )
        return result

    def run(self):
        self.problem = build_problem(self.case, self.folder, self.form)
        self.session.reproduction.append(
            f"problem by {self.form}, tables as {self.layout}, folder {self.folder}"
        )
        operations = [self.solve_all, self.evaluate]
        if self.rng.random() < 0.3:
            operations.append(self.label)
        if self.rng.random() < 0.25:
            operations.append(self.model)
        if self.rng.random() < 0.06:
            operations.append(lambda: run_study(self))
        for operation in operations:
            operation()
        return self.session

    def solve_all(self):
        case = self.case
        costs = case.costs if self.rng.random() < 0.5 else case.predictions
        solved, _ = self.call(
            "solve_all",
            lambda: self.problem.solve_all(
                self.table(costs), parameters=self.parameters(), threads=self.threads
            ),
        )
        if solved is not None:
            self.session.outcomes.append(self.solved("solve_all", costs, solved))

    def solved(self, operation, costs, solved):
        # Starts of tasks are columns without a cost.
        has_starts = self.case.kind == "schedule"
        values = np.asarray(solved.decisions if has_starts else solved.values, dtype=float)
        return Solved(
            operation,
            costs,
            values,
            np.asarray(solved.objectives),
            list(solved.statuses),
            solved.cost_names,
        )

    def check_row_note(self, operation, notes):
        """A note says how many rows have no decision, and names the first."""
        statuses = self.case.best.statuses
        if (statuses == UNDECIDED).any():
            return
        wrong = np.flatnonzero(statuses != FEASIBLE)
        expected = (len(wrong), int(wrong[0])) if len(wrong) else None
        found = [match for note in notes if (match := ROW_NOTE.search(note))]
        named = None
        if found:
            only, count, first = found[0]["only"], found[0]["count"], found[0]["first"]
            named = (1, int(only)) if only else (int(count), int(first))
        what = f"{expected or 'no'} rows without a decision (count, first), not {named}"
        self.session.outcomes.append(Noted(operation, what, named == expected, True))

    def check_position_note(self, operation, notes):
        must = self.layout == "array" and self.case.drawn.names is not None and not self.was_warned
        appeared = any(POSITION_NOTE in note for note in notes)
        if must or (appeared and self.case.drawn.names is not None and self.layout != "array"):
            self.session.outcomes.append(Noted(operation, POSITION_NOTE, appeared, must))
        self.was_warned |= must

    def label(self):
        case = self.case
        labels, notes = self.call(
            "label",
            lambda: rl.label(
                self.problem,
                self.table(case.costs),
                parameters=self.parameters(),
                threads=self.threads,
            ),
        )
        if labels is None:
            return
        self.check_position_note("label", notes)
        self.check_row_note("label", notes)
        statuses = [labels.failed.get(row, "optimal") for row in range(case.rows)]
        decisions = np.asarray(labels.decisions, dtype=float)
        if decisions.shape[1] != case.drawn.width or hasattr(case.drawn.reference, "known_costs"):
            # Labels have the predicted columns only; their objective includes the others.
            return
        self.session.outcomes.append(
            Solved(
                "label",
                case.costs,
                decisions,
                np.asarray(labels.objectives),
                statuses,
                labels.cost_names,
                True,
            )
        )

    def evaluate(self):
        case = self.case
        predicted, _ = statuses_under(case, case.predictions)
        solvable = case.best.statuses == FEASIBLE
        if (case.best.statuses == UNDECIDED).any() or (predicted.statuses == UNDECIDED).any():
            return
        expects_error = bool((predicted.statuses[solvable] == UNBOUNDED).any())
        evaluation, notes = self.call(
            "evaluate",
            lambda: rl.evaluate(
                self.problem,
                self.table(case.predictions, False),
                C=self.table(case.costs),
                parameters=self.parameters(),
                threads=self.threads,
            ),
            expects_error,
        )
        if evaluation is None:
            return
        self.check_position_note("evaluate", notes)
        self.check_row_note("evaluate", notes)
        self.session.outcomes.append(
            self.evaluated("evaluate", case.predictions, case.costs, evaluation)
        )
        statuses = list(evaluation.rows["label_status"])
        words = {UNBOUNDED: "unbounded", CYCLE: "cycle"}
        for row in np.flatnonzero(np.isin(case.best.statuses, list(words)))[:3]:
            word = words[case.best.statuses[row]]
            self.session.outcomes.append(
                Noted("evaluate", f"status of row {row}: {word}", word in statuses[row], True)
            )

    def evaluated(self, operation, predictions, costs, evaluation):
        rows = evaluation.rows

        def column(name):
            return np.asarray(rows[name], dtype=float)

        return Evaluated(
            operation,
            predictions,
            costs,
            column("regret"),
            column("objective"),
            column("optimal_objective"),
            column("relative_regret"),
            evaluation.to_dict(),
        )

    def model(self):
        """A least-squares model: its predictions by hand, and its decisions."""
        case = self.case
        features = case.rng.normal(size=(case.rows, 3)).astype(np.float32)
        scale = np.abs(case.costs).max() or 1.0
        if (case.best.statuses == FEASIBLE).sum() < 10 or scale > 1e9 or scale < 1e-4:
            return
        trained = self.study(rl.train, features, method="least squares", split="order:0.1,0.1")
        if trained is None:
            return
        model = trained[0]
        if case.rng.random() < 0.5:
            model = rl.Model.from_bytes(model.to_bytes())
        predictions = np.asarray(model.predict(features), dtype=float)
        by_hand = features.astype(float) @ np.asarray(model.coefficients).T + model.intercepts
        # Costs that no training row has are NaN in both.
        size = np.nanmax(np.abs(by_hand)) + np.nanmax(np.abs(model.coefficients))
        tolerance = np.full(by_hand.shape, 3e-6 * size)
        self.session.outcomes.append(Predicted("predict", predictions, by_hand, tolerance))
        problem = self.problem if case.kind == "function" else None
        decided, _ = self.call(
            "decide",
            lambda: model.decide(
                features, problem=problem, parameters=self.parameters(), threads=self.threads
            ),
        )
        if decided is None:
            return
        self.session.outcomes.append(self.solved("decide", predictions, decided))
        if case.rng.random() < 0.5:
            explain_a_row(self, model, features, predictions)
