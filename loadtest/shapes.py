"""Load shapes: 1, 10, 50 and 100 clients in one run. A shape says how many users, never what they do."""

from typing import ClassVar

from locust import LoadTestShape


class OneToHundred(LoadTestShape):
    """Equal steps of 1, 10, 50 and 100 closed-loop clients, ``step_s`` seconds each."""

    steps: ClassVar = (1, 10, 50, 100)
    step_s: ClassVar = 30

    def tick(self) -> tuple[int, float] | None:
        """(users, spawn rate) for this second, None when the last step is over."""
        step = int(self.get_run_time() // self.step_s)
        return (self.steps[step], 100.0) if step < len(self.steps) else None
