"""Wordless: a fault as a log may show it, with where it happened and of what kind it is, and without its words.

An exception that nobody foresaw may say anything: a query, an id, a parameter of SQL.
"""


class Wordless(Exception):
    """Stands for a fault in a traceback; its only word is the fault's type."""


def wordless(fault: BaseException) -> Wordless:
    """The fault and its causes, for ``exc_info``."""
    shown = Wordless(type(fault).__qualname__).with_traceback(fault.__traceback__)
    if fault.__cause__ is not None and fault.__cause__ is not fault:
        shown.__cause__ = wordless(fault.__cause__)
    return shown
