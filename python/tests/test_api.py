"""The public names: documented, and typed as they are."""

import ast
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
from regretless.losses import custom
from regretless.results import explanation, reports
from regretless.tables import parameters
from regretless.training import backtest, compare, custom_predictor

STUB = ast.parse((pathlib.Path(rl.__file__).parent / "_core.pyi").read_text())


def public(thing):
    return {name: value for name, value in vars(thing).items() if not name.startswith("_")}


def stubbed(body):
    """Functions and classes of a stub by name; of an overloaded function the last."""
    return {node.name: node for node in body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}


def test_every_public_name_is_exported_and_in_the_stub():
    exported = set(rl.__all__) - {"__version__"}
    modules = (
        reports,
        explanation,
        parameters,
        custom,
        custom_predictor,
        backtest,
        compare,
    )
    in_python = {name for module in modules for name in module.__all__}
    assert set(public(_core)) == exported - in_python
    assert exported - set(public(_core)) <= in_python
    assert {name for name in stubbed(STUB.body) if not name.startswith("_")} == set(public(_core))
    assert re.fullmatch(r"\d+\.\d+\.\d+", rl.__version__)


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


def test_the_stub_types_every_setting_of_train_with_its_default():
    typed = stub_arguments(stubbed(STUB.body)["train"])
    settings = json.loads(_core._default_settings())
    settings.pop("seed")
    assert settings.pop("optimizer")["kind"] == typed["optimizer"]
    assert {name: typed[name] for name in settings} == settings
    # The other way round: what the stub adds to the signature is a setting.
    named = inspect.signature(rl.train).parameters
    assert set(typed) - set(named) == set(settings) | {"optimizer"}


def test_signatures_shown_to_users_are_those_of_the_code():
    """Functions that catch old names of arguments show a signature that is written by hand."""
    shown = 0
    for path in (ROOT / "crates" / "regretless-python" / "src").rglob("*.rs"):
        text = path.read_text()
        for real, words in re.findall(
            r'[^_]signature = \(([^()]*?)\),\s*text_signature = "\((.*?)\)"', text, flags=re.DOTALL
        ):
            plain = real.replace("false", "False").replace("true", "True")
            arguments = [word.strip() for word in plain.split(",")]
            words = words.replace("\\\n", "").replace("$self", "").replace("$cls", "")
            assert [word.strip() for word in words.split(",") if word.strip()] == [
                word for word in arguments if word and not word.startswith("**")
            ], f"{path.name}: {words}"
            shown += 1
    assert shown == sum(
        path.read_text().count("text_signature =")
        for path in (ROOT / "crates" / "regretless-python" / "src").rglob("*.rs")
    )
    assert shown > 0


def test_public_functions_have_numpydoc_sections():
    for name, thing in [*public(_core).items(), *vars(_core.Problem).items()]:
        if name.startswith("_") or not callable(thing):
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
