"""The two calibrations choose on made-up cases what a person would choose."""

from dataclasses import replace
from pathlib import Path

import pytest

from cluster.abstention import Rule, Strictness
from cluster.adaptive import AdaptiveK, Curve
from cluster.contract import TalkSignals
from evals.calibrate_abstention import FALSE_EMPTY, document, fit
from evals.calibrate_adaptive import KEPT, MOST_K, Ranked, effect_of
from evals.calibrate_adaptive import document as adaptive_document
from evals.calibrate_adaptive import fit as adaptive_fit
from evals.talk_cases import GROUPS, Case, abstains
from evals.talk_report import lines_of

REAL = next(group for group in GROUPS if group.real)
NONE = next(group for group in GROUPS if not group.real)


def case(*, real: bool, shared: int, words: int, nearer: int = 0) -> Case:
    signals = TalkSignals(shared=shared, likeness=0, words=words, nearer=nearer, named=False)
    return Case(group=REAL if real else NONE, text="", fitted=True, signals=signals, right=real)


CASES = [
    *(case(real=True, shared=300 + step, words=step % 50) for step in range(200)),
    *(case(real=False, shared=step % 90, words=400 + step) for step in range(200)),
]


def test_the_fit_tells_requests_from_talk_and_keeps_its_signs() -> None:
    weights = fit(CASES)
    assert weights.shared > 0
    assert weights.words > 0
    for strictness, most in FALSE_EMPTY.items():
        threshold = weights.thresholds[strictness]
        assert sum(abstains(one, weights, threshold) for one in CASES if one.group.real) <= most * 200
    strict = weights.thresholds[Strictness.STRICT]
    assert all(abstains(one, weights, strict) for one in CASES if not one.group.real)


def test_the_fit_is_the_same_every_time() -> None:
    assert fit(CASES) == fit(CASES)


def test_what_the_fit_writes_the_rule_reads(tmp_path: Path) -> None:
    weights = fit(CASES)
    path = tmp_path / "abstention.yaml"
    path.write_text(document(weights, replace(weights, likeness=3)))
    rule = Rule.from_config(path)
    assert (rule.words, rule.hybrid.likeness) == (weights, 3)


def test_the_report_has_a_line_for_each_group_with_cases() -> None:
    lines = list(lines_of(CASES, fit(CASES)))
    assert sum(line.startswith(("real", "none")) for line in lines) == 2


def ranked(scores: list[int], first: int | None) -> Ranked:
    return Ranked(scores=tuple(scores), first=first, fitted=True)


def test_the_effect_of_a_curve_by_hand() -> None:
    lists = [ranked([100, 60, 40], 1), ranked([100, 20, 10], 2), ranked([50], None)]
    # Half of the best keeps 2, 1 and 1 records; of the two requests that find their record one still does.
    effect = effect_of(Curve(share=512, least=1), lists)
    assert (effect.k, effect.kept) == (pytest.approx(4 / 3), 0.5)


def test_the_cheapest_curve_that_keeps_enough_is_chosen() -> None:
    steep = [ranked([1000, 100, *[50] * 46], 0) for _ in range(50)]
    level = [ranked([1000, *[900] * 8, *[100] * 39], 8) for _ in range(50)]
    curve = adaptive_fit(steep + level)
    effect = effect_of(curve, steep + level)
    assert effect.kept >= KEPT
    assert effect.k <= MOST_K
    assert curve.least == 3


def test_where_enough_costs_too_much_the_most_is_kept_for_what_it_may_cost() -> None:
    hopeless = [ranked([1000] * 5 + [10] * 43, 40) for _ in range(20)]
    good = [ranked([1000] * 5 + [10] * 43, 0) for _ in range(20)]
    effect = effect_of(adaptive_fit(hopeless + good), hopeless + good)
    assert (effect.kept, effect.k <= MOST_K) == (0.5, True)


def test_what_the_fit_writes_the_curves_read(tmp_path: Path) -> None:
    path = tmp_path / "adaptive.yaml"
    path.write_text(adaptive_document(Curve(share=400, least=5), Curve(share=600, least=4)))
    read = AdaptiveK.from_config(path)
    assert (read.words, read.hybrid) == (Curve(share=400, least=5), Curve(share=600, least=4))
