"""The public names: documented, and typed as they are."""

import ast
import dataclasses
import importlib
import inspect
import json
import pathlib
import re
import subprocess
import sys

import pytest
from conftest import ROOT

import regretless as rl
from regretless import _core
from regretless.training import options

MODULES = [
    *("losses.custom", "losses.loss"),
    *("results.explanation", "results.reports", "results.sweep"),
    *("solving.labels", "solving.options", "solving.problem", "solving.solutions"),
    *("solving.solver", "tables.references"),
    *("training.backtest", "training.benchmarks", "training.check", "training.compare"),
    *("training.custom_model", "training.evaluation", "training.fit", "training.model"),
    *("training.options", "training.train"),
]
"""Modules of the package whose names are public, beside the compiled one."""

STUB = ast.parse((pathlib.Path(rl.__file__).parent / "_core.pyi").read_text())


def public(thing):
    """Public names of a module, or of a class and of its bases that are in Python."""
    parts = [thing]
    if inspect.isclass(thing):
        bases = [base for base in thing.__mro__[1:] if base.__module__.startswith("regretless.")]
        parts += [base for base in bases if base.__module__ != "regretless._core"]
    names = {name: value for part in reversed(parts) for name, value in vars(part).items()}
    return {name: value for name, value in names.items() if not name.startswith("_")}


def extends_compiled(cls):
    """Whether a class inherits from one of the compiled module."""
    return any(base.__module__ == "regretless._core" for base in cls.__mro__[1:])


def stubbed(body):
    """Functions and classes of a stub by name; of an overloaded function the last."""
    return {node.name: node for node in body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}


def test_every_public_name_is_exported_and_in_the_stub():
    exported = set(rl.__all__) - {"__version__"}
    modules = [importlib.import_module(f"regretless.{name}") for name in MODULES]
    in_python = {name for module in modules for name in module.__all__}
    assert set(public(_core)) == exported - in_python
    assert exported - set(public(_core)) <= in_python
    assert {name for name in stubbed(STUB.body) if not name.startswith("_")} == set(public(_core))
    assert re.fullmatch(r"\d+\.\d+\.\d+", rl.__version__)


EXPORTED = sorted(set(rl.__all__) - {"__version__"})


@pytest.mark.parametrize("name", EXPORTED)
def test_every_public_name_has_a_docstring_and_annotations(name):
    thing = getattr(rl, name)
    assert thing.__doc__ and len(thing.__doc__) > 20
    if name in public(_core):
        return
    if not inspect.isclass(thing):
        check_annotations(thing)
        return
    for method in public(thing):
        found = getattr(thing, method)
        if isinstance(inspect.getattr_static(thing, method), property):
            assert found.__doc__, f"{name}.{method} has no words"
        elif inspect.isroutine(found):
            assert found.__doc__, f"{name}.{method} has no words"
            if not hasattr(_core._Problem, method):
                check_annotations(found)


def check_annotations(function):
    """Every argument and the result have a type, which mypy checks."""
    signature = inspect.signature(function)
    for argument in signature.parameters.values():
        if argument.name not in ("self", "cls"):
            assert argument.annotation is not inspect.Parameter.empty, argument
    assert signature.return_annotation is not inspect.Signature.empty


@pytest.mark.parametrize("name", sorted(public(_core)))
def test_every_public_name_has_a_docstring_and_types(name):
    thing, stub = getattr(rl, name), stubbed(STUB.body)[name]
    assert thing.__doc__ and len(thing.__doc__) > 20
    if not isinstance(stub, ast.ClassDef):
        check_arguments(thing, overloads(STUB.body, name))
        return
    methods = {name: node for name, node in stubbed(stub.body).items() if not name.startswith("_")}
    assert set(methods) == set(public(thing))
    for method in methods:
        found = getattr(thing, method)
        assert found.__doc__, f"{name}.{method} has no words"
        if callable(found):
            check_arguments(found, overloads(stub.body, method))


def overloads(body, name):
    """All definitions of a function in a stub; a property has none that are checked."""
    return [node for node in body if isinstance(node, ast.FunctionDef) and node.name == name]


def check_arguments(function, nodes):
    """Arguments have the names, order and defaults of the stub, which lists **settings of `train`.
    An overload may require what is optional elsewhere."""
    real = [
        p for p in inspect.signature(function).parameters.values() if p.name not in ("self", "cls")
    ]
    named = [p for p in real if p.kind is not inspect.Parameter.VAR_KEYWORD]
    for node in nodes:
        typed = stub_arguments(node)
        assert list(typed)[: len(named)] == [p.name for p in named]
        assert len(typed) == len(named) or len(real) > len(named)
    for p in named:
        defaults = [stub_arguments(node)[p.name] for node in nodes]
        given = [value for value in defaults if value is not inspect.Parameter.empty]
        expected = [] if p.default is inspect.Parameter.empty else [p.default]
        assert [*map(repr, given)] == [repr(value) for value in expected for _ in given], p.name
        assert bool(given) == bool(expected), p.name


def stub_arguments(node):
    """Arguments of a function of the stub with their defaults."""
    positional = node.args.posonlyargs + node.args.args
    required = [None] * (len(positional) - len(node.args.defaults))
    defaults = [*required, *node.args.defaults, *node.args.kw_defaults]
    return {
        arg.arg: inspect.Parameter.empty if default is None else ast.literal_eval(default)
        for arg, default in zip(positional + node.args.kwonlyargs, defaults)
        if arg.arg not in ("self", "cls")
    }


def test_the_options_of_train_are_every_setting_with_its_default():
    typed = dataclasses.asdict(rl.TrainingOptions())
    settings = json.loads(_core._default_settings())
    settings.pop("seed")
    assert settings.pop("optimizer")["kind"] == typed["optimizer"]
    assert {name: typed[name] for name in settings} == settings
    # The other way round: every option is a setting, as the types of the keywords.
    assert set(typed) == set(settings) | {"optimizer"}
    assert set(options.TrainingKeywords.__annotations__) == set(typed)


def test_no_signature_shown_to_users_is_written_by_hand():
    sources = [*(ROOT / "crates" / "regretless-python" / "src").rglob("*.rs")]
    assert sources
    for path in sources:
        assert "text_signature =" not in path.read_text(), path.name


def test_public_functions_have_numpydoc_sections():
    exported = [(name, getattr(rl, name)) for name in EXPORTED]
    methods = [
        (f"{name}.{method}", getattr(thing, method))
        for name, thing in exported
        if inspect.isclass(thing) and extends_compiled(thing)
        for method in public(thing)
    ]
    assert len(methods) > 30
    for name, thing in [*exported, *methods]:
        if inspect.isclass(thing) or not inspect.isroutine(thing):
            continue
        parameters = [
            p for p in signature_parameters(thing) if p.name not in ("self", "cls", "class")
        ]
        if parameters:
            assert "Parameters\n----------" in inspect.getdoc(thing), name


def signature_parameters(thing):
    try:
        return inspect.signature(thing).parameters.values()
    except ValueError:
        return []


def test_the_package_is_marked_as_typed():
    assert (pathlib.Path(rl.__file__).parent / "py.typed").exists()


def test_the_reference_is_generated_from_the_docstrings():
    pytest.importorskip("sklearn")
    script = ROOT / "scripts" / "python-reference"
    done = subprocess.run(
        [sys.executable, script, "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_the_quick_start_runs(tmp_path):
    """Every block of the page on Python runs, one after the other."""
    pytest.importorskip("sklearn")
    text = (ROOT / "docs" / "tutorials" / "python.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    assert len(blocks) >= 4
    subprocess.run([sys.executable, "-c", "\n".join(blocks)], cwd=tmp_path, check=True)


def test_a_third_array_of_an_evaluation_is_not_taken_for_costs():
    problem, (_, C) = rl.Problem("KS8"), rl.generate("KS8", instances=20)
    with pytest.raises(ValueError, match="needs C=; the third argument is X, for models"):
        rl.evaluate(problem, C, C)
    with pytest.raises(ValueError, match="C is missing: the true costs"):
        rl.evaluate(problem, C)


def test_the_compiled_module_imports_the_package_at_three_places_at_most():
    sources = (ROOT / "crates" / "regretless-python" / "src").rglob("*.rs")
    places = sum(path.read_text().count('import("regretless') for path in sources)
    assert 0 < places <= 3


def test_train_takes_options_as_objects():
    problem, (X, C) = rl.Problem("KS8"), rl.generate("KS8", instances=60)
    by_keyword, _ = rl.train(problem, X, C, "MSE", epochs=3, batch_size=8, threads=1)
    by_object, _ = rl.train(
        problem,
        X,
        C,
        "MSE",
        training_options=rl.TrainingOptions(epochs=3, batch_size=8),
        solve_options=rl.SolveOptions(threads=1),
        feature_options=rl.FeatureOptions(),
    )
    assert by_object.to_bytes() == by_keyword.to_bytes()
    with pytest.raises(TypeError, match="'epochs' beside training_options"):
        rl.train(problem, X, C, training_options=rl.TrainingOptions(), method="MAE(O,S)", epochs=3)
    with pytest.raises(TypeError, match="'threads' beside solve_options"):
        rl.train(problem, X, C, solve_options=rl.SolveOptions(), threads=1)
    with pytest.raises(TypeError, match="profile is the default of keywords"):
        rl.train(problem, X, C, training_options=rl.TrainingOptions(), profile="paper")
