"""`regretless fit` on five tables on which nothing was tuned, checked with numpy and SciPy.

Roles are those that a reader of the table would give. Decisions are feasible by the names of the
table; optima, regrets, totals and intervals are computed again, and so are the decisions of least
squares; on rows that `fit` has not seen, the model is not significantly worse than least squares.
"""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import permutations, product
from pathlib import Path

import numpy as np
import pytest
from conftest import TESTDATA

pd = pytest.importorskip("pandas")
stats = pytest.importorskip("scipy.stats")
sys.path.append(str(Path(__file__).resolve().parent.parent))

from differential import intervals  # noqa: E402

FOLDER = TESTDATA / "fit"
FOLDS = 5
SEEN_SHARE = 0.75
# Of the standard error in a cross-validation, whose rows share models.
FOLD_ERROR_FACTOR = 1.25


@dataclass
class Table:
    """What a reader knows of a table and its problem."""

    options: list[str]
    # The columns of the costs in the order of the problem, and the names of their items.
    costs: list[str]
    items: list[str]
    sign: int  # of the costs in a minimization
    # All feasible decisions of a row, as rows of zeros and ones.
    decisions_of: Callable
    roles: dict
    lags: tuple[int, ...] = ()
    time: str | None = None
    key: str | None = None
    chosen: str | None = None
    long: tuple[str, ...] = field(default=())


def subsets(weights, capacity):
    """Return the sets of items within a capacity."""
    every = np.array(list(product([0.0, 1.0], repeat=len(weights))))
    return every[every @ np.array(weights) <= capacity]


def matchings(size):
    """Return the assignments of a square problem, pair after pair."""
    return np.array([np.eye(size)[list(order)].ravel() for order in permutations(range(size))])


SLOTS = [f"{hour:02}" for hour in range(6, 22, 2)]
HOURS = [f"{hour:02}" for hour in range(24)]
STALLS = {"coffee": 3, "bread": 2, "cheese": 3, "flowers": 2, "fish": 4, "books": 2, "soap": 1}
PAIRS = [f"d{driver}_t{tour}" for driver in range(4) for tour in range(4)]
MODES = ["air", "train", "bus", "car"]
TABLES = {
    "standby": Table(
        # Delays and numbers of flights have names that are alike.
        options=["--costs", "delay_*"],
        costs=[f"delay_{slot}" for slot in SLOTS],
        items=SLOTS,
        sign=-1,
        decisions_of=lambda row: subsets([1] * 8, row["crews"]),
        roles={
            "time": "date",
            "parameters": ["crews"],
            "features": ["date", "crews", "wind", "temp", "dewp", "wind_speed", "wind_gust"]
            + ["pressure", "visib", *(f"flights_{slot}" for slot in SLOTS)],
        },
        lags=(1,),
        time="date",
    ),
    "travel": Table(
        options=["--instance-column", "individual", "--item-column", "mode", "--cost-column", "gc"],
        costs=["gc"],
        items=MODES,
        sign=1,
        decisions_of=lambda row: np.eye(4),
        roles={
            "instances": ["individual", "mode"],
            "decisions": ["choice"],
            "features": ["ttme", "invc", "invt", "hinc", "psize"],
        },
        long=("individual", "mode"),
    ),
    "heating": Table(
        options=[],
        costs=[f"temp_{hour}" for hour in HOURS],
        items=[f"temp_{hour}" for hour in HOURS],
        sign=-1,
        decisions_of=lambda row: None,
        roles={
            "time": "date",
            "decisions": [f"ran_{hour}" for hour in HOURS],
            "features": ["date"],
        },
        lags=(1,),
        time="date",
    ),
    "stalls": Table(
        options=[],
        costs=[f"profit_{item}" for item in STALLS],
        items=list(STALLS),
        sign=-1,
        decisions_of=lambda row: subsets(list(STALLS.values()), row["hours"]),
        roles={
            "keys": ["id"],
            "parameters": ["hours"],
            "features": ["district", "visitors", "rain_mm", "hours"],
        },
        key="id",
        chosen="least squares",
    ),
    "drivers": Table(
        options=[],
        costs=[f"min_{pair}" for pair in PAIRS],
        items=[pair.replace("_", "-") for pair in PAIRS],
        sign=1,
        decisions_of=lambda row: matchings(4),
        roles={
            "time": "day",
            "decisions": [f"was_{pair}" for pair in PAIRS],
            "features": ["day", "temperature", "traffic"],
        },
        lags=(1,),
        time="day",
        chosen="auto",
    ),
}
ROLES = ("time", "instances", "keys", "decisions", "forecasts", "parameters", "features")


def run(program, folder, *words):
    """Run the program; return what it printed."""
    done = subprocess.run([*program, *words], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


class Fit:
    """A fit of the rows of a table that come first, and the rows it has not seen."""

    def __init__(self, name, table, program, folder):
        self.name, self.table, self.program, self.folder = name, table, program, folder
        self.frame = pd.read_csv(FOLDER / f"{name}.csv", dtype={"wind": str, "id": str})
        self.number_of = self.instances_of(self.frame)
        count = self.number_of.max() + 1
        order = np.arange(count)
        if table.time is None:
            order = np.random.default_rng(4).permutation(count)
        self.seen = np.sort(order[: int(SEEN_SHARE * count)])
        self.new = np.sort(order[int(SEEN_SHARE * count) :])
        self.rows_of(self.seen).to_csv(folder / "history.csv", index=False)
        problem = FOLDER / f"{name}.toml"
        words = ["fit", "history.csv", "--problem", str(problem), "--out", "fit", "--json"]
        self.report = json.loads(run(program, folder, *words, *table.options))
        self.summary = json.loads((folder / "fit" / "summary.json").read_text())
        texts = {"column": str, "period": str}
        self.periods = pd.read_csv(folder / "fit" / "periods.csv", dtype=texts)
        self.decisions = pd.read_csv(folder / "fit" / "decisions.csv", dtype=texts)
        self.names = self.names_of(self.seen)

    def instances_of(self, frame):
        """Return the number of the instance of each row."""
        if self.table.long:
            return pd.factorize(frame[self.table.long[0]])[0]
        return np.arange(len(frame))

    def rows_of(self, instances):
        """Return the rows of the table of some instances."""
        return self.frame[np.isin(self.number_of, instances)]

    def names_of(self, instances):
        """Return the name that the results give each of these instances, and its number."""
        if self.table.time:
            times = self.times()[instances]
            return dict(zip(times.strftime("%Y-%m-%d"), instances))
        if self.table.key:
            return dict(zip(self.frame[self.table.key].iloc[instances], instances))
        if self.table.long:
            column = self.table.long[0]
            return {f"{column} {self.row(instance)[column]}": instance for instance in instances}
        return {f"row {place}": instance for place, instance in enumerate(instances)}

    def times(self):
        return pd.DatetimeIndex(self.frame[self.table.time])

    def costs(self):
        """Return the costs of all instances, as the program stores them."""
        values = self.frame[self.table.costs].to_numpy(np.float32).astype(float)
        return values.reshape(self.number_of.max() + 1, len(self.table.items))

    def row(self, instance):
        return self.frame.iloc[np.flatnonzero(self.number_of == instance)[0]]

    def best(self, instance, costs):
        """Return the best decision under some costs, found by enumeration."""
        if self.name == "heating":
            chosen = np.zeros(24)
            chosen[np.argsort(-costs, kind="stable")[:6]] = 1
            return chosen
        sets = self.table.decisions_of(self.row(instance))
        return sets[np.argmin(self.table.sign * (sets @ costs))]

    def is_feasible(self, instance, decision):
        if self.name == "heating":
            return set(decision) <= {0, 1} and decision.sum() == 6
        sets = self.table.decisions_of(self.row(instance))
        return bool((sets == decision).all(axis=1).any())

    def decided(self, method):
        """Return the decisions of a method by the number of the instance."""
        place = {item: number for number, item in enumerate(self.table.items)}
        found = {instance: np.zeros(len(place)) for instance in self.decided_instances()}
        of_method = self.decisions[self.decisions["method"] == method]
        for period, column, value in zip(
            of_method["period"], of_method["column"], of_method["value"]
        ):
            found[self.names[period]][place[column]] = value
        return found

    def decided_instances(self):
        """Return the decided instances in the order of the results."""
        return [self.names[period] for period in self.periods["period"].unique()]

    def costs_of(self, method):
        """Return what the periods cost with a method, as the results have it."""
        return self.periods.loc[self.periods["method"] == method, "cost"].to_numpy()

    def savings_against(self, reference, methods):
        """Return the savings of some methods in each period."""
        base = self.costs_of(reference)
        of_method = [self.costs_of(method) for method in methods]
        return [intervals.savings_of(base, own, self.table.sign) for own in of_method]

    def ends_of(self, savings):
        """Return where the ends of the intervals of some savings must lie, or None."""
        if self.table.time:
            return intervals.interval_ends(savings, np.random.default_rng(5))
        return row_ends(savings)

    def ends_against(self, reference, method, methods):
        """Return where the ends of what a method saves against a reference must lie, or None.

        They hold for all methods against least squares, or else for the method against all others.
        """
        if reference == methods[0]:
            return self.ends_of(self.savings_against(reference, methods))[methods.index(method)]
        turned = self.savings_against(method, methods)
        ends = self.ends_of(turned)[methods.index(reference)]
        return None if ends is None else -ends[::-1, ::-1]

    def design(self, training):
        """Return the features of all instances as some of them encode them."""
        columns = [np.ones(len(self.frame))]
        for name in self.table.roles["features"]:
            values = self.frame[name]
            if name == self.table.time:
                values = pd.Series(self.times().day_of_week.astype(str))
            if values.dtype.kind in "OTSU" or isinstance(values.dtype, pd.StringDtype):
                texts = values.fillna("")
                columns += [texts == text for text in texts.iloc[training].unique()]
                continue
            known = values.iloc[training]
            columns.append(values.fillna(known.median()))
            if known.isna().any():
                columns.append(values.isna())
        return np.column_stack([*columns, *self.lagged()]).astype(float)

    def lagged(self):
        """Return the costs of earlier days; NaN without these."""
        if not self.table.lags:
            return []
        of_days = pd.DataFrame(self.costs(), index=self.times()).asfreq("D")
        earlier = [of_days.shift(lag).loc[self.times()].to_numpy() for lag in self.table.lags]
        return list(np.column_stack(earlier).T)

    def complete(self, instances):
        """Return the instances that have the costs of earlier days."""
        is_known = np.ones(len(self.frame), dtype=bool)
        for values in self.lagged():
            is_known &= ~np.isnan(values)
        return instances[np.isin(instances, self.number_of[is_known])]

    def predicted(self, training):
        """Return the costs that least squares predict for all instances.

        In a long table they have one set of coefficients, and a row for each item.
        """
        costs = self.costs()
        known = np.flatnonzero(np.isin(self.number_of, training))
        values = costs.reshape(-1, 1) if self.table.long else costs
        design = self.design(known)
        middle, scale = design[known].mean(axis=0), design[known].std(axis=0)
        scaled = (design - middle) / np.where(scale > 0, scale, 1.0)
        scaled[:, 0] = 1.0
        weights = np.linalg.lstsq(scaled[known], values[known], rcond=None)[0]
        return (scaled @ weights).reshape(costs.shape)

    def decided_by_model(self):
        """Return what the model decides for new rows: by the name of the item, by instance."""
        rows = self.rows_of(self.new).copy()
        lagged = self.lagged()
        costs = len(self.table.costs)
        for number, values in enumerate(lagged):
            name = self.table.costs[number % costs]
            rows[f"{name}_lag{self.table.lags[number // costs]}"] = values[self.new]
        # A model has no use for costs, names of rows or decisions that were made.
        unused = [*self.table.costs, *self.table.roles.get("decisions", [])]
        rows = rows.drop(columns=unused).dropna(
            subset=rows.columns[len(rows.columns) - len(lagged) :]
        )
        numbers = self.new[np.isin(self.new, self.number_of[rows.index])]
        rows.to_csv(self.folder / "new.csv", index=False)
        words = [
            "decide",
            "--model",
            "fit/model.safetensors",
            "--data",
            "new.csv",
            "--out",
            "d.csv",
        ]
        if self.table.long:
            words += ["--instance-column", self.table.long[0], "--item-column", self.table.long[1]]
        run(self.program, self.folder, *words)
        decided = pd.read_csv(self.folder / "d.csv")
        assert (decided["status"] == "optimal").all()
        return dict(zip(numbers, decided[self.table.items].to_numpy()))


def row_ends(savings):
    """Return where the ends of intervals must lie that hold together, for rows without an order.

    They are the outer ones of a balanced studentized bootstrap of rows and of Student's t at the
    probability that all series share.
    """
    found = [None] * len(savings)
    varying = [
        number
        for number, own in enumerate(savings)
        if np.count_nonzero(own) >= intervals.LEAST_DIFFERENCES and np.ptp(own) > 0
    ]
    if not varying or len(savings[0]) < intervals.LEAST_PERIODS:
        return found
    rng, count = np.random.default_rng(6), len(savings[0])
    rows = rng.integers(0, count, size=(intervals.RESAMPLES, count))
    students = []
    for number in varying:
        drawn = savings[number][rows]
        error = drawn.std(axis=1, ddof=1) / np.sqrt(count)
        error[error <= 1e-10 * np.abs(savings[number]).max()] = np.nan
        students.append((drawn.mean(axis=1) - savings[number].mean()) / error)
    sides = [np.nan_to_num(side, nan=np.inf) for side in (np.array(students), -np.array(students))]
    slack = intervals.MOST_ERRORS * np.sqrt(
        intervals.TAIL / intervals.PROGRAM_RESAMPLES + intervals.TAIL / intervals.RESAMPLES
    )
    reach = [
        [
            reach_of(side, tail, count - 1)
            for tail in (intervals.TAIL + slack, intervals.TAIL - slack)
        ]
        for side in sides
    ]
    for place, number in enumerate(varying):
        own = savings[number]
        factor = FOLD_ERROR_FACTOR * own.std(ddof=1) / np.sqrt(count)
        [least_down, most_down], [least_up, most_up] = (
            [quantiles[place] for quantiles in side] for side in reach
        )
        lower = own.mean() - factor * np.array([most_down, least_down])
        upper = own.mean() + factor * np.array([least_up, most_up])
        found[number] = np.array([lower, upper])
    return found


def reach_of(statistics, tail, freedom):
    """Return the standard errors to one end of all series: those of the bootstrap, or Student's."""
    ordered = np.sort(statistics, axis=1)
    ranks = [np.searchsorted(row, own) for row, own in zip(ordered, statistics)]
    highest = np.sort(np.max(ranks, axis=0))
    rank = highest[len(highest) - 1 - int(tail * len(highest))]
    return np.maximum(ordered[:, rank], stats.t.ppf((rank + 0.5) / len(highest), freedom))


@pytest.fixture(scope="module", params=list(TABLES))
def fit(request, program, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    return Fit(request.param, TABLES[request.param], program, folder)


def test_roles_are_those_that_a_reader_gives(fit):
    expected = {"costs": fit.table.costs, **fit.table.roles}
    for role in ROLES:
        assert (fit.report["roles"].get(role) or None) == expected.get(role), role
    assert fit.report["roles"]["costs"] == fit.table.costs
    assert not fit.report["roles"]["unused"]
    assert len(fit.report["roles"]["lag_periods"]) == len(fit.table.lags)


def test_decisions_are_feasible_and_regrets_those_of_enumeration(fit):
    costs = fit.costs()
    instances = fit.decided_instances()
    best = np.array(
        [costs[instance] @ fit.best(instance, costs[instance]) for instance in instances]
    )
    for method in fit.summary["methods"]:
        decided = fit.decided(method["name"])
        assert all(fit.is_feasible(instance, decided[instance]) for instance in instances)
        own = np.array([costs[instance] @ decided[instance] for instance in instances])
        of_method = fit.periods[fit.periods["method"] == method["name"]]
        np.testing.assert_allclose(of_method["cost"], own, rtol=1e-6)
        np.testing.assert_allclose(of_method["best"], best, rtol=1e-6)
        regret = fit.table.sign * (own - best)
        np.testing.assert_allclose(of_method["regret"], regret, atol=1e-4)
        assert method["total_cost"] == pytest.approx(own.sum(), rel=1e-6)
        assert method["total_regret"] == pytest.approx(regret.sum(), rel=1e-5, abs=1e-3)


def test_least_squares_decide_as_numpy_does(fit):
    order = np.array(fit.decided_instances())
    folds = []
    if fit.table.time:
        # Rows without the costs of earlier days are not in the table.
        complete = fit.complete(fit.seen)
        first = len(complete) // 2
        step = -(-(len(complete) - first) // FOLDS)
        for start in range(first, len(complete), step):
            folds.append((complete[:start], complete[start : start + step]))
        assert (np.concatenate([test for _, test in folds]) == order).all()
    else:
        for part in range(FOLDS):
            start, end = (len(order) * place // FOLDS for place in (part, part + 1))
            folds.append((np.concatenate([order[:start], order[end:]]), order[start:end]))
    costs, total = fit.costs(), 0.0
    for training, test in folds:
        predicted = fit.predicted(np.sort(training))
        total += sum(costs[row] @ fit.best(row, predicted[row]) for row in test)
    found = fit.summary["methods"][0]
    assert found["name"] == "least squares"
    assert found["total_cost"] == pytest.approx(total, rel=1e-4)


def test_savings_and_intervals_are_those_of_another_implementation(fit):
    methods = [method["name"] for method in fit.summary["methods"]]
    savings = fit.savings_against(methods[0], methods[1:])
    for method, own, ends in zip(fit.summary["methods"][1:], savings, fit.ends_of(savings)):
        assert method["saving"]["per_period"] == pytest.approx(own.mean(), abs=1e-6)
        interval = method["saving"]["interval"]
        if ends is None:
            assert interval is None
        elif interval is not None:
            is_inside(interval["lower"], ends[0])
            is_inside(interval["upper"], ends[1])


def is_inside(end, least_and_most, rounding=1e-6):
    least, most = sorted(least_and_most)
    assert least - rounding <= end <= most + rounding


def number_and_rounding(text):
    """Return a printed number and the most that rounding has changed it."""
    decimals = len(text.partition(".")[2])
    return float(text.replace(",", "")), 0.5 * 10.0**-decimals


def test_the_verdict_follows_from_the_numbers(fit):
    methods = [method["name"] for method in fit.summary["methods"]]
    tried = next(name for name in methods if name.startswith("auto"))
    total = {name: fit.table.sign * fit.costs_of(name).sum() for name in methods}
    rules = [name for name in methods if name not in (tried, "past decisions")]
    best = min(rules, key=lambda name: total[name])
    savings = fit.savings_against(best, methods)[methods.index(tried)]
    ends = fit.ends_against(best, tried, methods)
    sentence = fit.report["verdict"]
    assert f"`{tried}`" in sentence and best in sentence
    # A significantly worse method is the second one.
    turn = 1 if sentence.startswith(f"`{tried}`") else -1
    effect = re.search(r"(gains|saves|costs|loses) (-?[\d.,]+)", sentence)
    if effect[1] in ("costs", "loses"):
        turn = -turn
    saved, rounding = number_and_rounding(effect[2])
    assert turn * saved == pytest.approx(savings.mean(), abs=rounding)
    printed = re.search(r"95 %: (-?[\d.,]+) to (-?[\d.,]+)", sentence)
    if printed is None:
        assert ends is None and "too few" in sentence
    else:
        for text, least_and_most in zip(printed.groups(), ends[::turn]):
            end, rounding = number_and_rounding(text)
            is_inside(turn * end, least_and_most, rounding)
    is_claim = " more than " in sentence or " against " in sentence
    if ends is not None:
        assert is_claim or ends[0].min() <= 0 <= ends[1].max()
    assert is_claim <= (ends is not None)
    past = [remark for remark in fit.report["remarks"] if "past decisions" in remark]
    assert bool(past) == ("past decisions" in methods)


def test_the_model_is_least_squares_unless_another_one_is_better(fit):
    methods = [method["name"] for method in fit.summary["methods"]]
    tried = next(name for name in methods if name.startswith("auto"))
    simple = [name for name in methods if name in ("least squares", "shared least squares")]
    simple = min(simple, key=lambda name: fit.table.sign * fit.costs_of(name).sum())
    ends = fit.ends_against(simple, tried, methods)
    chosen = fit.report["method"]
    assert fit.report["verdict"].endswith(f"; the model is {chosen}")
    if ends is not None and ends[0].min() > 0:
        assert chosen == tried
    elif ends is None or ends[0].max() <= 0:
        assert chosen == simple


def test_the_model_is_the_expected_one(fit):
    if fit.table.chosen:
        assert fit.report["method"].startswith(fit.table.chosen)


def test_on_new_rows_the_model_is_not_significantly_worse_than_least_squares(fit):
    decided = fit.decided_by_model()
    costs = fit.costs()
    rows = [row for row in fit.new if row in decided]
    assert len(rows) > 50
    assert all(fit.is_feasible(row, decided[row]) for row in rows)
    predicted = fit.predicted(fit.complete(fit.seen))
    worse = fit.table.sign * np.array(
        [costs[row] @ (decided[row] - fit.best(row, predicted[row])) for row in rows]
    )
    # Days in a row are alike: their blocks are compared, other rows one by one.
    blocks = np.array_split(worse, len(worse) // 5) if fit.table.time else worse
    means = np.array([np.mean(block) for block in blocks])
    if np.ptp(means) > 0:
        assert stats.ttest_1samp(means, 0, alternative="greater").pvalue > 0.05
    else:
        assert means[0] <= 0
    if fit.table.chosen == "auto":
        assert stats.ttest_1samp(means, 0, alternative="less").pvalue < 0.01


def test_dates_in_another_notation_are_refused(program, tmp_path):
    frame = pd.read_csv(FOLDER / "drivers.csv")
    frame["day"] = pd.to_datetime(frame["day"]).dt.strftime("%d.%m.%Y")
    frame.to_csv(tmp_path / "drivers.csv", index=False)
    words = [*program, "fit", "drivers.csv", "--problem", str(FOLDER / "drivers.toml")]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode != 0
    assert "column day: '01.03.2023' looks like a date" in done.stderr
    assert "--time 'none'" in done.stderr
