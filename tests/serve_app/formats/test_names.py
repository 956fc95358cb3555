"""Names are legal, unique, reversible and the same in every order."""

import re
import string
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from serve_app.formats.names import FUNCTION_NAMES, MCP_NAMES, NameRule, _hash, tool_names


@dataclass(frozen=True)
class Tool:
    id: str
    name: str
    namespace: str = "ns"


_NAMES = st.one_of(
    st.text(min_size=1, max_size=80),
    st.text(alphabet=string.ascii_letters + "-_. ", min_size=1, max_size=3),
    st.sampled_from(["search-a", "search_a", "search a", "search.a", "جستجو", "搜索", "a" * 64, "a" * 65, "a" * 200]),
)
_TOOLS = st.dictionaries(st.text(min_size=1, max_size=30), _NAMES, max_size=12).map(
    lambda names: [Tool(record_id, name) for record_id, name in names.items()]
)
_RULES = st.sampled_from([FUNCTION_NAMES, MCP_NAMES])


@given(tools=_TOOLS, rule=_RULES, draw=st.data())
def test_names_are_legal_unique_reversible_and_the_same_in_every_order(
    tools: list[Tool], rule: NameRule, draw: st.DataObject
) -> None:
    names = tool_names(tools, rule)
    back = {name: record_id for record_id, name in names.items()}
    assert all(
        re.fullmatch(r"[a-zA-Z0-9_.-]{1,64}" if rule is MCP_NAMES else r"[a-zA-Z0-9_-]{1,64}", name) for name in back
    )
    assert back == {names[tool.id]: tool.id for tool in tools}
    assert len(back) == len(tools)
    assert tool_names(draw.draw(st.permutations(tools)), rule) == names


@given(tools=_TOOLS, rule=_RULES)
def test_a_legal_name_without_a_twin_stays(tools: list[Tool], rule: NameRule) -> None:
    names = tool_names(tools, rule)
    plain = [tool.name for tool in tools]
    made = {names[tool.id] for tool in tools if not rule.admits(tool.name)}
    for tool in tools:
        if rule.admits(tool.name) and plain.count(tool.name) == 1 and tool.name not in made:
            assert names[tool.id] == tool.name


@given(tools=_TOOLS, rule=_RULES)
def test_a_changed_name_does_not_depend_on_what_stands_beside_it(tools: list[Tool], rule: NameRule) -> None:
    for tool in tools:
        if not rule.admits(tool.name):
            (alone,) = tool_names([tool], rule).values()
            assert tool_names(tools, rule)[tool.id] == alone


def test_names_that_differ_in_one_mark_stay_distinct() -> None:
    tools = [Tool("1", "search-a"), Tool("2", "search_a"), Tool("3", "search a"), Tool("4", "search.a")]
    names = tool_names(tools, FUNCTION_NAMES)
    assert (names["1"], names["2"]) == ("search-a", "search_a")
    assert names["3"] == f"search_a_{_hash('3')[:8]}"
    assert names["4"] == f"search_a_{_hash('4')[:8]}"
    assert tool_names(tools, MCP_NAMES)["4"] == "search.a"


def test_twins_are_told_apart_by_their_namespaces() -> None:
    tools = [Tool("1", "search", "jira cloud"), Tool("2", "search", "github"), Tool("3", "list", "github")]
    names = tool_names(tools, FUNCTION_NAMES)
    assert names["1"] == f"jira_cloud_search_{_hash('1')[:8]}"
    assert names["2"] == f"github_search_{_hash('2')[:8]}"
    assert names["3"] == "list"


def test_a_long_name_keeps_its_start_and_its_end_in_64_characters() -> None:
    long = "identityGovernance.entitlementManagement." + "accessPackage." * 9 + "GetRoles"
    (name,) = tool_names([Tool("x", long)], FUNCTION_NAMES).values()
    assert len(name) == 64
    assert name.startswith("identityGovernance_entitlem")
    assert name.endswith(f"accessPackage_GetRoles_{_hash('x')[:8]}")


@pytest.mark.parametrize(
    ("record_id", "name", "start"),
    [
        ("mail:send_email", "ارسال ایمیل", "mail_send_email_"),
        ("tools:发送", "发送邮件", "tools_"),
        ("۱", "فاکتور", "tool_"),
        ("x", "Größe ändern", "x_"),
        ("x", "Café créer", "Cafe_creer_"),
        ("x", "🙂", "tool_"),
    ],
)
def test_a_name_of_another_script_is_read_from_the_id(record_id: str, name: str, start: str) -> None:
    (made,) = tool_names([Tool(record_id, name)], FUNCTION_NAMES).values()
    assert made == start + _hash(record_id)[:8]


def test_a_name_that_looks_like_a_made_one_makes_both_longer() -> None:
    made = f"a_b_{_hash('1')[:8]}"
    names = tool_names([Tool("1", "a b"), Tool("2", made)], FUNCTION_NAMES)
    assert names["1"] == f"a_b_{_hash('1')[:16]}"
    assert names["2"] == f"ns_{made}_{_hash('2')[:8]}"


def test_two_tools_of_one_id_are_an_error() -> None:
    with pytest.raises(ValueError, match="unique"):
        tool_names([Tool("1", "a"), Tool("1", "b")], FUNCTION_NAMES)
