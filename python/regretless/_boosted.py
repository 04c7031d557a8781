"""Fine-tuned models: a base and trees that correct it."""

from __future__ import annotations

import json
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import regretless as rl
from regretless import _tree_file as tree_file
from regretless._boosters import LIBRARIES
from regretless._core import _problem_of_model
from regretless._frames import as_numbers, column_names, same_features
from regretless._names import named


class BoostedCosts:
    """A model and trees that correct it, as fine-tuning returns it.

    ``base`` is the model before fine-tuning, ``trees`` are the booster of the rounds that were kept (None where the base was best),
    ``kind`` is "xgboost" or "lightgbm". ``history`` has one entry per round, round 0 being the base: its ``regret`` (mean) and
    ``normalized_regret`` on the validation rows. ``report`` says what was kept: ``kept_round``, ``base_regret`` and ``kept_regret`` (means on the
    validation rows), ``rounds`` that were run, ``stopped`` (why no more were), ``training_rows``, ``validation_rows``, ``loss``, ``seed``.
    """

    def __init__(
        self,
        base: Any,
        trees: Any,
        kind: str,
        *,
        num_features: int | None = None,
        sparse: bool | None = None,
        feature_names: list[str] | None = None,
        cost_names: list[str] | None = None,
        problem: Any = None,
        history: list[dict[str, Any]] | None = None,
        report: dict[str, Any] | None = None,
    ) -> None:
        self.base, self.trees, self.kind = base, trees, kind
        self.num_features, self.sparse = num_features, sparse
        self.feature_names, self.cost_names = feature_names, cost_names
        self.problem = problem
        self.history, self.report = history or [], report or {}

    def predict(self, features: Any) -> np.ndarray:
        """Predicted costs, one row per row of features (float32), in the user's sense.

        A table with column names must have the names the model was trained on, in their order.
        """
        same_features(self.feature_names, column_names(features))
        table = as_features(features)
        if self.num_features is not None and table.shape[1] != self.num_features:
            raise ValueError(
                f"X has {table.shape[1]} features, the model was trained on {self.num_features}"
            )
        if self.kind == "xgboost":
            check_same_zeros(self.sparse, table)
        start = base_costs(self.base, table)
        return (
            start
            if self.trees is None
            else LIBRARIES[self.kind].corrected(self.trees, table, start)
        )

    def decide(
        self,
        features: Any,
        problem: Any = None,
        *,
        threads: int | None = None,
        progress: bool = False,
        decide_by: str | None = None,
    ) -> rl.Solutions:
        """Predicts and decides: ``regretless.Solutions`` with one decision per row of features.

        ``problem`` is what is decided, if not the problem the model was tuned for; costs with names are matched by name.
        """
        problem = self.problem if problem is None else problem
        if problem is None:
            raise ValueError(
                "the model holds no problem (a function is in no file); give it: decide(features, problem)"
            )
        predicted = named(self.predict(features), self.cost_names)
        return problem.solve_all(predicted, threads=threads, progress=progress, decide_by=decide_by)

    def save(self, path: Any, *, force: bool = False) -> None:
        """Writes the model to one file; refuses to replace a file unless ``force``.

        The file is a zip archive of XGBoost's JSON or LightGBM's text and of a description in JSON; nothing is pickled. A base that is neither
        trees nor a ``regretless.Model`` cannot be written so and is refused.
        """
        tree_file.write_whole(Path(path), tree_file.packed(parts_of(self)), force=force)

    @classmethod
    def load(cls, path: Any) -> BoostedCosts:
        """Reads a file that ``save`` wrote.

        Nothing in it is executed, and damage is noticed. The trees are read by XGBoost or LightGBM, whose readers do not promise to withstand a
        file that was forged: load files of people you trust.
        """
        path = Path(path)
        found = model_of(tree_file.unpacked(path), path, 0)
        if not isinstance(found, cls):
            raise ValueError(f"{path}: this is no file of fine-tuned trees")
        return found

    def __repr__(self) -> str:
        if not self.report:
            return f"<regretless.trees.BoostedCosts {self.kind}>"
        told = self.report
        kept = (
            f"round {told['kept_round']} of {told['rounds']}"
            if told["kept_round"]
            else f"base (round 0 of {told['rounds']})"
        )
        worth = f"validation regret {told['kept_regret']:.6g} (base {told['base_regret']:.6g}, {told['validation_rows']} rows)"
        return f"<regretless.trees.BoostedCosts {self.kind}: {kept} kept, {worth}>"


@dataclass
class Constant:
    """The same costs for everybody: where boosting by squared error begins."""

    costs: np.ndarray

    def predict(self, features: Any) -> np.ndarray:
        """One row per row of features."""
        return np.repeat(np.asarray(self.costs)[None], features.shape[0], axis=0)


def as_features(features: Any) -> Any:
    """Features as an array of numbers, or a sparse matrix by rows."""
    return features.tocsr() if is_sparse(features) else as_numbers(features, "X", missing=True)


def is_sparse(table: Any) -> bool:
    """Whether a table is a sparse matrix."""
    return hasattr(table, "tocsr")


def check_same_zeros(sparse: bool | None, table: Any) -> None:
    """Refuses a table of the other kind: to XGBoost, zeros that a sparse matrix leaves out are missing, those of an array are zeros."""
    if sparse is not None and sparse != is_sparse(table):
        learned, given = (
            ("a sparse matrix", "an array") if sparse else ("an array", "a sparse matrix")
        )
        raise ValueError(
            f"the trees learned from {learned}, and X is {given}: XGBoost takes zeros that a sparse matrix leaves out for missing values. "
            f"Give X as {learned}"
        )


def is_xgboost(base: Any) -> bool:
    """Whether a base is a booster of XGBoost, told without importing it."""
    return type(base).__module__.startswith("xgboost") and type(base).__name__ == "Booster"


def base_costs(base: Any, table: Any) -> np.ndarray:
    """Costs that a base predicts, one row per row of the table (float32)."""
    if is_xgboost(base):
        import xgboost

        names = base.feature_names
        if names is not None and len(names) != table.shape[1]:
            raise ValueError(
                f"X has {table.shape[1]} features, the base was trained on {len(names)}: {', '.join(names[:8])}"
            )
        # Not the margin: a base with a logarithmic link predicts costs, but its margins are their logarithms.
        found = base.predict(xgboost.DMatrix(table, feature_names=names))
    else:
        found = base.predict(as_known(table, getattr(base, "feature_names_in_", None)))
    found = np.asarray(found, dtype=np.float32)
    found = found.reshape(-1, 1) if found.ndim == 1 else found
    if found.ndim != 2 or len(found) != table.shape[0]:
        raise ValueError(
            f"the base predicts an array of shape {found.shape} for {table.shape[0]} rows; one row of costs each is needed"
        )
    return np.ascontiguousarray(found)


def as_known(table: Any, names: Any) -> Any:
    """A table as an estimator of scikit-learn expects it: with names where it learned from a table with names."""
    if names is None or is_sparse(table):
        return table
    try:
        import pandas
    except ImportError:
        return table
    return pandas.DataFrame(table, columns=list(names))


def names_known_to(base: Any) -> list[str] | None:
    """Names of the features that a base was trained on, where it knows them."""
    for word in ("feature_names_in_", "feature_names"):
        names = getattr(base, word, None)
        if names is not None and not callable(names):
            return [str(name) for name in names]
    return None


def parts_of(model: Any) -> dict[str, bytes]:
    """A model as the parts of its file."""
    said: dict[str, Any] = {"format": tree_file.FORMAT, "version": tree_file.VERSION}
    if isinstance(model, BoostedCosts):
        library = LIBRARIES[model.kind]
        said |= {
            "kind": "boosted",
            "library": model.kind,
            "has_trees": model.trees is not None,
            "num_features": model.num_features,
            "sparse": model.sparse,
            "feature_names": model.feature_names,
            "cost_names": model.cost_names,
            "problem": None if model.problem is None else model.problem.to_dict(),
            "problem_file_hash": None if model.problem is None else model.problem._file_hash,
            "history": model.history,
            "report": model.report,
            "regretless": rl.__version__,
        }
        parts = {f"base/{name}": content for name, content in parts_of(model.base).items()}
        if model.trees is not None:
            parts[library.file_name] = library.to_bytes(model.trees)
    elif isinstance(model, Constant):
        said |= {"kind": "constant", "costs": [float(cost) for cost in model.costs]}
        parts = {}
    elif is_xgboost(model):
        said |= {"kind": "xgboost"}
        parts = {"model.json": bytes(model.save_raw("json"))}
    elif isinstance(model, rl.Model):
        said |= {"kind": "regretless"}
        parts = {"model.safetensors": model.to_bytes()}
    else:
        name = f"{type(model).__module__}.{type(model).__name__}"
        raise ValueError(
            f"the base is a {name}, which only pickle could write; bases that can be saved are those made by fine-tuning, boosters of XGBoost, "
            "and regretless.Model. Keep the base by its own means, or leave base= out"
        )
    return {**parts, "about.json": json.dumps(said, indent=1).encode()}


def model_of(parts: dict[str, bytes], path: Path, depth: int) -> Any:
    """The model whose parts these are."""
    if depth > tree_file.DEEPEST:
        raise ValueError(
            f"{path}: models within models, {depth} levels deep; this is no file of fine-tuned trees"
        )
    said = tree_file.about(parts, path)
    try:
        if said["kind"] == "constant":
            return Constant(np.array(said["costs"], dtype=float))
        if said["kind"] == "xgboost":
            return LIBRARIES["xgboost"].from_bytes(parts["model.json"])
        if said["kind"] == "regretless":
            return rl.Model.from_bytes(parts["model.safetensors"])
        library = LIBRARIES[said["library"]]
        trees = parts[library.file_name] if said["has_trees"] else None
        base = model_of(tree_file.below(parts, "base/"), path, depth + 1)
        return BoostedCosts(
            base=base,
            trees=None if trees is None else library.from_bytes(trees),
            kind=said["library"],
            num_features=said["num_features"],
            sparse=said["sparse"],
            feature_names=said["feature_names"],
            cost_names=said["cost_names"],
            problem=problem_of(said["problem"], said.get("problem_file_hash"), path.parent),
            history=said["history"],
            report=said["report"],
        )
    except ImportError:
        raise
    except Exception as error:
        # Each library has exceptions of its own for a text that it cannot read.
        words = str(error)
        raise ValueError(
            words
            if words.startswith(str(path))
            else f"{path}: the model cannot be read: {type(error).__name__}: {words}"
        ) from error


def problem_of(description: dict[str, Any] | None, file_hash: str | None, folder: Path) -> Any:
    """The problem in a file; None where it is a function, which no file holds, or where its own file is not here or has changed."""
    if description is None or description.get("kind") == "given":
        return None
    try:
        return _problem_of_model(json.dumps(description), file_hash, folder)
    except (OSError, ValueError) as error:
        warnings.warn(
            f"the problem of the model cannot be built here: {error}. Give it: decide(features, problem)",
            stacklevel=4,
        )
        return None
