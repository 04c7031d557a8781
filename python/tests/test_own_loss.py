"""Custom losses: values, refusals, senses, solver calls, the command line, Ctrl-C."""

import functools
import importlib
import json
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import time
import traceback

import numpy as np
import pytest

import regretless as rl

HANG_LIMIT = 60
"""Seconds after which a command counts as hung. Not a limit on its speed."""

SETTINGS = {"epochs": 4, "split": (60, 30, 30), "fused": False}


def squares(predicted, true):
    error = predicted - true
    return (error**2).mean(axis=1), 2 * error / error.shape[1]


def make_spo_plus(sign, name, **options):
    """SPO+ as the papers write it for a minimization; gains have the other sign."""

    @rl.loss(name=name, **options)
    def spo_plus(predicted, true, decisions, objectives, solve):
        found, optimum = solve(2 * predicted - true)
        values = 2 * (predicted * decisions).sum(axis=1) - objectives - optimum
        return sign * values, sign * 2 * (decisions - found)

    return spo_plus


@pytest.fixture(scope="module")
def knapsack():
    """A maximization."""
    return rl.Problem("KS8"), *rl.generate("KS8", instances=120)


@pytest.fixture(scope="module")
def paths():
    """A minimization."""
    return rl.Problem("SP4x4"), *rl.generate("SP4x4", instances=120)


def parameters_of(model, X):
    return model.predict(X[:20])


def test_squares_of_ones_own_train_the_model_of_mse(knapsack, paths):
    own = rl.loss(squares, name="own-squares")
    for problem, X, C in (knapsack, paths):
        model, report = rl.train(problem, X, C, method=own, **SETTINGS)
        expected, built_in = rl.train(problem, X, C, method="MSE", **SETTINGS)
        np.testing.assert_allclose(
            parameters_of(model, X), parameters_of(expected, X), rtol=1e-4, atol=1e-4
        )
        assert report.method == "own-squares"
        assert report.solves == built_in.solves
        assert report.test.regret == pytest.approx(built_in.test.regret, rel=1e-3)


@pytest.mark.parametrize("settings", ["", " cache 30%", " relax"])
@pytest.mark.parametrize("name", ["knapsack", "paths"])
def test_spo_plus_of_ones_own_is_spo_plus_with_the_same_solves(name, settings, request):
    problem, X, C = request.getfixturevalue(name)
    sign = -1 if name == "knapsack" else 1
    make_spo_plus(sign, "own-spo", check_gradient=False)
    if name == "paths" and settings == " relax":
        settings = ""
    found = []
    for threads in (1, 2):
        model, report = rl.train(
            problem, X, C, method=f"own-spo{settings}", threads=threads, **SETTINGS
        )
        _, built_in = rl.train(problem, X, C, method=f"SPO+{settings}", **SETTINGS)
        assert report.solves_by_kind == built_in.solves_by_kind
        assert report.test.regret == pytest.approx(built_in.test.regret, rel=1e-3, abs=1e-6)
        found.append(model.to_bytes())
    assert found[0] == found[1]


def test_the_function_sees_gains_where_the_problem_maximizes(knapsack):
    problem, X, C = knapsack
    seen = {}

    @rl.loss(check_gradient=False)
    def sees(predicted, true, decisions, objectives, rows, epoch, seed, solve):
        found, optimum = solve(true)
        np.testing.assert_allclose(optimum, objectives, rtol=1e-5)
        np.testing.assert_allclose(true, C[rows], rtol=1e-5)
        np.testing.assert_allclose((true * decisions).sum(axis=1), objectives, rtol=1e-5)
        assert (true > 0).all() and (objectives > 0).all()
        seen[epoch] = seed
        return squares(predicted, true)

    rl.train(problem, X, C, method=sees, seed=7, **SETTINGS)
    assert set(seen) == {1, 2, 3, 4} and set(seen.values()) == {7}


def test_values_and_gradients_are_those_of_the_function(knapsack):
    problem, _, C = knapsack
    own = rl.loss(squares, name="own-squares")
    predictions = C + np.random.default_rng(0).normal(size=C.shape)
    values, gradients = rl.Loss(problem, C, own).evaluate(predictions)
    expected, slopes = rl.Loss(problem, C, "MSE").evaluate(predictions)
    np.testing.assert_allclose(values, expected)
    np.testing.assert_allclose(gradients, slopes)
    np.testing.assert_allclose(own(predictions, C)[0], expected)


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (lambda v, g: v, r"must return \(values, gradients\)"),
        (lambda v, g: (v, g, g), "3 values"),
        (lambda v, g: (v[:-1], g), r"values of shape \(2,\), not \(3,\)"),
        (lambda v, g: (v.sum(), g), r"values of shape \(\), not \(3,\)"),
        (lambda v, g: (v, g[:, 1:]), r"gradients of shape \(3, 7\), not \(3, 8\)"),
        (lambda v, g: (v * np.nan, g), "values that are not finite: nan for row 0"),
        (lambda v, g: (v, g / 0), "gradients that are not finite"),
        (lambda v, g: (v, ["text"]), "gradients that are not numbers"),
        (lambda v, g: (v, g / 2), "the gradient of the loss 'refused' is wrong"),
        (lambda v, g: (v, g + np.eye(*g.shape)), "the gradient of the loss 'refused' is wrong"),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_what_is_wrong_is_refused_by_name(knapsack, returned, message):
    problem, X, C = knapsack

    @rl.loss(name="refused")
    def refused(predicted, true):
        return returned(*squares(predicted, true))

    with pytest.raises(ValueError, match=message) as caught:
        rl.train(problem, X, C, method=refused, **SETTINGS)
    assert "'refused'" in str(caught.value)


def test_a_gradient_that_is_meant_to_differ_can_be_allowed(knapsack):
    problem, X, C = knapsack

    @rl.loss(check_gradient=False)
    def halved(predicted, true):
        values, gradients = squares(predicted, true)
        return values, gradients / 2

    _, report = rl.train(problem, X, C, method=halved, **SETTINGS)
    assert report.test.instances == 30


def test_the_check_accepts_subgradients_of_losses_with_kinks(knapsack):
    problem, X, C = knapsack

    @rl.loss
    def absolute(predicted, true):
        error = predicted - true
        return np.abs(error).mean(axis=1), np.sign(error) / error.shape[1]

    rl.train(problem, X, C, method=absolute, **SETTINGS)
    rl.train(problem, X, C, method=make_spo_plus(-1, "checked-spo"), **SETTINGS)


def test_an_exception_arrives_as_it_was_raised(knapsack):
    problem, X, C = knapsack

    @rl.loss(check_gradient=False)
    def fails(predicted, true, epoch):
        if epoch == 2:
            raise LookupError("no such number")
        return squares(predicted, true)

    with pytest.raises(LookupError, match="no such number") as caught:
        rl.train(problem, X, C, method=fails, **SETTINGS)
    frames = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert frames[-1] == "fails"
    # Nothing is left behind: the next training runs.
    rl.train(problem, X, C, method="MSE", **SETTINGS)


def test_stages_of_ones_own_losses_are_named_in_methods(knapsack):
    problem, X, C = knapsack
    rl.loss(squares, name="own-squares")
    method = "MAE(O,S) then own-squares lr 0.001 epochs 2"
    model, report = rl.train(problem, X, C, method=method, **SETTINGS)
    assert report.method == method
    assert [round.method for round in report.rounds][1] == "own-squares lr 0.001 epochs 2"


@pytest.mark.parametrize("name", ["SPO+", "two words", "auto-matic", "a(b)"])
def test_names_that_the_grammar_cannot_have_are_refused(name):
    with pytest.raises(ValueError, match="cannot be called"):
        rl.loss(squares, name=name)


def test_unknown_arguments_are_refused_and_defaults_are_left_alone(knapsack):
    problem, X, C = knapsack
    with pytest.raises(TypeError, match="'costs'; a loss can have: predicted, true"):
        rl.loss(lambda predicted, costs: None, name="unknown")
    with pytest.raises(TypeError, match="@regretless.loss"):
        rl.train(problem, X, C, method=squares)

    def power(predicted, true, exponent=2):
        error = predicted - true
        slope = exponent * error ** (exponent - 1)
        return (error**exponent).mean(axis=1), slope / error.shape[1]

    fourth = rl.loss(functools.partial(power, exponent=4), name="fourth")
    assert fourth.fingerprint != rl.loss(power).fingerprint
    rl.train(problem, X, C, method=fourth, **SETTINGS)


def scaled_squares(predicted, true, factor=1.0, kind="plain", halved=False):
    values, gradients = squares(predicted, true)
    weight = factor * (0.5 if halved else 1.0) * {"plain": 1.0, "a, b": 7.0}[kind]
    return weight * values, weight * gradients


def test_options_of_a_loss_are_given_in_its_name_or_by_partial(knapsack):
    problem, X, C = knapsack
    scaled = rl.loss(scaled_squares)
    plain = rl.Loss(problem, C, scaled).evaluate(C + 1)[0]
    for method, factor, name in [
        ("scaled_squares(factor=3)", 3, "scaled_squares(factor=3)"),
        (
            "scaled_squares( halved = true, factor=2.5e0 )",
            1.25,
            "scaled_squares(factor=2.5,halved=True)",
        ),
        ('scaled_squares(kind="a, b")', 7, "scaled_squares(kind='a, b')"),
        (functools.partial(scaled, factor=3), 3, "scaled_squares(factor=3)"),
        (scaled.with_options({"halved": True}), 0.5, "scaled_squares(halved=True)"),
    ]:
        loss = rl.Loss(problem, C, method)
        np.testing.assert_allclose(loss.evaluate(C + 1)[0], factor * plain)
        assert loss.name == name
    both = "MSE then scaled_squares(factor=2, halved=False) lr 0.001"
    model, report = rl.train(problem, X, C, method=both, **SETTINGS)
    assert report.method == "MSE then scaled_squares(factor=2,halved=False) lr 0.001"
    methods = ["scaled_squares(factor=2)", functools.partial(scaled, factor=3)]
    result = rl.compare(problem, X, C, methods=methods, seeds=1, epochs=2)
    names = {row["method"] for row in result.methods.to_dict("records")}
    assert {"scaled_squares(factor=2)", "scaled_squares(factor=3)"} <= names


@pytest.mark.parametrize(
    ("method", "message"),
    [
        ("scaled_squares(facto=3)", "has no option 'facto'; it has: factor, kind, halved"),
        ("scaled_squares(predicted=3)", "has no option 'predicted'"),
        ("scaled_squares(3)", "'3' is no option.*name=value"),
        ("scaled_squares(factor=[1])", "a number, a truth value or a text, not \\[1\\]"),
        ("unknown_loss(factor=3)", "unknown loss 'unknown_loss\\(factor=3\\)'"),
        ("MSE(factor=3)", "MSE"),
    ],
)
def test_options_that_a_loss_does_not_have_are_refused(knapsack, method, message):
    rl.loss(scaled_squares)
    with pytest.raises(ValueError, match=message):
        rl.Loss(knapsack[0], knapsack[2], method)


def test_losses_with_options_have_keys_of_their_own_and_are_pickled(loss_module):
    base = loss_module.pickled_scaled
    first, second = (base.with_options({"factor": factor}) for factor in (2.0, 3.0))
    assert len({base.fingerprint, first.fingerprint, second.fingerprint}) == 3
    copy = pickle.loads(pickle.dumps(second))
    assert (copy.name, copy.fingerprint) == (second.name, second.fingerprint)
    assert first.with_options({"factor": 3.0}).name == second.name


def test_the_command_line_reads_options_of_a_loss(program, folder):
    methods = "my_losses.py:scaled(factor=2);my_losses.py:scaled"
    result = compare(program, methods, folder)
    assert result.returncode == 0, result.stderr
    rows = {row["method"] for row in json.loads(result.stdout)["methods"]}
    assert {"my_losses.py:scaled(factor=2)", "my_losses.py:scaled"} <= rows


def test_the_solver_of_a_function_serves_a_loss_of_ones_own(paths):
    _, X, C = paths
    calls = []

    def cheapest(costs):
        calls.append(len(costs))
        decision = np.zeros(len(costs))
        decision[np.argmin(costs)] = 1
        return decision

    problem = rl.Problem.from_solver(cheapest, C.shape[1], sense="minimize", name="cheapest")
    own = make_spo_plus(1, "own-spo-function", check_gradient=False)
    _, report = rl.train(problem, X, C, method=own, **SETTINGS)
    _, built_in = rl.train(problem, X, C, method="SPO+", **SETTINGS)
    assert report.solves_by_kind == built_in.solves_by_kind
    assert report.test.regret == pytest.approx(built_in.test.regret, rel=1e-3)


def test_solves_are_only_possible_while_the_loss_is_evaluated(knapsack):
    problem, X, C = knapsack
    kept = []

    @rl.loss(check_gradient=False)
    def keeps(predicted, true, solve):
        kept.append(solve)
        with pytest.raises(ValueError, match="rows of 8 costs"):
            solve(true[:1, :2])
        return squares(predicted, true)

    rl.train(problem, X, C, method=keeps, **SETTINGS)
    with pytest.raises(RuntimeError, match="while the loss is evaluated"):
        kept[0](C[:32])


def test_an_interrupted_training_resumes_only_with_the_same_source(knapsack, tmp_path):
    problem, X, C = knapsack

    def make(source_default):
        def resumed(predicted, true, epoch, version=source_default):
            if epoch == 3 and stop:
                raise KeyboardInterrupt
            return squares(predicted, true)

        return rl.loss(resumed, check_gradient=False)

    path, stop = tmp_path / "model.rgl", True
    with pytest.raises(KeyboardInterrupt):
        rl.train(problem, X, C, method=make(1), checkpoint=path, **SETTINGS)
    stop = False
    model, _ = rl.train(problem, X, C, method=make(1), checkpoint=path, **SETTINGS)
    whole, _ = rl.train(problem, X, C, method=make(1), **SETTINGS)
    assert model.to_bytes() == whole.to_bytes()
    assert make(1).fingerprint == make(1).fingerprint != make(2).fingerprint


LOSSES = """
import numpy as np
import regretless as rl

def squares(predicted, true):
    error = predicted - true
    return (error**2).mean(axis=1), 2 * error / error.shape[1]

@rl.loss(check_gradient=False)
def spo_plus(predicted, true, decisions, objectives, solve):
    found, optimum = solve(2 * predicted - true)
    values = objectives + optimum - 2 * (predicted * decisions).sum(axis=1)
    return values, 2 * (found - decisions)

def wrong(predicted, true):
    values, gradients = squares(predicted, true)
    return values, 3 * gradients

def fails(predicted, true):
    return 1 / 0, predicted

def scaled(predicted, true, factor=1.0):
    values, gradients = squares(predicted, true)
    return factor * values, factor * gradients

def waits(predicted, true, epoch):
    print("waiting", flush=True)
    return squares(predicted, true)
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "my_losses.py").write_text(LOSSES)
    return tmp_path


def run(program, *words, cwd):
    return subprocess.run([*program, *words], cwd=cwd, capture_output=True, text=True, check=False)


def compare(program, methods, cwd, *words):
    return run(
        program,
        *["compare", "--benchmark", "KS8", "--methods", methods, "--seeds", "2"],
        *["--split", "60,30,30", "--epochs", "3", "--json", *words],
        cwd=cwd,
    )


def test_compare_takes_the_losses_of_a_file(program, folder):
    methods = "SPO+;my_losses.py:spo_plus;MAE(O,S) then my_losses.py:squares lr 0.001"
    result = compare(program, methods, folder)
    assert result.returncode == 0, result.stderr
    rows = {row["method"]: row for row in json.loads(result.stdout)["methods"]}
    assert "MAE(O,S) then my_losses.py:squares lr 0.001" in rows
    own, built_in = rows["my_losses.py:spo_plus"], rows["SPO+"]
    assert own["test_regret"] == pytest.approx(built_in["test_regret"], rel=1e-3)
    assert own["solves"] == built_in["solves"]
    one_thread = compare(program, methods, folder, "--threads", "1")
    files = sorted((folder / "runs").glob("*/summary.csv"))
    columns = [[line.split(",")[:3] for line in file.read_text().splitlines()] for file in files]
    assert one_thread.returncode == 0 and columns[0] == columns[1]


def test_the_key_of_a_result_changes_with_the_file(program, folder):
    keys = []
    for change in ("", "", "\n# changed\n"):
        (folder / "my_losses.py").write_text(LOSSES + change)
        place = folder / f"run-{len(keys)}"
        assert compare(program, "my_losses.py:squares", folder, "--out", place).returncode == 0
        lines = map(json.loads, (place / "results.jsonl").read_text().splitlines())
        keys.append({(line["name"], line["seed"]): line["key"] for line in lines if "key" in line})
    assert keys[0] == keys[1]
    changed = {name for name, seed in keys[0] if keys[0][name, seed] != keys[2][name, seed]}
    assert changed == {"my_losses.py:squares"}


@pytest.mark.parametrize(
    ("method", "message"),
    [
        ("my_losses.py:wrong", "the gradient of the loss 'my_losses.py:wrong' is wrong"),
        ("my_losses.py:fails", "ZeroDivisionError: division by zero"),
        ("my_losses.py:missing", "has no function 'missing'"),
        ("no_file.py:squares", "no_file.py"),
    ],
)
def test_the_command_line_says_what_is_wrong_with_a_loss(program, folder, method, message):
    words = ["train", "--benchmark", "KS8", "--method", method, "--split", "60,30,30"]
    result = run(program, *words, "--out", "model.rgl", cwd=folder)
    assert result.returncode != 0
    assert message in result.stderr
    if method.endswith("fails"):
        assert 'my_losses.py", line' in result.stderr


def test_a_file_is_loaded_again_where_it_has_changed(knapsack, folder, monkeypatch):
    monkeypatch.chdir(folder)
    problem, X, C = knapsack
    rl.train(problem, X, C, method="my_losses.py:squares", **SETTINGS)
    (folder / "my_losses.py").write_text("squares = 3\n")
    with pytest.raises(ValueError, match="a loss is a function, not int"):
        rl.train(problem, X, C, method="my_losses.py:squares", **SETTINGS)


@pytest.mark.parametrize("place", ["train", "command"])
def test_ctrl_c_ends_a_training_with_a_loss_of_ones_own(place, folder, program):
    script = textwrap.dedent(
        """
        import regretless as rl
        from my_losses import waits
        problem = rl.Problem("KS8")
        X, C = rl.generate("KS8", instances=120)
        try:
            rl.train(problem, X, C, method=rl.loss(waits), epochs=10**7)
        except KeyboardInterrupt:
            print("stopped", flush=True)
            raise SystemExit(130)
        """
    )
    words = ["train", "--benchmark", "KS8", "--method", "my_losses.py:waits"]
    words = [*program, *words, "--epochs", "10000000", "--out", "model.rgl"]
    if place == "train":
        words = [sys.executable, "-c", script]
    enable_ctrl_c = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)  # noqa: E731
    with subprocess.Popen(
        words,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=enable_ctrl_c,
    ) as child:
        assert "waiting" in child.stdout.readline()
        time.sleep(0.3)
        child.send_signal(signal.SIGINT)
        try:
            child.communicate(timeout=HANG_LIMIT)
        finally:
            child.kill()
    assert child.returncode == 130


def test_a_loss_knows_the_sense_of_the_problem(knapsack, paths):
    @rl.loss(name="spo-of-both-senses", check_gradient=False)
    def spo_plus(predicted, true, decisions, objectives, sense, solve):
        sign = {"minimize": 1, "maximize": -1}[sense]
        found, optimum = solve(2 * predicted - true)
        values = 2 * (predicted * decisions).sum(axis=1) - objectives - optimum
        return sign * values, sign * 2 * (decisions - found)

    for problem, _, C in (knapsack, paths):
        predictions = C[::-1].astype(np.float64)
        values, gradients = rl.Loss(problem, C, spo_plus).evaluate(predictions)
        expected, slopes = rl.Loss(problem, C, "SPO+").evaluate(predictions)
        np.testing.assert_allclose(values, expected, rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(gradients, slopes, rtol=1e-6, atol=1e-6)
        assert (values >= -1e-6).all()


def test_a_loss_object_checks_the_gradient(knapsack):
    problem, _, C = knapsack

    def wrong(predicted, true):
        values, gradients = squares(predicted, true)
        return values, -gradients

    with pytest.raises(ValueError, match="'turned'.*gradient"):
        rl.Loss(problem, C, rl.loss(wrong, name="turned"))
    unchecked = rl.loss(wrong, name="turned-unchecked", check_gradient=False)
    assert len(rl.Loss(problem, C, unchecked)) == len(C)


MODULE = """
import numpy as np
import regretless as rl

@rl.loss
def pickled_squares(predicted, true):
    error = predicted - true
    return (error**2).mean(axis=1), 2 * error / error.shape[1]

def plain(predicted, true):
    return pickled_squares(predicted, true)

pickled_plain = rl.loss(plain, name="pickled_plain")

@rl.loss
def pickled_scaled(predicted, true, factor=1.0):
    values, gradients = plain(predicted, true)
    return factor * values, factor * gradients
"""


@pytest.fixture
def loss_module(tmp_path, monkeypatch):
    (tmp_path / "losses_to_pickle.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module("losses_to_pickle")
    sys.modules.pop("losses_to_pickle", None)


def test_losses_of_a_module_are_pickled_by_their_place(loss_module, tmp_path, knapsack):
    squares, plain = loss_module.pickled_squares, loss_module.pickled_plain
    renamed = squares.renamed("another-name")
    assert pickle.loads(pickle.dumps(squares)) is squares
    for own in (plain, renamed):
        copy = pickle.loads(pickle.dumps(own))
        assert (copy.name, copy.fingerprint) == (own.name, own.fingerprint)
        assert copy.function is own.function
    # In another process the module is imported, and the name is part of the grammar.
    script = """
    import pickle, sys
    import regretless as rl
    losses = pickle.loads(bytes.fromhex(sys.stdin.read()))
    problem = rl.Problem("KS8")
    _, C = rl.generate("KS8", instances=5)
    for loss in losses:
        print(rl.Loss(problem, C, loss.name).evaluate(C + 1)[0].sum())
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        input=pickle.dumps([squares, plain, renamed]).hex(),
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=HANG_LIMIT,
    )
    assert done.stdout.split() == ["5.0"] * 3, done.stderr


def test_an_estimator_with_a_loss_of_ones_own_can_be_pickled(loss_module, knapsack):
    sklearn = pytest.importorskip("regretless.sklearn", exc_type=ImportError)
    problem, X, C = knapsack
    estimator = sklearn.DecisionFocusedRegressor(
        problem, method=loss_module.pickled_squares, epochs=3, random_state=0
    ).fit(X, C)
    copy = pickle.loads(pickle.dumps(estimator))
    assert copy.method is loss_module.pickled_squares
    np.testing.assert_array_equal(copy.predict(X), estimator.predict(X))


def test_a_loss_that_depends_on_its_batch_is_refused(knapsack):
    problem, X, C = knapsack

    @rl.loss
    def times_rows(predicted, true):
        values, gradients = squares(predicted, true)
        return values * len(predicted), gradients * len(predicted)

    with pytest.raises(ValueError, match="'times_rows' of a row depends on the other rows"):
        rl.train(problem, X, C, method=times_rows, **SETTINGS)
    with pytest.raises(ValueError, match="alone and .* among 3 rows"):
        rl.Loss(problem, C, times_rows)
    # One row has no others, and a loss may be declared to be checked by its user.
    rl.Loss(problem, C[:1], times_rows)
    rl.Loss(problem, C, rl.loss(times_rows.function, check_gradient=False))


def test_unknown_losses_are_refused_with_ones_own(knapsack):
    problem, _, C = knapsack
    rl.loss(squares, name="listed_squares")
    with pytest.raises(ValueError, match="unknown loss 'nosuch'.*custom losses: .*listed_squares"):
        rl.Loss(problem, C, "nosuch")


def test_refused_losses_have_a_class_of_their_own(knapsack):
    problem, _, C = knapsack
    bad = rl.loss(lambda predicted, true: 3.0, name="no_pair")
    with pytest.raises(rl.RefusedLossError, match="'no_pair' must return"):
        rl.Loss(problem, C, bad)
    assert issubclass(rl.RefusedLossError, ValueError)
