"""Calls the PyTorch adaptor."""

from __future__ import annotations

import importlib
import os
from typing import Any

from opcast_worker import torch_rank, torch_transform
from opcast_worker.abilities import Script
from opcast_worker.bound import Memory, Request, Unsupported
from opcast_worker.gpu_memory import WORDS, kind_of, vendor
from opcast_worker.torch_probes import TorchProbes


class Torch(TorchProbes):
    """Calls with torch.Tensor."""

    word = "torch.Tensor"
    features = (
        "transformations",
        "errors wrapped by transformations",
        "DTensor",
        "Inductor",
        "autocast",
        "dispatch modes",
        "flop counter",
        "opcheck",
        "profiler of this kind",
        "torch.func",
    )
    script = Script(
        imports="import torch",
        array="torch.frombuffer(memory, dtype=dtype).as_strided(\n"
        "        shape, [s // dtype.itemsize for s in strides], offset // dtype.itemsize\n    )",
        dtype="torch.%s",
    )

    def prepare(self) -> str:
        """Import torch and return its version."""
        # Inductor compiles here, and not in processes that import torch again.
        os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")
        self.torch: Any = importlib.import_module("torch")
        self.kind = self.torch.Tensor
        self.torch.set_num_threads(1)
        self.elsewhere = "meta" if self.config["device"] == "cpu" else "cpu"
        vendor(self.config["device"], "torch", is_rocm=bool(self.torch.version.hip))
        if self.config["device"] != "cpu" and not self.torch.cuda.is_available():
            raise Unsupported(f"no {WORDS[kind_of(self.config['device'])]} device: torch sees none")
        return self.torch.__version__

    def ready(self) -> None:
        """Fork the second rank of DTensor, and import what it needs before: its process would import the same again."""
        if self.config["device"] == "cpu" and self.config["profile"] not in {
            "fast",
            "bench",
            "rehearsal",
        }:
            importlib.import_module("torch._dynamo")
            importlib.import_module("torch.distributed.tensor")
            self.ranks = torch_rank.Ranks(self, torch_transform.answer)

    def make(self, spec: Request, data: Memory) -> Any:
        """Build a tensor over data."""
        if min(spec["strides"], default=0) < 0:
            raise Unsupported("torch has no negative strides")
        if spec.get("readonly"):
            raise Unsupported("torch has no read-only tensors")
        dtype, shape = self.dtype(spec["dtype"]), spec["shape"]
        place = (spec.get("device") or self.config["device"]).replace("rocm", "cuda")
        if place == "meta" or not data:
            return self.torch.empty(shape, dtype=dtype, device=place)
        flat = self.buffer(data, place).view(dtype)
        return flat.as_strided(shape, spec["strides"], spec["offset"])

    def buffer(self, data: Memory, place: str) -> Any:
        """Return a buffer as bytes on a device; arrays over one buffer share its copy there, too."""
        host = self.torch.frombuffer(data, dtype=self.torch.uint8)
        if place == "cpu":
            return host
        return data.copied(lambda: host.to(place))

    def contents(self, array: Any, data: Memory) -> bytes:
        """Return the present bytes of the buffer behind a tensor."""
        copy = data.on_device
        return bytes(data) if copy is None else copy.cpu().numpy().tobytes()

    def dtype(self, name: str) -> Any:
        """Return torch's dtype."""
        found = getattr(self.torch, name, None)
        if not isinstance(found, self.torch.dtype):
            raise Unsupported(f"torch has no {name}")
        return found

    def read(self, array: Any) -> tuple[Request, bytes]:
        """Describe a tensor and return its elements; fake and meta tensors have none."""
        array = array.detach()
        real = type(array).__name__ != "FakeTensor" and array.device.type != "meta"
        described: Request = {
            "dtype": str(array.dtype).split(".")[1],
            "shape": list(array.shape),
            "strides": list(array.stride()),
            "span": self.span(array) if real else (0, 0),
            "device": self.place(array.device),
            "data": real,
        }
        if not real or not array.numel():
            return described, b""
        dense = array.resolve_conj().resolve_neg().contiguous().reshape(-1)
        return described, dense.view(self.torch.uint8).cpu().numpy().tobytes()

    def place(self, device: Any) -> str:
        """Return the name of a device: AMD's GPUs are called cuda by PyTorch, too."""
        kind = kind_of(self.config["device"])
        return str(device) if kind == "cpu" else str(device).replace("cuda", kind)

    def span(self, array: Any) -> tuple[int, int]:
        """Return the addresses of a tensor."""
        low = array.data_ptr()
        if not array.numel():
            return low, low
        last = sum((n - 1) * s for n, s in zip(array.shape, array.stride()))
        return low, low + (last + 1) * array.element_size()

    def wait(self, result: Any) -> None:
        """Wait for the device."""
        del result
        if self.config["device"] != "cpu":
            self.torch.cuda.synchronize()

    def use_threads(self, number: int) -> None:
        """Compute with so many threads."""
        self.torch.set_num_threads(number)

    def owned(self, array: Any) -> Any:
        """Return a copy."""
        return array.clone()

    def compiled_peers(self, peers: dict[str, Any]) -> dict[str, Any]:
        """Return the peer of eager calls once more, compiled; in a rehearsal only traced, as for the compiler."""
        if (eager := peers.get("torch")) is None:
            return {}
        backend = "eager" if self.config["profile"] == "rehearsal" else "inductor"
        return {"torch.compile": self.torch.compile(eager, dynamic=False, backend=backend)}


create = Torch
