"""How a formula is called by the names of its definition: the end of a module that begins with the formula."""

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
    named: Table = {name: given.get(here) for name, (here, _) in inputs.items()}
    parameters = inspect.signature(function).parameters
    unnamed = [value for name, value in named.items() if name not in parameters]
    present = {name: value for name, value in named.items() if value is not None}
    known = dict(constants)
    for name, value in present.items():
        if inputs[name][1] is not None:
            known |= dict(zip(inputs[name][1], value.shape))
    known |= present
    chosen: Table = {}
    for name, parameter in parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        value = known.get(name)
        if value is None and name not in inputs and unnamed:
            value = unnamed.pop(0)
        if value is not None or parameter.default is parameter.empty:
            chosen[name] = value
    made: Any = function(**chosen)
    made = list(made.values()) if isinstance(made, dict) else made  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    listed: list[Any] = [*made] if isinstance(made, (tuple, list)) else [made]  # pyright: ignore[reportUnknownVariableType]
    if all(one is None for one in listed):  # it wrote into its arguments
        listed = [given.get(place) for place in results.values()]
    if len(listed) < len(results):
        raise ValueError(f"the formula gives {len(listed)} of {len(results)} results")
    made = dict(zip(results, listed))
    ours = [name for name, place in results.items() if place is None]
    places = {place: name for name, place in results.items() if place is not None}
    overwritten = [places[here] for here, _ in inputs.values() if here in places]
    return tuple(made[name] for name in [*ours, *overwritten])


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
        wanted = inspect.signature(scope[init]).parameters
        takes_all = any(p.kind is p.VAR_KEYWORD for p in wanted.values())
        with contextlib.suppress(ImportError):  # of a library that is not here
            made = scope[init](**{k: v for k, v in given.items() if takes_all or k in wanted})
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
