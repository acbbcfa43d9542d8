"""The registered form of an op, which PyTorch's own machinery calls.

Everything that is no plain call goes through it: torch.compile and export, vmap and the other
transformations of torch.func, modes, fake and meta tensors, subclasses such as DTensor, the
profiler. Each of them has a dispatch key, and a kernel of ours for that key.
"""

from __future__ import annotations

from typing import Any

import torch

from . import _autocast, _autograd, _batching, _library, _sharding
from ._collection import NAMESPACE, backend
from ._framework import FRAMEWORK, dense, empty

_library.load()
_registry: Any = torch.library
LIBRARY: Any = _registry.Library(NAMESPACE, "FRAGMENT")
_MOST = 64  # arguments of a schema: a constant of PyTorch's


class Overload:
    """One overload of an op in PyTorch's registry.

    Parameters
    ----------
    info
        The op.
    kernel, check
        The exported function, and the rules on its arguments.
    saved
        Whether the overload also returns what only the gradient needs; it is then called ``train``.

    """

    def __init__(self, info: Any, kernel: Any, check: Any, saved: bool) -> None:
        self.info, self.check, self.saved = info, check, saved
        self.kernel = backend.faithful(kernel)
        self.outputs = tuple(a for a in info.outputs if saved or not a.saved)
        self.overwritten = tuple(i for i, a in enumerate(info.inputs) if a.mutated)
        self.name = info.name + ".train" if saved else info.name
        if info.lengths:  # one overload for each length of its lists
            self.name += ".n" + "_".join(map(str, info.lengths))
        self.call: Any = None
        self.registered = False
        self.large = len(info.inputs) + len(info.attrs) > _MOST
        if not info.lengths:  # else most calls need none: see Op.single
            self.register()

    def register(self) -> None:
        """Enter the overload into PyTorch's registry."""
        qualified = f"{NAMESPACE}::{self.name}"
        if self.large:
            count = len(self.info.inputs) + len(self.info.attrs)
            raise NotImplementedError(
                f"{self.info.name}: expected at most {_MOST} arrays and attributes under a mode or"
                f" transformation of PyTorch, got {count}"
            )
        if self.info.lengths:  # the library knows the op for whole lists only
            LIBRARY.define(self.name + self._schema(), tags=(torch.Tag.pt2_compliant_tag,))
        packet = getattr(getattr(torch.ops, NAMESPACE), self.info.name)
        self.call: Any = getattr(packet, self.name.partition(".")[2] or "default")
        for key in ("CPU", "CUDA"):  # both, since kernels may be registered for either
            LIBRARY.impl(self.name, self._compute, key)
            LIBRARY.impl(self.name, _autocast.kernel(self, f"Autocast{key}"), f"Autocast{key}")
        _registry.register_fake(qualified, self._fake, lib=LIBRARY)
        _registry.register_vmap(qualified, _batching.rule(self), lib=LIBRARY)
        _autograd.register(self, LIBRARY)
        _sharding.register(self)
        self.registered = True

    def _schema(self) -> str:
        """Return the schema, without defaults: PyTorch would strip arguments that equal them."""
        args: list[str] = []
        for i, a in enumerate(self.info.inputs):
            alias = f"(a{i}!)" if a.mutated else ""
            name = a.name.replace("[", "__").rstrip(
                "]"
            )  # no name of a definition has two underscores
            args.append(f"Tensor{alias}{'?' if a.optional else ''} {name}")
        for a in self.info.attrs:
            kind = "ScalarType" if a.type == "dtype" else a.type
            absent = not a.required and a.default is None
            args.append(f"{kind}{'?' if absent else ''} {a.name}")
        results = ", ".join("Tensor" for _ in self.outputs)
        return f"({', '.join(args)}) -> {results if len(self.outputs) == 1 else f'({results})'}"

    def _compute(self, *args: Any) -> Any:
        inputs, specs, values = self._checked(args)
        outs = self.allocate(inputs[0], specs)
        self.launch(outs, inputs, specs, values)
        return self._given(outs, inputs[0])

    def _fake(self, *args: Any) -> Any:
        """Shape function; also what meta tensors get."""
        inputs, specs, _ = self._checked(args)
        return self._given(self.allocate(inputs[0], specs), inputs[0])

    def _checked(self, args: tuple[Any, ...]) -> tuple[Any, Any, Any]:
        count = len(self.info.inputs)
        return args[:count], *self.check(FRAMEWORK, *args)

    def allocate(self, like: Any, specs: Any) -> list[Any]:
        """Return tensors for all outputs of the op, and None for those that this call lacks."""
        exist = [s is not None and (self.saved or not a.saved) for a, s in self._all(specs)]
        made = iter(empty(self.info.name, like, [s for s, there in zip(specs, exist) if there]))
        return [next(made) if there else None for there in exist]

    def _all(self, items: Any) -> Any:
        return zip(self.info.outputs, items)

    def launch(self, outs: Any, inputs: Any, specs: Any, values: Any) -> None:
        """Run the kernel, on copies of inputs that it cannot read, with the scratch that it wants."""
        read = [x if a.mutated else dense(x, a.stride) for a, x in zip(self.info.inputs, inputs)]
        scratch: list[Any] = [None for _ in self.info.scratch]
        if self.info.takes_scratch(inputs[0].device.type):
            scratch = empty(self.info.name, inputs[0], specs[len(self.info.outputs) :])
        self.kernel(*self.info.lengths, *outs, *read, *values, *scratch)

    def _given(self, outs: Any, like: Any) -> Any:
        """Return the outputs as the schema says: an empty tensor stands for an absent one."""
        made = [o for a, o in self._all(outs) if self.saved or not a.saved]
        made = [like.new_empty((0,)) if o is None else o for o in made]
        return tuple(made) if len(made) > 1 else made[0] if made else None

    def results(self, made: Any, inputs: Any) -> tuple[Any, ...]:
        """Return what the overload returned as a tuple, with None for absent outputs."""
        names = [a.name for a in self.info.inputs]
        found = backend.as_tuple(made) or ()
        return tuple(
            None if a.present_if and inputs[names.index(a.present_if)] is None else x
            for a, x in zip(self.outputs, found)
        )
