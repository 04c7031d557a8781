"""Labels and sweeps on many machines: one thin interface over Ray, Dask and joblib.

Work is cut into shards, each a call that depends on nothing but its number. What a shard finds lies in files that all
machines see, written whole and never changed: the same files as those of ``regretless label --shard i/N``. A shard whose
machine is lost is run again and skips what is already there, so that the bytes are those of one machine. Nothing here
starts a cluster: an engine is one that the user runs.
"""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import regretless as rl
from regretless._engines import ENGINES, Plan, Work, on_dask
from regretless._frames import check_same_rows
from regretless._names import in_order, item_order, named, names_of

__all__ = ["label", "map_shards", "sweep"]


def map_shards(
    engine: Any, work: Work, shards: int, *arguments: Any, retries: int = 3, threads: int = 1
) -> list[Any]:
    """``[work("1/n", …), …, work("n/n", …)]``, in this order, on an engine.

    ``engine`` is ``"here"`` (one after the other in this process), ``"ray"`` (the cluster ``ray.init`` connected to),
    ``"dask"`` or a ``dask.distributed.Client``, ``"joblib"`` (processes of this machine, or what ``joblib.parallel_config``
    says). ``arguments`` are sent once per machine where the engine can; ``threads`` is how many a shard uses. A shard is
    tried again up to ``retries`` times when its worker or machine is lost.
    """
    if shards < 1:
        raise ValueError(f"there is at least 1 shard, not {shards}")
    names = [f"{index + 1}/{shards}" for index in range(shards)]
    run = ENGINES.get(engine) if isinstance(engine, str) else on_dask
    if run is None:
        raise ValueError(
            f"engine is {', '.join(map(repr, ENGINES))} or a Dask client, not {engine!r}"
        )
    return run(engine, Plan(work, names, arguments, retries, threads))


def label(
    problem: rl.Problem,
    costs: Any,
    *,
    engine: Any,
    store: str | os.PathLike[str],
    shards: int = 16,
    retries: int = 3,
    threads: int = 1,
) -> rl.Labels:
    """Best decisions of all rows, found on an engine; ``store`` is a folder that all machines see.

    ``costs`` with column names are matched to the problem's costs by name.
    """
    table = in_order(problem, costs)
    place = str(Path(store).absolute())
    map_shards(
        engine,
        label_shard,
        shards,
        problem,
        table,
        place,
        threads,
        retries=retries,
        threads=threads,
    )
    return rl.label(problem, named(table, problem.cost_names), store=place)


def label_shard(
    shard: str, problem: rl.Problem, costs: np.ndarray, store: str, threads: int
) -> None:
    """Labels one shard of the rows into the store."""
    rl.label(problem, named(costs, problem.cost_names), store=store, shard=shard, threads=threads)


def sweep(
    problem: rl.Problem,
    features: Any,
    costs: Any,
    runs: Sequence[dict[str, Any]],
    *,
    engine: Any,
    folder: str | os.PathLike[str],
    retries: int = 3,
    threads: int = 1,
) -> list[dict[str, Any]]:
    """Trains once per entry of ``runs`` (arguments of :func:`regretless.train`); returns their reports, in order.

    The table is labelled first, on the engine too. Each report is a file in ``folder``, named by a hash of all it depends on (the
    whole problem, all numbers of the table, the run's settings with the numbers of their arrays, the version): a sweep that was stopped
    goes on where it was. What a function computes cannot be hashed, so that a problem of :meth:`regretless.Problem.from_callable` is
    labelled and trained anew by every call. Settings that cannot be hashed are refused, and so are pandas tables whose row labels are the
    same in another order.
    """
    if not runs:
        raise ValueError("there is at least 1 run")
    # Here and not in the runs: they get plain arrays, which carry no row labels.
    check_same_rows(features, costs)
    place = Path(folder).absolute()
    table = in_order(problem, costs)
    inputs = np.ascontiguousarray(features, dtype=np.float32)
    order = item_order(problem, costs)
    if order is not None and inputs.ndim == 3:
        # Rows of features belong to costs, one each.
        inputs = np.ascontiguousarray(inputs[:, order])
    inputs = named(inputs, names_of(features))
    content = content_of(problem)
    reports = [str(place / f"{key}.json") for key in keys(content, inputs, table, runs)]
    # Kept labels of a function are found by its name alone, so that another function of this name must not see them.
    store = place / (f"labels-{content}" if is_function(problem) else "labels")
    label(
        problem,
        named(table, problem.cost_names),
        engine=engine,
        store=store,
        retries=retries,
        threads=threads,
    )
    places = (str(store), reports)
    work = (problem, inputs, table, list(runs), places, threads)
    map_shards(engine, train_shard, len(runs), *work, retries=retries, threads=threads)
    return [json.loads(Path(path).read_text(encoding="utf-8")) for path in places[1]]


def train_shard(
    shard: str,
    problem: rl.Problem,
    features: Any,
    costs: np.ndarray,
    runs: list[dict[str, Any]],
    places: tuple[str, list[str]],
    threads: int,
) -> None:
    """Trains the runs of one shard whose reports are missing."""
    index, count = map(int, shard.split("/"))
    store, reports = places
    for run in range(index - 1, len(runs), count):
        path = Path(reports[run])
        if not path.exists():
            table = named(costs, problem.cost_names)
            labels = rl.label(problem, table, store=store, threads=threads)
            _, report = rl.train(
                problem, features, table, labels=labels, threads=threads, **runs[run]
            )
            write_whole(path, json.dumps(report))


def is_function(problem: rl.Problem) -> bool:
    """Whether a problem is a Python function, of which its description holds the name only."""
    return problem.to_dict()["kind"] == "given"


def content_of(problem: rl.Problem) -> str:
    """A hash of all that a problem is; for a function one that never comes again."""
    if is_function(problem):
        return uuid.uuid4().hex
    # The description of a file's problem holds the path; the hash of the file says what was in it.
    # As text, since descriptions of linear problems hold millions of numbers.
    return digest(
        [json.dumps(problem.to_dict(), sort_keys=True), problem.sense, problem._file_hash]
    )


def keys(
    problem: str, features: Any, costs: np.ndarray, runs: Sequence[dict[str, Any]]
) -> list[str]:
    """A name per run: a hash of the problem's content, the table, the version and the run's settings."""
    shared = digest([rl.__version__, problem, features, costs])
    return [digest([shared, run])[:16] for run in runs]


def digest(value: Any) -> str:
    """A hash of a setting by its content; what has none that can be told is refused."""
    state = hashlib.sha256()
    feed(state, value, "the run")
    return state.hexdigest()


def feed(state: Any, value: Any, where: str) -> None:
    """Adds a value to a hash: its kind, its length, its content, so that no two values add the same bytes."""
    if hasattr(value, "dtype") and hasattr(value, "tolist") and value.ndim == 0:
        value = value.tolist()
    if value is None or isinstance(value, (bool, int, float, str, os.PathLike)):
        text = os.fspath(value) if isinstance(value, os.PathLike) else value
        # repr of a float has all its digits.
        add(state, type(text).__name__, repr(text).encode())
    elif isinstance(value, Mapping):
        add(state, "mapping", str(len(value)).encode())
        for key in sorted(value, key=repr):
            feed(state, key, where)
            feed(state, value[key], f"{where}, '{key}'")
    elif isinstance(value, (list, tuple, range)):
        add(state, "sequence", str(len(value)).encode())
        for entry in value:
            feed(state, entry, where)
    elif isinstance(value, rl.Model):
        add(state, "model", pickle.dumps(value))
    elif hasattr(value, "__array__"):
        feed_array(state, value, where)
    else:
        kind = type(value).__name__
        raise ValueError(
            f"{where} holds a {kind}, of which a sweep cannot tell whether it changed; give numbers, text or arrays"
        )


def feed_array(state: Any, value: Any, where: str) -> None:
    """Adds an array, or a table with its names: every entry, not the shortened text of numpy."""
    feed(state, names_of(value), where)
    array = np.asarray(value)
    if array.dtype.hasobject:
        feed(state, array.tolist(), where)
        return
    add(state, "array", f"{array.dtype.str} {array.shape}".encode())
    state.update(np.ascontiguousarray(array).tobytes())


def add(state: Any, kind: str, content: bytes) -> None:
    """Adds one piece with its kind and length."""
    state.update(f"{kind} {len(content)} ".encode())
    state.update(content)


def write_whole(path: Path, text: str) -> None:
    """Writes beside the target and renames into place, so that nobody reads half a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    beside.write_text(text, encoding="utf-8")
    beside.replace(path)
