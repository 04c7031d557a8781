"""Functions that rebuild a pickled problem."""

from regretless._core import Problem


def from_dict(description):
    """Build the problem with this description."""
    return Problem(description)


def from_solver(solve, num_costs, sense, binary, name, thread_safe=False, cost_names=None):
    """Build the problem that this function solves."""
    return Problem.from_solver(
        solve,
        num_costs,
        sense=sense,
        binary=binary,
        name=name,
        thread_safe=thread_safe,
        cost_names=cost_names,
    )
