"""Call ops through NumPy as told on standard input and print a digest of every result."""

import hashlib
import importlib
import json
import math
import sys
from typing import Any

import ml_dtypes
import numpy as np


def array(spec: "dict[str, Any]", seed: int) -> "np.ndarray[Any, Any]":
    """Return an array of numbers that every dtype represents exactly."""
    least, most = spec["least"], spec["most"]
    values: Any = [(seed + i) * 7 % 13 - 6 for i in range(math.prod(spec["shape"]))]
    values = [v if least is None else max(v, least) for v in values]
    values = [v if most is None else min(v, most) for v in values]
    values = sorted(values) if spec["sorted"] else values
    dtype: Any = getattr(ml_dtypes, spec["dtype"], spec["dtype"])
    return np.array(values).astype(dtype).reshape(spec["shape"])


module: Any = importlib.import_module(sys.argv[1])
calls: "list[dict[str, Any]]" = json.load(sys.stdin)
for call in calls:
    inputs = [array(spec, seed) for seed, spec in enumerate(call["inputs"])]
    results: Any = getattr(module, call["op"])(*inputs, **call["attrs"])
    outputs: Any = [results] if isinstance(results, np.ndarray) else results
    for y in outputs:
        digest = hashlib.sha256(np.ascontiguousarray(y).tobytes()).hexdigest()
        print(call["op"], *call["dtypes"], y.dtype, y.shape, digest)
