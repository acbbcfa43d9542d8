"""One layer in one framework: everything that the example looks at, as NumPy arrays."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import inputs
import model
import numpy as np
from sizes import ENDS

sys.path.append(str(Path(__file__).parents[1]))  # where the examples share frameworks.py
from frameworks import Framework

SPLITS = (1, 2, 3, 7, 64)
LAST = np.array(ENDS[1:]) - 1  # tokens of the sequences
TWO = LAST[:, None] + np.array([-1, 0])

Results = dict[str, inputs.Values]


def run(fw: Framework, x: inputs.Values, w: Results, see: tuple[Any, Any]) -> Results:
    """Return what the layer computes in one framework, step by step."""
    on_device = {name: fw.array(values) for name, values in w.items()}
    results = attention(fw, fw.array(x), on_device, see)
    results |= experts(fw.ops, results["after attention"], on_device)
    return {name: fw.values(values) for name, values in results.items()}


def attention(fw: Framework, x: Any, w: dict[str, Any], see: tuple[Any, Any]) -> dict[str, Any]:
    """Return the attention of all tokens, and that of some to a cache."""
    ops, xp = fw.ops, fw.xp
    q, fresh = model.queries_and_keys(ops, xp, x, w)
    cache, kv = map(fw.array, inputs.pack(fw.values(fresh)))
    results = {"queries": q, "keys": fresh}

    def keep(name: str, both: tuple[Any, Any]) -> None:
        results[name], results[name + ", lse"] = both

    keep("prefill", model.prefill(ops, q, kv, fw.array(np.array(ENDS, np.int32))))
    every, some = map(fw.array, see)
    last, two = (fw.array(fw.values(q)[rows]) for rows in (LAST[:, None], TWO))
    keep("decode", model.decode(ops, last, cache, every))
    keep("sparse decode", model.decode(ops, two, cache, some))
    for n in SPLITS:
        keep(f"{n} splits", model.decode(ops, two, cache, some, n))
    return results | {"after attention": model.attended(ops, x, results["prefill"], w)}


def experts(ops: Any, x: Any, w: dict[str, Any]) -> dict[str, Any]:
    """Return what the experts add to x, and how it came about."""
    rows = ops.rms_norm(x, w["expert_norm"])
    weights, ids = model.route(ops, rows, w)
    made = model.experts(ops, rows, weights, ids, w)
    fused = ops.fused_moe(rows, w["up"], w["down"], weights, ids)
    y = ops.eltwise_add(x, ops.eltwise_add(made, model.shared(ops, rows, w)))
    names = ("normalised", "router", "router ids", "experts", "fused experts", "after experts")
    return dict(zip(names, (rows, weights, ids, made, fused, y)))
