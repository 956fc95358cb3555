"""Faults that users reported of systems like this one, absent at the endpoint. Each report is named beside its test."""

import re
from collections.abc import Iterator
from itertools import product
from typing import Final, NoReturn

import httpx
import pytest

from shards.record import Record
from tests.endpoint import Endpoint, endpoint_over, tool

SERVICES: Final = ("Gmail", "Outlook", "Slack", "Teams", "HubSpot", "Zendesk", "Notion", "Jira", "Asana", "Dropbox")
VERBS: Final = ("List", "Get", "Search", "Create", "Update", "Delete", "Archive", "Restore", "Export", "Watch")
THINGS: Final = ("Email", "DraftEmail", "Message", "Contact", "Channel", "Thread", "Colleague", "Team", "User")


def _words(name: str) -> str:
    return " ".join(re.findall(r"[A-Z][a-z]+", name)).lower()


def _near(service: str, verb: str, thing: str) -> dict[str, object]:
    text = f"{verb} the {_words(thing)} of my account, to a colleague or from a team, with the {service} API."
    return tool(f"{service.lower()}:{service}_{verb}{thing}", text, tenant="*")


NAMED: Final = (
    tool("gmail:Gmail_SendEmail", "Send an email using the Gmail API.", tenant="*"),
    tool("gmail:Gmail_SendDraftEmail", "Send a draft email using the Gmail API.", tenant="*"),
    tool("gmail:Gmail_ReplyToEmail", "Send a reply to an email message.", tenant="*"),
    tool("slack:Slack_SendMessage", "Send a message to a channel or to a user in Slack.", tenant="*"),
    tool("slack:Slack_SendDmToUser", "Send a direct message to a user in Slack.", tenant="*"),
    tool("code:find_symbol", "Look a definition up.", tenant="*"),
    tool("code:search_text", "Find a symbol, any symbol, in a text: find, find symbol by symbol.", tenant="*"),
    tool("code:az account clear", "Clear all subscriptions from the local cache.", tenant="*"),
    tool("code:git.commit-tree", "Write a commit.", tenant="*"),
    tool("code:readInboxItem", "Read one.", tenant="*"),
)
LANGUAGES: Final = (
    tool("lang:zh_list", "查询云服务器实例列表，并且导出为表格文件", tenant="*"),
    tool("lang:zh_delete", "删除负载均衡监听器", tenant="*"),
    tool("lang:ja", "請求書を作成して顧客に送信します", tenant="*"),
    tool("lang:ko", "회의실을 예약하고 참석자에게 알립니다", tenant="*"),
    tool("lang:fa_cost", "ثبت هزینه‌های ماهانه کسب‌وکار در سال ۱۴۰۳", tenant="*"),
    tool("lang:fa_invoice", "حذف فاکتور فروش", tenant="*"),
    tool("lang:ru", "Удаление виртуальных машин", tenant="*"),
    tool("lang:ar", "إنشاء فاتورة جديدة", tenant="*"),
    tool("lang:el", "Αποστολή τιμολογίου", tenant="*"),
    tool("lang:he", "יצירת חשבונית", tenant="*"),
    tool("lang:hi", "चालान बनाना", tenant="*"),
    tool("lang:th", "สร้างใบแจ้งหนี้", tenant="*"),
    tool("lang:help", "What the assistant can do for you.", tenant="*"),
)
PRIVATE: Final = tuple(
    tool(f"vault:send_email_{number}", "Send an email to my colleague, fast.", tenant="globex") for number in range(300)
)
CATALOGUE: Final = (*(_near(*name) for name in product(SERVICES, VERBS, THINGS)), *NAMED, *LANGUAGES, *PRIVATE)


@pytest.fixture(scope="module")
def crowded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Endpoint]:
    """1,223 tools, 300 of them of another tenant."""
    with endpoint_over(tmp_path_factory.mktemp("home"), CATALOGUE) as endpoint:
        yield endpoint


def _ids(response: httpx.Response) -> list[str]:
    assert response.status_code == 200, response.text
    return [hit["id"] for hit in response.json()["hits"]]


def _answer(response: httpx.Response) -> bytes:
    """The bytes of an answer but for request id and timings."""
    assert response.status_code == 200, response.text
    return re.sub(rb'"request_id":"[^"]*"|"timings_ms":\{[^}]*\}', b"", response.content)


def test_a_denied_tool_appears_nowhere_in_an_answer(crowded: Endpoint) -> None:
    # stacklok/toolhive#4374
    names = ["vault:send_email_7", "gmail:Gmail_SendEmail"]
    response = crowded.search("send_email_7 vault", k=48, pinned=names, preferred=names, explain=True)
    assert "vault" not in response.text
    assert response.json()["coverage"]["authorized"] == len(CATALOGUE) - len(PRIVATE)


def test_an_answer_to_one_user_is_never_served_to_another(
    crowded: Endpoint, tmp_path_factory: pytest.TempPathFactory
) -> None:
    # PrefectHQ/fastmcp#4037
    query = "send an email to my colleague fast"
    with endpoint_over(tmp_path_factory.mktemp("home"), CATALOGUE) as cold:
        expected = _answer(cold.search(query, k=20))
    for _ in range(3):
        assert all(name.startswith("vault:") for name in _ids(crowded.search(query, tenant="globex")))
        assert _answer(crowded.search(query, k=20)) == expected


def test_three_hundred_better_tools_of_others_take_no_place_and_enter_no_total(crowded: Endpoint) -> None:
    # IBM/mcp-context-forge#1664, smart-mcp-proxy/mcpproxy-go#1325
    open_to_all = {"narrow": {"namespaces": ["gmail", "vault"]}}
    answer = crowded.search("send an email to my colleague fast", k=5, **open_to_all).json()
    assert [hit["namespace"] for hit in answer["hits"]] == ["gmail"] * 5
    assert answer["coverage"]["authorized"] == len(VERBS) * len(THINGS) + 3
    assert answer["spent"]["matched"] <= answer["coverage"]["authorized"]
    assert answer["exact"]


@pytest.mark.parametrize(
    ("query", "named"),
    [
        (
            "call find_symbol, then Gmail_SendEmail and finally `az account clear` with git.commit-tree",
            {"code:find_symbol", "gmail:Gmail_SendEmail", "code:az account clear", "code:git.commit-tree"},
        ),
        (
            "Slack_SendMessage find_symbol Jira_WatchThread readInboxItem Outlook_ExportTeam",
            {
                "slack:Slack_SendMessage",
                "code:find_symbol",
                "jira:Jira_WatchThread",
                "code:readInboxItem",
                "outlook:Outlook_ExportTeam",
            },
        ),
        (
            "Gmail_SendEmail,Gmail_ListEmail,Gmail_GetEmail,Gmail_SearchEmail",
            {"gmail:Gmail_SendEmail", "gmail:Gmail_ListEmail", "gmail:Gmail_GetEmail", "gmail:Gmail_SearchEmail"},
        ),
    ],
)
@pytest.mark.parametrize("spare", [0, 10])
def test_each_tool_that_a_query_names_verbatim_is_in_the_result(
    crowded: Endpoint, query: str, named: set[str], spare: int
) -> None:
    # openai/codex#21503
    assert set(_ids(crowded.search(query, k=len(named) + spare))[: len(named)]) == named


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("find symbol", "code:find_symbol"),
        ("findSymbol", "code:find_symbol"),
        ("FIND-SYMBOL", "code:find_symbol"),
        ("find.symbol", "code:find_symbol"),
        ("find/symbol", "code:find_symbol"),
        ("git commit tree", "code:git.commit-tree"),
        ("read inbox item", "code:readInboxItem"),
        ("read_inbox_item", "code:readInboxItem"),
    ],
)
def test_a_name_in_another_writing_finds_its_tool_first(crowded: Endpoint, query: str, expected: str) -> None:
    # anthropics/claude-code#66488
    assert _ids(crowded.search(query, k=3))[0] == expected


def test_inside_one_server_other_queries_get_other_tools(crowded: Endpoint) -> None:
    # finchtoys/finch-releases#23
    wishes = {f"{verb} a {_words(thing)}": f"jira:Jira_{verb}{thing}" for verb, thing in product(VERBS, THINGS)}
    answers = {query: _ids(crowded.search(query, narrow={"namespaces": "jira"})) for query in wishes}
    assert {name.partition(":")[0] for found in answers.values() for name in found} == {"jira"}
    assert [found[0] for found in answers.values()] == list(wishes.values())


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("send an email to my colleague", "gmail:Gmail_SendEmail"),
        ("I want to send an email to a colleague of mine", "gmail:Gmail_SendEmail"),
        ("send a message to my colleague in slack", "slack:Slack_SendMessage"),
        ("message the team on Slack", "slack:Slack_SendMessage"),
    ],
)
def test_an_everyday_wish_has_its_tool_among_the_first_five_of_a_thousand(
    crowded: Endpoint, query: str, expected: str
) -> None:
    # A public test over 4,027 tools, blog.arcade.dev: missed by regular expressions and by BM25.
    assert expected in _ids(crowded.search(query, k=5))


@pytest.mark.parametrize("query", ["帮我看看云服务器有哪些实例", "what can you do for me", "can you do it"])
def test_a_chinese_query_and_one_of_generic_words_are_no_miss(crowded: Endpoint, query: str) -> None:
    # eastreams/loong#401
    assert crowded.search(query).json()["kind"] == "hits"


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("导出表格", "lang:zh_list"),
        ("实例", "lang:zh_list"),
        ("怎么删除监听器？", "lang:zh_delete"),
        ("顧客への請求書", "lang:ja"),
        ("회의실 예약", "lang:ko"),
    ],
)
def test_a_part_of_a_clause_without_blanks_finds_the_clause(crowded: Endpoint, query: str, expected: str) -> None:
    # AgriciDaniel/claude-obsidian#120, vespa-engine/vespa#30639
    hit = crowded.search(query, explain=True).json()["hits"][0]
    assert hit["id"] == expected
    assert sum(part["score"] for part in hit["parts"]) > 0


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("هزینه‌ها رو ثبت کن", "lang:fa_cost"),
        ("فاکتورها را حذف کن", "lang:fa_invoice"),
        ("удалить виртуальную машину", "lang:ru"),
        ("الفاتورة", "lang:ar"),
        ("τιμολογίου", "lang:el"),
        ("חשבונית", "lang:he"),
        ("चालान", "lang:hi"),
        ("ใบแจ้งหนี้", "lang:th"),
    ],
)
def test_every_script_finds_its_tool(crowded: Endpoint, query: str, expected: str) -> None:
    # Gateways that keep only [a-z0-9] find nothing here.
    assert _ids(crowded.search(query))[0] == expected


@pytest.mark.parametrize(
    ("typed", "normal"),
    [
        ("هزينه هاي ماهانه كسب‌وكار", "هزینه های ماهانه کسب‌وکار"),  # Arabic yeh and kaf
        ("هزینه‌های ماهانه", "هزینه های ماهانه"),  # a zero-width non-joiner, a blank
        ("سال ۱۴۰۳", "سال 1403"),  # Persian digits
        ("سال ١٤٠٣", "سال 1403"),  # Arabic digits
    ],
)
def test_persian_as_it_is_typed_gets_the_answer_to_its_normal_form(crowded: Endpoint, typed: str, normal: str) -> None:
    answers = [_answer(crowded.search(query)) for query in (typed, normal)]
    assert answers[0] == answers[1]
    assert b"lang:fa_cost" in answers[0]


def test_the_same_question_has_the_same_bytes_on_every_instance(
    crowded: Endpoint, tmp_path_factory: pytest.TempPathFactory
) -> None:
    # librefang/librefang#3765, can1357/oh-my-pi PR#890: unstable orders broke prompt caches.
    questions = [f"{verb.lower()} the email of a team" for verb in VERBS]
    with endpoint_over(tmp_path_factory.mktemp("home"), CATALOGUE[::-1], shards=5) as other:
        for query in questions:
            bodies = {_unplaced(one.search(query, k=30, explain=True)) for one in (crowded, other) for _ in range(2)}
            assert len(bodies) == 1


def _unplaced(response: httpx.Response) -> bytes:
    """As ``_answer``, without the opaque index position: it tells shard counts apart."""
    return re.sub(rb'"index_position":"[^"]*"', b"", _answer(response))


# stacklok/toolhive#5847: the index was rebuilt per session, seconds for 140 tools.


def test_no_caller_however_new_makes_the_index_anew(crowded: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    def build(record: Record) -> NoReturn:
        raise AssertionError(record.id)

    monkeypatch.setattr("shards.segment_builder.postings_of", build)
    for number, mode in product(range(5), ("analyzer", "autonomous")):
        answer = crowded.search("send an email", tenant=f"newcomer{number}", mode=mode)
        assert _ids(answer)[0] == "gmail:Gmail_SendEmail"
    assert _ids(crowded.search("send an email", narrow={"namespaces": "slack"}))
