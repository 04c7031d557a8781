"""XGBoost and LightGBM behind one interface: trees that correct a base model, round by round.

Both libraries sum their trees in order, so a model of the first k rounds predicts exactly what the
longer model predicted after k rounds.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

Derivatives = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
"""From predicted costs (n, d) to gradient and second derivative, both (n, d)."""

XGBOOST_MSE = {"max_depth": 4, "learning_rate": 0.1}
"""Settings of the base model by squared error. Untuned: small trees, the usual learning rate."""
LIGHTGBM_MSE = {"num_leaves": 15, "learning_rate": 0.1}
"""The same for LightGBM, whose trees of 15 leaves are about as large as those of depth 4."""

MAX_SINGLE_THREAD_ROWS = 20_000
"""Up to this many rows trees are grown on one thread, since threads then mostly wait for each
other: with 1000 rows and 40 costs, two threads took 20 times as long as one on two busy cores. The
trees are the same."""

PREDICT_LOCK = threading.Lock()
"""The number of threads is state of an XGBoost booster: held while it is set and used."""


def threads_for(rows: int, wanted: int | None) -> int:
    """Return the number of threads of the library; 0 is its own default."""
    if wanted is not None:
        return wanted
    return 1 if rows <= MAX_SINGLE_THREAD_ROWS else 0


@dataclass
class BoosterSpec:
    """What a booster is trained on, and how.

    Attributes
    ----------
    features : array or sparse matrix of shape (n, p)
        Features of the training rows.
    base_costs : ndarray of shape (n, d)
        Costs that the base model predicts for them.
    derivatives : callable
        Gradient and second derivative of the loss.
    defaults, settings : dict
        Settings of the library: defaults, and those of the user, which take precedence.
    threads, seed : int
        Number of threads (0 is the library's default) and seed.
    """

    features: Any
    base_costs: np.ndarray
    derivatives: Derivatives
    defaults: dict[str, Any]
    settings: dict[str, Any]
    threads: int
    seed: int


class XGBoostTrees:
    """XGBoost trees that correct the costs of a base model."""

    library = "xgboost"
    file_name = "trees.json"
    # Set by fine-tuning itself, or such that later rounds would change earlier ones.
    reserved = frozenset(
        {
            "objective",
            "num_target",
            "num_class",
            "base_score",
            "booster",
            "disable_default_eval_metric",
        }
    )
    aliases: ClassVar[dict[str, set[str]]] = {
        "learning_rate": {"eta"},
        "nthread": {"n_jobs"},
        "seed": {"random_state"},
    }
    defaults: ClassVar[dict[str, Any]] = {"tree_method": "hist", **XGBOOST_MSE}

    def __init__(self, spec: BoosterSpec) -> None:
        import xgboost

        columns = spec.base_costs.shape[1]
        fixed = {"num_target": columns, "base_score": 0.0, "disable_default_eval_metric": 1}
        general = {
            **self.defaults,
            **spec.defaults,
            "nthread": spec.threads,
            "seed": spec.seed,
        }
        self._threads = spec.threads
        self._derivatives = spec.derivatives
        self._shape = spec.base_costs.shape
        self._table = xgboost.DMatrix(spec.features, nthread=spec.threads or None)
        self._table.set_base_margin(spec.base_costs)
        self._validation: Any = None
        settings = {**merge_settings(general, spec.settings, self), **fixed}
        self.booster = xgboost.Booster(settings, [self._table])
        self.rounds = 0

    def set_validation(self, features: Any, base_costs: np.ndarray) -> None:
        """Set the rows that are predicted after each round."""
        import xgboost

        self._validation = xgboost.DMatrix(features, nthread=self._threads or None)
        self._validation.set_base_margin(base_costs)

    def boost_round(self) -> bool:
        """Train one more round; return False if no tree can be split any more."""

        def objective(predictions: np.ndarray, _: Any) -> tuple[np.ndarray, np.ndarray]:
            return self._derivatives(np.reshape(predictions, self._shape))

        self.booster.update(self._table, self.rounds, fobj=objective)
        self.rounds += 1
        return True

    def validation_predictions(self) -> np.ndarray:
        """Return the predicted costs of the validation rows."""
        return (
            self.booster.predict(self._validation, output_margin=True)
            .reshape(-1, self._shape[1])
            .astype(np.float32)
        )

    def truncate(self, rounds: int) -> Any:
        """Return the trees of the first rounds; None for 0 rounds."""
        # An empty slice of a booster is the whole booster.
        return self.booster[:rounds] if rounds > 0 else None

    @staticmethod
    def predict_from(trees: Any, features: Any, base_costs: np.ndarray) -> np.ndarray:
        """Return the costs of the base model plus the corrections of the trees."""
        import xgboost

        threads = threads_for(features.shape[0], None)
        table = xgboost.DMatrix(features, nthread=threads or None)
        table.set_base_margin(base_costs)
        with PREDICT_LOCK:
            trees.set_param({"nthread": threads})
            costs = trees.predict(table, output_margin=True)
        return costs.reshape(base_costs.shape).astype(np.float32)

    @staticmethod
    def to_bytes(trees: Any) -> bytes:
        """Return the trees in XGBoost's JSON."""
        return bytes(trees.save_raw("json"))

    @staticmethod
    def from_bytes(content: bytes) -> Any:
        """Read trees from XGBoost's JSON."""
        import xgboost

        booster = xgboost.Booster()
        booster.load_model(bytearray(content))
        return booster


class LightGBMTrees:
    """LightGBM trees that correct the costs of a base model; outputs are its classes."""

    library = "lightgbm"
    file_name = "trees.txt"
    reserved = frozenset(
        {
            "objective",
            "objective_type",
            "app",
            "application",
            "loss",
            "num_class",
            "num_classes",
            "boosting",
            "boosting_type",
            "boost",
        }
    )
    aliases: ClassVar[dict[str, set[str]]] = {
        "learning_rate": {"eta", "shrinkage_rate"},
        "num_leaves": {"num_leaf", "max_leaves", "max_leaf", "max_leaf_nodes"},
        "num_threads": {"num_thread", "nthread", "nthreads", "n_jobs"},
        "verbosity": {"verbose"},
        "seed": {"random_seed", "random_state"},
    }
    # Always row-wise histograms: LightGBM would otherwise time both kinds and take the faster one.
    # No feature filter: LightGBM fails if it has dropped all features.
    defaults: ClassVar[dict[str, Any]] = {
        "verbosity": -1,
        "deterministic": True,
        "force_row_wise": True,
        "feature_pre_filter": False,
        **LIGHTGBM_MSE,
    }

    def __init__(self, spec: BoosterSpec) -> None:
        import lightgbm

        columns = spec.base_costs.shape[1]
        general = {
            **self.defaults,
            **spec.defaults,
            "num_threads": spec.threads,
            "seed": spec.seed,
        }
        settings = {
            **merge_settings(general, spec.settings, self),
            "num_class": columns,
            "objective": "none",
        }
        self._threads = spec.threads
        self._derivatives = spec.derivatives
        self._shape = spec.base_costs.shape
        start = spec.base_costs.astype(float)
        # Labels of a custom objective are never read. One class takes a flat init_score.
        table = lightgbm.Dataset(
            spec.features,
            label=np.zeros(len(start)),
            init_score=start if columns > 1 else start.ravel(),
            params=settings,
        )
        # LightGBM fails if every feature is constant; no tree can be split then anyway.
        self._can_split = not all_constant(spec.features)
        self.booster: Any = lightgbm.Booster(settings, table) if self._can_split else None
        self._validation: Any = None
        self._base_costs: Any = None
        self._corrections: Any = None
        self.rounds = 0

    def set_validation(self, features: Any, base_costs: np.ndarray) -> None:
        """Set the rows that are predicted after each round."""
        self._validation, self._base_costs = features, base_costs
        self._corrections = np.zeros(base_costs.shape)

    def boost_round(self) -> bool:
        """Train one more round; return False if no tree can be split any more."""

        def objective(predictions: np.ndarray, _: Any) -> tuple[np.ndarray, np.ndarray]:
            gradient, second = self._derivatives(np.reshape(predictions, self._shape))
            return (gradient, second) if self._shape[1] > 1 else (gradient.ravel(), second.ravel())

        if not self._can_split or self.booster.update(fobj=objective):
            return False
        if self._validation is not None:
            added = self.booster.predict(
                self._validation,
                raw_score=True,
                start_iteration=self.rounds,
                num_iteration=1,
                num_threads=self._threads,
            )
            self._corrections += np.reshape(added, self._corrections.shape)
        self.rounds += 1
        return True

    def validation_predictions(self) -> np.ndarray:
        """Return the predicted costs of the validation rows."""
        return (self._base_costs + self._corrections).astype(np.float32)

    def truncate(self, rounds: int) -> Any:
        """Return the trees of the first rounds; None for 0 rounds."""
        import lightgbm

        return (
            lightgbm.Booster(model_str=self.booster.model_to_string(num_iteration=rounds))
            if rounds > 0
            else None
        )

    @staticmethod
    def predict_from(trees: Any, features: Any, base_costs: np.ndarray) -> np.ndarray:
        """Return the costs of the base model plus the corrections of the trees."""
        threads = threads_for(features.shape[0], None)
        corrections = trees.predict(features, raw_score=True, num_threads=threads)
        return (base_costs + np.reshape(corrections, base_costs.shape)).astype(np.float32)

    @staticmethod
    def to_bytes(trees: Any) -> bytes:
        """Return the trees in LightGBM's text format."""
        return trees.model_to_string().encode()

    @staticmethod
    def from_bytes(content: bytes) -> Any:
        """Read trees from LightGBM's text format."""
        import lightgbm

        return lightgbm.Booster(model_str=content.decode())


def all_constant(features: Any) -> bool:
    """Return whether every feature has the same value in all rows."""
    if hasattr(features, "tocsr"):
        return not (features.max(axis=0) - features.min(axis=0)).nnz
    # A missing value differs from a number.
    return bool(np.all((features == features[:1]) | (np.isnan(features) & np.isnan(features[:1]))))


LIBRARIES: dict[str, Any] = {"xgboost": XGBoostTrees, "lightgbm": LightGBMTrees}


def merge_settings(defaults: dict[str, Any], user: dict[str, Any], library: Any) -> dict[str, Any]:
    """Return the defaults, overridden by the user's settings, which may use an alias of a name."""
    for name in user:
        if name in library.reserved:
            raise ValueError(f"'{name}' is set by the fine-tuning and cannot be given")
    kept = {
        name: value
        for name, value in defaults.items()
        if not library.aliases.get(name, set()) & set(user)
    }
    return {**kept, **user}
