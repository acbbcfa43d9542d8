"""How many stretches the samples of a benchmark have, and of how many calls, by a clock that only calls move on."""

from __future__ import annotations

from typing import Any

from opcast_worker import turns

MICROSECONDS = {
    "op": 300,
    "copy": 9_000,
    "peer": 500,
    "slow": 2_000,
    "slower": 8_000,
    "far slower": 30_000,
    "hopeless": 200_000,
}


class Clock:
    """Stands for the module ``time``."""

    now = 0

    def perf_counter_ns(self) -> int:
        """Return what calls have taken."""
        return self.now

    def monotonic(self) -> float:
        """Return the same in seconds."""
        return self.now / 1e9

    def sleep(self, seconds: float) -> None:
        """Rest."""
        self.now += int(seconds * 1e9)


def call(clock: Clock, microseconds: int) -> None:
    """Take time."""
    clock.now += 1_000 * microseconds


def main() -> None:
    """Take a few rounds and print the numbers and the samples."""
    clock: Any = Clock()
    turns.time = clock
    timed = {
        name: turns.Timed(lambda us=us: call(clock, us), lambda result: None, eager=True)
        for name, us in MICROSECONDS.items()
    }
    slow = turns.run(list(timed.values()), rounds=3, seconds=1, rest=turns.REST)
    for name, one in timed.items():
        print(name, one.stretches, one.number, [ns / 1_000 for ns in one.samples])
    print([list(timed)[i] for i in slow])


main()
