"""The public names: documented, and typed as they are."""

import ast
import inspect
import pathlib
import re
import subprocess
import sys

import pytest
from conftest import ROOT

import regretless as rl
from regretless import _core, _results

STUB = ast.parse((pathlib.Path(rl.__file__).parent / "_core.pyi").read_text())


def public(thing):
    return {name: value for name, value in vars(thing).items() if not name.startswith("_")}


def stubbed(body):
    """Functions and classes of a stub by name; of an overloaded function the last."""
    return {node.name: node for node in body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}


def test_every_public_name_is_exported_and_in_the_stub():
    exported = set(rl.__all__) - {"__version__"}
    assert set(public(_core)) == exported - set(_results.__all__)
    assert exported - set(public(_core)) <= set(_results.__all__)
    assert {name for name in stubbed(STUB.body) if not name.startswith("_")} == set(public(_core))
    assert re.fullmatch(r"\d+\.\d+\.\d+", rl.__version__)


@pytest.mark.parametrize("name", sorted(public(_core)))
def test_every_public_name_has_a_docstring_and_types(name):
    thing, stub = getattr(rl, name), stubbed(STUB.body)[name]
    assert thing.__doc__ and len(thing.__doc__) > 20
    if not isinstance(stub, ast.ClassDef):
        check_arguments(thing, stub)
        return
    methods = {name: node for name, node in stubbed(stub.body).items() if not name.startswith("_")}
    assert set(methods) == set(public(thing))
    for method, node in methods.items():
        found = getattr(thing, method)
        assert found.__doc__, f"{name}.{method} has no words"
        if callable(found):
            check_arguments(found, node)


def check_arguments(function, node):
    """Arguments have the names and order of the stub, which lists **settings of `train`."""
    real = [
        p for p in inspect.signature(function).parameters.values() if p.name not in ("self", "cls")
    ]
    typed = [
        arg.arg for arg in node.args.args + node.args.kwonlyargs if arg.arg not in ("self", "cls")
    ]
    named = [p.name for p in real if p.kind is not inspect.Parameter.VAR_KEYWORD]
    assert typed[: len(named)] == named
    assert len(typed) == len(named) or any(p.kind is inspect.Parameter.VAR_KEYWORD for p in real)


def test_the_stub_types_every_setting_of_train_with_its_default():
    node = stubbed(STUB.body)["train"]
    defaults = {
        arg.arg: ast.literal_eval(value)
        for arg, value in zip(node.args.kwonlyargs, node.args.kw_defaults)
    }
    with pytest.raises(TypeError) as refused:
        rl.train(rl.Problem("KS4"), [[1.0]], [[1.0] * 4], no_such=1)
    settings = set(str(refused.value).partition("choose one of: ")[2].split(", ")) - {"seed"}
    assert {"lr_decay", "rows_per_epoch"} <= settings <= set(defaults)
    # A default of the stub changes nothing where it is given.
    X, C = rl.generate("KS4", instances=40)
    plain, _ = rl.train(rl.Problem("KS4"), X, C, "MSE", epochs=2)
    keywords = {name: defaults[name] for name in settings} | {"epochs": 2}
    assert rl.train(rl.Problem("KS4"), X, C, "MSE", **keywords)[0] == plain


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
    text = (ROOT / "docs" / "python.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    assert len(blocks) >= 4
    subprocess.run([sys.executable, "-c", "\n".join(blocks)], cwd=tmp_path, check=True)
