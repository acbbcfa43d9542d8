"""Calls of exports with arguments that no caller should pass. Errors are expected; the process must survive."""

from __future__ import annotations

import ctypes
from dataclasses import replace
from typing import Any

from opcast_worker.bound import Bound, Probes
from opcast_worker.dlpack import Array, DataType, Device
from opcast_worker.malformed import OTHERS, each, one, replaced, survive


class Malformed(Probes):
    """Probes of wrong arguments and of impossible DLPack structures."""

    def probe_types(self, call: Bound) -> Any:
        """Pass values of other types, one at a time and all at once."""
        for other in [None, *OTHERS]:
            for i in range(len(call.args)):
                survive(replaced(call, i, other))
            survive(replace(call, args=[other] * len(call.args)))

    def probe_counts(self, call: Bound) -> Any:
        """Pass any number of arguments but the right one, and the right ones in another order."""
        for count in range(len(call.args)):
            survive(replace(call, args=call.args[:count]))
        survive(replace(call, args=[*call.args, *call.args]))
        survive(replace(call, args=call.args[::-1]))

    def probe_sizes(self, call: Bound) -> Any:
        """Pass negative sizes, and absurd ones that do not fit the other arrays."""
        for size in (-1, -(1 << 63)):
            each(call, lambda a, n=size: a.like(shape=[n] * len(a.shape)))
        if len(call.arrays()) > 1:
            for size in ((1 << 63) - 1, 1 << 62):
                one(call, lambda a, n=size: a.like(shape=[n] * len(a.shape)))

    def probe_ranks(self, call: Bound) -> Any:
        """Pass arrays of very many dimensions, of none, and of a negative number of them."""
        each(call, lambda a: a.like(shape=[1] * 300, strides=[1] * 300))
        each(call, lambda a: a.like(shape=[], strides=[]))
        each(call, lambda a: changed(a, ndim=-1))

    def probe_strides(self, call: Bound) -> Any:
        """Pass strides that leave the memory, and no strides, which stand for dense memory."""
        if call.options["checked strides"]:
            each(call, lambda a: a.like(strides=[1 << 40] * len(a.shape)))
            each(call, lambda a: a.like(strides=[-(1 << 62)] * len(a.shape)))
        each(call, lambda a: changed(a, strides=None))

    def probe_dtypes(self, call: Bound) -> Any:
        """Pass element types that do not exist."""
        for kind in ((2, 24, 1), (2, 32, 2), (2, 0, 1), (99, 32, 1), (2, 32, 0)):
            each(call, lambda a, k=kind: changed(a, dtype=DataType(*k)))

    def probe_devices(self, call: Bound) -> Any:
        """Pass devices that do not exist; the number of the host means nothing, so memory has to lie there."""
        host = ((1, -1), (1, 7)) if all(a.memory is None for a in call.arrays()) else ()
        for kind, number in ((0, 0), (99, 0), *host, (2, 1 << 20), (10, 1 << 20)):
            each(call, lambda a, d=(kind, number): changed(a, device=Device(*d)))


def changed(a: Array, **fields: Any) -> Array:
    """Return an array with other fields in its DLPack structure."""
    copy = a.like()
    for name, value in fields.items():
        pointer = ctypes.POINTER(ctypes.c_int64)
        setattr(copy.managed.tensor, name, pointer() if value is None else value)
    return copy


create = Malformed
