"""Answers: the dispatcher's plan carried out, by a model or by a reader of our own. No HTTP, no client library."""
