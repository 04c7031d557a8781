"""Functions whose answers depend on more than the costs are found."""

import warnings

import numpy as np
import pytest
from python_solvers import COSTS, USES, USES_OF_LABELS, Stateful, X, problem_of

import regretless as rl


class Forgetful:
    """A solver whose answer depends on how often it was called."""

    def __init__(self):
        self.calls = 0

    def solve(self, costs):
        self.calls += 1
        return np.arange(len(costs)) == np.argsort(costs)[int(self.calls > 1)]


@pytest.mark.parametrize("use", ["label", "train", "loss", "regret"])
def test_a_function_whose_answer_depends_on_more_than_the_costs_is_refused(use):
    problem = problem_of(Forgetful())
    message = r"another decision for the same costs \(row 0: .*, then .*\): its answer must depend"
    with pytest.raises(ValueError, match=message):
        USES[use](problem)
    heuristic = problem_of(Forgetful(), exact=False)
    with pytest.warns(UserWarning, match=message):
        rl.label(heuristic, COSTS)


def test_stored_labels_of_a_function_that_has_changed_are_refused(tmp_path):
    store = tmp_path / "costs.npy"
    rl.label(problem_of(Stateful()), COSTS, store=store)
    rl.label(problem_of(Stateful()), COSTS, store=store)
    changed = Forgetful()
    changed.calls = 1
    with pytest.raises(ValueError, match="must depend on the costs alone"):
        rl.label(problem_of(changed), COSTS, store=store)


def test_answers_that_change_are_named_before_known_costs_that_change():
    calls = []

    def counting(costs):
        calls.append(costs)
        decision = np.zeros(6)
        decision[np.argmin(costs)] = 1
        return decision, decision @ costs + len(calls)

    problem = rl.Problem.from_solver(counting, 6, sense="minimize")
    with pytest.raises(ValueError, match="another decision for the same costs"):
        rl.label(problem, COSTS)


@pytest.mark.parametrize("period", [2, 3])
def test_state_is_found_where_the_first_rows_are_ties(period):
    calls = []

    def alternating(costs):
        calls.append(costs)
        return np.arange(6) == np.argsort(costs, kind="stable")[len(calls) % period]

    problem = rl.Problem.from_solver(alternating, 6, sense="minimize")
    costs = np.repeat(COSTS, 2, axis=0)
    costs[:80] = 1.0
    with pytest.raises(ValueError, match="another decision for the same costs"):
        rl.label(problem, costs)
    # Ties that are broken at random are no error.
    calls.clear()
    assert len(rl.label(problem, np.ones((120, 6)))) == 120


def test_state_that_the_first_row_does_not_show_is_found_in_larger_tables():
    calls = []

    def stateful(costs):
        calls.append(costs)
        order = np.argsort(costs)
        # Every third answer is the second best decision.
        return np.eye(3)[order[1 if len(calls) % 3 == 0 else 0]]

    rng = np.random.default_rng(0)
    costs = rng.uniform(1, 2, size=(60, 3))
    problem = rl.Problem.from_solver(stateful, 3, sense="minimize")
    with pytest.raises(ValueError, match="its answer must depend on the costs alone"):
        rl.label(problem, costs)


class Periodic:
    """A solver that returns the second best decision at one call of every period."""

    def __init__(self, period, worse_at):
        self.period, self.worse_at = period, worse_at
        self.received = []

    def solve(self, costs):
        is_worse = len(self.received) % self.period == self.worse_at
        self.received.append(costs)
        return np.arange(len(costs)) == np.argsort(costs)[int(is_worse)]


PERIODIC = [(period, worse_at) for period in (2, 3) for worse_at in range(period)]


DEPENDS_ON_CALLS = "its answer must depend on the costs alone"


@pytest.mark.parametrize("period, worse_at", PERIODIC)
def test_answers_that_alternate_are_found_for_every_number_of_rows(period, worse_at):
    unnoticed = []
    for rows in [*range(1, 31), *range(38, 43), *range(57, 61)]:
        for thread_safe in [False, True]:
            problem = problem_of(Periodic(period, worse_at), thread_safe=thread_safe)
            heuristic = problem_of(Periodic(period, worse_at), exact=False, thread_safe=thread_safe)
            try:
                rl.label(problem, COSTS[:rows], threads=2)
            except ValueError as error:
                assert DEPENDS_ON_CALLS in str(error)
            else:
                unnoticed.append((rows, thread_safe))
            with warnings.catch_warnings(record=True) as found:
                warnings.simplefilter("always")
                rl.label(heuristic, COSTS[:rows], threads=2)
            if [DEPENDS_ON_CALLS in str(warning.message) for warning in found] != [True]:
                unnoticed.append((rows, thread_safe, "heuristic"))
    assert not unnoticed


@pytest.mark.parametrize("period, worse_at", PERIODIC)
def test_answers_that_alternate_are_found_beside_rows_without_a_decision(period, worse_at):
    for failing in range(1, 12):
        solver = Periodic(period, worse_at)

        def solve(costs, solver=solver, failing=failing):
            decision = solver.solve(costs)
            return None if (costs == COSTS[failing]).all() else decision

        problem = rl.Problem.from_solver(solve, 6, sense="minimize")
        with pytest.raises(ValueError, match=DEPENDS_ON_CALLS):
            rl.label(problem, COSTS[:12])


@pytest.mark.parametrize("period, worse_at", PERIODIC)
def test_answers_that_alternate_are_found_in_labels_of_shards(period, worse_at, tmp_path):
    for rows in [1, 6, 12, 20, 48]:
        for shards in [1, 2, 3]:
            problem = problem_of(Periodic(period, worse_at))
            store = tmp_path / f"{rows} {shards}"
            for shard in range(1, shards + 1):
                rl.label(problem, COSTS[:rows], store=store, shard=(shard, shards))
            # The second time nothing but the repeated rows is solved.
            for _ in range(2):
                with pytest.raises(ValueError, match=DEPENDS_ON_CALLS):
                    rl.label(problem, COSTS[:rows], store=store)


@pytest.mark.parametrize("use", USES_OF_LABELS)
@pytest.mark.parametrize("period, worse_at", PERIODIC)
def test_answers_that_alternate_are_found_wherever_rows_are_labeled(use, period, worse_at):
    problem = problem_of(Periodic(period, worse_at))
    with pytest.raises(ValueError, match=DEPENDS_ON_CALLS):
        USES_OF_LABELS[use](problem, X[:30], COSTS[:30])


@pytest.mark.parametrize("exact", [True, False])
def test_rows_are_repeated_in_immediate_succession(exact):
    for rows in [1, 2, 39, 40, 60]:
        solver = Periodic(1, 1)
        rl.label(problem_of(solver, exact=exact), COSTS[:rows])
        received = [COSTS.tolist().index(costs.tolist()) for costs in solver.received]
        middle = rows // 2
        repeated = [0, 0, middle, middle] if exact and rows >= 40 else [0, 0, 0]
        assert received == [*range(rows), *repeated]


def test_alternating_answers_that_the_first_row_does_not_show_are_found_in_larger_tables():
    costs = COSTS.copy()
    costs[0] = 0
    for rows in [40, 50, 60]:
        for worse_at in range(2):
            with pytest.raises(ValueError, match=DEPENDS_ON_CALLS):
                rl.label(problem_of(Periodic(2, worse_at)), costs[:rows])
