"""Hold the ops that draw at random against what they are for.

Draws come from the set that the filters leave, as often as the probabilities say; the first token of a verified chain has the
distribution of the target model, whatever the draft model is; dropout keeps as many numbers as it should, and the same ones
when it is called again. Prints how many draws were judged.
"""

from typing import Any

import numpy as np
import opcast_numpy as ops

COUNT, WIDTH = 200000, 7
rng = np.random.default_rng(5)


def probabilities(*shape: int) -> Any:
    """Return rows of probabilities, all of them far from 0."""
    values = rng.uniform(0.5, 2, (*shape, WIDTH)).astype(np.float32)
    return values / values.sum(axis=-1, keepdims=True)


def follows(what: str, ids: Any, wanted: Any) -> int:
    """Compare how often ids occur with their probabilities, by the chi-squared statistic."""
    found, expected = np.bincount(ids, minlength=WIDTH), wanted * len(ids)
    assert not found[wanted == 0].any(), what
    statistic = np.sum((found - expected)[wanted > 0] ** 2 / expected[wanted > 0])
    assert statistic < 40, (what, statistic)  # of at most 6 degrees of freedom: 1e-6
    return len(ids)


def filters() -> int:
    """Draw many times from one row, with each filter and with all of them."""
    row = np.array([0.3, 0.05, 0.25, 0.05, 0.2, 0.1, 0.05], np.float32)
    draw = ops.top_k_top_p_min_p_sampling_from_probs
    every, done = np.broadcast_to(row, (COUNT, WIDTH)).copy(), 0
    cases: list[tuple[int, float, float, list[int]]] = [
        (0, 1.0, 0.0, [0, 1, 2, 3, 4, 5, 6]),
        (2, 1.0, 0.0, [0, 2]),
        (1, 1.0, 0.0, [0]),
        (5, 1.0, 0.0, [0, 1, 2, 3, 4, 5, 6]),  # the fifth has two others that are alike
        (0, 0.5, 0.0, [0, 2]),
        (0, 0.0, 0.0, [0]),
        (3, 0.5, 0.0, [0, 2]),  # 0.3 of 0.75 is too little
        (0, 1.0, 0.5, [0, 2, 4]),
        (4, 0.9, 0.8, [0, 2]),
    ]
    for offset, (k, p, least, left) in enumerate(cases):
        limits = np.full(COUNT, k, np.int32), np.full(COUNT, p, np.float32)
        ids = draw(every, 3, offset, *limits, np.full(COUNT, least, np.float32))
        wanted = np.where(np.isin(np.arange(WIDTH), left), row, 0).astype(np.float64)
        done += follows(f"filters {k} {p} {least}", ids, wanted / wanted.sum())
    return done


def chains() -> int:
    """Verify chains of two tokens of a draft model that differs from the target model."""
    draft, target = probabilities(1, 2), probabilities(1, 3)
    places = rng.random((COUNT, 2, 1))
    tokens = np.sum(np.cumsum(draft, axis=-1, dtype=float) < places, axis=-1).astype(np.int32)
    tokens = np.minimum(tokens, WIDTH - 1)
    many = [np.repeat(x, COUNT, axis=0) for x in (draft, target)]
    ids, accepted = ops.chain_speculative_sampling(many[0], tokens, many[1], -9, 1)
    kept = np.arange(3) < accepted[:, None]
    assert np.array_equal(ids[:, :2][kept[:, :2]], tokens[kept[:, :2]])
    assert np.array_equal(ids >= 0, np.arange(3) <= accepted[:, None])
    done = 0
    for s in range(3):  # each token that is there has the target's distribution
        done += follows(f"token {s}", ids[accepted >= s, s], target[0, s].astype(float))
    return done


def drops() -> int:
    """Count what dropout keeps."""
    ones = np.ones(COUNT, np.float32)
    for p in (0.0, 0.1, 0.5, 0.9, 1.0):
        y: Any = ops.dropout(ones, 7, int(10 * p), p=p)
        zeros = int(np.count_nonzero(np.asarray(y, np.float32) == 0))
        assert abs(zeros / COUNT - p) < 5 * (p * (1 - p) / COUNT) ** 0.5 + 1e-9, p
        kept = np.packbits(np.asarray(y) != 0, bitorder="little")
        assert np.array_equal(y, ops.dropout_backward(ones, kept, p=p))
        other = ops.dropout(ones, 7, int(10 * p) + 1, p=p)
        assert p in {0.0, 1.0} or not np.array_equal(y, other)
    return 5 * COUNT


print(filters() + chains() + drops())
