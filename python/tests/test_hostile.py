"""Hostile input and use: sizes from outside, odd files and names, shared objects, two processes."""

import concurrent.futures
import os
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

import regretless as rl

# Address space beyond that of the interpreter with its libraries. Refusing a size takes none.
MAX_MEMORY_BYTES = 1 << 30
# Ends a process that hangs; nothing is expected to take that long.
HANG_LIMIT = 120

SACK = rl.Problem("KS8")
X, C = rl.generate("KS8", instances=50)
TOUR, TOUR_COSTS = rl.Problem("TSP10", seed=4), rl.generate("TSP10", instances=300, seed=4)[1]

ESCAPES = "\x1b]0;owned\x07\x1b[31m\u202e"


def run_in_child(code, **options):
    """Runs code in a process of its own, which may be ended by what it does."""
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        timeout=HANG_LIMIT,
        **options,
    )


TSPLIB_HEAD = (
    "NAME: t\\nTYPE: TSP\\nEDGE_WEIGHT_TYPE: EXPLICIT\\nEDGE_WEIGHT_FORMAT: FULL_MATRIX\\n"
)
SIZES = {
    "knapsack": "rl.Problem('KS100000000000')",
    "knapsack of 64 bits": "rl.Problem('KS18446744073709551615')",
    "grid": "rl.Problem('SP100000x100000')",
    "grid of 64 bits": "rl.Problem('SP4294967296x4294967296')",
    "tour": "rl.Problem('TSP65535')",
    "routes": "rl.Problem('CVRP65535')",
    "rows of 64 bits": "rl.generate('KS8', instances=2**63)",
    "rows": "rl.generate('KS8', instances=10**12)",
    "features": "rl.generate('KS8', instances=10, features=10**12)",
    "top k": "rl.Problem({'kind': 'top_k', 'items': 2**62, 'k': 1, 'sense': 'minimize'})",
    "items beyond memory": "rl.Problem('KS100000000')",
    "rows beyond memory": "rl.generate('KS8', instances=10**8)",
    "hidden layers beyond memory": "train(predictor='mlp:20000,20000')",
    "hidden layers": "train(predictor='mlp:100000,100000')",
    "hidden layer of 64 bits": "train(predictor='mlp:18446744073709551615')",
    "split": "train(split='18446744073709551615,1,1')",
    "threads": "train(threads=10**18)",
    "tour file": "rl.Problem.from_file(file('t.tsp', "
    f"'{TSPLIB_HEAD}DIMENSION: 65535\\nEDGE_WEIGHT_SECTION\\n1 2\\nEOF\\n'))",
    "tour file without its weights": "rl.Problem.from_file(file('t.tsp', "
    f"'{TSPLIB_HEAD}DIMENSION: 20000\\nEDGE_WEIGHT_SECTION\\n1 2\\nEOF\\n'))",
    "problem file": "rl.Problem(file('p.toml', "
    "'kind = \"grid_path\"\\ngrid = [4294967296, 4294967296]\\n'))",
    "model": "rl.Model.from_bytes((2**63 - 1).to_bytes(8, 'little') + b'{}')",
}


@pytest.mark.skipif(sys.platform != "linux", reason="limits the address space as Linux does")
@pytest.mark.parametrize("name", SIZES)
def test_sizes_that_no_machine_has_raise_ordinary_exceptions(name, tmp_path):
    """An allocation that fails would abort the process."""
    code = f"""
    import resource, numpy as np, regretless as rl
    def file(name, text):
        with open(name, "w") as out:
            out.write(text)
        return name
    X, C = rl.generate("KS8", instances=40)
    def train(**arguments):
        rl.train(rl.Problem("KS8"), X, C, "MAE(O,S)", epochs=1, **arguments)
    train(threads=2)
    used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    limit = used + {MAX_MEMORY_BYTES}
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    try:
        {SIZES[name]}
    except (ValueError, OverflowError) as error:
        print("refused")
    """
    child = run_in_child(code, cwd=tmp_path)
    assert (child.returncode, child.stdout) == (0, "refused\n"), child.stderr


def test_a_batch_has_at_most_all_rows():
    X, C = rl.generate("KS8", instances=40)
    arguments = {"epochs": 2, "split": (20, 10, 10)}
    whole, _ = rl.train(rl.Problem("KS8"), X, C, "MAE(O,S)", batch_size=20, **arguments)
    for batch_size in [10**11, 10**18]:
        model, _ = rl.train(rl.Problem("KS8"), X, C, "MAE(O,S)", batch_size=batch_size, **arguments)
        # The record of the training, which has the batch size, differs.
        np.testing.assert_array_equal(model.coefficients, whole.coefficients)
        np.testing.assert_array_equal(model.intercepts, whole.intercepts)


@pytest.mark.parametrize("name", ["KS8", "SP4x4", "TSP6", "TSP12", "CVRP6"])
@pytest.mark.parametrize("cost", [1e308, -1e308, 1e101, np.inf, np.nan])
def test_costs_whose_sums_overflow_are_refused(name, cost):
    problem = rl.Problem(name)
    costs = np.ones((1, problem.num_costs))
    costs[0, 1] = cost
    with pytest.raises((RuntimeError, ValueError), match="cost|not a finite number"):
        problem.solve(costs[0])
    solutions = problem.solve_all(np.ones((1, problem.num_costs)))
    assert np.isfinite(solutions.objectives).all(), "the problem still works"


@pytest.mark.parametrize("heuristic", [None, "node-limit 100"])
def test_integer_bounds_next_to_an_integer_end(heuristic):
    """HiGHS ran forever on a bound of 1e-9 with a limit of nodes."""
    code = f"""
    import regretless as rl
    column = {{"lower": 1e-9, "upper": 10, "integer": True}}
    arrays = {{"kind": "linear_arrays", "name": "f", "rows": [], "columns": [column]}}
    problem = rl.Problem({{**arrays, "sense": "minimize"}})
    print(problem.solve([1.0], heuristic={heuristic!r}).decision.tolist())
    """
    child = run_in_child(code)
    assert (child.returncode, child.stdout) == (0, "[0.0]\n"), child.stderr


MESSAGES = {
    "benchmark": lambda folder: rl.Problem(f"KS{ESCAPES}"),
    "method": lambda folder: rl.train(SACK, X, C, f"MSE{ESCAPES}"),
    "predictor": lambda folder: rl.train(SACK, X, C, predictor=f"mlp{ESCAPES}"),
    "optimizer": lambda folder: rl.train(SACK, X, C, optimizer=f"adam{ESCAPES}"),
    "cost name": lambda folder: rl.train(SACK, X, C, cost_names=[f"c{ESCAPES}"] * 8),
    "problem file": lambda folder: rl.Problem.from_file(odd_problem_file(folder)),
    "missing file": lambda folder: rl.Problem.from_file(folder / f"u{ESCAPES}\nline"),
    "model": lambda folder: rl.Model.load(folder / f"m{ESCAPES}\nline"),
}


def odd_problem_file(folder):
    path = folder / f"t{ESCAPES}.toml"
    path.write_text('kind = "top_k"\nitems = 5\nk = 6\nsense = "minimize"\n')
    return path


@pytest.mark.parametrize("source", MESSAGES)
def test_messages_escape_control_characters(source, tmp_path):
    with pytest.raises((ValueError, OSError)) as error:
        MESSAGES[source](tmp_path)
    text = str(error.value)
    assert "\\u{1b}" in text, text
    assert not [c for c in text if ord(c) < 32 or "\u202a" <= c <= "\u202e"], ascii(text)


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are bytes on Linux")
def test_files_whose_names_are_not_utf8_are_read_and_written(tmp_path):
    folder = os.fsencode(tmp_path)
    problem = os.fsdecode(folder + b"/problem\xff.toml")
    with open(problem, "w") as out:
        out.write("kind = 'top_k'\nitems = 8\nk = 2\nsense = 'minimize'\n")
    assert rl.Problem.from_file(problem).num_costs == 8
    model, _ = rl.train(SACK, X, C, method="MAE(O,S)", epochs=1)
    path = os.fsdecode(folder + b"/model\xff.safetensors")
    model.save(path)
    assert rl.Model.load(path) == model
    store = os.fsdecode(folder + b"/labels\xff")
    labels, again = (rl.label(SACK, C, store=store) for _ in range(2))
    assert (again.decisions == labels.decisions).all()
    assert sorted(os.listdir(folder))[1:] == [b"model\xff.safetensors", b"problem\xff.toml"]


@pytest.mark.filterwarnings("ignore:The regret is that of")
@pytest.mark.skipif(sys.platform != "linux", reason="/proc and /dev/full of Linux")
def test_outputs_that_cannot_be_written_are_refused_by_name(tmp_path):
    """Nobody can create files in /proc, not even root."""
    model, _ = rl.train(SACK, X, C, method="MAE(O,S)", epochs=1)
    with pytest.raises(OSError, match="/proc/m.safetensors"):
        model.save("/proc/m.safetensors")
    with pytest.raises(OSError, match="/dev/full: is not a regular file"):
        model.save("/dev/full", force=True)
    with pytest.raises(OSError, match="/proc/m.checkpoints"):
        rl.train(SACK, X, C, method="MAE(O,S)", epochs=1, checkpoint="/proc/m")
    with pytest.warns(UserWarning, match="labels could not be stored.*/proc/"):
        labels = rl.label(SACK, C, store="/proc/labels")
    assert len(labels) == len(C)


@pytest.mark.skipif(os.name != "posix", reason="limits of POSIX")
def test_a_full_disk_leaves_nothing(tmp_path):
    """A limit of the size of files stands for a full disk; writing fails in the middle."""
    code = """
    import resource, signal, regretless as rl
    X, C = rl.generate("KS1000", instances=60)
    problem = rl.Problem("KS1000")
    model, _ = rl.train(problem, X, C, "MSE", epochs=1)
    # Python ignores the signal of the limit anyway; a write then fails with an error.
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2048, 2048))
    try:
        model.save("m.safetensors")
    except OSError as error:
        print("refused", "m.safetensors" in str(error))
    """
    child = run_in_child(code, cwd=tmp_path)
    assert (child.returncode, child.stdout) == (0, "refused True\n"), child.stderr
    assert list(tmp_path.iterdir()) == []


def test_two_processes_label_in_one_folder(tmp_path):
    """Both end with the labels of one process, and leave one file."""
    alone = rl.label(TOUR, TOUR_COSTS, store=tmp_path / "alone")
    code = """
    import pathlib, time, numpy as np, regretless as rl
    costs = rl.generate("TSP10", instances=300, seed=4)[1]
    pathlib.Path("ready NUMBER").touch()
    while not pathlib.Path("go").exists():
        time.sleep(0.001)
    labels = rl.label(rl.Problem("TSP10", seed=4), costs, store="shared")
    print(labels.objectives.sum())
    """
    children = [
        subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(code.replace("NUMBER", str(number)))],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(2)
    ]
    deadline = time.monotonic() + HANG_LIMIT
    while not all((tmp_path / f"ready {number}").exists() for number in range(2)):
        assert all(child.poll() is None for child in children)
        assert time.monotonic() < deadline
        time.sleep(0.01)
    (tmp_path / "go").touch()
    for child in children:
        out, err = child.communicate(timeout=HANG_LIMIT)
        assert (child.returncode, out.strip()) == (0, str(alone.objectives.sum())), err
    [expected] = (tmp_path / "alone.labels").iterdir()
    [found] = (tmp_path / "shared.labels").iterdir()
    assert (found.name, found.read_bytes()) == (expected.name, expected.read_bytes())


THREADS = 8


def shared_uses():
    """Uses of one problem, one model and one loss; each returns something that can be compared."""
    labels = rl.label(SACK, C)
    model, _ = rl.train(SACK, X, C, "SPO+", epochs=2, labels=labels)
    loss = rl.Loss(SACK, C, "SPO+", labels=labels)
    squares = rl.Loss(SACK, C, "MSE", labels=labels)
    return {
        "solve": lambda i: SACK.solve(C[i]).decision.tolist(),
        "solve_all": lambda i: SACK.solve_all(C[i:], threads=1 + i % 3).decisions.tolist(),
        "label": lambda i: rl.label(SACK, C[i:], threads=2).objectives.tolist(),
        "train": lambda i: rl.train(
            SACK, X, C, "SPO+", epochs=1, labels=labels, seed=i, threads=1 + i % 2
        )[0].to_bytes(),
        "predict": lambda i: model.predict(X[i:]).tolist(),
        "decide": lambda i: model.decide(X[i:]).decisions.tolist(),
        "evaluate": lambda i: model.evaluate(X[i:], C[i:]).regret,
        "loss": lambda i: [
            part.tolist() for part in loss.evaluate(C[i:] + i, list(range(i, len(C))))
        ],
        "squares": lambda i: [
            part.tolist() for part in squares.evaluate(C[i:] + i, list(range(i, len(C))))
        ],
        "bytes": lambda i: model.to_bytes(),
        "dict": lambda i: SACK.to_dict(),
        "solver": lambda i: rl.Solver(SACK).solve(C[i])[0].tolist(),
    }


def test_objects_shared_by_threads_give_the_results_of_one_thread():
    uses = shared_uses()
    calls = [(name, number) for number in range(12) for name in uses]
    expected = {call: uses[call[0]](call[1]) for call in calls}
    with concurrent.futures.ThreadPoolExecutor(THREADS) as pool:
        found = list(pool.map(lambda call: uses[call[0]](call[1]), calls))
    for call, result in zip(calls, found):
        assert result == expected[call], call


def test_exceptions_of_a_function_reach_only_their_caller():
    """Eight threads share one function, some of whose calls raise, in every kind of use."""

    def solve(costs):
        if costs[0] == 99:
            raise KeyError(int(costs[1]))
        return np.arange(len(costs)) == np.argmin(costs)

    problem = rl.Problem.from_solver(solve, 8, sense="minimize")
    good = rl.label(problem, C)
    loss = rl.Loss(problem, C, "SPO+", labels=good)

    def costs_of(number):
        costs = C.copy()
        if number % 3 == 0:
            costs[20, :2] = 99, number
        return costs

    uses = {
        "solve_all": lambda costs: problem.solve_all(costs, threads=2).decisions.tolist(),
        "label": lambda costs: rl.label(problem, costs).decisions.tolist(),
        "regret": lambda costs: rl.regret(problem, costs, C, labels=good).tolist(),
        "loss": lambda costs: loss.evaluate(0.5 * (costs + C), list(range(len(C))))[0].tolist(),
    }

    def outcome(call):
        name, number = call
        try:
            return uses[name](costs_of(number))
        except KeyError as error:
            return error.args

    calls = [(name, number) for number in range(24) for name in uses]
    expected = [outcome(call) for call in calls]
    assert any(isinstance(result, tuple) for result in expected)
    with concurrent.futures.ThreadPoolExecutor(THREADS) as pool:
        assert list(pool.map(outcome, calls)) == expected
