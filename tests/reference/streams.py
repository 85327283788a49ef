"""Philox4x64-10 and xoshiro256++ on Python's whole numbers."""

_MASK = 2**64 - 1


def philox(counter: tuple[int, int, int, int], key: tuple[int, int]) -> list[int]:
    """Return one block of Philox4x64-10 (Salmon et al. 2011, section 3.3)."""
    c, k = list(counter), list(key)
    for _ in range(10):
        product0, product1 = 0xD2E7470EE14C6C93 * c[0], 0xCA5A826395121157 * c[2]
        c = [
            (product1 >> 64) ^ c[1] ^ k[0],
            product1 & _MASK,
            (product0 >> 64) ^ c[3] ^ k[1],
            product0 & _MASK,
        ]
        k = [(k[0] + 0x9E3779B97F4A7C15) & _MASK, (k[1] + 0xBB67AE8584CAA73B) & _MASK]
    return c


def _rotate(x: int, by: int) -> int:
    return ((x << by) | (x >> (64 - by))) & _MASK


class Stream:
    """xoshiro256++ (Blackman & Vigna, xoshiro256plusplus.c)."""

    def __init__(self, state: list[int]) -> None:
        self.state = list(state)

    @classmethod
    def named(cls, key: tuple[int, int, int, int], item: int) -> "Stream":
        """Return the beginning of the stream (key, item); key is (seed, chain, sweep, move)."""
        seed, chain, sweep, move = key
        return cls(philox((item, sweep, move, 0), (seed, chain)))

    def next_bits(self) -> int:
        s = self.state
        result = (_rotate((s[0] + s[3]) & _MASK, 23) + s[0]) & _MASK
        shifted = (s[1] << 17) & _MASK
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= shifted
        s[3] = _rotate(s[3], 45)
        return result

    def uniform(self) -> float:
        """Draw from [0, 1) with the highest 53 of the next 64 bits."""
        return (self.next_bits() >> 11) / 2**53
