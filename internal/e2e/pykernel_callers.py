"""Calls of ops through every adaptor that runs on the CPU, on arrays of NumPy."""

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

import ml_dtypes
import numpy as np
import opcast_jax
import opcast_numpy
import opcast_paddle
import opcast_torch

# Partly untyped.
jax: Any = import_module("jax")
jnp: Any = import_module("jax.numpy")
paddle: Any = import_module("paddle")
torch: Any = import_module("torch")

DTYPES = (np.dtype("float32"), np.dtype("float16"), np.dtype(ml_dtypes.bfloat16))
CALLERS: dict[str, Callable[..., Any]] = {}


def caller(function: Callable[..., Any]) -> Callable[..., Any]:
    """Take in a function from an op's name and arrays of NumPy to the op's result."""
    CALLERS[function.__name__] = function
    return function


@caller
def numpy_(op: str, *arrays: Any, **attrs: Any) -> Any:
    """Call through NumPy."""
    return getattr(opcast_numpy, op)(*arrays, **attrs)


def _tensor(array: Any) -> Any:
    if array.dtype == ml_dtypes.bfloat16:
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(array)


def _array(tensor: Any) -> Any:
    if tensor.dtype == torch.bfloat16:
        return tensor.view(torch.int16).numpy().view(ml_dtypes.bfloat16)
    return tensor.numpy()


@caller
def torch_(op: str, *arrays: Any, **attrs: Any) -> Any:
    """Call through PyTorch, eagerly."""
    return _array(getattr(opcast_torch, op)(*map(_tensor, arrays), **attrs))


@caller
def torch_compiled(op: str, *arrays: Any, **attrs: Any) -> Any:
    """Call through PyTorch's tracing compiler."""
    function = getattr(opcast_torch, op)
    compiled = torch.compile(partial(function, **attrs), backend="eager", fullgraph=True)
    return _array(compiled(*map(_tensor, arrays)))


@caller
def jax_(op: str, *arrays: Any, **attrs: Any) -> Any:
    """Call through JAX."""
    return np.asarray(getattr(opcast_jax, op)(*map(jnp.asarray, arrays), **attrs))


@caller
def jax_jit(op: str, *arrays: Any, **attrs: Any) -> Any:
    """Call through JAX, compiled."""
    function = getattr(opcast_jax, op)
    return np.asarray(jax.jit(partial(function, **attrs))(*map(jnp.asarray, arrays)))


@caller
def paddle_(op: str, *arrays: Any, **attrs: Any) -> Any:
    """Call through PaddlePaddle, on the memory of the arrays."""
    tensors = [paddle.from_dlpack(_tensor(a)) for a in arrays]
    result = getattr(opcast_paddle, op)(*tensors, **attrs)
    return _array(torch.from_dlpack(result[0] if isinstance(result, tuple) else result))


def expect(
    error: type[BaseException] | tuple[type[BaseException], ...],
    text: str,
    function: Callable[[], Any],
) -> BaseException:
    """Expect an error of exactly one of these classes whose text contains the given one."""
    try:
        result = function()
    except BaseException as raised:
        if type(raised) not in (error if isinstance(error, tuple) else (error,)):
            raise
        if text not in str(raised):
            raise
        return raised
    raise AssertionError(f"no error, but {result}")


class OwnError(Exception):
    """An error that nobody else knows, and that no text alone can make."""

    def __init__(self, code: int, why: str) -> None:
        super().__init__(code, why)
        self.code, self.why = code, why

    def __str__(self) -> str:
        return f"{self.why} ({self.code})"
