"""Problems solved by Python functions in pools of processes and after a fork."""

import concurrent.futures
import multiprocessing
import os
import signal
import threading

import numpy as np
import pytest
from python_solvers import COSTS, cheapest, right

import regretless as rl


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
