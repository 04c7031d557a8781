"""How problems come back from a pickle."""

from regretless._core import Problem


def from_dict(description):
    """The problem with this description."""
    return Problem(description)


def from_callable(solve, num_costs, sense, binary, name, thread_safe=False):
    """The problem that is this function."""
    return Problem.from_callable(solve, num_costs, sense=sense, binary=binary, name=name, thread_safe=thread_safe)
