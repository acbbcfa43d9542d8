"""Measure how long the same op takes to build after an edit as an extension of PyTorch.

The extension, peers/rms_norm_author.cc and author_torch.py, has kernels and gradients for the CPU, and gives
the results of the collection's op. PyTorch's own ``cpp_extension`` compiles it.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import figures
from figures import Figure

_PEERS = Path(__file__).with_name("peers")
_SOURCE = _PEERS / "rms_norm_author.cc"
_EXTENSION = "opcast_author_peer"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--figures", type=Path, help="write the figures into this file, too")
    parser.add_argument("--cost", type=Path, help="result of opcast bench --suite cost, to compare")
    options = parser.parse_args()
    figure = _edited_extension(options.cost)
    value = f"{figure.samples[0]:.4g} times as long as ours" if figure.samples else figure.missing
    print(f"{figure.what}: {value}")
    if options.figures:
        figures.write(options.figures, [figure])


def _edited_extension(cost: Path | None) -> Figure:
    """Return how many times as long the extension takes to compile after an edit as our own op."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, _SOURCE.name)
        shutil.copy(_SOURCE, source)
        _compiled(source)
        with source.open("a", encoding="utf-8") as file:
            file.write("// An edit.\n")
        seconds = _compiled(source)
        _compare(folder)
    ours = _edited(cost)
    ratio = [seconds / ours] if ours else []
    name, why = "author/edited/ratio", "bench/author.py knows no build after an edit"
    text = f"an extension of PyTorch with one op, edited and compiled in {seconds:.1f} s"
    beside = "opcast build after an edit of one kernel"
    return Figure(name, text, "ratio", ratio, beside=beside, better="more", missing=why)


def _compiled(source: Path) -> float:
    """Return the seconds in which the extension is built, without those in which PyTorch is imported."""
    code = (
        "import sys, time; from torch.utils import cpp_extension;"
        " begin = time.perf_counter();"
        " cpp_extension.load(name=sys.argv[1], sources=[sys.argv[2]], build_directory=sys.argv[3],"
        ' extra_cflags=["-O2"]);'
        " print(time.perf_counter() - begin)"
    )
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # where ninja is
    command = [sys.executable, "-c", code, _EXTENSION, str(source), str(source.parent)]
    return _printed(command, {**os.environ, "PATH": path})


def _compare(folder: str) -> None:
    """Hold the extension against the op of the collection, in a process of its own."""
    code = (
        "import sys, torch; sys.path[:0] = sys.argv[1:3]; __import__(sys.argv[3])\n"
        "import author_torch, opcast_torch\n"
        "for dtype in torch.float32, torch.bfloat16:\n"
        "    x, w = (torch.randn(n, dtype=dtype, requires_grad=True) for n in ((4, 64), (64,)))\n"
        "    got, want = (m.rms_norm(x, w) for m in (author_torch, opcast_torch))\n"
        "    torch.testing.assert_close(got, want)\n"
        "    grads = [torch.autograd.grad(y.sum(), [x, w]) for y in (got, want)]\n"
        "    torch.testing.assert_close(*grads)\n"
        "print(0)"
    )
    _printed([sys.executable, "-c", code, folder, str(_PEERS), _EXTENSION], {**os.environ})


def _printed(command: list[str], environment: dict[str, str]) -> float:
    """Return the number in the last line that a command prints."""
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{command[-2]}: {done.stderr.strip()[-2000:]}")
    return float(done.stdout.split()[-1])


def _edited(cost: Path | None) -> float | None:
    """Return the seconds of our own build after an edit."""
    if cost is None or not cost.exists():
        return None
    found = json.loads(cost.read_text(encoding="utf-8")).get("figures", [])
    values = [f["value"] for f in found if f["name"] == "build/edited/wall" and f["value"]]
    return values[0]["median"] if values else None


if __name__ == "__main__":
    main()
