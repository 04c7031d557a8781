"""Differential tests: random problems and tables, solved again by brute force.

A case is a problem with a table of rows, drawn from the seed and the number of the case. The
program computes decisions, objectives, regrets and predictions; the references of this package
compute them again by enumeration or by SciPy, and share no code with it. ``run.py`` is the entry.
"""
