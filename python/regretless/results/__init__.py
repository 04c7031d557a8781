"""Classes of results and their pages; internal: :mod:`regretless` has the public names."""
