"""A segment as named typed arrays and back: the inside of a snapshot's index file.

It fixes names and dtypes (snapshot format 4). Files, checksums, documents and vectors are ``shards.snapshot``'s task.
"""

import mmap
from collections.abc import Mapping
from typing import Any, Final

import numpy.typing as npt

from shards.columns import Column, Field
from shards.dense_terms import DenseTerms
from shards.documents import Documents
from shards.names import GROUPS, Names, NameTable
from shards.postings import Postings
from shards.segment import Segment, next_uid
from shards.text_table import TextTable

Arrays = Mapping[str, npt.NDArray[Any]]

DTYPES: Final = frozenset({"|u1", "<u2", "<u4", "<u8", "<i8"})
"""The dtypes a file may hold; others, objects above all, are refused before anything is read."""


def arrays_of(segment: Segment) -> dict[str, npt.NDArray[Any]]:
    """All of a segment but the bodies of its documents."""
    postings, exact = segment.postings, segment.names.exact
    arrays: dict[str, npt.NDArray[Any]] = {
        **_texts("ids", segment.ids),
        "versions": segment.versions,
        **_texts("postings.terms", postings.terms),
        "postings.offsets": postings.offsets,
        "postings.ordinals": postings.ordinals,
        "postings.impacts": postings.impacts,
        "postings.name_offsets": postings.name_offsets,
        "postings.name_ordinals": postings.name_ordinals,
        "postings.names": postings.names,
        "postings.dense.rows": postings.dense.rows,
        "postings.dense.bits": postings.dense.bits.reshape(-1),
        **_names("names", exact),
        "documents.offsets": segment.documents.offsets,
    }
    for field, column in segment.columns.items():
        arrays |= {**_texts(f"columns.{field}", column.values), f"columns.{field}.codes": column.codes}
    for mention in GROUPS:
        arrays |= _names(f"groups.{mention}", segment.names.groups[mention])
    return arrays


def segment_of(arrays: Arrays, documents: bytes | mmap.mmap) -> Segment:
    """The segment of ``arrays_of``; ``KeyError`` names an array that is missing."""
    rows = len(arrays["versions"])
    columns = {field: _column(arrays, field, rows) for field in Field}
    groups = {mention: _name_table(arrays, f"groups.{mention}") for mention in GROUPS}
    return Segment(
        uid=next_uid(),
        ids=_table(arrays, "ids"),
        versions=arrays["versions"],
        postings=_postings(arrays),
        names=Names(exact=_name_table(arrays, "names"), groups=groups),
        columns=columns,
        documents=Documents(blob=documents, offsets=arrays["documents.offsets"]),
    )


def _postings(arrays: Arrays) -> Postings:
    rows, bits, impacts = (arrays[f"postings.{name}"] for name in ("dense.rows", "dense.bits", "impacts"))
    return Postings(
        terms=_table(arrays, "postings.terms"),
        offsets=arrays["postings.offsets"],
        ordinals=arrays["postings.ordinals"],
        impacts=impacts,
        name_offsets=arrays["postings.name_offsets"],
        name_ordinals=arrays["postings.name_ordinals"],
        names=arrays["postings.names"],
        dense=DenseTerms.of(rows, bits.reshape(len(rows), len(bits) // max(1, len(rows))), impacts),
    )


def _texts(name: str, table: TextTable) -> dict[str, npt.NDArray[Any]]:
    return {f"{name}.blob": table.blob, f"{name}.blocks": table.blocks}


def _table(arrays: Arrays, name: str) -> TextTable:
    return TextTable(arrays[f"{name}.blob"], arrays[f"{name}.blocks"])


def _names(name: str, table: NameTable) -> dict[str, npt.NDArray[Any]]:
    return {f"{name}.hashes": table.hashes, f"{name}.rows": table.rows}


def _name_table(arrays: Arrays, name: str) -> NameTable:
    return NameTable(hashes=arrays[f"{name}.hashes"], rows=arrays[f"{name}.rows"])


def _column(arrays: Arrays, field: Field, rows: int) -> Column:
    return Column(values=_table(arrays, f"columns.{field}"), codes=arrays[f"columns.{field}.codes"], rows=rows)
