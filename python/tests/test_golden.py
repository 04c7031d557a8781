"""The golden vectors, through Python: solvers, generators, losses, components, regret."""

import numpy as np
import pytest
from conftest import golden

import regretless as rl

# Costs are kept in single precision.
CLOSE = {"rtol": 2e-5, "atol": 2e-6}
TABLES = ["ks10_max", "sp4x5_min", "tsp7_min"]


def problem_of(case):
    found = case["problem"]
    match found["kind"]:
        case "knapsack":
            return rl.Problem(
                {"kind": "knapsack", "weights": found["weights"], "capacity": found["capacity"]}
            )
        case "shortest_path_grid":
            return rl.Problem({"kind": "grid_path", "grid": [found["rows"], found["cols"]]})
        case "tsp":
            return rl.Problem({"kind": "tsp", "nodes": found["nodes"]})
    pytest.fail(f"a new kind of problem: {found['kind']}")


@pytest.mark.parametrize("name", ["SP4x6", "KS14", "TSP9"])
def test_solvers_find_the_golden_optima(name):
    case = golden("solvers")["problems"][name]
    problem = problem_of(case)
    assert problem.sense[:3] == case["sense"]
    found = [problem.solve(cost) for cost in case["costs"]]
    np.testing.assert_allclose([s.objective for s in found], case["objectives"], rtol=1e-8)
    np.testing.assert_array_equal([s.decision for s in found], case["solutions"])
    together = problem.solve_all(case["costs"])
    np.testing.assert_array_equal(together.decisions, case["solutions"])
    assert together.statuses == ["optimal"] * len(found)


@pytest.mark.parametrize(
    "kind, name", [("shortestpath", "SP{0}x{1}"), ("knapsack", "KS{0}"), ("tsp", "TSP{0}")]
)
def test_generators_give_the_golden_tables(kind, name):
    case = golden("datagen")["generators"][kind]
    size = {
        "shortestpath": lambda a: a["grid"],
        "knapsack": lambda a: [a["num_items"]],
        "tsp": lambda a: [a["num_nodes"]],
    }
    arguments = case["args"]
    made = rl.generate(
        name.format(*size[kind](arguments)),
        instances=arguments["num_data"],
        seed=arguments["seed"],
        degree=arguments["deg"],
        noise=arguments["noise_width"],
        features=arguments["num_features"],
    )
    np.testing.assert_allclose(made[0], case["x"], rtol=1e-6)
    np.testing.assert_allclose(made[1], case["c"], rtol=1e-6)


def check(loss, case, golden_values, smooth=slice(None)):
    """Compares values, and gradients of the rows where the loss is smooth."""
    inputs = case["inputs"]
    predictions = np.array(golden_values.get("pred", inputs["pred"]))
    values, gradients = loss.evaluate(predictions)
    np.testing.assert_allclose(values, golden_values["per_instance"], **CLOSE)
    right = np.array(golden_values["grad_of_mean"])
    np.testing.assert_allclose(gradients[smooth] / len(values), right[smooth], **CLOSE)


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize(
    "label, name",
    [
        ("SPO+", "spo_plus"),
        ("PG(sigma=0.25)", "perturbation_gradient_backward"),
        ("PG(central,sigma=0.25)", "perturbation_gradient_central"),
    ],
)
def test_losses_have_the_golden_values(table, label, name):
    case = golden(f"losses_{table}")
    loss = rl.Loss(problem_of(case), case["inputs"]["true_cost"], label)
    check(loss, case, case["losses"][name])


@pytest.mark.parametrize("table", TABLES)
def test_components_have_the_golden_values(table):
    case = golden(f"components_{table}")
    problem = problem_of(case)
    labels = rl.label(problem, case["inputs"]["true_cost"])
    np.testing.assert_array_equal(labels.decisions, case["inputs"]["true_sol"])
    for name, values in case["components"].items():
        if "Os" not in name:
            loss = rl.Loss(problem, case["inputs"]["true_cost"], name, labels=labels)
            # Row 0 is exact, row 1 a multiple of the true costs: rounding crosses the kink of MAE.
            check(loss, case, values["plain"], smooth=slice(2, None))


@pytest.mark.parametrize("table", TABLES)
def test_regret_has_the_golden_values(table):
    case = golden(f"losses_{table}")
    problem, inputs, right = problem_of(case), case["inputs"], case["metrics"]
    regrets = rl.regret(problem, inputs["pred"], inputs["true_cost"])
    np.testing.assert_allclose(regrets, right["regret_none"], **CLOSE)
    found = rl.evaluate(problem, inputs["pred"], C=inputs["true_cost"])
    assert found.regret == pytest.approx(right["regret_mean"], rel=1e-5)
    assert found.normalized_regret == pytest.approx(right["regret_normalized"], rel=1e-5)
    assert found.mse == pytest.approx(right["mse"], rel=1e-5)


def test_equality_invariant_losses_have_the_golden_values():
    for case in golden("equality")["cases"]:
        problem = rl.Problem(case["problem"])
        rows = case["rows"]
        costs, predictions = (
            np.array([row[key] for row in rows]) for key in ("costs", "prediction")
        )
        for name in rows[0]["losses"]:
            values, gradients = rl.Loss(problem, costs, name).evaluate(predictions)
            expected = [row["losses"][name] for row in rows]
            np.testing.assert_allclose(values, [loss["value"] for loss in expected], **CLOSE)
            np.testing.assert_allclose(gradients, [loss["gradient"] for loss in expected], **CLOSE)
