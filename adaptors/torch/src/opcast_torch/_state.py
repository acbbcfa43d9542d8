"""What PyTorch is doing right now, and which tensors a kernel may read as they are.

The guard of every generated function reads some of these, once bound, since a tiny call takes two
microseconds. They carry no types in PyTorch.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.nn import Parameter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

native: Any = vars(torch)["_C"]
bump: Callable[[Iterable[Tensor]], None] = native._increment_version
compiling: Callable[[], bool] = torch.compiler.is_dynamo_compiling
forward_ad: Any = torch.autograd.forward_ad
function_mode: Callable[[], bool] = native._is_torch_function_mode_enabled
functorch: Callable[[], object] = native._functorch.peek_interpreter_stack
grad_enabled: Callable[[], bool] = torch.is_grad_enabled
modes: Callable[[], int] = native._len_torch_dispatch_stack
profiler: Any = torch.autograd.profiler
tracing: Callable[[], object] = native._get_tracing_state

below_autograd: Any = native._AutoDispatchBelowAutograd
"""Under it no call reaches autograd."""


def constant(function: Callable[..., bool]) -> Callable[..., bool]:
    """Have torch.compile call a function while it traces, and take the answer for a constant.

    That is what torch.compiler.assume_constant_result does. It imports the compiler first, which
    takes as long as the rest of PyTorch, and most processes compile nothing.
    """
    vars(function)["_dynamo_marked_constant"] = True
    return function


def watched() -> bool:
    """Whether a mode or a transformation is to see the ops that run."""
    return bool(unusual() or modes() or functorch() is not None or tracing() is not None)


def plain(tensors: Iterable[Any]) -> bool:
    """Whether a kernel may read these tensors, and nobody is to see the op."""
    return not watched() and _readable(tensors)


def ordinary(tensors: Iterable[Any]) -> bool:
    """Whether a kernel may read these tensors, and nobody has to see the op: profilers may miss it."""
    seen = modes() or functorch() is not None or tracing() is not None
    return not seen and forward_ad._current_level < 0 and _readable(tensors)


def _readable(tensors: Iterable[Any]) -> bool:
    return all(
        x is None
        or (
            type(x) in {Tensor, Parameter}
            and x.layout is torch.strided
            and not x.is_nested
            and not x.is_meta
            and not x._is_zerotensor()
            and not native._functorch.is_functorch_wrapped_tensor(x)  # one that outlived its level
            and not native._functorch.is_legacy_batchedtensor(x)  # from autograd's is_grads_batched
        )
        for x in tensors
    )


def whole(tensors: Iterable[Any]) -> bool:
    """Whether a test that ``alike`` made may be asked: only tensors, and no nested ones."""
    return all([type(x) in {Tensor, Parameter} and not x.is_nested for x in tensors])


def unusual() -> bool:
    """Whether PyTorch is in a state that dispatch keys do not show."""
    return bool(function_mode() or forward_ad._current_level >= 0 or profiler._is_profiler_enabled)


def alike(tensors: Sequence[Tensor], tracked: bool = False) -> Callable[..., bool]:
    """Return a test whether others are plain tensors like these.

    They pass only where no gradient is wanted from them; if it is, they are to be tracked, and
    whether gradients are on is another question. Only tensors have an answer to tracked tests.

    They are if type, dtype, device, rank and all dispatch keys are the same, whatever the sizes.
    That is how torch.compile decides whether compiled code may run: all in one call.
    """
    free = [[None] * x.dim() for x in tensors]
    try:
        guards: Any = native._dynamo.guards.TensorGuards
        test = guards(*tensors, dynamic_dims_sizes=free, dynamic_dims_strides=free).check
    except (AttributeError, TypeError):  # no release is known to lack it, but it is no public name
        return lambda *_: False
    if tracked:  # nested tensors would end the process
        return lambda *others: True not in [x.is_nested for x in others] and test(*others)
    if any(x.requires_grad for x in tensors):
        return lambda *others: not grad_enabled() and test(*others)
    return test


with contextlib.suppress(AttributeError):  # after a graph break, torch.compile would try to
    native._dynamo.eval_frame.skip_code(alike.__code__)


def wanted(args: Iterable[Any]) -> bool:
    """Whether a gradient may be asked for."""
    return grad_enabled() and any(isinstance(x, Tensor) and x.requires_grad for x in args)


def has_tangent(args: Iterable[Any]) -> bool:
    """Whether forward-mode differentiation goes through one of the arguments.

    There is one level of it. Graphs that torch.compile made of torch.func enter it unseen.
    """
    if forward_ad._current_level < 0 and functorch() is None:
        return False
    return any(
        isinstance(x, Tensor) and forward_ad.unpack_dual(x, level=0).tangent is not None
        for x in args
    )


def stands_for_tensor(x: object) -> bool:
    """Whether x is no tensor but answers PyTorch's calls, as the proxies of torch.fx do."""
    return hasattr(type(x), "__torch_function__") and not isinstance(x, Tensor)
