"""The lines of the overhead table: by us and by others, on arrays so small that only overhead counts."""

from __future__ import annotations

import jax_rows
import numpy as np
import numpy_rows
import torch_rows
from row import SHAPE, Row


def rows() -> list[Row]:
    """Return all lines; compiles the peers if they are not."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal(SHAPE, np.float32)
    weight = rng.standard_normal(SHAPE[1:], np.float32)
    groups = (torch_rows.rows, jax_rows.rows, numpy_rows.rows)
    return [row for group in groups for row in group(x, weight)]
