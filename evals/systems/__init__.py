"""What an evaluation measures: shortlist in process, yardsticks and peers, each behind ``evals.run.System``."""
