"""Measuring retrieval quality on labelled queries; nothing of the service imports it but ``serve_app.cli.eval``."""
