"""The service benchmarks: an instance of its own, baselines behind the same door, and generators of load."""
