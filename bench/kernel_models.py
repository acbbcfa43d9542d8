"""Cases of steps of models for which servers have kernels of their own: attention of sequences, over pages, and experts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
import workload_attention as attention
import workload_products as products
from workload_calls import calls

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kernel_case import Case
    from workload_calls import Call

_MAKE: dict[str, Callable[[Call], Case]] = {
    "flash_attn_varlen": attention.flash_attn_varlen,
    "fused_moe": products.fused_moe,
    "paged_attention": attention.paged,
}


def cases(dtype: torch.dtype, prefix: str) -> Iterator[Case]:
    """Yield the workloads in their own dtype, if that is the one, of the ops that begin with a prefix."""
    for op, make in _MAKE.items():
        if not op.startswith(prefix):
            continue
        for call in calls([op], ["own"]):
            if call.op == op and call.torch("T") == dtype:
                case = make(call)
                case.fresh = True
                case.lax = None  # JAX gathers what these ops read where it lies: seconds a call
                case.shape = call.workload
                if call.divided > 1:
                    case.shape += f", tokens divided by {call.divided}"
                yield case
