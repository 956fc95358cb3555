"""The kernel benchmark: CPU per query in one process on one thread, beside other engines over the same terms."""
