# Written by scripts/kind-stubs.
from collections.abc import Callable, Sequence
from typing import Any, Literal

from typing_extensions import Self

Sense = Literal["minimize", "maximize"]

DOCSTRING_WIDTH: int
FORMS: dict[str, Callable[[Any], Any]]
DEFAULTS: dict[str, Any]

def truth_value(value: Any) -> bool: ...
def true_or_none(value: Any) -> bool | None: ...
def arguments_of(field: dict[str, Any]) -> list[str]: ...
def constructed_kinds() -> list[dict[str, Any]]: ...
def add_constructors(cls: type) -> None: ...

class KindConstructors:
    @classmethod
    def knapsack(
        cls,
        weights: Any,
        capacity: Any,
        *,
        items: int | Sequence[str] | None = None,
        present: Any = None,
    ) -> Self: ...
    @classmethod
    def grid_path(
        cls,
        rows: int,
        cols: int,
        *,
        source: Any = None,
        target: Any = None,
        present: Any = None,
    ) -> Self: ...
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
    ) -> Self: ...
    @classmethod
    def spanning_tree(
        cls,
        edges: Any = None,
        *,
        nodes: int | None = None,
        sense: Sense = "minimize",
        present: Any = None,
    ) -> Self: ...
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
    ) -> Self: ...
    @classmethod
    def top_k(
        cls,
        items: int,
        k: Any,
        *,
        sense: Sense = "minimize",
        at_most: bool = False,
        present: Any = None,
    ) -> Self: ...
    @classmethod
    def assignment(
        cls,
        agents: int | Sequence[str],
        tasks: int | Sequence[str],
        *,
        sense: Sense = "minimize",
        forbidden: Sequence[tuple[Any, Any]] | None = None,
        present: Any = None,
    ) -> Self: ...
    @classmethod
    def multiple_choice_knapsack(
        cls,
        weights: Any,
        capacity: Any,
        *,
        optional: bool = False,
        sense: Sense = "maximize",
        groups: Sequence[int] | None = None,
        present: Any = None,
    ) -> Self: ...
    @classmethod
    def newsvendor(
        cls,
        under_cost: Any,
        over_cost: Any,
        *,
        weights: Any = None,
        capacity: Any = None,
        items: int | Sequence[str] | None = None,
    ) -> Self: ...
    @classmethod
    def min_cost_flow(
        cls,
        arcs: Any,
        supply: Any,
        *,
        capacity: Any = None,
        lower: Any = None,
        sense: Sense = "minimize",
        present: Any = None,
    ) -> Self: ...
    @classmethod
    def transport(
        cls,
        supply: Any,
        demand: Any,
        *,
        capacity: Any = None,
        sources: int | Sequence[str] | None = None,
        destinations: int | Sequence[str] | None = None,
        sense: Sense = "minimize",
        present: Any = None,
    ) -> Self: ...
    @classmethod
    def tsp(cls, nodes: int, *, present: Any = None) -> Self: ...
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
    ) -> Self: ...
