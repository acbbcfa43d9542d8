"""The rules on memory that a call writes: outputs that were given, and inputs that are overwritten.

Where elements lie is plain arithmetic on addresses and strides, the same as in the backend, so that
every framework refuses the same calls.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional

from ._framework import Memory
from ._rules import expected, same_device, shape_text

if TYPE_CHECKING:
    from ._framework import Framework

Specs = tuple[Optional[tuple[tuple[int, ...], str]], ...]
"""Shape and dtype of every output, saved ones too, then of all scratch; None for an absent output."""

# Dims up to which the search for common elements, whose time doubles with each, is worth it.
_SEARCH = 8


def _steps(memory: Memory) -> list[tuple[int, int]]:
    """Return stride and size of the dims of more than one element."""
    return [(s, n) for s, n in zip(memory.strides, memory.shape) if n != 1]


def _ascending(steps: list[tuple[int, int]]) -> list[tuple[int, int]]:
    return sorted((abs(s), n) for s, n in steps)


def _distinct(memory: Memory) -> bool:
    """Whether each stride leaves behind all that the smaller ones reach, so no elements meet."""
    reach = 0
    for stride, n in _ascending(_steps(memory)):
        if stride % memory.itemsize or stride < reach + memory.itemsize:
            return False
        reach += stride * (n - 1)
    return True


def _span(address: int, memory: Memory) -> tuple[int, int]:
    """Return the range of the bytes that the elements lie in."""
    begin, end = address, address + memory.itemsize
    for stride, n in zip(memory.strides, memory.shape):
        reach = stride * (n - 1)
        if reach > 0:
            end += reach
        else:
            begin += reach
    return begin, end


def _meet(steps: list[tuple[int, int]], distance: int) -> bool:
    """Whether the distance is a sum of multiples of the strides, each smaller than its size."""
    if not steps:
        return distance == 0
    stride, n = steps[-1]
    times = distance // stride
    return any(abs(k) < n and _meet(steps[:-1], distance - k * stride) for k in (times, times + 1))


def overlap(a: Memory, b: Memory) -> bool:
    """Whether two arrays have memory in common.

    Exact for arrays of equal shape and strides, such as two column blocks of one buffer; for others
    the ranges of their bytes are compared.
    """
    if a.address is None or b.address is None or 0 in a.shape or 0 in b.shape:
        return False
    (a_begin, a_end), (b_begin, b_end) = _span(a.address, a), _span(b.address, b)
    if a_begin >= b_end or b_begin >= a_end:
        return False
    steps, distance = _steps(a), abs(a_begin - b_begin)
    if a.itemsize != b.itemsize or steps != _steps(b) or len(steps) > _SEARCH:
        return True
    if not _distinct(a) or distance % a.itemsize:
        return True
    return _meet(_ascending(steps), distance)


def fits(memory: Memory, stride: str) -> bool:
    """Whether kernels take the strides: they need ``last``, ``any`` or dense memory (empty)."""
    if 0 in memory.shape or stride == "any":
        return True
    step = memory.itemsize
    for n, s in reversed(tuple(zip(memory.shape, memory.strides))):
        if n != 1 and s != step:
            return False
        if stride:
            return True
        step *= n
    return True


def check_layout(op: str, name: str, memory: Memory, stride: str, *, signed: bool = True) -> None:
    """Refuse strides that the kernels do not take, and negative ones if the framework cannot hand them on."""
    if not fits(memory, stride):
        what = "a contiguous last dimension" if stride else "contiguous memory"
        raise expected(ValueError, op, name, what, _strides(memory))
    if not signed and any(s < 0 for s in memory.strides):
        raise expected(ValueError, op, name, "strides of at least 0", _strides(memory))


def _strides(memory: Memory) -> str:
    return "strides " + shape_text([s // memory.itemsize for s in memory.strides])


def distinct(fw: Framework, op: str, name: str, value: Any) -> None:
    """Refuse an array that overlaps itself."""
    memory = fw.memory(value)
    if memory and 0 not in memory.shape and not _distinct(memory):
        raise expected(ValueError, op, name, "memory without overlap", _strides(memory))


def may_meet(fw: Framework, named: tuple[tuple[str, Any], ...]) -> bool:
    """Whether the ranges of bytes of any two arrays meet; if not, all arrays are apart."""
    spans: list[tuple[int, int]] = []
    for _, array in named:
        memory = None if array is None else fw.memory(array)
        if memory and memory.address is not None and 0 not in memory.shape:
            spans.append(_span(memory.address, memory))
    spans.sort()
    return any(a[1] > b[0] for a, b in zip(spans, spans[1:]))


def apart(
    fw: Framework, op: str, name: str, value: Any, others: tuple[tuple[str, Any], ...]
) -> None:
    """Refuse an array that shares memory with one of the others; absent ones do not count."""
    memory = fw.memory(value)
    for other, array in others:
        against = None if memory is None or array is None else fw.memory(array)
        if memory and against and overlap(memory, against):
            raise expected(ValueError, op, name, f"memory apart from {other}", "overlapping memory")


def outputs(
    fw: Framework,
    op: str,
    names: tuple[str, ...],
    specs: Specs,
    out: tuple[Any, ...],
    inputs: tuple[tuple[str, Any], ...],
    partners: tuple[str, ...],
    conditions: tuple[str, ...] = (),
) -> None:
    """Check arrays that the caller gave for the results.

    Each has a name, an inferred spec and a partner: the input from which it has its dtype, or "".
    Conditions say what the existence of outputs depends on, in the words of errors.
    """
    if len(out) != len(names):
        arrays_text = "1 array" if len(names) == 1 else f"{len(names)} arrays"
        raise expected(ValueError, op, "out", arrays_text, str(len(out)))
    for name, value, spec, condition in zip(names, out, specs, conditions):
        if condition and (value is None) != (spec is None):
            kinds = ("None", "an array") if spec is None else ("an array", "None")
            raise expected(ValueError, op, name, f"{kinds[0]} (as {condition})", kinds[1])
    wanted = [(n, v, s, p) for n, v, s, p in zip(names, out, specs, partners) if s is not None]
    for name, value, _, _ in wanted:
        if not fw.is_array(value):
            raise expected(TypeError, op, name, fw.array, type(value).__name__)
    given = tuple((n, a) for n, a in inputs if a is not None)
    for name, value, (shape, dtype), partner in wanted:
        if fw.dtype(value) != dtype:
            want = f"dtype {dtype}" + (f" (as {partner})" if partner else "")
            raise expected(TypeError, op, name, want, fw.dtype(value))
        if given:
            same_device(fw, op, name, value, *given[0])
        if tuple(fw.shape(value)) != tuple(shape):
            got = "shape " + shape_text(fw.shape(value))
            raise expected(ValueError, op, name, f"shape {shape_text(shape)}", got)
        fw.check_out(op, name, value)
        apart(fw, op, name, value, given)
        given = (*given, (name, value))
