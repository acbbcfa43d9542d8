"""What a registered kernel raises, on its way through the library to who called the op.

The library knows a class by its name and a text. A caller in Python gets the exception itself, which
travels with the error of tvm-ffi.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import tvm_ffi

if TYPE_CHECKING:
    from collections.abc import Callable


_Array: Any = tvm_ffi.Array  # partly untyped


class Raised:
    """Carries an exception as an opaque object of tvm-ffi."""

    def __init__(self, exception: BaseException) -> None:
        self.exception = exception


def raised(exception: BaseException) -> list[Any]:
    """Return an exception as the library takes it: class, text and the exception itself."""
    return [type(exception).__name__, str(exception), Raised(exception)]


def again(fault: BaseException) -> None:
    """Raise what a registered kernel raised, if the fault comes from one.

    An adaptor that is about to try a failed call another way asks first: such a kernel has run, and
    must not run a second time.
    """
    carried = _carried(getattr(getattr(fault, "__tvm_ffi_error__", None), "extra_context", None))
    if carried is None:
        return
    exception = carried.exception
    context = exception.__context__
    try:
        raise exception
    finally:
        exception.__context__ = context  # not the fault, which the caller never sees
        del exception, context, carried, fault  # its traceback holds this frame: no cycle


def _carried(context: Any) -> Raised | None:
    """Return what ``raised`` put into an error, if it did."""
    is_list: bool = isinstance(context, _Array)
    last = context[-1] if is_list and len(context) > 0 else None
    return last if isinstance(last, Raised) else None


def faithful(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Return a kernel whose callers get the exceptions of registered kernels as they were raised."""

    def call(*args: Any) -> Any:
        try:
            return kernel(*args)
        except Exception as fault:
            again(fault)
            raise

    return call
