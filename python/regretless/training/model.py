"""Trained models: from features to costs and decisions."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from regretless._core import _evaluate_model, _Model
from regretless._renamed import refuse_renamed
from regretless.results.explanation import Explanation, one_row, with_text
from regretless.results.pages import first_names, html_table
from regretless.results.reports import Evaluation
from regretless.solving.labels import Labels
from regretless.solving.options import SolveKeywords, SolveOptions, takes_solve_options
from regretless.solving.problem import Problem
from regretless.solving.solutions import Solutions
from regretless.tables.columns import model_features, row_count, text_list
from regretless.tables.frames import (
    as_frame_like,
    check_same_rows,
    frame_template,
    importance_table,
    row_table,
)
from regretless.tables.names import plain_table
from regretless.tables.parameters import one_row as one_row_of_parameters
from regretless.tables.parameters import plain_parameters

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

__all__ = ["Model"]


class Model(_Model):
    """A trained model: predicts costs from features and decides.

    `train` returns models, `Model.load` reads them; the command line uses the same files.
    """

    __module__ = "regretless"
    __slots__ = ()

    @classmethod
    def _of(cls, model: _Model) -> Self:
        """Return a model of the compiled module as one of this class."""
        return cls.__new__(cls, model)

    def _repr_html_(self) -> str:
        """Return a table for notebooks."""
        rows = [
            ("method", self.method),
            ("predictor", self.predictor),
            ("features", f"{len(self.column_names)}: {first_names(self.column_names)}"),
            ("costs", f"{len(self.cost_names)}: {first_names(self.cost_names)}"),
        ]
        for part in ("validation", "test"):
            measured = (self.training or {}).get(part)
            if measured is not None:
                regret = f"{measured['normalized_regret']:.2%}, {measured['instances']} rows"
                rows.append((f"{part} regret", regret))
        return html_table("Model", ("", ""), rows)

    def predict(self, X: Any) -> NDArray[np.float32] | Any:
        """Predict costs.

        Parameters
        ----------
        X : array_like or DataFrame of shape (n, p)
            Features. Columns of a DataFrame are found by the names of training, and other columns
            are ignored; a name that only the index has is read from the index. Values of texts that
            no training row has are counted in a warning.

        Returns
        -------
        ndarray or DataFrame of shape (n, d)
            float32; a DataFrame if `X` is one, with its index and the cost names. NaN, with a
            warning, for a cost that no training row has.

        Raises
        ------
        ValueError
            For other features than those of training.
        """
        return as_frame_like(X, self._predict(model_features(X, self)), self.cost_names)

    @refuse_renamed("Model.decide")
    @takes_solve_options
    def decide(
        self,
        X: Any,
        *,
        problem: Problem | None = None,
        parameters: Any = None,
        **solving: Unpack[SolveKeywords],
    ) -> Solutions:
        """Predict costs and solve the problem for each row.

        Parameters
        ----------
        X : array_like or DataFrame of shape (n, p)
            Features.
        problem : Problem, optional
            Another problem than that of training; the model's costs are matched to it by name. The
            model holds the problem it was trained for, also one that was read from a file.
        parameters : mapping, DataFrame or list of str, optional
            Parameters of the rows, as in `Problem.solve_all`, or names of columns of `X`; by
            default the columns of `X` that the problem reads.
        threads, progress, heuristic, gap, nodes, seconds : optional
            As in `Problem.solve_all`.

        Returns
        -------
        Solutions
            One decision per row; `decisions` and `values` are DataFrames if `X` is one, and
            `to_frame` is the table that `regretless decide` writes. What a cost belongs to that no
            training row has is left out, with a warning; a row that needs it has no decision.

        Raises
        ------
        ValueError
            If the problem is a Python function and not given, or its costs do not match.

        Examples
        --------
        >>> decisions = model.decide(X_new).decisions
        """
        options = SolveOptions(**solving)
        resolved = self._problem(problem)
        features = model_features(X, self)
        given = plain_parameters(resolved, parameters, row_count(features), X, "X", X)
        return Solutions._of(self._decide(features, resolved, given, options), X)

    @refuse_renamed("Model.explain")
    def explain(
        self,
        X: Any,
        *,
        costs: Any = None,
        alternatives: int | None = None,
        force: str | Sequence[str] | None = None,
        forbid: str | Sequence[str] | None = None,
        max_solves: int | None = None,
        problem: Problem | None = None,
        parameters: Any = None,
        threads: int | None = None,
        heuristic: str | None = None,
        gap: float | None = None,
        nodes: int | None = None,
        seconds: float | None = None,
    ) -> Explanation:
        """Explain the decision for one row.

        Parameters
        ----------
        X : array_like, Series or DataFrame of shape (p,) or (1, p)
            Features of the row.
        costs : array_like, Series or DataFrame of shape (d,) or (1, d), optional
            True costs of the row, once they are known: the regret is then split over the costs.
        alternatives : int, optional
            Number of the best other decisions to list; 3 by default, if decisions are binary or
            have integer columns.
        force, forbid : str or list of str, optional
            Names of costs whose choice is forced or forbidden, one at a time: the result says what
            it costs. In a linear problem also columns of known cost, such as set-ups; forbidden
            quantities are 0.
        max_solves : int, optional
            Maximum number of solves of each part (cost ranges, other decisions, features); by
            default 250, or as many as take about a minute. A choice that the costs fix may take a
            few, which count as one.
        problem : Problem, optional
            Another problem than that of training.
        parameters : mapping, DataFrame or list of str, optional
            Parameters of the row, as in `decide`; numbers by name are enough.
        threads, heuristic, gap, nodes, seconds : optional
            As in `Problem.solve_all`.

        Returns
        -------
        Explanation
            How far each predicted cost may move, the best other decisions and their prices, what
            forced and forbidden choices cost, where the regret comes from, and which features moved
            the predictions.

        Raises
        ------
        ValueError
            For an unknown name, several rows, true costs that are missing, or a list or a choice if
            decisions are not binary.

        Notes
        -----
        Prices, ranges and objectives are under the predicted costs; the regret is under the true
        ones. The same numbers as `regretless explain`.

        Examples
        --------
        >>> explanation = model.explain(X[0], costs=C[0], force="c1")
        >>> explanation.alternatives.decisions[0].price
        """
        options = SolveOptions(threads, False, heuristic, gap, nodes, seconds)
        resolved = self._problem(problem)
        row = one_row(X)
        features = model_features(row, self)
        parameters = None if parameters is None else one_row_of_parameters(parameters)
        given = plain_parameters(resolved, parameters, row_count(features), row, "X", row)
        found, text = self._explain(
            features,
            None if costs is None else plain_table(one_row(costs), "costs"),
            alternatives,
            text_list(force),
            text_list(forbid),
            max_solves,
            resolved,
            given,
            options,
        )
        return with_text(found, text)

    @takes_solve_options
    def evaluate(
        self,
        X: Any,
        C: Any,
        *,
        problem: Problem | None = None,
        labels: Labels | None = None,
        parameters: Any = None,
        **solving: Unpack[SolveKeywords],
    ) -> Evaluation:
        """Evaluate the model by the decisions that follow from its predictions.

        Parameters
        ----------
        X : array_like or DataFrame of shape (n, p)
            Features.
        C : array_like or DataFrame of shape (n, d)
            True costs.
        problem : Problem, optional
            Another problem than that of training.
        labels : Labels, optional
            Optimal decisions under the true costs; solved here by default.
        parameters : mapping, DataFrame or list of str, optional
            Parameters of the rows, as in `decide`.
        threads, progress, heuristic, gap, nodes, seconds : optional
            As in `Problem.solve_all`.

        Returns
        -------
        Evaluation
            As the function `evaluate` returns it.

        Examples
        --------
        >>> model.evaluate(X_test, C_test).normalized_regret
        """
        options = SolveOptions(**solving)
        return self._evaluate(self._problem(problem), X, C, labels, parameters, options)

    def _evaluate(
        self, problem: Any, X: Any, C: Any, labels: Any, parameters: Any, options: SolveOptions
    ) -> Evaluation:
        """Evaluate the model for a problem that was checked, if it is not its own."""
        check_same_rows(X, C, ("X", "C"))
        costs = plain_table(C, "C")
        given = plain_parameters(problem, parameters, row_count(costs), C, "C", X)
        features = model_features(X, self)
        fields = _evaluate_model(problem, self, features, costs, labels, given, options)
        return evaluation_of(fields, C)

    @takes_solve_options
    def permutation_importance(
        self,
        X: Any,
        C: Any,
        *,
        problem: Problem | None = None,
        labels: Labels | None = None,
        parameters: Any = None,
        repeats: int = 5,
        seed: int = 0,
        **solving: Unpack[SolveKeywords],
    ) -> Any:
        """Measure the importance of each feature by the regret that follows when it is shuffled.

        Parameters
        ----------
        X : array_like or DataFrame of shape (n, p)
            Features, best of rows that the model was not trained on.
        C : array_like or DataFrame of shape (n, d)
            True costs.
        problem : Problem, optional
            Another problem than that of training.
        labels : Labels, optional
            Optimal decisions under the true costs; solved here by default.
        parameters : mapping, DataFrame or list of str, optional
            Parameters of the rows, as in `decide`.
        repeats : int, default 5
            Shuffles of each feature.
        seed : int, default 0
            Seed of the shuffles.
        threads, progress, heuristic, gap, nodes, seconds : optional
            As in `Problem.solve_all`.

        Returns
        -------
        DataFrame or dict of ndarray
            `regret_increase`, the mean over the repeats of the increase of the mean regret, and its
            `deviation`, one entry per feature. A DataFrame with the names of the features as its
            index (pandas) or in a column `feature` (polars) if `X` is one, else a dict of arrays
            with `feature`.

        Notes
        -----
        Solves every row once per feature and repeat. The same numbers as `regretless inspect
        MODEL --data TABLE`.

        Examples
        --------
        >>> model.permutation_importance(X_test, C_test)
        """
        options = SolveOptions(**solving)
        resolved = self._problem(problem)
        check_same_rows(X, C, ("X", "C"))
        costs = plain_table(C, "C")
        given = plain_parameters(resolved, parameters, row_count(costs), C, "C", X)
        features = model_features(X, self)
        increases = self._permutation_importance(
            features, costs, resolved, labels, given, repeats, seed, options
        )
        return importance_table(X, self.feature_names, increases)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a model from a file.

        Nothing in the file is executed, and damage is detected by a checksum.

        Parameters
        ----------
        path : path
            A file that `save` or the command line wrote.

        Returns
        -------
        Model

        Raises
        ------
        ValueError
            If the file is damaged or of another kind.
        """
        return cls._of(_Model._load(path))

    @classmethod
    def from_bytes(cls, bytes: bytes) -> Self:
        """Read a model from the bytes of a model file.

        Parameters
        ----------
        bytes : bytes
            What `to_bytes` returned.

        Returns
        -------
        Model
        """
        return cls._of(_Model._from_bytes(bytes))

    @property
    def problem(self) -> Problem:
        """The problem that the model was trained for.

        Raises ValueError if it is a Python function, which no model holds.
        """
        return Problem._of(self._problem())

    def __reduce__(self) -> tuple[Any, ...]:
        return Model.from_bytes, (self.to_bytes(),)


def evaluation_of(fields: dict[str, Any], C: Any) -> Evaluation:
    """Return an evaluation whose rows are a table like the costs."""
    rows = row_table(frame_template(C), fields["rows"])
    return Evaluation.from_dict({**fields, "rows": rows})
