"""Problems from modeling libraries, each in its own process.

highspy and OR-Tools cannot be loaded together.
"""

import importlib.util
import subprocess
import sys
import warnings

import numpy as np
import pytest

import regretless as rl
from regretless.modeling.linear import choose_columns, with_infinities

KNAPSACK = """
import numpy as np
import regretless as rl
from regretless import problems

weights, values = [3.0, 4.0, 5.0, 2.0], np.array([4.0, 5.0, 7.0, 1.0])

def check(problem, costs=values, best=(1.0, 1.0, 0.0, 0.0), worth=9.0):
    solution = problem.solve(costs)
    assert problem.sense == "maximize" and problem.num_costs == len(costs), problem
    assert np.allclose(solution.decision, best), (solution, solution.decision)
    assert abs(solution.objective - worth) < 1e-6, (solution, solution.decision)

def refused(word, read, *arguments):
    try:
        found = read(*arguments)
    except ValueError as error:
        assert word in str(error), f"{word!r} is not in: {error}"
    else:
        raise AssertionError(f"taken, though it should be refused ({word}): {found}")
"""

GUROBIPY = """
import gurobipy as gp
model = gp.Model()
model.Params.OutputFlag = 0
x = model.addVars(4, vtype="B", name="x")
extra = model.addVar(ub=2, obj=-1.0, name="extra room")
model.ModelSense = gp.GRB.MAXIMIZE
model.addConstr(gp.quicksum(w * x[j] for j, w in enumerate(weights)) <= 7 + extra)
model.addConstr(x[0] + x[1] + x[2] + x[3] >= 1)
# One unit of room costs 1: taking 8 units (items 0 and 2) is worth 11 - 1.
check(problems.from_gurobipy(model, x), best=(1, 0, 1, 0), worth=10.0)
check(rl.Problem.from_model(model, x), best=(1, 0, 1, 0), worth=10.0)
check(rl.Problem.from_gurobipy(model, "x*"), best=(1, 0, 1, 0), worth=10.0)
assert problems.from_gurobipy(model, [x[2], x[0]]).cost_names == ["x[2]", "x[0]"]
assert problems.from_gurobipy(model, x).solve(values).column_names[4] == "extra room"
mixed = problems.from_gurobipy(model, [x[2], "x[0]", x[1], x[3]])
check(mixed, values[[2, 0, 1, 3]], (1, 1, 0, 0), 10.0)
array = gp.Model()
many = array.addMVar(4, vtype="B")
array.ModelSense = gp.GRB.MAXIMIZE
array.addConstr(np.array(weights) @ many <= 7)
check(problems.from_gurobipy(array, many))
assert problems.from_gurobipy(array, many).cost_names is None  # Gurobi named them, not the user
try:
    problems.from_gurobipy(model, "y*")
except ValueError as error:
    assert "'y*'" in str(error)
else:
    raise AssertionError("a name that does not exist was taken")
"""

PYOMO = """
import pyomo.environ as pe
model = pe.ConcreteModel()
model.x = pe.Var(range(4), domain=pe.Binary)
model.room = pe.Var(bounds=(0, 2))
weight = sum(w * model.x[j] for j, w in enumerate(weights))
model.weight = pe.Constraint(expr=weight <= 7 + model.room)
model.some = pe.Constraint(expr=(1, sum(model.x[j] for j in range(4)), 3))
model.worth = pe.Objective(expr=sum(model.x[j] for j in range(4)) - model.room, sense=pe.maximize)
check(problems.from_pyomo(model, model.x), best=(1, 0, 1, 0), worth=10.0)
check(rl.Problem.from_model(model, model.x), best=(1, 0, 1, 0), worth=10.0)
check(rl.Problem.from_pyomo(model, ["x*"]), best=(1, 0, 1, 0), worth=10.0)
assert problems.from_pyomo(model, model.x).cost_names == ["x[0]", "x[1]", "x[2]", "x[3]"]
assert problems.from_pyomo(model, model.x).solve(values).column_names[4:] == ["room"]
check(problems.from_pyomo(model, [model.x, model.room]), np.append(values, -9.0), (1, 1, 0, 0, 0))
"""

HIGHSPY = """
import highspy
model = highspy.Highs()
model.silent()
x = [model.addBinary(obj=1.0, name=f"x{j}") for j in range(4)]
room = model.addVariable(ub=2, obj=-1.0, name="room")
model.addConstr(sum(w * v for w, v in zip(weights, x)) - room <= 7)
model.changeObjectiveSense(highspy.ObjSense.kMaximize)
check(problems.from_highspy(model, x), best=(1, 0, 1, 0), worth=10.0)
check(rl.Problem.from_model(model, x), best=(1, 0, 1, 0), worth=10.0)
check(rl.Problem.from_highspy(model, "x*"), best=(1, 0, 1, 0), worth=10.0)
assert problems.from_highspy(model, x).solve(values).column_names[4:] == ["room"]
assert problems.from_highspy(model, ["room", "x*"]).cost_names == ["room", "x0", "x1", "x2", "x3"]
check(problems.from_highspy(model.getLp(), [0, 1, 2, 3]), best=(1, 0, 1, 0), worth=10.0)
"""

ORTOOLS = """
from ortools.linear_solver import pywraplp
from ortools.linear_solver.python import model_builder
from ortools.sat.python import cp_model
solver = pywraplp.Solver.CreateSolver("SCIP")
x = [solver.BoolVar(f"x{j}") for j in range(4)]
room = solver.NumVar(0, 2, "room")
solver.Add(sum(w * v for w, v in zip(weights, x)) <= 7 + room)
solver.Maximize(sum(x) - room)
check(problems.from_ortools(solver, x), best=(1, 0, 1, 0), worth=10.0)
check(rl.Problem.from_model(solver, x), best=(1, 0, 1, 0), worth=10.0)
check(rl.Problem.from_ortools(solver, "x*"), best=(1, 0, 1, 0), worth=10.0)
assert problems.from_ortools(solver, x).solve(values).column_names[4:] == ["room"]
model = model_builder.Model()
y = [model.new_bool_var(f"y{j}") for j in range(4)]
model.add(sum(w * v for w, v in zip(weights, y)) <= 7)
model.maximize(sum(y))
check(problems.from_ortools(model, y))
assert problems.from_ortools(model, y).cost_names == ["y0", "y1", "y2", "y3"]
assert problems.from_ortools(solver, x).cost_names == ["x0", "x1", "x2", "x3"]
cp = cp_model.CpModel()
z = [cp.new_bool_var(f"z{j}") for j in range(4)]
cp.add(sum(int(w) * v for w, v in zip(weights, z)) <= 7)
cp.add_at_most_one(z[0], ~z[2])
cp.maximize(sum(z))
# Item 0 only with item 2, and together they do not fit: items 2 and 3.
check(problems.from_ortools(cp, z), best=(0, 0, 1, 1), worth=8.0)
cp.add_multiplication_equality(cp.new_int_var(0, 1, "p"), [z[0], z[1]])
try:
    problems.from_ortools(cp, z)
except ValueError as error:
    assert "not linear" in str(error)
else:
    raise AssertionError("a product was taken for linear")
"""

GUROBIPY_LIMITS = """
import gurobipy as gp
from gurobipy import GRB

def model(change=lambda model, x: None):
    made = gp.Model(env=gp.Env(params={"OutputFlag": 0}))
    x = made.addVars(4, vtype="B", name="x")
    made.setObjective(gp.quicksum(x.values()) + 100, GRB.MAXIMIZE)
    made.addConstr(gp.quicksum(w * x[j] for j, w in enumerate(weights)) <= 7)
    change(made, x)
    made.update()
    return made, x

def take(change, costs=None):
    return problems.from_gurobipy(model(change)[0], costs)

check(problems.from_gurobipy(model()[0]), worth=109.0)  # with the constant
quadratic, several = "only linear ones", "one linear objective"
refused(quadratic, take, lambda m, x: m.setObjective(x[0] * x[1] + x[2]))
refused(quadratic, take, lambda m, x: m.addConstr(x[0] * x[1] <= 0))
refused(quadratic, take, lambda m, x: m.addSOS(GRB.SOS_TYPE1, [x[0], x[1]]))
refused(quadratic, take, lambda m, x: m.addGenConstrIndicator(x[0], True, x[1] <= 0))
refused(several, take, lambda m, x: m.setPWLObj(x[0], [0, 0.5, 1], [0, 3, 4]))
refused(several, take, lambda m, x: (m.setObjectiveN(x[0], 0), m.setObjectiveN(x[1], 1)))
refused("weight", take, lambda m, x: m.setObjectiveN(x[0], 0, weight=-1))
refused("scenarios", take, lambda m, x: setattr(m, "NumScenarios", 2))
refused("semi-continuous", take, lambda m, x: m.addVar(vtype="S", ub=2))
refused("twice", lambda: problems.from_gurobipy(*[(m, [x[0], x[0]]) for m, x in [model()]][0]))
refused("not a variable of this model", lambda: problems.from_gurobipy(model()[0], model()[1]))

def binary_later(m, x):
    y = m.addVar(ub=5, vtype="I", name="y")
    m.update()
    y.VType = "B"

late = take(binary_later, "y")
assert late.solve([1.0]).decision.tolist() == [1.0]  # as Gurobi solves it, not 5
"""

PYOMO_LIMITS = """
import pyomo.environ as pe
import pyomo.gdp as gdp

def model(**more):
    made = pe.ConcreteModel()
    made.x = pe.Var(range(4), domain=pe.Binary)
    made.weight = pe.Constraint(expr=sum(w * made.x[j] for j, w in enumerate(weights)) <= 7)
    made.worth = pe.Objective(expr=sum(made.x[j] for j in range(4)) + 100, sense=pe.maximize)
    for name, part in more.items():
        setattr(made, name, part(made))
    return made

check(problems.from_pyomo(model()), worth=109.0)  # with the constant
least = model()
least.worth.sense = pe.minimize
assert problems.from_pyomo(least).solve(values).objective == 100.0
product = model(more=lambda m: pe.Constraint(expr=m.x[0] * m.x[1] <= 0))
refused("not linear", problems.from_pyomo, product)
bent = model()
bent.worth.set_value(bent.x[0] * bent.x[1])
refused("not linear", problems.from_pyomo, bent)
ordered = model(more=lambda m: pe.SOSConstraint(var=m.x, sos=1))
refused("SOSConstraint", problems.from_pyomo, ordered)
either = model(more=lambda m: gdp.Disjunction(expr=[[m.x[0] == 1], [m.x[1] == 1]]))
refused("Disjunction", problems.from_pyomo, either)

def count(domain):
    at_least = lambda m: pe.Constraint(expr=m.count >= 2)
    made = model(count=lambda m: pe.Var(domain=domain), at_least=at_least)
    made.worth.set_value(made.worth.expr - made.count)
    return made

for domain in (pe.Set(initialize=[1, 4, 9]), pe.RangeSet(1, 10, 3), pe.RangeSet(0.5, 3.5, 1)):
    refused("holes", problems.from_pyomo, count(domain), "count")
    refused("holes", problems.from_pyomo, count(domain), "x*")
check(problems.from_pyomo(count(pe.Set(initialize=[1, 2, 3])), "x*"), worth=107.0)

held = model()
held.x[0].fix(1)
for costs in (None, held.x, "x*", "x[0]", [held.x[0]]):
    refused("x[0] is fixed", problems.from_pyomo, held, costs)
# Not predicted, it counts as the number it is: 1 of the constant, 3 of the weight.
check(problems.from_pyomo(held, ["x[1]", "x[2]", "x[3]"]), values[1:], (1, 0, 0), 106.0)

# A variable that occurs nowhere has a cost all the same.
idle = model(idle=lambda m: pe.Var(bounds=(0, 2)))
check(problems.from_pyomo(idle), np.append(values, 3.0), (1, 1, 0, 0, 2), 115.0)
turned = problems.from_pyomo(idle, [idle.idle, idle.x])
check(turned, np.append(3.0, values), (2, 1, 1, 0, 0), 115.0)
refused("not a variable of this model", problems.from_pyomo, model(), model().x)
refused("twice", problems.from_pyomo, idle, [idle.x[0], "x[0]"])
"""

HIGHSPY_LIMITS = """
import highspy

def model():
    made = highspy.Highs()
    made.silent()
    x = [made.addBinary(obj=1.0, name=f"x{j}") for j in range(4)]
    made.addConstr(sum(w * v for w, v in zip(weights, x)) <= 7)
    made.changeObjectiveSense(highspy.ObjSense.kMaximize)
    made.changeObjectiveOffset(100.0)
    return made, x

plain, x = model()
for form in (plain, plain.getModel(), plain.getLp()):
    check(problems.from_highspy(form), worth=109.0)  # with the constant
wrong = [([-1], "0 to 3"), ([4], "0 to 3"), ([0, 0], "twice"), ([True], "True"), ([1.0], "1.0")]
for costs, word in wrong:
    refused(word, problems.from_highspy, plain, costs)
other, foreign = model()
refused("not a variable of this model", problems.from_highspy, plain, foreign)
del other
refused("not a variable of this model", problems.from_highspy, plain, foreign)
curved, _ = model()
curved.changeObjectiveSense(highspy.ObjSense.kMinimize)
hessian = highspy.HighsHessian()
hessian.dim_, hessian.start_ = 4, np.arange(5)
hessian.index_, hessian.value_ = np.arange(4), np.ones(4)
curved.passHessian(hessian)
refused("quadratic objective", problems.from_highspy, curved)
refused("quadratic objective", problems.from_highspy, curved.getModel())
double, _ = model()
second = highspy.HighsLinearObjective()
second.coefficients = [1.0] * 4
double.addLinearObjective(second)
refused("several objectives", problems.from_highspy, double)
"""

ORTOOLS_LIMITS = """
from ortools.linear_solver import pywraplp
from ortools.linear_solver.python import model_builder
from ortools.math_opt.python import mathopt
from ortools.sat.python import cp_model

def solver():
    made = pywraplp.Solver.CreateSolver("SCIP")
    x = [made.BoolVar(f"x{j}") for j in range(4)]
    made.Add(sum(w * v for w, v in zip(weights, x)) <= 7)
    made.Maximize(sum(x) + 100)
    return made, x

def filled(made, weights):
    x = [made.new_bool_var(f"x{j}") for j in range(4)]
    made.add(sum(w * v for w, v in zip(weights, x)) <= 7)
    made.maximize(sum(x) + 100)
    return made, x

def builder():
    return filled(model_builder.Model(), weights)

def cp():
    return filled(cp_model.CpModel(), [int(w) for w in weights])

for make in (solver, builder, cp):
    made, x = make()
    check(problems.from_ortools(made), worth=109.0)  # with the constant
    check(problems.from_ortools(made, x), worth=109.0)
    refused("0 to 3", problems.from_ortools, made, [-1])
    refused("twice", problems.from_ortools, made, [x[0], x[0]])
    other, foreign = make()
    refused("not a variable of this model", problems.from_ortools, made, foreign)

# Fractional coefficients are in a message of their own.
fractional, x = cp()
room = fractional.new_int_var(0, 2, "room")
fractional.add(sum(int(w) * v for w, v in zip(weights, x)) <= room + 5)
fractional.maximize(1.5 * x[0] + 2.5 * x[1] - 0.5 * room + 0.25)
check(problems.from_ortools(fractional, x), worth=9.0 - 0.5 * 2 + 0.25)
fractional.minimize(1.5 * x[0] - 2.5 * room)
problem = problems.from_ortools(fractional, x)
assert problem.sense == "minimize" and problem.solve(values).objective == -5.0

negated, x = cp()
refused("0 to 3", problems.from_ortools, negated, [~x[0]])
assumed, x = cp()
assumed.add_assumption(x[3])
refused("assumptions", problems.from_ortools, assumed)
holes, x = cp()
holes.new_int_var_from_domain(cp_model.Domain.from_values([1, 4, 9]), "count")
refused("holes", problems.from_ortools, holes)
optional, x = cp()
optional.add(x[0] + x[1] <= 1).only_enforce_if(x[2])
refused("literal", problems.from_ortools, optional)
indicator, x = builder()
indicator.add_enforced(x[0] + x[1] <= 1, x[2], True)
refused("general constraints", problems.from_ortools, indicator)
refused("is not a pywraplp.Solver", problems.from_ortools, mathopt.Model())
"""


def run(library, script):
    """Runs a script in a process of its own, in which a warning of numpy is an error."""
    for needed in (library, "scipy"):
        if importlib.util.find_spec(needed) is None:
            pytest.skip(f"{needed} is not installed")
    done = subprocess.run(
        [sys.executable, "-W", "error::RuntimeWarning", "-c", KNAPSACK + script],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("library", "script"),
    [
        ("gurobipy", GUROBIPY),
        ("pyomo", PYOMO),
        ("highspy", HIGHSPY),
        ("ortools", ORTOOLS),
    ],
)
def test_a_model_of_a_modeling_library_becomes_a_problem(library, script):
    run(library, script)


@pytest.mark.parametrize(
    ("library", "script"),
    [
        ("gurobipy", GUROBIPY_LIMITS),
        ("pyomo", PYOMO_LIMITS),
        ("highspy", HIGHSPY_LIMITS),
        ("ortools", ORTOOLS_LIMITS),
    ],
)
def test_constants_are_preserved_and_nonlinear_models_are_refused(library, script):
    run(library, script)


@pytest.mark.parametrize(
    ("costs", "word"),
    [
        ([-1], "0 to 2"),
        ([3], "0 to 2"),
        (np.array([0, -3]), "0 to 2"),
        ([1, 1], "column 1 \\('b'\\) twice"),
        (["b", 1], "twice"),
        (["a*", "a"], "twice"),
        ([True, False, True], "True"),
        ([1.0], "1.0"),
        ([], "no column"),
    ],
)
def test_invalid_columns_are_refused(costs, word):
    with pytest.raises(ValueError, match=word):
        choose_columns(
            costs, ["a", "b", "a2"], lambda variable: pytest.fail(f"{variable!r} is no variable")
        )


def test_patterns_add_the_columns_that_were_not_named_before():
    assert choose_columns(["a2", "a*"], ["a", "b", "a2"], None) == [2, 0]
    assert choose_columns(np.array([2, 0]), ["a", "b", "a2"], None) == [2, 0]
    with pytest.raises(ValueError, match="2 columns are called 'a'"):
        choose_columns("a", ["a", "a"], None)


def test_large_bounds_become_infinite_without_a_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert with_infinities([0.0, -1e30, 1e20, 5.0, -0.0, np.inf]).tolist() == [
            0.0,
            -np.inf,
            np.inf,
            5.0,
            0.0,
            np.inf,
        ]


def test_names_that_do_not_identify_a_column_are_left_out():
    pytest.importorskip("scipy")
    from regretless.modeling.linear import LinearModel

    model = LinearModel(
        matrix=np.ones((1, 6)),
        row_lower=[-np.inf],
        row_upper=[3.0],
        lower=np.zeros(6),
        upper=np.ones(6),
        integer=np.ones(6, dtype=bool),
        objective=-np.ones(6),
        maximize=False,
        names=["a", "b", "same", "same", "", "free"],
        constant=7.0,
        default_name=lambda number: "free",
    )
    solution = model.problem([1, 0]).solve([-1.0, -1.0])
    assert solution.column_names[:2] == ["b", "a"]
    assert solution.column_names[-1] == "constant"
    assert solution.values[-1] == 1.0
    assert not {"same", "", "free"} & set(solution.column_names)
    unnamed = model.problem([2, 0])
    assert unnamed.cost_names is None
    assert unnamed.solve([-1.0, -1.0]).column_names[2] == "b"


def test_models_are_not_read_without_scipy(monkeypatch):
    from regretless import problems

    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match="^from_pyomo needs scipy: pip install scipy$"):
        problems.from_pyomo(object())
    with pytest.raises(ImportError, match="^from_highspy needs scipy"):
        rl.Problem.from_highspy(object())
