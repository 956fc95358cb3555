"""The additive ranker: its sum, its configuration, and small catalogues in which the right tool must come first."""

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluster.errors import InvalidConfiguration
from cluster.query import NAMED, AnalyzedRequest, plan_query
from cluster.ranker import AdditiveRanker, Candidates, MixRow
from shards.analyzer import name_key
from shards.impacts import postings_of
from shards.messages import MAX_TERMS, MentionField, ScoreMix
from shards.record import Access, Kind, Record

RANKER = AdditiveRanker.from_config()
ROW = "{max_terms: null, impact: 4, name: 2, presence: 1}"


def _request(length: int) -> AnalyzedRequest:
    return AnalyzedRequest(terms=("t",) * length, term_weights=(256,) * length, mentions=(), length=length)


def test_a_hand_worked_score() -> None:
    ranker = AdditiveRanker("hand", (MixRow(max_terms=None, mix=ScoreMix(impact=3, name=2, presence=10)),))
    values = np.array([[[100, 50], [0, 0]], [[1, 0], [255, 255]]], dtype=np.uint8)
    candidates = Candidates(
        values=values, bonuses=np.array([7, 0], dtype=np.int32), weights=np.array([2, 5], dtype=np.int64)
    )
    # 2 * (3*100 + 2*50 + 10) + 7 = 827; 2 * (3 + 10) + 5 * (3*255 + 2*255 + 10) = 6451
    assert ranker.rank(_request(2), candidates).tolist() == [827, 6451]


def test_no_candidates_give_no_scores() -> None:
    empty = Candidates(
        values=np.zeros((0, 2, 2), np.uint8), bonuses=np.zeros(0, np.int32), weights=np.zeros(2, np.int64)
    )
    scores = RANKER.rank(_request(2), empty)
    assert scores.shape == (0,)
    assert scores.dtype == np.int64


@given(st.integers(0, 2**32 - 1))
def test_a_score_depends_on_its_own_row_alone(seed: int) -> None:
    random = np.random.default_rng(seed)
    candidates = Candidates(
        values=random.integers(0, 256, (9, 5, 2), dtype=np.uint8),
        bonuses=random.integers(0, 1000, 9, dtype=np.int32),
        weights=random.integers(0, 2048, 5, dtype=np.int64),
    )
    together = RANKER.rank(_request(5), candidates)
    alone = [
        RANKER.rank(
            _request(5),
            Candidates(values=candidates.values[[row]], bonuses=candidates.bonuses[[row]], weights=candidates.weights),
        )[0]
        for row in range(9)
    ]
    assert together.tolist() == alone


def test_the_greatest_score_of_the_shipped_mixes_fits_an_int32_with_every_bonus() -> None:
    for length in range(MAX_TERMS + 1):
        mix = RANKER.mix(_request(length))
        assert MAX_TERMS * 2047 * (255 * (mix.impact + mix.name) + mix.presence) + 600_000_000 < 2**31


def test_a_sure_name_outweighs_every_term_score_of_a_query_of_ten_words() -> None:
    mix = RANKER.mix(_request(12))
    assert 12 * 2047 * (255 * (mix.impact + mix.name) + mix.presence) < NAMED


def test_the_version_names_the_ranker_and_changes_with_its_weights() -> None:
    one, two = (
        AdditiveRanker("additive", (MixRow(max_terms=None, mix=ScoreMix(impact=4, name=name, presence=0)),))
        for name in (1, 2)
    )
    assert one.version != two.version
    assert one.version.startswith("additive-")
    assert AdditiveRanker.from_config().version == RANKER.version
    assert RANKER.bound == 0


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("name: a", ""),
        ("[]", ""),
        ("{name: a, mixes: [], more: 1}", ""),
        ("", ""),
        ("{name: a, name: b, mixes: []}", ": line 1"),
        (f"{{name: &a x, mixes: [{ROW}]}}", ": line 1"),
        (f"{{name: 3, mixes: [{ROW}]}}", ": name"),
        (f"{{name: a b, mixes: [{ROW}]}}", ": name"),
        ("{name: a, mixes: []}", ": mixes"),
        ("{name: a, mixes: 3}", ": mixes"),
        ("{name: a, mixes: [3]}", ": mixes[0]"),
        ("{name: a, mixes: [{max_terms: 3, impact: 4, name: 2, presence: 1}]}", ": mixes"),
        (f"{{name: a, mixes: [{ROW}, {ROW}]}}", ": mixes"),
        ("{name: a, mixes: [{max_terms: 0, impact: 4, name: 2, presence: 1}]}", ": mixes[0].max_terms"),
        ("{name: a, mixes: [{max_terms: null, impact: 16, name: 2, presence: 1}]}", ": mixes[0].impact"),
        ("{name: a, mixes: [{max_terms: null, impact: true, name: 2, presence: 1}]}", ": mixes[0].impact"),
        ("{name: a, mixes: [{max_terms: null, impact: 1, name: -1, presence: 1}]}", ": mixes[0].name"),
        ("{name: a, mixes: [{max_terms: null, impact: 1, name: 1, presence: 3826}]}", ": mixes[0].presence"),
        ("{name: a, mixes: [{max_terms: null, impact: 1, name: 1}]}", ": mixes[0]"),
    ],
)
def test_a_ranker_file_with_a_bad_value_is_refused_by_the_name_of_the_field(
    tmp_path: Path, text: str, field: str
) -> None:
    path = tmp_path / "ranker.yaml"
    path.write_text(text)
    with pytest.raises(InvalidConfiguration) as refused:
        AdditiveRanker.from_config(path)
    assert refused.value.field == f"{path}{field}"


def test_a_ranker_file_of_ones_own_decides_the_mix(tmp_path: Path) -> None:
    path = tmp_path / "ranker.yaml"
    path.write_text(f"name: mine\nmixes: [{ROW}]\n")
    own = AdditiveRanker.from_config(path)
    assert own.mix(_request(1)) == own.mix(_request(64)) == ScoreMix(impact=4, name=2, presence=1)
    assert own.version.startswith("mine-")
    with pytest.raises(InvalidConfiguration, match=r"nowhere\.yaml"):
        AdditiveRanker.from_config(tmp_path / "nowhere.yaml")


def _tool(name: str, description: str = "", namespace: str = "", **more: object) -> Record:
    return Record(
        id=f"{namespace}:{name}", kind=Kind.TOOL, name=name, namespace=namespace, description=description,
        access=Access(tenant="*"), **more,
    )  # fmt: skip


def _ranked(query: str, records: Sequence[Record]) -> list[str]:
    """Ids by the shipped ranker over a catalogue, best first, without any index."""
    request = plan_query(query)
    postings = [postings_of(record) for record in records]
    frequencies = [sum(term in held for held in postings) for term in request.terms]
    weights = [
        round(128 * math.log(1 + (len(records) - df + 0.5) / (df + 0.5)) * weight / 256) if df else 0
        for df, weight in zip(frequencies, request.term_weights, strict=True)
    ]
    names = {mention.key: mention.bonus for mention in request.mentions if mention.field is MentionField.NAME}
    candidates = Candidates(
        values=np.array(
            [[held.get(term, (0, 0)) for term in request.terms] for held in postings], dtype=np.uint8
        ).reshape(len(records), len(request.terms), 2),
        bonuses=np.array([names.get(name_key(record.name), 0) for record in records], dtype=np.int32),
        weights=np.array(weights, dtype=np.int64),
    )
    scores = RANKER.rank(request, candidates).tolist()
    order = sorted(zip(scores, (record.id for record in records), strict=True), key=lambda pair: (-pair[0], pair[1]))
    return [record_id for score, record_id in order if score > 0]


MAIL = [
    _tool("Gmail_SendEmail", "Send an email using the Gmail API.", "gmail"),
    _tool("Gmail_ListEmails", "Read emails from a Gmail account and extract plain text content.", "gmail"),
    _tool("Gmail_DeleteDraftEmail", "Delete a draft email using the Gmail API.", "gmail"),
    _tool("Slack_SendMessage", "Send a message to a channel or a direct message to a user in Slack.", "slack"),
    _tool("Slack_ListUsers", "List all users in the team of the authenticated user.", "slack"),
    _tool("HubSpot_GetContact", "Get a contact by email.", "hubspot"),
    *(
        _tool(f"Crm_UpdateField{index}", f"Updates field {index} of the colleague's profile.", "crm")
        for index in range(40)
    ),
]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("send an email to my colleague", "gmail:Gmail_SendEmail"),
        ("send a message to my colleague in slack", "slack:Slack_SendMessage"),
        ("message the team on Slack", "slack:Slack_SendMessage"),
    ],
)
def test_an_everyday_wish_finds_the_tool_among_the_first_five(query: str, expected: str) -> None:
    assert expected in _ranked(query, MAIL)[:5]


TWINS = [
    _tool("list_issues", "Lists the issues of a repository.", namespace) for namespace in ("gitea", "github", "gitlab")
]


@pytest.mark.parametrize("namespace", ["gitea", "github", "gitlab"])
def test_the_namespace_in_the_query_decides_between_twins(namespace: str) -> None:
    assert _ranked(f"list issues on {namespace}", TWINS)[0] == f"{namespace}:list_issues"
    assert _ranked(f"list_issues {namespace}", TWINS)[0] == f"{namespace}:list_issues"


def test_inside_one_namespace_the_query_still_ranks() -> None:
    gmail = [record for record in MAIL if record.namespace == "gmail"]
    assert _ranked("delete a draft", gmail)[0] == "gmail:Gmail_DeleteDraftEmail"
    assert _ranked("read my emails", gmail)[0] == "gmail:Gmail_ListEmails"


CODE = [
    _tool("find_symbol", "Looks a definition up."),
    _tool("search_text", "Finds every symbol, name and find in a find-symbol text with a symbol."),
    _tool("list", "Lists."),
    _tool("list_all_repositories", "Lists all the repositories."),
    _tool("az account clear", "Clear all subscriptions from the local cache."),
]


@pytest.mark.parametrize(
    "query", ["find symbol", "findSymbol", "FIND_SYMBOL", "then call find_symbol on the text name"]
)
def test_a_tool_named_in_any_writing_comes_first(query: str) -> None:
    assert _ranked(query, CODE)[0] == ":find_symbol"


def test_every_tool_that_a_query_names_comes_first() -> None:
    ranked = _ranked("search all text of all repositories, run find_symbol, then `az account clear`", CODE)
    assert set(ranked[:2]) == {":find_symbol", ":az account clear"}


def test_a_one_word_name_in_running_text_does_not_win_by_its_name() -> None:
    assert _ranked("list all repositories of mine", CODE)[0] == ":list_all_repositories"


LANGUAGES = [
    _tool("a1", "查询云服务器实例列表"),
    _tool("a2", "删除负载均衡监听器"),
    _tool("a3", "ثبت هزینه‌های ماهانه کسب‌وکار"),
    _tool("a4", "حذف فاکتور فروش"),
    _tool("a5", "Удаление виртуальных машин"),
    _tool("a6", "إنشاء فاتورة جديدة"),
]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("帮我看看云服务器有哪些实例", ":a1"),
        ("怎么删除监听器？", ":a2"),
        ("هزينه هاي ماهانه", ":a3"),
        ("هزینه‌ها رو ثبت کن", ":a3"),
        ("فاكتورها را حذف کن", ":a4"),
        ("удалить виртуальную машину", ":a5"),
        ("الفاتورة", ":a6"),
    ],
)
def test_a_query_in_its_own_script_finds_its_tool(query: str, expected: str) -> None:
    assert _ranked(query, LANGUAGES)[0] == expected


@pytest.mark.parametrize("query", ["what can you do for me", "列表", "the"])
def test_a_query_of_generic_words_finds_what_holds_them(query: str) -> None:
    catalogue = [*LANGUAGES, _tool("help", "What the assistant can do for you.")]
    assert _ranked(query, catalogue)
