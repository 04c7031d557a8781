"""Items that no training row has: predictors that Python fits have no prediction of them either."""

import pickle
import warnings

import numpy as np
import pytest

import regretless as rl

NEW = np.ones((5, 4))


@pytest.fixture
def table():
    """Four items of cost 10 to 11, of which the last exists in no row: its costs are fillers."""
    rng = np.random.default_rng(0)
    X, C = rng.normal(size=(60, 2)), 10 + rng.uniform(size=(60, 4))
    C[:, 3] = 0
    on = np.ones((60, 4))
    on[:, 3] = 0
    return rl.Problem.top_k(4, 1, sense="minimize", present=rl.columns("on")), X, C, on


class Mean:
    """A regressor that predicts means, and refuses gaps as scikit-learn does."""

    def fit(self, X, y):
        assert np.isfinite(np.asarray(y)).all()
        self.mean, self.rows = np.asarray(y, dtype=float).mean(axis=0), len(X)
        return self

    def predict(self, X):
        return np.tile(self.mean, (len(X), 1) if np.ndim(self.mean) else len(X))


def trained(table, predictor, **settings):
    problem, X, C, on = table
    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always")
        model, report = rl.train(
            problem,
            X,
            C,
            predictor=predictor,
            parameters={"on": on},
            split="order:0.2,0.2",
            **settings,
        )
    return model, report, [str(note.message) for note in notes]


def check_decisions(model, X):
    with pytest.warns(UserWarning, match=r"left out of the choice.*c3 \(5 rows\)"):
        decided = model.decide(X[:5], parameters={"on": NEW})
    assert decided.statuses == ["optimal"] * 5
    assert (decided.decisions[:, 3] == 0).all() and (decided.objectives > 9).all()
    with pytest.warns(UserWarning, match=r"value of c3: the prediction is missing"):
        predicted = model.predict(X[:5])
    assert np.isnan(predicted[:, 3]).all() and np.isfinite(predicted[:, :3]).all()


def module():
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    return torch.nn.Linear(2, 4)


@pytest.mark.parametrize("filler", [0.0, np.nan])
@pytest.mark.parametrize("make", [Mean, module])
def test_decisions_of_an_own_predictor_leave_out_an_item_that_no_training_row_has(
    table, make, filler
):
    problem, X, C, on = table
    C[:, 3] = filler
    settings = {"method": "MSE", "epochs": 2, "scale_costs": True} if make is module else {}
    model, report, notes = trained(table, make(), **settings)
    assert any("value of c3: without a prediction, decisions leave it out" in n for n in notes)
    check_decisions(model, X)
    check_decisions(pickle.loads(pickle.dumps(model)), X)
    # Where only test rows have it, regret counts it as left out.
    on[50:, 3], C[50:, 3] = 1, 13
    model, report, _ = trained(table, make(), **settings)
    assert report.test.regret < 1 and report.training_mean.regret < 1
    with pytest.warns(UserWarning, match=r"left out of the choice.*c3 \(10 rows\)"):
        assert model.evaluate(X[50:], C[50:], parameters={"on": on[50:]}).regret < 1


@pytest.mark.parametrize("method", ["least squares", "MSE"])
def test_decisions_leave_out_a_named_item_of_a_long_table_that_no_training_row_has(method):
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    X, on = rng.uniform(0, 9, size=(60, 4, 1)), np.ones((60, 4))
    C = pd.DataFrame(5 + X[:, :, 0], columns=list("abcd"))
    on[:, 3], C["d"] = 0, 0
    problem = rl.Problem.top_k(4, 1, sense="minimize", present=rl.columns("on"))
    settings = {} if method == "least squares" else {"epochs": 3}
    with pytest.warns(UserWarning, match="no training row has a value of d: without a prediction"):
        model, _ = rl.train(
            problem, X, C, method, parameters={"on": on}, split="order:0.2,0.2", **settings
        )
    new = X[:5].copy()
    new[:, 3] = -9
    with pytest.warns(UserWarning, match=r"left out of the choice.*d \(5 rows\)"):
        decided = model.decide(new, parameters={"on": NEW})
    assert (decided.decisions[:, 3] == 0).all() and (decided.decisions.sum(axis=1) == 1).all()
    # Without names, each is another item, predicted from its features.
    model, _ = rl.train(
        problem,
        X,
        C.to_numpy(),
        method,
        parameters={"on": on},
        split="order:0.2,0.2",
        **settings,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isfinite(model.predict(new)).all()


def test_a_module_for_a_long_table_leaves_out_a_named_item_without_rows():
    torch = pytest.importorskip("torch")
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    X, on = rng.uniform(0, 9, size=(60, 4, 1)), np.ones((60, 4))
    C = pd.DataFrame(5 + X[:, :, 0], columns=list("abcd"))
    on[:, 3], C["d"] = 0, 0
    problem = rl.Problem.top_k(4, 1, sense="minimize", present=rl.columns("on"))
    module = torch.nn.Sequential(torch.nn.Linear(1, 1), torch.nn.Flatten())
    with pytest.warns(UserWarning, match="no training row has a value of d"):
        model, _ = rl.train(
            problem,
            X,
            C,
            "MSE",
            predictor=module,
            parameters={"on": on},
            split="order:0.2,0.2",
            epochs=2,
        )
    with pytest.warns(UserWarning, match=r"left out of the choice.*d \(5 rows\)"):
        decided = model.decide(X[:5], parameters={"on": NEW})
    assert (decided.decisions[:, 3] == 0).all()


def test_means_and_fits_use_the_rows_in_which_an_item_exists(table):
    problem, X, C, on = table
    C[:20, 3], on[:20, 3] = 12, 1
    model, report, _ = trained(table, Mean())
    predicted = model.predict(X)
    # Of 36 training rows 20 have it; the others hold 0.
    assert predicted[0, 3] == pytest.approx(12)
    np.testing.assert_allclose(predicted[0, :3], C[:36, :3].mean(axis=0))
    assert [regressor.rows for regressor in model.predictor] == [36, 20]
    on[:20, 3] = 0
    on[20:, 3], C[20:, 3] = 1, 12
    _, report, _ = trained(table, Mean())
    # The mean of the other cells is never the best of the four.
    assert report.training_mean.regret == report.test.regret < 1


def test_a_module_is_scaled_by_the_cells_that_exist(table):
    _, X, C, on = table
    C[:20, 3], on[:20, 3] = np.arange(20) % 2 + 12, 1
    model, _, _ = trained(table, module(), method="MSE", epochs=0, scale_costs=True)
    assert model._prediction.output.offset[3] == pytest.approx(12.5)
    assert model._prediction.output.scale[3] == pytest.approx(0.5)


def test_too_few_rows_of_an_item_name_the_item(table):
    class Picky(Mean):
        def fit(self, X, y):
            if len(X) < 5:
                raise ValueError("5 rows are needed")
            return super().fit(X, y)

    table[3][:2, 3] = 1
    with pytest.raises(ValueError, match=r"Picky cannot be fitted to the 2 training rows .* c3: 5"):
        trained(table, Picky())


def test_a_prediction_that_is_not_a_number_is_not_a_missing_one(table):
    class Overflow(Mean):
        def predict(self, X):
            return super().predict(X) * np.nan

    with pytest.raises(RuntimeError, match="finite|inf"):
        trained(table, Overflow())


def test_an_estimator_in_a_comparison_has_no_prediction_of_an_item_without_rows(table):
    problem, X, C, on = table
    on[50:, 3], C[50:, 3] = 1, 13
    result = rl.compare(
        problem,
        X,
        C,
        methods=["MSE"],
        split="order",
        seeds=1,
        epochs=1,
        predictions={"means": Mean()},
        parameters={"on": on},
    )
    assert not result.failed
    methods = {row["method"]: row for row in result.methods.to_dict("records")}
    assert 0 <= methods["means"]["test_regret"] < 1


def test_an_estimator_in_a_backtest_has_no_prediction_of_an_item_without_rows(table):
    problem, X, C, on = table
    on[50:, 3], C[50:, 3] = 1, 13
    result = rl.backtest(
        problem,
        X,
        C,
        time=np.arange(60),
        methods=["least squares"],
        initial=50,
        step=10,
        predictions={"means": Mean()},
        parameters={"on": on},
    )
    methods = {row["method"]: row for row in result.methods.to_dict("records")}
    assert 0 <= methods["means"]["regret"] < 10
    # Predictions that lack anything else are refused.
    given = np.full((60, 4), 10.0)
    given[55, 1] = np.nan
    with pytest.raises(Exception, match=r"NaN|nan|finite"):
        rl.backtest(
            problem,
            X,
            C,
            time=np.arange(60),
            methods=["least squares"],
            initial=50,
            step=10,
            predictions={"given": given},
            parameters={"on": on},
        )


@pytest.mark.parametrize("library", ["xgboost", "lightgbm"])
@pytest.mark.parametrize("filler", [0.0, np.nan])
def test_trees_have_no_prediction_of_an_item_without_rows(table, library, filler, tmp_path):
    pytest.importorskip(library)
    from regretless.trees import BoostedCostModel, CostSensitiveObjective

    problem, X, C, on = table
    C[:, 3] = filler
    objective = CostSensitiveObjective(problem, C, parameters={"on": on})
    fine_tune = getattr(objective, f"fine_tune_{library}")
    model = fine_tune(X, rounds=(5, 3))
    check_decisions(model, X)
    model.save(tmp_path / "trees.zip")
    check_decisions(BoostedCostModel.load(tmp_path / "trees.zip"), X)
    # Of an item of some rows, the others count for nothing.
    on[:20, 3], C[:20, 3] = 1, 12
    objective = CostSensitiveObjective(problem, C, parameters={"on": on})
    model = getattr(objective, f"fine_tune_{library}")(X, rounds=(5, 3))
    assert (model.predict(X)[:, 3] > 11).all()
