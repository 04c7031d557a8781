"""XGBoost and LightGBM behind one interface: trees that correct a base, one round at a time.

Both libraries sum their trees in order, so that a model of the first k rounds predicts what the longer one predicted after k rounds.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

Derivatives = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
"""From predicted costs (n, d) to gradient and second derivative (n, d)."""

XGBOOST_MSE = {"max_depth": 4, "learning_rate": 0.1}
LIGHTGBM_MSE = {"num_leaves": 15, "learning_rate": 0.1}

SMALL_TABLE = 20_000
"""Up to so many rows one thread grows the trees: threads then mostly wait for each other. With 1000 rows and 40 costs, two threads
took 20 times as long as one on two busy cores. The trees are the same."""


PREDICTING = threading.Lock()


def threads_for(rows: int, wanted: int | None) -> int:
    """Threads of the library; 0 is its own choice."""
    if wanted is not None:
        return wanted
    return 1 if rows <= SMALL_TABLE else 0


@dataclass
class Growing:
    """The rows from which trees grow, the costs predicted for them so far, and how."""

    features: Any
    start: np.ndarray
    derivatives: Derivatives
    defaults: dict[str, Any]
    settings: dict[str, Any]
    threads: int
    seed: int


class XGBoostTrees:
    """Trees of XGBoost on top of given costs."""

    library = "xgboost"
    file_name = "trees.json"
    # What fine-tuning sets itself, or what would make earlier rounds change.
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

    def __init__(self, growing: Growing) -> None:
        import xgboost

        columns = growing.start.shape[1]
        own = {"num_target": columns, "base_score": 0.0, "disable_default_eval_metric": 1}
        general = {
            **self.defaults,
            **growing.defaults,
            "nthread": growing.threads,
            "seed": growing.seed,
        }
        self._threads = growing.threads
        self._derivatives = growing.derivatives
        self._shape = growing.start.shape
        self._table = xgboost.DMatrix(growing.features, nthread=growing.threads or None)
        self._table.set_base_margin(growing.start)
        self._watched: Any = None
        settings = {**merged(general, growing.settings, self), **own}
        self.booster = xgboost.Booster(settings, [self._table])
        self.rounds = 0

    def watch(self, features: Any, start: np.ndarray) -> None:
        """Rows whose predictions are asked for after each round."""
        import xgboost

        self._watched = xgboost.DMatrix(features, nthread=self._threads or None)
        self._watched.set_base_margin(start)

    def grow(self) -> bool:
        """One more round; False where the trees cannot grow any more."""

        def of_table(predictions: np.ndarray, _: Any) -> tuple[np.ndarray, np.ndarray]:
            return self._derivatives(np.reshape(predictions, self._shape))

        self.booster.update(self._table, self.rounds, fobj=of_table)
        self.rounds += 1
        return True

    def watched(self) -> np.ndarray:
        """Predicted costs of the watched rows."""
        return (
            self.booster.predict(self._watched, output_margin=True)
            .reshape(-1, self._shape[1])
            .astype(np.float32)
        )

    def first(self, rounds: int) -> Any:
        """The trees of the first rounds; None for none."""
        # An empty slice of a booster is the whole booster.
        return self.booster[:rounds] if rounds > 0 else None

    @staticmethod
    def corrected(trees: Any, features: Any, start: np.ndarray) -> np.ndarray:
        """Costs after the corrections of the trees."""
        import xgboost

        threads = threads_for(features.shape[0], None)
        table = xgboost.DMatrix(features, nthread=threads or None)
        table.set_base_margin(start)
        # The number of threads is a state of the booster: callers on several threads must not change it for each other.
        with PREDICTING:
            trees.set_param({"nthread": threads})
            found = trees.predict(table, output_margin=True)
        return found.reshape(start.shape).astype(np.float32)

    @staticmethod
    def to_bytes(trees: Any) -> bytes:
        """XGBoost's own JSON."""
        return bytes(trees.save_raw("json"))

    @staticmethod
    def from_bytes(content: bytes) -> Any:
        """Trees out of XGBoost's own JSON."""
        import xgboost

        booster = xgboost.Booster()
        booster.load_model(bytearray(content))
        return booster


class LightGBMTrees:
    """Trees of LightGBM on top of given costs; several outputs are classes to LightGBM."""

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
    # Row-wise histograms always: LightGBM would otherwise time both ways and take the faster one. Features too rare to split by stay:
    # LightGBM fails where it has dropped all of them.
    defaults: ClassVar[dict[str, Any]] = {
        "verbosity": -1,
        "deterministic": True,
        "force_row_wise": True,
        "feature_pre_filter": False,
        **LIGHTGBM_MSE,
    }

    def __init__(self, growing: Growing) -> None:
        import lightgbm

        columns = growing.start.shape[1]
        general = {
            **self.defaults,
            **growing.defaults,
            "num_threads": growing.threads,
            "seed": growing.seed,
        }
        settings = {
            **merged(general, growing.settings, self),
            "num_class": columns,
            "objective": "none",
        }
        self._threads = growing.threads
        self._derivatives = growing.derivatives
        self._shape = growing.start.shape
        start = growing.start.astype(float)
        # Labels of a custom objective are never read. One class takes a flat row of first costs.
        table = lightgbm.Dataset(
            growing.features,
            label=np.zeros(len(start)),
            init_score=start if columns > 1 else start.ravel(),
            params=settings,
        )
        # LightGBM fails where every feature is constant; then no tree can be split, which is an answer too.
        self._splits = not constant(growing.features)
        self.booster = lightgbm.Booster(settings, table) if self._splits else None
        self._watched: Any = None
        self._start: Any = None
        self._sum: Any = None
        self.rounds = 0

    def watch(self, features: Any, start: np.ndarray) -> None:
        """Rows whose predictions are asked for after each round."""
        self._watched, self._start = features, start
        self._sum = np.zeros(start.shape)

    def grow(self) -> bool:
        """One more round; False where the trees cannot grow any more."""

        def of_table(predictions: np.ndarray, _: Any) -> tuple[np.ndarray, np.ndarray]:
            gradient, second = self._derivatives(np.reshape(predictions, self._shape))
            return (gradient, second) if self._shape[1] > 1 else (gradient.ravel(), second.ravel())

        if not self._splits or self.booster.update(fobj=of_table):
            return False
        if self._watched is not None:
            added = self.booster.predict(
                self._watched,
                raw_score=True,
                start_iteration=self.rounds,
                num_iteration=1,
                num_threads=self._threads,
            )
            self._sum += np.reshape(added, self._sum.shape)
        self.rounds += 1
        return True

    def watched(self) -> np.ndarray:
        """Predicted costs of the watched rows."""
        return (self._start + self._sum).astype(np.float32)

    def first(self, rounds: int) -> Any:
        """The trees of the first rounds; None for none."""
        import lightgbm

        return (
            lightgbm.Booster(model_str=self.booster.model_to_string(num_iteration=rounds))
            if rounds > 0
            else None
        )

    @staticmethod
    def corrected(trees: Any, features: Any, start: np.ndarray) -> np.ndarray:
        """Costs after the corrections of the trees."""
        threads = threads_for(features.shape[0], None)
        corrections = trees.predict(features, raw_score=True, num_threads=threads)
        return (start + np.reshape(corrections, start.shape)).astype(np.float32)

    @staticmethod
    def to_bytes(trees: Any) -> bytes:
        """LightGBM's own text."""
        return trees.model_to_string().encode()

    @staticmethod
    def from_bytes(content: bytes) -> Any:
        """Trees out of LightGBM's own text."""
        import lightgbm

        return lightgbm.Booster(model_str=content.decode())


def constant(features: Any) -> bool:
    """Whether no feature differs between two rows."""
    if hasattr(features, "tocsr"):
        return not (features.max(axis=0) - features.min(axis=0)).nnz
    # A missing value beside a number is a difference as well.
    return bool(np.all((features == features[:1]) | (np.isnan(features) & np.isnan(features[:1]))))


LIBRARIES: dict[str, Any] = {"xgboost": XGBoostTrees, "lightgbm": LightGBMTrees}


def merged(general: dict[str, Any], given: dict[str, Any], library: Any) -> dict[str, Any]:
    """The user's settings over ours; where the user names a setting by an alias, ours gives way."""
    for name in given:
        if name in library.reserved:
            raise ValueError(f"'{name}' is set by the fine-tuning itself and cannot be given")
    kept = {
        name: value
        for name, value in general.items()
        if not library.aliases.get(name, set()) & set(given)
    }
    return {**kept, **given}
