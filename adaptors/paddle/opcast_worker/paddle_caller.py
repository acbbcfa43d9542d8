"""Calls the PaddlePaddle adaptor."""

from __future__ import annotations

import ctypes
import importlib
import sys
import warnings
from typing import Any

import numpy as np
from opcast_worker.abilities import Script
from opcast_worker.bound import Bound, Memory, Request, Unsupported, exhausting, refusal
from opcast_worker.caller import Caller
from opcast_worker.gpu_memory import WORDS, kind_of, vendor

BARE = ("uint16", "uint32", "uint64")
"""Dtypes that PaddlePaddle can name, but has no functions for."""

LACKS = "PaddlePaddle has no tensors of dtype "


class Numbered:
    """Exports a tensor with the number of its device."""

    def __init__(self, array: Any) -> None:
        """Keep the tensor."""
        self.array = array

    def __dlpack__(self, **options: Any) -> Any:
        """Export the tensor."""
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        """Return DLPack's device type and id."""
        kind, index = self.array.__dlpack_device__()
        return kind, index or 0


class Paddle(Caller):
    """Calls with paddle.Tensor, eagerly."""

    word = "paddle.Tensor"
    features = ("transformations", "errors quoted by backward passes")
    script = Script(
        imports="import numpy as np\nimport paddle",
        array="paddle.from_dlpack(np.frombuffer(memory, np.uint8)).view(dtype).as_strided(\n"
        "        shape, [s // paddle.empty([], dtype=dtype).element_size() for s in strides], offset\n    )",
        dtype="paddle.%s",
    )

    def prepare(self) -> str:
        """Import paddle and return its version; torch is kept out of its process."""
        if self.config["alone"]:
            sys.modules["torch"] = None  # pyright: ignore[reportArgumentType]
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "No ccache found")  # for extensions of PaddlePaddle
            self.paddle: Any = importlib.import_module("paddle")
        self.kind = self.paddle.Tensor
        self.gpu = kind_of(self.config["device"])
        if self.config["device"] != "cpu":
            self.elsewhere = "cpu"
            is_rocm: bool = self.paddle.is_compiled_with_rocm()
            vendor(self.config["device"], "PaddlePaddle", is_rocm=is_rocm)
            compiled = is_rocm or self.paddle.is_compiled_with_cuda()
            if not compiled or not self.paddle.device.cuda.device_count():
                raise Unsupported(f"no {WORDS[self.gpu]} device: PaddlePaddle sees none")
        self.place = "cpu" if self.config["device"] == "cpu" else "gpu:0"
        self.paddle.set_device(self.place)
        return self.paddle.__version__

    def make(self, spec: Request, data: Memory) -> Any:
        """Build a tensor over data."""
        if spec.get("readonly"):
            raise Unsupported("PaddlePaddle has no read-only tensors")
        dtype = self.dtype(spec["dtype"])
        if not data:
            return self.paddle.empty(spec["shape"], dtype=dtype)
        flat = self.buffer(data, spec.get("device") or self.place).view(dtype)
        start = spec["offset"] * flat.element_size()
        return flat.as_strided(spec["shape"], spec["strides"], start)

    def buffer(self, data: Memory, place: str) -> Any:
        """Return a buffer as bytes on a device; tensors over one buffer share its copy there, too."""
        host = self.paddle.from_dlpack(np.frombuffer(data, np.uint8))
        if place == "cpu":
            return host
        return data.copied(lambda: host.to(place))

    def contents(self, array: Any, data: Memory) -> bytes:
        """Return the present bytes of the buffer behind a tensor."""
        copy = data.on_device
        return bytes(data) if copy is None else copy.numpy().tobytes()

    def dtype(self, name: str) -> Any:
        """Return PaddlePaddle's dtype."""
        found = getattr(self.paddle, name, None)
        if name in BARE or not isinstance(found, self.paddle.dtype):
            raise Unsupported(f"PaddlePaddle has no functions for {name}")
        return found

    def invoke(self, call: Bound, mode: str) -> Any:
        """Call an op. One whose results have a dtype that PaddlePaddle lacks cannot be called."""
        try:
            return super().invoke(call, mode)
        except NotImplementedError as error:
            _, lacks, dtype = str(error).partition(LACKS)
            if lacks:
                raise Unsupported(lacks + dtype) from error
            raise

    def read(self, array: Any) -> tuple[Request, bytes]:
        """Describe a tensor and return its elements."""
        array = array.detach()
        place = array.place
        described: Request = {
            "dtype": str(array.dtype).rpartition(".")[2],
            "shape": list(array.shape),
            "strides": list(array.strides),
            "span": self.span(array),
            "device": "cpu" if place.is_cpu_place() else f"{self.gpu}:{place.gpu_device_id()}",
            "data": True,
        }
        return described, elements(array)

    def span(self, array: Any) -> tuple[int, int]:
        """Return the addresses of a tensor."""
        low = high = array.data_ptr()
        size = array.element_size()
        if 0 in array.shape:
            return low, low
        for n, step in zip(array.shape, array.strides):
            low += min(step * (n - 1), 0) * size
            high += max(step * (n - 1), 0) * size
        return low, high + size

    def wait(self, result: Any) -> None:
        """Wait for the device."""
        del result
        if self.place != "cpu":
            self.paddle.device.synchronize()

    def owned(self, array: Any) -> Any:
        """Return a copy."""
        return array.clone()

    def offer(self, array: Any) -> Any:
        """Give the host the number 0: PaddlePaddle says None, which JAX refuses."""
        return Numbered(array)

    def probe_parameter(self, call: Bound) -> Any:
        """Pass parameters, with gradients off."""

        def wrap(x: Any) -> Any:
            made = self.paddle.base.framework.EagerParamBase.from_tensor(x)
            made.stop_gradient = not x.is_floating_point()
            return made

        with self.paddle.no_grad():
            return call.map(wrap)()

    def probe_negative_strides(self, call: Bound) -> Any:
        """Pass tensors whose elements lie in the other order, as NumPy can hand them over."""

        def turned(x: Any) -> Any:
            if not x.size:
                return x
            size, dense = x.element_size(), x.clone()
            data = np.frombuffer(elements(dense), f"V{size}")[::-1].copy()
            flat = self.paddle.from_dlpack(data.view(np.uint8)).view(x.dtype)
            strides = [-s for s in dense.strides]
            return flat.as_strided(x.shape, strides, (x.size - 1) * size).to(x.place)

        return call.map(turned)()

    def probe_views_stay(self, call: Bound) -> Any:
        """Pass views that may have to be copied: they stay where they are."""

        def view(x: Any) -> Any:
            wide = self.paddle.empty([*x.shape, 2], dtype=x.dtype)
            strides = [2 * s for s in x.clone().strides]
            made = wide.as_strided(x.shape, strides, x.element_size())
            return self.paddle.assign(x, made) if x.size else x

        changed = call.map(lambda x: x)
        for i, x in enumerate(call.args):
            if isinstance(x, self.kind) and i not in call.mutated:
                changed.args[i] = view(x)
        before = [(self.span(x), list(x.strides)) for x in changed.arrays()]
        result = changed()
        if before != [(self.span(x), list(x.strides)) for x in changed.arrays()]:
            raise AssertionError("moved an argument")
        return result

    def probe_no_memory(self, call: Bound) -> Any:
        """Pass a row so often that no machine holds the results: the rows themselves take no memory."""

        def repeat(args: list[Any], many: list[bool]) -> tuple[int, list[Any]]:
            rows = 1 << 46
            return rows, [
                x.as_strided([rows, *x.shape], [0, *x.strides]) if is_many and x.size else x
                for x, is_many in zip(args, many)
            ]

        return exhausting(self, call, repeat)

    def probe_sparse(self, call: Bound) -> Any:
        """Pass sparse tensors."""
        if not any(x.ndim and x.is_floating_point() for x in call.arrays()):
            raise Unsupported("no tensor that could be sparse")

        def sparse(x: Any) -> Any:
            wide = x.ndim and x.is_floating_point()
            return x.astype("float32").to_sparse_coo(x.ndim) if wide else x

        return refusal(call.map(sparse), "expected a dense tensor, got layout sparse_coo")


def elements(array: Any) -> bytes:
    """Return the elements of a tensor in row-major order.

    A view as bytes would lose the tensor's offset, and ``contiguous`` would move the tensor.
    """
    dense = array.cpu() if array.is_contiguous() else array.cpu().clone()
    return ctypes.string_at(dense.data_ptr(), dense.size * dense.element_size())


create = Paddle
