"""Load tests and service benchmarks; nothing imports this package."""
