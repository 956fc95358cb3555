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
