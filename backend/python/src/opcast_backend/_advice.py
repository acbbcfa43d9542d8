"""What to do about an attribute that came as an array.

The number in an array is not taken out of it silently: that waits for the device, and where a framework traces there is no
number yet.
"""

from __future__ import annotations

from typing import Any


def kind(value: Any) -> str:
    """Return the type of a value that is no attribute, and what to pass in its place if there is a number in it."""
    name = type(value).__name__
    if isinstance(value, (int, float)):
        return name
    # torch.compile, which traces this, knows hasattr, but in PyTorch 2.10 no methods of the name of a class.
    if hasattr(value, "aval") and name.endswith("Tracer"):
        wanted = "a Python value (jax.jit: static_argnames)"
        return f"{name}: attributes are fixed before JAX traces, so pass {wanted}"
    if not is_array(value):
        return name
    return f"{name}: pass what its {'tolist' if value.shape else 'item'}() returns"


def kind_in(sequence: Any, item: Any) -> str:
    """Return the same of an item of a sequence, which is at fault itself if it is an array of arrays."""
    return kind(sequence if is_array(sequence) and is_array(item) else item)


def is_array(value: Any) -> bool:
    """Whether value is an array of some framework; the scalars of NumPy are numbers."""
    return all(hasattr(value, name) for name in ("__dlpack__", "shape", "tolist"))
