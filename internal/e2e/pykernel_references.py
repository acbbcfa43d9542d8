"""Call a collection whose only kernels for the CPU are its references."""

from functools import partial
from importlib import import_module
from typing import Any

import ml_dtypes
import numpy as np

# Partly untyped, and made by the test.
jax: Any = import_module("jax")
jnp: Any = import_module("jax.numpy")
torch: Any = import_module("torch")
backend: Any = import_module("gamma_backend")
gamma_numpy: Any = import_module("gamma_numpy")
gamma_torch: Any = import_module("gamma_torch")
gamma_jax: Any = import_module("gamma_jax")

X = np.arange(8, dtype=np.float32).reshape(2, 4)
BIAS = np.array(3, np.float32)
PAIRS = np.array([[1, 5], [9, 13]], np.float32)
half: Any = np.float32(2**-0.5)

assert backend.kernels("pool")[0] == "reference", backend.kernels("pool")
assert "cpu" in backend.devices("pool") and backend.ops()["pool"].devices == ("cuda",)

for bias in (None, BIAS):
    wanted = PAIRS * half if bias is None else PAIRS * half + bias
    jitted = jax.jit(partial(gamma_jax.pool, step=(2, 1)))
    tensor = None if bias is None else torch.from_numpy(bias)
    for got in (
        gamma_numpy.pool(X, bias, step=(2, 1)),
        gamma_torch.pool(torch.from_numpy(X), tensor, step=[2, 1]).numpy(),
        np.asarray(jitted(jnp.asarray(X), None if bias is None else jnp.asarray(bias))),
    ):
        assert np.allclose(got, wanted, rtol=1e-6), (got, wanted)

small = X.astype(ml_dtypes.bfloat16)
got = gamma_numpy.pool(small, scale=1)
assert got.dtype == small.dtype and got.tolist() == [[1, 3, 5], [9, 11, 13]], got

x = np.ones(3, np.float32)
n, same = gamma_numpy.bump(x, np.full(3, 4, np.float32))
assert same is x and n == 3 and (x == 5).all(), (n, x)
n, after = gamma_jax.bump(jnp.ones(3), jnp.ones(3))
assert n == 3 and (after == 2).all()

try:
    gamma_numpy.pool(np.ones((2, 3), np.float32))
except ValueError as error:
    assert "to be of the form 2*N" in str(error), error


def kernel(y: Any, x: Any, bias: Any, **_: Any) -> None:
    """Come before the reference, which is slow."""
    assert bias is None
    y[...] = 7


with backend.register_kernel("pool", kernel, name="quick"):
    assert backend.kernels("pool")[:2] == ("quick", "reference")
    assert (gamma_numpy.pool(X) == 7).all()
    text = backend.explain("pool", X)
    assert "quick on cpu: yes" in text and "reference on cpu: yes" in text, text
    assert "pool on cuda: is for cuda" in text, text
print("ok")
