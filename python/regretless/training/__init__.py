"""Trainings, comparisons and backtests; internal: :mod:`regretless` has the public names."""
