"""What the registry writes of a record, against the record's own JSON."""

import hashlib

from hypothesis import given
from hypothesis import strategies as st

from cluster.draft import Draft
from cluster.spool import Spool
from shards.record import Access, Kind, Record, SideEffect, Status

_TEXT = st.text(st.characters(codec="utf-8"), max_size=12) | st.sampled_from(
    ['"version":0,"schema_version":1,"indexed_at":"","search_text_hash":"', "a\nb", "\\", '"indexed_at":""']
)
_NAME = _TEXT.filter(bool)

_RECORDS = st.builds(
    Record,
    id=_NAME,
    kind=st.sampled_from(Kind),
    name=_NAME,
    namespace=_TEXT,
    description=_TEXT,
    access=st.builds(Access, tenant=_NAME, modes=st.tuples(_TEXT), side_effect=st.sampled_from(SideEffect)),
    parameters=_TEXT,
    aliases=st.tuples(_TEXT),
    section=_TEXT,
    status=st.sampled_from(Status),
    version=st.integers(0, 2**31),
    schema_version=st.integers(0, 3),
    indexed_at=st.sampled_from(["", "2026-01-01T00:00:00.000Z"]),
)


@given(record=_RECORDS, version=st.integers(1, 2**31))
def test_an_accepted_draft_is_the_json_of_the_accepted_record(record: Record, version: int) -> None:
    at = "2026-11-30T22:07:01.298Z"
    assert Draft.of(record).accepted(version, at) == record.accepted(version, at).to_json()


@given(record=_RECORDS)
def test_the_content_of_a_draft_names_neither_version_nor_time(record: Record) -> None:
    content = record.accepted(0, "").to_json()
    assert Draft.of(record).content == content
    assert Draft.of(record).content_hash() == hashlib.blake2b(content, digest_size=16).hexdigest()


@given(records=st.lists(_RECORDS, max_size=4))
def test_drafts_come_out_of_a_spool_as_they_went_in(records: list[Record]) -> None:
    with Spool() as spool:
        for record in records:
            spool.add(record)
        assert list(spool.drafts()) == [Draft.of(record) for record in records]
        assert spool.count == len(records)
