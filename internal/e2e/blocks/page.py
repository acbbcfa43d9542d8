"""Read the fenced blocks of a Markdown file, each with the comments above it."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[3]
FENCE = re.compile(r"^ *(```+)(\w*[+]*)(?: (\S+))?$")
WHOLE = re.compile(r"^<!-- all blocks are run by (\w+) -->$", re.MULTILINE)


class Block(NamedTuple):
    """A fenced block."""

    language: str
    path: str  # what stands after the language: the block is this file
    text: str
    where: str  # the page and the line
    remarks: list[str]  # the comments above it
    follows: bool  # nothing stands between it and the block before

    def remark(self, start: str) -> str | None:
        """Return the rest of the first comment that starts so."""
        found = (r.removeprefix(start).strip() for r in self.remarks if r.startswith(start))
        return next(found, None)

    def completed(self) -> str:
        """Return the text within the comment that completes it, in the place of its line "..."."""
        around = next((r[5:] for r in self.remarks if r.startswith("with\n")), "...")
        before, _, behind = f"{around.strip(chr(10))}\n".partition("...\n")
        return before + self.text + behind

    def files(self) -> dict[str, str]:
        """Return the files that comments hold, by their paths."""
        return {
            head.removeprefix("with "): text + "\n"
            for head, _, text in (r.partition("\n") for r in self.remarks)
            if head.startswith("with ")
        }


def blocks(page: str) -> list[Block]:
    """Return the fenced blocks of a page of the repository."""
    found: list[Block] = []
    remarks: list[str] = []
    text = (ROOT / page).read_text(encoding="utf-8")
    lines = iter(enumerate(text.splitlines(), 1))
    follows = False
    for number, line in lines:
        if m := FENCE.match(line):
            inside: list[str] = []
            for _, inner in lines:
                if inner.strip() == m[1]:
                    break
                inside.append(inner)
            body = textwrap.dedent("\n".join(inside)) + "\n"
            found.append(Block(m[2], m[3] or "", body, f"{page}:{number}", remarks, follows))
            remarks, follows = [], True
        elif line.lstrip().startswith(("```", "~~~")):
            raise ValueError(f"{page}:{number}: a fence has a language and a path at most")
        elif line.lstrip().startswith("<!--"):
            comment = line.strip()
            while not comment.endswith("-->"):
                comment += "\n" + next(lines)[1]
            remarks.append(comment.removeprefix("<!--").removesuffix("-->").strip(" \n"))
        elif line.strip():
            remarks, follows = [], False
    return found
