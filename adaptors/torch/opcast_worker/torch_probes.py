"""Calls with tensors that are more, or less, than plain memory: fake, lazy, nested, of a derived class, watched by modes."""

from __future__ import annotations

import importlib
from copy import deepcopy
from dataclasses import replace
from typing import Any

from opcast_worker import aliasing
from opcast_worker.aliasing import functional, tensors, warm
from opcast_worker.bound import Bound, Unsupported, exhausting, expecting, refusal, refused_singly
from opcast_worker.caller import Caller
from opcast_worker.torch_aliasing import watcher


class TorchProbes(Caller):
    """Probes of what only PyTorch has."""

    torch: Any

    def fake(self) -> Any:
        """Return a mode under which tensors have no memory."""
        return importlib.import_module("torch._subclasses").FakeTensorMode()

    def probe_fake(self, call: Bound) -> Any:
        """Pass fake tensors, as torch.compile makes them: no memory behind them."""
        with self.fake() as mode:
            return call.map(mode.from_tensor)()

    def probe_fake_outside(self, call: Bound) -> Any:
        """Pass fake tensors after their mode has ended."""
        return call.map(self.fake().from_tensor)()

    def probe_meta(self, call: Bound) -> Any:
        """Pass tensors of the meta device."""
        return call.map(lambda x: x.to("meta"))()

    def probe_negative_bit(self, call: Bound) -> Any:
        """Pass a view that is negated lazily."""
        return call.map_one(lambda x: self.torch._neg_view(-x), floating)()

    def probe_negative_one(self, call: Bound) -> Any:
        """Pass one lazily negated view after the other beside plain tensors: the shortcut for these is for no other."""
        want = self.bits(warm(call))
        places = [i for i, x in enumerate(call.args) if floating(x) and i not in call.mutated]
        if not places:
            raise Unsupported("no input of floats")
        for i in places:
            args = deepcopy(call.args)
            args[i] = self.torch._neg_view(-args[i])
            found = tensors(replace(call, args=args)())
            if self.bits(found) != want:
                return tuple(found)  # computed from what lies there: not what the plain call gave
        return call()

    def probe_zeros_one(self, call: Bound) -> Any:
        """Pass zeros that have no memory, as autograd makes them, in the place of one tensor after the other."""

        def results(i: int, zeros: Any) -> list[bytes]:
            args = deepcopy(call.args)
            args[i] = zeros
            return self.bits(tensors(replace(call, args=args)()))

        for i in call.options["zeros"]:
            x = call.args[i]
            if floating(x) and i not in call.mutated:
                want = results(i, self.torch.zeros_like(x))
                lazy = self.torch._efficientzerotensor(x.shape, dtype=x.dtype, device=x.device)
                try:
                    if results(i, lazy) != want:
                        raise ValueError("computed something else")
                except ValueError as error:
                    raise AssertionError(f"zeros as argument {i}: {error}") from error
        return call()

    def bits(self, results: list[Any]) -> list[bytes]:
        """Return the bytes of tensors: two NaN are no equal numbers, but may be the same bits."""
        return [self.read(x)[1] for x in results]

    def probe_no_memory(self, call: Bound) -> Any:
        """Pass a row so often that no address space holds the results: the rows themselves take no memory."""
        return self.exhausted(call)

    def probe_no_copy(self, call: Bound) -> Any:
        """Pass it with its elements apart, so that kernels need a dense copy, which no address space holds either."""
        return self.exhausted(
            call.map(lambda x: x.repeat_interleave(2, -1)[..., ::2] if x.ndim else x)
        )

    def exhausted(self, call: Bound) -> Any:
        """Pass rows of no memory of their own, then make the call itself."""

        def repeat(args: list[Any], many: list[bool]) -> tuple[int, list[Any]]:
            full = [x.itemsize * x.numel() for x, is_many in zip(args, many) if is_many]
            rows = (1 << 62) // max([*full, 1])
            return rows, [
                x.expand(rows, *x.shape) if is_many else x for x, is_many in zip(args, many)
            ]

        return exhausting(self, call, repeat)

    def probe_escaped(self, call: Bound) -> Any:
        """Pass a tensor of a transformation that has ended: PyTorch has an error for that."""
        left: list[Any] = []

        def keep(x: Any) -> Any:
            left.append(x)
            return x.clone()

        self.torch.vmap(keep)(self.torch.stack([call.args[0]] * 2))
        try:
            replace(call, args=[left[0], *call.args[1:]])()
        except MemoryError as error:
            raise AssertionError("took the tensor for one with memory") from error
        except Exception:  # in its own words
            return call()
        raise AssertionError("computed from a tensor that is no more")

    def probe_conjugate_bit(self, call: Bound) -> Any:
        """Pass the imaginary part of a lazy conjugate: a lazily negated view with gaps."""
        real = (self.torch.float16, self.torch.float32, self.torch.float64)
        view = self.torch.complex
        return call.map_one(lambda x: view(x, -x).conj().imag, lambda x: x.dtype in real)()

    @expecting(out=True)
    def probe_out_negative(self, call: Bound) -> Any:
        """Write to a tensor that is negated lazily."""
        head, *rest = outputs(functional(call)())
        negative = self.torch._neg_view(self.torch.empty_like(head))
        out = (negative, *rest) if rest else negative
        words = "expected plain memory, got a lazily negated view"
        return refusal(replace(call, kwargs={**call.kwargs, "out": out}), words)

    def probe_sparse(self, call: Bound) -> Any:
        """Pass sparse tensors."""

        def sparse(x: Any) -> Any:
            try:
                return x.to_sparse()
            except NotImplementedError:  # of 8-bit floats there are none
                return x

        words = "expected a dense tensor, got layout torch.sparse_coo"
        return refusal(call.map(sparse), words)

    def probe_nested_one(self, call: Bound) -> Any:
        """Pass one nested tensor after the other beside plain ones, after calls that made the shortcut for plain ones."""
        warm(call)

        def nested(x: Any) -> Any:
            if not x.ndim:
                return None
            # By way of float32, since there are none of 8-bit floats.
            pair = self.torch.nested.nested_tensor([x.float(), x.float()])
            return pair.to(x.dtype)

        words = "expected a dense tensor, got a nested tensor"
        return refused_singly(call, nested, words)

    def probe_subclass(self, call: Bound) -> Any:
        """Pass tensors of a derived class."""
        derived = type("Derived", (self.torch.Tensor,), {})
        return call.map(lambda x: x.as_subclass(derived))()

    def probe_parameter(self, call: Bound) -> Any:
        """Pass parameters, with gradients off."""
        wrap = self.torch.nn.Parameter
        with self.torch.no_grad():
            return call.map(lambda x: wrap(x, requires_grad=x.dtype.is_floating_point))()

    def probe_watched(self, call: Bound) -> Any:
        """Call as before, while a mode or forward-mode derivatives are on: no shortcut may hide the op from them."""
        warm(call)
        with watcher(self.torch)() as mode:
            call.map(lambda x: x.clone())()
        if not any(call.op in str(f) for f in mode.seen):
            raise AssertionError("a mode for functions does not see the op")
        with self.torch.autograd.profiler.profile() as profile:
            call.map(lambda x: x.clone())()
        if not any(call.op in e.name for e in profile.function_events):
            raise AssertionError("the profiler does not see the op")
        forward = self.torch.autograd.forward_ad
        places = [i for i, x in enumerate(call.args) if floating(x) and i not in call.mutated]
        if places:
            with forward.dual_level():
                args = [x.clone() if isinstance(x, self.kind) else x for x in call.args]
                x = args[places[0]]
                args[places[0]] = forward.make_dual(x, self.torch.ones_like(x))
                try:
                    results = outputs(replace(call, args=args)())
                except NotImplementedError:
                    return call()
                moved = [forward.unpack_dual(r).tangent for r in results if floating(r)]
            moves = call.options["moves"]  # without any, a call with a tangent is refused
            if not moves or (places[0] in moves and not any(t is not None for t in moved)):
                raise AssertionError("a tangent was lost")
        return call()

    def probe_inference_mode(self, call: Bound) -> Any:
        """Call under inference mode."""
        with self.torch.inference_mode():
            return call()


def outputs(result: Any) -> list[Any]:
    """Return the outputs of a call, whatever their number."""
    return [*result] if isinstance(result, tuple) else [result]


def floating(x: Any) -> bool:
    """Say whether x is a tensor of a dtype that has derivatives."""
    return aliasing.floating(x) and x.itemsize > 1
