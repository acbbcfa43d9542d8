"""Measure both ways of the example: lines, and seconds of builds.

Usage: python examples/migrate/measure.py [--lines | OPCAST]

Seconds are those that processors were busy, which other work on the machine changes least. With --lines, nothing is
built. Builds happen in a temporary folder, with the packages of this Python, and share nothing with earlier ones.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
LABEL = "| lines, without blank ones and comments"
COMMENTS = ("//", "#", '"""')
BEFORE = ["before/ops.cpp", "before/kernels.py"]
AFTER = ["opcast.toml", "opdefs/*.toml", "csrc/cpu/*.cc"]


def main() -> None:
    """Print a table of Markdown."""
    print(f"| | before | after |\n|---|---|---|\n{LABEL} | {lines(BEFORE)} | {lines(AFTER)} |")
    if sys.argv[1:] == ["--lines"]:
        return
    tool = sys.argv[1] if len(sys.argv) > 1 else "opcast"
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder, "kit")
        shutil.copytree(HERE, project, ignore=shutil.ignore_patterns("build", ".venv"))
        venv.create(project / ".venv")
        packages = next(project.glob(".venv/lib/python*/site-packages"))
        (packages / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        environment = {
            **os.environ,
            "PATH": path,
            "TORCH_EXTENSIONS_DIR": folder,
            "VIRTUAL_ENV": str(project / ".venv"),
        }

        def seconds(*command: str) -> float:
            begin = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run(command, cwd=project, env=environment, check=True, capture_output=True)
            end = resource.getrusage(resource.RUSAGE_CHILDREN)
            return end.ru_utime + end.ru_stime - begin.ru_utime - begin.ru_stime

        extension = (sys.executable, "-c", "import sys; sys.path[0] = 'before'; import kernels")
        started = seconds(sys.executable, "-c", "import torch.utils.cpp_extension")
        before = [seconds(*extension) - started]
        after = [seconds(tool, "build")]
        for source, command, result in (
            ("before/ops.cpp", extension, before),
            ("csrc/cpu/rms_norm.cc", (tool, "build"), after),
        ):
            edited = project / source
            edited.write_text(edited.read_text() + "static_assert(true);\n")
            result.append(seconds(*command) - (started if result is before else 0))
    print(f"| CPU seconds of the first build | {before[0]:.0f} | {after[0]:.0f} |")
    print(f"| CPU seconds of a build after an edit | {before[1]:.0f} | {after[1]:.1f} |")
    print("| frameworks | PyTorch, eager | PyTorch (eager, compiled, exported), JAX, CuPy, NumPy |")


def lines(patterns: list[str]) -> int:
    """Count the lines of files that say something."""
    texts = (path.read_text() for p in patterns for path in HERE.glob(p))
    return sum(
        bool(line.strip()) and not line.strip().startswith(COMMENTS)
        for text in texts
        for line in text.splitlines()
    )


if __name__ == "__main__":
    main()
