"""Results of training, evaluation and sweeps: typed, small, with the content of the JSON."""

import dataclasses
import json
import pickle

import pytest

import regretless as rl
from regretless import cluster

PROBLEM = rl.Problem("SP4x4")
X, C = rl.generate("SP4x4", instances=100, seed=3)


@pytest.fixture(scope="module")
def trained():
    return rl.train(PROBLEM, X, C, "MAE(O,S)", epochs=3)


def test_reports_are_typed_and_immutable(trained):
    _, report = trained
    assert isinstance(report, rl.TrainingReport) and isinstance(report.test, rl.Evaluation)
    assert isinstance(report.solves_by_kind, rl.SolveCounts)
    assert report.solves == report.solves_by_kind.exact > 0
    assert [epoch.epoch for epoch in report.rounds[0].epochs] == [0, 1, 2, 3]
    with pytest.raises(dataclasses.FrozenInstanceError):
        report.seed = 1


def test_to_dict_is_the_json_and_from_dict_reads_it_back(trained):
    _, report = trained
    values = json.loads(json.dumps(report.to_dict()))
    assert values == report.to_dict()
    assert values["test"]["normalized_regret"] == report.test.normalized_regret
    assert "timed_solve_seconds" not in values, (
        "left out where it has no value, as in the command line"
    )
    assert rl.TrainingReport.from_dict(values) == report
    assert pickle.loads(pickle.dumps(report)) == report


def test_representations_are_short(trained):
    model, report = trained
    evaluation = model.evaluate(X, C)
    for result in (report, evaluation, report.rounds[0], report.solves_by_kind):
        assert len(repr(result)) < 200 and "\n" not in repr(result)
    assert f"{evaluation.normalized_regret:.2%}" in repr(evaluation)
    assert "MAE(O,S)" in repr(report) and "test normalized regret" in repr(report)


def test_notebooks_show_tables(trained):
    model, report = trained
    page = model.evaluate(X, C)._repr_html_()
    assert page.startswith("<table>") and "normalized regret" in page
    assert "MAE(O,S)" in report._repr_html_() and len(report._repr_html_()) < 3000
    hostile = dataclasses.replace(report, method="<script>")
    assert "<script>" not in hostile._repr_html_()


def test_a_model_evaluates_like_the_function(trained):
    model, report = trained
    assert model.evaluate(X, C) == rl.evaluate(PROBLEM, model, X, C)
    assert model.evaluate(X, C, problem=PROBLEM, threads=1).instances == len(X)


def test_a_sweep_is_a_sequence_of_reports(tmp_path):
    runs = [{"method": method, "epochs": 2} for method in ("MSE", "MAE(O,S)")]
    swept = cluster.sweep(PROBLEM, X, C, runs, backend="local", folder=tmp_path)
    assert isinstance(swept, rl.SweepResult) and len(swept) == 2 and swept.runs == tuple(runs)
    assert [report.method for report in swept] == ["MSE", "MAE(O,S)"]
    best = min(swept, key=lambda report: report.validation.normalized_regret)
    assert swept.best() == best
    assert swept._repr_html_().count("<tr>") == 3 and repr(swept).endswith("2 runs>")
    assert swept.to_dict()["reports"] == [report.to_dict() for report in swept]
