"""Run the blocks of a Markdown file and compare what they print with what the file says.

Usage: python examples/check_readme.py [FILE...], by default the files in `PAGES`.

A `python` block runs by itself; its output is the `text` block right after it. A `console` block has
commands after "$ " and their output, where "..." stands for any part of a line, or for lines. A block
with a path after its language is a file: the same in the repository, or written to the scratch folder in
which the commands run. That folder shows the examples, and has an environment of its own that borrows the
packages of this one, so nothing is installed here.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
import sysconfig
import tempfile
import venv
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PAGES = ["README.md", "docs/calling.md", "docs/errors.md", "docs/kernels.md"]
PATTERN = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


# Any lines but the one that says that a command failed.
ANY = r"(?:(?!exit status ).*\n)*?"


class Block(NamedTuple):
    """A fenced block: its language, the path after it, its text and its place."""

    language: str
    path: str
    text: str
    where: str


def main(files: list[str]) -> int:
    """Check all files and return the exit code."""
    faults: list[str] = []
    for name in files or PAGES:
        with tempfile.TemporaryDirectory() as scratch:
            faults += check(blocks(ROOT / name), Path(scratch))
    print("\n".join(faults) or "all blocks are true")
    return 1 if faults else 0


def blocks(path: Path) -> list[Block]:
    """Return the fenced blocks of a Markdown file that name a language."""
    text = path.read_text(encoding="utf-8")
    return [
        Block(m[1], m[2] or "", m[3], f"{path.name}:{text.count(chr(10), 0, m.start()) + 1}")
        for m in PATTERN.finditer(text)
    ]


def check(found: list[Block], scratch: Path) -> list[str]:
    """Return a text for each block that is not true."""
    faults: list[str] = []
    shell = Shell(scratch)
    for block, after in zip(found, [*found[1:], None]):
        wanted, got = "", ""
        if block.path and (ROOT / block.path).is_file():
            wanted, got = block.text, (ROOT / block.path).read_text(encoding="utf-8")
        elif block.path:
            target = shell.folder / block.path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(block.text, encoding="utf-8")
        elif block.language == "python":
            wanted = after.text if after and after.language == "text" else ""
            got = run_python(block.text)
        elif block.language == "console":
            wanted, got = block.text, shell.run(block.text)
        if not matches(wanted, got):
            faults.append(f"{block.where}: expected\n{wanted}\ngot\n{got}")
    return faults


def matches(wanted: str, got: str) -> bool:
    """Return whether a text is as wanted, where "..." stands for any part of a line, or for lines."""
    lines = [
        ANY if line == "..." else re.escape(line).replace(r"\.\.\.", ".*") + r"\s*\n"
        for line in wanted.splitlines()
    ]
    return re.fullmatch("".join(lines), got) is not None


def run_python(code: str) -> str:
    """Return what the code prints."""
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(code, "<readme>", "exec"), {})
    return out.getvalue()


class Shell:
    """A scratch folder in which commands run, with `opcast` and a Python environment on the path."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "examples").symlink_to(ROOT / "examples")
        environment = folder / ".venv"
        self.variables = {
            **os.environ,
            "VIRTUAL_ENV": str(environment),
            "PATH": os.pathsep.join(
                [str(environment / "bin"), str(ROOT / "build/bin"), os.environ["PATH"]]
            ),
        }

    def run(self, text: str) -> str:
        """Return the commands of a block, each with the output that it has now."""
        self._make_environment()
        lines: list[str] = []
        for line in text.splitlines():
            if not line.startswith("$ "):
                continue
            lines.append(line + "\n")
            command = line.removeprefix("$ ")
            if command.startswith("cd "):
                self.folder /= command.removeprefix("cd ")
                continue
            done = subprocess.run(
                ["bash", "-c", command],
                cwd=self.folder,
                env=self.variables,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
            )
            lines.append(done.stdout)
            if done.returncode:
                lines.append(f"exit status {done.returncode}\n")
        return "".join(lines)

    def _make_environment(self) -> None:
        environment = Path(self.variables["VIRTUAL_ENV"])
        if environment.is_dir():
            return
        venv.create(environment)
        packages = next(environment.glob("lib/python*/site-packages"))
        here = sysconfig.get_path("purelib")
        line = f"import site; site.addsitedir({here!r})\n"
        (packages / "packages.pth").write_text(line, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
