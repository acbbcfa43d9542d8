"""What a registered kernel raises, on its way through the library to who called the op.

The library knows a class by its name and a text. A caller in Python gets the exception itself, which
travels with the error of tvm-ffi.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._library import module
from ._tvm_ffi import tvm_ffi

_Array: Any = tvm_ffi.Array


class Raised:
    """Carries an exception as an opaque object of tvm-ffi."""

    exception: BaseException | None = None


def returning(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that returns what the given one raises, as the library takes it.

    That is the class, the text and the exception itself; or only the latter, if it cannot be put into
    words. A signal may raise an exception after any call, and here it would be lost to tvm-ffi, which
    knows few classes. So the handlers call nothing: Python looks for signals when a function is
    called or has returned, not between.
    """

    def call(*args: Any) -> Any:
        carried = Raised()
        try:
            try:
                return function(*args)
            except BaseException as exception:
                carried.exception = exception
            try:
                return _Array([*_words(carried.exception), carried])
            except BaseException:  # of a signal, or of a class that is up to something
                return carried
        finally:
            del carried  # the exception's traceback holds this frame: no cycle

    return call


def _words(exception: BaseException) -> tuple[str, str]:
    """Return class and text of an exception, as tracebacks print them."""
    kind = type(exception)
    name = kind.__name__
    if kind.__module__ != "builtins":  # tvm-ffi makes what has a name that it knows, from a text
        name = f"{kind.__module__}.{kind.__qualname__}"
    try:
        text = str(exception)
    except Exception:
        text = "<exception str() failed>"
    return printable(name), printable(text)


def printable(text: str) -> str:
    """Return a text with what UTF-8 cannot have, lone surrogates, written out."""
    return text.encode(errors="backslashreplace").decode()


def again(fault: BaseException) -> None:
    """Raise what a registered kernel raised, if the fault comes from one.

    An adaptor that is about to try a failed call another way asks first: such a kernel has run, and
    must not run a second time.
    """
    carried = _carried(getattr(getattr(fault, "__tvm_ffi_error__", None), "extra_context", None))
    if carried is None or carried.exception is None:
        return
    exception = carried.exception
    context = exception.__context__
    try:
        raise exception
    finally:
        exception.__context__ = context  # not the fault, which the caller never sees
        del exception, context, carried, fault  # its traceback holds this frame: no cycle


def _carried(context: Any) -> Raised | None:
    """Return what ``returning`` put into an error, if it did."""
    is_list: bool = isinstance(context, _Array)
    last = context[-1] if is_list and len(context) > 0 else None
    return last if isinstance(last, Raised) else None


def reraise(fault: BaseException) -> None:
    """Raise the error of the library behind a fault that has only its class and text, if there is one.

    PyTorch passes no more of an error on than its text; the library still has the error itself.
    """
    try:
        module["_opcast_raise"](printable(str(fault)))
    except Exception as error:
        again(error)
        raise error from None


def faithful(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Return a kernel whose callers get the exceptions of registered kernels as they were raised."""

    def call(*args: Any) -> Any:
        try:
            return kernel(*args)
        except Exception as fault:
            again(fault)
            raise

    return call
