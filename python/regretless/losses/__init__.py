"""Custom losses; internal: :mod:`regretless` has the public names."""
