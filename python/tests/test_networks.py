"""Paths in graphs, spanning trees and storage: constructors, text nodes, files, training."""

import numpy as np
import pandas as pd
import pytest

import regretless as rl

ARCS = [("home", "bridge"), ("bridge", "work"), ("home", "work"), ("work", "home")]


def test_a_path_between_named_nodes():
    problem = rl.Problem.graph_path(ARCS, source="home", target="work")
    assert problem.cost_names == ["home-bridge", "bridge-work", "home-work", "work-home"]
    solution = problem.solve([2.0, 3.0, 6.0, 1.0])
    assert solution.objective == 5.0
    assert solution.decision.tolist() == [1, 1, 0, 0]


def test_arcs_without_a_name_among_named_ones_are_named_by_their_nodes():
    arcs = [*ARCS[:2], ("home", "work", "ring road"), ARCS[2]]
    ends = {"source": "home", "target": "work"}
    problem = rl.Problem.graph_path(arcs, **ends)
    assert problem.cost_names == ["home-bridge", "bridge-work", "ring road", "home-work"]
    assert problem.solve([2.0, 3.0, 4.0, 6.0]).decision.tolist() == [0, 0, 1, 0]
    with pytest.raises(ValueError, match="arc 4 has no name .* 'home-work'"):
        rl.Problem.graph_path([*arcs[:3], ("home", "work", "home-work"), ARCS[2]], **ends)


def test_ends_of_rows_are_names_in_lists_arrays_and_frames():
    problem = rl.Problem.graph_path(ARCS, source=rl.column("start"), target="work")
    costs = np.tile([2.0, 3.0, 6.0, 1.0], (3, 1))
    starts = ["home", "bridge", "work"]
    expected = [5.0, 3.0, 0.0]
    for given in (starts, np.array(starts), pd.Series(starts), pd.Categorical(starts)):
        found = problem.solve_all(costs, parameters={"start": given})
        assert found.objectives.tolist() == expected
    frame = pd.DataFrame({"start": starts})
    assert problem.solve_all(costs, parameters=frame).objectives.tolist() == expected
    one = problem.solve(costs[0], parameters={"start": "bridge"})
    assert one.objective == 3.0
    with pytest.raises(ValueError, match="row 1 is 'office', which is no node.*home, bridge, work"):
        problem.solve_all(costs[:2], parameters={"start": ["home", "office"]})
    with pytest.raises(ValueError, match="names nodes, whose names are text"):
        problem.solve_all(costs, parameters={"start": [0, 1, 2]})
    with pytest.raises(ValueError, match="has 2 rows"):
        problem.solve_all(costs, parameters={"start": ["home", "home"]})


def test_nodes_that_are_numbers_are_given_as_numbers_or_text():
    problem = rl.Problem.graph_path([(10, 20), (20, 30)], source=rl.column("from"), target=30)
    costs = np.array([[1.0, 2.0], [1.0, 2.0]])
    for given in ([10, 20], np.array([10.0, 20.0]), ["10", "20"]):
        found = problem.solve_all(costs, parameters={"from": given})
        assert found.objectives.tolist() == [3.0, 2.0]


def test_arcs_are_read_from_a_file(tmp_path):
    path = tmp_path / "roads.csv"
    path.write_text("road,a,b\nr1,north,mid\nr2,mid,south\n")
    arcs = {"file": str(path), "from": "a", "to": "b", "name": "road"}
    problem = rl.Problem.graph_path(arcs, source="north", target="south")
    assert problem.cost_names == ["r1", "r2"]
    path.write_text("road,a,b\nr1,north,mid\nr2,mid,\n")
    with pytest.raises(ValueError, match=r"roads.csv, row 3, column b: the cell is empty"):
        rl.Problem.graph_path(arcs, source="north", target="south")


def test_a_path_over_the_nodes_of_a_map():
    problem = rl.Problem.graph_path(grid=(3, 3), neighbors=8, source=[0, 0])
    terrain = [1, 9, 9, 9, 1, 9, 9, 9, 1]
    assert problem.solve(terrain).decision.tolist() == [1, 0, 0, 0, 1, 0, 0, 0, 1]


def test_disconnected_ends_are_refused():
    with pytest.raises(ValueError, match="node 'a' cannot be reached from node 'c'"):
        rl.Problem.graph_path([("a", "b"), ("b", "c")], source="c", target="a")


def network_table(seed=0):
    """A table of 80 rows on a small network, with ends by name."""
    rng = np.random.default_rng(seed)
    names = [f"n{node}" for node in range(9)]
    arcs = []
    for node in range(9):
        for step in (1, 3):
            if node + step < 9 and (step == 3 or node % 3 != 2):
                arcs += [(names[node], names[node + step]), (names[node + step], names[node])]
    features = rng.normal(size=(80, 3))
    weights = rng.uniform(0, 1, size=(3, len(arcs)))
    costs = 1 + np.abs(features @ weights) + rng.uniform(0, 0.2, size=(80, len(arcs)))
    ends = {"from": rng.choice(names[:3], 80), "to": rng.choice(names[6:], 80)}
    return arcs, features, costs, ends


def test_a_model_learns_with_ends_by_name(tmp_path):
    arcs, features, costs, ends = network_table()
    problem = rl.Problem.graph_path(arcs, source=rl.column("from"), target=rl.column("to"))
    for method in ("SPO+", "MAE(O,S)"):
        model, _ = rl.train(problem, features, costs, method, epochs=3, parameters=ends)
        chosen = model.decide(features[:5], parameters={k: v[:5] for k, v in ends.items()})
        assert len(chosen.decisions) == 5
    model.save(tmp_path / "model")
    again = rl.Model.load(tmp_path / "model")
    same = again.decide(features[:5], parameters={k: v[:5] for k, v in ends.items()})
    assert np.array_equal(same.decisions, chosen.decisions)


def test_a_spanning_tree():
    problem = rl.Problem.spanning_tree(nodes=4)
    assert problem.solve([1, 5, 5, 2, 5, 3]).objective == 6.0
    edges = [("a", "b"), ("b", "c"), ("a", "c")]
    problem = rl.Problem.spanning_tree(edges, present=rl.columns("open"))
    opened = {"open": [[1, 1, 1], [1, 1, 0]]}
    found = problem.solve_all([[1, 5, 2], [1, 5, 2]], parameters=opened)
    assert found.objectives.tolist() == [3.0, 6.0]
    longest = rl.Problem.spanning_tree(edges, sense="maximize")
    assert longest.solve([1, 5, 2]).objective == 7.0


def test_a_battery_buys_low_and_sells_high():
    problem = rl.Problem.storage(
        4, capacity=2.0, charge_limit=1.0, discharge_limit=1.0, discharge_efficiency=0.5
    )
    solution = problem.solve([1.0, 1.0, 5.0, 3.0])
    # Selling 1 takes 2 out of the storage.
    assert solution.decision.tolist() == [1.0, 1.0, -1.0, 0.0]
    assert solution.objective == -3.0
    per_row = rl.Problem.storage(
        4, capacity=rl.column("size"), charge_limit=1.0, discharge_limit=1.0
    )
    found = per_row.solve_all(np.tile([1.0, 1.0, 5.0, 3.0], (2, 1)), parameters={"size": [1, 2]})
    assert found.objectives.tolist() == [-4.0, -6.0]
    with pytest.raises(ValueError, match="charge_efficiency = 2 is not above 0 and up to 1"):
        rl.Problem.storage(
            4, capacity=1.0, charge_limit=1.0, discharge_limit=1.0, charge_efficiency=2.0
        )
