"""News wakes its listener at once, tells each record once, and never holds more than it may."""

import asyncio

from cluster.news import News


def test_each_record_is_told_once_the_oldest_first() -> None:
    news = News()
    news.changed(["a", "b"])
    news.changed(["a", "c"])
    assert news.take(2) == ("b", "a")
    assert news.take(2) == ("c",)
    assert news.take(2) == ()


def test_a_slow_listener_keeps_the_newest() -> None:
    news = News()
    news.changed(str(number) for number in range(2_000))
    told = news.take(10_000)
    assert len(told) == 512
    assert told[-1] == "1999"


def test_a_ring_before_the_waiting_ends_it_and_one_ring_ends_one() -> None:
    async def story() -> None:
        news = News()
        news.ring()
        async with asyncio.timeout(1):
            await news.wait(None)
        started_s = asyncio.get_running_loop().time()
        await news.wait(0.05)
        assert asyncio.get_running_loop().time() - started_s >= 0.045

    asyncio.run(story())
