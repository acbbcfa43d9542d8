"""Everything of PyTorch that this package uses although it has no public name.

No other file does. Each entry says what it is for, and what happens in a release that lacks it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

_torch: Any = torch  # whose type stubs know no private names
_native: Any = _torch._C
_functorch: Any = _native._functorch
_compiler: Any = torch.compiler
_by_dynamo: Callable[[], bool] = torch.compiler.is_dynamo_compiling
_forward_ad: Any = torch.autograd.forward_ad
_function: Any = torch.autograd.function

# ---------------------------------------------------------------- what PyTorch is doing

functorch: Callable[[], object] = _functorch.peek_interpreter_stack
"""The innermost transformation of torch.func, or None. Without it: no import."""


def forward_mode() -> bool:
    """Whether forward-mode differentiation is on, which no dispatch key shows. Without it: no import."""
    return _forward_ad._current_level >= 0


def direct() -> bool:
    """Whether neither a compiler nor forward-mode differentiation is at work: asked in every call.

    What torch.compiler.is_compiling says: its flag, and what Dynamo makes of the function that asks for it.
    The call behind a large array, which leaves no code in the caches, takes 8 microseconds less so. Without
    the flag: that function is called.
    """
    return not _by_dynamo() and not _compiler._is_compiling_flag and _forward_ad._current_level < 0


def _direct_by_call() -> bool:
    return not _compiler.is_compiling() and _forward_ad._current_level < 0


if not hasattr(_compiler, "_is_compiling_flag"):
    direct = _direct_by_call


def compiles() -> bool:
    """Whether torch.compile makes a graph of the calls of this thread, and not torch.export.

    Without it: graphs call the overload with derivatives, and take several times as long per call.
    """
    try:
        return _torch._guards.CompileContext.try_get() is not None
    except AttributeError:
        return False


# ---------------------------------------------------------------- calls of registered ops


def bare(overload: Any) -> Callable[..., Any]:
    """Return what an overload calls; its own call takes half as long again.

    Without it: the overload is called.
    """
    return getattr(overload, "_op", overload)


def calls(entry: Any, call: Callable[..., Any]) -> None:
    """Have an overload, or a packet of them, call something else.

    That gives errors their class: PyTorch knows that of an error in C++ by its text only. Without it:
    who calls through torch.ops gets RuntimeError, with the class at the beginning of the text.
    """
    entry._op = call


def after_autograd(keys: Any) -> Any:
    """Return the dispatch keys below autograd. Without it: no import."""
    return keys & _native._after_autograd_keyset


def after_views(keys: Any) -> Any:
    """Return the dispatch keys below those that count versions. Without it: no import."""
    return keys & _native._after_ADInplaceOrView_keyset


below_autograd: Any = _native._AutoDispatchBelowAutograd
"""Under it no call reaches autograd. Without it: no import."""


# ---------------------------------------------------------------- derivatives


SingleLevelFunction: Any = _function._SingleLevelFunction
"""A node for one level of torch.func, which PyTorch makes of its own ops. Without it: no import."""


def single_level() -> Any:
    """Return a context in which such nodes may be applied. Without it: no derivative in torch.func."""
    return _torch._functorch.utils.enable_single_level_autograd_function()


def tangents_on() -> Any:
    """Return a context in which the next level of torch.func sees tangents. Without it: no import."""
    return _forward_ad._set_fwd_grad_enabled(True)


# ---------------------------------------------------------------- other parts


def held(module: torch.nn.Module) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Return the parameters, buffers and modules of a module, with those that are None.

    The public functions leave these out, and take longer than a layer. Without it: no layer works.
    """
    found = vars(module)
    return found["_parameters"], found["_buffers"], found["_modules"]
