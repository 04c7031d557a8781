"""Problems, their solutions and labels; internal: :mod:`regretless` has the public names."""
