"""A line of the overhead table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import figures
from statement import Call

SHAPE = (4, 16)

REST = "the rest: frame, branches, wait for and release of the result"


@dataclass(frozen=True)
class Row:
    """A line of the table: what is called and how, and the line that it is compared with, if any.

    ``split`` returns what explains the time: parts of the call, each by itself; ``rest`` is what they leave.
    A line with a budget has parts.
    """

    what: str
    call: Call
    peer: str = ""
    split: Callable[[], list[Call]] | None = None
    rest: str = REST

    def __post_init__(self) -> None:
        assert self.budget is None or self.split, f"{self.what}: a budget needs a split"

    @property
    def name(self) -> str:
        """The words that begin the names of its figures."""
        return f"overhead/{figures.slug(self.what)}"

    @property
    def budget(self) -> float | None:
        """The largest ratio to the peer that is accepted, or None for the peers themselves."""
        return figures.budget(f"{self.name}/ratio")
