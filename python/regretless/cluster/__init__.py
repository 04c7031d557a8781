"""Labels, sweeps and backtests on many machines, with Ray, Dask or joblib.

Work is divided into shards; each is one call that depends only on its number. Results are files in
a folder that all machines see, written atomically and never changed: the same files that
``regretless label --shard i/N`` writes. A shard whose machine is lost is run again and skips what
exists already, so the result has the same bytes as on one machine. Nothing here starts a cluster:
the backends connect to one that the user runs.

Examples
--------
>>> from regretless import cluster
>>> labels = cluster.label(problem, C, backend="ray", store="/shared/prices.npy", shards=64)
>>> reports = cluster.sweep(problem, X, C, runs, backend="ray", folder="/shared/sweep")
>>> result = cluster.backtest(problem, X, C, time="date", backend="ray", out="/shared/backtest")
"""

from __future__ import annotations

import dataclasses
import hashlib
import inspect
import json
import os
import pickle
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import regretless as rl
from regretless._files import write_atomically
from regretless._renamed import refuse_renamed
from regretless.cluster._backends import BACKENDS, ShardJob, Work, run_on_dask
from regretless.results.reports import TrainingReport
from regretless.results.sweep import SweepResult
from regretless.tables.frames import check_same_rows
from regretless.tables.names import column_order, costs_in_order, names_of, with_names
from regretless.tables.parameters import as_arrays
from regretless.training.backtest import BacktestCall, BacktestResult

__all__ = ["backtest", "label", "map_shards", "sweep"]


@refuse_renamed("cluster.map_shards")
def map_shards(
    backend: Any, work: Work, shards: int, *arguments: Any, retries: int = 3, threads: int = 1
) -> list[Any]:
    """Run ``work("1/n", …)`` to ``work("n/n", …)`` on a backend.

    Parameters
    ----------
    backend : {"local", "ray", "dask", "joblib"} or dask.distributed.Client
        ``"local"`` runs one shard after the other in this process, ``"ray"`` on the cluster that
        ``ray.init`` connected to, ``"dask"`` on the current Dask client, ``"joblib"`` on processes
        of this machine or as ``joblib.parallel_config`` is set.
    work : callable
        ``work(shard, *arguments)``; it must be picklable for all backends but ``"local"``.
    shards : int
        Number of shards, at least 1.
    *arguments
        Further arguments of ``work``; sent once per machine if the backend can.
    retries : int, default 3
        How often a shard is run again when its worker or machine is lost.
    threads : int, default 1
        Threads that one shard uses.

    Returns
    -------
    list
        The results, in the order of the shards.

    Raises
    ------
    ValueError
        For an unknown backend or fewer than 1 shard.
    RuntimeError
        If Ray is not connected.
    """
    if shards < 1:
        raise ValueError(f"shards must be at least 1, not {shards}")
    names = [f"{index + 1}/{shards}" for index in range(shards)]
    run = BACKENDS.get(backend) if isinstance(backend, str) else run_on_dask
    if run is None:
        choices = ", ".join(map(repr, BACKENDS))
        raise ValueError(f"backend is {choices} or a Dask client, not {backend!r}")
    return run(backend, ShardJob(work, names, arguments, retries, threads))


@refuse_renamed("cluster.label")
def label(
    problem: rl.Problem,
    C: Any,
    *,
    backend: Any,
    store: str | os.PathLike[str],
    shards: int = 16,
    retries: int = 3,
    threads: int = 1,
    parameters: Any = None,
) -> rl.Labels:
    """Find the optimal decisions of all rows on a backend.

    Parameters
    ----------
    problem : regretless.Problem
        The problem.
    C : array_like or DataFrame of shape (n, d)
        True costs; columns with names are matched to the problem's costs by name.
    backend : str or dask.distributed.Client
        As in :func:`map_shards`.
    store : path
        A file path in a folder that all machines see, as in :func:`regretless.label`.
    shards : int, default 16
        Number of shards.
    retries, threads : int
        As in :func:`map_shards`.
    parameters : mapping or DataFrame, optional
        Parameters of the rows that the problem reads (:attr:`regretless.Problem.parameters`).

    Returns
    -------
    regretless.Labels
        The same labels, byte for byte, as those of :func:`regretless.label`.
    """
    costs = costs_in_order(problem, C)
    # Other processes get arrays: what they receive does not depend on the kind of table.
    parameters = as_arrays(parameters)
    path = str(Path(store).absolute())
    map_shards(
        backend,
        label_shard,
        shards,
        problem,
        costs,
        path,
        threads,
        parameters,
        retries=retries,
        threads=threads,
    )
    table = with_names(costs, problem.cost_names, like=C)
    return rl.label(problem, table, store=path, parameters=parameters)


def label_shard(
    shard: str,
    problem: rl.Problem,
    C: np.ndarray,
    store: str,
    threads: int,
    parameters: dict[str, np.ndarray] | None,
) -> None:
    """Label one shard of the rows into the store."""
    table = with_names(C, problem.cost_names)
    rl.label(problem, table, store=store, shard=shard, parameters=parameters, threads=threads)


@refuse_renamed("cluster.sweep")
def sweep(
    problem: rl.Problem,
    X: Any,
    C: Any,
    runs: Sequence[dict[str, Any]],
    *,
    backend: Any,
    folder: str | os.PathLike[str],
    retries: int = 3,
    threads: int = 1,
    parameters: Any = None,
) -> SweepResult:
    """Train once per entry of ``runs`` on a backend.

    Parameters
    ----------
    problem : regretless.Problem
        The problem.
    X : array_like or DataFrame of shape (n, p)
        Features.
    C : array_like or DataFrame of shape (n, d)
        True costs.
    runs : sequence of dict
        Keyword arguments of :func:`regretless.train`, one dict per run.
    backend : str or dask.distributed.Client
        As in :func:`map_shards`.
    folder : path
        Folder for labels and reports that all machines see.
    retries, threads : int
        As in :func:`map_shards`.
    parameters : mapping, DataFrame or list of str, optional
        Parameters of the rows that the problem reads, or names of columns of ``X``.

    Returns
    -------
    regretless.SweepResult
        A sequence of :class:`regretless.TrainingReport`, in the order of ``runs``.

    Raises
    ------
    ValueError
        If a run has a setting that cannot be hashed, or tables have the same row labels in a
        different order.

    Notes
    -----
    The rows are labeled first, on the backend too. Each report is a file named by a hash of the
    problem, all numbers of the tables, the run's settings (arrays by all their entries) and the
    version: an interrupted sweep resumes with the same call. A Python function cannot be hashed;
    a problem of :meth:`regretless.Problem.from_solver` is labeled and trained again by every call.
    """
    if not runs:
        raise ValueError("runs must hold at least 1 run")
    # Here and not in the shards, which get arrays without row labels.
    check_same_rows(X, C)
    root = Path(folder).absolute()
    costs = costs_in_order(problem, C)
    parameters = as_arrays(parameters, X)
    features = np.ascontiguousarray(X, dtype=np.float32)
    order = column_order(problem, C)
    if order is not None and features.ndim == 3:
        # Features of shape (n, d, p) have one row per cost.
        features = np.ascontiguousarray(features[:, order])
    features = with_names(features, names_of(X))
    content = content_hash(problem)
    keys = run_keys(content, features, costs, runs, parameters)
    reports = [str(root / f"{key}.json") for key in keys]
    # Stored labels of a function are found by its name: another function of the same name must
    # not read them.
    store = root / (f"labels-{content}" if is_function(problem) else "labels")
    label(
        problem,
        with_names(costs, problem.cost_names),
        backend=backend,
        store=store,
        retries=retries,
        threads=threads,
        parameters=parameters,
    )
    arguments = (problem, features, costs, list(runs), str(store), reports, threads, parameters)
    map_shards(backend, train_shard, len(runs), *arguments, retries=retries, threads=threads)
    return SweepResult(runs, [read_report(Path(path)) for path in reports])


def backtest(
    problem: rl.Problem,
    X: Any,
    C: Any,
    *,
    backend: Any,
    out: str | os.PathLike[str],
    shards: int = 16,
    retries: int = 3,
    threads: int = 1,
    **settings: Any,
) -> BacktestResult:
    """Decide a history as if it were the present, with the trainings on a backend.

    Parameters
    ----------
    problem : regretless.Problem
        The problem.
    X : array_like or DataFrame of shape (n, p)
        Features.
    C : array_like or DataFrame of shape (n, d)
        True costs.
    backend : str or dask.distributed.Client
        As in :func:`map_shards`.
    out : path
        Folder for labels, trainings and results that all machines see.
    shards : int, default 16
        Number of shards among which the trainings are divided.
    retries, threads : int
        As in :func:`map_shards`.
    **settings
        All other arguments of :func:`regretless.backtest`. Estimators among ``predictions`` are
        fitted here, not on the backend.

    Returns
    -------
    regretless.BacktestResult
        The results, and the trainings and results in ``out``, are the same, byte for byte, as those
        of :func:`regretless.backtest`; an interrupted backtest resumes with the same call.

    Notes
    -----
    The rows are labeled first, on the backend too. With a heuristic or a search limit every shard
    labels all rows itself.
    """
    root = Path(out).absolute()
    keywords = {**settings, "out": root, "threads": threads}
    bound = inspect.signature(rl.backtest).bind(problem, X, C, **keywords)
    bound.apply_defaults()
    if bound.arguments["labels"] is not None:
        raise TypeError("cluster.backtest() labels the rows itself; leave 'labels' out")
    call = BacktestCall.of(bound.arguments)
    store: Path | None = root / "labels"
    parameters = as_arrays(call.parameters, X)
    if call.solve._names_given():
        store = None
    else:
        label(
            problem,
            C,
            backend=backend,
            store=root / "labels",
            shards=shards,
            retries=retries,
            threads=threads,
            parameters=parameters,
        )
    arguments = (call, store, parameters)
    map_shards(backend, backtest_shard, shards, *arguments, retries=retries, threads=threads)
    return labeled_call(*arguments).run()


def backtest_shard(
    shard: str, call: BacktestCall, store: Path | None, parameters: dict[str, np.ndarray] | None
) -> None:
    """Run the trainings of one shard that are missing."""
    labeled_call(call, store, parameters).run_shard(shard)


def labeled_call(
    call: BacktestCall, store: Path | None, parameters: dict[str, np.ndarray] | None
) -> BacktestCall:
    """Return a call with the labels of a store, if there is one; labels cannot be pickled."""
    if store is None:
        return call
    labels = rl.label(
        call.problem, call.C, store=store, parameters=parameters, threads=call.solve.threads
    )
    return dataclasses.replace(call, labels=labels)


def train_shard(
    shard: str,
    problem: rl.Problem,
    X: Any,
    C: np.ndarray,
    runs: list[dict[str, Any]],
    store: str,
    reports: list[str],
    threads: int,
    parameters: dict[str, np.ndarray] | None,
) -> None:
    """Train the runs of one shard whose reports are missing."""
    index, count = map(int, shard.split("/"))
    for run in range(index - 1, len(runs), count):
        path = Path(reports[run])
        if path.exists():
            continue
        costs = with_names(C, problem.cost_names)
        labels = rl.label(problem, costs, store=store, parameters=parameters, threads=threads)
        _, report = rl.train(
            problem,
            X,
            costs,
            labels=labels,
            parameters=parameters,
            threads=threads,
            **runs[run],
        )
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, json.dumps(report.to_dict()).encode(), force=True)


def read_report(path: Path) -> TrainingReport:
    """Read the report file of one run."""
    return TrainingReport.from_dict(json.loads(path.read_text(encoding="utf-8")))


def is_function(problem: rl.Problem) -> bool:
    """Return whether a problem is a Python function, whose description is only its name."""
    return problem.to_dict()["kind"] == "external"


def content_hash(problem: rl.Problem) -> str:
    """Return a hash of everything in a problem; a new one in every call for a function."""
    if is_function(problem):
        return uuid.uuid4().hex
    # The description of a file's problem holds the path; the hash of the file stands for its
    # content. As text, since descriptions of linear problems hold millions of numbers.
    description = json.dumps(problem.to_dict(), sort_keys=True)
    return digest([description, problem.sense, problem._file_hash])


def run_keys(
    problem: str,
    X: Any,
    C: np.ndarray,
    runs: Sequence[dict[str, Any]],
    parameters: dict[str, np.ndarray] | None,
) -> list[str]:
    """Return a file name per run: a hash of problem, tables, version and settings."""
    tables = [X, C] if parameters is None else [X, C, parameters]
    shared = digest([rl.__version__, problem, *tables])
    return [digest([shared, run])[:16] for run in runs]


def digest(value: Any) -> str:
    """Return a hash of a value by its content."""
    state = hashlib.sha256()
    update_with(state, value, "the run")
    return state.hexdigest()


def update_with(state: Any, value: Any, where: str) -> None:
    """Add a value to a hash: its kind, length and content, so different values differ.

    Raises
    ------
    ValueError
        For a value whose content cannot be read; the message names it by ``where``.
    """
    if hasattr(value, "dtype") and hasattr(value, "tolist") and value.ndim == 0:
        value = value.tolist()
    if value is None or isinstance(value, (bool, int, float, str, os.PathLike)):
        text = os.fspath(value) if isinstance(value, os.PathLike) else value
        # repr of a float has all its digits.
        update(state, type(text).__name__, repr(text).encode())
    elif isinstance(value, Mapping):
        update(state, "mapping", str(len(value)).encode())
        for key in sorted(value, key=repr):
            update_with(state, key, where)
            update_with(state, value[key], f"{where}, '{key}'")
    elif isinstance(value, (list, tuple, range)):
        update(state, "sequence", str(len(value)).encode())
        for entry in value:
            update_with(state, entry, where)
    elif isinstance(value, rl.Model):
        update(state, "model", pickle.dumps(value))
    elif hasattr(value, "__array__"):
        update_with_array(state, value, where)
    else:
        kind = type(value).__name__
        raise ValueError(
            f"{where} holds a {kind}, which a sweep cannot compare with that of an earlier call; "
            "give numbers, text or arrays"
        )


def update_with_array(state: Any, value: Any, where: str) -> None:
    """Add all entries of an array, or of a table with its names, to a hash."""
    update_with(state, names_of(value), where)
    array = np.asarray(value)
    if array.dtype.hasobject:
        update_with(state, array.tolist(), where)
        return
    update(state, "array", f"{array.dtype.str} {array.shape}".encode())
    state.update(np.ascontiguousarray(array).tobytes())


def update(state: Any, kind: str, content: bytes) -> None:
    """Add one value to a hash, with its kind and length."""
    state.update(f"{kind} {len(content)} ".encode())
    state.update(content)
