"""Fine-tuned models: a base model and trees that correct it."""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import regretless as rl
from regretless._core import _problem_of_model, _unobserved_note
from regretless._files import write_atomically
from regretless._renamed import refuse_renamed
from regretless._user_warnings import warn
from regretless.results.fine_tuning import FineTuningReport, FineTuningRound
from regretless.tables.frames import (
    as_float_rows,
    as_frame_like,
    check_same_features,
    column_names,
)
from regretless.tables.names import with_names
from regretless.tables.parameters import table_parameters
from regretless.training.observed_costs import without_unobserved
from regretless.trees import _tree_file as tree_file
from regretless.trees._boosters import LIBRARIES


class BoostedCostModel:
    """A base model of costs and boosted trees that correct it, as fine-tuning returns it.

    Attributes
    ----------
    base : object
        The model before fine-tuning.
    trees : booster or None
        The booster of the selected rounds; None if round 0, the base model, was selected.
    library : str
        ``"xgboost"`` or ``"lightgbm"``.
    num_features : int or None
        Number of features.
    sparse : bool or None
        Whether the trees were trained on a sparse matrix.
    feature_names, cost_names : list of str or None
        Names of features and costs, if the tables had some.
    problem : regretless.Problem or None
        The problem.
    history : tuple of FineTuningRound
        Validation regret of every round; round 0 is the base model.
    report : FineTuningReport or None
        Which round was selected, and its regret.
    unobserved : list of int
        Costs that no training row has, as of items that never existed there: they have no
        prediction (NaN), and decisions leave them out.
    """

    def __init__(
        self,
        base: Any,
        trees: Any,
        library: str,
        *,
        num_features: int | None = None,
        sparse: bool | None = None,
        feature_names: list[str] | None = None,
        cost_names: list[str] | None = None,
        problem: rl.Problem | None = None,
        history: tuple[FineTuningRound, ...] = (),
        report: FineTuningReport | None = None,
        unobserved: Sequence[int] = (),
    ) -> None:
        self.base, self.trees, self.library = base, trees, library
        self.num_features, self.sparse = num_features, sparse
        self.feature_names, self.cost_names = feature_names, cost_names
        self.problem = problem
        self.history, self.report = history, report
        self.unobserved = list(unobserved)

    @refuse_renamed("BoostedCostModel.predict")
    def predict(self, X: Any) -> Any:
        """Predict costs.

        Parameters
        ----------
        X : array_like, sparse matrix or DataFrame of shape (n, p)
            Features; a table with column names must have the names of training, in their order.

        Returns
        -------
        ndarray or DataFrame of shape (n, d)
            float32; a DataFrame where ``X`` is one, with its index and the cost names. NaN for
            items that no training row has, with a warning.

        Raises
        ------
        ValueError
            For other features than those of training.
        """
        costs = self.predict_array(X)
        names = self.cost_names or [f"c{number}" for number in range(costs.shape[1])]
        note = _unobserved_note(names, self.unobserved)
        if note is not None:
            warn(note)
        return as_frame_like(X, costs, names)

    def predict_array(self, X: Any) -> np.ndarray:
        """Predict costs as an array, also for a DataFrame."""
        return without_unobserved(self._number_costs(X), self.unobserved)

    def _number_costs(self, X: Any) -> np.ndarray:
        """Predict costs; those without a prediction are some number."""
        check_same_features(self.feature_names, column_names(X))
        table = as_features(X)
        if self.num_features is not None and table.shape[1] != self.num_features:
            raise ValueError(
                f"X has {table.shape[1]} features, the model was trained on {self.num_features}"
            )
        if self.library == "xgboost":
            check_same_zeros(self.sparse, table)
        costs = base_costs(self.base, table)
        if self.unobserved:
            # Perhaps an array of the base model's own.
            costs = costs.copy()
            costs[:, self.unobserved] = 0
        if self.trees is None:
            return costs
        return LIBRARIES[self.library].predict_from(self.trees, table, costs)

    @refuse_renamed("BoostedCostModel.decide")
    def decide(
        self,
        X: Any,
        *,
        problem: rl.Problem | None = None,
        parameters: Any = None,
        threads: int | None = None,
        progress: bool = False,
        heuristic: str | None = None,
    ) -> rl.Solutions:
        """Predict costs and solve the problem for each row.

        Decisions leave out items that no training row has, with a warning.

        Parameters
        ----------
        X : array_like, sparse matrix or DataFrame of shape (n, p)
            Features.
        problem : regretless.Problem, optional
            Another problem than that of fine-tuning; costs with names are matched by name.
        parameters : mapping, DataFrame or list of str, optional
            Parameters of the rows that the problem reads, or names of columns of ``X``.
        threads, progress, heuristic : optional
            As in :meth:`regretless.Problem.solve_all`.

        Returns
        -------
        regretless.Solutions
            One decision per row; ``decisions`` is a DataFrame if ``X`` is one.

        Raises
        ------
        ValueError
            If the model has no problem and none is given.
        """
        problem = self.problem if problem is None else problem
        if problem is None:
            raise ValueError(
                "the model has no problem (a Python function cannot be saved); give it: "
                "decide(X, problem=problem)"
            )
        costs = with_names(self.predict_array(X), self.cost_names, like=X)
        return problem._decide(
            costs,
            parameters=table_parameters(parameters, X),
            threads=threads,
            progress=progress,
            heuristic=heuristic,
            leaves_out=bool(self.unobserved),
        )

    def save(self, path: Any, *, force: bool = False) -> None:
        """Write the model to one file.

        The file is a zip archive of XGBoost's JSON or LightGBM's text and of a description in
        JSON; nothing is pickled.

        Parameters
        ----------
        path : path
            The file.
        force : bool, default False
            Whether an existing file is replaced.

        Raises
        ------
        FileExistsError
            If the file exists and ``force`` is false.
        ValueError
            If the base model is neither trees nor a :class:`regretless.Model`.
        """
        write_atomically(Path(path), tree_file.pack(pack_parts(self)), force=force)

    @classmethod
    def load(cls, path: Any) -> BoostedCostModel:
        """Read a file that :meth:`save` wrote.

        Nothing in the file is executed, and damage is detected. XGBoost and LightGBM read the
        trees; they are not hardened against forged files: load files from trusted sources only.

        Parameters
        ----------
        path : path
            The file.

        Raises
        ------
        ValueError
            If the file is damaged or of another kind.
        """
        path = Path(path)
        model = load_parts(tree_file.unpack(path), path, 0)
        if not isinstance(model, cls):
            raise ValueError(f"{path}: not a file of fine-tuned trees")
        return model

    def __repr__(self) -> str:
        name = f"regretless.trees.BoostedCostModel {self.library}"
        if self.report is None:
            return f"<{name}>"
        report = self.report
        chosen = f"round {report.best_round} of {report.rounds}"
        if report.best_round == 0:
            chosen = f"base model (round 0 of {report.rounds})"
        return (
            f"<{name}: {chosen}, validation regret {report.best_regret:.6g} "
            f"(base {report.base_regret:.6g}, {report.validation_rows} rows)>"
        )


@dataclass
class ConstantModel:
    """The same costs for every row: where boosting by squared error starts."""

    costs: np.ndarray

    def predict(self, X: Any) -> np.ndarray:
        """Return one row of costs per row of ``X``."""
        return np.repeat(np.asarray(self.costs)[None], X.shape[0], axis=0)


def as_features(X: Any) -> Any:
    """Return features as an array of numbers, or as a sparse matrix in CSR format."""
    return X.tocsr() if is_sparse(X) else as_float_rows(X, "X", allow_missing=True)


def is_sparse(table: Any) -> bool:
    """Return whether a table is a sparse matrix."""
    return hasattr(table, "tocsr")


def check_same_zeros(sparse: bool | None, table: Any) -> None:
    """Refuse an array if the trees were trained on a sparse matrix, and the reverse.

    Zeros that a sparse matrix does not store are missing values to XGBoost.
    """
    if sparse is not None and sparse != is_sparse(table):
        names = ["an array", "a sparse matrix"]
        trained, actual = names[sparse], names[not sparse]
        raise ValueError(
            f"the trees were trained on {trained}, and X is {actual}: XGBoost reads zeros that a "
            f"sparse matrix does not store as missing values. Give X as {trained}"
        )


def is_xgboost(base: Any) -> bool:
    """Return whether a base model is an XGBoost booster, without importing XGBoost."""
    return type(base).__module__.startswith("xgboost") and type(base).__name__ == "Booster"


def base_costs(base: Any, table: Any) -> np.ndarray:
    """Return the costs that a base model predicts, one row per row of the table (float32)."""
    if is_xgboost(base):
        import xgboost

        names = base.feature_names
        if names is not None and len(names) != table.shape[1]:
            raise ValueError(
                f"X has {table.shape[1]} features, the base was trained on {len(names)}: "
                f"{', '.join(names[:8])}"
            )
        # Not the margin: with a logarithmic link, margins are logarithms of the predicted costs.
        costs = base.predict(xgboost.DMatrix(table, feature_names=names))
    else:
        costs = base.predict(align_columns(table, getattr(base, "feature_names_in_", None)))
    costs = np.asarray(costs, dtype=np.float32)
    costs = costs.reshape(-1, 1) if costs.ndim == 1 else costs
    if costs.ndim != 2 or len(costs) != table.shape[0]:
        raise ValueError(
            f"the base predicts an array of shape {costs.shape} for {table.shape[0]} rows; one "
            "row of costs each is needed"
        )
    return np.ascontiguousarray(costs)


def align_columns(table: Any, names: Any) -> Any:
    """Return a table with the column names that a scikit-learn estimator was fitted with."""
    if names is None or is_sparse(table):
        return table
    try:
        import pandas
    except ImportError:
        return table
    return pandas.DataFrame(table, columns=list(names))


def feature_names_of(base: Any) -> list[str] | None:
    """Return the feature names that a base model was trained with, if it has some."""
    for attribute in ("feature_names_in_", "feature_names"):
        names = getattr(base, attribute, None)
        if names is not None and not callable(names):
            return [str(name) for name in names]
    return None


def pack_parts(model: Any) -> dict[str, bytes]:
    """Return a model as the parts of its file."""
    description: dict[str, Any] = {"format": tree_file.FORMAT, "version": tree_file.VERSION}
    if isinstance(model, BoostedCostModel):
        library = LIBRARIES[model.library]
        if model.unobserved:
            # Earlier programs would decide by a number that is no prediction.
            description["version"] = tree_file.VERSION_WITH_UNOBSERVED
            description["unobserved"] = model.unobserved
        description |= {
            "kind": "boosted",
            "library": model.library,
            "has_trees": model.trees is not None,
            "num_features": model.num_features,
            "sparse": model.sparse,
            "feature_names": model.feature_names,
            "cost_names": model.cost_names,
            "problem": None if model.problem is None else model.problem.to_dict(),
            "problem_file_hash": None if model.problem is None else model.problem._file_hash,
            "history": [entry.to_dict() for entry in model.history],
            "report": None if model.report is None else model.report.to_dict(),
            "regretless": rl.__version__,
        }
        parts = {f"base/{name}": content for name, content in pack_parts(model.base).items()}
        if model.trees is not None:
            parts[library.file_name] = library.to_bytes(model.trees)
        content = None if model.problem is None else model.problem._file_content
        if content is not None:
            parts[tree_file.PROBLEM_FILE] = content
    elif isinstance(model, ConstantModel):
        description |= {"kind": "constant", "costs": [float(cost) for cost in model.costs]}
        parts = {}
    elif is_xgboost(model):
        description |= {"kind": "xgboost"}
        parts = {"model.json": bytes(model.save_raw("json"))}
    elif isinstance(model, rl.Model):
        description |= {"kind": "regretless"}
        parts = {"model.safetensors": model.to_bytes()}
    else:
        name = f"{type(model).__module__}.{type(model).__name__}"
        raise ValueError(
            f"the base is a {name}, which only pickle could write; bases that can be saved are "
            "those made by fine-tuning, XGBoost boosters and regretless.Model. Save the base by "
            "other means, or leave base= out"
        )
    return {**parts, "description.json": json.dumps(description, indent=1).encode()}


def load_parts(parts: dict[str, bytes], path: Path, depth: int) -> Any:
    """Return the model of the parts of a file."""
    if depth > tree_file.MAX_DEPTH:
        raise ValueError(
            f"{path}: base models nested {depth} levels deep; not a file of fine-tuned trees"
        )
    description = tree_file.read_description(parts, path)
    try:
        if description["kind"] == "constant":
            return ConstantModel(np.array(description["costs"], dtype=float))
        if description["kind"] == "xgboost":
            return LIBRARIES["xgboost"].from_bytes(parts["model.json"])
        if description["kind"] == "regretless":
            return rl.Model.from_bytes(parts["model.safetensors"])
        library = LIBRARIES[description["library"]]
        trees = parts[library.file_name] if description["has_trees"] else None
        report = description["report"]
        return BoostedCostModel(
            base=load_parts(tree_file.below(parts, "base/"), path, depth + 1),
            trees=None if trees is None else library.from_bytes(trees),
            library=description["library"],
            num_features=description["num_features"],
            sparse=description["sparse"],
            feature_names=description["feature_names"],
            cost_names=description["cost_names"],
            problem=load_problem(
                description["problem"],
                description.get("problem_file_hash"),
                path.parent,
                parts.get(tree_file.PROBLEM_FILE),
            ),
            history=tuple(FineTuningRound.from_dict(entry) for entry in description["history"]),
            report=None if report is None else FineTuningReport.from_dict(report),
            unobserved=[int(cost) for cost in description.get("unobserved", [])],
        )
    except ImportError:
        raise
    except Exception as error:
        # Each library raises its own exceptions for text that it cannot read.
        message = str(error)
        if not message.startswith(str(path)):
            message = f"{path}: the model cannot be read: {type(error).__name__}: {message}"
        raise ValueError(message) from error


def load_problem(
    description: dict[str, Any] | None, file_hash: str | None, folder: Path, content: bytes | None
) -> rl.Problem | None:
    """Return the problem of a model file, which holds the content of the problem's own file.

    ``None`` if it is a Python function, which no file holds. Model files of earlier versions do not
    hold the problem's file: ``None`` if it is missing or has changed.
    """
    if description is None or description.get("kind") == "external":
        return None
    try:
        problem = _problem_of_model(json.dumps(description), file_hash, folder, content)
        return rl.Problem._of(problem)
    except (OSError, ValueError) as error:
        warnings.warn(
            f"the problem of the model cannot be built here: {error}. Give it: "
            "decide(X, problem=problem)",
            stacklevel=4,
        )
        return None
