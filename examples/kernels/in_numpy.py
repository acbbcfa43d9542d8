"""A kernel in NumPy for an op of the collection: how PyTorch, JAX and NumPy get to run it."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import opcast_backend
import opcast_jax
import opcast_numpy
import opcast_torch
import torch

_jax: Any = jax  # partly untyped
_torch: Any = torch


def rms_norm(y: Any, x: Any, weight: Any, *, eps: float) -> None:
    """Write the normalised rows of x to y."""
    wide = x.astype(np.float32)
    y[...] = wide / np.sqrt(np.mean(wide * wide, axis=-1, keepdims=True) + eps) * weight


def calls(x: Any, weight: Any) -> dict[str, Any]:
    """Call the op in three frameworks."""
    tensors = _torch.from_numpy(x), _torch.from_numpy(weight)
    return {
        "numpy": opcast_numpy.rms_norm(x, weight),
        "torch": opcast_torch.rms_norm(*tensors).numpy(),
        "jax.jit": np.asarray(_jax.jit(opcast_jax.rms_norm)(x, weight)),
    }


def main() -> None:
    """Compare the kernel with the one in the library."""
    rng = np.random.default_rng(0)
    x, weight = rng.standard_normal((4, 256), "f4"), rng.standard_normal(256, "f4")
    built_in = calls(x, weight)
    with opcast_backend.register_kernel("rms_norm", rms_norm, name="in_numpy"):
        print("kernels:", ", ".join(opcast_backend.kernels("rms_norm")))
        for framework, found in calls(x, weight).items():
            error = float(np.max(np.abs(found - built_in[framework])))
            assert 0 < error < 1e-5, error  # another kernel, the same op
            print(f"{framework}: at most {error:.0e} from the built-in kernel")
    print("kernels:", ", ".join(opcast_backend.kernels("rms_norm")))


if __name__ == "__main__":
    main()
