"""Problems solved by Python functions: serialized calls, nested calls, exceptions and Ctrl-C."""

import concurrent.futures
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time
import warnings

import numpy as np
import pytest

import regretless as rl

COSTS = np.random.default_rng(0).uniform(1, 10, size=(60, 6)).astype(np.float32)
X = COSTS[:, :3].copy()


class Stateful:
    """A solver with state: costs are set, then solved for a while without the interpreter lock."""

    def __init__(self):
        self.costs = None
        self.inside = self.most = self.calls = 0

    def solve(self, costs):
        self.inside += 1
        self.most = max(self.most, self.inside)
        self.calls += 1
        self.costs = costs
        time.sleep(0.0005)
        decision = np.zeros(len(costs))
        decision[np.argmin(self.costs)] = 1
        self.inside -= 1
        return decision


def problem_of(solver, **settings):
    return rl.Problem.from_solver(solver.solve, 6, sense="minimize", name="stateful", **settings)


def right(solutions, costs=COSTS):
    return (solutions.decisions.argmax(axis=1) == costs.argmin(axis=1)).all()


USES = {
    "solve_all": lambda p: right(p.solve_all(COSTS, threads=4)),
    "label": lambda p: right(rl.label(p, COSTS, threads=4)),
    "train": lambda p: rl.train(p, X, COSTS, "SPO+", epochs=2, threads=4) is not None,
    "train MAP": lambda p: rl.train(p, X, COSTS, "MAP", epochs=2, threads=4) is not None,
    "loss": lambda p: (rl.Loss(p, COSTS, "SPO+", threads=4).evaluate(COSTS)[0] < 1e-5).all(),
    "regret": lambda p: (rl.regret(p, COSTS, COSTS, threads=4) == 0).all(),
}


@pytest.mark.parametrize("use", USES)
def test_a_function_is_called_once_at_a_time(use):
    solver = Stateful()
    assert USES[use](problem_of(solver))
    assert (solver.most, solver.calls >= len(COSTS)) == (1, True)


def test_torch_calls_a_function_once_at_a_time():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    from regretless.torch import DecisionLayer, DecisionLoss

    solver = Stateful()
    problem = problem_of(solver)
    loss = DecisionLoss(problem, COSTS, "SPO+")
    predictions = torch.tensor(COSTS, requires_grad=True)
    loss(predictions, torch.arange(len(COSTS))).backward()
    decisions = DecisionLayer(problem)(torch.tensor(COSTS))
    assert (decisions.argmax(dim=1).numpy() == COSTS.argmin(axis=1)).all()
    assert (solver.most, float(predictions.grad.abs().max())) == (1, 0.0)


def test_threads_of_python_and_problems_of_one_object_share_a_lock():
    solver = Stateful()
    shared = problem_of(solver)
    others = [shared, shared, problem_of(solver), problem_of(solver)]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        assert all(pool.map(lambda problem: right(problem.solve_all(COSTS)), others))
    assert (solver.most, solver.calls) == (1, 4 * len(COSTS))


def test_a_function_that_is_thread_safe_is_called_by_several_threads_at_once():
    # The barrier opens only where both calls run at the same time; one alone would wait forever.
    both = threading.Barrier(2)
    waits = True

    def solve(costs):
        if waits:
            both.wait(timeout=30)
        return np.arange(len(costs)) == np.argmin(costs)

    problem = rl.Problem.from_solver(solve, 6, sense="minimize", thread_safe=True)
    solutions = problem.solve_all(COSTS, threads=2)
    assert right(solutions)
    # Given decisions are checked by one call after the other.
    waits = False
    labels = rl.Labels.from_decisions(problem, COSTS, solutions.decisions)
    waits = True
    loss = rl.Loss(problem, COSTS, "SPO+", labels=labels, threads=2)
    assert (loss.evaluate(COSTS)[0] < 1e-5).all()


def cheapest(costs):
    time.sleep(0.0002)
    return np.arange(len(costs)) == np.argmin(costs)


def decided(problem):
    return problem.solve_all(COSTS, threads=2).decisions.argmax(axis=1).tolist()


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("thread_safe", [False, True])
@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_functions_work_in_pools_of_processes(method, thread_safe):
    problem = rl.Problem.from_solver(cheapest, 6, sense="minimize", thread_safe=thread_safe)
    with concurrent.futures.ProcessPoolExecutor(
        2, mp_context=multiprocessing.get_context(method)
    ) as pool:
        found = [
            job.result(timeout=120) for job in [pool.submit(decided, problem) for _ in range(2)]
        ]
    assert found == [COSTS.argmin(axis=1).tolist()] * 2


def test_functions_work_in_processes_of_joblib():
    joblib = pytest.importorskip("joblib", reason="joblib is not installed")
    problem = rl.Problem.from_solver(cheapest, 6, sense="minimize")
    found = joblib.Parallel(n_jobs=2)(joblib.delayed(decided)(problem) for _ in range(2))
    assert found == [COSTS.argmin(axis=1).tolist()] * 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_forked_while_the_function_runs_has_its_own_lock():
    entered, leave = threading.Event(), threading.Event()

    def solve(costs):
        entered.set()
        leave.wait(60)
        return np.arange(len(costs)) == np.argmin(costs)

    problem = rl.Problem.from_solver(solve, 6, sense="minimize")
    other = threading.Thread(target=problem.solve, args=(COSTS[0],))
    other.start()
    assert entered.wait(60)
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        leave.set()
        os._exit(0 if right(problem.solve_all(COSTS)) else 1)
    _, status = os.waitpid(child, 0)
    leave.set()
    other.join()
    assert os.waitstatus_to_exitcode(status) == 0


# A hang is what these tests are about: each runs in a process that is ended after a while.
NESTED = """
import threading, numpy as np, regretless as rl
costs = np.random.default_rng(0).uniform(1, 10, size=(12, 5)).astype(np.float32)
sack = rl.Problem("KS8")
features, values = rl.generate("KS8", instances=40)
labels = rl.label(sack, values)
inner = {
    "solve_all": lambda: sack.solve_all(values),
    "label": lambda: rl.label(sack, values),
    "train": lambda: rl.train(sack, features, values, "SPO+", epochs=1, labels=labels),
    "loss": lambda: rl.Loss(sack, values, "SPO+", labels=labels).evaluate(values + 1),
    "solve": lambda: sack.solve(values[0]),
}["INNER"]

def solve(c):
    inner()
    return np.arange(5) == np.argmin(c)

problem = rl.Problem.from_solver(solve, 5, sense="minimize", thread_safe=SAFE)
outer = {
    "solve_all": lambda: problem.solve_all(costs, threads=2),
    "label": lambda: rl.label(problem, costs, threads=2),
    "train": lambda: rl.train(problem, costs, costs, "SPO+", epochs=1, batch_size=12, threads=2),
    "loss": lambda: rl.Loss(problem, costs, "SPO+", threads=2).evaluate(costs),
}["OUTER"]
outer()
print("done")
"""


def finished(code):
    child = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=120
    )
    assert child.returncode == 0, child.stderr
    return child.stdout


@pytest.mark.parametrize("thread_safe", [False, True])
@pytest.mark.parametrize(
    "outer, inner",
    [
        ("solve_all", "solve_all"),
        ("solve_all", "train"),
        ("label", "label"),
        ("train", "loss"),
        ("loss", "solve_all"),
        ("label", "solve"),
    ],
)
def test_a_function_may_use_the_package_itself(outer, inner, thread_safe):
    code = NESTED.replace("OUTER", outer).replace("INNER", inner).replace("SAFE", str(thread_safe))
    assert finished(code) == "done\n"


def test_a_function_may_call_its_own_problem():
    code = """
    import numpy as np, regretless as rl
    depth = [0]
    def solve(c):
        if depth[0] < 3:
            depth[0] += 1
            inside = problem.solve_all(np.stack([c, -c])).decisions[0]
            depth[0] -= 1
            return inside
        return np.arange(5) == np.argmin(c)
    problem = rl.Problem.from_solver(solve, 5, sense="minimize")
    costs = np.random.default_rng(0).uniform(1, 10, size=(4, 5))
    assert (problem.solve_all(costs).decisions.argmax(axis=1) == costs.argmin(axis=1)).all()
    # By way of a function on several threads, whose calls wait for each other's turn.
    def twice(c):
        return problem.solve(c).decision
    def start(c):
        return safe.solve_all(np.stack([c] * 6), threads=2).decisions[0]
    safe = rl.Problem.from_solver(twice, 5, sense="minimize", thread_safe=True)
    assert (safe.solve_all(costs, threads=2).decisions.argmax(axis=1) == costs.argmin(axis=1)).all()
    levels = [0]
    def own(c):
        if levels[0]:
            return np.arange(5) == np.argmin(c)
        levels[0] = 1
        found = around.solve_all(np.stack([c] * 6), threads=2).decisions[0]
        levels[0] = 0
        return found
    nested_problem = rl.Problem.from_solver(own, 5, sense="minimize")
    nested = lambda c: nested_problem.solve(c).decision
    around = rl.Problem.from_solver(nested, 5, sense="minimize", thread_safe=True)
    assert (nested_problem.solve_all(costs).decisions.argmax(axis=1) == costs.argmin(axis=1)).all()
    print("done")
    """
    assert finished(code) == "done\n"


def test_functions_that_wait_for_each_other_raise_an_error():
    code = """
    import threading, numpy as np, regretless as rl
    both = threading.Barrier(2)
    costs = np.ones(3)
    def calling(other):
        def solve(c):
            both.wait(60)
            return other().solve(c).decision
        return solve
    left = rl.Problem.from_solver(calling(lambda: right), 3, sense="minimize")
    right = rl.Problem.from_solver(calling(lambda: left), 3, sense="minimize")
    messages = []
    def solve_all(problem):
        try:
            problem.solve(costs)
        except (RuntimeError, threading.BrokenBarrierError) as error:
            both.abort()
            messages.append(str(error))
    threads = [threading.Thread(target=solve_all, args=(problem,)) for problem in (left, right)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert any("two functions wait for each other" in text for text in messages), messages
    print("done")
    """
    assert finished(code) == "done\n"


def test_an_exception_ends_only_the_call_that_led_to_it():
    """Threads share one problem; the rows of some make the function raise."""
    bad = np.full((1, 6), 99, dtype=np.float32)

    def solve(costs):
        time.sleep(0.0002)
        if costs[0] == 99:
            raise KeyError("nested_problem")
        return np.arange(len(costs)) == np.argmin(costs)

    for thread_safe in [False, True]:
        problem = rl.Problem.from_solver(solve, 6, sense="minimize", thread_safe=thread_safe)

        def solve_all(number, problem=problem):
            rows = np.concatenate([COSTS[:20], bad]) if number % 4 == 0 else COSTS[:20]
            try:
                return right(problem.solve_all(rows, threads=2), rows)
            except BaseException as error:  # noqa: BLE001
                return repr(error)

        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            found = list(pool.map(solve_all, range(32)))
        assert found == [
            "KeyError('nested_problem')" if number % 4 == 0 else True for number in range(32)
        ]


@pytest.mark.parametrize("thread_safe", [False, True])
def test_keyboard_interrupt_of_a_function_arrives_as_such(thread_safe):
    raised = KeyboardInterrupt("stop here")

    def solve(costs):
        raise raised

    problem = rl.Problem.from_solver(solve, 6, sense="minimize", thread_safe=thread_safe)
    with pytest.raises(KeyboardInterrupt) as caught:
        problem.solve_all(COSTS, threads=2)
    assert caught.value is raised


CONTROL_C = {
    # The function waits; Ctrl-C reaches it as it would reach any Python code.
    "in the function": ("time.sleep(600)", False),
    # The function waits in a call of this package.
    "in a nested call": ("tours.solve_all(many)", False),
    "in a nested call on its own thread": ("tours.solve_all(many)", True),
}


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize("where", CONTROL_C)
def test_control_c_ends_a_function(where):
    inside, thread_safe = CONTROL_C[where]
    code = f"""
    import time, numpy as np, regretless as rl
    tours, many = rl.Problem("TSP40"), rl.generate("TSP40", instances=5000)[1]
    def solve(costs):
        print("inside\\n", end="", flush=True)
        {inside}
    problem = rl.Problem.from_solver(solve, 6, sense="minimize", thread_safe={thread_safe})
    try:
        problem.solve_all(np.ones((2, 6)), threads=2)
    except KeyboardInterrupt:
        print("stopped", flush=True)
    """
    enable_ctrl_c = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)  # noqa: E731
    child = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)],
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=enable_ctrl_c,
    )
    too_late = threading.Timer(120.0, child.kill)
    too_late.start()
    try:
        assert child.stdout.readline() == "inside\n"
        time.sleep(0.5)
        child.send_signal(signal.SIGINT)
        assert child.communicate()[0].splitlines()[-1] == "stopped"
        assert child.returncode == 0
    finally:
        too_late.cancel()
        child.kill()


def test_an_objective_must_be_a_number():
    for claimed in [float("nan"), float("inf")]:
        problem = rl.Problem.from_solver(
            lambda c, claimed=claimed: (np.eye(6)[0], claimed), 6, sense="minimize"
        )
        with pytest.raises(ValueError, match="objective (NaN|inf), which is not a finite number"):
            problem.solve(COSTS[0])


def first_two(costs):
    """A heuristic that knows only the first two of the choices."""
    return np.arange(len(costs)) == np.argmin(costs[:2])


def test_a_heuristic_function_is_not_called_optimal():
    problem = rl.Problem.from_solver(first_two, 6, sense="minimize", exact=False)
    assert problem.solve(COSTS[0]).status == "heuristic"
    assert problem.solve(COSTS[0]).bound == -np.inf
    assert set(problem.solve_all(COSTS).statuses) == {"heuristic"}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        quality = rl.evaluate(problem, COSTS[::-1], C=COSTS)
    assert set(quality.rows["label_status"]) == {"heuristic"}
    assert set(quality.rows["decision_status"]) == {"heuristic"}
    model, report = rl.train(problem, X, COSTS, "MSE", epochs=1)
    assert (report.labels.optimal, report.labels.limit_reached) == (0, len(COSTS))
    explanation = model.explain(X[0], problem=problem, costs=COSTS[0])
    assert not explanation.is_proven
    assert explanation.status == "heuristic"
    for reason in (explanation.ranges.reason, explanation.alternatives.reason):
        assert "not proven optimal (heuristic)" in reason
    assert "not proven" in explanation.regret.reason
    with pytest.raises(RuntimeError, match=r"not proven optimal \(heuristic\)"):
        model.explain(X[0], problem=problem, force="c2")
    assert not np.isfinite(pickle.loads(pickle.dumps(problem)).solve(COSTS[0]).bound)
    exact = rl.Problem.from_solver(first_two, 6, sense="minimize")
    with pytest.raises(ValueError, match="another problem"):
        rl.evaluate(exact, COSTS, C=COSTS, labels=rl.label(problem, COSTS))


def careless(costs):
    """Considers further items than the first two only where they cost almost nothing."""
    seen = [item for item, cost in enumerate(costs) if item < 2 or cost < 2]
    return np.arange(len(costs)) == min(seen, key=lambda item: costs[item])


BOTH_CAUSES = "either the function is not optimal .*exact=False.*, or its objective has terms"


def test_negative_regret_of_a_function_that_claims_to_be_exact_is_reported():
    # Rows with parameters of their own are not compared with each other.
    problem = rl.Problem.from_solver(
        lambda costs, _: careless(costs), 6, sense="minimize", parameters=["day"]
    )
    settings = {"parameters": {"day": np.arange(len(COSTS))}}
    message = rf"^\d+ rows have negative regret: {BOTH_CAUSES}"
    with pytest.warns(UserWarning, match=message) as found:
        regrets = rl.regret(problem, COSTS[::-1], COSTS, **settings)
    assert len(found) == 1
    assert str(found[0].message).startswith(f"{(regrets < -1e-6).sum()} rows")
    with pytest.warns(UserWarning, match=message):
        rl.evaluate(problem, COSTS[::-1], C=COSTS, **settings)


def test_a_function_that_claims_to_be_exact_is_not_worse_than_its_answers_for_other_rows():
    problem = rl.Problem.from_solver(careless, 6, sense="minimize")
    for use in (lambda p: rl.label(p, COSTS), lambda p: rl.regret(p, COSTS[::-1], COSTS)):
        message = rf"^in \d+ of 60 compared rows, .*{BOTH_CAUSES}"
        with pytest.warns(UserWarning, match=message) as found:
            use(problem)
        assert len(found) == 1
    exact = rl.Problem.top_k(6, k=1, sense="minimize")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rl.evaluate(exact, COSTS[::-1], C=COSTS)


@pytest.mark.filterwarnings("ignore:.*either the function is not optimal")
def test_an_explanation_that_finds_a_better_decision_proves_nothing():
    problem = rl.Problem.from_solver(careless, 6, sense="minimize")
    model, _ = rl.train(problem, X, COSTS, "MSE", epochs=5)
    better = 0
    for row in range(len(X)):
        explanation = model.explain(X[row], problem=problem)
        lowest = min(cost.predicted for cost in explanation.costs)
        is_optimal = explanation.objective <= lowest + 1e-6
        assert explanation.is_proven == is_optimal
        if not is_optimal:
            better += 1
            assert explanation.status == "not optimal"
            assert explanation.ranges.method is None
            assert not explanation.alternatives.decisions
            assert "not optimal" in explanation.alternatives.reason
    assert 0 < better


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


def test_limits_and_searches_that_a_function_does_not_have_are_refused():
    rng = np.random.default_rng(0)
    X, C = rng.normal(size=(30, 2)), rng.uniform(1, 2, size=(30, 3))
    problem = rl.Problem.from_solver(cheapest_of_three, 3, sense="minimize")
    for limits in [{"nodes": 10}, {"gap": 0.01}, {"seconds": 1.0}]:
        with pytest.raises(ValueError, match="your own function; leave out .*inside the function"):
            problem.solve_all(C, **limits)
    with pytest.raises(ValueError, match="'node-limit 10' has no effect"):
        problem.solve_all(C, heuristic="node-limit 10")
    for method in ["SPO+ node-limit 10", "SPO+ warm certify"]:
        with pytest.raises(ValueError, match="has no effect"):
            rl.train(problem, X, C, method=method, epochs=1)


def cheapest_of_three(costs):
    return np.arange(3) == np.argmin(costs)


def test_a_problem_of_the_other_sense_is_refused():
    rng = np.random.default_rng(0)
    X, C = rng.normal(size=(30, 2)), rng.uniform(1, 2, size=(30, 3))
    problem = rl.Problem.from_solver(cheapest_of_three, 3, sense="minimize")
    model, _ = rl.train(problem, X, C, method="MAE(O,S)", epochs=1)
    other = rl.Problem.from_solver(cheapest_of_three, 3, sense="maximize")
    for call in [model.decide, lambda X, problem: model.evaluate(X, C, problem=problem)]:
        with pytest.raises(ValueError, match="maximizes, but the model was trained .* minimizes"):
            call(X, problem=other)
    assert len(model.decide(X, problem=rl.Problem.top_k(3, 1)).decisions) == 30


def test_a_wrong_sense_is_suspected_and_objectives_that_depend_on_costs_are_refused():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    C = 10 + X @ rng.normal(size=(2, 3)) + rng.normal(size=(60, 3))
    wrong = rl.Problem.from_solver(cheapest_of_three, 3, sense="maximize")
    with pytest.warns(UserWarning, match='is the sense "minimize"'):
        rl.train(wrong, X, C, method="MAE(O,S)", epochs=2)

    def with_rent(costs):
        decision = cheapest_of_three(costs)
        return decision, costs @ decision + 3 * costs[0]

    rented = rl.Problem.from_solver(with_rent, 3, sense="minimize")
    with pytest.raises(ValueError, match="the difference depends on the costs"):
        rl.train(rented, X, C, method="MAE(O,S)", epochs=2)


def test_costs_that_are_not_finite_are_a_value_error():
    problem = rl.Problem.top_k(2, 1)
    for bad in [np.nan, np.inf]:
        with pytest.raises(ValueError, match="cost 1 is"):
            problem.solve([1, bad])


def test_a_slow_function_is_announced_before_its_validation():
    def slow(costs):
        time.sleep(0.03)
        return cheapest_of_three(costs)

    rng = np.random.default_rng(0)
    X, C = rng.normal(size=(60, 2)), rng.uniform(1, 2, size=(60, 3))
    problem = rl.Problem.from_solver(slow, 3, sense="minimize")
    begun = time.monotonic()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        message = "validation regret takes .* solves, about .*; select = validation-loss"
        with pytest.raises(UserWarning, match=message):
            rl.train(problem, X, C, method="MAE(O,S)", epochs=1000)
    # Three minutes of validation were to come.
    assert time.monotonic() - begun < 60


def test_known_costs_of_decisions_are_warned_about_where_the_level_is_ignored():
    rents = np.array([3.0, 0.0, 1.0])

    def cheapest(costs):
        chosen = int(np.argmin(costs + rents))
        return np.eye(3)[chosen], costs[chosen] + rents[chosen]

    rng = np.random.default_rng(0)
    features = rng.normal(size=(60, 2))
    costs = 5 + features @ rng.normal(size=(2, 3)) + rng.normal(size=(60, 3))
    warning = "MAE.O,S. compares costs .* the level of the predicted costs matters"

    def new_problem():
        return rl.Problem.from_solver(cheapest, 3, sense="minimize")

    with pytest.warns(UserWarning, match=warning):
        rl.train(new_problem(), features, costs, "MAE(O,S)", epochs=2)
    methods = ["MAE(O,S)", "MSE"]
    with pytest.warns(UserWarning, match=warning):
        rl.compare(new_problem(), features, costs, methods=methods, seeds=1, epochs=2)
    with pytest.warns(UserWarning, match=warning):
        rl.backtest(
            new_problem(),
            features,
            costs,
            time=np.arange(60),
            methods=methods,
            initial=40,
            step=10,
            epochs=2,
        )
    problem = new_problem()
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*level of the predicted costs")
        rl.train(problem, features, costs, "MAE(O)", epochs=2)


def cheapest_with_rent(costs, parameters):
    """Choose the cheapest of three, each of which has a rent that differs per row."""
    rents = parameters["rents"]
    chosen = int(np.argmin(costs + rents))
    return np.eye(3)[chosen], costs[chosen] + rents[chosen]


def is_one_choice(decision, parameters):
    return decision.sum() == 1


def with_rents(rows=60):
    rng = np.random.default_rng(0)
    features = rng.normal(size=(rows, 2))
    costs = 5 + features @ rng.normal(size=(2, 3)) + rng.normal(size=(rows, 3))
    problem = rl.Problem.from_solver(
        cheapest_with_rent, 3, sense="minimize", parameters=["rents"], check=is_one_choice
    )
    return problem, features, costs, rng.uniform(0, 6, size=(rows, 3))


@pytest.mark.parametrize("method", ["MAP", "SPO+ cache 0%"])
def test_pools_do_not_take_known_costs_of_other_rows(method):
    problem, _, costs, rents = with_rents()
    parameters = {"rents": rents}
    predicted = costs[::-1].copy()
    loss = rl.Loss(problem, costs, loss=method, parameters=parameters)
    values, _ = loss.evaluate(predicted)
    best = np.argmin(costs + rents, axis=1)
    rows = np.arange(len(costs))
    if method == "MAP":
        # The label beside the decision that the predicted costs lead to.
        expected = (predicted + rents)[rows, best] - np.min(predicted + rents, axis=1)
    else:
        extrapolated = 2 * predicted - costs
        expected = (
            2 * (predicted + rents)[rows, best]
            - (costs + rents)[rows, best]
            - np.min(extrapolated + rents, axis=1)
        )
    np.testing.assert_allclose(values, expected, atol=1e-9)


def test_trainings_with_pools_count_rows_that_no_pool_serves():
    problem, features, costs, rents = with_rents()
    _, report = rl.train(problem, features, costs, "MAP", parameters={"rents": rents}, epochs=2)
    assert report.solves_by_kind.unpooled_rows > 0


def test_given_decisions_are_refused_where_only_the_function_knows_their_costs():
    problem, features, costs, rents = with_rents()
    decisions = np.tile([1.0, 0.0, 0.0], (60, 1))
    with pytest.raises(ValueError, match="known costs besides the predicted ones"):
        rl.backtest(
            problem,
            features,
            costs,
            time=np.arange(60),
            methods=[],
            decisions=decisions,
            parameters={"rents": rents},
        )


def cheapest_with_fee(costs):
    """Choose one; every choice has a fee of its own."""
    fees = np.array([3.0, 0.0, 5.0])
    decision = np.zeros(3)
    decision[np.argmin(costs + fees)] = 1
    return decision, decision @ (costs + fees)


def test_labels_of_given_decisions_are_refused_where_the_function_adds_known_costs():
    problem = rl.Problem.from_solver(cheapest_with_fee, 3, sense="minimize")
    # The first row has no known cost, the next one with another decision has.
    costs = np.tile([1.0, 2.0, 3.0], (60, 1))
    costs[30] = [1.0, 9.0, 9.0]
    decisions = rl.label(problem, costs).decisions
    with pytest.raises(ValueError, match=r"row 30: by 3\), and given decisions do not contain"):
        rl.Labels.from_decisions(problem, costs, decisions)
    plain = rl.Problem.from_solver(lambda costs: cheapest_with_fee(costs)[0], 3, sense="minimize")
    assert rl.Labels.from_decisions(plain, costs, decisions).objectives[0] == 2.0


def test_known_costs_that_depend_on_the_costs_are_refused():
    def cheapest_with_tax(costs):
        decision = np.zeros(len(costs))
        decision[np.argmin(costs)] = 1
        return decision, 1.1 * (decision @ costs)

    problem = rl.Problem.from_solver(cheapest_with_tax, 6, sense="minimize")
    with pytest.raises(ValueError, match="depends on the costs: rows .* have the same decision"):
        rl.label(problem, COSTS)


def test_known_costs_are_compared_at_other_costs_where_no_decision_is_repeated():
    def ranked_with_tax(costs):
        decision = np.argsort(np.argsort(-costs)).astype(float)
        return decision, 1.1 * (decision @ costs)

    problem = rl.Problem.from_solver(ranked_with_tax, 6, sense="minimize", binary=False)
    _, different = np.unique(np.argsort(COSTS), axis=0, return_index=True)
    with pytest.raises(ValueError, match="if all costs are 1.25 times as high"):
        rl.label(problem, COSTS[different])


def test_known_costs_of_a_heuristic_that_change_are_a_warning():
    def with_tax(costs):
        decision = np.zeros(6)
        decision[np.argmin(costs)] = 1
        return decision, 1.1 * (decision @ costs)

    problem = rl.Problem.from_solver(with_tax, 6, sense="minimize", exact=False)
    with pytest.warns(UserWarning, match="the difference depends on the costs"):
        assert len(rl.label(problem, COSTS)) == 60


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


def test_objectives_of_terms_that_cancel_may_be_rounded():
    def long_short(costs):
        # Buy the cheapest, sell the dearest; the objective in single precision.
        decision = np.zeros(6)
        decision[np.argmin(costs)], decision[np.argmax(costs)] = 1, -1
        return decision, float(np.float32(decision) @ np.float32(costs)) + 1e-3

    problem = rl.Problem.from_solver(long_short, 6, sense="minimize", binary=False)
    costs = 1e4 + np.random.default_rng(1).uniform(0, 1e-2, size=(60, 6))
    labels = rl.label(problem, costs)
    np.testing.assert_allclose(labels.objectives, costs.min(axis=1) - costs.max(axis=1), atol=0.01)


def test_known_costs_that_depend_on_decisions_alone_are_accepted():
    problem = rl.Problem.from_solver(cheapest_with_fee, 3, sense="minimize")
    labels = rl.label(problem, COSTS[:, :3])
    expected = np.min(COSTS[:, :3] + np.array([3.0, 0.0, 5.0]), axis=1)
    np.testing.assert_allclose(labels.objectives, expected, rtol=1e-6)


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


SETTINGS = {"methods": ["MSE"], "epochs": 2}
USES_OF_LABELS = {
    "train": lambda p, X, C: rl.train(p, X, C, "MSE", epochs=2),
    "compare": lambda p, X, C: rl.compare(p, X, C, seeds=1, **SETTINGS),
    "backtest": lambda p, X, C: rl.backtest(p, X, C, time=np.arange(len(C)), **SETTINGS),
    "evaluate": lambda p, X, C: rl.evaluate(p, C, C=C),
    "regret": lambda p, X, C: rl.regret(p, C, C),
    "loss": lambda p, X, C: rl.Loss(p, C, "SPO+"),
}


def split_order(costs):
    """Ten units at prices that rise by 1 with every unit: costs·x + x·x / 2 is least."""
    ascending = np.sort(costs)
    prices = (10 + np.cumsum(ascending)) / np.arange(1, len(costs) + 1)
    return np.maximum(prices[ascending < prices][-1] - costs, 0)


@pytest.mark.parametrize("use", USES_OF_LABELS)
def test_a_quadratic_objective_is_named_as_a_cause_wherever_rows_are_labeled(use):
    problem = rl.Problem.from_solver(split_order, 6, sense="minimize", binary=False)
    remedy = f"{BOTH_CAUSES}.* such as quadratic .* return the pair"
    with pytest.warns(UserWarning, match=remedy) as found:
        USES_OF_LABELS[use](problem, X, COSTS)
    causes = [str(warning.message) for warning in found if "quadratic" in str(warning.message)]
    assert len(causes) == 1
    assert "does the function really" not in causes[0]


def test_a_quadratic_objective_that_is_returned_is_part_of_regret():
    def solve(costs):
        amounts = split_order(costs)
        return amounts, costs @ amounts + amounts @ amounts / 2

    problem = rl.Problem.from_solver(solve, 6, sense="minimize", binary=False)
    predicted = COSTS[::-1] * 0.9
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        regrets = rl.regret(problem, predicted, COSTS)

    def objective(costs, amounts):
        return costs @ amounts + amounts @ amounts / 2

    expected = [
        objective(true, split_order(guess)) - objective(true, split_order(true))
        for true, guess in zip(COSTS.astype(float), predicted.astype(float))
    ]
    assert min(expected) > 0
    np.testing.assert_allclose(regrets, expected, atol=1e-4)


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


def test_negative_regret_relative_to_an_objective_of_zero_is_reported():
    problem = rl.Problem.from_solver(lambda costs: np.eye(2)[np.argmax(costs)], 2, sense="minimize")
    # Equal rows have equal labels, none of which is better for another row.
    costs = np.tile([-1.0, 0.0], (12, 1))
    with pytest.warns(UserWarning, match="12 rows have negative regret"):
        rl.evaluate(problem, -costs - 1.5, C=costs)
