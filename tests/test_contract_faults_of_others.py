"""Faults that users reported of systems like this one, in what is granted, handed over and said. Reports beside tests.

Those in what is found, and in which language, are in ``tests.test_faults_of_others``.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from cluster.config import Settings
from cluster.scope import Policy
from serve_app.auth import Authenticator
from tests.endpoint import SENTINEL, Endpoint, endpoint_over, served, services_over, tool
from tests.serve_app.formats.provider_rules import FORMATS, check_view, name_of

POLICY: Final = """
modes:
  analyzer: {side_effects: [read], k_ceiling: 48}
  wide: {side_effects: [read, write, destructive], k_ceiling: 500}
roles:
  picker:
    grants:
      - {name: named, tenants: ["*"], permissions: [read], ids: ["mail:send_email", "chat:post_message"]}
      - {name: files, tenants: ["*"], permissions: [read], namespaces: ["files*"]}
    denials:
      - {name: dangerous, ids: ["files:wipe_disk"]}
  listed:
    manage_grant_lists: true
    grants:
      - {name: list, tenants: ["*"], permissions: [read], grant_list: team}
  reader:
    write: own_tenant
    grants:
      - {name: own, tenants: [$tenant, "*"], permissions: [read], side_effects: [read, write, destructive]}
denials: []
"""

SHARED: Final = (
    tool("mail:send_email", "Send an email to a person", tenant="*"),
    tool("mail:read_inbox", "Read every email of an inbox", tenant="*"),
    tool("chat:post_message", "Send a message or an email to a channel", tenant="*"),
    tool("files:send_file", "Send a file by email", tenant="*"),
    tool("files:wipe_disk", "Send an email and wipe the disk", tenant="*"),
    tool("files/team:share", "Send a link to a file by email", tenant="*"),
    tool("mail:locked", "Send an email", tenant="*", access={"permissions": ["admin"]}),
)


@contextmanager
def under_policy(
    home: Path, records: tuple[dict[str, object], ...], settings: Settings | None = None
) -> Iterator[Endpoint]:
    """An endpoint whose operator wrote ``POLICY``."""
    (home / "policy.yaml").write_text(POLICY)
    policy = Policy.load(home / "policy.yaml")
    services = services_over(home, records, settings=settings)
    known = Authenticator.from_settings(services.settings, policy)
    with served(replace(services, policy=policy, authenticator=known)) as endpoint:
        yield endpoint


def ids(response: httpx.Response) -> list[str]:
    assert response.status_code == 200, response.text
    return [hit["id"] for hit in response.json()["hits"]]


def steady(response: httpx.Response) -> bytes:
    """The bytes of an answer but for what is its own alone."""
    own = rb'"request_id":"[^"]*"|"timings_ms":\{[^}]*\}|"index_position":"[^"]*"'
    return re.sub(own, b"", response.content)


def test_a_policy_of_record_ids_and_access_fields_holds_behind_the_search(tmp_path: Path) -> None:
    # stacklok/toolhive#4373: search on, and a policy that names real tools left none of them.
    with under_policy(tmp_path, SHARED) as endpoint:
        answer = endpoint.search("send an email", k=20, role="picker")
        assert sorted(ids(answer)) == ["chat:post_message", "files/team:share", "files:send_file", "mail:send_email"]
        assert answer.json()["coverage"]["authorized"] == 4
        read = {
            record["id"]: endpoint.client.get(f"/v1/records/{record['id']}", headers=endpoint.headers("picker"))
            for record in SHARED
        }
    assert {name for name, one in read.items() if one.status_code == 200} == set(ids(answer))


def test_the_same_question_is_decided_anew_after_every_change_of_what_the_caller_may_see(tmp_path: Path) -> None:
    # openai/openai-agents-js PR#1932: what was discovered once was offered after the permission had gone.
    with under_policy(tmp_path, SHARED) as endpoint:

        def grant(*granted: str) -> None:
            body = {"ids": list(granted)}
            put = endpoint.client.put("/v1/grants/team", json=body, headers=endpoint.headers("listed"))
            assert put.status_code == 200, put.text

        seen = []
        for granted in (("mail:send_email", "mail:read_inbox"), ("mail:read_inbox",), (), ("chat:post_message",)):
            grant(*granted)
            # Asked twice: once with whatever was remembered of the grant before, once with this one's.
            answers = [endpoint.search("send an email", k=20, role="listed") for _ in range(2)]
            assert steady(answers[0]) == steady(answers[1])
            assert set(ids(answers[0])) == set(granted)
            reads = [
                endpoint.client.get(f"/v1/records/{record['id']}", headers=endpoint.headers("listed")).status_code
                for record in SHARED
            ]
            assert [record["id"] for record, code in zip(SHARED, reads, strict=True) if code == 200] == [
                record["id"] for record in SHARED if record["id"] in granted
            ]
            seen.append(answers[0].json()["coverage"]["authorized"])
        assert seen == [2, 1, 0, 1]


def test_an_answer_that_is_not_everything_says_so_and_counts_only_what_the_caller_may_see(tmp_path: Path) -> None:
    # anthropics/claude-code#83592: ten of twenty tools, and no sign of the other ten.
    own = [tool(f"mail:send_{number}", "Send an email") for number in range(20)]
    others = [tool(f"mail:{SENTINEL}_{number}", "Send an email", tenant="globex") for number in range(50)]
    with endpoint_over(tmp_path, [*own, *others]) as endpoint:
        cut, whole = (endpoint.search("send an email", k=k).json() for k in (10, 20))
    assert (len(cut["hits"]), cut["truncated"], cut["spent"]["matched"]) == (10, True, 20)
    assert (len(whole["hits"]), whole["truncated"], whole["spent"]["matched"]) == (20, False, 20)
    assert cut["coverage"]["authorized"] == whole["coverage"]["authorized"] == 20


CLUSTERS: Final = ("east", "west", "north", "south", "alpha", "beta", "gamma", "delta", "omega", "sigma")
TWINS: Final = tuple(
    tool(f"{cluster}:{name}", text, tenant="*")
    for cluster in CLUSTERS
    for name, text in (
        ("pods_list", "List the pods of a cluster in all namespaces"),
        ("pods_delete", "Delete a pod of a cluster"),
        ("pods_log", "Get the logs of a pod of a cluster"),
    )
)


@pytest.fixture(scope="module")
def twins(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Endpoint]:
    """Ten clusters with the same three tools each."""
    with endpoint_over(tmp_path_factory.mktemp("home"), TWINS) as endpoint:
        yield endpoint


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_the_namespace_in_the_query_decides_between_twins(twins: Endpoint, cluster: str) -> None:
    # stacklok/toolhive#6514
    assert ids(twins.search(f"list the pods of {cluster}", k=3))[0] == f"{cluster}:pods_list"


def test_a_pinned_record_stays_whatever_its_twins_score(twins: Endpoint) -> None:
    # stacklok/toolhive#6514
    pinned = ["sigma:pods_list", "omega:pods_delete"]
    for k in (2, 5, 12):
        answer = twins.search("list the pods of east", k=k, pinned=pinned).json()
        found = {hit["id"]: hit["pinned"] for hit in answer["hits"]}
        assert len(found) == k
        assert [name for name, is_pinned in found.items() if is_pinned] == [one for one in found if one in pinned]
        assert set(pinned) <= set(found)


LARGE: Final = {
    "type": "object",
    "properties": {f"field_{number}": {"type": "string", "description": "word " * 20} for number in range(40)},
}


@pytest.mark.parametrize("form", FORMATS)
def test_an_answer_of_nothing_but_deferred_tools_names_each_with_its_reason(tmp_path: Path, form: str) -> None:
    # openai/codex#24536: every tool was deferred, and the model was handed nothing at all.
    large = [tool(f"mail:send_{number}", "Send an email", parameters=LARGE) for number in range(5)]
    with endpoint_over(tmp_path, large) as endpoint:
        answer = endpoint.search("send an email", budget={"evidence_tokens": 200}, format=form).json()
        view = answer["formatted"]
        assert (answer["kind"], view["tools"]) == ("hits", [])
        assert {one["id"]: one["reason"] for one in view["deferred"]} == dict.fromkeys(
            [hit["id"] for hit in answer["hits"]], "summary"
        )
        for one in view["deferred"]:
            whole = endpoint.client.get(one["fetch"], params={"format": form}, headers=endpoint.headers("reader"))
            assert [name_of(shown) for shown in whole.json()["tools"]] == [one["name"]]


@pytest.fixture(scope="module")
def lone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Endpoint]:
    """One tool, of one tenant."""
    with endpoint_over(tmp_path_factory.mktemp("home"), [tool("mail:send", "Send an email")]) as endpoint:
        yield endpoint


@pytest.mark.parametrize(
    ("tenant", "body", "reason"),
    [
        ("acme", {"query": "send an email", "budget": {"evidence_tokens": 1}}, "budget"),
        ("acme", {"query": "zzz qqq"}, "no_match"),
        ("acme", {"query": "send an email", "narrow": {"namespaces": "nowhere"}}, "nothing_authorized"),
        ("globex", {"query": "send an email"}, "nothing_authorized"),
    ],
)
@pytest.mark.parametrize("form", ["native", *FORMATS])
def test_an_answer_without_a_tool_says_why(
    lone: Endpoint, tenant: str, body: dict[str, object], reason: str, form: str
) -> None:
    # openai/codex#24536
    answer = lone.post("/v1/search", {**body, "format": form}, tenant=tenant).json()
    assert (answer["kind"], answer["hits"], answer["miss"]["reason"]) == ("miss", [], reason)
    assert answer["miss"]["advice"]


LONG: Final = "resource_groups_tagging_" * 5
NAMED: Final = (
    tool(f"aws:{LONG}create", "Create a tag", name=f"{LONG}create", tenant="*"),
    tool(f"aws:{LONG}delete", "Delete a tag", name=f"{LONG}delete", tenant="*"),
    tool("web:search-a", "Search for a tag", name="search-a", tenant="*"),
    tool("web:search_a", "Search for a tag", name="search_a", tenant="*"),
    tool("web:search.a", "Search for a tag", name="search.a", tenant="*"),
    tool("web:search a", "Search for a tag", name="search a", tenant="*"),
    tool("else:search-a", "Search for a tag", name="search-a", tenant="*"),
)


@pytest.fixture(scope="module")
def named(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Endpoint]:
    """Tools whose names no provider takes as they are, or takes for one."""
    with endpoint_over(tmp_path_factory.mktemp("home"), NAMED) as endpoint:
        yield endpoint


@pytest.mark.parametrize("form", FORMATS)
def test_names_that_search_returns_are_legal_distinct_and_lead_back(named: Endpoint, form: str) -> None:
    # anthropics/claude-code#20643, microsoft/vscode#243602: names beyond 64 characters broke the model's API.
    # openai/openai-agents-js#1934: `search-a` and `search_a` became one name.
    answer = named.search("tag", k=20, format=form).json()
    view = answer["formatted"]
    check_view(view)
    assert sorted(view["names"].values()) == sorted(str(record["id"]) for record in NAMED)
    for shown in view["tools"]:
        assert len(name_of(shown)) <= 64
        read = named.client.get(f"/v1/records/{view['names'][name_of(shown)]}", headers=named.headers("reader"))
        assert read.json()["id"] == view["names"][name_of(shown)]


def test_a_provider_that_takes_128_tools_is_never_handed_more(tmp_path: Path) -> None:
    # obot-platform/mcp-catalog#516
    many = tuple(tool(f"mail:send_{number:03}", "Send an email") for number in range(150))
    settings = Settings.model_validate(
        {"home": tmp_path, "budgets": {"tool": {"candidate_k": 200, "rerank_k": 200, "evidence_tokens": 100_000}}}
    )
    with under_policy(tmp_path, many, settings) as endpoint:

        def asked(form: str, k: int) -> httpx.Response:
            return endpoint.search("send an email", mode="wide", k=k, format=form)

        assert len(asked("native", 150).json()["hits"]) == 150
        for form in FORMATS:
            limited = form.startswith("openai")
            refused = asked(form, 129)
            assert refused.status_code == (422 if limited else 200)
            if limited:
                assert refused.json()["errors"] == [{"field": "k", "allowed": "an integer from 1 to 128"}]
            view: dict[str, Any] = asked(form, 128).json()["formatted"]
            check_view(view)
            assert len(view["tools"]) + len(view["deferred"]) == 128
