"""A line of the overhead table."""

from __future__ import annotations

from dataclasses import dataclass

import figures
from statement import Call

SHAPE = (4, 16)


@dataclass(frozen=True)
class Row:
    """A line of the table: what is called and how, and the line that it is compared with, if any."""

    what: str
    call: Call
    peer: str = ""

    @property
    def name(self) -> str:
        """The words that begin the names of its figures."""
        return f"overhead/{figures.slug(self.what)}"

    @property
    def budget(self) -> float | None:
        """The largest ratio to the peer that is accepted, or None for the peers themselves."""
        return figures.budget(f"{self.name}/ratio")
