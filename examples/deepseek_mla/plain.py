"""The same model in float64 with NumPy alone, as its formulas say, and the distance to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sizes import ENDS, GROUPS, HEADS, LATENT, PLAIN, TOPK, TOPK_GROUPS

Values = NDArray[Any]
Weights = Mapping[str, Values]


def rms_norm(x: Values, weight: Values) -> Values:
    """Return rows whose mean square is 1, times the weight."""
    return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + 1e-6) * weight


def turned(x: Values, w: Weights) -> Values:
    """Turn neighbouring columns, which are complex numbers, by the angles of their positions."""
    cosines, sines = np.split(w["angles"][w["positions"].astype(int)], 2, axis=-1)
    numbers = x[..., ::2] + 1j * x[..., 1::2]
    numbers = numbers * (cosines + 1j * sines)[:, None]
    return np.stack([numbers.real, numbers.imag], axis=-1).reshape(x.shape)


def queries_and_keys(x: Values, w: Weights) -> tuple[Values, Values]:
    """Return the queries of each head, and the keys of all heads."""
    x = rms_norm(x, w["norm"])
    q = (rms_norm(x @ w["q_a"].T, w["q_norm"]) @ w["q_b"].T).reshape(len(x), HEADS, -1)
    kv = x @ w["kv_a"].T
    plain = np.einsum("nhp,hlp->nhl", q[..., :PLAIN], w["k_b"])
    latent = rms_norm(kv[:, :LATENT], w["kv_norm"])
    key = turned(kv[:, None, LATENT:], w)[:, 0]
    q = np.concatenate([plain, turned(q[..., PLAIN:], w)], axis=-1)
    return q, np.concatenate([latent, key], axis=-1)


def attention(q: Values, kv: Values, scale: float) -> tuple[Values, Values]:
    """Return what the heads of one position find in the keys that it sees, and log-sum-exps."""
    if not len(kv):
        return np.zeros(q.shape), np.full(len(q), -np.inf)
    scores = q @ kv.T * scale
    most = scores.max(axis=1, keepdims=True)
    shares = np.exp(scores - most)
    total = shares.sum(axis=1, keepdims=True)
    return shares / total @ kv, (most + np.log(total))[:, 0]


def prefill(q: Values, kv: Values, scale: float) -> tuple[Values, Values]:
    """Return the attention of each token to its sequence up to itself."""
    begins = np.repeat(ENDS[:-1], np.diff(ENDS))
    rows = [attention(q[t], kv[begins[t] : t + 1], scale) for t in range(len(q))]
    return np.stack([o for o, _ in rows]), np.stack([lse for _, lse in rows])


def decode(q: Values, kv: Values, tokens: Values, scale: float) -> tuple[Values, Values]:
    """Return the attention of each position to the tokens that it names."""
    o, lse = np.zeros(q.shape), np.zeros(q.shape[:-1])
    for at in np.ndindex(*tokens.shape[:2]):
        o[at], lse[at] = attention(q[at], kv[tokens[at][tokens[at] >= 0]], scale)
    return o, lse


def attended(x: Values, o: Values, w: Weights) -> Values:
    """Add to x what the heads found."""
    values = np.einsum("nhl,hvl->nhv", o, w["v_b"]).reshape(len(x), -1)
    return x + values @ w["o"].T


def route(x: Values, w: Weights) -> tuple[Values, Values]:
    """Return the weights and the numbers of each token's experts."""
    scores = 1 / (1 + np.exp(-(x @ w["router"].T)))
    biased = (scores + w["router_bias"]).reshape(len(x), GROUPS, -1)
    worth = np.sort(biased, axis=-1)[..., -2:].sum(axis=-1)
    out = np.argsort(-worth, axis=-1)[:, TOPK_GROUPS:]
    np.put_along_axis(biased, out[..., None], -np.inf, axis=1)
    ids = np.argsort(-biased.reshape(len(x), -1), axis=-1)[:, :TOPK]
    weights = np.take_along_axis(scores, ids, axis=-1)
    return weights / weights.sum(axis=-1, keepdims=True) * 2.5, ids


def gated(x: Values, up: Values, down: Values) -> Values:
    """Return what one expert makes of rows."""
    gate, value = np.split(x @ up.T, 2, axis=-1)
    return gate / (1 + np.exp(-gate)) * value @ down.T


def experts(x: Values, weights: Values, ids: Values, w: Weights) -> Values:
    """Return what each token's experts make of it."""
    y = np.zeros(x.shape)
    for t, slot in np.ndindex(*ids.shape):
        e = int(ids[t, slot])
        y[t] += weights[t, slot] * gated(x[t], w["up"][e], w["down"][e])
    return y


def off(got: Values, want: Values) -> float:
    """Return the largest difference beside the largest number; infinite ones have to be equal."""
    got, want = got.astype(np.float64), want.astype(np.float64)
    finite = np.isfinite(want)
    if got.shape != want.shape or not np.array_equal(got[~finite], want[~finite]):
        return np.inf
    most = np.max(np.abs(want[finite]), initial=1e-30)
    apart = float(np.max(np.abs(got[finite] - want[finite]), initial=0) / most)
    return apart if np.isfinite(apart) else np.inf
