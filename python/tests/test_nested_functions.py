"""Functions that use the package themselves, fail, or are interrupted."""

import concurrent.futures
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest
from python_solvers import COSTS, right

import regretless as rl

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
