"""K from the curve of the scores, and who gets it."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluster.adaptive import AdaptiveK, Curve
from cluster.errors import InvalidConfiguration

HALF = Curve(share=512, least=2)

scores = st.lists(st.integers(1, 10**9), max_size=60).map(lambda values: sorted(values, reverse=True))


def test_scores_down_to_the_share_of_the_best_stay() -> None:
    # 512/1024 of 1,000 is 500: the third score is just there, the fourth just not.
    assert HALF.cut([1000, 700, 500, 499, 100]) == 3


def test_the_least_stay_whatever_they_score() -> None:
    assert HALF.cut([1000, 1, 1]) == 2
    assert HALF.cut([1000]) == 1
    assert HALF.cut([]) == 0


def test_a_level_curve_is_not_cut() -> None:
    assert HALF.cut([7] * 40) == 40


@given(scores=scores, share=st.integers(0, 1024), least=st.integers(1, 60))
def test_a_cut_only_shortens_and_never_below_the_least(scores: list[int], share: int, least: int) -> None:
    cut = Curve(share=share, least=least).cut(scores)
    assert min(least, len(scores)) <= cut <= len(scores)
    assert all(score * 1024 >= share * scores[0] for score in scores[least:cut])


@given(scores=scores, share=st.integers(0, 1023), least=st.integers(1, 59))
def test_a_stricter_curve_never_shows_more(scores: list[int], share: int, least: int) -> None:
    cut = Curve(share=share, least=least).cut(scores)
    assert Curve(share=share + 1, least=least).cut(scores) <= cut <= Curve(share=share, least=least + 1).cut(scores)


def test_the_shipped_curves_can_be_read_and_have_a_version() -> None:
    shipped = AdaptiveK.from_config()
    assert shipped.version.startswith("ratio-")
    assert 1 <= shipped.words.least <= 10
    assert shipped.cut([100, 99, 98], vectors=True) == 3


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("name: ratio\nwords: {share: 1, least: 1}\n", "words and hybrid"),
        ("name: ratio\nwords: {share: 1025, least: 1}\nhybrid: {share: 1, least: 1}\n", "0 to 1024"),
        ("name: ratio\nwords: {share: 1, least: 0}\nhybrid: {share: 1, least: 1}\n", "1 to 1000"),
        ("name: ratio\nwords: {share: 1, least: true}\nhybrid: {share: 1, least: 1}\n", "1 to 1000"),
        ("name: ratio\nwords: {share: 1}\nhybrid: {share: 1, least: 1}\n", "share and least"),
    ],
)
def test_a_file_with_a_fault_is_refused_with_what_is_allowed(tmp_path: Path, text: str, field: str) -> None:
    path = tmp_path / "adaptive.yaml"
    path.write_text(text)
    with pytest.raises(InvalidConfiguration, match=field):
        AdaptiveK.from_config(path)
