"""What the generated ops of the JAX adaptor share: XLA targets, tracing, and calls that are not plain.

Every op is a jitted function around an XLA custom call. Attributes are static, so they are
normalised before the jit: one value must not compile twice because it came as 1 and as 1.0.
"""

from __future__ import annotations

import contextlib
import ctypes
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax
import numpy as np
from jax import Array

from ._collection import NAME, NAMESPACE, backend

if TYPE_CHECKING:
    from collections.abc import Callable

REQUIRED: Any = None
FAULT = Exception  # whatever ends a plain call: the general one copes with it or says what is wrong
publish = backend.publish

ARRAY: Any = Array  # untyped, since an argument may be anything
_jax: Any = jax  # partly untyped

# Attribute of a custom call with optional inputs: bit i says that input i is given.
_PRESENT = "_present"


def normal_ints(value: tuple[Any, ...]) -> bool:
    """Whether a static argument is a tuple of ints, as normalising makes it."""
    return type(value) is tuple and all(type(i) is int for i in value)


class _Framework:
    """The rules' view of arrays; NumPy's count, since JAX takes them everywhere."""

    array = "jax.Array"

    def is_array(self, value: object) -> bool:
        kinds = (Array, np.ndarray, np.generic)
        return isinstance(value, kinds) and not isinstance(value, np.ma.MaskedArray)

    def shape(self, value: Any) -> tuple[int, ...]:
        return value.shape

    def dtype(self, value: Any) -> str:
        try:  # without x64, JAX takes 64 bits as 32
            return _jax.dtypes.canonicalize_dtype(value.dtype).name
        except (TypeError, ValueError):  # no dtype of JAX, or one of its own that holds no numbers
            return value.dtype.name

    def device(self, value: Any) -> str:
        if isinstance(value, _jax.core.Tracer) or not isinstance(value, Array):
            return "cpu"  # traced and NumPy arrays have no device of their own
        device = min(value.devices(), key=lambda d: d.id)
        if device.platform == "cpu":
            return "cpu"
        return f"{'cuda' if device.platform == 'gpu' else device.platform}:{device.id}"

    def dtype_name(self, value: Any) -> str | None:
        try:
            return np.dtype(value).name if isinstance(value, (str, type, np.dtype)) else None
        except (TypeError, ValueError):
            return None

    def check_out(self, op: str, name: str, value: object) -> None:
        raise TypeError(f"{op}: {name}: expected no array, got one: arrays of JAX never change")

    def overlaps(self, a: object, b: object) -> bool:
        return False


_framework = _Framework()


def _load() -> Any:
    path = Path(__file__).with_name("lib") / f"lib{NAME}_jax.so"
    if not path.is_file():
        raise ImportError(
            f"{__package__}: {path} is missing: run `opcast build` in an environment with jaxlib,"
            " or install a wheel"
        )
    handlers = ctypes.CDLL(str(path))
    handlers.opcast_jax_bind.argtypes = (ctypes.c_char_p, ctypes.c_int64, ctypes.c_void_p)
    handlers.opcast_jax_bind.restype = ctypes.c_void_p
    return handlers


_handlers = _load()
# The backend's library again, under the same handle, to read the addresses of its functions.
_library = ctypes.CDLL(str(backend.library_path()))


def _wait() -> None:
    for array in _jax.live_arrays():
        with contextlib.suppress(RuntimeError):  # deleted meanwhile, or a failure that is not ours
            array.block_until_ready()


backend.on_switch(_wait)


class Op:
    """One op: its XLA target, its jitted function, and its calls that are not plain.

    Parameters
    ----------
    name
        Name of the op.
    schema
        Schema hash of the definition from which the caller was generated.

    """

    def __init__(self, name: str, schema: int) -> None:
        backend.function(name, schema)
        self.info = backend.ops()[name]
        self.target = f"{NAMESPACE}.{name}"
        self.check: Callable[..., Any] = getattr(backend.checks, name)
        self._register(schema)
        count = len(self.info.inputs)
        statics = tuple(range(count, count + len(self.info.attrs)))
        self.jitted: Any = _jax.jit(self._function(), static_argnums=statics, inline=True)

    def _register(self, schema: int) -> None:
        address = ctypes.cast(_library[f"__tvm_ffi_{self.info.name}"], ctypes.c_void_p)
        handler = _handlers.opcast_jax_bind(self.info.name.encode(), schema, address)
        if handler is None:
            raise ImportError(
                f"{self.info.name}: {_handlers._name} comes from another definition:"
                " run `opcast build` again"
            )
        capsule = _jax.ffi.pycapsule(ctypes.c_void_p(handler))
        _jax.ffi.register_ffi_target(self.target, capsule, platform="cpu")

    def call(self, inputs: tuple[Any, ...], attrs: tuple[Any, ...]) -> Any:
        """Call the op with any arguments, after its checks."""
        _, values = self.check(_framework, *inputs, *attrs)
        backend.refuse_device(self.info, _framework.device(inputs[0]))
        self._refuse_apart(inputs)
        return self.jitted(*[_native(x) for x in inputs], *self._statics(attrs, values))

    def _refuse_apart(self, inputs: tuple[Any, ...]) -> None:
        """Refuse arrays that are bound to different devices of one kind, which only JAX tells apart."""
        bound = [
            (a.name, sorted(f"{d.platform}:{d.id}" for d in x.devices()))
            for a, x in zip(self.info.inputs, inputs)
            if isinstance(x, Array) and not isinstance(x, _jax.core.Tracer) and x.committed
        ]
        for name, devices in bound[1:]:
            first, wanted = bound[0]
            if devices != wanted:
                raise ValueError(
                    f"{self.info.name}: {name}: expected device {', '.join(wanted)} (as {first}),"
                    f" got {', '.join(devices)}"
                )

    def _statics(self, attrs: tuple[Any, ...], values: Any) -> list[Any]:
        """Return normalised attributes that are equal only if they mean the same.

        Zeros go as text, because 0.0 == -0.0, and NaN, because it equals nothing.
        """
        rest = iter(values)
        normal = [
            (None if v is None else _framework.dtype_name(v)) if a.type == "dtype" else next(rest)
            for a, v in zip(self.info.attrs, attrs)
        ]
        return [v.hex() if isinstance(v, float) and not abs(v) > 0 else v for v in normal]

    def _function(self) -> Callable[..., Any]:
        """Return the function to jit: inputs, then all attributes."""
        count = len(self.info.inputs)

        def op(*args: Any) -> Any:
            statics = [
                float.fromhex(v) if a.type == "float" and isinstance(v, str) else v
                for a, v in zip(self.info.attrs, args[count:])
            ]
            return self._differentiable(statics)(*args[:count])

        op.__name__ = op.__qualname__ = self.info.name
        return op

    def _differentiable(self, attrs: list[Any]) -> Callable[..., Any]:
        """Return the op as a function of its inputs that says so when a derivative is wanted."""

        def primal(*inputs: Any) -> Any:
            return self._custom_call(inputs, attrs)

        def derivative(primals: Any, tangents: Any) -> Any:
            raise NotImplementedError(
                f"{self.info.name}: no gradient is defined:"
                " apply jax.lax.stop_gradient to the inputs"
            )

        primal.__name__ = self.info.name
        op = _jax.custom_jvp(primal)
        op.defjvp(derivative)
        return op

    def _custom_call(self, inputs: tuple[Any, ...], attrs: list[Any]) -> Any:
        specs, values = self.check(_framework, *inputs, *attrs)
        names = [a.name for a in self.info.attrs if a.type != "dtype"]
        fields = {name: _attribute(v) for name, v in zip(names, values) if v is not None}
        if any(a.optional for a in self.info.inputs):
            fields[_PRESENT] = np.int64(sum(1 << i for i, x in enumerate(inputs) if x is not None))
        results = [jax.ShapeDtypeStruct(shape, _jax.numpy.dtype(d)) for shape, d in specs]
        call = _jax.ffi.ffi_call(self.target, results, vmap_method="sequential")
        outs = call(*[x for x in inputs if x is not None], **fields)
        return outs[0] if len(outs) == 1 else tuple(outs)


def _native(value: Any) -> Any:
    """Return NumPy arrays as jit takes them: of type ndarray, in native byte order."""
    if value is None or isinstance(value, Array):
        return value
    array = np.asarray(value)
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def _attribute(value: Any) -> Any:
    """Return a value whose NumPy type tells XLA the type that the handler expects."""
    if isinstance(value, (bool, str)):
        return value
    if isinstance(value, tuple):
        return np.asarray(value, np.int64)
    return np.int64(value) if isinstance(value, int) else np.float64(value)
