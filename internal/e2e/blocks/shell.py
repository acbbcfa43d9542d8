"""A scratch folder in which the commands of a page run."""

from __future__ import annotations

import os
import re
import subprocess
import sysconfig
import venv
from pathlib import Path

from page import ROOT

# Any lines but the one that says that a command failed.
ANY = r"(?:(?!exit status ).*\n)*?"


def matches(wanted: str, got: str) -> bool:
    """Return whether a text is as wanted, where "..." stands for any part of a line, or for lines."""
    lines = [
        ANY if line.strip() == "..." else re.escape(line).replace(r"\.\.\.", ".*") + r"\s*\n"
        for line in wanted.splitlines()
    ]
    return re.fullmatch("".join(lines), got) is not None


class Shell:
    """A scratch folder, with `opcast` and a Python environment on the path.

    The folder shows the examples. The environment borrows the packages of this one, so nothing is installed here.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = self.home = folder
        (folder / "examples").symlink_to(ROOT / "examples")
        self.environment = folder / ".venv"

    def prepare(self, script: str) -> None:
        """Run commands that no page shows."""
        self._make_environment()
        code, output = self.start(["bash", "-e", "-c", script])
        if code:
            raise RuntimeError(f"{script}\n{output}")

    def run(self, text: str) -> str:
        """Return the commands of a block, each with the output that it has now.

        A command that fails has the line "exit status N" below its output.
        """
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
            code, output = self.start(["bash", "-c", command])
            lines.append(output)
            if code:
                lines.append(f"exit status {code}\n")
        return "".join(lines)

    def start(self, command: list[str], folder: Path | None = None) -> tuple[int, str]:
        """Return the exit status and the output of a command, here or in another folder."""
        done = subprocess.run(
            command,
            cwd=folder or self.folder,
            env={
                **os.environ,
                "HOME": str(self.home),
                "VIRTUAL_ENV": str(self.environment),
                "PATH": os.pathsep.join(
                    [str(self.environment / "bin"), str(ROOT / "build/bin"), os.environ["PATH"]]
                ),
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout

    def write(self, path: str, text: str) -> Path:
        """Write a file into the folder."""
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        return target

    def _make_environment(self) -> None:
        if self.environment.is_dir():
            return
        venv.create(self.environment)
        packages = next(self.environment.glob("lib/python*/site-packages"))
        here = sysconfig.get_path("purelib")
        line = f"import site; site.addsitedir({here!r})\n"
        (packages / "packages.pth").write_text(line, encoding="utf-8")
