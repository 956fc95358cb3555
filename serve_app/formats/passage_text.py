"""A passage as one text for models: title, source and section, then the text. For providers without citations."""

import re
from typing import Final
from urllib.parse import quote

from serve_app.formats.item import Item

_URI: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[!-~]+")


def text_of(item: Item) -> str:
    """Never empty, for a record always has a name."""
    about = [f"Source: {item.source_url}"] if item.source_url else []
    about += [f"Section: {item.section}"] if item.section else []
    head = "\n".join([item.name, *about])
    return f"{head}\n\n{item.text}" if item.text else head


def uri_of(item: Item) -> str:
    """The passage's source where it is a URI, else one made of its id."""
    if _URI.fullmatch(item.source_url):
        return item.source_url
    return f"shortlist:{quote(item.id, safe='', errors='replace')}"
