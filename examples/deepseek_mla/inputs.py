"""Weights and tokens at random, and a cache of keys as a server packs it."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray
from sizes import (
    ENDS,
    EXPERTS,
    HEADS,
    HIDDEN,
    INNER,
    LATENT,
    PAGES,
    PLAIN,
    QUERY,
    ROTARY,
    SLOTS,
    TOKENS,
    VALUE,
    WIDTH,
)

Values = NDArray[Any]

# Matrices have a row for each column that they make.
MATRICES = {
    "q_a": (QUERY, HIDDEN),
    "q_b": (HEADS * (PLAIN + ROTARY), QUERY),
    "kv_a": (WIDTH, HIDDEN),
    "k_b": (HEADS, LATENT, PLAIN),
    "v_b": (HEADS, VALUE, WIDTH),
    "o": (HIDDEN, HEADS * VALUE),
    "router": (EXPERTS, HIDDEN),
    "up": (EXPERTS, 2 * INNER, HIDDEN),
    "down": (EXPERTS, HIDDEN, INNER),
    "shared_up": (2 * INNER, HIDDEN),
    "shared_down": (HIDDEN, INNER),
}
NORMS = {"norm": HIDDEN, "q_norm": QUERY, "kv_norm": LATENT, "expert_norm": HIDDEN}


def weights(rng: np.random.Generator) -> dict[str, Values]:
    """Return everything that the model has beside its tokens."""
    w: dict[str, Values] = {}
    for name, shape in MATRICES.items():
        w[name] = half(rng.standard_normal(shape) * shape[-1] ** -0.5)
    for name, n in NORMS.items():
        w[name] = half(rng.uniform(0.5, 1.5, n))
    w["router_bias"] = rng.uniform(-0.1, 0.1, EXPERTS).astype(np.float32)
    w["rows_by_head"] = np.arange(HEADS + 1, dtype=np.int32) * TOKENS
    starts = np.repeat(ENDS[:-1], np.diff(ENDS))
    w["positions"] = (np.arange(TOKENS) - starts).astype(np.int64)
    angles = np.arange(TOKENS)[:, None] * 10000.0 ** (np.arange(0, ROTARY, 2) / -ROTARY)
    w["angles"] = np.concatenate([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    return w


def tokens_to_see(rng: np.random.Generator) -> tuple[Values, Values]:
    """Return indices of all tokens of each sequence, and of a few for its last two positions.

    Indices are in any order, and -1 is none. The very last position sees nothing at all.
    """
    longest = max(np.diff(ENDS))
    every = np.full((len(ENDS) - 1, 1, longest), -1, np.int32)
    some = np.full((len(ENDS) - 1, 2, longest), -1, np.int32)
    for b, (begin, end) in enumerate(zip(ENDS[:-1], ENDS[1:])):
        every[b, 0, : end - begin] = rng.permutation(np.arange(begin, end))
        for s in range(2):
            some[b, s, ::3] = rng.integers(begin, end, len(some[b, s, ::3]))
    some[-1, -1] = -1
    return every, some


def half(x: Values) -> Values:
    """Return numbers of 16 bits."""
    return x.astype(ml_dtypes.bfloat16)


def pack(kv: Values) -> tuple[Values, Values]:
    """Return the pages of a cache, and the keys that it holds, all of which are bfloat16."""
    latent = kv[:, :LATENT].astype(np.float32).reshape(len(kv), -1, 64)
    most = np.abs(latent).max(axis=-1, keepdims=True)
    exponents = np.ceil(np.log2(np.maximum(most, 2.0**-100) / 448))
    codes = (latent * 2.0**-exponents).astype(ml_dtypes.float8_e4m3fn)
    tokens = np.zeros((len(kv), LATENT + 2 * ROTARY + 8), np.uint8)
    tokens[:, :LATENT] = codes.reshape(len(kv), -1).view(np.uint8)
    tokens[:, LATENT:-8] = np.ascontiguousarray(kv[:, LATENT:]).view(np.uint8)
    tokens[:, -8:-1] = exponents[..., 0] + 127
    held = (codes.astype(np.float32) * 2.0**exponents).reshape(len(kv), -1)
    keys = np.concatenate([half(held), kv[:, LATENT:]], axis=1)
    return tokens.reshape(PAGES, SLOTS, -1), keys
