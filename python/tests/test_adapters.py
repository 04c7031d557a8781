"""Problems from other modellers. Each runs in a process of its own: highspy and OR-Tools cannot be loaded together."""

import importlib.util
import subprocess
import sys

import pytest

KNAPSACK = """
import numpy as np
import regretless as rl
from regretless import problems

weights, values = [3.0, 4.0, 5.0, 2.0], np.array([4.0, 5.0, 7.0, 1.0])

def check(problem, costs=values, best=(1.0, 1.0, 0.0, 0.0), worth=9.0):
    solution = problem.solve(costs)
    assert problem.sense == "maximize" and problem.num_costs == len(costs), problem
    assert np.allclose(solution.decision, best) and abs(solution.objective - worth) < 1e-6, (solution, solution.decision)
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
check(rl.Problem.from_gurobipy(model, "x*"), best=(1, 0, 1, 0), worth=10.0)
assert problems.from_gurobipy(model, [x[2], x[0]]).cost_names == ["x[2]", "x[0]"]
check(problems.from_gurobipy(model, [x[2], "x[0]", x[1], x[3]]), values[[2, 0, 1, 3]], (1, 1, 0, 0), 10.0)
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
model.weight = pe.Constraint(expr=sum(w * model.x[j] for j, w in enumerate(weights)) <= 7 + model.room)
model.some = pe.Constraint(expr=(1, sum(model.x[j] for j in range(4)), 3))
model.worth = pe.Objective(expr=sum(model.x[j] for j in range(4)) - model.room, sense=pe.maximize)
check(problems.from_pyomo(model, model.x), best=(1, 0, 1, 0), worth=10.0)
check(rl.Problem.from_pyomo(model, ["x*"]), best=(1, 0, 1, 0), worth=10.0)
assert problems.from_pyomo(model, model.x).cost_names == ["x[0]", "x[1]", "x[2]", "x[3]"]
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
check(rl.Problem.from_highspy(model, "x*"), best=(1, 0, 1, 0), worth=10.0)
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
check(rl.Problem.from_ortools(solver, "x*"), best=(1, 0, 1, 0), worth=10.0)
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


@pytest.mark.parametrize(
    ("modeller", "script"), [("gurobipy", GUROBIPY), ("pyomo", PYOMO), ("highspy", HIGHSPY), ("ortools", ORTOOLS)]
)
def test_a_model_of_another_modeller_becomes_a_problem(modeller, script):
    for needed in (modeller, "scipy"):
        if importlib.util.find_spec(needed) is None:
            pytest.skip(f"{needed} is not installed")
    done = subprocess.run([sys.executable, "-c", KNAPSACK + script], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
