"""How many threads a call may use."""

from __future__ import annotations

from ._library import module


def get_num_threads() -> int:
    """Return how many threads a call from this thread may use, the calling one included.

    That is what ``set_num_threads`` has set, else ``<NAME>_NUM_THREADS`` of the environment, else
    the CPUs that the process may use; or what a framework's adaptor allows, if that is less.

    """
    return module["_opcast_get_num_threads"]()


def set_num_threads(n: int) -> None:
    """Set how many threads a call may use, for all later calls of the process.

    Results do not depend on it. Each collection has threads of its own.

    Parameters
    ----------
    n
        At least 1, the calling thread, and at most 4096.

    """
    module["_opcast_set_num_threads"](n)


def limit_threads(address: int) -> None:
    """Have every call that could use several threads ask a framework how many it allows.

    Parameters
    ----------
    address
        That of a C function ``int32_t f(uint32_t* count)``, which stores the number for the thread
        that calls it, and returns 0. It is called without Python's lock. 0: ask none.

    """
    module["_opcast_limit_threads"](address)
