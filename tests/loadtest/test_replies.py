"""HTTP responses read from raw bytes, however they were cut on their way."""

import pytest

from loadtest.service.replies import Response
from loadtest.service.schedule import Outcome

PROBLEM = b"Content-Type: application/problem+json\r\n"


def response(body: bytes, status: int = 200, more: bytes = b"") -> bytes:
    return b"HTTP/1.1 %d X\r\nContent-Length: %d\r\n%s\r\n" % (status, len(body), more) + body


def read(content: bytes) -> Response:
    found = Response()
    assert found.feed(content)
    return found


def test_a_response_is_whole_with_its_last_byte_however_it_is_cut() -> None:
    content = response(b'{"request_id":"a","kind":"hits"}')
    for size in (1, 7, len(content)):
        found = Response()
        ends = [found.feed(content[start : start + size]) for start in range(0, len(content), size)]
        assert ends == [False] * (len(ends) - 1) + [True]


def test_an_empty_body_is_whole_with_its_head() -> None:
    assert read(response(b"")).outcome() is Outcome.HITS


def test_a_response_without_a_length_is_refused() -> None:
    with pytest.raises(ValueError, match="content-length"):
        Response().feed(b"HTTP/1.1 200 OK\r\n\r\n")


@pytest.mark.parametrize(
    ("body", "outcome"),
    [
        (b'{"request_id":"a","kind":"hits","coverage":{"full":true}}', Outcome.HITS),
        (b'{"request_id":"a","kind":"hits","coverage":{"full":false}}', Outcome.PARTIAL),
        (b'{"request_id":"a","kind":"miss","miss":{"reason":"no_match"}}', Outcome.MISS),
        (b'{"request_id":"a","kind":"miss","miss":{"reason":"timeout"}}', Outcome.TIMED_OUT),
    ],
)
def test_an_answer_says_how_the_search_ended(body: bytes, outcome: Outcome) -> None:
    assert read(response(body)).outcome() is outcome


@pytest.mark.parametrize(
    ("status", "outcome"),
    [(429, Outcome.REFUSED_429), (503, Outcome.REFUSED_503), (408, Outcome.TIMED_OUT), (500, Outcome.ERROR)],
)
def test_a_status_says_how_the_request_ended(status: int, outcome: Outcome) -> None:
    assert read(response(b"{}", status, PROBLEM)).outcome() is outcome


@pytest.mark.parametrize("status", [408, 429, 503])
def test_a_refusal_without_a_type_is_an_error(status: int) -> None:
    assert read(response(b"busy", status, b"Content-Type: text/plain\r\n")).outcome() is Outcome.ERROR


def test_headers_say_when_to_come_back_and_whether_the_connection_ends() -> None:
    found = read(response(b"{}", 429, b"Retry-After: 1\r\nConnection: close\r\n"))
    assert found.retry_after
    assert found.closes
    assert not read(response(b"retry-after: 1")).retry_after
