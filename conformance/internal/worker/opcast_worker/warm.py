"""Plain calls before a check, which must change nothing: what a caller learns from calls must not be wrong."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any


def up(config: dict[str, Any], plain: Callable[[], Callable[[], Any]]) -> None:
    """Make as many plain calls as the run wants before each check; plain returns what makes one.

    What they raise is the check's business, which makes the same call.
    """
    if not (count := config.get("warm_up", 0)):
        return
    with contextlib.suppress(Exception):
        call = plain()
        for _ in range(count):
            call()
