"""What a framework can do, as its worker says: the suite asks for this and for no framework by name."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from opcast_worker.bound import Request


@dataclass(frozen=True)
class Script:
    """How a script makes an array of a framework."""

    imports: str = "import ml_dtypes\nimport numpy as np"
    """The lines that import what the other two name."""
    array: str = "np.ndarray(shape, dtype, memory, offset, strides)"
    """The expression for an array, over names ``memory``, ``dtype``, ``shape``, ``strides`` and ``offset``, the
    last two in bytes."""
    dtype: str = "np.dtype(%s)"
    """The expression for a dtype, with ``%s`` for its name, which after ``np.`` is a string, or of
    ``ml_dtypes``."""


class Abilities:
    """The abilities of a plain framework; others override what differs."""

    writes = True
    """Whether arrays can be written: whether an overwritten input changes in place."""

    out = True
    """Whether the public functions have ``out=``."""

    modes: tuple[str, ...] = ("eager",)
    """The ways to call: ``jit`` where a call can be compiled."""

    elsewhere = ""
    """A device on which arrays can be made beside the one under test; empty if there is none."""

    features: tuple[str, ...] = ()
    """What only some frameworks have; ``transformations`` needs a module ``<framework>_transform``."""

    unforkable = ""
    """Why a process that has imported the framework must not be forked; empty if it may."""

    leak_rate = 2
    """How many bytes of malloc a call may leave in caches of the framework before that is a leak."""

    script: Script | None = None
    """How the script that repeats a call makes an array; without one the script makes the worker's own request again."""

    def abilities(self) -> Request:
        """Say what the framework can do; checks ask for nothing else."""
        return {
            "writes": self.writes,
            "out": self.out,
            "modes": self.modes,
            "elsewhere": self.elsewhere,
            "features": self.features,
            "leak_rate": self.leak_rate,
            "script": None if self.script is None else asdict(self.script),
        }


def probes(holder: Any) -> list[Request]:
    """Describe the probes of an object: their names, and what they are marked with."""
    names = [n for n in dir(holder) if n.startswith("probe_")]
    return [
        {"name": n[len("probe_") :], **getattr(getattr(holder, n), "traits", {})} for n in names
    ]
