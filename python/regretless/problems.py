"""Problems from models of gurobipy, highspy, Pyomo, OR-Tools, PuLP, linopy, cvxpy and CPMpy.

Each function reads a linear or mixed-integer model and returns a :class:`regretless.Problem`. It is
solved by the built-in solvers, so no license of another solver is needed afterwards. The functions
are class methods of :class:`regretless.Problem` as well (``Problem.from_gurobipy``).

Columns without a predicted cost keep their coefficients, and the objective keeps its constant: the
constant is part of every reported objective, cancels in regret, and counts in normalized regret.
Names of variables become cost names (``Problem.cost_names``), so tables are matched by name, and
names of the other columns (``Solution.column_names``); names that the modeling library made up are
not used. Nonlinear models are refused. All functions need scipy.
"""

from __future__ import annotations

from regretless.modeling.cpmpy import from_cpmpy
from regretless.modeling.cvxpy import from_cvxpy
from regretless.modeling.gurobipy import from_gurobipy
from regretless.modeling.highspy import from_highspy
from regretless.modeling.linopy import from_linopy
from regretless.modeling.ortools import from_ortools
from regretless.modeling.pulp import from_pulp
from regretless.modeling.pyomo import from_pyomo

__all__ = [
    "from_cpmpy",
    "from_cvxpy",
    "from_gurobipy",
    "from_highspy",
    "from_linopy",
    "from_ortools",
    "from_pulp",
    "from_pyomo",
]
