"""What notebooks show: HTML views of objects, and figures on axes of matplotlib."""

import sys

import matplotlib as mpl
import nbclient
import nbformat
import numpy as np
import pytest

mpl.use("Agg")

from matplotlib import pyplot

import regretless as rl

PROBLEM = rl.Problem("SP4x4")
X, C = rl.generate("SP4x4", instances=100, seed=3)


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    pyplot.close("all")


def test_problems_labels_and_models_have_tables():
    model, _ = rl.train(PROBLEM, X, C, "MSE", epochs=2)
    labels = rl.label(PROBLEM, C)
    assert "minimize" in PROBLEM._repr_html_() and "24" in PROBLEM._repr_html_()
    assert f"{labels.objectives.mean():.6g}" in labels._repr_html_()
    assert "MSE" in model._repr_html_() and "test regret" in model._repr_html_()
    knapsack = {"kind": "knapsack", "items": ["<b>", "x", "y"]}
    named = rl.Problem({**knapsack, "weights": [[1, 2, 3]], "capacity": [3]})
    assert "&lt;b&gt;, x, y" in named._repr_html_() and "<b>" not in named._repr_html_()


def test_solutions_show_their_first_decisions():
    problem = rl.Problem.newsvendor([3.0, 4.0], [1.0, 2.0], items=["bread", "<b>"])
    shown = problem.solve_all([[2.5, 1.0]] * 12)._repr_html_()
    assert "bread: 2.5, &lt;b&gt;" in shown and "12 rows" in shown
    assert shown.count("<tr>") == 11


def test_a_comparison_draws_its_differences():
    result = rl.compare(PROBLEM, X, C, methods=["MSE", "SPO+"], seeds=2, epochs=2)
    axes = result.plot()
    shown = [text.get_text() for text in axes.get_yticklabels()]
    assert shown == [row["method"] for row in records(result.methods)]
    points = [line.get_xdata()[0] for line in axes.lines if line.get_marker() == "o"]
    np.testing.assert_allclose(points, [row["difference"] for row in records(result.methods)])
    _, mine = pyplot.subplots()
    assert result.plot(ax=mine) is mine


def records(table):
    return table.to_dict("records") if hasattr(table, "to_dict") else table


def test_a_backtest_draws_savings_with_their_unit():
    times = [f"2024-{1 + day // 28:02}-{1 + day % 28:02}" for day in range(100)]
    result = rl.backtest(PROBLEM, X, C, time=times, methods=["MSE"], unit="EUR", epochs=2)
    axes = result.plot()
    assert axes.get_xlabel() == "saving per period against least squares, EUR"
    assert "MSE" in [text.get_text() for text in axes.get_yticklabels()]


def test_an_explanation_draws_chosen_costs_filled():
    model, _ = rl.train(PROBLEM, X, C, "MSE", epochs=2)
    explanation = model.explain(X[0])
    axes = explanation.plot()
    by_name = {cost.name: cost for cost in explanation.costs}
    names = [text.get_text() for text in axes.get_yticklabels()]
    points = [line for line in axes.lines if line.get_marker() == "o"]
    assert 0 < len(names) == len(points)
    for name, point in zip(names, points):
        assert point.get_xdata()[0] == by_name[name].predicted
        assert (point.get_markerfacecolor() != "none") == (by_name[name].value != 0)


def test_without_matplotlib_plot_says_what_to_install(monkeypatch):
    model, _ = rl.train(PROBLEM, X, C, "MSE", epochs=1)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match="pip install matplotlib"):
        model.explain(X[0]).plot()


VIEWS = {
    "problem": "text/html",
    "rl.label(problem, C)": "text/html",
    "model": "text/html",
    "comparison": "text/html",
    "comparison.plot()": "image/png",
    "backtest": "text/html",
    "backtest.plot()": "image/png",
    "explanation": "text/html",
    "explanation.plot()": "image/png",
    "fit": "text/html",
    "fit.plot()": "image/png",
}
"""Cells of a notebook, and what each of them shows."""
PREPARATION = """
import pandas as pd
import regretless as rl

problem = rl.Problem("SP4x4")
X, C = rl.generate("SP4x4", instances=100, seed=3)
model, _ = rl.train(problem, X, C, "MSE", epochs=2)
comparison = rl.compare(problem, X, C, methods=["MSE", "SPO+"], seeds=2, epochs=2)
days = pd.date_range("2024-01-01", periods=100).strftime("%Y-%m-%d")
backtest = rl.backtest(problem, X, C, time=list(days), methods=["MSE"], epochs=2)
explanation = model.explain(X[0])
frame = pd.concat([pd.DataFrame(X).add_prefix("x"), pd.DataFrame(C).add_prefix("c_")], axis=1)
fit = rl.fit(problem, frame, costs="c_*", method="MAE")
"""
HIDDEN = "import sys\nsys.modules[{module!r}] = None\n"
TRAINING = """
from regretless.progress import Progress
Progress.MIN_SECONDS = 0.0
rl.train(rl.Problem("KS32"), *rl.generate("KS32", instances=1000), "SPO+", progress=True)
"""


def executed(*sources):
    """Return the outputs of each cell of a notebook, as Jupyter executes it."""
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    notebook = nbformat.v4.new_notebook(cells=cells)
    nbclient.NotebookClient(notebook, timeout=600).execute()
    return [cell.outputs for cell in notebook.cells]


def test_an_executed_notebook_shows_every_view():
    pytest.importorskip("pandas")
    for (cell, kind), outputs in zip(VIEWS.items(), executed(PREPARATION, *VIEWS)[1:]):
        shown = [output["data"] for output in outputs if "data" in output]
        assert any(kind in data for data in shown), cell
        assert not [output for output in outputs if output.get("name") == "stderr"], cell


@pytest.mark.parametrize("missing", ["ipywidgets", "tqdm"])
def test_progress_is_a_line_of_text_in_a_notebook_without_widgets(missing):
    pytest.importorskip("tqdm")
    hidden = HIDDEN.format(module=missing)
    outputs = executed(f"{hidden}import regretless as rl\n{TRAINING}")[0]
    text = "".join(output["text"] for output in outputs if output.get("name") == "stderr")
    assert "\rtraining SPO+" in text
    assert "Warning" not in text


def test_progress_is_a_widget_in_a_notebook_with_widgets():
    pytest.importorskip("tqdm")
    pytest.importorskip("ipywidgets")
    outputs = executed(f"import regretless as rl\n{TRAINING}")[0]
    widgets = [output for output in outputs if "widget" in str(output.get("data", ""))]
    assert any("training SPO+" in str(output) for output in widgets)
