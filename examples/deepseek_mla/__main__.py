"""Run a layer of DeepSeek-V3 in every adaptor, and hold it against itself and against float64.

Exits 1 unless all frameworks agree in every bit, and all differences are as small as they may be.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import checks
import inputs
import layer
import numpy as np
import plain
from frameworks import NAMES, Framework, load, why_not


def main() -> int:
    """Print both tables and return the exit code."""
    rng = np.random.default_rng(7)
    w, see = inputs.weights(rng), inputs.tokens_to_see(rng)
    x = inputs.half(rng.standard_normal((inputs.TOKENS, inputs.HIDDEN)))
    fws = [load(name) for name in NAMES if not why_not(name)]
    made = [layer.run(fw, x, w, see) for fw in fws]

    print(f"{'':20}" + "".join(f"{fw.name:>8}" for fw in fws) + "   off float64    allowed")
    fine = True
    for name, want, allowed in checks.in_float64(x, w, see, made[0]):
        same = agree(fws, [results[name] for results in made])
        distance = max(plain.off(results[name], want) for results in made)
        cells = "".join(f"{'✓' if cell else 'differs':>8}" for cell in same)
        print(f"{name:20}{cells}{distance:14.1e}{allowed:11.1e}")
        fine &= all(same) and distance <= allowed
    print(f"\n{'two ways to one result':44}     apart    allowed")
    for text, distance, allowed in checks.relations(made[0]):
        print(f"{text:44}{distance:10.1e}{allowed:11.1e}")
        fine &= distance <= allowed
    fine &= all(all(agree(fws, [results[name] for results in made])) for name in made[0])
    print("\nEverything agrees." if fine else "\nSomething does NOT agree.")
    return 0 if fine else 1


def agree(fws: Sequence[Framework], values: Sequence[inputs.Values]) -> list[bool]:
    """Return for each framework whether its bits are those of the first one on the same device."""
    first = dict[str, tuple[str, tuple[int, ...], bytes]]()
    bits = [(v.dtype.name, v.shape, v.tobytes()) for v in values]
    return [own == first.setdefault(fw.device, own) for fw, own in zip(fws, bits)]


if __name__ == "__main__":
    sys.exit(main())
