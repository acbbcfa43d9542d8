"""Compile a call and its gradient with one cache for all runs; say how many graphs are in it.

With an argument, the definitions of the collection count as others.
"""

import os
import sys
from pathlib import Path
from typing import Any

import opcast_backend

backend: Any = opcast_backend
if len(sys.argv) > 1:
    ops = dict(backend.ops())
    ops["rms_norm"] = ops["rms_norm"]._replace(schema=0)
    backend.ops = lambda: ops

import opcast_torch
import torch

x, weight = torch.ones(2, 4, requires_grad=True), torch.ones(4)
compiled: Any = torch.compile(opcast_torch.rms_norm, fullgraph=True)
compiled(x, weight).sum().backward()
assert x.grad is not None and x.grad.abs().max() < 1e-5
print(len(list(Path(os.environ["TORCHINDUCTOR_CACHE_DIR"], "aotautograd").iterdir())))
