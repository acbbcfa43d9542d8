"""Sends a recorded request to a worker of its own and shows the answer: what the scripts of failing cases run."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from opcast_worker import probes
from opcast_worker.bound import Request
from opcast_worker.host import numpy_dtype
from opcast_worker.main import answer


def run(script: str) -> None:
    """Repeat the request that lies beside a script."""
    path = Path(script)
    case: Request = json.loads(path.with_suffix(".json").read_text())
    data, blobs = path.with_suffix(".bin").read_bytes(), list[bytes]()
    for size in case["blobs"]:
        blobs.append(data[:size])
        data = data[size:]
    sys.path[:0] = case["config"]["paths"]
    reply, parts = answer(probes.create(case["config"]), case["request"], blobs)
    if "unsupported" in reply:
        print("unsupported:", reply["unsupported"])
        return
    show(reply.get("error"))
    if "facts" not in reply:  # of a call, whose "calls" are a number of kernels
        pairs = zip(reply["outputs"], parts)  # the memory of the arguments comes behind
        results(reply["outputs"], [d for o, d in pairs if not o.get("none")], case["element"])
        return
    for number, call in enumerate(reply["calls"]):
        way = f", {call['way']}" if call["way"] else ""
        print(f"call {number}{way}, kernels started: {call['launches']}")
        show(call["error"])
        results(call["outputs"], parts, None)
    print("facts:", reply["facts"])


def show(error: Request | None) -> None:
    """Print an error, if there is one."""
    if error:
        print(f"raised {error['class']}: {error['text']}\n{error['trace']}")


def results(outputs: list[Request], blobs: list[bytes], element: Request | None) -> None:
    """Print results, and the element that is wrong. Their blobs are taken away."""
    for number, described in enumerate(outputs):
        if described.get("none"):
            print(f"result {number}: None")
            continue
        data = blobs.pop(0)
        print(f"result {number}: {described['dtype']}{described['shape']}")
        if not described["data"]:
            continue
        array: Any = np.frombuffer(data, numpy_dtype(described["dtype"])).reshape(
            described["shape"]
        )
        print(array)
        if element and element["output"] == number:
            value = array[tuple(element["index"])]
            print(f"{element['name']}{element['index']}: got {value} want {element['want']}")
