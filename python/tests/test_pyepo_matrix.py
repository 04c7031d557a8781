"""Matrices from the solver models inside PyEPO's, with stand-ins for PyEPO's classes."""

import copy
import warnings
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("gurobipy", reason="gurobipy is not installed")
pytest.importorskip("scipy", reason="scipy is not installed")

import gurobipy  # noqa: E402

from regretless.pyepo import _matrix  # noqa: E402


def of_pyepo(kind):
    """Make a stand-in look like a class of PyEPO."""
    kind.__module__ = "pyepo.stand_in"
    for method in vars(kind).values():
        if callable(method):
            method.__module__ = "pyepo.stand_in"
    return kind


@of_pyepo
class compiledBase:
    """The largest sum of three of six values, one of which is known, plus a constant."""

    def __init__(self, bound=3.0):
        self.problem = SimpleNamespace(
            c_pred_index=np.array([4, 0, 1, 2, 3]),
            fixed_cost=np.array([0, 0, 0, 0, 0, 0.5]),
            obj_Q=None,
            obj_offset=2.0,
        )
        self._model = gurobipy.Model()
        self._model.Params.OutputFlag = 0
        self._model.ModelSense = -1
        self.x = self._model.addMVar(6, ub=1.0)
        self._model.addConstr(self.x.sum() <= bound)
        self._model.update()

    @property
    def num_cost(self):
        return 5

    @property
    def c_pred_index(self):
        return self.problem.c_pred_index

    def setObj(self, costs):
        full = self.problem.fixed_cost.copy()
        full[self.problem.c_pred_index] += costs
        self.x.Obj = full

    def solve(self):
        self._model.optimize()
        return np.asarray(self.x.X), self._model.ObjVal + self.problem.obj_offset

    def copy(self):
        twin = copy.copy(self)
        self._model.update()
        twin._model = self._model.copy()
        twin.x = gurobipy.MVar.fromlist(twin._model.getVars())
        return twin


@of_pyepo
class optGrbModel(compiledBase):
    pass


def test_a_model_of_pyepos_language_becomes_a_matrix_with_its_known_costs():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        problem = _matrix.linear_problem(optGrbModel())
    assert problem.to_dict()["kind"] == "linear_arrays"
    values = np.array([0.9, 0.1, 0.8, 0.2, 0.3])
    solution = problem.solve(values)
    assert solution.objective == pytest.approx(2.0 + 0.9 + 0.8 + 0.5)
    assert solution.decision.tolist() == [1, 0, 1, 0, 0]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda model: setattr(model.problem, "obj_Q", np.eye(6)), "quadratic"),
        (lambda model: setattr(model.problem, "fixed_cost", np.ones(6)), "known cost too"),
        (lambda model: setattr(model.problem, "c_pred_index", np.zeros(5, int)), "one variable"),
    ],
)
def test_models_that_are_more_than_a_matrix_are_refused_with_the_reason(change, words):
    model = optGrbModel()
    change(model)
    with pytest.raises(_matrix.NoMatrix, match=words):
        _matrix.linear_problem(model)


def test_a_matrix_with_another_optimum_than_pyepo_finds_is_refused():
    @of_pyepo
    class optGrbModel(compiledBase):
        def solve(self):
            decision, objective = super().solve()
            return decision[::-1], objective

    with pytest.raises(_matrix.NoMatrix, match="another optimum"):
        _matrix.linear_problem(optGrbModel())


def test_methods_of_the_users_own_are_not_taken_for_a_matrix():
    class Mine(optGrbModel):
        def solve(self):
            return super().solve()

    with pytest.raises(_matrix.NoMatrix, match="Mine has a method solve of its own"):
        _matrix.linear_problem(Mine())


def test_a_model_that_pyepo_cannot_solve_is_refused():
    with pytest.raises(_matrix.NoMatrix, match="PyEPO does not solve it"):
        _matrix.linear_problem(optGrbModel(bound=-1.0))
