"""PyTorch's number of threads, which kernels keep to."""

from __future__ import annotations

import ctypes

from ._collection import backend
from ._state import native


def follow() -> None:
    """Have the library ask PyTorch how many threads a call may use.

    ``torch.set_num_threads`` then counts for the kernels, too, as in the workers of a DataLoader,
    which each get one thread. The library calls the function itself, of PyTorch's stable ABI, and
    only for work that is large enough for several threads: small calls pay nothing.

    """
    limit = ctypes.CDLL(native.__file__).torch_get_num_threads
    backend.limit_threads(ctypes.cast(limit, ctypes.c_void_p).value or 0)
