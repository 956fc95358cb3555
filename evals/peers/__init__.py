"""Other people's tool search over the same records, each by its own public interface and with its own defaults.

One module per peer, and each imports its package at its top: ``evals.systems.table`` opens them, and says what to
install where one is missing.
"""
