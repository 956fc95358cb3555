"""UTF-8 of any text that Python can hold. Apart from what compiles kernels, so that routers import it for nothing."""


def encoded(text: str) -> bytes:
    """UTF-8 of a text; lone surrogates pass, so that a strange look-up finds nothing instead of failing."""
    return text.encode("utf-8", "surrogatepass")
