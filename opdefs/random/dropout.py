"""The reference, a second formula, and a second formula."""

import numpy as np


def reference(x, seed, offset, p):
    keep = uniforms(seed, offset, len(x)) >= p
    return np.where(keep, x / (1 - p if p < 1 else 1), 0), np.packbits(keep, bitorder="little")


def uniforms(seed, offset, count):
    """Return numbers 0, 1, ... of the stream of a seed and an offset: Philox4x32-10."""
    low, places = 2**32 - 1, np.arange(-(-count // 4), dtype=np.uint64)
    key, offset = (int(s) % 2**64 for s in (seed, offset))
    a, b = key & low, key >> 32
    x, y = places & low, places >> 32
    z, w = (np.full_like(places, half) for half in (offset & low, offset >> 32))
    for _ in range(10):
        first, second = 0xD2511F53 * x, 0xCD9E8D57 * z
        x, y, z, w = second >> 32 ^ y ^ a, second & low, first >> 32 ^ w ^ b, first & low
        a, b = (a + 0x9E3779B9) & low, (b + 0xBB67AE85) & low
    return (np.stack([x, y, z, w], axis=-1).reshape(-1)[:count] >> 8) / 2**24


def independent(x, seed, offset, p):
    kept = [uniform(seed, offset, i) >= p for i in range(len(x))]
    y = np.array([value / (1 - p) if keep else 0 for value, keep in zip(x, kept, strict=True)])
    eights = [kept[at : at + 8] for at in range(0, len(x), 8)]
    bits = [sum(keep << i for i, keep in enumerate(eight)) for eight in eights]
    return y, np.array(bits, np.uint8)


def uniform(seed, offset, i):
    """Return number i of a stream, in integers of any size."""
    key, offset = (int(s) % 2**64 for s in (seed, offset))
    counter, keys = [i // 4 % 2**32, i // 4 >> 32, offset % 2**32, offset >> 32], [key, key >> 32]
    for _ in range(10):
        high, low = divmod(0xD2511F53 * counter[0], 2**32)
        other_high, other_low = divmod(0xCD9E8D57 * counter[2], 2**32)
        first, second = other_high ^ counter[1] ^ keys[0], high ^ counter[3] ^ keys[1]
        counter = [first % 2**32, other_low, second % 2**32, low]
        keys = [keys[0] + 0x9E3779B9, keys[1] + 0xBB67AE85]
    return counter[i % 4] // 256 / 2**24


def eager(torch, x, p):
    torch.nn.functional.dropout(x, p, training=True)
    return (None,)


def peers(framework):
    return {"torch": {"torch, other numbers": eager}}.get(framework)
