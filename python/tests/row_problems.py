"""Problems that differ per row, and for each row the same problem built by hand."""

import numpy as np

import regretless as rl

ROWS = 60
RNG = np.random.default_rng(7)
X = RNG.normal(size=(ROWS, 4)).astype(np.float32)
WEIGHTS = RNG.integers(1, 9, size=8).astype(float)

MODEL = """\
Minimize
 cost: x_a + x_b + x_c
Subject To
 north: x_a + x_b >= 4
 south: x_b + x_c >= 3
Bounds
 x_a <= 9
 x_b <= 9
 x_c <= 9
End
"""


def costs_of(width, low=1.0, high=10.0):
    return np.random.default_rng(width).uniform(low, high, size=(ROWS, width))


def chosen_cheapest(costs, parameters):
    return np.argsort(np.argsort(costs, kind="stable"), kind="stable") < parameters["needed"]


class Case:
    """A problem with parameters per row, and the problem of a row built by hand."""

    def __init__(self, problem, parameters, row_problem, costs):
        self.problem, self.parameters = problem, parameters
        self.row_problem, self.costs = row_problem, costs

    def by_hand(self, row):
        values = {
            name: entries[row] if entries.ndim > 1 else float(entries[row])
            for name, entries in self.parameters.items()
        }
        return self.row_problem(**values)


def knapsack_capacity(_folder):
    return Case(
        rl.Problem.knapsack(WEIGHTS, rl.column("cap")),
        {"cap": RNG.integers(5, 30, size=ROWS).astype(float)},
        lambda cap: rl.Problem.knapsack(WEIGHTS, cap),
        costs_of(8),
    )


def knapsack_weights(_folder):
    return Case(
        rl.Problem.knapsack(rl.columns("w"), 12.0, items=5),
        {"w": RNG.integers(1, 9, size=(ROWS, 5)).astype(float)},
        lambda w: rl.Problem.knapsack(w, 12.0),
        costs_of(5),
    )


def top_k(_folder):
    return Case(
        rl.Problem.top_k(6, rl.column("k")),
        {"k": RNG.integers(1, 6, size=ROWS).astype(float)},
        lambda k: rl.Problem.top_k(6, int(k)),
        costs_of(6),
    )


def grid_ends(_folder):
    sources, targets = RNG.integers(0, 4, size=ROWS), RNG.integers(11, 16, size=ROWS)
    sources, targets = 4 * (sources // 2) + sources % 2, np.where(targets < 14, 15, targets)
    return Case(
        rl.Problem.grid_path(4, 4, source=rl.column("from"), target=rl.column("to")),
        {"from": sources.astype(float), "to": targets.astype(float)},
        lambda **ends: rl.Problem.grid_path(4, 4, source=int(ends["from"]), target=int(ends["to"])),
        costs_of(24),
    )


def present_items(_folder):
    offered = (RNG.uniform(size=(ROWS, 7)) < 0.7).astype(float)
    offered[:, :2] = 1.0
    return Case(
        rl.Problem.top_k(7, 2, sense="maximize", present=rl.columns("offered")),
        {"offered": offered},
        lambda offered: rl.Problem.top_k(7, 2, sense="maximize", present=offered),
        costs_of(7),
    )


def assigned_pairs(_folder):
    allowed = (RNG.uniform(size=(ROWS, 12)) < 0.7).astype(float)
    # Agent i may always do task i.
    allowed[:, [0, 5, 10]] = 1.0
    return Case(
        rl.Problem.assignment(["a", "b", "c"], 4, present=rl.columns("allowed")),
        {"allowed": allowed},
        lambda allowed: rl.Problem.assignment(["a", "b", "c"], 4, present=allowed),
        costs_of(12),
    )


def budgets(_folder):
    weights = [[1.0, 3.0, 2.5], [2.0], [4.0, 0.5]]
    return Case(
        rl.Problem.multiple_choice_knapsack(weights, rl.column("budget")),
        {"budget": RNG.uniform(4, 9, size=ROWS)},
        lambda budget: rl.Problem.multiple_choice_knapsack(weights, budget),
        costs_of(6),
    )


def supplies(_folder):
    arcs = [("a", "b"), ("b", "c"), ("a", "c")]
    sent = RNG.integers(1, 5, size=ROWS).astype(float)
    supply = {"a": rl.column("sent"), "c": rl.column("got")}
    return Case(
        rl.Problem.min_cost_flow(arcs, supply, capacity=[2, np.inf, np.inf]),
        {"sent": sent, "got": -sent},
        lambda sent, got: rl.Problem.min_cost_flow(
            arcs, {"a": sent, "c": got}, capacity=[2, np.inf, np.inf]
        ),
        costs_of(3),
    )


def demands(_folder):
    capacity = np.array([[2.0, np.inf, 4.0], [3.0, 3.0, 3.0]])
    return Case(
        rl.Problem.transport([8.0, 6.0], rl.columns("need"), capacity=capacity, destinations=3),
        {"need": RNG.uniform(0, 4, size=(ROWS, 3))},
        lambda need: rl.Problem.transport([8.0, 6.0], need, capacity=capacity),
        costs_of(6),
    )


def model_file(folder):
    path = folder / "model.lp"
    path.write_text(MODEL)
    return Case(
        rl.Problem.from_file(
            path,
            rhs={"north": rl.column("d_north"), "south": rl.column("d_south")},
            upper={"x_a": rl.column("most_a")},
        ),
        {
            "d_north": RNG.uniform(2, 9, size=ROWS),
            "d_south": RNG.uniform(2, 9, size=ROWS),
            "most_a": RNG.uniform(1, 5, size=ROWS),
        },
        lambda d_north, d_south, most_a: rl.Problem.from_file(
            path, rhs={"north": d_north, "south": d_south}, upper={"x_a": most_a}
        ),
        costs_of(3),
    )


def function(_folder):
    return Case(
        rl.Problem.from_solver(
            chosen_cheapest, 5, sense="minimize", name="cheapest", parameters=["needed"]
        ),
        {"needed": RNG.integers(1, 5, size=ROWS).astype(float)},
        lambda needed: rl.Problem.from_solver(
            lambda costs: chosen_cheapest(costs, {"needed": needed}),
            5,
            sense="minimize",
            name="cheapest",
        ),
        costs_of(5),
    )


CASES = [
    knapsack_capacity,
    knapsack_weights,
    top_k,
    grid_ends,
    present_items,
    assigned_pairs,
    budgets,
    supplies,
    demands,
    model_file,
    function,
]
