"""Processes, threads and signals: Ctrl-C, fork, progress."""

import concurrent.futures
import contextlib
import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

import regretless as rl

X, C = rl.generate("KS32", instances=200, seed=2)
PROBLEM = rl.Problem("KS32", seed=2)

# Ends a child that hangs, and the test with it. All work below would take many times as long, so
# a child that ends earlier was stopped.
HANG_LIMIT = 60.0

# Values close to the weights in eight dimensions: bounds hardly ever prune, and a row takes hours.
HARD_KNAPSACK = """
W = np.floor(np.random.default_rng(1).uniform(100, 1000, (8, 200)))
capacity = (W.sum(1) / 2).tolist()
hard = rl.Problem({"kind": "knapsack", "weights": W.tolist(), "capacity": capacity})
"""

ENDLESS = {
    "solve_all": "hard.solve_all(np.stack([W.mean(0) + 50] * 4), threads={threads})",
    "train": "rl.train(grid, *paths, 'PFYL(samples=50)', epochs=10**6, threads={threads})",
    "callable": "nested_problem.solve_all(np.ones((10**5, 40)), threads={threads})",
    "fused": "rl.train(grid, *paths, epochs=10**9, select='last', threads={threads})",
    "generate": "rl.generate('TSP150', instances=8000, features=4000)",
}


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize(
    "work, threads", [(name, n) for name in ENDLESS for n in (1, 2) if (name, n) != ("generate", 2)]
)
def test_control_c_stops_long_work(work, threads):
    code = f"""
    import time, numpy as np, regretless as rl
    exec({HARD_KNAPSACK!r})
    def slow(costs):
        time.sleep(0.01)
        return np.eye(40)[0]
    nested_problem = rl.Problem.from_solver(slow, 40, sense="minimize")
    grid, paths = rl.Problem("SP20x20"), rl.generate("SP20x20")
    print("ready", flush=True)
    try:
        {ENDLESS[work].format(threads=threads)}
    except KeyboardInterrupt:
        print("stopped", flush=True)
    """
    with child_of(code) as child:
        assert child.stdout.readline() == "ready\n"
        time.sleep(1.0)
        assert child.poll() is None, "the work ended before it could be stopped"
        child.send_signal(signal.SIGINT)
        assert child.stdout.readline() == "stopped\n"
        assert child.wait() == 0


@contextlib.contextmanager
def child_of(code):
    """A Python process that reacts to Ctrl-C and is ended if it hangs."""
    # Shells disable Ctrl-C for background processes, and children inherit that.
    enable_ctrl_c = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)  # noqa: E731
    command = [sys.executable, "-c", textwrap.dedent(code)]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, preexec_fn=enable_ctrl_c)
    too_late = threading.Timer(HANG_LIMIT, child.kill)
    too_late.start()
    try:
        yield child
    finally:
        too_late.cancel()
        child.kill()


SINGLE = {
    "tour": ("rl.Problem('TSP1000')", "distances(1000)"),
    "routes": ("rl.Problem('CVRP60')", "rng.uniform(10, 11, 60 * 59 // 2)"),
    "knapsack": ("hard", "W.mean(0) + 50"),
    "model": ("model()", "-(W.mean(0) + 50)"),
}


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize("kind", SINGLE)
def test_control_c_stops_a_single_solve(kind):
    problem, costs = SINGLE[kind]
    code = f"""
    import numpy as np, regretless as rl
    exec({HARD_KNAPSACK!r})
    rng = np.random.default_rng(1)
    def distances(nodes):
        places = rng.uniform(0, 1000, (nodes, 2))
        between = np.hypot(*(places[:, None] - places[None]).transpose(2, 0, 1))
        return np.rint(between[np.triu_indices(nodes, 1)])
    def model():
        columns = [{{"lower": 0.0, "upper": 1.0, "integer": True}} for _ in range(200)]
        rows = [{{"upper": row.sum() // 2, "entries": list(enumerate(row.tolist()))}} for row in W]
        numbers = {{"name": "m", "sense": "minimize", "columns": columns, "rows": rows}}
        return rl.Problem({{"kind": "linear_arrays", **numbers}})
    problem, costs = {problem}, {costs}
    print("ready", flush=True)
    try:
        problem.solve(costs)
        print("ended by itself", flush=True)
    except KeyboardInterrupt:
        print("stopped", flush=True)
    """
    with child_of(code) as child:
        assert child.stdout.readline() == "ready\n"
        time.sleep(1.0)
        child.send_signal(signal.SIGINT)
        assert child.stdout.readline() == "stopped\n"
        assert child.wait() == 0


def solved(threads):
    return PROBLEM.solve_all(C, threads=threads).objectives.tolist()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_works_on_threads_of_its_own():
    right = solved(2)
    child = os.fork()
    if child == 0:
        # The alarm ends a hang, which fails the test.
        signal.alarm(60)
        ok = solved(2) == right and rl.train(PROBLEM, X, C, "SPO+", epochs=1, threads=2) is not None
        os._exit(0 if ok else 1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert solved(2) == right


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_pools_of_processes_work(method):
    right = solved(2)
    context = multiprocessing.get_context(method)
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
        found = [job.result(timeout=120) for job in [pool.submit(solved, 2) for _ in range(3)]]
    assert found == [right] * 3


def test_python_runs_while_rust_works():
    """A thread of Python counts while another solves a problem that takes hours."""
    code = f"""
    import os, threading, time, numpy as np, regretless as rl
    exec({HARD_KNAPSACK!r})
    solving = threading.Thread(target=hard.solve_all, args=(W.mean(0)[None] + 50,), daemon=True)
    solving.start()
    # Each sleep gives the lock of the interpreter away, and needs it back.
    for _ in range(1000):
        time.sleep(0.001)
    print("counted", solving.is_alive(), flush=True)
    os._exit(0)
    """
    with child_of(code) as child:
        assert child.stdout.readline() == "counted True\n"
        assert child.wait() == 0


def test_several_threads_of_python_may_solve_at_once():
    right = solved(1)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        assert list(pool.map(solved, [1, 2, 1, 2])) == [right] * 4


@pytest.mark.parametrize("bar", ["tqdm", None])
def test_progress_is_shown_on_standard_error(bar):
    if bar:
        pytest.importorskip(bar)
    hide = "" if bar else "import sys; sys.modules['tqdm'] = sys.modules['tqdm.auto'] = None"
    code = f"""
    {hide}
    import numpy as np, time, regretless as rl
    def slow(costs):
        time.sleep(0.01)
        return np.eye(4)[0]
    rl.Problem.from_solver(slow, 4, sense='minimize').solve_all(np.ones((250, 4)), progress=True)
    """
    shown = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True
    )
    assert "solving" in shown.stderr and "/250" in shown.stderr
    assert shown.stdout == ""


@pytest.mark.skipif(sys.platform != "linux", reason="counts switches of a thread as Linux does")
def test_short_calls_run_on_the_calling_thread():
    """A loss of small batches is evaluated thousands of times in a training of torch."""
    import resource

    def switches():
        return resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw

    loss = rl.Loss(PROBLEM, C, "MAE(O,S)")
    rows = list(range(32))
    predictions = np.ascontiguousarray(C[:32])
    loss.evaluate(predictions, rows)
    before, calls = switches(), 500
    for _ in range(calls):
        loss.evaluate(predictions, rows)
    # A call that waits for another thread switches at least once.
    assert switches() - before < calls / 5
