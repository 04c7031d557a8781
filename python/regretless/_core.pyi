"""Types of the compiled module; its docstrings are the documentation."""

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any, Literal, TypeAlias, final, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from regretless.losses.custom import OwnLoss
from regretless.results.explanation import Explanation
from regretless.results.reports import Evaluation, TrainingReport

__all__ = [
    "CostSensitiveSpec",
    "Labels",
    "Loss",
    "Model",
    "Problem",
    "Solution",
    "Solutions",
    "Solver",
    "__version__",
    "_BacktestSource",
    "_check_loss",
    "_column_names",
    "_comparison_splits",
    "_costs_in_order",
    "_default_settings",
    "_problem_of_model",
    "_epoch_remark",
    "_epoch_rows",
    "_few_rows_warning",
    "_overlap_warning",
    "_register_loss",
    "_run_command_line",
    "_training_plan",
    "_rolling_folds",
    "_run_backtest",
    "_run_comparison",
    "check",
    "evaluate",
    "generate",
    "label",
    "regret",
    "train",
]

__version__: str

_Path: TypeAlias = str | PathLike[str]
_Sense: TypeAlias = Literal["minimize", "maximize"]
_Split: TypeAlias = str | float | Sequence[Any]
# Anything that numpy converts, or a DataFrame of pandas or polars.
_Table: TypeAlias = ArrayLike | Any
# Arrays by name, a DataFrame, or names of columns of the features.
_Parameters: TypeAlias = Mapping[str, ArrayLike] | Sequence[str] | Any
# An array, or a DataFrame where the input is one.
_FloatTable: TypeAlias = NDArray[np.float32] | Any

@final
class Problem:
    def __new__(
        cls, description: str | PathLike[str] | dict[str, Any], *, seed: int = 0
    ) -> Problem: ...
    @classmethod
    def from_file(
        cls,
        path: _Path,
        *,
        costs: str | Sequence[str] | None = None,
        sense: _Sense | None = None,
        file_format: Literal["tsplib", "knapsack", "linear"] | None = None,
        problem_number: int = 1,
        vehicles: int | None = None,
        single_customer_routes: bool | None = None,
        rhs: Mapping[str, Any] | None = None,
        row_lower: Mapping[str, Any] | None = None,
        row_upper: Mapping[str, Any] | None = None,
        lower: Mapping[str, Any] | None = None,
        upper: Mapping[str, Any] | None = None,
        fixed: Mapping[str, Any] | None = None,
        coefficients: Mapping[str, Mapping[str, Any]] | None = None,
        present: Mapping[str, Any] | None = None,
    ) -> Problem: ...
    @classmethod
    def knapsack(
        cls,
        weights: Any,
        capacity: Any,
        *,
        items: int | Sequence[str] | None = None,
        present: Any = None,
    ) -> Problem: ...
    @classmethod
    def top_k(
        cls,
        items: int,
        k: Any,
        *,
        sense: _Sense = "minimize",
        at_most: bool = False,
        present: Any = None,
    ) -> Problem: ...
    @classmethod
    def grid_path(
        cls,
        rows: int,
        cols: int,
        *,
        source: Any = None,
        target: Any = None,
        present: Any = None,
    ) -> Problem: ...
    @classmethod
    def assignment(
        cls,
        agents: int | Sequence[str],
        tasks: int | Sequence[str],
        *,
        sense: _Sense = "minimize",
        forbidden: Sequence[tuple[Any, Any]] | None = None,
        present: Any = None,
    ) -> Problem: ...
    @classmethod
    def multiple_choice_knapsack(
        cls,
        weights: Any,
        capacity: Any,
        *,
        optional: bool = False,
        sense: _Sense = "maximize",
        groups: Sequence[int] | None = None,
        present: Any = None,
    ) -> Problem: ...
    @classmethod
    def min_cost_flow(
        cls,
        arcs: Any,
        supply: Any,
        *,
        capacity: Any = None,
        lower: Any = None,
        sense: _Sense = "minimize",
        present: Any = None,
    ) -> Problem: ...
    @classmethod
    def transport(
        cls,
        supply: Any,
        demand: Any,
        *,
        capacity: Any = None,
        sources: int | Sequence[str] | None = None,
        destinations: int | Sequence[str] | None = None,
        sense: _Sense = "minimize",
        present: Any = None,
    ) -> Problem: ...
    @classmethod
    def graph_path(
        cls,
        arcs: Any = None,
        *,
        source: Any = None,
        target: Any = None,
        grid: Any = None,
        neighbors: int | None = None,
        present: Any = None,
    ) -> Problem: ...
    @classmethod
    def spanning_tree(
        cls,
        edges: Any = None,
        *,
        nodes: int | None = None,
        sense: Literal["minimize", "maximize"] = "minimize",
        present: Any = None,
    ) -> Problem: ...
    @classmethod
    def storage(
        cls,
        steps: int,
        *,
        capacity: Any,
        charge_limit: Any,
        discharge_limit: Any,
        charge_efficiency: Any = None,
        discharge_efficiency: Any = None,
        initial: Any = None,
        final_min: Any = None,
        min_level: Any = None,
        inflow: Any = None,
    ) -> Problem: ...
    @classmethod
    def tsp(cls, nodes: int, *, present: Any = None) -> Problem: ...
    @classmethod
    def cvrp(
        cls,
        demands: Any,
        capacity: Any,
        vehicles: Any,
        *,
        single_customer_routes: bool = True,
        customers: int | None = None,
        present: Any = None,
    ) -> Problem: ...
    @classmethod
    def from_arrays(
        cls,
        A: Any,
        b: ArrayLike,
        *,
        sense: _Sense,
        relations: str | Sequence[str] | None = None,
        lower: ArrayLike | None = None,
        upper: ArrayLike | None = None,
        integer: bool | ArrayLike | None = None,
        costs: Sequence[int] | None = None,
        known_costs: ArrayLike | None = None,
        names: Sequence[str | None] | None = None,
        name: str = "arrays",
    ) -> Problem: ...
    @classmethod
    def from_solver(
        cls,
        solve: Callable[..., ArrayLike | tuple[ArrayLike, float] | None],
        num_costs: int,
        *,
        sense: _Sense,
        binary: bool = True,
        name: str | None = None,
        thread_safe: bool = False,
        cost_names: Sequence[str] | None = None,
        parameters: Sequence[str] | None = None,
        check: Callable[..., Any] | None = None,
        exact: bool = True,
    ) -> Problem: ...
    @classmethod
    def from_cpmpy(cls, model: Any, costs: Any = None) -> Problem: ...
    @classmethod
    def from_cvxpy(cls, model: Any, costs: Any = None) -> Problem: ...
    @classmethod
    def from_gurobipy(cls, model: Any, costs: Any = None) -> Problem: ...
    @classmethod
    def from_highspy(cls, model: Any, costs: Any = None) -> Problem: ...
    @classmethod
    def from_linopy(cls, model: Any, costs: Any = None) -> Problem: ...
    @classmethod
    def from_ortools(cls, model: Any, costs: Any = None) -> Problem: ...
    @classmethod
    def from_pulp(cls, model: Any, costs: Any = None) -> Problem: ...
    @classmethod
    def from_pyomo(cls, model: Any, costs: Any = None) -> Problem: ...
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
    def to_dict(self) -> dict[str, Any]: ...
    def with_known(self, known: Any) -> Problem: ...
    def __copy__(self) -> Problem: ...
    def __deepcopy__(self, _memo: Any) -> Problem: ...
    def solve(
        self,
        c: ArrayLike,
        *,
        parameters: Mapping[str, ArrayLike] | Any = None,
        heuristic: str | None = None,
        gap: float | None = None,
        nodes: int | None = None,
        seconds: float | None = None,
    ) -> Solution: ...
    def solve_all(
        self,
        C: _Table,
        *,
        parameters: _Parameters = None,
        threads: int | None = None,
        progress: bool = False,
        heuristic: str | None = None,
        gap: float | None = None,
        nodes: int | None = None,
        seconds: float | None = None,
    ) -> Solutions: ...

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

@final
class Solutions:
    @property
    def decisions(self) -> _FloatTable: ...
    @property
    def cost_names(self) -> list[str] | None: ...
    @property
    def objectives(self) -> NDArray[np.float64]: ...
    @property
    def statuses(self) -> list[str]: ...
    @property
    def column_names(self) -> list[str]: ...
    @property
    def values(self) -> NDArray[np.float64] | Any: ...
    def to_frame(self, *, sparse: bool = False) -> Any: ...
    def sparse(self) -> tuple[NDArray[np.float32], NDArray[np.int64], NDArray[np.int64]]: ...
    def __len__(self) -> int: ...

@final
class Solver:
    def __new__(cls, problem: Problem) -> Solver: ...
    def solve(
        self, c: ArrayLike, *, parameters: _Parameters = None
    ) -> tuple[NDArray[np.float32], float]: ...

@final
class Labels:
    @staticmethod
    def from_decisions(
        problem: Problem, C: _Table, decisions: _Table, *, parameters: _Parameters = None
    ) -> Labels: ...
    @property
    def decisions(self) -> _FloatTable: ...
    @property
    def cost_names(self) -> list[str] | None: ...
    @property
    def objectives(self) -> NDArray[np.float64]: ...
    @property
    def failed(self) -> dict[int, str]: ...
    def __getitem__(self, rows: slice | ArrayLike, /) -> Labels: ...
    def __len__(self) -> int: ...

@final
class Loss:
    def __new__(
        cls,
        problem: Problem,
        C: _Table,
        loss: str | OwnLoss,
        *,
        labels: Labels | None = None,
        parameters: _Parameters = None,
        seed: int = 0,
        threads: int | None = None,
        progress: bool = False,
        pool_from: Loss | None = None,
        rescale_loss: bool = False,
    ) -> Loss: ...
    def evaluate(
        self,
        predictions: _Table,
        rows: Sequence[int] | NDArray[np.integer] | None = None,
        *,
        epoch: int = 0,
        batch: int = 0,
        training: bool = False,
    ) -> tuple[NDArray[np.float64], NDArray[np.floating]]: ...
    @property
    def name(self) -> str: ...
    @property
    def problem(self) -> Problem: ...
    @property
    def calls_solver(self) -> bool: ...
    @property
    def _is_scale_invariant(self) -> bool: ...
    def _add_labels_to_pool(self) -> None: ...
    def _counts(self) -> dict[str, int]: ...
    def _defer_labels(self) -> None: ...
    def _evaluate_decisions(self, predictions: _Table, rows: Sequence[int]) -> dict[str, Any]: ...
    def _has_pending_labels(self) -> bool: ...
    def _label_counts(self) -> dict[str, Any]: ...
    def _labeled_rows(self) -> list[int]: ...
    def _pool_state(self) -> dict[str, Any] | None: ...
    def _raise_notes(
        self, features: _Table, names: list[str] | None, split: Sequence[Sequence[int]]
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

@final
class Model:
    def predict(self, X: _Table) -> _FloatTable: ...
    def decide(
        self,
        X: _Table,
        *,
        problem: Problem | None = None,
        parameters: _Parameters = None,
        threads: int | None = None,
        progress: bool = False,
        heuristic: str | None = None,
        gap: float | None = None,
        nodes: int | None = None,
        seconds: float | None = None,
    ) -> Solutions: ...
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
        parameters: _Parameters = None,
        threads: int | None = None,
        heuristic: str | None = None,
        gap: float | None = None,
        nodes: int | None = None,
        seconds: float | None = None,
    ) -> Explanation: ...
    def evaluate(
        self,
        X: _Table,
        C: _Table,
        *,
        problem: Problem | None = None,
        labels: Labels | None = None,
        parameters: _Parameters = None,
        threads: int | None = None,
        progress: bool = False,
        heuristic: str | None = None,
        gap: float | None = None,
        nodes: int | None = None,
        seconds: float | None = None,
    ) -> Evaluation: ...
    def save(self, path: _Path, *, force: bool = False) -> None: ...
    @classmethod
    def load(cls, path: _Path) -> Model: ...
    def to_bytes(self) -> bytes: ...
    @classmethod
    def from_bytes(cls, bytes: bytes) -> Model: ...
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
    def problem(self) -> Problem: ...
    @property
    def predictor(self) -> str: ...
    @property
    def coefficients(self) -> NDArray[np.float64] | None: ...
    @property
    def intercepts(self) -> NDArray[np.float64] | None: ...
    @property
    def training(self) -> dict[str, Any] | None: ...
    def inspect(self) -> dict[str, Any]: ...
    def permutation_importance(
        self,
        X: _Table,
        C: _Table,
        *,
        problem: Problem | None = None,
        labels: Labels | None = None,
        parameters: _Parameters = None,
        repeats: int = 5,
        seed: int = 0,
        threads: int | None = None,
        progress: bool = False,
        heuristic: str | None = None,
        gap: float | None = None,
        nodes: int | None = None,
        seconds: float | None = None,
    ) -> Any: ...

def _run_command_line(arguments: Sequence[str]) -> int: ...
def _default_settings() -> str: ...
def _problem_of_model(
    description: str, file_hash: str | None, folder: _Path, file_content: bytes | None
) -> Problem: ...
def _check_loss(problem: Problem, loss: str | OwnLoss) -> None: ...
def _register_loss(own: OwnLoss) -> None: ...
def _epoch_remark(select: str, best: int, last: int) -> str | None: ...
def _few_rows_warning(rows: int) -> str | None: ...
def _epoch_rows(
    rows: Sequence[int], seed: int, epoch: int, rows_per_epoch: int | None
) -> list[int]: ...
def _overlap_warning(rows: int, compared: int, seen: int) -> str | None: ...
def _training_plan(
    X: _Table,
    C: _Table,
    method: str | OwnLoss | None,
    split: _Split | None,
    seed: int,
    profile: str,
    settings: dict[str, Any] | None,
) -> dict[str, Any]: ...
def _column_names(table: Any) -> list[str] | None: ...
def _costs_in_order(problem: Problem, C: Any) -> NDArray[np.floating]: ...
def generate(
    benchmark: str,
    instances: int = 2000,
    *,
    seed: int = 0,
    degree: int = 6,
    noise: float = 0.5,
    features: int = 5,
) -> tuple[NDArray[np.float32], NDArray[np.float32]]: ...
def check(
    problem: Problem,
    X: _Table,
    C: _Table,
    *,
    labels: Labels | None = None,
    split: _Split | None = None,
    seed: int = 0,
) -> list[dict[str, Any]]: ...
@overload
def label(
    problem: Problem,
    C: _Table,
    *,
    store: _Path | None = None,
    shard: None = None,
    parameters: _Parameters = None,
    threads: int | None = None,
    progress: bool = False,
    heuristic: str | None = None,
    gap: float | None = None,
    nodes: int | None = None,
    seconds: float | None = None,
) -> Labels: ...
@overload
def label(
    problem: Problem,
    C: _Table,
    *,
    store: _Path,
    shard: str | tuple[int, int],
    parameters: _Parameters = None,
    threads: int | None = None,
    progress: bool = False,
    heuristic: str | None = None,
    gap: float | None = None,
    nodes: int | None = None,
    seconds: float | None = None,
) -> int: ...
def _comparison_splits(
    X: _Table, C: _Table, split: Any, seeds: int, seed: int
) -> list[tuple[list[int], list[int], list[int]]]: ...
def _run_comparison(
    problem: Problem,
    X: _Table,
    C: _Table,
    methods: Sequence[str | OwnLoss] | None,
    plan: str,
    split: Any,
    seeds: int,
    folds: Sequence[Sequence[Any]] | None,
    predictions: Sequence[tuple[str, Sequence[Any]]],
    labels: Labels | None,
    parameters: Any,
    settings: dict[str, Any] | None,
) -> dict[str, Any]: ...

@final
class _BacktestSource:
    def draw(self) -> tuple[str, dict[str, str]]: ...

def _rolling_folds(times: Sequence[str], plan: str) -> list[tuple[list[int], list[int]]]: ...
def _run_backtest(
    problem: Problem,
    X: _Table,
    C: _Table,
    times: Sequence[str],
    methods: Sequence[str | OwnLoss],
    plan: str,
    folds: Sequence[tuple[Sequence[int], Sequence[int]]] | None,
    predictions: Sequence[tuple[str, Any]],
    decisions: tuple[str, Any] | None,
    labels: Labels | None,
    parameters: Any,
    settings: dict[str, Any] | None,
    shard: str | None = None,
) -> dict[str, Any] | None: ...
def train(
    problem: Problem,
    X: _Table,
    C: _Table,
    method: str | OwnLoss | None = None,
    *,
    labels: Labels | None = None,
    parameters: _Parameters = None,
    weights: ArrayLike | None = None,
    split: _Split | None = None,
    predictor: str | Any | None = None,
    candidates: Sequence[Any] | None = None,
    init_model: Model | None = None,
    seed: int = 0,
    profile: Literal["default", "paper"] = "default",
    feature_names: Sequence[str] | None = None,
    cost_names: Sequence[str] | None = None,
    categories: str | Sequence[str] | None = None,
    target_statistics: str | Sequence[str] | None = None,
    dates: str | Sequence[str] | None = None,
    holidays: Any = None,
    missing: Literal["impute", "error"] = "impute",
    checkpoint: _Path | None = None,
    threads: int | None = None,
    progress: bool = False,
    heuristic: str | None = None,
    gap: float | None = None,
    nodes: int | None = None,
    seconds: float | None = None,
    epochs: int = 50,
    rows_per_epoch: int | None = None,
    batch_size: int = 32,
    learning_rate: float = 0.005,
    lr_decay: bool = False,
    optimizer: str = "adam",
    select: Literal[
        "validation-regret", "validation-loss", "training-loss", "last"
    ] = "validation-regret",
    train_on_validation: bool = False,
    patience: int | None = None,
    patience_seconds: float | None = None,
    time_limit: float | None = None,
    standardize: bool = True,
    scale_costs: bool = True,
    rescale_loss: bool = True,
    retrain_from_baseline: bool | None = None,
    clip_instance_costs: bool = True,
    then_learning_rate: float | None = None,
    then_epochs: int | None = None,
    fused: bool = True,
) -> tuple[Model, TrainingReport]: ...
def evaluate(
    problem: Problem,
    predictions: _Table | Model,
    X: _Table | None = None,
    C: _Table | None = None,
    *,
    labels: Labels | None = None,
    parameters: _Parameters = None,
    threads: int | None = None,
    progress: bool = False,
    heuristic: str | None = None,
    gap: float | None = None,
    nodes: int | None = None,
    seconds: float | None = None,
) -> Evaluation: ...
def regret(
    problem: Problem,
    predictions: _Table,
    C: _Table,
    *,
    labels: Labels | None = None,
    parameters: _Parameters = None,
    threads: int | None = None,
    progress: bool = False,
    heuristic: str | None = None,
    gap: float | None = None,
    nodes: int | None = None,
    seconds: float | None = None,
) -> NDArray[np.float64] | Any: ...
