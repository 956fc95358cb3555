"""A confirmed pair goes from the supervisor to its shard's process, and shows at the very next query."""

import pytest

from tests.endpoint import tool
from tests.live.instance import Instance

pytestmark = pytest.mark.live


def test_a_pair_is_shown_as_one_from_its_acknowledgement_until_it_is_taken_back(live: Instance) -> None:
    for number in range(4):
        live.put(tool(f"lens:polish_mirror_{number}", "polish the mirror of a telescope with felt"))
    writer = live.headers("writer")

    def found() -> dict[str, list[str] | None]:
        answer = live.search("polish the mirror with felt", k=20, narrow={"namespaces": "lens"}).json()
        assert answer["coverage"]["full"]
        return {hit["id"]: hit.get("duplicates") for hit in answer["hits"]}

    one = "lens:polish_mirror_0"
    assert set(found().values()) == {None}
    # The four are in both shards, so pairs cross between them.
    for number in range(1, 4):
        other = f"lens:polish_mirror_{number}"
        path = f"/v1/duplicates/{other}"
        said = live.client.put(path, json={"canonical": one}, headers=writer)
        assert said.status_code == 200, said.text
        now = found()
        assert other not in now
        assert now[one] is not None
        assert other in now[one]
    assert list(found()) == [one]
    for number in range(1, 4):
        other = f"lens:polish_mirror_{number}"
        assert live.client.delete(f"/v1/duplicates/{other}", headers=writer).status_code == 200
        assert other in found()
    assert set(found().values()) == {None}
