"""How a formula is called by the names of its definition. This text is part of each module of a reference."""

import contextlib
import inspect
from typing import Any

import numpy as np

Table = dict[str, Any]


def opcast_formula(helpers: Table, source: str, file: str, name: str) -> Any:
    """Return the function of a source, whose scope is its own: it may define names such as "reference"."""
    scope = dict(helpers)
    exec(compile(source, file, "exec"), scope)
    return scope[name]


def opcast_called(
    function: Any, given: Table, inputs: Table, results: Table, constants: Table
) -> tuple[Any, ...]:
    """Call a formula; return the results that are ours, then the overwritten inputs."""
    made = opcast_results(function(**opcast_arguments(function, given, inputs, constants)), results)
    if made is None:  # it wrote into its arguments
        made = {name: given[place] for name, place in results.items()}
    ours = [name for name, place in results.items() if place is None]
    places = {place: name for name, place in results.items() if place is not None}
    overwritten = [places[here] for here, _ in inputs.values() if here in places]
    return tuple(made[name] for name in [*ours, *overwritten])


def opcast_arguments(function: Any, given: Table, inputs: Table, constants: Table) -> Table:
    """Return what a formula is called with: inputs and sizes by name, other inputs where it has no default."""
    named: Table = {name: given.get(here) for name, (here, _) in inputs.items()}
    sizes = dict(constants)
    for name, (_, shape) in inputs.items():
        if shape is not None and named[name] is not None:
            sizes |= dict(zip(shape, named[name].shape))
    for name, (here, shape) in inputs.items():
        if here is None and shape is None:  # a number that is a size
            named[name] = sizes.get(name)
    parameters = inspect.signature(function).parameters
    others = {name: value for name, value in named.items() if name not in parameters}
    chosen: Table = {}
    for name, parameter in parameters.items():
        needed = parameter.default is parameter.empty
        if parameter.kind is parameter.VAR_KEYWORD:
            chosen |= {k: v for k, v in others.items() if v is not None}
        elif parameter.kind is parameter.VAR_POSITIONAL:
            raise TypeError(f"the formula takes *{name}: its parameters have to be named")
        elif name in named or name in sizes:
            value = named.get(name, sizes.get(name))
            if value is not None or needed:
                chosen[name] = value
        elif needed and others:
            chosen[name] = others.pop(next(iter(others)))
        elif needed:
            raise TypeError(f"the formula wants {name}, which is no input")
    return chosen


def opcast_results(made: Any, results: Table) -> Table | None:
    """Return what a formula gives by name, or None if it gives nothing, and all results are inputs."""
    if made is None and None not in results.values():
        return None
    named: Table
    if isinstance(made, dict):
        named = made  # pyright: ignore[reportUnknownVariableType]
        lacking = [name for name in results if name not in named]
    else:
        listed: list[Any] = [*made] if isinstance(made, (tuple, list)) else [made]  # pyright: ignore[reportUnknownVariableType]
        named = dict(zip(results, listed))
        lacking = [*results][len(listed) :]
        if len(listed) > len(results):
            raise ValueError(f"the formula gives {len(listed)} results, expected {len(results)}")
    if lacking:
        raise ValueError(f"the formula gives no {lacking[0]}")
    return named


def opcast_contents(
    rng: Any,
    sizes: Table,
    inputs: Table,
    axes: Table,
    ends: Table,
    probabilities: tuple[str, ...],
    source: str,
    init: str,
) -> Table:
    """Make what a definition knows of contents: by its function, offsets from 0 to the number of rows, and distributions."""
    known: Table = {}
    for name, size in axes.items():
        with contextlib.suppress(KeyError):  # of what only an input has that is left out
            known[name] = size(sizes)
    made: Table = {}
    if source:
        scope: Table = {"__name__": "init"}
        exec(source, scope)
        given = {**known, "device": "cpu", "seed": int(rng.integers(2**31))}
        given |= {n: sizes[h] for n, (h, shape) in inputs.items() if shape is None and h in sizes}
        wanted = inspect.signature(scope[init]).parameters
        takes_all = any(p.kind is p.VAR_KEYWORD for p in wanted.values())
        with contextlib.suppress(ImportError):  # of a library that is not here
            answer: Any = scope[init](
                **{k: v for k, v in given.items() if takes_all or k in wanted}
            )
            if not isinstance(answer, dict):
                kind = type(answer).__name__
                raise TypeError(f"{init}: expected a dict of inputs, got {kind}")
            made = answer  # pyright: ignore[reportUnknownVariableType]
    contents: Table = {}
    for name, (here, axis_names) in inputs.items():
        if (
            here is None
            or axis_names is None
            or not all(a in known or a.isdigit() for a in axis_names)
        ):
            continue
        shape = tuple(known[a] if a in known else int(a) for a in axis_names)
        value: Any = made.get(name)
        if hasattr(value, "shape") and tuple(value.shape) == shape:
            contents[here] = (value.double() if value.is_floating_point() else value).numpy()
        elif name in ends:
            total = known[ends[name]]
            inner = np.sort(rng.integers(0, total + 1, max(0, shape[0] - 2)))
            contents[here] = np.array([0, *inner, total][: shape[0]], dtype=np.int64)
        elif name in probabilities and shape[-1] > 0:
            drawn = rng.exponential(size=shape)
            contents[here] = drawn / drawn.sum(-1, keepdims=True)
    return contents
