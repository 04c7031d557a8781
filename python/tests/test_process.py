"""Processes, threads and signals: Ctrl-C, fork, progress."""

import concurrent.futures
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

LONG = {
    "solve_all": "tours.solve_all(rl.generate('TSP40', instances=20000)[1], threads={threads})",
    "train": "rl.train(grid, *rl.generate('SP20x20'), 'PFYL(samples=50)', threads={threads})",
    "callable": "nested_problem.solve_all(np.ones((10000, 40)), threads={threads})",
    "fused": "rl.train(grid, *rl.generate('SP20x20'), epochs=10**6, select='last', "
    "threads={threads})",
    "generate": "rl.generate('TSP1000', instances=1000)",
}


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("work", LONG)
def test_control_c_stops_within_a_second(work, threads):
    code = f"""
    import time, numpy as np, regretless as rl
    def slow(costs):
        time.sleep(0.01)
        return np.eye(40)[0]
    nested_problem = rl.Problem.from_solver(slow, 40, sense="minimize")
    tours, grid = rl.Problem("TSP40"), rl.Problem("SP20x20")
    print("ready", flush=True)
    try:
        {LONG[work].format(threads=threads)}
    except KeyboardInterrupt:
        print("stopped", flush=True)
    """
    command = [sys.executable, "-c", textwrap.dedent(code)]
    # Shells disable Ctrl-C for background processes, and children inherit that.
    enable_ctrl_c = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)  # noqa: E731
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, preexec_fn=enable_ctrl_c)
    too_late = threading.Timer(60.0, child.kill)
    too_late.start()
    try:
        assert child.stdout.readline() == "ready\n"
        time.sleep(2.0)
        assert child.poll() is None, "the work ended before it could be stopped"
        begun = time.monotonic()
        child.send_signal(signal.SIGINT)
        assert child.stdout.readline() == "stopped\n"
        assert time.monotonic() - begun < 1.0
        assert child.wait(10) == 0
    finally:
        too_late.cancel()
        child.kill()


SINGLE = {
    "tour": ("rl.Problem('TSP1000')", "distances(1000)"),
    "routes": ("rl.Problem('CVRP60')", "rng.uniform(10, 11, 60 * 59 // 2)"),
    "knapsack": ("knapsack()", "W.mean(0) + 50"),
    "model": ("model()", "-(W.mean(0) + 50)"),
}


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize("kind", SINGLE)
def test_control_c_stops_a_single_solve(kind):
    problem, costs = SINGLE[kind]
    code = f"""
    import numpy as np, regretless as rl
    rng = np.random.default_rng(1)
    W = np.floor(rng.uniform(100, 1000, (8, 200)))
    def distances(nodes):
        places = rng.uniform(0, 1000, (nodes, 2))
        between = np.hypot(*(places[:, None] - places[None]).transpose(2, 0, 1))
        return np.rint(between[np.triu_indices(nodes, 1)])
    def knapsack():
        capacity = (W.sum(1) / 2).tolist()
        return rl.Problem({{"kind": "knapsack", "weights": W.tolist(), "capacity": capacity}})
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
    enable_ctrl_c = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)  # noqa: E731
    command = [sys.executable, "-c", textwrap.dedent(code)]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, preexec_fn=enable_ctrl_c)
    # A search that ignores Ctrl-C would run for hours, and the test with it.
    too_late = threading.Timer(120.0, child.kill)
    too_late.start()
    try:
        assert child.stdout.readline() == "ready\n"
        time.sleep(1.0)
        child.send_signal(signal.SIGINT)
        assert child.stdout.readline() == "stopped\n"
        assert child.wait(60) == 0
    finally:
        too_late.cancel()
        child.kill()


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
    """A thread of Python counts while another solves."""
    counted, done = [0], threading.Event()

    def count():
        while not done.is_set():
            counted[0] += 1
            time.sleep(0.001)

    counter = threading.Thread(target=count)
    counter.start()
    costs = rl.generate("TSP30", instances=400)[1]
    begun = time.monotonic()
    rl.Problem("TSP30").solve_all(costs, threads=1)
    took = time.monotonic() - begun
    done.set()
    counter.join()
    assert counted[0] > 50 * took


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


def test_short_calls_cost_little():
    """A loss of small batches is evaluated thousands of times in a training of torch."""
    loss = rl.Loss(PROBLEM, C, "MAE(O,S)")
    rows = list(range(32))
    predictions = np.ascontiguousarray(C[:32])
    loss.evaluate(predictions, rows)
    begun = time.thread_time()
    for _ in range(200):
        loss.evaluate(predictions, rows)
    assert (time.thread_time() - begun) / 200 < 0.001


SIZES = [
    "rl.Problem('KS100000000000')",
    "rl.Problem('KS18446744073709551615')",
    "rl.Problem('SP100000x100000')",
    "rl.Problem('TSP65535')",
    "rl.generate('KS8', instances=2**63)",
    "rl.generate('KS8', instances=10**12)",
    "rl.generate('KS8', instances=10, features=10**12)",
]


@pytest.mark.parametrize("call", SIZES)
def test_sizes_that_no_machine_has_raise_ordinary_exceptions(call):
    """In a separate process, which an aborted allocation would end."""
    errors = "(ValueError, MemoryError, OverflowError)"
    code = f"import regretless as rl\ntry:\n    {call}\nexcept {errors}:\n    print('refused')"
    child = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120
    )
    assert (child.returncode, child.stdout) == (0, "refused\n"), child.stderr
