"""What the machine is and what it can do: the ends of the scale for kernels."""

from __future__ import annotations

import os
import platform
import shlex
import subprocess
from pathlib import Path

import figures
import torch
from kernel_clock import Timed, measure

_ROOT = Path(__file__).parents[1]
_BUILT = _ROOT / "build" / "bench"


def describe() -> dict[str, str]:
    """Return what the results depend on, beside the number of threads."""
    return {
        "cpu": figures.machine()["cpu"],
        "cpus": str(os.cpu_count()),
        "L2": f"{cache(2) >> 10} KiB",
        "L3": f"{cache(3) >> 20} MiB",
        "isa": os.environ.get("OPCAST_ISA", "the widest"),
        "system": f"{platform.system()} {platform.machine()}",
    }


def commit() -> str:
    """Return the commit that is checked out, and whether files differ from it."""
    run = ["git", "-C", str(_ROOT), "describe", "--always", "--abbrev=10", "--exclude=*", "--dirty"]
    done = subprocess.run(run, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


def cache(level: int) -> int:
    """Return the bytes of a processor's cache of this level."""
    for index in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*"):
        if int((index / "level").read_text(encoding="utf-8")) == level:
            text = (index / "size").read_text(encoding="utf-8").strip()
            return int(text.removesuffix("K")) << 10
    return 0


def copy(nbytes: int) -> float:
    """Return the bytes per nanosecond that copying this many bytes reads and writes."""
    source = torch.ones(nbytes // 4)
    target = torch.empty_like(source)
    timed = Timed(lambda: target.copy_(source))
    measure([timed], 10, 2.0, 0.0)
    return 2 * nbytes / min(timed.samples)


def fma_peak(threads: int) -> float:
    """Return the GFLOP/s of fused multiply-adds of float32 that wait for nothing."""
    _BUILT.mkdir(parents=True, exist_ok=True)
    source, binary = Path(__file__).with_name("peers") / "fma.cc", _BUILT / "fma"
    compiler = shlex.split(os.environ.get("CXX", "c++"))
    options = ["-O3", "-march=native", "-ffp-contract=fast", "-pthread"]
    subprocess.run([*compiler, *options, str(source), "-o", str(binary)], check=True)
    run = [str(binary), str(threads)]
    done = subprocess.run(run, check=True, capture_output=True, text=True)
    return float(done.stdout)
