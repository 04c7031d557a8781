"""How problems come back from a pickle."""

from regretless._core import Problem


def from_dict(description):
    """The problem with this description."""
    return Problem(description)


def from_callable(solve, num_costs, sense, binary, name, thread_safe=False, cost_names=None):
    """The problem that is this function."""
    options = {"binary": binary, "name": name, "thread_safe": thread_safe, "cost_names": cost_names}
    return Problem.from_callable(solve, num_costs, sense=sense, **options)
