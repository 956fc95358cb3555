"""What the request log costs, and when a run says nothing of it."""

from loadtest.request_log import costs_of


def level(p50_ms: float, rps: float) -> dict[str, dict[str, float]]:
    return {"10": {"p50_ms": p50_ms, "rps": rps}}


def test_what_the_log_costs_is_read_against_how_far_two_that_log_are_apart() -> None:
    close = costs_of({"shortlist": level(10.4, 960), "logged": level(10.0, 1000), "quiet": level(10.0, 1000)})
    assert close == {
        "10": {"p50": 1.02, "rps": 1.02, "noise_p50": 1.04, "noise_rps": 1.042, "verdict": "within noise"},
    }
    dear = costs_of({"shortlist": level(11.0, 900), "logged": level(11.0, 900), "quiet": level(10.0, 1000)})
    assert (dear["10"]["p50"], dear["10"]["noise_p50"], dear["10"]["verdict"]) == (1.1, 1.0, "beyond noise")
    noisy = costs_of({"shortlist": level(20.0, 500), "logged": level(10.0, 1000), "quiet": level(10.0, 1000)})
    assert noisy["10"]["verdict"] == "too noisy"


def test_two_percent_is_noise_and_a_gain_is_no_cost() -> None:
    close = costs_of({"shortlist": level(10.1, 990), "logged": level(10.1, 990), "quiet": level(10.0, 1000)})
    faster = costs_of({"shortlist": level(9.0, 1100), "logged": level(9.0, 1100), "quiet": level(10.0, 1000)})
    assert close["10"]["verdict"] == faster["10"]["verdict"] == "within noise"
