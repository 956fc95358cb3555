"""The edge: HTTP, credentials, wire models, commands."""
