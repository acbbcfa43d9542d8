"""What must hold: each step is near its formula in float64, and two ways to a result meet."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import inputs
import numpy as np
import plain
from layer import LAST, SPLITS, TWO, Results
from model import SCALE

# What the roundings of a few steps leave, of one, and of none: a step of bfloat16 is 2^-8 to 2^-7
# of a number, and log-sum-exps and weights of experts are float32.
FEW, ONE, NONE = 2.0**-6, 2.0**-8, 2.0**-18


def in_float64(
    x: inputs.Values, w: Results, see: tuple[Any, Any], r: Results
) -> Iterator[tuple[str, inputs.Values, float]]:
    """Give the name of each step, what comes of its inputs in float64, and how far off it may be.

    The inputs are those that the step had, so that a step does not answer for those before it.
    """
    kv = inputs.pack(r["keys"])[1].astype(np.float64)
    x, w = x.astype(np.float64), {name: values.astype(np.float64) for name, values in w.items()}
    made = {name: values.astype(np.float64) for name, values in r.items()}
    q, keys = plain.queries_and_keys(x, w)
    yield "queries", q, FEW
    yield "keys", keys, FEW
    q = made["queries"]
    found = {"prefill": plain.prefill(q, kv, SCALE)}
    found["decode"] = plain.decode(q[LAST[:, None]], kv, see[0], SCALE)
    found["sparse decode"] = plain.decode(q[TWO], kv, see[1], SCALE)
    for name, (o, lse) in found.items():
        yield name, o, ONE
        yield name + ", lse", lse, NONE
    yield "after attention", plain.attended(x, made["prefill"], w), FEW
    x = made["after attention"]
    rows = plain.rms_norm(x, w["expert_norm"])
    yield "normalised", rows, ONE
    rows = made["normalised"]
    weights, ids = plain.route(rows, w)
    yield "router", weights, NONE
    yield "router ids", ids, 0
    experts = plain.experts(rows, weights, ids, w)
    yield "experts", experts, FEW
    yield "fused experts", experts, ONE
    everyone = plain.gated(rows, w["shared_up"], w["shared_down"])
    yield "after experts", x + experts + everyone, FEW


def relations(r: Results) -> Iterator[tuple[str, float, float]]:
    """Give what is compared, how far apart it is, and how far it may be."""
    yield (
        "prefill of the last tokens, decode",
        plain.off(r["prefill"][LAST], r["decode"][:, 0]),
        ONE,
    )
    lse = plain.off(r["prefill, lse"][LAST], r["decode, lse"][:, 0])
    yield "their log-sum-exps", lse, NONE
    for n in SPLITS:
        name = f"sparse decode, in {n} splits"
        yield name, plain.off(r[f"{n} splits"], r["sparse decode"]), ONE
    whole = r["sparse decode, lse"]
    lse = max(plain.off(r[f"{n} splits, lse"], whole) for n in SPLITS)
    yield "their log-sum-exps", lse, NONE
    yield "experts, fused experts", plain.off(r["experts"], r["fused experts"]), FEW
