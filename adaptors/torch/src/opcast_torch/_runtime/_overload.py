"""The registered forms of an op, which PyTorch's own machinery calls.

An op has up to eight overloads, all with the same kernels in C++ for the CPU and CUDA. ``train`` is
``default`` with the results that only the gradient needs, and ``compiled_train`` likewise.

``default`` has all that PyTorch asks of an op: autograd, the transformations of torch.func, autocast,
fake and meta tensors, sharding. Each has a dispatch key, and a kernel in Python for that key. The one
for autograd runs in every call, so a call takes several times as long as the kernel of a small one.

``direct`` is what the functions of this package call where no derivative is wanted. It has no kernel
for autograd. Where anybody watches or transforms the call, PyTorch's dispatcher finds another one in
Python, which calls ``default`` instead: so nothing of this kind has to be asked before each call. So
does the overload itself in Python: only these functions call what it was.

``numbers`` does the same for calls with numbers in the place of all inputs that may be some.

``into`` does the same for results that go to given tensors. ``node``, with all results, is for functions
whose call becomes a node in the graph of gradients; in a transformation, it raises ``ObservedError``.

``compiled`` is what ``default`` calls below autograd while torch.compile makes a graph. The graph then
has a call that needs no Python. Derivatives are in the graph already.
"""

from __future__ import annotations

from typing import Any

import torch

from .._collection import NAMESPACE, backend
from . import _autocast, _autograd, _batching, _library, _sharding
from ._framework import FRAMEWORK, empty
from ._library import LIBRARY
from ._private import below_autograd

_library.load()
_registry: Any = torch.library
_ORDINARY = {torch.Tensor, torch.nn.Parameter, type(None)}
_MOST = 64  # arguments of a schema: a constant of PyTorch's

_MODES = ("PythonTLSSnapshot", "Python")
_AUTOCAST = {"cpu": "AutocastCPU", "cuda": "AutocastCUDA"}
_LEVELS = (
    "FuncTorchDynamicLayerFrontMode",
    "FuncTorchDynamicLayerBackMode",
    "FuncTorchGradWrapper",
    "FuncTorchVmapMode",
    "FuncTorchBatched",
)
_WITHIN = (
    "Batched",
    "VmapMode",
    "Tracer",
    "Functionalize",
    "ZeroTensor",
    "Negative",
    "Conjugate",
    "Meta",
)
WATCHED = (*_MODES, *_AUTOCAST.values(), *_LEVELS, *_WITHIN)
"""The dispatch keys under which a call of an overload without derivatives becomes one of ``default``."""


class ObservedError(Exception):
    """A node cannot stand for the call here: what transforms it is to see the op."""


def _observed(*_: Any) -> None:
    raise ObservedError


class Overload:
    """The overloads of an op with one kind of results.

    Parameters
    ----------
    info
        The op.
    check
        The rules on its arguments.
    saving
        The overloads that also return what only the gradient needs; None for those themselves.
    compute
        What computes the form for single arrays of an op with lists, of which the library has none.
    filled
        Returns inputs with tensors in the place of numbers.

    """

    def __init__(
        self,
        info: Any,
        check: Any,
        saving: Overload | None = None,
        compute: Any = None,
        filled: Any = None,
    ) -> None:
        saved = saving is None and any(a.saved for a in info.outputs)
        self.info, self.check, self.saved, self.saving = info, check, saved, saving or self
        self.compute, self._filled = compute, filled
        self.outputs = tuple(a for a in info.outputs if saved or not a.saved)
        self.overwritten = tuple(i for i, a in enumerate(info.inputs) if a.mutated)
        self.name, self._suffix = ("train", "_train") if saved else ("default", "")
        self.call: Any = None
        self._call: Any = None
        self.bare: Any = None
        self.node: Any = None
        self.into: Any = None
        self.numbers: Any = None
        self.compiled: Any = None
        self.registered = False
        self.large = len(info.inputs) + len(info.attrs) > _MOST
        self.results = info.existing()
        if info.lengths:  # one overload for each length of its lists, of which most calls need none
            self.name = "_".join(["train" if saved else "", "n", *map(str, info.lengths)]).strip(
                "_"
            )
        else:
            self.packet = _library.packet(info.name)
            self.register()

    @property
    def qualified(self) -> str:
        """The name of the overload that has everything."""
        return f"{self.info.name}.{self.name}".removesuffix(".default")

    def register(self) -> None:
        """Enter the kernels in Python into PyTorch's registry."""
        if self.large:
            count = len(self.info.inputs) + len(self.info.attrs)
            raise NotImplementedError(
                f"{self.info.name}: expected at most {_MOST} arrays and attributes under a mode or"
                f" transformation of PyTorch, got {count}"
            )
        if self.info.lengths:
            self._define()
        else:
            self.compiled, _ = _library.overload(self.packet, "compiled" + self._suffix)
        self.call, self._call = _library.overload(self.packet, self.name)
        for device, key in _AUTOCAST.items():
            LIBRARY.impl(self.qualified, _autocast.kernel(self.info, self.call, device), key)
        self._fake_for(self.call)
        _registry.register_vmap(self.call.name(), _batching.rule(self), lib=LIBRARY)
        _autograd.register(self, LIBRARY)
        _sharding.register(self)
        if self.compiled is not None:
            self._fake_for(self.compiled)
            _library.watch(self.compiled, self._pass_on, _LEVELS)
            self._register_inner()
        self.registered = True

    def _register_inner(self) -> None:
        """Register the overloads that know no derivatives."""
        if self.saving is self:
            node, self.node = _library.inner(self.packet, "node", self.call)
            _library.watch(node, self._pass_on, _WITHIN)
            _library.watch(node, self._show_node, _MODES)
            _library.watch(node, _observed, (*_LEVELS, *_AUTOCAST.values()))
        if self.saved:
            return
        direct, self.bare = _library.inner(self.packet, "direct", self.call)
        _library.watch(direct, self._pass_on, (*_LEVELS, *_WITHIN))
        _library.watch(direct, self._show, _MODES)
        for device, key in _AUTOCAST.items():
            LIBRARY.impl(direct.name(), _autocast.kernel(self.info, self.bare, device), key)
        if backend.places(self.info):
            numbers, self.numbers = _library.inner(self.packet, "numbers", self._pass_numbers)
            _library.watch(numbers, self._pass_numbers, WATCHED)
        if "into" in self.packet.overloads():
            into, call = _library.inner(self.packet, "into", self._pass_into)
            _library.watch(into, self._pass_into, WATCHED)
            self.into = _library.with_classes(call)

    def _fake_for(self, call: Any) -> None:
        _registry.register_fake(call.name(), self._fake, lib=LIBRARY)

    def _pass_on(self, *args: Any) -> Any:
        """Call the overload that has everything, if the arguments of the whole call are right."""
        self._judge(args)
        return self.call(*args)

    def _show(self, *args: Any) -> Any:
        """Show the call to modes, and to subclasses, as one of the overload that has everything.

        No derivative is wanted, so it need not go through autograd.
        """
        if not {type(x) for x in args[: len(self.info.inputs)]} <= _ORDINARY:
            self._judge(args)  # of the whole, where a subclass shows parts to the kernel
        with below_autograd():
            return self._call(*args)

    def _show_node(self, *args: Any) -> Any:
        """Do the same within a node, unless it would keep what autocast has not cast yet."""
        if _autocast.active(args[: len(self.info.inputs)]):
            raise ObservedError
        return self._show(*args)

    def _judge(self, args: tuple[Any, ...]) -> None:
        count = len(self.info.inputs)
        _autocast.judge(self.info, self.check, args[:count], args[count:])

    def _pass_numbers(self, *args: Any) -> Any:
        count = len(self.info.inputs)
        return self._pass_on(*self._filled(args[:count]), *args[count:])

    def _pass_into(self, *args: Any) -> None:
        """Copy results into given tensors, where a mode or a transformation watches the call."""
        inputs = len(self.info.inputs)
        count = inputs + len(self.info.attrs)
        outs = args[count:]
        _autocast.judge(self.info, self.check, args[:inputs], args[inputs:count], outs)
        made = self.results(self.call(*args[:count]), args)
        for given, result in zip(outs, made):
            if given is not None:
                given.copy_(result)

    def _define(self) -> None:
        """Define the overload for lists of some lengths, of which the library has none."""
        LIBRARY.define(self.qualified + self._schema(), tags=(torch.Tag.pt2_compliant_tag,))
        for key in ("CPU", "CUDA"):  # both, since kernels may be registered for either
            LIBRARY.impl(self.qualified, self.compute, key)
        self.packet = getattr(getattr(torch.ops, NAMESPACE), self.info.name)

    def _schema(self) -> str:
        """Return the schema, without defaults: PyTorch would strip arguments that equal them."""
        args: list[str] = []
        for i, a in enumerate(self.info.inputs):
            alias = f"(a{i}!)" if a.mutated else ""
            # No name of a definition has two underscores.
            name = a.name.replace("[", "__").rstrip("]")
            args.append(f"Tensor{alias}{'?' if a.optional else ''} {name}")
        for a in self.info.attrs:
            kind = "ScalarType" if a.type == "dtype" else a.type
            absent = not a.required and a.default is None
            args.append(f"{kind}{'?' if absent else ''} {a.name}")
        results = ", ".join("Tensor" for _ in self.outputs)
        return f"({', '.join(args)}) -> {results if len(self.outputs) == 1 else f'({results})'}"

    def _fake(self, *args: Any) -> Any:
        """Shape function, also for meta tensors; an empty tensor stands for an absent output."""
        specs, _ = self.check(FRAMEWORK, *args)
        kept = [s or ((0,), FRAMEWORK.dtype(args[0])) for s, _ in zip(specs, self.outputs)]
        made = empty(self.info.name, args[0], kept)
        return tuple(made) if len(made) > 1 else made[0] if made else None
