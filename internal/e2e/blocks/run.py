"""Run the blocks of Markdown files and compare what they print with what the files say.

Usage: python internal/e2e/blocks/run.py [FILE...], by default all pages of the repository.

A `python` block runs by itself; its output is the `text` block right after it. A `console` block has
commands after "$ " and their output, where "..." stands for any part of a line, or for lines. They run
in a scratch folder, one for each page. A block with a path after its language is a file: the same in the
repository, or written into the scratch folder. Definitions are read by `opcast check`, which gets the
keys that an example leaves out; C++ is compiled.

Comments above a block say the rest:

    <!-- with                   text around the block, in which a line "..." stands for the block
    <!-- with PATH              a file of the scratch folder
    <!-- commands fail -->      some of them, with exit status 1
    <!-- part of PATH -->       the block is an excerpt of this file of the repository
    <!-- run by TestName -->    the Go test that runs it; "all blocks are run by" stands for a page
    <!-- not run: reason -->

Around commands stand other commands, which run before them; around output stands Python that prints it.

A block that nothing runs, and that no comment excuses, is a fault. So is a block that is not true.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from check import LANGUAGES, BlockError, check_op_page, check_part, expect, run_python
from page import ROOT, WHOLE, Block, blocks
from shell import Shell

Count = Counter[tuple[str, str]]


def main(files: list[str]) -> int:
    """Check all files, print what was done with their blocks and the faults, and return the exit code."""
    pages = files or git("ls-files", "*.md")
    # Pages of ops are many and short; the others are begun first, since one of them takes half of the time.
    pages.sort(key=lambda page: (page.startswith("docs/ops/"), page != "README.md"))
    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(check_page, pages))
    total: Count = sum((count for count, _ in results), Count())
    for (language, done), number in sorted(total.items()):
        print(f"{number:4} {language or 'no language'}: {done}")
    faults = [fault for _, found in results for fault in found]
    print("\n".join(faults) or "all blocks are true")
    return 1 if faults else 0


def check_page(page: str) -> tuple[Count, list[str]]:
    """Return what was done with the blocks of a page, and what is wrong with them."""
    count: Count = Count()
    faults: list[str] = []
    found = blocks(page)
    whole = WHOLE.search((ROOT / page).read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as scratch:
        shell = Shell(Path(scratch))
        printed = ""
        for i, block in enumerate(found):
            if whole:
                block.remarks.append(f"run by {whole[1]}")
            try:
                done, printed = check(block, found[i + 1 :], shell, printed)
            except BlockError as fault:
                done, printed = "wrong", ""
                faults.append(str(fault))
            count[block.language, done] += 1
    return count, faults


def check(block: Block, later: list[Block], shell: Shell, printed: str) -> tuple[str, str]:
    """Return what was done with a block, and what it printed, for the block after it."""
    for path, text in block.files().items():
        shell.write(path, text)
    if block.remark("not run:"):
        return "not run", ""
    if test := block.remark("run by "):
        if not git("grep", "-l", f"^func {test}(", "--", "*_test.go"):
            raise BlockError(f"{block.where}: there is no test {test}")
        return "run by a test", ""
    if source := block.remark("part of "):
        check_part(block, source)
        return "the same in the repository", ""
    if "/" in block.path and (ROOT / block.path).is_file():
        expect(block, block.text, (ROOT / block.path).read_text(encoding="utf-8"))
        return "the same in the repository", ""
    if block.path:
        shell.write(block.path, block.text)
        if any(b.language == "console" for b in later):
            return "written for commands", ""
    return run(block, later, shell, printed)


def run(block: Block, later: list[Block], shell: Shell, printed: str) -> tuple[str, str]:
    """Do with a block what its language calls for."""
    if block.where.startswith("docs/ops/"):
        return check_op_page(block, shell), ""
    if block.language == "python":
        got = run_python(block.completed(), block.where)
        if not (later and later[0].language == "text" and later[0].follows):
            expect(block, "", got)
        return "run", got
    if block.language == "console":
        shell.prepare(block.completed().removesuffix(block.text))
        got = shell.run(block.text)
        if block.remark("commands fail") is not None:
            got = got.replace("exit status 1\n", "")
        expect(block, block.text, got)
        return "run", ""
    if block.language in LANGUAGES:
        return LANGUAGES[block.language](block, shell), ""
    if block.language in ("text", ""):
        # Output of the block above, or of Python that a comment holds.
        hidden = block.completed().removesuffix(block.text)
        if hidden:
            printed = run_python(hidden, block.where)
        if printed:
            expect(block, block.text, printed)
            return "compared", ""
    raise BlockError(f"{block.where}: nothing runs this block: see {Path(__file__).name}")


def git(*words: str) -> list[str]:
    """Return the lines that git prints."""
    done = subprocess.run(["git", *words], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    return done.stdout.splitlines()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
