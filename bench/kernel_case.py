"""What ``kernels.py`` measures: a call of an op, beside the same thing by others."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Function = Callable[..., Any]
    Build = Callable[[], Callable[[], Any]]  # makes a call, which may fail or take long


def _no_others() -> dict[str, dict[str, Build]]:
    return defaultdict(dict)


@dataclass
class Case:
    """One op on arrays of one shape and dtype.

    Parameters
    ----------
    op
        Name of the op, with the attributes that matter.
    shape
        The sizes, as the table names them.
    arrays
        Its inputs.
    ours
        The op.
    eager
        The same in PyTorch.
    lax
        The same in JAX, or None if JAX has nothing of the kind.
    out
        Arrays for ``out=``; none where the op overwrites its inputs.
    eager_out
        What PyTorch calls with ``out`` and the arrays, where it has such a thing.
    formula
        What PyTorch's compiler gets, or None if it has nothing to add to ``eager``.
    flops
        Multiplications and additions; 0 where bytes are what counts.
    traffic
        Bytes that the op reads and writes, if those are not its inputs and ``out``.
    others
        What makes the calls of further peers, by their names, per mode: a peer without
        arrays for its results stands under ``fresh`` only.
    fresh
        Whether it is called with fresh results although there are no arrays for them.

    """

    op: str
    shape: str
    arrays: list[torch.Tensor]
    ours: Function
    eager: Function
    lax: Function | None = None
    out: list[torch.Tensor] = field(default_factory=list[torch.Tensor])
    eager_out: Function | None = None
    formula: Function | None = None
    flops: int = 0
    traffic: int = 0
    others: dict[str, dict[str, Build]] = field(default_factory=_no_others)
    fresh: bool = False

    @property
    def bytes(self) -> int:
        """Bytes that the op reads and writes."""
        return self.traffic or size(self.arrays) + size(self.out)

    def modes(self) -> list[str]:
        """Return how the op can be called: with fresh results and with arrays for them, or in place."""
        if self.fresh:
            return ["fresh"]
        return ["fresh", "out"] if self.out else ["in place"]

    def call(self, mode: str) -> Callable[[], Any]:
        """Return the call of the op."""
        function, arrays = self.ours, self.arrays
        if mode != "out":
            return lambda: function(*arrays)
        out: Any = self.out[0] if len(self.out) == 1 else tuple(self.out)
        return lambda: function(*arrays, out=out)

    def peers(self, mode: str) -> dict[str, Build]:
        """Return what makes the calls of the peers."""
        found: dict[str, Build] = dict(self.others[mode])
        if mode == "out":
            if self.eager_out is not None:
                found["torch"] = self._given
            return found
        found["torch"] = lambda: self._plain(self.eager)
        if self.formula is not None:
            found["torch.compile"] = self._compiled
        if self.lax is not None:
            found["jax.jit"] = self._jitted
        return found

    def _plain(self, function: Function) -> Callable[[], Any]:
        arrays = self.arrays
        return lambda: function(*arrays)

    def _given(self) -> Callable[[], Any]:
        function, arrays, out = self.eager_out, self.arrays, self.out
        assert function is not None
        return lambda: function(*out, *arrays)

    def _compiled(self) -> Callable[[], Any]:
        compiled: Any = torch.compile(self.formula, dynamic=False)
        return self._plain(compiled)

    def _jitted(self) -> Callable[[], Any]:
        import jax  # noqa: PLC0415 - its threads are made for the CPUs of this process

        module: Any = jax
        jitted: Any = module.jit(self.lax)
        arrays: list[Any] = [module.dlpack.from_dlpack(x) for x in self.arrays]
        return lambda: module.block_until_ready(jitted(*arrays))


def size(arrays: Sequence[torch.Tensor]) -> int:
    """Return the bytes of arrays."""
    return sum(x.numel() * x.element_size() for x in arrays)


def like(*arrays: torch.Tensor) -> list[torch.Tensor]:
    """Return arrays for results of these shapes and dtypes."""
    return [torch.empty_like(x) for x in arrays]
