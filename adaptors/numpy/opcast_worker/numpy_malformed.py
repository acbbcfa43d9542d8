"""Arrays that no one should pass."""

from __future__ import annotations

from typing import Any

import numpy as np
from opcast_worker.bound import Bound
from opcast_worker.malformed import Malformed, each


class NumpyMalformed(Malformed):
    """Probes of what only NumPy has; any of them may raise anything."""

    def probe_dtypes(self, call: Bound) -> Any:
        """Pass arrays of Python objects, texts, dates, records and extended precision."""
        for dtype in (
            object,
            "U4",
            "S3",
            "M8[s]",
            "m8[s]",
            [("a", "f4"), ("b", "i2")],
            np.longdouble,
            complex,
        ):
            each(call, lambda x, d=dtype: np.zeros(x.shape, np.dtype(d)))

    def probe_interfaces(self, call: Bound) -> Any:
        """Pass objects that only pretend to be arrays."""

        class Pretender:
            def __array__(self, *_: Any, **__: Any) -> Any:
                raise RuntimeError("no")

            def __dlpack__(self, **_: Any) -> Any:
                return 1

            def __dlpack_device__(self) -> Any:
                return "cpu"

        each(call, lambda _: Pretender())


create = NumpyMalformed
