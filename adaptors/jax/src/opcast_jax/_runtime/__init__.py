"""What the generated ops of the JAX adaptor share: XLA targets, tracing, and calls that are not plain.

Every op is a jitted function around an XLA custom call. Attributes are static, so they are
normalised before the jit: one value must not compile twice because it came as 1 and as 1.0.
"""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
from jax import Array

from .._collection import NAME, NAMESPACE, backend
from ._arrays import common_device, framework, narrowed, native, unify, unwrapped
from ._call import Call
from ._derivative import differentiable

REQUIRED: Any = None
FAULT = Exception  # whatever ends a plain call: the general one copes with it or says what is wrong
publish = backend.publish

# The platforms of XLA, each with DLPack's number for its devices. A call for which there is no kernel is
# refused by the library, since kernels may be registered for any device.
_PLATFORMS = {"cpu": 1, "CUDA": 2, "ROCM": 10}

ARRAY: Any = Array  # untyped, since an argument may be anything
_jax: Any = jax  # partly untyped


def normal_ints(value: Any) -> bool:
    """Whether a static argument is a tuple of ints, as normalising makes it."""
    items: Any = value
    return type(value) is tuple and all(type(i) is int for i in items)


_path = backend.library(Path(__file__).parents[1] / "lib" / f"lib{NAME}_jax.so")


def _load() -> Any:
    handlers = backend.opened(
        str(__package__).removesuffix("._runtime"), _path, ctypes.CDLL, "opcast_jax_bind"
    )
    types = (ctypes.c_char_p, ctypes.c_int64, ctypes.c_void_p, ctypes.c_int)
    handlers.opcast_jax_bind.argtypes = types
    handlers.opcast_jax_bind.restype = ctypes.c_void_p
    return handlers


_handlers = _load()
# The backend's library again, under the same handle, to read the addresses of its functions.
_library = ctypes.CDLL(str(backend.library_path()))
_handlers.opcast_jax_lend.argtypes, _handlers.opcast_jax_lend.restype = (ctypes.c_void_p,), None
_handlers.opcast_jax_lend(ctypes.cast(_library["__tvm_ffi__opcast_lent_threads"], ctypes.c_void_p))


def _wait() -> None:
    for array in _jax.live_arrays():
        with contextlib.suppress(RuntimeError):  # deleted meanwhile, or a failure that is not ours
            array.block_until_ready()


backend.on_switch(_wait)


class Op:
    """One op: its XLA target, its jitted function, and its calls that are not plain."""

    def __init__(self, name: str, schema: int) -> None:
        backend.function(name, schema)
        self.info = backend.ops()[name]
        self.target = f"{NAMESPACE}.{name}"
        self.check: Callable[..., Any] = getattr(backend.checks, name)
        self._numbers = backend.places(self.info)
        self._register(schema)
        self._singles: dict[tuple[int, ...], Op] = {}
        _OPS[name] = self
        self.jit()

    def jit(self) -> None:
        """Make the function that JAX compiles."""
        count = len(self.info.inputs)
        statics = tuple(range(count, count + len(self.info.attrs)))
        self.jitted: Any = _jax.jit(self._function(), static_argnums=statics, inline=True)

    def _register(self, schema: int) -> None:
        address = ctypes.cast(_library[f"__tvm_ffi_{self.info.name}"], ctypes.c_void_p)
        for platform, device in _PLATFORMS.items():
            bind = _handlers.opcast_jax_bind
            handler = bind(self.info.name.encode(), schema, address, device)
            if handler is None:
                raise ImportError(
                    f"{self.info.name}: {_path} comes from another definition:"
                    " run `opcast build` again"
                )
            capsule = _jax.ffi.pycapsule(ctypes.c_void_p(handler))
            _jax.ffi.register_ffi_target(self.target, capsule, platform=platform)

    def single(self, counts: tuple[int, ...]) -> Op:
        """Return the form for single arrays, of an op whose lists have so many."""
        if counts not in self._singles:
            one = backend.form(self, counts)
            one.jit()
            self._singles[counts] = one
        return self._singles[counts]

    def call(self, inputs: tuple[Any, ...], attrs: tuple[Any, ...], fault: Any = None) -> Any:
        """Call the op with any arguments, after its checks.

        Parameters
        ----------
        inputs, attrs
            The arguments.
        fault
            What a plain call of them ended with. If nothing is wrong with them, that is what is to
            be said: the kernel may have run, and is not called again.

        """
        inputs = tuple(unwrapped(x, a.list) for x, a in zip(inputs, self.info.inputs))
        if self._numbers:
            given, inputs = inputs, self._filled(inputs)
            if any(x is not y for x, y in zip(given, inputs)):
                fault = None  # of what has been given
        if self.info.lists:
            return backend.call_lists(self, framework, inputs, attrs)
        _, values = self.check(framework, *inputs, *attrs)
        device = common_device(self.info, inputs)
        if device is not None:
            backend.refuse_device(self.info, device)
        if fault is not None:
            raise fault
        return self.jitted(*[native(x) for x in inputs], *self._statics(attrs, values))

    def _filled(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return arrays in the place of numbers, and of what JAX traces for one."""
        weak = {i for i, _ in self._numbers if _is_weak(inputs[i])}
        known = [None if i in weak else x for i, x in enumerate(inputs)]
        arrays = list(backend.stand_ins(self.info, framework, inputs, _jax.numpy.asarray, narrowed))
        for i, a in self._numbers:
            if i in weak:
                dtype = narrowed(backend.number_dtype(self.info, framework, known, a))
                if _jax.numpy.result_type(arrays[i], dtype) == dtype:
                    arrays[i] = arrays[i].astype(dtype)
        return tuple(arrays)

    def _statics(self, attrs: tuple[Any, ...], values: Any) -> list[Any]:
        """Return normalised attributes that are equal only if they mean the same.

        Zeros go as text, because 0.0 == -0.0, and NaN, because it equals nothing.
        """
        rest = iter(values)
        normal = [
            (None if v is None else backend.dtype_name(framework, v))
            if a.type == "dtype"
            else next(rest)
            for a, v in zip(self.info.attrs, attrs)
        ]
        return [v.hex() if isinstance(v, float) and not abs(v) > 0 else v for v in normal]

    def _function(self) -> Callable[..., Any]:
        """Return the function to jit: inputs, then all attributes."""
        count = len(self.info.inputs)

        def op(*args: Any) -> Any:
            attrs = tuple(
                float.fromhex(v) if a.type == "float" and isinstance(v, str) else v
                for a, v in zip(self.info.attrs, args[count:])
            )
            self.check(framework, *args[:count], *attrs)  # a fault is told before it is deep inside
            call = self._call(tuple(x is not None for x in args[:count]), attrs)
            arrays = unify(tuple(x for x in args[:count] if x is not None))
            results = differentiable(call, _derived)(*arrays)
            return _returned(call, results)

        op.__name__ = op.__qualname__ = self.info.name
        return op

    def _call(self, present: tuple[bool, ...], attrs: tuple[Any, ...]) -> Call:
        return Call(self.info, self.check, self.target, present, attrs)

    def derived_call(self, call: Call) -> Call:
        """Return the call of this op that belongs to a call of the one whose derivative it computes."""
        given = {a.name for a in call.inputs} | {a.name for a in call.outputs}
        if self.info.gradient_of:
            given |= {call.info.grad_prefix + a.name for a in call.outputs if not a.saved}
        else:
            given |= {call.info.tangent_prefix + a.name for a in call.inputs}
        attrs = {a.name: v for a, v in zip(call.info.attrs, call.attrs)}
        return self._call(
            tuple(a.name in given for a in self.info.inputs),
            tuple(attrs[a.name] for a in self.info.attrs),
        )


def _is_weak(value: Any) -> bool:
    """Whether a value without dims has a dtype that gives way to another, as numbers have that JAX traces."""
    return isinstance(value, Array) and value.weak_type and value.shape == ()


_OPS: dict[str, Op] = {}


def _derived(call: Call, name: str) -> Call:
    return _OPS[name].derived_call(call.with_saved())


def _returned(call: Call, results: Any) -> Any:
    """Return what the caller gets: None for an output whose input is not given; one thing bare."""
    found = {a.name: x for a, x in zip(call.results, results)}
    values = [found.get(name) for name in call.info.results]
    return values[0] if len(values) == 1 else tuple(values)
