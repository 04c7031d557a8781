"""Types of the compiled module, which takes arrays, texts and numbers.

The classes and functions of the package are above it, and document what is public.
"""

from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any, Literal, TypeAlias, final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Self, disjoint_base

from regretless.losses.custom import OwnLoss
from regretless.solving.options import SolveOptions

__all__ = [
    "CostSensitiveSpec",
    "Solution",
    "_BacktestSource",
    "_FeatureSettings",
    "_Labels",
    "_Loss",
    "_Model",
    "_NamedArray",
    "_Problem",
    "_Solutions",
    "_Solver",
    "__version__",
    "_check",
    "_check_loss",
    "_comparison_splits",
    "_costs_in_order",
    "_default_settings",
    "_epoch_remark",
    "_epoch_rows",
    "_evaluate",
    "_evaluate_model",
    "_generate",
    "_label",
    "_overlap_warning",
    "_present_costs",
    "_problem_of_model",
    "_register_loss",
    "_regret",
    "_rolling_folds",
    "_run_backtest",
    "_run_command_line",
    "_run_comparison",
    "_run_fit",
    "_set_loss_resolver",
    "_time_column",
    "_train",
    "_training_plan",
    "_unobserved_note",
]

__version__: str

_Path: TypeAlias = str | PathLike[str]
_Sense: TypeAlias = Literal["minimize", "maximize"]
# A table of numbers, or a row of them.
_Array: TypeAlias = NDArray[Any] | _NamedArray
# A table of numbers, or columns by name and kind.
_Features: TypeAlias = _Array | list[tuple[str, str, Any]]
# Arrays, or names of nodes, by the name of the parameter.
_Parameters: TypeAlias = list[tuple[str, Any]] | None
# A text, a number, numbers, or arrays of rows.
_Split: TypeAlias = str | float | Sequence[Any] | None
_Method: TypeAlias = str | OwnLoss | None
_Folds: TypeAlias = list[tuple[list[int], list[int]]]

@final
class _NamedArray:
    def __new__(cls, values: NDArray[Any], names: Sequence[str]) -> Self: ...
    def __len__(self) -> int: ...

@final
class _FeatureSettings:
    def __new__(
        cls,
        categories: Sequence[str],
        target_statistics: Sequence[str],
        dates: Sequence[str],
        holidays: Sequence[str],
        missing: str,
    ) -> Self: ...
    @property
    def is_default(self) -> bool: ...
    def text_columns(self, names: Sequence[str]) -> list[str]: ...

@disjoint_base
class _Problem:
    def __new__(cls, problem: _Problem) -> Self: ...
    @staticmethod
    def _of_benchmark(name: str, seed: int) -> _Problem: ...
    @staticmethod
    def _of_description(description: Any, costs: Any = None) -> _Problem: ...
    @staticmethod
    def _of_problem_file(path: _Path) -> _Problem: ...
    @staticmethod
    def _of_model_file(path: _Path, reading: Any) -> _Problem: ...
    @staticmethod
    def _linear_model_file(path: _Path, reading: Any) -> tuple[Any, list[float]] | None: ...
    @staticmethod
    def _of_arrays(
        A: Any,
        b: Any,
        sense: str,
        relations: str | Sequence[str] | None,
        lower: Any,
        upper: Any,
        integer: Any,
        costs: Any,
        known_costs: Any,
        names: Sequence[str | None] | None,
        name: str,
        b_columns: list[tuple[int, str]],
        lower_columns: list[tuple[int, str]],
        upper_columns: list[tuple[int, str]],
    ) -> _Problem: ...
    @staticmethod
    def _of_function(
        solve: Callable[..., Any],
        answer: Callable[..., Any],
        num_costs: int,
        sense: str,
        binary: bool,
        name: str | None,
        thread_safe: bool,
        cost_names: Sequence[str] | None,
        parameters: Sequence[str] | None,
        check: Callable[..., Any] | None,
        exact: bool,
    ) -> _Problem: ...
    @staticmethod
    def _kinds() -> list[dict[str, Any]]: ...
    @staticmethod
    def _sense_word(sense: str) -> _Sense: ...
    @property
    def sense(self) -> _Sense: ...
    @property
    def num_costs(self) -> int: ...
    @property
    def costs(self) -> NDArray[np.float64] | None: ...
    @property
    def cost_names(self) -> list[str] | None: ...
    @property
    def name(self) -> str: ...
    @property
    def parameters(self) -> list[str]: ...
    @property
    def _has_known_costs(self) -> bool: ...
    @property
    def _file_hash(self) -> str | None: ...
    @property
    def _file_content(self) -> bytes | None: ...
    @property
    def _function(self) -> dict[str, Any] | None: ...
    @property
    def _predicts_quantities(self) -> bool: ...
    @property
    def _node_parameters(self) -> list[str]: ...
    def to_dict(self) -> dict[str, Any]: ...
    def _with_known_part(self, known: Any) -> _Problem: ...
    def _solve(self, c: _Array, parameters: _Parameters, options: SolveOptions) -> Solution: ...
    def _decide_all(
        self, predictions: _Array, parameters: _Parameters, options: SolveOptions
    ) -> _Solutions: ...
    def _solve_all(
        self, C: _Array, parameters: _Parameters, options: SolveOptions
    ) -> _Solutions: ...
    def __copy__(self) -> Self: ...
    def __deepcopy__(self, _memo: Any) -> Self: ...

@final
class Solution:
    @property
    def decision(self) -> NDArray[np.float32]: ...
    @property
    def cost_names(self) -> list[str] | None: ...
    @property
    def objective(self) -> float: ...
    @property
    def bound(self) -> float: ...
    @property
    def status(self) -> str: ...
    @property
    def values(self) -> NDArray[np.float64]: ...
    @property
    def column_names(self) -> list[str]: ...

@disjoint_base
class _Solutions:
    def __new__(cls, solutions: _Solutions) -> Self: ...
    @property
    def cost_names(self) -> list[str] | None: ...
    @property
    def objectives(self) -> NDArray[np.float64]: ...
    @property
    def statuses(self) -> list[str]: ...
    @property
    def column_names(self) -> list[str]: ...
    def sparse(self) -> tuple[NDArray[np.float32], NDArray[np.int64], NDArray[np.int64]]: ...
    def _decision_array(self) -> NDArray[np.float32]: ...
    def _value_array(self) -> NDArray[np.float64]: ...
    def __len__(self) -> int: ...

@disjoint_base
class _Solver:
    def __new__(cls, problem: _Problem) -> Self: ...
    def _solve(self, c: _Array, parameters: _Parameters) -> tuple[NDArray[np.float32], float]: ...

@disjoint_base
class _Labels:
    def __new__(cls, labels: _Labels) -> Self: ...
    @staticmethod
    def _from_decisions(
        problem: _Problem, C: _Array, decisions: _Array, parameters: _Parameters
    ) -> _Labels: ...
    @property
    def cost_names(self) -> list[str] | None: ...
    @property
    def objectives(self) -> NDArray[np.float64]: ...
    @property
    def failed(self) -> dict[int, str]: ...
    @property
    def _column_names(self) -> list[str]: ...
    def _decision_array(self) -> NDArray[np.float32]: ...
    def _select(self, rows: Sequence[int]) -> _Labels: ...
    def __len__(self) -> int: ...

@disjoint_base
class _Loss:
    def __new__(
        cls,
        problem: _Problem,
        C: _Array,
        loss: str | OwnLoss,
        labels: _Labels | None,
        parameters: _Parameters,
        seed: int,
        threads: int | None,
        progress: bool,
        pool_from: _Loss | None,
        rescale_loss: bool,
    ) -> Self: ...
    @property
    def name(self) -> str: ...
    @property
    def problem(self) -> Any: ...
    @property
    def calls_solver(self) -> bool: ...
    @property
    def _is_scale_invariant(self) -> bool: ...
    def _add_labels_to_pool(self) -> None: ...
    def _counts(self) -> dict[str, int]: ...
    def _defer_labels(self) -> None: ...
    def _evaluate_predictions(
        self, predictions: _Array, rows: Sequence[int], leaves_out: bool, are_test_rows: bool
    ) -> dict[str, Any]: ...
    def _evaluate_rows(
        self,
        predictions: _Array,
        rows: NDArray[Any] | None,
        epoch: int,
        batch: int,
        training: bool,
    ) -> tuple[NDArray[np.float64], NDArray[np.floating]]: ...
    def _has_pending_labels(self) -> bool: ...
    def _label_counts(self) -> dict[str, Any]: ...
    def _labeled_rows(self) -> list[int]: ...
    def _pool_state(self) -> dict[str, Any] | None: ...
    def _raise_table_notes(
        self,
        features: _Features,
        names: list[str] | None,
        split: Sequence[Sequence[int]],
        times: list[str] | None,
    ) -> None: ...
    def _rescaling(self) -> float: ...
    def _set_pool_state(self, state: dict[str, Any] | None) -> None: ...
    def _start_pool(self, rows: Sequence[int]) -> None: ...
    def __len__(self) -> int: ...

@final
class CostSensitiveSpec:
    def __new__(cls, name: str) -> CostSensitiveSpec: ...
    @property
    def squared(self) -> bool: ...
    @property
    def one_sided(self) -> bool: ...
    @property
    def sensitivity_based(self) -> bool: ...
    @property
    def tau(self) -> list[float] | None: ...
    @property
    def scale_invariant(self) -> bool: ...
    @property
    def equality_invariant(self) -> bool: ...
    @property
    def weighting(self) -> Literal["C", "W", "IC", "EIC"] | None: ...
    @property
    def has_stage_settings(self) -> bool: ...
    @property
    def name(self) -> str: ...

@disjoint_base
class _Model:
    def __new__(cls, model: _Model) -> Self: ...
    @staticmethod
    def _load(path: _Path) -> _Model: ...
    @staticmethod
    def _from_bytes(bytes: bytes) -> _Model: ...
    @property
    def column_names(self) -> list[str]: ...
    @property
    def feature_names(self) -> list[str]: ...
    @property
    def cost_names(self) -> list[str]: ...
    @property
    def method(self) -> str: ...
    @property
    def seed(self) -> int: ...
    @property
    def predictor(self) -> str: ...
    @property
    def coefficients(self) -> NDArray[np.float64] | None: ...
    @property
    def intercepts(self) -> NDArray[np.float64] | None: ...
    @property
    def training(self) -> dict[str, Any] | None: ...
    @property
    def _has_encoding(self) -> bool: ...
    def save(self, path: _Path, *, force: bool = False) -> None: ...
    def to_bytes(self) -> bytes: ...
    def inspect(self) -> dict[str, Any]: ...
    def _text_columns(self, names: Sequence[str]) -> list[str]: ...
    def _problem(self, problem: _Problem | None = None) -> _Problem: ...
    def _predict(self, X: _Features) -> NDArray[np.float32]: ...
    def _decide(
        self,
        X: _Features,
        problem: _Problem,
        parameters: _Parameters,
        options: SolveOptions,
    ) -> _Solutions: ...
    def _explain(
        self,
        X: _Features,
        costs: _Array | None,
        alternatives: int | None,
        force: Sequence[str],
        forbid: Sequence[str],
        max_solves: int | None,
        problem: _Problem,
        parameters: _Parameters,
        options: SolveOptions,
    ) -> tuple[dict[str, Any], str]: ...
    def _permutation_importance(
        self,
        X: _Features,
        C: _Array,
        problem: _Problem,
        labels: _Labels | None,
        parameters: _Parameters,
        repeats: int,
        seed: int,
        options: SolveOptions,
    ) -> NDArray[np.float64]: ...

@final
class _BacktestSource:
    def draw(self) -> tuple[str, dict[str, str]]: ...

def _check(
    problem: _Problem,
    X: _Features,
    C: _Array,
    labels: _Labels | None,
    split: _Split,
    times: Sequence[str] | None,
    seed: int,
) -> list[dict[str, Any]]: ...
def _check_loss(problem: _Problem, loss: str | OwnLoss) -> None: ...
def _comparison_splits(
    rows: int, split: _Split, times: Sequence[str] | None, seeds: int, seed: int
) -> list[tuple[list[int], list[int], list[int]]]: ...
def _costs_in_order(problem: _Problem, C: _Array) -> NDArray[np.floating]: ...
def _default_settings() -> str: ...
def _epoch_remark(select: str, best: int, last: int) -> str | None: ...
def _epoch_rows(
    rows: Sequence[int], seed: int, epoch: int, rows_per_epoch: int | None
) -> list[int]: ...
def _evaluate(
    problem: _Problem,
    predictions: _Array,
    C: _Array,
    labels: _Labels | None,
    parameters: _Parameters,
    options: SolveOptions,
    leaves_out: bool = False,
) -> dict[str, Any]: ...
def _evaluate_model(
    problem: _Problem,
    model: _Model,
    X: _Features,
    C: _Array,
    labels: _Labels | None,
    parameters: _Parameters,
    options: SolveOptions,
) -> dict[str, Any]: ...
def _generate(
    benchmark: str, instances: int, seed: int, degree: int, noise: float, features: int
) -> tuple[NDArray[np.float32], NDArray[np.float32]]: ...
def _label(
    problem: _Problem,
    C: _Array,
    store: _Path | None,
    shard: str | None,
    parameters: _Parameters,
    options: SolveOptions,
) -> _Labels | int: ...
def _overlap_warning(rows: int, compared: int, seen: int) -> str | None: ...
def _present_costs(
    problem: _Problem, C: _Array, parameters: _Parameters
) -> NDArray[np.bool_] | None: ...
def _problem_of_model(
    description: str, file_hash: str | None, folder: _Path, file_content: bytes | None
) -> _Problem: ...
def _register_loss(own: OwnLoss) -> None: ...
def _regret(
    problem: _Problem,
    predictions: _Array,
    C: _Array,
    labels: _Labels | None,
    parameters: _Parameters,
    options: SolveOptions,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]: ...
def _rolling_folds(times: Sequence[str], plan: str) -> _Folds: ...
def _run_backtest(
    problem: _Problem,
    X: _Features,
    C: _Array,
    times: Sequence[str],
    methods: Sequence[_Method] | None,
    plan: str,
    folds: _Folds | None,
    predictions: Sequence[tuple[str, _Array]],
    decisions: tuple[str, _Array] | None,
    labels: _Labels | None,
    parameters: _Parameters,
    settings: dict[str, Any] | None,
    options: SolveOptions,
    shard: str | None = None,
) -> dict[str, Any] | None: ...
def _run_command_line(arguments: Sequence[str]) -> int: ...
def _run_comparison(
    problem: _Problem,
    X: _Features,
    C: _Array,
    methods: Sequence[_Method] | None,
    plan: str,
    split: _Split,
    times: Sequence[str] | None,
    seeds: int,
    folds: Sequence[Sequence[NDArray[Any]]] | None,
    predictions: Sequence[tuple[str, Sequence[_Array]]],
    labels: _Labels | None,
    parameters: _Parameters,
    settings: dict[str, Any] | None,
    options: SolveOptions,
) -> dict[str, Any]: ...
def _run_fit(
    problem: _Problem, method: _Method | None, call: str, options: SolveOptions
) -> dict[str, Any]: ...
def _set_loss_resolver(resolve: Callable[[str], OwnLoss]) -> None: ...
def _time_column(split: str) -> str | None: ...
def _train(
    problem: _Problem, table: Any, training: Any, options: SolveOptions
) -> tuple[_Model, dict[str, Any]]: ...
def _training_plan(
    rows: int,
    method: _Method,
    split: _Split,
    times: Sequence[str] | None,
    seed: int,
    profile: str,
    settings: dict[str, Any] | None,
) -> dict[str, Any]: ...
def _unobserved_note(names: Sequence[str], costs: Sequence[int]) -> str | None: ...
