"""What a step of the server computes on: requests, and the arrays that describe a batch of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from checkpoint import Values

PAGE = 16  # tokens

Rows = list["Request | None"]
Batch = dict[str, Values]


@dataclass
class Request:
    """A prompt, how it is to be continued, and the tokens that follow so far."""

    prompt: Sequence[int]
    most: int
    """How many tokens may follow."""
    top_k: int = 0
    """Sample from the k most probable tokens: 1 takes the most probable one, 0 all."""
    top_p: float = 1.0
    """Sample from the fewest most probable tokens whose share is at least p."""
    tokens: list[int] = field(default_factory=list[int])
    pages: list[int] = field(default_factory=list[int])
    """The pages of the cache that it owns while it runs."""

    @property
    def length(self) -> int:
        """How many tokens there are at most, with those of the prompt."""
        return len(self.prompt) + self.most

    def slots(self, places: Iterable[int]) -> list[int]:
        """Return where in the cache the keys and values of these places belong."""
        return [self.pages[place // PAGE] * PAGE + place % PAGE for place in places]


def of_prompts(rows: Rows) -> Batch:
    """Return the tokens of new prompts, one after the other.

    They are padded to a power of two, so that a compiled step is used again. Padding belongs to no
    sequence, and its slot of -1 is skipped.
    """
    prompts: list[Sequence[int]] = [request.prompt if request else () for request in rows]
    starts = np.cumsum([0, *map(len, prompts)], dtype=np.int32)
    count = 1 << (int(starts[-1]) - 1).bit_length()
    slots = [slot for r in rows if r for slot in r.slots(range(len(r.prompt)))]
    return {
        "ids": _padded([token for prompt in prompts for token in prompt], count, 0),
        "positions": _padded(
            [place for prompt in prompts for place in range(len(prompt))], count, 0
        ),
        "slots": _padded(slots, count, -1),
        "starts": starts,
        "last": np.maximum(starts[1:] - 1, 0),
        **_choices(rows),
    }


def of_last_tokens(rows: Rows, width: int) -> Batch:
    """Return the last token of each request, and where all of its keys lie: in `width` pages at most."""
    ids, places, slots = ([0] * len(rows), [-1] * len(rows), [-1] * len(rows))
    tables = np.zeros((len(rows), width), np.int32)
    for row, request in enumerate(rows):
        if request:
            ids[row] = request.tokens[-1]
            places[row] = len(request.prompt) + len(request.tokens) - 1
            (slots[row],) = request.slots([places[row]])
            tables[row, : len(request.pages)] = request.pages
    return {
        "ids": np.array(ids, np.int32),
        "positions": np.array([max(place, 0) for place in places], np.int32),
        "slots": np.array(slots, np.int32),
        "tables": tables,
        "lengths": np.array([place + 1 for place in places], np.int32),
        "last": np.arange(len(rows), dtype=np.int32),
        **_choices(rows),
    }


def _padded(values: list[int], count: int, padding: int) -> Values:
    return np.array(values + [padding] * (count - len(values)), np.int32)


def _choices(rows: Rows) -> Batch:
    return {
        "top_k": np.array([request.top_k if request else 1 for request in rows], np.int32),
        "top_p": np.array([request.top_p if request else 1 for request in rows], np.float32),
    }
