"""How the rules see JAX's arrays, and how arguments that are not plain become arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import jax
import numpy as np
from jax import Array
from jax.sharding import NamedSharding, PartitionSpec

if TYPE_CHECKING:
    from .._collection import backend

_jax: Any = jax  # partly untyped
_DTYPES: Any = (type, np.dtype)
_Named: Any = NamedSharding
_Spec: Any = PartitionSpec


class Framework:
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

    def device(self, value: object) -> str:
        return ""  # JAX moves what is not bound to a device; common_device looks at the rest

    def dtype_name(self, value: Any) -> str | None:
        try:
            return np.dtype(value).name if isinstance(value, _DTYPES) else None
        except (TypeError, ValueError):
            return None

    def check_out(self, op: str, name: str, value: object) -> None:
        raise TypeError(f"{op}: {name}: expected no array, got one: arrays of JAX never change")

    def check_mutated(self, op: str, name: str, value: object, stride: str) -> None:
        """Accept: what the op overwrites is a new array."""

    def memory(self, value: object) -> None:
        return None  # results are new arrays


framework = Framework()


def narrowed(dtype: str) -> str:
    """Return what JAX has for a dtype: without x64, 32 bits in the place of 64."""
    return _jax.dtypes.canonicalize_dtype(dtype).name


def common_device(op: backend.Op, inputs: Sequence[Any]) -> str | None:
    """Return the device on which JAX runs a call; None where only the compiler knows.

    Arrays that are bound to different devices are refused.
    """
    traced = any(isinstance(x, _jax.core.Tracer) for x in inputs)
    arrays = [(a.name, x) for a, x in zip(op.inputs, inputs) if isinstance(x, Array)]
    own = [(name, x) for name, x in arrays if not isinstance(x, _jax.core.Tracer)]
    bound = [(name, _devices(x)) for name, x in own if x.committed]
    for name, devices in bound[1:]:
        first, wanted = bound[0]
        if devices != wanted:
            raise ValueError(
                f"{op.name}: {name}: expected device {', '.join(wanted)} (as {first}),"
                f" got {', '.join(devices)}"
            )
    if bound:
        return bound[0][1][0]
    return None if traced else _devices(own[0][1])[0] if own else _name(_jax.devices()[0])


def _devices(array: Any) -> list[str]:
    return [_name(d) for d in sorted(array.devices(), key=lambda d: (d.platform, d.id))]


def _name(device: Any) -> str:
    kind = device.platform
    if kind == "gpu":
        kind = "rocm" if "rocm" in device.client.platform_version else "cuda"
    single = kind == "cpu" and len(_jax.devices("cpu")) == 1
    return kind if single else f"{kind}:{device.id}"


def unwrapped(value: Any, is_list: bool = False) -> Any:
    """Return the array that an object stands for, such as a parameter of Flax; or those of a list."""
    items: Any = value
    if is_list and isinstance(value, (list, tuple)):
        return [unwrapped(x) for x in items]
    if isinstance(value, Array) or not hasattr(items.__class__, "__jax_array__"):
        return value
    return items.__jax_array__()


def native(value: Any) -> Any:
    """Return NumPy arrays as jit takes them: of type ndarray, in native byte order."""
    if value is None or isinstance(value, Array):
        return value
    array = np.asarray(value)
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def varying(*arrays: Any) -> frozenset[str]:
    """Return the mesh axes of a ``shard_map`` along which one of the arrays differs."""
    axes: frozenset[str] = frozenset()
    for array in arrays:
        kind = _jax.typeof(array)
        manual = getattr(kind, "mat", None)  # since jax 0.10; before, the type had the set itself
        axes |= getattr(kind, "vma", axes) if manual is None else manual.varying
    return axes


def unify(arrays: tuple[Any, ...], axes: frozenset[str] | None = None) -> tuple[Any, ...]:
    """Have every array vary along the axes of all.

    Where that happens before a derivative is taken, its transpose sums the gradients.
    """
    axes = varying(*arrays) if axes is None else axes
    if not axes:
        return arrays
    missing = [tuple(axes - varying(a)) for a in arrays]
    return tuple(_vary(a, m) if m else a for a, m in zip(arrays, missing))


def _vary(array: Any, axes: tuple[str, ...]) -> Any:
    if hasattr(_jax.lax, "pcast"):  # jax 0.7 has pvary instead
        return _jax.lax.pcast(array, axes, to="varying")
    return _jax.lax.pvary(array, axes)


def spec_of(array: Any) -> tuple[Any, ...]:
    """Return the mesh axes over which the type of an array says that each dim is sharded."""
    spec = tuple(_jax.typeof(array).sharding.spec)
    return spec + (None,) * (array.ndim - len(spec))


def respec(array: Any, spec: Sequence[Any]) -> Any:
    """Return the array with its dims sharded over the given mesh axes."""
    if tuple(spec) == spec_of(array):
        return array
    reshard = getattr(_jax, "reshard", None) or _jax.sharding.reshard  # jax 0.7 has the latter
    return reshard(array, sharding_of(array, spec))


def sharding_of(array: Any, spec: Sequence[Any]) -> Any:
    """Return a sharding over the mesh of an array's type."""
    return _Named(_jax.typeof(array).sharding.mesh, _Spec(*spec))
