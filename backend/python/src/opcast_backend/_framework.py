"""What the rules on a call ask of a framework: the facts about its arrays from which every rule decides."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol


class Memory(NamedTuple):
    """Where the elements of an array lie; strides are in bytes.

    An array whose address is None lies apart from all others.
    """

    address: int | None
    itemsize: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


class Framework(Protocol):
    """What the rules need to know about the arrays of a framework."""

    array: str
    """Name of the array type in messages, such as ``torch.Tensor``."""

    def is_array(self, value: Any) -> bool:
        """Whether value is an array of the framework."""
        ...

    def shape(self, value: Any) -> tuple[int, ...]:
        """Shape of an array."""
        ...

    def dtype(self, value: Any) -> str:
        """Long dtype name of an array."""
        ...

    def device(self, value: Any) -> str:
        """Device of an array, such as ``cpu`` or ``cuda:0``."""
        ...

    def dtype_name(self, value: Any) -> str | None:
        """Long name of a dtype given as the framework's object; None for anything else."""
        ...

    def check_out(self, op: str, name: str, value: Any) -> None:
        """Refuse an array that cannot be written as an output."""
        ...

    def check_mutated(self, op: str, name: str, value: Any, stride: str) -> None:
        """Refuse an array that cannot be overwritten where it lies."""
        ...

    def memory(self, value: Any) -> Memory | None:
        """Where the elements of an array lie; None where nobody can say or need know."""
        ...
