"""Cases of steps of models for which servers have kernels of their own: attention of sequences, over pages, and experts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import workload_run
from workload_calls import calls

if TYPE_CHECKING:
    from collections.abc import Iterator

    import torch
    from kernel_case import Case

_OPS = ("flash_attn_varlen", "fused_moe", "paged_attention")


def cases(dtype: torch.dtype, prefix: str) -> Iterator[Case]:
    """Yield the workloads in their own dtype, if that is the one, of the ops that begin with a prefix."""
    for op in _OPS:
        if not op.startswith(prefix):
            continue
        for call in calls([op], ["own"]):
            if call.op == op and call.torch("T") == dtype:
                case = workload_run.MAKE[op](call)
                case.fresh = True
                case.lax = None  # JAX gathers what these ops read where it lies: seconds a call
                case.shape = call.workload
                if call.divided > 1:
                    case.shape += f", tokens divided by {call.divided}"
                yield case
