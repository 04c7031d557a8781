"""Readers of models of modeling libraries, one file per library; internal.

:mod:`regretless.problems` has the public functions.
"""
