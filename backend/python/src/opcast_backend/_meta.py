"""What the collection says about an op, and what the adaptors' generated functions share."""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, cast


class Arg(NamedTuple):
    """An input or output of an op."""

    name: str
    type: str
    """Dtype and dims as the definition writes them, such as ``T[*, N]``."""
    doc: str
    optional: bool = False
    stride: str = ""
    """Which strides the kernels take: dense (empty), ``last`` or ``any``. Other arrays are copied."""
    align: int = 1
    """What the address has to be a multiple of, in bytes. Other arrays are copied."""
    mutated: bool = False
    """Whether the op overwrites the input, which is then also a result."""
    saved: bool = False
    """Whether the output is computed only when a gradient is wanted, and is no result."""
    present_if: str = ""
    """The optional input that must be given for the output to exist, or the attribute that must be true."""
    list: bool = False
    """Whether the input is a list of arrays."""
    per: str = ""
    """Of an output that is a list of arrays: the input that has as many."""
    own: tuple[str, ...] = ()
    """The dims that each array of a list has for itself; ``*`` stands for leading ones."""
    packs: str = ""
    """The dtype of the numbers of which each element holds several."""
    number: str = ""
    """The dtype of a number that is given in place of the array, or the input that has it; empty if none can be."""
    bounds: tuple[Any, Any] = (None, None)
    """The least and the largest of such a number, where no size decides."""
    dims: tuple[str, ...] = ()
    """The dims one by one, such as ``("*", "2*D")``; ``*`` stands for leading dims, ``...`` for broadcast ones."""


class Attr(NamedTuple):
    """A keyword argument of an op that is not an array."""

    name: str
    type: str
    doc: str
    required: bool
    default: Any = None
    """None too where the default depends on sizes or dtypes."""
    one_of: tuple[str | int, ...] = ()
    """The allowed strings or integers; empty where any value of the type and range is."""


class Op(NamedTuple):
    """An op of the collection."""

    name: str
    kind: int
    doc: str
    file: str
    schema: int
    """Hash of all that decides how the library is called."""
    dtypes: dict[str, tuple[str, ...]]
    devices: tuple[str, ...]
    inputs: tuple[Arg, ...]
    attrs: tuple[Attr, ...]
    outputs: tuple[Arg, ...]
    parallel: tuple[str, ...]
    """Dims along which slicing the inputs slices the outputs; one of ``sums`` may be missing in some."""
    sums: tuple[str, ...]
    """Dims over which an output that lacks them is a plain sum."""
    vmap: tuple[tuple[str, tuple[str, ...]], ...]
    """Dims that all results have, each with its inputs: mapping only those needs no loop."""
    call: str
    """How the op is called and what it returns."""
    facts: tuple[tuple[str, str], ...]
    """What the op does under transformations: topics, each with a text."""
    kernels: tuple[tuple[str, str, bool], ...]
    """Name and device of each kernel in the order in which dispatch tries them, and whether it works
    in the scratch."""
    scratch: tuple[Arg, ...] = ()
    """Arrays for kernels to work in, which hold nothing before and after."""
    autocast: str = "widest"
    """Which dtype inputs of one dtype variable get under PyTorch's autocast: the widest of theirs, that of
    autocast (``lower``), or ``float32``. What is overwritten keeps its own."""
    backward: str = ""
    """Name of the gradient op; empty where there is none."""
    gradient_of: str = ""
    """Name of the op whose gradient this one is; empty for other ops."""
    forward: str = ""
    """Name of the op of tangents, for forward mode; empty where there is none."""
    tangent_of: str = ""
    """Name of the op whose tangents this one gives; empty for other ops."""
    grad_prefix: str = "grad_"
    """What makes the name of a gradient in ``backward`` from that of an argument."""
    tangent_prefix: str = "tangent_"
    """What makes the name of a tangent in ``forward`` from that of an argument."""
    no_grad: tuple[str, ...] = ()
    """Names of the inputs of floating point by which there is no derivative, though there are others."""
    order: tuple[str, ...] = ()
    """The parameters that can be given by their place; empty for the inputs."""
    lengths: tuple[int, ...] = ()
    """How many arrays each list has, in the form of an op whose arrays are arguments one by one."""

    @property
    def lists(self) -> tuple[str, ...]:
        """Names of the inputs that are lists of arrays."""
        return tuple(a.name for a in self.inputs if a.list)

    @property
    def results(self) -> tuple[str, ...]:
        """Names of what a call returns: the outputs that are not saved, then the mutated inputs."""
        outputs = [a.name for a in self.outputs if not a.saved]
        return (*outputs, *(a.name for a in self.inputs if a.mutated))

    def absent(self) -> Callable[[Sequence[Any]], list[bool]]:
        """Return what says of each output whether a call with these inputs, and then attributes, lacks it."""
        names = [a.name for a in self.inputs] + [a.name for a in self.attrs]
        needs = [names.index(a.present_if) if a.present_if else -1 for a in self.outputs]
        values = len(self.inputs)

        def lacks(args: Sequence[Any]) -> list[bool]:
            return [i >= 0 and (args[i] is None if i < values else not args[i]) for i in needs]

        return lacks

    def existing(self) -> Callable[[Any, Sequence[Any]], tuple[Any, ...]]:
        """Return what makes a tuple of what a call gave, with None for the outputs that it lacks."""
        if not any(a.present_if for a in self.outputs):
            return lambda made, args: as_tuple(made) or ()
        lacks = self.absent()

        def exist(made: Any, args: Sequence[Any]) -> tuple[Any, ...]:
            found = as_tuple(made) or ()
            return tuple([None if gone else x for gone, x in zip(lacks(args), found)])

        return exist

    @property
    def derived_from(self) -> str:
        """Name of the op of which this one computes a derivative; empty for other ops."""
        return self.gradient_of or self.tangent_of

    def takes_scratch(self, device: str) -> bool:
        """Whether some kernel for a kind of device works in the op's scratch."""
        return any(kind == device and takes for _, kind, takes in self.kernels)


def as_tuple(out: Any) -> tuple[Any, ...] | None:
    """Return the given outputs as a tuple; a single output comes bare."""
    if out is None or isinstance(out, tuple):
        return cast("tuple[Any, ...] | None", out)
    return (out,)


class _Hint(str):
    """An annotation that a signature shows as it stands in the source, without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def publish(function: Callable[..., Any], required: int) -> None:
    """Show a generated function as the member of its package that users see.

    Required arrays have the default None, so that a missing one is reported in the words of the op;
    the signature says that they are required. The function also names the package, not the module
    inside it, as its home.
    """
    signature = inspect.signature(function)
    parameters = [p.replace(annotation=_hint(p.annotation)) for p in signature.parameters.values()]
    parameters[:required] = [p.replace(default=p.empty) for p in parameters[:required]]
    result = _hint(signature.return_annotation)
    shown: Any = function
    shown.__signature__ = signature.replace(parameters=parameters, return_annotation=result)
    shown.__module__ = function.__module__.partition("._ops")[0]


def _hint(annotation: Any) -> Any:
    return _Hint(annotation) if isinstance(annotation, str) else annotation


def deprecated(
    function: Callable[..., Any], advice: str, quiet: Callable[[], bool] = bool
) -> Callable[..., Any]:
    """Return a published function that says, at the line of its caller, that it is deprecated.

    What calls the op in the background, such as a gradient, calls the function behind it. ``quiet``
    says when a warning cannot be given: compilers trace no such call.
    """

    @functools.wraps(function)
    def warning(*args: Any, **attrs: Any) -> Any:
        if not quiet():
            text = f"{function.__name__} is deprecated: {advice}"
            warnings.warn(text, DeprecationWarning, stacklevel=2)
        return function(*args, **attrs)

    return warning
