"""Backends that run shards: this process, Ray, Dask or joblib.

Each backend is one function from a :class:`ShardJob` to the results in the order of the shards.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Work = Callable[..., Any]
"""``work(shard, *arguments)`` with ``shard`` such as ``"2/7"``."""


@dataclass
class ShardJob:
    """Work to map over shards.

    Attributes
    ----------
    work : callable
        Called once per shard.
    shards : list of str
        Names of the shards: ``"1/7"`` to ``"7/7"``.
    arguments : tuple
        Further arguments, the same for all shards.
    retries : int
        How often a shard is run again when its worker is lost.
    threads : int
        Threads of one shard.
    """

    work: Work
    shards: list[str]
    arguments: tuple[Any, ...]
    retries: int
    threads: int


def run_locally(_: Any, job: ShardJob) -> list[Any]:
    """Run one shard after the other in this process."""
    return [job.work(shard, *job.arguments) for shard in job.shards]


def run_on_ray(_: Any, job: ShardJob) -> list[Any]:
    """Run on the cluster that ``ray.init`` connected to; arguments are stored there once."""
    import ray

    if not ray.is_initialized():
        raise RuntimeError("Ray is not connected: call ray.init(address=…) first")
    task = ray.remote(num_cpus=job.threads, max_retries=job.retries)(job.work)
    stored = [ray.put(argument) for argument in job.arguments]
    return ray.get([task.remote(shard, *stored) for shard in job.shards])


def run_on_dask(backend: Any, job: ShardJob) -> list[Any]:
    """Run on a Dask client, or on the current one for the backend ``"dask"``."""
    from dask.distributed import default_client

    client = default_client() if isinstance(backend, str) else backend
    stored = client.scatter(list(job.arguments), broadcast=True, hash=False)
    futures = [
        client.submit(job.work, shard, *stored, retries=job.retries, pure=False)
        for shard in job.shards
    ]
    return client.gather(futures)


def run_on_joblib(_: Any, job: ShardJob) -> list[Any]:
    """Run on joblib's workers: all cores, or as ``joblib.parallel_config`` is set.

    joblib does not restart single tasks: all shards are run again when a worker is lost.
    """
    from joblib import Parallel, delayed
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    workers = None if has_backend() else -1
    for attempt in range(job.retries + 1):
        try:
            return Parallel(n_jobs=workers)(
                delayed(job.work)(shard, *job.arguments) for shard in job.shards
            )
        except TerminatedWorkerError:
            if attempt == job.retries:
                raise
    raise AssertionError("unreachable")


def has_backend() -> bool:
    """Return whether the user has configured joblib's workers."""
    from joblib.parallel import get_active_backend

    return get_active_backend()[1] not in (None, 1)


BACKENDS: dict[str, Callable[..., list[Any]]] = {
    "local": run_locally,
    "ray": run_on_ray,
    "dask": run_on_dask,
    "joblib": run_on_joblib,
}
