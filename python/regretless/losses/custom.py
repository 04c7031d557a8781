"""Custom losses: a Python function of a batch that the trainer minimizes."""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib
import importlib.util
import inspect
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, overload

import numpy as np

from regretless._core import _register_loss, _set_loss_resolver
from regretless.tables.numbers import as_numeric_array

__all__ = ["OwnLoss", "RefusedLossError", "loss"]

ARGUMENTS = (
    "predicted",
    "true",
    "decisions",
    "objectives",
    "rows",
    "epoch",
    "seed",
    "sense",
    "solve",
)
"""Arguments that a loss can have, by name."""


class RefusedLossError(ValueError):
    """A custom loss that cannot be used; the message names it.

    Raised if the function of a loss made with :func:`loss` returns something else than values and
    gradients of the right shape, or numbers that are not finite. A gradient that does not fit the
    values is a ``ValueError``.
    """

    _is_refused_loss = True


class OwnLoss:
    """A custom loss, made by :func:`loss`. Calling it calls the function.

    Attributes
    ----------
    name : str
        Its name in reports and method names.
    function : callable
        The function.
    calls_solver : bool
        Whether the function has the argument ``solve``.
    check_gradient : bool
        Whether training and :class:`Loss` compare the gradient with differences of values before
        they start.
    fingerprint : str
        Hash of the source. Checkpoints and stored results are used again only if it is the same.
    """

    def __init__(
        self, function: Callable[..., Any], name: str | None = None, *, check_gradient: bool = True
    ) -> None:
        if not callable(function):
            raise TypeError(f"a loss is a function, not {type(function).__name__}")
        name = getattr(function, "__name__", None) if name is None else name
        if name is None:
            raise TypeError("the function has no name: give one, loss(function, name='my-loss')")
        self.function, self.name, self.check_gradient = function, str(name), bool(check_gradient)
        # The loss that options were given to, and the options; the function that it was made from.
        self.origin: tuple[OwnLoss, dict[str, Any]] | None = None
        self.user_function = function
        self.arguments = argument_names(function, self.name)
        self.calls_solver = "solve" in self.arguments
        self.fingerprint = source_hash(function)
        functools.update_wrapper(self, function, updated=())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function of the user."""
        return self.function(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<regretless loss '{self.name}'>"

    def __str__(self) -> str:
        return self.name

    def __reduce__(self) -> Any:
        if self.origin is not None:
            return OwnLoss.with_options, self.origin
        found = self._in_module()
        if found is self:
            # By its place: importing the module makes and registers it.
            return getattr(self, "__qualname__")  # noqa: B009, set by update_wrapper
        # Workers of a cluster register it too.
        function = self.function if found is None else found
        return _restored, (function, self.name, self.check_gradient)

    def _in_module(self) -> OwnLoss | None:
        """Return the loss that took the place of the function in its module, if one did.

        The function itself cannot be pickled then, since its name is that of the loss.
        """
        module, name = getattr(self, "__module__", None), getattr(self, "__qualname__", None)
        # Functions of a script are pickled as they are by cloudpickle, for workers that do not
        # have the script.
        if module is None or name is None or module == "__main__":
            return None
        found: Any = sys.modules.get(module)
        for part in name.split("."):
            found = getattr(found, part, None)
        is_same = isinstance(found, OwnLoss) and found.function is self.function
        return found if is_same else None

    def with_options(self, options: Mapping[str, Any]) -> OwnLoss:
        """Return the loss with other values of arguments that have a default.

        Its name has them, ``hinge(margin=0.1)``, in tables and in the text of methods.

        Parameters
        ----------
        options : mapping of str to float, int, bool or str
            Values by the names of arguments.

        Raises
        ------
        ValueError
            For an argument that the function does not have, and for other values.
        """
        base, known = self.origin if self.origin is not None else (self, {})
        choices = option_names(base.function)
        options = {**known, **options}
        for name, value in options.items():
            if name not in choices:
                listed = ", ".join(choices) if choices else "none"
                raise RefusedLossError(
                    f"the loss '{base.name}' has no option '{name}'; it has: {listed}"
                )
            if not isinstance(value, (bool, int, float, str)) or value != value:
                raise RefusedLossError(
                    f"the option '{name}' of the loss '{base.name}' is a number, a truth value or "
                    f"a text, not {value!r}"
                )
        if not options:
            return base
        # In the order of the arguments, so a loss has one name.
        ordered = {name: options[name] for name in choices if name in options}
        text = ",".join(f"{name}={value!r}" for name, value in ordered.items())
        changed = OwnLoss(
            functools.partial(base.function, **ordered),
            f"{base.name}({text})",
            check_gradient=base.check_gradient,
        )
        changed.origin, changed.user_function = (base, ordered), base.user_function
        return changed

    def _with_options(self, options: list[list[str]]) -> OwnLoss:
        """Return the loss with options as the grammar of methods has them: texts."""
        return self.with_options({name: option_value(value) for name, value in options})

    def renamed(self, name: str) -> OwnLoss:
        """Return the same loss under another name, which is not registered."""
        return OwnLoss(self.function, name, check_gradient=self.check_gradient)

    def _evaluate(self, given: Mapping[str, Any]) -> tuple[np.ndarray, np.ndarray]:
        """Call the function with the arguments that it has; check what it returns."""
        arguments = {name: given[name] for name in self.arguments}
        if self.calls_solver:
            solve = given["solve"]
            arguments["solve"] = lambda costs: solve(as_numeric_array(costs, "solve: costs"))
        result = self.function(**arguments)
        if not isinstance(result, (tuple, list)) or len(result) != 2:
            what = f"{len(result)} values" if isinstance(result, (tuple, list)) else type(result)
            raise RefusedLossError(
                f"the loss '{self.name}' must return (values, gradients), not {what}"
            )
        shape = given["predicted"].shape
        values = self._numbers(result[0], shape[:1], "values")
        gradients = self._numbers(result[1], shape, "gradients")
        return values, gradients

    def _numbers(self, given: Any, shape: tuple[int, ...], what: str) -> np.ndarray:
        try:
            numbers = np.ascontiguousarray(given, dtype=np.float64)
        except (TypeError, ValueError, RuntimeError) as error:
            raise RefusedLossError(
                f"the loss '{self.name}' returned {what} that are not numbers: {error}"
            ) from error
        # np.ascontiguousarray turns a scalar into an array of one number.
        if numbers.shape != shape or np.ndim(given) != len(shape):
            returned = np.shape(given)
            raise RefusedLossError(
                f"the loss '{self.name}' returned {what} of shape {returned}, not {shape}: one "
                + ("value per row of the batch" if len(shape) == 1 else "number per predicted cost")
            )
        if not np.isfinite(numbers).all():
            position = np.argwhere(~np.isfinite(numbers))[0]
            column = f", cost {position[1]}" if len(shape) == 2 else ""
            raise RefusedLossError(
                f"the loss '{self.name}' returned {what} that are not finite: "
                f"{numbers[tuple(position)]} for row {position[0]} of the batch{column}"
            )
        return numbers


@overload
def loss(
    function: Callable[..., Any], *, name: str | None = ..., check_gradient: bool = ...
) -> OwnLoss: ...


@overload
def loss(
    function: None = ..., *, name: str | None = ..., check_gradient: bool = ...
) -> Callable[[Callable[..., Any]], OwnLoss]: ...


def loss(
    function: Callable[..., Any] | None = None,
    *,
    name: str | None = None,
    check_gradient: bool = True,
) -> Any:
    """Make a function a loss that :func:`train` and :class:`Loss` take as any other.

    The function gets a batch of B rows with d costs and returns their losses and gradients. It has
    some of these arguments, by name; further ones need a default:

    ``predicted``, ``true``
        Predicted and true costs, arrays of shape (B, d).
    ``decisions``, ``objectives``
        Optimal decisions under the true costs (B, d), and their objectives (B,).
    ``rows``
        Row numbers of the table (B,).
    ``epoch``, ``seed``
        For random numbers: the same epoch and row must draw the same. The epoch is 0 in
        evaluations.
    ``sense``
        "minimize" or "maximize", the objective sense of the problem.
    ``solve``
        ``solve(costs)`` solves the problem of each row under its row of an array (B, d) and returns
        decisions (B, d) and objectives (B,). Solves are counted, cached and relaxed as those of any
        loss.

    Costs, objectives and gradients have the sense of the problem: gains if it maximizes. The loss
    itself is always minimized, so one that compares objectives needs ``sense``.

    Parameters
    ----------
    function : callable
        The function; ``loss`` can be used as a decorator, with and without arguments. It returns
        values of shape (B,) and gradients with respect to ``predicted`` of shape (B, d). The loss
        of a row must not depend on the other rows of its batch.
    name : str, optional
        Its name in reports and in method names ("MAE(O,S) then my_loss lr 0.001"), one word; that
        of the function by default. A later loss of the same name replaces it.
    check_gradient : bool, default True
        Whether the gradient is compared with differences of values on three rows before training
        starts, or when a :class:`Loss` is made; a wrong one is refused, and so is a loss that is
        another one for a row alone than for the same row among others. Set it to False for
        subgradients of losses with many kinks, and for gradients that are meant to differ from the
        derivative.

    Returns
    -------
    OwnLoss
        The loss, for ``method=``.

    Raises
    ------
    TypeError
        For an unknown argument of the function.
    ValueError
        For a name that is not one word, or that of a loss that is built in.

    Examples
    --------
    >>> @rl.loss
    ... def weighted(predicted, true, decisions):
    ...     weight = 1 + 4 * decisions
    ...     error = predicted - true
    ...     return (weight * error**2).mean(axis=1), 2 * weight * error / error.shape[1]
    >>> model, report = rl.train(problem, X, C, method=weighted)
    """
    if function is None:
        return functools.partial(loss, name=name, check_gradient=check_gradient)
    if isinstance(function, OwnLoss):
        function = function.function
    return _registered(OwnLoss(function, name, check_gradient=check_gradient))


def _registered(own: OwnLoss) -> OwnLoss:
    """Make the name of a loss part of the grammar of methods."""
    _register_loss(own)
    return own


def as_method(method: Any) -> str | OwnLoss:
    """Return the argument of a method: a name or a custom loss; others are refused."""
    method = from_partial(method)
    if isinstance(method, (str, OwnLoss)):
        return method
    raise TypeError(
        'a method is a name such as "MAE(O,S)" or a loss made with @regretless.loss, not '
        f"{type(method).__name__}; write @regretless.loss in front of the function"
    )


def from_partial(method: Any) -> Any:
    """Return the loss of ``functools.partial(loss, margin=0.1)``; anything else as it is."""
    if not isinstance(method, functools.partial) or not isinstance(method.func, OwnLoss):
        return method
    if method.args:
        raise RefusedLossError(
            f"options of the loss '{method.func.name}' are given by name, such as margin=0.1"
        )
    return method.func.with_options(method.keywords)


def option_names(function: Callable[..., Any]) -> list[str]:
    """Return the arguments of a loss that have a default and are not given by training."""
    parameters = inspect.signature(function).parameters.values()
    return [parameter.name for parameter in parameters if parameter.name not in ARGUMENTS]


def option_value(text: str) -> Any:
    """Return the number, truth value or text of an option; a word without quotes is a text."""
    if text in ("true", "false"):
        return text == "true"
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def _restored(function: Callable[..., Any], name: str, check_gradient: bool) -> OwnLoss:
    if isinstance(function, OwnLoss):
        function = function.function
    return _registered(OwnLoss(function, name, check_gradient=check_gradient))


def argument_names(function: Callable[..., Any], name: str) -> tuple[str, ...]:
    """Return which arguments of a loss the function has."""
    names = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
            raise TypeError(f"the loss '{name}' names its arguments: it cannot have {parameter}")
        if parameter.kind is not parameter.POSITIONAL_ONLY and parameter.name in ARGUMENTS:
            names.append(parameter.name)
        elif parameter.default is parameter.empty:
            raise TypeError(
                f"the loss '{name}' has an argument '{parameter.name}'; a loss can have: "
                f"{', '.join(ARGUMENTS)}, and arguments with a default"
            )
    return tuple(names)


def source_hash(function: Callable[..., Any]) -> str:
    """Return a hash of the file of a function, or of its code if there is none.

    The whole file, since the function may call others in it. Values of other modules, closures and
    global variables are not part of it.
    """
    hasher = hashlib.blake2b(digest_size=16)
    while isinstance(function, functools.partial):
        hasher.update(repr((function.args, sorted(function.keywords.items()))).encode())
        function = function.func
    code = getattr(function, "__code__", None)
    hasher.update(repr(getattr(function, "__qualname__", type(function))).encode())
    for defaults in (getattr(function, "__defaults__", None), _keyword_defaults(function)):
        hasher.update(repr(defaults).encode())
    path = Path(code.co_filename) if code is not None else None
    if path is not None and path.is_file():
        hasher.update(path.read_bytes())
        return hasher.hexdigest()
    try:
        hasher.update(inspect.getsource(function).encode())
    except (OSError, TypeError):
        if code is not None:
            hasher.update(code.co_code)
            hasher.update(repr((code.co_names, code.co_varnames)).encode())
    return hasher.hexdigest()


def _keyword_defaults(function: Callable[..., Any]) -> Any:
    return sorted((getattr(function, "__kwdefaults__", None) or {}).items())


_modules: dict[Path, tuple[tuple[int, int], ModuleType]] = {}
"""Modules of files that losses were read from, with time and size of the file."""


def resolve(text: str) -> OwnLoss:
    """Return the loss of ``file.py:function`` or ``module:function``, named as the text."""
    place, _, function = text.rpartition(":")
    try:
        module = load_file(Path(place)) if place.endswith(".py") else load_module(place)
    except (ImportError, OSError, SyntaxError) as error:
        raise RefusedLossError(f"loss '{text}': {error}") from error
    found = getattr(module, function, None)
    if found is None:
        raise RefusedLossError(f"loss '{text}': {place} has no function '{function}'")
    if isinstance(found, OwnLoss):
        return found.renamed(text)
    try:
        return OwnLoss(found, text)
    except TypeError as error:
        raise RefusedLossError(f"loss '{text}': {error}") from error


def load_module(name: str) -> ModuleType:
    """Import a module, also one in the current folder."""
    folder = os.getcwd()
    if folder not in sys.path and "" not in sys.path:
        sys.path.insert(0, folder)
    return importlib.import_module(name)


def load_file(path: Path) -> ModuleType:
    """Return the module of a file, loaded again if the file has changed."""
    path = path.resolve()
    status = path.stat()
    state = (status.st_mtime_ns, status.st_size)
    if path in _modules and _modules[path][0] == state:
        return _modules[path][1]
    name = f"regretless_losses_{hashlib.blake2b(str(path).encode(), digest_size=8).hexdigest()}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    # As Python does for a script: its folder has the modules that it imports.
    sys.path.insert(0, str(path.parent))
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    finally:
        sys.path.remove(str(path.parent))
    _modules[path] = (state, module)
    return module


_set_loss_resolver(resolve)
