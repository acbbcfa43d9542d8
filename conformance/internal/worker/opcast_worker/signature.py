"""What users see of an op: signature, documentation and names."""

from __future__ import annotations

import inspect

from opcast_worker.bound import Answer, Request, tag
from opcast_worker.caller import Caller


def answer(caller: Caller, request: Request, blobs: list[bytes]) -> Answer:
    """Return signature and documentation of an op's function, and the public names."""
    del blobs
    function = caller.function(request["op"])
    parameters = [
        {
            "name": p.name,
            "keyword": p.kind is p.KEYWORD_ONLY,
            "required": p.default is p.empty,
            "default": None if p.default is p.empty else tag(p.default),
        }
        for p in inspect.signature(function).parameters.values()
    ]
    return {
        "parameters": parameters,
        "doc": inspect.getdoc(function) or "",
        "public": [n for n in dir(caller.package) if not n.startswith("_")],
    }, []
