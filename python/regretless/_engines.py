"""Who runs shards: this process, Ray, Dask or joblib. Each engine is one function from a plan to results in order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Work = Callable[..., Any]
"""``work(shard, *arguments)`` with ``shard`` such as ``"2/7"``."""


@dataclass
class Plan:
    """What is run, and how often when a worker is lost."""

    work: Work
    names: list[str]
    arguments: tuple[Any, ...]
    retries: int
    threads: int


def on_this_process(_: Any, plan: Plan) -> list[Any]:
    """One after the other."""
    return [plan.work(name, *plan.arguments) for name in plan.names]


def on_ray(_: Any, plan: Plan) -> list[Any]:
    """On the cluster that ``ray.init`` connected to; arguments are put into its store once."""
    import ray

    if not ray.is_initialized():
        raise RuntimeError("Ray is not connected: call ray.init(address=…) first")
    task = ray.remote(num_cpus=plan.threads, max_retries=plan.retries)(plan.work)
    stored = [ray.put(argument) for argument in plan.arguments]
    return ray.get([task.remote(name, *stored) for name in plan.names])


def on_dask(engine: Any, plan: Plan) -> list[Any]:
    """On a Dask client, the current one unless given."""
    from dask.distributed import default_client

    client = default_client() if isinstance(engine, str) else engine
    stored = client.scatter(list(plan.arguments), broadcast=True, hash=False)
    futures = [
        client.submit(plan.work, name, *stored, retries=plan.retries, pure=False)
        for name in plan.names
    ]
    return client.gather(futures)


def on_joblib(_: Any, plan: Plan) -> list[Any]:
    """On joblib's workers, all cores unless ``joblib.parallel_config`` says otherwise; starts again when a worker is lost."""
    from joblib import Parallel, delayed
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    jobs = None if configured() else -1
    for attempt in range(plan.retries + 1):
        try:
            return Parallel(n_jobs=jobs)(
                delayed(plan.work)(name, *plan.arguments) for name in plan.names
            )
        except TerminatedWorkerError:
            if attempt == plan.retries:
                raise
    raise AssertionError("unreachable")


def configured() -> bool:
    """Whether the user has said how many workers joblib uses."""
    from joblib.parallel import get_active_backend

    return get_active_backend()[1] not in (None, 1)


ENGINES: dict[str, Callable[..., list[Any]]] = {
    "here": on_this_process,
    "ray": on_ray,
    "dask": on_dask,
    "joblib": on_joblib,
}
