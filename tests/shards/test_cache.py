"""The bounded cache: what goes first, and how its size is counted."""

from hypothesis import given
from hypothesis import strategies as st

from shards.cache import BoundedCache


def test_the_least_recently_used_value_goes_first() -> None:
    cache: BoundedCache[str, int] = BoundedCache(30)
    for key in "abc":
        cache.put(key, ord(key), 10)
    assert cache.get("a") == 97
    cache.put("d", 100, 10)
    assert [cache.get(key) for key in "abcd"] == [97, None, 99, 100]


def test_a_replaced_value_frees_its_bytes() -> None:
    cache: BoundedCache[str, int] = BoundedCache(30)
    for value in range(5):
        cache.put("a", value, 20)
    cache.put("b", 9, 10)
    assert (cache.get("a"), cache.get("b")) == (4, 9)


def test_a_value_above_the_ceiling_is_not_kept() -> None:
    cache: BoundedCache[str, int] = BoundedCache(30)
    cache.put("a", 1, 31)
    assert cache.get("a") is None
    assert len(cache) == 0


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 30)), max_size=40), st.integers(0, 100))
def test_the_bytes_held_never_exceed_the_ceiling_and_are_those_of_what_is_held(
    puts: list[tuple[int, int]], ceiling: int
) -> None:
    cache: BoundedCache[int, int] = BoundedCache(ceiling)
    for key, size in puts:
        cache.put(key, size, size)
        held = [size for number in range(10) if (size := cache.get(number)) is not None]
        assert cache.held_bytes == sum(held) <= ceiling
