"""The first look: an excerpt of the best piece, and the whole piece where that did not answer."""

import asyncio
from collections.abc import Sequence

from cluster.answering.contract import NOTHING_FOUND, AnswerWithEvidence, Inquiry, Reading, Source, Step, Stop, Work
from cluster.answering.excerpt import EXCERPT_TOKENS, GAP, MOST_PERCENT, excerpt_of
from cluster.answering.loop import answer_from
from cluster.budget import Deadline
from cluster.contract import Delivery
from cluster.tokens import estimate_tokens

FILLER = "Nobody has to do anything for that, and the office is happy about a short message."
ANSWER = "A refund reaches the card after five working days."
ASKED = Inquiry(text="How long does a refund take?", shapes=("amount",))
LONG = " ".join([*[f"{FILLER} Number {n}." for n in range(8)], ANSWER, *[f"{FILLER} Number {n}." for n in range(8)]])


def source(text: str, number: int = 1) -> Source:
    return Source(id=f"help:{number}", label=f"E{number}", title="Payments", section="", text=text)


class Eager:
    """Finds the whole answer where its sentence stands in front of it."""

    name = "eager"

    def __init__(self, sentence: str) -> None:
        self.sentence = sentence
        self.read_texts: list[list[str]] = []

    async def read(self, inquiry: Inquiry, sources: Sequence[Source], deadline: Deadline) -> Reading:
        del inquiry, deadline
        self.read_texts.append([one.text for one in sources])
        ids = tuple(one.id for one in sources if self.sentence in one.text)
        said = NOTHING_FOUND
        if ids:
            said = AnswerWithEvidence(
                answer=self.sentence, answer_found=True, complete_answer_found=True, evidence_ids=ids
            )
        return Reading(said=said, failure=None, work=Work(calls=1))


def test_an_excerpt_holds_the_best_sentence_with_those_beside_it_and_marks_what_is_left_out() -> None:
    excerpt = excerpt_of(ASKED, source(LONG))
    assert f"Number 7. {ANSWER} {FILLER}" in excerpt.text
    assert estimate_tokens(excerpt.text) <= EXCERPT_TOKENS + 20
    assert estimate_tokens(excerpt.text) * 100 <= estimate_tokens(LONG) * MOST_PERCENT
    assert (excerpt.id, excerpt.label, excerpt.title) == ("help:1", "E1", "Payments")
    assert all(part in LONG for part in excerpt.text.split(GAP))


def test_a_short_piece_and_one_without_a_fitting_sentence_are_read_whole() -> None:
    for text in (f"{ANSWER} {FILLER}", " ".join([FILLER] * 20), ""):
        whole = source(text)
        assert excerpt_of(ASKED, whole) is whole


def test_a_block_that_is_shown_whole_stands_as_it_was_written() -> None:
    listing = "Refund a card by hand, it takes a minute:\n\n```\nrefund --card 7 \\\n   --now\n```"
    text = f"{LONG.replace(ANSWER, '')}\n\n{listing}"
    assert "```\nrefund --card 7 \\\n   --now\n```" in excerpt_of(ASKED, source(text)).text


def test_the_whole_piece_is_read_beside_the_next_one_where_its_excerpt_does_not_answer() -> None:
    missed = "Cheques are sent by post within the month"
    pieces = (source(f"{LONG} {FILLER} {missed}."), source("A second piece.", 2), source("A third piece.", 3))
    reader, steps = Eager(missed), list[Step]()

    async def hear(step: Step) -> None:
        steps.append(step)

    answered = asyncio.run(answer_from(ASKED, pieces, Delivery.SEQUENTIAL, reader, Deadline.after(1000), on_step=hear))
    assert [step.excerpt for step in steps] == [True, False]
    assert [step.evidence_ids for step in steps] == [("help:1",), ("help:1", "help:2")]
    assert missed not in reader.read_texts[0][0]
    assert reader.read_texts[1] == [pieces[0].text, pieces[1].text]
    assert (answered.stopped, answered.read_ids, answered.work.calls) == (Stop.COMPLETE, ("help:1", "help:2"), 2)


def test_every_piece_is_read_whole_before_nothing_is_said_to_be_there() -> None:
    for count in (1, 2, 3):
        pieces = tuple(source(LONG if number == 1 else FILLER, number) for number in range(1, count + 1))
        reader = Eager("stands nowhere")
        answered = asyncio.run(answer_from(ASKED, pieces, Delivery.SEQUENTIAL, reader, Deadline.after(1000)))
        assert {text for texts in reader.read_texts[1:] for text in texts} == {one.text for one in pieces}
        assert answered.stopped is Stop.EVIDENCE_END
        assert answered.read_ids == tuple(one.id for one in pieces)


def test_a_batch_gets_whole_pieces_at_once() -> None:
    reader, pieces = Eager(ANSWER), (source(LONG), source(FILLER, 2))
    answered = asyncio.run(answer_from(ASKED, pieces, Delivery.BATCH, reader, Deadline.after(1000)))
    assert reader.read_texts == [[LONG, FILLER]]
    assert answered.work.calls == 1
