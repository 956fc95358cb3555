"""Columns: the fields a scope asks about, dictionary-encoded, one code per record.

They answer "which rows have a value like this"; which values a principal may see is decided in ``shards.mask``.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Self

import numpy as np
import numpy.typing as npt
import orjson

from shards.record import Record
from shards.text_table import TextTable
from shards.utf8 import encoded

Codes = npt.NDArray[np.uint8] | npt.NDArray[np.uint16]

_BYTE_VALUES: Final = 256


class Field(StrEnum):
    """A record field that has a column. Permissions and modes are columns of JSON arrays."""

    TENANT = "tenant"
    PERMISSIONS = "permissions"
    MODES = "modes"
    SIDE_EFFECT = "side_effect"
    STATUS = "status"
    KIND = "kind"
    NAMESPACE = "namespace"
    PRODUCT = "product"
    LOCALE = "locale"
    RELEASE = "release"
    DOMAIN = "domain"
    CAPABILITY = "capability"


def column_values(record: Record) -> tuple[str, ...]:
    """The record's value in each column, in the order of ``Field``."""
    access = record.access
    return (
        access.tenant, orjson.dumps(access.permissions).decode(), orjson.dumps(access.modes).decode(),
        access.side_effect.value, record.status.value, record.kind.value, record.namespace, record.product,
        record.locale, record.release, record.domain, record.capability,
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Column:
    """One field of all records of a segment.

    Attributes:
        values: distinct values, sorted; each occurs.
        codes: uint8[rows] (uint16 above 256 values), row of each record's value; uint8[0] where all share one.
        rows: number of records.
    """

    values: TextTable
    codes: Codes
    rows: int

    @classmethod
    def of(cls, values: Sequence[str], codes: npt.NDArray[np.uint32]) -> Self:
        """Encode rows whose values stand at ``codes`` in ``values`` (any order, repeats and unused ones allowed)."""
        used = np.unique(codes)
        texts = {int(code): encoded(values[code]) for code in used}
        distinct = sorted(set(texts.values()))
        rank = {text: position for position, text in enumerate(distinct)}
        lut = np.zeros(len(values), np.uint16)
        for code, text in texts.items():
            lut[code] = rank[text]
        return cls(values=TextTable.of(distinct), codes=_narrow(lut[codes], len(distinct)), rows=len(codes))

    def where(self, admits: Callable[[str], bool]) -> npt.NDArray[np.bool_]:
        """bool[rows]: whose value ``admits`` accepts; asked once per distinct value."""
        return self.rows_with(self.decided(admits))

    def decided(self, admits: Callable[[str], bool]) -> npt.NDArray[np.bool_]:
        """bool[values]: which values ``admits`` accepts."""
        return np.fromiter(map(admits, self.values), np.bool_, len(self.values))

    def rows_with(self, admitted: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        """bool[rows]: whose value is one of those that ``admitted`` (bool[values]) says."""
        if len(self.codes) == 0 or admitted.all():
            return np.full(self.rows, bool(admitted.any()))
        return admitted[self.codes]

    def rows_of(self, code: int) -> npt.NDArray[np.int64]:
        """Ascending rows whose value stands at ``code`` of ``values``."""
        if len(self.codes) == 0:
            return np.arange(self.rows)
        return np.flatnonzero(self.codes == code)

    def dense_codes(self) -> npt.NDArray[np.uint32]:
        """uint32[rows], also where all records share one value."""
        return self.codes.astype(np.uint32) if len(self.codes) else np.zeros(self.rows, np.uint32)

    @property
    def nbytes(self) -> int:
        """Memory in bytes."""
        return self.values.nbytes + self.codes.nbytes


def _narrow(codes: npt.NDArray[np.uint16], values: int) -> Codes:
    if values == 1:
        return np.zeros(0, np.uint8)
    return codes.astype(np.uint8) if values <= _BYTE_VALUES else codes


Columns = Mapping[Field, Column]
