"""Tensors that no one should pass: without memory, of other layouts."""

from __future__ import annotations

from typing import Any

from opcast_worker.bound import Bound
from opcast_worker.malformed import Malformed, each


class PaddleMalformed(Malformed):
    """Probes of what only PaddlePaddle has; any of them may raise anything."""

    def probe_layouts(self, call: Bound) -> Any:
        """Pass sparse and complex tensors, and such of texts."""
        each(call, lambda x: x.to_sparse_coo(x.ndim))
        each(call, lambda x: x.to_sparse_csr())
        each(call, lambda x: x.astype("complex64"))
        each(call, lambda x: self.framework.to_tensor(["text"]))

    def probe_freed(self, call: Bound) -> Any:
        """Pass tensors whose memory is gone, or that never had any."""

        def freed(x: Any) -> Any:
            x = x.clone()
            x._clear_data()
            return x

        each(call, freed)
        each(call, lambda _: self.framework.Tensor())

    def probe_symbolic(self, call: Bound) -> Any:
        """Pass the variables of a program."""
        paddle = self.framework
        paddle.enable_static()
        try:
            with paddle.static.program_guard(paddle.static.Program()):
                each(call, lambda x: paddle.static.data("x", x.shape, x.dtype))
        finally:
            paddle.disable_static()


create = PaddleMalformed
