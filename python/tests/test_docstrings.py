"""The examples of docstrings run."""

import doctest
import inspect

import numpy as np
import pytest

import regretless as rl

pytestmark = [
    pytest.mark.filterwarnings("ignore:costs are matched by position"),
    pytest.mark.filterwarnings("ignore:the model was trained or validated on"),
]


WITH_EXAMPLES = [
    rl.column,
    rl.columns,
    rl.Problem.knapsack,
    rl.Problem.top_k,
    rl.Problem.grid_path,
    rl.Problem.assignment,
    rl.Problem.multiple_choice_knapsack,
    rl.Problem.min_cost_flow,
    rl.Problem.transport,
    rl.Problem.graph_path,
    rl.Problem.spanning_tree,
    rl.Problem.storage,
    rl.Problem.tsp,
    rl.Problem.cvrp,
    rl.Problem.from_arrays,
    rl.Problem.from_solver,
    rl.Problem.with_known,
]


@pytest.mark.parametrize("thing", WITH_EXAMPLES, ids=lambda thing: thing.__name__)
def test_the_examples_of_docstrings_run(thing):
    names = {"rl": rl, "np": np}
    text = inspect.getdoc(thing)
    example = doctest.DocTestParser().get_doctest(text, names, thing.__name__, None, 0)
    assert example.examples
    assert doctest.DocTestRunner(verbose=False).run(example).failed == 0
