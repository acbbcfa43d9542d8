"""Tensors that no one should pass: without memory, of other layouts, left over from a transformation."""

from __future__ import annotations

import warnings
from typing import Any

from opcast_worker.bound import Bound
from opcast_worker.malformed import Malformed, each, survive


class TorchMalformed(Malformed):
    """Probes of what only PyTorch has; any of them may raise anything."""

    def probe_layouts(self, call: Bound) -> Any:
        """Pass sparse, nested, quantized and mkldnn tensors, and such of zeros without memory."""
        torch = self.framework
        warnings.simplefilter("ignore")  # some of these are announced as prototypes
        each(call, lambda x: x.to_sparse_csr())
        each(call, lambda x: x.to_mkldnn())
        each(call, lambda x: torch.nested.nested_tensor([x, x]))
        each(call, lambda x: torch.quantize_per_tensor(x.float(), 0.1, 0, torch.qint8))
        each(call, lambda x: torch._efficientzerotensor(x.shape, dtype=x.dtype))
        each(call, torch._to_functional_tensor)
        each(call, lambda x: x.to(torch.complex64))

    def probe_freed(self, call: Bound) -> Any:
        """Pass tensors whose memory is gone or too small."""

        def freed(x: Any) -> Any:
            x = x.clone()
            x.untyped_storage().resize_(0)
            return x

        each(call, freed)

    def probe_escaped(self, call: Bound) -> Any:
        """Pass tensors that belong to a transformation which has ended."""
        left: list[Any] = []

        def keep(x: Any) -> Any:
            left.append(x)
            return x

        def escape(x: Any) -> Any:
            left.clear()
            self.framework.vmap(keep)(self.framework.stack([x, x]))
            return left[0]

        def kept_sum(x: Any) -> Any:
            return keep(x).sum()

        def escape_gradient(x: Any) -> Any:
            left.clear()
            self.framework.func.grad(kept_sum)(x)
            return left[0]

        each(call, escape)
        each(call, escape_gradient)

    def probe_lazy(self, call: Bound) -> Any:
        """Pass parameters that have no shape yet."""
        survive(call.map(lambda _: self.framework.nn.UninitializedParameter()))


create = TorchMalformed
