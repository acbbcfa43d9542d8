"""What the generated ops of the PyTorch adaptor share: registration, and every call that is not plain.

A generated function calls the kernel itself when nobody watches: plain dense tensors, no gradient,
no transformation. All other calls come here, and from here mostly to the registered op, which
torch.compile, export, vmap, fake and meta tensors, subclasses and the profiler understand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.nn import Parameter

from ._collection import NAMESPACE, backend

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

REQUIRED: Any = None
FAULT = Exception  # whatever ends a plain call: the general one copes with it or says what is wrong
publish = backend.publish

# The guard of every generated function reads these, once bound, since a tiny call takes two
# microseconds. They carry no types in PyTorch.
_C: Any = vars(torch)["_C"]
compiling: Callable[[], bool] = torch.compiler.is_dynamo_compiling
empty_like: Callable[[Tensor], Tensor] = torch.empty_like
forward_ad: Any = torch.autograd.forward_ad
function_mode: Callable[[], bool] = _C._is_torch_function_mode_enabled
functorch: Callable[[], object] = _C._functorch.peek_interpreter_stack
grad_enabled: Callable[[], bool] = torch.is_grad_enabled
modes: Callable[[], int] = _C._len_torch_dispatch_stack
profiler: Any = torch.autograd.profiler
tracing: Callable[[], bool] = _C._is_tracing

_library: Any = torch.library
_LIBRARY = _library.Library(NAMESPACE, "FRAGMENT")
_KEYS = {"cpu": "CPU", "cuda": "CUDA"}
_DTYPES = {str(d)[len("torch.") :]: d for d in vars(torch).values() if isinstance(d, torch.dtype)}
_NAMES = {dtype: name for name, dtype in _DTYPES.items()}


class _Framework:
    """The rules' view of tensors."""

    array = "torch.Tensor"

    def is_array(self, value: object) -> bool:
        return isinstance(value, Tensor)

    def shape(self, value: Tensor) -> tuple[int, ...]:
        return tuple(value.shape)

    def dtype(self, value: Tensor) -> str:
        return _NAMES[value.dtype]

    def device(self, value: Tensor) -> str:
        return value.device.type if value.device.type in {"cpu", "meta"} else str(value.device)

    def dtype_name(self, value: object) -> str | None:
        if isinstance(value, torch.dtype):
            return _NAMES[value]
        return value if isinstance(value, str) and value in _DTYPES else None

    def check_out(self, op: str, name: str, value: Tensor) -> None:
        if not value.is_contiguous():
            strides = list(value.stride())
            raise ValueError(f"{op}: {name}: expected contiguous memory, got strides {strides}")
        if not compiling() and (value.is_neg() or value.is_conj()):  # compiled, it gets a copy
            raise ValueError(f"{op}: {name}: expected plain memory, got a lazily negated view")
        if value.requires_grad and grad_enabled():
            raise ValueError(f"{op}: {name}: expected no gradient to flow, got requires_grad")

    def overlaps(self, a: Tensor, b: Tensor) -> bool:
        if compiling() or not _plain((a, b)):
            return False  # the result is computed apart and then copied
        if a.numel() == 0 or b.numel() == 0 or a.device != b.device:
            return False
        (a_first, a_end), (b_first, b_end) = _extent(a), _extent(b)
        return a_first < b_end and b_first < a_end


_framework = _Framework()


def _extent(x: Tensor) -> tuple[int, int]:
    """Return the address range of a tensor's elements; strides of tensors are never negative."""
    last = sum((n - 1) * s for n, s in zip(x.shape, x.stride()))
    return x.data_ptr(), x.data_ptr() + (last + 1) * x.element_size()


def _refuse_layout(op: str, name: str, x: Tensor) -> None:
    """Refuse tensors whose elements do not lie in one strided block."""
    if x.layout is not torch.strided:
        raise ValueError(f"{op}: {name}: expected a dense tensor, got layout {x.layout}")
    if x.is_nested:
        raise ValueError(f"{op}: {name}: expected a dense tensor, got a nested tensor")


def _stands_for_tensor(x: object) -> bool:
    """Whether x is no tensor but answers PyTorch's calls, as the proxies of torch.fx do."""
    return hasattr(type(x), "__torch_function__") and not isinstance(x, Tensor)


def _plain(tensors: Iterable[Any]) -> bool:
    """Whether the kernel may read these tensors, and no mode or transformation is to see the op."""
    watched = (
        modes()
        or functorch() is not None
        or function_mode()
        or forward_ad._current_level >= 0
        or tracing()
        or profiler._is_profiler_enabled
    )
    return not watched and all(
        x is None or (type(x) in {Tensor, Parameter} and not x.is_meta and not x._is_zerotensor())
        for x in tensors
    )


def _dense(x: Tensor | None, stride: str) -> Tensor | None:
    """Return what the kernel may read: not lazily negated, and dense where it has to be."""
    if x is None:
        return None
    x = x.resolve_conj().resolve_neg()
    last = stride == "last" and x.dim() > 0 and (x.stride(-1) == 1 or x.shape[-1] <= 1)
    return x if last or stride == "any" else x.contiguous()


class Op:
    """One op: its kernel, its registration in PyTorch, and its calls that are not plain.

    Parameters
    ----------
    name
        Name of the op.
    schema
        Schema hash of the definition from which the caller was generated.
    signature
        Schema of the registered op.

    """

    def __init__(self, name: str, schema: int, signature: str) -> None:
        self.kernel = backend.function(name, schema)
        self.info = backend.ops()[name]
        self.check: Callable[..., Any] = getattr(backend.checks, name)
        _LIBRARY.define(name + signature, tags=(torch.Tag.pt2_compliant_tag,))
        for device in self.info.devices:
            _LIBRARY.impl(name, self._compute, _KEYS[device])
        _LIBRARY.impl(name, self._autograd, "Autograd", with_keyset=True)
        _library.register_fake(f"{NAMESPACE}::{name}", self._fake, lib=_LIBRARY)
        self.overload: Any = getattr(getattr(torch.ops, NAMESPACE), name).default

    def call(self, inputs: tuple[Any, ...], attrs: tuple[Any, ...], out: Any) -> Any:
        """Call the op in any state of PyTorch, after its checks."""
        if compiling() or any(_stands_for_tensor(x) for x in inputs):
            return self._dispatch(inputs, attrs, out)
        outs = backend.as_tuple(out)
        for arg, x in zip(self.info.inputs + self.info.outputs, inputs + (outs or ())):
            if isinstance(x, Tensor):
                _refuse_layout(self.info.name, arg.name, x)
        specs, values = self.check(_framework, *inputs, *attrs, outs)
        if not inputs[0].is_meta:
            backend.refuse_device(self.info, _framework.device(inputs[0]))
        if not _plain(inputs + (outs or ())):
            return self._dispatch(inputs, self._normal(attrs, values), out)
        self._refuse_gradient(inputs)
        if outs is None:
            return self._run(self._empty(inputs, specs), inputs, values)
        self._run(outs, inputs, values)
        torch.autograd.graph.increment_version([x for x in outs if not x.is_inference()])
        return out

    def _normal(self, attrs: tuple[Any, ...], values: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return all attributes as the checks normalised them; they leave dtypes out."""
        rest = iter(values)
        return tuple(v if a.type == "dtype" else next(rest) for a, v in zip(self.info.attrs, attrs))

    def _dispatch(self, inputs: tuple[Any, ...], attrs: tuple[Any, ...], out: Any) -> Any:
        """Call the registered op; given outputs receive copies of the results."""
        kinds = [a.type for a in self.info.attrs]
        values = [_DTYPES.get(v, v) if kind == "dtype" else v for kind, v in zip(kinds, attrs)]
        made = self.overload(*inputs, *values)
        outs = backend.as_tuple(out)
        if outs is None:
            return made
        if compiling():
            self.check(_framework, *inputs, *attrs, outs)
        for given, result in zip(outs, backend.as_tuple(made) or ()):
            given.copy_(result)
        return out

    def _compute(self, *args: Any) -> Any:
        """Kernel of the registered op."""
        inputs, specs, values = self._checked(args)
        return self._run(self._empty(inputs, specs), inputs, values)

    def _fake(self, *args: Any) -> Any:
        """Shape function of the registered op; also what meta tensors get."""
        inputs, specs, _ = self._checked(args)
        outs = self._empty(inputs, specs)
        return outs[0] if len(outs) == 1 else outs

    def _autograd(self, keys: Any, *args: Any) -> Any:
        """Autograd of the registered op: there is none, which must not stay unnoticed."""
        self._refuse_gradient(args)
        return self.overload.redispatch(keys & _C._after_autograd_keyset, *args)

    def _checked(self, args: tuple[Any, ...]) -> tuple[Any, Any, Any]:
        count = len(self.info.inputs)
        return args[:count], *self.check(_framework, *args)

    def _empty(self, inputs: tuple[Any, ...], specs: Any) -> tuple[Tensor, ...]:
        try:
            return tuple(inputs[0].new_empty(shape, dtype=_DTYPES[dtype]) for shape, dtype in specs)
        except RuntimeError as error:
            if type(error) is not RuntimeError:  # torch.OutOfMemoryError, or a tracer's own
                raise
            raise MemoryError(f"{self.info.name}: out of memory") from error

    def _run(self, outs: tuple[Tensor, ...], inputs: tuple[Any, ...], values: Any) -> Any:
        dense = [_dense(x, arg.stride) for arg, x in zip(self.info.inputs, inputs)]
        self.kernel(*outs, *dense, *values)
        return outs[0] if len(outs) == 1 else outs

    def _refuse_gradient(self, args: tuple[Any, ...]) -> None:
        tensors = [x for x in args if isinstance(x, Tensor)]
        wanted = grad_enabled() and any(x.requires_grad for x in tensors)
        if forward_ad._current_level >= 0:
            wanted = wanted or any(forward_ad.unpack_dual(x).tangent is not None for x in tensors)
        if wanted:
            raise NotImplementedError(
                f"{self.info.name}: no gradient is defined:"
                " call it under torch.no_grad() or detach the inputs"
            )
