"""Types of the compiled part; the documentation is in its docstrings."""

from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any, Literal, TypeAlias, TypedDict, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

__version__: str

_Path: TypeAlias = str | PathLike[str]
_Sense: TypeAlias = Literal["minimize", "maximize"]
_Split: TypeAlias = str | float | Sequence[float] | Sequence[ArrayLike]

class Problem:
    def __init__(
        self, description: str | PathLike[str] | dict[str, Any], *, seed: int = 0
    ) -> None: ...
    @classmethod
    def from_file(
        cls,
        path: _Path,
        *,
        costs: str | Sequence[str] | None = None,
        sense: _Sense | None = None,
        kind: Literal["tsplib", "knapsack", "linear"] | None = None,
        number: int = 1,
        vehicles: int | None = None,
        single_customer_routes: bool | None = None,
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
    def from_callable(
        cls,
        solve: Callable[[NDArray[np.float64]], ArrayLike | tuple[ArrayLike, float] | None],
        num_costs: int,
        *,
        sense: _Sense,
        binary: bool = True,
        name: str | None = None,
        thread_safe: bool = False,
        cost_names: Sequence[str] | None = None,
    ) -> Problem: ...
    @staticmethod
    def from_gurobipy(model: Any, costs: Any = None) -> Problem: ...
    @staticmethod
    def from_highspy(model: Any, costs: Any = None) -> Problem: ...
    @staticmethod
    def from_ortools(model: Any, costs: Any = None) -> Problem: ...
    @staticmethod
    def from_pyomo(model: Any, costs: Any = None) -> Problem: ...
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
    def _file_hash(self) -> str | None: ...
    def to_dict(self) -> dict[str, Any]: ...
    def solve(self, cost: ArrayLike, *, decide_by: str | None = None) -> Solution: ...
    def solve_all(
        self,
        costs: ArrayLike,
        *,
        threads: int | None = None,
        progress: bool = False,
        decide_by: str | None = None,
    ) -> Solutions: ...

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

class Solutions:
    @property
    def decisions(self) -> NDArray[np.float32]: ...
    @property
    def cost_names(self) -> list[str] | None: ...
    @property
    def objectives(self) -> NDArray[np.float64]: ...
    @property
    def statuses(self) -> list[str]: ...
    def sparse(self) -> tuple[NDArray[np.float32], NDArray[np.int64], NDArray[np.int64]]: ...
    def __len__(self) -> int: ...

class Solver:
    def __init__(self, problem: Problem) -> None: ...
    def solve(self, cost: ArrayLike) -> tuple[NDArray[np.float32], float]: ...

class Labels:
    @staticmethod
    def known(problem: Problem, C: ArrayLike, decisions: ArrayLike) -> Labels: ...
    @property
    def decisions(self) -> NDArray[np.float32]: ...
    @property
    def cost_names(self) -> list[str] | None: ...
    @property
    def objectives(self) -> NDArray[np.float64]: ...
    @property
    def failed(self) -> dict[int, str]: ...
    def __len__(self) -> int: ...

class Loss:
    def __init__(
        self,
        loss: str,
        problem: Problem,
        C: ArrayLike,
        *,
        labels: Labels | None = None,
        seed: int = 0,
        threads: int | None = None,
        progress: bool = False,
        share_pool: Loss | None = None,
    ) -> None: ...
    def evaluate(
        self,
        predictions: ArrayLike,
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
    def solves(self) -> bool: ...
    def __len__(self) -> int: ...

class Model:
    def predict(self, X: ArrayLike) -> NDArray[np.float32]: ...
    def decide(
        self,
        X: ArrayLike,
        problem: Problem | None = None,
        *,
        threads: int | None = None,
        progress: bool = False,
        decide_by: str | None = None,
    ) -> Solutions: ...
    def save(self, path: _Path, *, force: bool = False) -> None: ...
    @classmethod
    def load(cls, path: _Path) -> Model: ...
    def to_bytes(self) -> bytes: ...
    @classmethod
    def from_bytes(cls, bytes: bytes) -> Model: ...
    @property
    def feature_names(self) -> list[str]: ...
    @property
    def cost_names(self) -> list[str]: ...
    @property
    def loss(self) -> str: ...
    @property
    def seed(self) -> int: ...

def _problem_of_model(description: str, file_hash: str | None, folder: _Path) -> Problem: ...
def _column_names(table: Any) -> list[str] | None: ...
def _costs_in_order(problem: Problem, costs: Any) -> NDArray[np.floating]: ...

class _Evaluation(TypedDict):
    instances: int
    regret: float
    normalized_regret: float
    relative_regret: float
    mse: float
    mae: float
    optimal_fraction: float

def generate(
    benchmark: str,
    rows: int = 2000,
    *,
    seed: int = 0,
    degree: int = 6,
    noise: float = 0.5,
    features: int = 5,
) -> tuple[NDArray[np.float32], NDArray[np.float32]]: ...
@overload
def label(
    problem: Problem,
    C: ArrayLike,
    *,
    store: _Path | None = None,
    shard: None = None,
    threads: int | None = None,
    progress: bool = False,
    decide_by: str | None = None,
) -> Labels: ...
@overload
def label(
    problem: Problem,
    C: ArrayLike,
    *,
    store: _Path,
    shard: str | tuple[int, int],
    threads: int | None = None,
    progress: bool = False,
    decide_by: str | None = None,
) -> int: ...
def train(
    problem: Problem,
    X: ArrayLike,
    C: ArrayLike,
    loss: str | None = None,
    *,
    labels: Labels | None = None,
    split: _Split | None = None,
    predictor: str = "linear",
    start: Model | None = None,
    seed: int = 0,
    profile: Literal["default", "paper"] = "default",
    feature_names: Sequence[str] | None = None,
    cost_names: Sequence[str] | None = None,
    checkpoint: _Path | None = None,
    threads: int | None = None,
    progress: bool = False,
    decide_by: str | None = None,
    epochs: int = 50,
    epoch_rows: int | None = None,
    batch: int = 32,
    learning_rate: float = 0.005,
    decay: bool = False,
    optimizer: str = "adam",
    select: Literal[
        "validation-regret", "validation-loss", "training-loss", "last"
    ] = "validation-regret",
    join_validation: bool = False,
    patience: int | None = None,
    patience_seconds: float | None = None,
    time_limit: float | None = None,
    standardize: bool = True,
    output_map: bool = True,
    rescale: bool = True,
    warm_start: bool | None = None,
    clip_costs: bool = True,
    then_learning_rate: float | None = None,
    then_epochs: int | None = None,
    fused: bool = True,
) -> tuple[Model, dict[str, Any]]: ...
def evaluate(
    problem: Problem,
    predictions: ArrayLike | Model,
    X: ArrayLike | None = None,
    C: ArrayLike | None = None,
    *,
    labels: Labels | None = None,
    threads: int | None = None,
    progress: bool = False,
    decide_by: str | None = None,
) -> _Evaluation: ...
def regret(
    problem: Problem,
    predictions: ArrayLike,
    C: ArrayLike,
    *,
    labels: Labels | None = None,
    threads: int | None = None,
    progress: bool = False,
    decide_by: str | None = None,
) -> NDArray[np.float64]: ...
