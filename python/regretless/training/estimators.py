"""Predictions of estimators with `fit` and `predict`, fitted to the training rows of each fold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from regretless.tables.columns import column_to_encode
from regretless.tables.frames import as_frame_like, frame_template
from regretless.tables.names import columns_in_order, names_of, with_names
from regretless.training.observed_costs import fresh_copy, groups_of_costs, observed_costs


def is_estimator(value: Any) -> bool:
    """Return whether a value can be fitted, as estimators of scikit-learn can."""
    return hasattr(value, "fit") and hasattr(value, "predict")


def estimator_costs(problem: Any, C: Any, given: Any) -> Any:
    """Return costs as estimators get them: float64 in the order of the problem's costs.

    They are a DataFrame with the cost names and the index of ``C`` where that is a DataFrame. Costs
    that do not exist are NaN; ``given`` are the parameters of the rows.
    """
    values = observed_costs(problem, C, given).astype(float, copy=False)
    names = problem.cost_names or names_of(C)
    return values if names is None else as_frame_like(C, values, names)


def fitted_predictions(
    problem: Any, estimator: Any, X: Any, costs: Any, folds: list[tuple[list[int], list[int]]]
) -> Any:
    """Predict the second rows of each fold by an estimator fitted to the first ones.

    Parameters
    ----------
    problem : Problem
        The problem.
    estimator : object with fit and predict
        It is copied for each fold.
    X : array_like or DataFrame of shape (n, p)
        Features.
    costs : ndarray or DataFrame of shape (n, d)
        What :func:`estimator_costs` returned.
    folds : list
        Rows that are fitted and rows that are predicted.

    Returns
    -------
    array_like of shape (n, d)
        Predicted costs in the order of ``costs``, with their names; NaN in other rows, and for
        costs that no fitted row has.
    """
    names = names_of(costs) or problem.cost_names
    predictions = np.full(costs.shape, np.nan)
    for train, test in folds:
        try:
            predicted = _fit_to_observed(
                estimator, _rows(X, train), _rows(costs, train), _rows(X, test)
            )
        except (TypeError, ValueError) as error:
            column = column_to_encode(X)
            if column is None:
                raise
            raise TypeError(
                f"{type(estimator).__name__} cannot be fitted, perhaps to the column '{column}': "
                "estimators get the columns of X as they are, not encoded; put a ColumnTransformer "
                f"in front of it (make_pipeline), or give a table of numbers. Its error: {error}"
            ) from error
        argument = f"the prediction of {type(estimator).__name__}"
        predictions[test] = columns_in_order(predicted, names, argument)
    return with_names(predictions, names)


def _fit_to_observed(estimator: Any, X: Any, C: Any, test: Any) -> Any:
    """Predict the costs of the rows of `test` by estimators fitted to the cells that exist.

    Costs that the same rows have are fitted at once; those that no row has are NaN.
    """
    values = np.asarray(C)
    # An estimator of items gets the gaps as they are.
    if not np.isnan(values).any() or np.ndim(X) == 3:
        return _fit_and_predict(estimator, X, C, test)
    predicted = np.full((len(test), values.shape[1]), np.nan)
    names = names_of(C)
    for costs, rows in groups_of_costs(values):
        part = values[rows][:, costs]
        group_names = None if names is None else [names[cost] for cost in costs]
        if group_names is not None:
            part = as_frame_like(_rows(C, rows), part, group_names)
        found = _fit_and_predict(estimator, _rows(X, rows), part, test)
        argument = f"the prediction of {type(estimator).__name__}"
        found = columns_in_order(found, group_names, argument)
        # NaN is the mark of a cost without a prediction.
        predicted[:, costs] = np.where(np.isnan(found), np.inf, found)
    return predicted


def _fit_and_predict(estimator: Any, X: Any, C: Any, test: Any) -> Any:
    """Predict the costs of the rows of `test` by copies of an estimator."""
    rows, (_, width) = len(test), C.shape
    cause = None
    try:
        predicted = _fitted_prediction(estimator, X, C, test)
    except ValueError as error:
        # Whether it takes several costs at once is not reliably stated by estimators.
        if not _may_predict_one_number(estimator):
            raise
        cause = error
        columns = [_fitted_prediction(estimator, X, costs, test) for costs in np.asarray(C).T]
        predicted = np.column_stack(columns)
    shape = np.shape(predicted)
    if shape == (rows,) and width == 1:
        return np.reshape(predicted, (-1, 1))
    if shape != (rows, width):
        # Assigning to an array would repeat a single number for all costs.
        reason = "" if cause is None else f"; fitted to all costs at once, it fails: {cause}"
        raise ValueError(
            f"{type(estimator).__name__} predicts an array of shape {shape} for {rows} rows of "
            f"{width} costs{reason}"
        ) from cause
    return predicted


def _fitted_prediction(estimator: Any, X: Any, C: Any, test: Any) -> Any:
    """Fit a copy of an estimator and return what it predicts."""
    model = fresh_copy(estimator)
    # Some forecasters do not return themselves from `fit`.
    model.fit(X, C)
    return model.predict(test)


def _may_predict_one_number(estimator: Any) -> bool:
    """Return whether an estimator does not state that it predicts several numbers."""
    try:
        return not estimator.__sklearn_tags__().target_tags.multi_output
    except AttributeError:
        # scikit-learn before 1.6.
        tags: dict[str, Any] = getattr(estimator, "_get_tags", dict)()
        return not tags.get("multioutput", False)


def _rows(table: Any, rows: Sequence[int]) -> Any:
    """Return rows of an array or a DataFrame."""
    if hasattr(table, "iloc"):
        return table.iloc[list(rows)]
    template = frame_template(table)
    if template is not None and template.library == "polars":
        return table[list(rows)]
    return np.asarray(table)[list(rows)]
