"""Problems from PuLP, CPMpy, linopy and cvxpy, each in its own process.

linopy and cvxpy are installed for the tests with PYTHON_TEST=all only: their dependencies take more
than a hundred megabytes.
"""

import pytest
from test_adapters import run

import regretless as rl

PULP = """
import pulp
model = pulp.LpProblem("shop", pulp.LpMaximize)
x = [pulp.LpVariable(f"x_{j}", cat="Binary") for j in range(4)]
room = pulp.LpVariable("room", 0, 2)
model += pulp.lpSum(x) - room
model += pulp.lpSum(w * v for w, v in zip(weights, x)) <= 7 + room
check(problems.from_pulp(model, x), best=(1, 0, 1, 0), worth=10.0)
check(rl.Problem.from_model(model, x), best=(1, 0, 1, 0), worth=10.0)
check(rl.Problem.from_pulp(model, "x*"), best=(1, 0, 1, 0), worth=10.0)
names = rl.Problem.from_pulp(model, "x*").solve(values).column_names
assert names == ["x_0", "x_1", "x_2", "x_3", "room"], names
check(problems.from_pulp(model, dict(enumerate(x))), best=(1, 0, 1, 0), worth=10.0)
turned = problems.from_pulp(model, [x[2], "x_0", 2, x[3]])
assert turned.cost_names == ["x_2", "x_0", "x_1", "x_3"], turned.cost_names
"""

CPMPY = """
import sys
sys.modules["highspy"] = None  # CPMpy imports OR-Tools, and both cannot be loaded
import cpmpy as cp
x = cp.boolvar(shape=4, name="x")
room = cp.intvar(0, 2, name="room")
model = cp.Model(cp.sum([int(w) for w in weights] * x) <= 7 + room)
model.maximize(cp.sum(x) - room)
check(problems.from_cpmpy(model, x), best=(1, 0, 1, 0), worth=10.0)
check(rl.Problem.from_model(model, x), best=(1, 0, 1, 0), worth=10.0)
check(rl.Problem.from_cpmpy(model, "x*"), best=(1, 0, 1, 0), worth=10.0)
assert rl.Problem.from_cpmpy(model, "x*").solve(values).column_names[4] == "room"
turned = problems.from_cpmpy(model, [x[2], "x[0]", x[1:2], x[3]])
assert turned.cost_names == ["x[2]", "x[0]", "x[1]", "x[3]"], turned.cost_names
unnamed = cp.Model(cp.sum(cp.boolvar(shape=3)) <= 2)
unnamed.maximize(cp.sum(x))
assert problems.from_cpmpy(unnamed, [0, 1, 2]).cost_names is None  # CPMpy named them
"""

LINOPY = """
import linopy
import pandas as pd
model = linopy.Model()
items = pd.Index(list("abcd"), name="item")
x = model.add_variables(binary=True, coords=[items], name="x")
room = model.add_variables(lower=0, upper=2, name="room")
model.add_constraints((x * weights).sum() <= 7 + room)
model.add_objective(x.sum() - room, sense="max")
check(problems.from_linopy(model, x), best=(1, 0, 1, 0), worth=10.0)
check(rl.Problem.from_model(model, x), best=(1, 0, 1, 0), worth=10.0)
check(rl.Problem.from_linopy(model, "x*"), best=(1, 0, 1, 0), worth=10.0)
assert rl.Problem.from_linopy(model, "x*").solve(values).column_names[4] == "room"
turned = problems.from_linopy(model, [x.loc["c"], "x[a]", x.at["b"], x.loc["d":]])
assert turned.cost_names == ["x[c]", "x[a]", "x[b]", "x[d]"], turned.cost_names
grid = linopy.Model()
depots, days = pd.Index(["north", "south"], name="depot"), pd.RangeIndex(2, name="day")
kept = np.array([[True, False], [True, True]])
ship = grid.add_variables(lower=0, upper=3, coords=[depots, days], name="ship", mask=kept)
unnamed = grid.add_variables(lower=0, upper=3)
grid.add_constraints(ship.sum() + unnamed <= 4)
grid.add_objective(ship.sum())
named = problems.from_linopy(grid, ship)
assert named.cost_names == ["ship[north,0]", "ship[south,0]", "ship[south,1]"], named.cost_names
assert problems.from_linopy(grid, unnamed).cost_names is None  # linopy named it
"""

CVXPY = """
import cvxpy as cp
x = cp.Variable(4, boolean=True, name="x")
room = cp.Variable(bounds=[0, 2], name="room")
c = cp.Parameter(4, name="c")  # the predicted costs: without a value
model = cp.Problem(cp.Maximize(c @ x - room), [np.array(weights) @ x <= 7 + room])
check(problems.from_cvxpy(model, x), best=(1, 0, 1, 0), worth=10.0)
check(rl.Problem.from_model(model, x), best=(1, 0, 1, 0), worth=10.0)
check(rl.Problem.from_cvxpy(model, "x*"), best=(1, 0, 1, 0), worth=10.0)
turned = problems.from_cvxpy(model, [x[2], "x[0]", x[1], x[3:]])
assert turned.cost_names == ["x[2]", "x[0]", "x[1]", "x[3]"], turned.cost_names
assert x.value is None and c.value is None
many, unnamed = cp.Variable((2, 2), name="Y"), cp.Variable()
both = cp.Problem(cp.Minimize(cp.sum(many)), [many >= 1, cp.sum(many, axis=0) <= 4, unnamed >= 0])
assert problems.from_cvxpy(both, many).cost_names == ["Y[0,0]", "Y[0,1]", "Y[1,0]", "Y[1,1]"]
assert problems.from_cvxpy(both, unnamed).cost_names is None  # cvxpy named it
assert problems.from_cvxpy(both, many.T).cost_names == ["Y[0,0]", "Y[1,0]", "Y[0,1]", "Y[1,1]"]
"""

PULP_LIMITS = """
import pulp

def model(sense=pulp.LpMaximize, change=lambda made, x: None):
    made = pulp.LpProblem("shop", sense)
    x = [pulp.LpVariable(f"x{j}", cat="Binary") for j in range(4)]
    made += pulp.lpSum(x) + 100
    made += pulp.lpSum(w * v for w, v in zip(weights, x)) <= 7
    change(made, x)
    return made, x

made, x = model()
check(problems.from_pulp(made), worth=109.0)  # with the constant
least = problems.from_pulp(model(pulp.LpMinimize)[0])
assert least.sense == "minimize" and least.solve(values).objective == 100.0
without = pulp.LpProblem("no objective")
without += x[0] + x[1] >= 1
assert problems.from_pulp(without).solve([2.0, 3.0]).objective == 2.0
refused("not a variable of this model", problems.from_pulp, made, model()[1])
refused("twice", problems.from_pulp, made, [x[0], "x0"])
refused("0 to 3", problems.from_pulp, made, [4])

def ordered(made, x):
    made.sos1["groups"] = {x[0]: 1, x[1]: 2}

refused("groups", problems.from_pulp, model(change=ordered)[0])
"""

CPMPY_LIMITS = """
import sys
sys.modules["highspy"] = None
import cpmpy as cp

def model(*more):
    x, count = cp.boolvar(shape=4, name="x"), cp.intvar(-2, 5, name="count")
    made = cp.Model(cp.sum([int(w) for w in weights] * x) <= 7, *[part(x, count) for part in more])
    made.maximize(cp.sum(x) + 100)
    return made, x

made, x = model()
check(problems.from_cpmpy(made), worth=109.0)  # with the constant
refused("not a variable of this model", problems.from_cpmpy, made, cp.boolvar(name="other"))
refused("twice", problems.from_cpmpy, made, [x[0], "x[0]"])
refused("0 to 3", problems.from_cpmpy, made, [4])
for part in (
    lambda x, n: cp.AllDifferent(x[0], n),
    lambda x, n: n != 1,
    lambda x, n: n * n <= 3,
    lambda x, n: (n < 1).implies(x[0]),
    lambda x, n: x[0] == (n < 1),
    lambda x, n: n // 2 == 1,
    lambda x, n: cp.max([n, x[0]]) <= 1,
    lambda x, n: ~(x[0] & x[1]),
    lambda x, n: cp.all([x[0], n % 2 == 0]),
):
    made, x = model(part)
    text = str(part(x, cp.intvar(-2, 5, name="count")))
    refused("is not linear", problems.from_cpmpy, made)
    refused(text if "and" not in text else "mod", problems.from_cpmpy, made)
curved, x = model()
curved.maximize(x[0] * x[1] + x[2])
refused("is not linear: ((x[0]) * (x[1])) + (x[2])", problems.from_cpmpy, curved)
# Clauses, implications and strict comparisons are linear.
logical, x = model(
    lambda x, n: x[0] | ~x[1],
    lambda x, n: x[0].implies(x[2]),
    lambda x, n: [n > 1, n < 3],
    lambda x, n: ~x[2],
    lambda x, n: True,
)
# Without item 2, item 0 and then item 1 are excluded.
check(problems.from_cpmpy(logical, x), best=(0, 0, 0, 1), worth=101.0)
never, x = model(lambda x, n: False)
try:
    solution = problems.from_cpmpy(never, x).solve(values)
except RuntimeError as error:
    assert "feasible" in str(error), error
else:
    raise AssertionError(f"solved, though False must hold: {solution}")
"""

LINOPY_LIMITS = """
import linopy
import pandas as pd

def model(sense="max"):
    made = linopy.Model()
    x = made.add_variables(binary=True, coords=[pd.RangeIndex(4, name="item")], name="x")
    made.add_constraints((x * weights).sum() <= 7)
    made.add_objective(x.sum(), sense=sense)
    return made, x

made, x = model()
check(problems.from_linopy(made))
assert problems.from_linopy(model("min")[0]).solve(values).objective == 0.0
refused("not a variable of this model", problems.from_linopy, made, model()[1])
refused("twice", problems.from_linopy, made, [x, "x[0]"])
refused("0 to 3", problems.from_linopy, made, [4])
curved, x = model()
curved.add_objective((x * x).sum(), overwrite=True)
refused("objective is quadratic", problems.from_linopy, curved)
ordered, x = model()
ordered.add_sos_constraints(x, sos_type=1, sos_dim="item")
refused("variable x", problems.from_linopy, ordered)
semi, x = model()
semi.add_variables(lower=1, upper=4, semi_continuous=True, name="batch")
refused("batch", problems.from_linopy, semi)
optional, x = model()
optional.add_indicator_constraints(x.loc[0], 1, x.loc[1] + x.loc[2], "<=", 1, name="either")
refused("either", problems.from_linopy, optional)
fixed, x = model()
y = fixed.add_variables(lower=0, upper=5, name="y")
y.fix(3)
worth = problems.from_linopy(fixed, ["x*", "y"]).solve(np.append(values, 2.0)).objective
assert worth == 9.0 + 6.0, worth
"""

CVXPY_LIMITS = """
import cvxpy as cp

x = cp.Variable(4, boolean=True, name="x")
room = cp.Variable(bounds=[0, 2], name="room")
fits = np.array(weights) @ x <= 7

def problem(objective=None, *constraints):
    return cp.Problem(objective or cp.Maximize(cp.sum(x) + 100), [fits, *constraints])

check(problems.from_cvxpy(problem()), worth=109.0)  # with the constant
least = problems.from_cvxpy(problem(cp.Minimize(cp.sum(x) + 100)))
assert least.sense == "minimize" and least.solve(values).objective == 100.0
refused("not a variable of this model", problems.from_cvxpy, problem(), cp.Variable(2))
refused("not a variable of this model", problems.from_cvxpy, problem(), 2 * x)
refused("not a variable of this model", problems.from_cvxpy, problem(), x[0] + x[1])
refused("twice", problems.from_cvxpy, problem(), [x[0], "x[0]"])
refused("0 to 3", problems.from_cvxpy, problem(), [4])
refused("objective is minimize quad_over_lin", problems.from_cvxpy,
        problem(cp.Minimize(cp.sum_squares(x))))
refused("constraint 1 is", problems.from_cvxpy, problem(None, cp.norm(x) <= 1))
refused("constraint 1 is SOC", problems.from_cvxpy, problem(None, cp.SOC(room, x)))
for attribute in ("PSD", "symmetric", "diag"):
    square = cp.Variable((2, 2), name="P", **{attribute: True})
    refused(f"P of the cvxpy problem is declared {attribute}", problems.from_cvxpy,
            problem(cp.Minimize(cp.trace(square))))
limit, cost = cp.Parameter(name="limit"), cp.Parameter(4, name="cost")
refused("limit", problems.from_cvxpy, problem(None, cp.sum(x) <= limit))
limit.value = 1.0
check(problems.from_cvxpy(problem(None, cp.sum(x) <= limit)), best=(0, 0, 1, 0), worth=107.0)
unknown = problem(cp.Maximize(cost @ x + room))
check(problems.from_cvxpy(unknown, x), worth=11.0)
refused("(cost)", problems.from_cvxpy, unknown, [x[0], x[1]])
refused("(cost)", problems.from_cvxpy, problem(cp.Maximize(cost @ x + cost[0] + room)), x)
some = cp.Variable(2, integer=[(1,)], nonneg=True, name="some")
mixed = problems.from_cvxpy(cp.Problem(cp.Maximize(cp.sum(some)), [some <= 1.5]))
assert mixed.solve([1.0, 1.0]).decision.tolist() == [1.5, 1.0]
"""

RANDOM_MODELS = """
RANDOM = np.random.default_rng(0)

def random_model(integer_data):
    # A feasible point first; then rows of all kinds that hold there, and bounds around it.
    made = {}
    columns = int(RANDOM.integers(3, 7))
    made["kinds"] = RANDOM.choice(["C", "I", "B"], size=columns)
    if integer_data:
        made["kinds"] = np.where(made["kinds"] == "C", "I", made["kinds"])
    point = np.where(made["kinds"] == "B", RANDOM.integers(0, 2, columns),
                     RANDOM.integers(-3, 4, columns)).astype(float)
    made["lower"] = np.where(made["kinds"] == "B", 0.0, point - RANDOM.integers(0, 5, columns))
    made["upper"] = np.where(made["kinds"] == "B", 1.0, point + RANDOM.integers(0, 5, columns))
    rows = int(RANDOM.integers(1, 6))
    matrix = RANDOM.integers(-4, 5, size=(rows, columns)).astype(float)
    matrix[RANDOM.uniform(size=matrix.shape) < 0.3] = 0.0
    made["senses"] = RANDOM.choice(["<", ">", "="], size=rows, p=[0.45, 0.45, 0.1])
    slack = np.where(made["senses"] == "=", 0.0, RANDOM.integers(0, 6, rows))
    made["rhs"] = matrix @ point + np.where(made["senses"] == ">", -slack, slack)
    made["matrix"] = matrix
    made["objective"] = RANDOM.integers(-5, 6, columns).astype(float)
    made["constant"] = float(RANDOM.integers(-9, 10))
    made["maximize"] = bool(RANDOM.integers(0, 2))
    # Some bounds are infinite where the objective does not use them.
    if not integer_data:
        sign = -1.0 if made["maximize"] else 1.0
        free = (made["kinds"] != "B") & (RANDOM.uniform(size=columns) < 0.3)
        made["upper"][free & (sign * made["objective"] >= 0)] = np.inf
        made["lower"][free & (sign * made["objective"] <= 0)] = -np.inf
    return made

def compared(left, sense, rhs):
    return left <= rhs if sense == "<" else left >= rhs if sense == ">" else left == rhs

def compare(build, integer_data=False, constant=True, count=40):
    solved = 0
    for number in range(count):
        made = random_model(integer_data)
        if not constant:
            made["constant"] = 0.0
        model, best, read = build(made)
        columns = len(made["kinds"])
        known = RANDOM.choice(columns, size=int(RANDOM.integers(0, columns)), replace=False)
        predicted = [column for column in range(columns) if column not in set(known)]
        problem = read(model, [f"v{column}" for column in predicted])
        assert problem.num_costs == len(predicted)
        found = problem.solve(made["objective"][predicted])
        assert abs(found.objective - best) <= 1e-5 * max(abs(best), 1.0), (number, found, best)
        solved += 1
    assert solved == count
"""

PULP_RANDOM = (
    RANDOM_MODELS
    + """
import pulp

def build(made):
    model = pulp.LpProblem("random", pulp.LpMaximize if made["maximize"] else pulp.LpMinimize)
    finite = lambda value: None if np.isinf(value) else float(value)
    v = [
        pulp.LpVariable(
            f"v{j}", finite(low), finite(high), "Continuous" if kind == "C" else "Integer"
        )
        for j, (low, high, kind) in enumerate(zip(made["lower"], made["upper"], made["kinds"]))
    ]
    # Terms in two parts, so a variable occurs twice.
    total = lambda c: pulp.lpSum(a / 2 * x for a, x in zip(c, v)) + pulp.lpSum(
        a / 2 * x for a, x in zip(c, v))
    model += total(made["objective"]) + made["constant"]
    for row, sense, rhs in zip(made["matrix"], made["senses"], made["rhs"]):
        left = total(row) - 2
        model += compared(left, sense, rhs - 2)
    model.solve(pulp.PULP_CBC_CMD(msg=False, gapRel=0))
    assert pulp.LpStatus[model.status] == "Optimal"
    return model, pulp.value(model.objective), problems.from_pulp

compare(build, count=15)  # CBC is a process of its own for each
"""
)

CPMPY_RANDOM = (
    """
import sys
sys.modules["highspy"] = None
"""
    + RANDOM_MODELS
    + """
import cpmpy as cp

def build(made):
    v = [
        cp.boolvar(name=f"v{j}") if kind == "B" else cp.intvar(int(low), int(high), name=f"v{j}")
        for j, (low, high, kind) in enumerate(zip(made["lower"], made["upper"], made["kinds"]))
    ]
    total = lambda c: sum(int(a) * x for a, x in zip(c, v))
    model = cp.Model()
    for row, sense, rhs in zip(made["matrix"], made["senses"], made["rhs"].astype(int)):
        left = total(row)
        model += left < int(rhs) + 1 if sense == "<" else compared(left, sense, int(rhs))
    model += [x >= int(low) for x, low in zip(v, made["lower"])]
    objective = total(made["objective"]) + int(made["constant"])
    (model.maximize if made["maximize"] else model.minimize)(objective)
    assert model.solve(solver="ortools")
    return model, float(model.objective_value()), problems.from_cpmpy

compare(build, integer_data=True)
"""
)

LINOPY_RANDOM = (
    RANDOM_MODELS
    + """
import linopy

def build(made):
    model = linopy.Model()
    v = [
        model.add_variables(binary=True, name=f"v{j}") if kind == "B" else
        model.add_variables(lower=low, upper=high, name=f"v{j}", integer=kind == "I")
        for j, (low, high, kind) in enumerate(zip(made["lower"], made["upper"], made["kinds"]))
    ]
    total = lambda c: sum((a / 2 * x + a / 2 * x for a, x in zip(c[1:], v[1:])), float(c[0]) * v[0])
    for row, sense, rhs in zip(made["matrix"], made["senses"], made["rhs"]):
        left = total(row)
        model.add_constraints(compared(left, sense, rhs))
    model.add_objective(total(made["objective"]), sense="max" if made["maximize"] else "min")
    model.solve("highs", io_api="direct", output_flag=False)
    return model, float(model.objective.value), problems.from_linopy

compare(build, constant=False, count=10)
"""
)

CVXPY_RANDOM = (
    RANDOM_MODELS
    + """
import cvxpy as cp

def build(made):
    v = []
    for j, (low, high, kind) in enumerate(zip(made["lower"], made["upper"], made["kinds"])):
        options = {"integer": kind == "I", "bounds": [low, high]}
        v.append(cp.Variable(name=f"v{j}", **({"boolean": True} if kind == "B" else options)))
    total = lambda c: sum(a / 2 * x for a, x in zip(c, v)) + sum(a / 2 * x for a, x in zip(c, v))
    constraints = []
    for row, sense, rhs in zip(made["matrix"], made["senses"], made["rhs"]):
        left = total(row)
        constraints.append(compared(left, sense, rhs))
    # Every variable is a column of the problem, though no row or objective may hold it.
    constraints.append(sum(v) <= 1e6)
    sense = cp.Maximize if made["maximize"] else cp.Minimize
    model = cp.Problem(sense(total(made["objective"]) + made["constant"]), constraints)
    best = model.solve(solver=cp.SCIPY)
    return model, float(best), problems.from_cvxpy

compare(build)
"""
)


@pytest.mark.parametrize(
    ("library", "script"),
    [("pulp", PULP), ("cpmpy", CPMPY), ("linopy", LINOPY), ("cvxpy", CVXPY)],
)
def test_a_model_of_a_modeling_library_becomes_a_problem(library, script):
    run(library, script)


@pytest.mark.parametrize(
    ("library", "script"),
    [
        ("pulp", PULP_LIMITS),
        ("cpmpy", CPMPY_LIMITS),
        ("linopy", LINOPY_LIMITS),
        ("cvxpy", CVXPY_LIMITS),
    ],
)
def test_constants_are_preserved_and_nonlinear_models_are_refused(library, script):
    run(library, script)


@pytest.mark.parametrize(
    ("library", "script"),
    [
        ("pulp", PULP_RANDOM),
        ("cpmpy", CPMPY_RANDOM),
        ("linopy", LINOPY_RANDOM),
        ("cvxpy", CVXPY_RANDOM),
    ],
)
def test_random_models_have_the_optimum_that_the_modeling_library_finds(library, script):
    """Bounds of all kinds, constants, senses, repeated terms, known costs of some variables."""
    run(library, script)


def test_from_model_names_the_supported_libraries():
    with pytest.raises(TypeError, match="builtins.dict is no model of a supported library: cpmpy"):
        rl.Problem.from_model({})
