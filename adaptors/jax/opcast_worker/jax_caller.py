"""Calls the JAX adaptor."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from typing import Any

import numpy as np
from opcast_worker.abilities import Script
from opcast_worker.bound import Bound, Request, Unsupported, refused_singly
from opcast_worker.caller import Caller
from opcast_worker.gpu_memory import WORDS, kind_of
from opcast_worker.host import describe, numpy_dtype, strided

RECORDABLE = (
    "--xla_gpu_enable_command_buffer=FUSION,CUSTOM_CALL --xla_gpu_graph_min_graph_size=1000000"
)
"""Lets XLA record programs with custom calls in them as CUDA graphs, but no program of a usual length.

A recorded program that runs again calls no op: it starts the kernels that were chosen when it was recorded.
"""

OPTIMISATIONS: dict[str, tuple[Any, Any]] = {
    "xla_backend_optimization_level": (0, 3),
    "xla_llvm_disable_expensive_passes": (True, False),
}
"""Flags of XLA, each with the value that is quick and the usual one.

With the first, XLA spends a third of the time on machine code for what is around the ops, as in JAX's own tests. The ops
are custom calls, whose code is that of the library; what decides how they are called, such as aliasing, sharding and
copies, are passes before that.
"""

EMITTERS = ("xla_cpu_use_fusion_emitters", (False, True))
"""Another such flag, which jaxlib 0.11 and later do not know: XLA ends the process for an unknown flag."""


class ArrayLike:
    """Becomes an array where JAX wants one."""

    def __init__(self, array: Any) -> None:
        """Keep the array."""
        self.array = array

    def __jax_array__(self) -> Any:
        """Return the array."""
        return self.array


class Jax(Caller):
    """Calls with jax.Array, eagerly or under an outer jit."""

    word = "jax.Array"
    writes = out = False
    unforkable = (
        "JAX has threads, which a fork leaves behind: it says itself that this leads to deadlocks"
    )
    modes = ("eager", "jit")
    leak_rate = 16  # JAX 0.7 has a cache that grows by up to 12 bytes with each call and shrinks after 10,000
    features = (
        "transformations",
        "shapes without arrays",
        "export with symbolic sizes",
        "scan",
        "sharding",
        "x64 mode",
    )
    script = Script(
        imports="import jax.numpy as jnp\nimport ml_dtypes\nimport numpy as np",
        array="jnp.asarray(np.ndarray(shape, dtype, memory, offset, strides))",
    )

    def prepare(self) -> str:
        """Import jax for the device and return its version; torch is kept out of its process."""
        if self.config["alone"]:
            sys.modules["torch"] = None  # pyright: ignore[reportArgumentType]
        kind = kind_of(self.config["device"])
        os.environ.setdefault("JAX_PLATFORMS", "cpu" if kind == "cpu" else f"{kind},cpu")
        os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # the device is shared
        self.usual = self.flags(kind)
        self.programs_of = ""
        self.programs: dict[str, Any] = {}
        self.jax: Any = importlib.import_module("jax")
        importlib.import_module("jax.export")  # older versions do not import it by themselves
        if self.config["profile"] != "bench":  # whose pool of threads would be for as many devices
            self.jax.config.update("jax_num_cpu_devices", 8)  # to spread arrays over
        # Filtering takes longer than the wrong call.
        self.jax.config.update("jax_traceback_filtering", "off")
        if kind != "cpu":
            self.leak_rate = 112  # JAX 0.11 keeps 96 bytes of every program that it runs on a GPU, even without an op of ours
        try:
            self.device = self.jax.devices(kind)[0]
        except RuntimeError as error:
            raise Unsupported(f"no {WORDS[kind]} device: {error}") from None
        self.kind = self.jax.Array
        return self.jax.__version__

    def flags(self, kind: str) -> Request:
        """Tell XLA how to compile, unless the user did; return the options that take this back for one program."""
        if "callables" in self.config or self.config["profile"] == "bench":  # all may be XLA's
            return {}
        if kind != "cpu":
            os.environ.setdefault("XLA_FLAGS", RECORDABLE)
            return {}
        known = [int(n) for n in version("jaxlib").split(".")[:2]] < [0, 11]
        flags = [*OPTIMISATIONS.items(), *([EMITTERS] if known else [])]
        text = " ".join(f"--{name}={quick}" for name, (quick, _) in flags)
        if os.environ.setdefault("XLA_FLAGS", text) != text:
            return {}
        return {name: usual for name, (_, usual) in flags}

    def compiled(self, function: Any) -> Any:
        """Return jax.jit of a function, compiled as XLA usually does."""
        return self.jax.jit(function, compiler_options=self.usual)

    def make(self, spec: Request, data: bytearray) -> Any:
        """Build an array with the elements in data."""
        if spec.get("readonly"):
            raise Unsupported("every jax.Array is read-only")
        if spec.get("device"):
            raise Unsupported("one device only")
        if not is_dense(spec) or spec["offset"]:
            raise Unsupported("jax.Array has no strides")
        array = self.jax.device_put(strided(spec, data), self.device)
        if array.dtype != numpy_dtype(spec["dtype"]):
            raise Unsupported(f"JAX has no {spec['dtype']} while x64 is off")
        return array

    def dtype(self, name: str) -> Any:
        """Return JAX's dtype."""
        return numpy_dtype(name)

    def read(self, array: Any) -> tuple[Request, bytes]:
        """Describe an array and return its elements; abstract values have none."""
        if isinstance(array, self.jax.ShapeDtypeStruct):
            described: Request = {"dtype": np.dtype(array.dtype).name, "shape": list(array.shape)}
            return {**described, "strides": [], "span": (0, 0), "device": "cpu", "data": False}, b""
        described, data = describe(np.asarray(array))
        gpu = kind_of(self.config["device"])
        places = {"cpu" if d.platform == "cpu" else f"{gpu}:{d.id}" for d in array.devices()}
        return {**described, "span": self.span(array), "device": ", ".join(sorted(places))}, data

    def contents(self, array: Any, data: bytearray) -> bytes:
        """Return the elements of an argument as they are now."""
        return np.asarray(array).tobytes() if data else b""

    def span(self, array: Any) -> tuple[int, int]:
        """Return the addresses of an array."""
        if len(array.devices()) > 1:
            return 0, 0  # in parts
        low = array.unsafe_buffer_pointer() if array.size else 0
        return low, low + array.nbytes

    def wait(self, result: Any) -> None:
        """Wait for a program to end."""
        self.jax.block_until_ready(result)

    def owned(self, array: Any) -> Any:
        """Return a copy."""
        return self.jax.numpy.array(array, copy=True)

    def prepared(self, function: Callable[..., Any], settings: Request) -> Callable[..., Any]:
        """Return the function under jit."""
        return self.jax.jit(partial(function, **settings))

    def invoke(self, call: Bound, mode: str) -> Any:
        """Call eagerly or under an outer jit, and wait."""
        return self.jax.block_until_ready(self.jitted(call) if mode == "jit" else call())

    def receive(self, array: Any) -> Any:
        """Import an array of another framework."""
        return self.jax.numpy.from_dlpack(array)

    def jitted(self, call: Bound) -> Any:
        """Call under a jit that traces the arrays and holds the rest: one for all calls that differ in arrays only."""
        traced = {i: a for i, a in enumerate(call.args) if isinstance(a, self.kind)}
        rest = [None if i in traced else a for i, a in enumerate(call.args)]
        held = replace(call, args=rest)

        def outer(values: dict[int, Any]) -> Any:
            return replace(held, args=[values.get(i, a) for i, a in enumerate(rest)])()

        # In text, 0.0 and -0.0 differ, and so do 1 and 1.0.
        key = repr((call.op, [*traced], rest, call.kwargs))
        if self.programs_of != call.op:
            self.programs_of, self.programs = call.op, {}  # those of the op before have served
        if key not in self.programs:
            self.programs[key] = self.compiled(outer)
        return self.programs[key](traced)

    def probe_eval_shape(self, call: Bound) -> Any:
        """Ask for shapes and dtypes only."""

        def outer(*values: Any) -> Any:
            rest = iter(values)
            return call.map(lambda _: next(rest))()

        return self.jax.eval_shape(outer, *call.arrays())

    def probe_abstract(self, call: Bound) -> Any:
        """Pass ShapeDtypeStructs in the place of arrays."""
        return call.map(lambda x: self.jax.ShapeDtypeStruct(x.shape, x.dtype))()

    def probe_masked_one(self, call: Bound) -> Any:
        """Pass masked elements in one array after the other: JAX itself would use them as if they were there."""
        masked = np.ma.array
        return refused_singly(call, lambda x: masked(np.asarray(x), mask=True), "got MaskedArray")

    def probe_number_one(self, call: Bound) -> Any:
        """Pass a number in the place of one array of rank 0 after the other: it has no dtype, unless the op gives it one."""
        inputs = self.info(call.op).inputs if self.backend else ()
        taken = {id(x) for x, a in zip(call.args, inputs) if a.number}

        def number(x: Any) -> Any:
            return None if x.ndim or id(x) in taken else x.item()

        return refused_singly(call, number, "got float", "got int", "got bool", "got complex")

    def probe_array_like(self, call: Bound) -> Any:
        """Pass, in the place of all arrays, objects that become some, such as parameters of Flax."""
        return self.jax.block_until_ready(call.map(ArrayLike)())

    def probe_numpy(self, call: Bound) -> Any:
        """Pass NumPy arrays, which JAX's own functions accept."""
        return self.jax.block_until_ready(call.map(np.asarray)())


def is_dense(spec: Request) -> bool:
    """Whether strides are row-major; those of dimensions of size 1 have no meaning."""
    step = 1
    for size, stride in zip(reversed(spec["shape"]), reversed(spec["strides"])):
        if size > 1 and stride != step:
            return 0 in spec["shape"]
        step *= size
    return True


create = Jax
