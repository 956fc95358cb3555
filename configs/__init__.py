"""Configuration files shipped with the distribution; read them through ``importlib.resources``."""
