"""The additive ranker: its sum, its configuration, and small catalogues in which the right tool must come first."""

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluster.embedder import EmbeddedQuery
from cluster.errors import InvalidConfiguration
from cluster.query import NAMED, AnalyzedRequest, plan_query
from cluster.ranker import AdditiveRanker, Candidates, Crowding, Mixes, MixRow
from shards.analyzer import name_key
from shards.impacts import postings_of
from shards.mentions import NO_MENTIONS, MentionField, key_hash
from shards.messages import MAX_TERMS, MOST_LIKENESS, ScoreMix, VectorQuery
from shards.record import Access, Kind, Record

RANKER = AdditiveRanker.from_config()
ROW = "{max_terms: null, impact: 4, name: 2, presence: 1}"
VECTOR_ROW = "{max_terms: null, impact: 5, name: 1, presence: 2, similarity: 70}"
CROWDING = "crowding: {percent: 80, doublings: 6}"
HYBRID = f"hybrid: [{VECTOR_ROW}], {CROWDING}"
EMBEDDED = EmbeddedQuery(vector=VectorQuery(embedder="e", values=np.ones(2, np.int16), floor=0), models=("m",))


def _request(length: int, embedded: EmbeddedQuery | None = None) -> AnalyzedRequest:
    return AnalyzedRequest(
        terms=("t",) * length, term_weights=(256,) * length, mentions=NO_MENTIONS, length=length, embedded=embedded
    )


def _ranker(words: ScoreMix, hybrid: ScoreMix | None = None) -> AdditiveRanker:
    tables = ((MixRow(max_terms=None, mix=mix),) for mix in (words, hybrid or words))
    return AdditiveRanker(
        "additive", Mixes(words=next(tables), hybrid=next(tables), crowding=Crowding(percent=100, doublings=0))
    )


def test_a_hand_worked_score() -> None:
    words = ScoreMix(impact=3, name=2, presence=10)
    ranker = _ranker(words, replace(words, presence=0, similarity=4))
    values = np.array([[[100, 50], [0, 0]], [[1, 0], [255, 255]]], dtype=np.uint8)
    candidates = Candidates(
        values=values,
        bonuses=np.array([7, 0], dtype=np.int32),
        likenesses=np.array([0, 1024], dtype=np.int32),
        weights=np.array([2, 5], dtype=np.int64),
    )
    # 2 * (3*100 + 2*50 + 10) + 7 = 827; 2 * (3 + 10) + 5 * (3*255 + 2*255 + 10) = 6451
    assert ranker.rank(_request(2), candidates).tolist() == [827, 6451]
    # 2 * (3*100 + 2*50) + 7 = 807; 2 * 3 + 5 * (3*255 + 2*255) + 4 * 1024 = 10477
    assert ranker.rank(_request(2, EMBEDDED), candidates).tolist() == [807, 10477]


def test_no_candidates_give_no_scores() -> None:
    empty = Candidates(
        values=np.zeros((0, 2, 2), np.uint8),
        bonuses=np.zeros(0, np.int32),
        likenesses=np.zeros(0, np.int32),
        weights=np.zeros(2, np.int64),
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
        likenesses=random.integers(0, MOST_LIKENESS + 1, 9, dtype=np.int32),
        weights=random.integers(0, 2048, 5, dtype=np.int64),
    )
    request = _request(5, EMBEDDED)
    together = RANKER.rank(request, candidates)
    alone = [RANKER.rank(request, _only(candidates, row))[0] for row in range(9)]
    assert together.tolist() == alone


def _only(candidates: Candidates, row: int) -> Candidates:
    return Candidates(
        values=candidates.values[[row]],
        bonuses=candidates.bonuses[[row]],
        likenesses=candidates.likenesses[[row]],
        weights=candidates.weights,
    )


def _greatest(mix: ScoreMix, terms: int) -> int:
    """Of a score without bonuses."""
    return terms * 2047 * (255 * (mix.impact + mix.name) + mix.presence) + mix.similarity * MOST_LIKENESS


@pytest.mark.parametrize("embedded", [None, EMBEDDED], ids=["words", "hybrid"])
def test_the_greatest_score_of_the_shipped_mixes_fits_an_int32_with_every_bonus(embedded: EmbeddedQuery | None) -> None:
    for length in range(MAX_TERMS + 1):
        assert _greatest(RANKER.mix(_request(length, embedded)), MAX_TERMS) + 500_000_000 < 2**31


@pytest.mark.parametrize("embedded", [None, EMBEDDED], ids=["words", "hybrid"])
def test_a_sure_name_outweighs_every_other_score_of_a_query_of_ten_words(embedded: EmbeddedQuery | None) -> None:
    assert _greatest(RANKER.mix(_request(12, embedded)), 12) < NAMED


def test_likeness_counts_for_queries_with_a_vector_only() -> None:
    for length in (1, 10, 40):
        assert RANKER.mix(_request(length)).similarity == 0
        assert RANKER.mix(_request(length, EMBEDDED)).similarity > 0


def test_the_version_names_the_ranker_and_changes_with_its_weights() -> None:
    mix = ScoreMix(impact=4, name=1, presence=0)
    one, two, three = (
        _ranker(*mixes) for mixes in ((mix, mix), (replace(mix, name=2), mix), (mix, replace(mix, similarity=1)))
    )
    assert len({one.version, two.version, three.version}) == 3
    assert one.version.startswith("additive-")
    assert AdditiveRanker.from_config().version == RANKER.version
    assert RANKER.bound == 0


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("name: a", ""),
        ("[]", ""),
        (f"{{name: a, mixes: [{ROW}]}}", ""),
        (f"{{name: a, mixes: [{ROW}], {HYBRID}, more: 1}}", ""),
        ("", ""),
        ("{name: a, name: b, mixes: []}", ": line 1"),
        (f"{{name: &a x, mixes: [{ROW}]}}", ": line 1"),
        (f"{{name: 3, mixes: [{ROW}], {HYBRID}}}", ": name"),
        (f"{{name: a b, mixes: [{ROW}], {HYBRID}}}", ": name"),
        (f"{{name: a, mixes: [], {HYBRID}}}", ": mixes"),
        (f"{{name: a, mixes: 3, {HYBRID}}}", ": mixes"),
        (f"{{name: a, mixes: [3], {HYBRID}}}", ": mixes[0]"),
        (f"{{name: a, mixes: [{{max_terms: 3, impact: 4, name: 2, presence: 1}}], {HYBRID}}}", ": mixes"),
        (f"{{name: a, mixes: [{ROW}, {ROW}], {HYBRID}}}", ": mixes"),
        (f"{{name: a, mixes: [{ROW.replace('null', '0')}], {HYBRID}}}", ": mixes[0].max_terms"),
        (f"{{name: a, mixes: [{ROW.replace('impact: 4', 'impact: 16')}], {HYBRID}}}", ": mixes[0].impact"),
        (f"{{name: a, mixes: [{ROW.replace('impact: 4', 'impact: true')}], {HYBRID}}}", ": mixes[0].impact"),
        (f"{{name: a, mixes: [{ROW.replace('name: 2', 'name: -1')}], {HYBRID}}}", ": mixes[0].name"),
        (f"{{name: a, mixes: [{ROW.replace('presence: 1', 'presence: 3826')}], {HYBRID}}}", ": mixes[0].presence"),
        (f"{{name: a, mixes: [{ROW.replace(', presence: 1', '')}], {HYBRID}}}", ": mixes[0]"),
        (f"{{name: a, mixes: [{VECTOR_ROW}], {HYBRID}}}", ": mixes[0]"),
        (f"{{name: a, mixes: [{ROW}], hybrid: [{VECTOR_ROW}]}}", ""),
        (f"{{name: a, mixes: [{ROW}], hybrid: [{VECTOR_ROW}], {CROWDING.replace('80', '49')}}}", ": crowding.percent"),
        (f"{{name: a, mixes: [{ROW}], hybrid: [{VECTOR_ROW}], {CROWDING.replace('6', '25')}}}", ": crowding.doublings"),
        (f"{{name: a, mixes: [{ROW}], hybrid: [], {CROWDING}}}", ": hybrid"),
        (f"{{name: a, mixes: [{ROW}], hybrid: [{ROW}], {CROWDING}}}", ": hybrid[0]"),
        (
            f"{{name: a, mixes: [{ROW}], hybrid: [{VECTOR_ROW.replace('70', '65536')}], {CROWDING}}}",
            ": hybrid[0].similarity",
        ),
        (f"{{name: a, mixes: [{ROW}], hybrid: [{VECTOR_ROW.replace('null', '9')}], {CROWDING}}}", ": hybrid"),
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
    path.write_text(f"{{name: mine, mixes: [{ROW}], {HYBRID}}}")
    own = AdditiveRanker.from_config(path)
    assert own.mix(_request(1)) == own.mix(_request(64)) == ScoreMix(impact=4, name=2, presence=1)
    assert own.mix(_request(1, EMBEDDED)) == ScoreMix(impact=5, name=1, presence=2, similarity=70)
    # Three doublings of 256, the third one started: 70 * 0.8 ** 3 = 35.84.
    crowd = replace(_request(1, EMBEDDED), crowd=1025)
    assert own.mix(crowd) == ScoreMix(impact=5, name=1, presence=2, similarity=35)
    assert own.version.startswith("mine-")
    with pytest.raises(InvalidConfiguration, match=r"nowhere\.yaml"):
        AdditiveRanker.from_config(tmp_path / "nowhere.yaml")


@pytest.mark.parametrize(
    ("authorized", "similarity"),
    [
        (0, 1000),
        (1, 1000),
        (256, 1000),
        (257, 850),
        (512, 850),
        (513, 722),
        (2**14, 377),
        (2**14 + 1, 377),
        (10**9, 377),
    ],
)
def test_similarity_counts_less_with_each_doubling_of_the_records(authorized: int, similarity: int) -> None:
    assert Crowding(percent=85, doublings=6).of(1000, authorized) == similarity
    assert Crowding(percent=100, doublings=6).of(1000, authorized) == 1000


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
    names = request.mentions.among(MentionField.NAME)
    candidates = Candidates(
        values=np.array(
            [[held.get(term, (0, 0)) for term in request.terms] for held in postings], dtype=np.uint8
        ).reshape(len(records), len(request.terms), 2),
        bonuses=np.array([names.get(key_hash(name_key(record.name)), 0) for record in records], dtype=np.int32),
        likenesses=np.zeros(len(records), np.int32),
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
