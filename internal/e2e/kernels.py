"""Call gradient kernels on inputs of several MiB, where they work in parts, and print a digest of the results."""

import hashlib
from typing import Any

import numpy as np
import opcast_numpy as ops

rng = np.random.default_rng(0)
digest = hashlib.sha256()


def normal(*shape: int) -> Any:
    """Return random numbers."""
    return rng.standard_normal(shape).astype(np.float32)


def close(got: Any, want: Any, scale: float = 1.0) -> None:
    """Compare with a float64 result and add the bits to the digest."""
    assert got.shape == want.shape, (got.shape, want.shape)
    worst = float(np.max(np.abs(got - want)))
    assert worst <= 1e-5 * scale, worst
    digest.update(got.tobytes())


def expected(grad_c: Any, a: Any, b: Any, bias: Any, activation: str) -> tuple[Any, Any, Any]:
    """Return the gradients of gemm in float64."""
    grad, a, b = (x.astype(np.float64) for x in (grad_c, a, b))
    c = a @ b.T + bias
    sigmoid = 1 / (1 + np.exp(-c))
    slope = {"none": 1.0, "relu": c > 0, "silu": sigmoid * (1 + c * (1 - sigmoid))}[activation]
    grad = (grad * slope).reshape(-1, grad.shape[-1])
    return (grad @ b).reshape(a.shape), grad.T @ a.reshape(-1, a.shape[-1]), grad.sum(axis=0)


def halves(whole: Any, parts: list[Any]) -> None:
    """Expect a result over all columns to have the bits of those over halves of them."""
    assert whole.tobytes() == np.concatenate(parts).tobytes()


# The product is computed again for some of the 1400 rows at a time, for more of them if they are shorter.
grad_c, a, b, bias = normal(2, 700, 1100), normal(2, 700, 40), normal(1100, 40), normal(1100)
for activation in ("none", "relu", "silu"):
    found = ops.gemm_backward(grad_c, a, b, bias, activation=activation)
    for got, want in zip(found, expected(grad_c, a, b, bias, activation)):
        close(got, want, 40)
    parts = [
        ops.gemm_backward(
            np.ascontiguousarray(grad_c[..., half]), a, b[half], bias[half], activation=activation
        )
        for half in (slice(None, 550), slice(550, None))
    ]
    for i in (1, 2):
        halves(found[i], [part[i] for part in parts])

# Each group of rows has sums of its own.
grad_y, x, weight = normal(3000, 700), normal(3000, 700), normal(700)
wide = [v.astype(np.float64) for v in (grad_y, x)]
scale = 1 / np.sqrt(np.mean(wide[1] ** 2, axis=-1, keepdims=True) + 1e-6)
grad_x, grad_weight = ops.rms_norm_backward(grad_y, x, weight)
close(grad_weight, np.sum(wide[0] * wide[1] * scale, axis=0), 55)
digest.update(grad_x.tobytes())

mean, rstd = normal(3000), normal(3000)
grads = ops.layernorm2d_backward(grad_y, x, weight, mean, rstd)
z = (wide[1] - mean[:, None]) * rstd[:, None]
close(grads[1], np.sum(wide[0] * z, axis=0), 55)
close(grads[2], np.sum(wide[0], axis=0), 55)
digest.update(grads[0].tobytes())

print(digest.hexdigest())
