"""Check one block, by its language."""

from __future__ import annotations

import ast
import contextlib
import inspect
import io
import json
import subprocess
import sys
import tempfile
import textwrap
import threading
from pathlib import Path

import tomllib
from page import ROOT, Block
from shell import Shell, matches

# What a block need not repeat: of a definition, and of the manifest.
DEFINITION = {
    "doc": '"An op."',
    "kind": "900",
    "dtypes": '{ T = ["f32", "f16", "bf16"] }',
    "inputs": '[{ name = "x", type = "T[*, N]", doc = "What the op reads." }]',
    "outputs": '[{ name = "y", type = "T[*, N]", doc = "What the op gives." }]',
    "reference": '"return None"',
}
MANIFEST = {"name": '"demo"', "version": '"0.1.0"', "license": '"Apache-2.0"'}
MORE = {
    "adaptors",
    "build",
    "cuda",
    "devices",
    "files",
    "headers",
    "link",
    "namespace",
    "rocm",
    "sources",
}

output = threading.Lock()  # the output of Python is that of one block at a time


class BlockError(Exception):
    """A block that is not true."""


def expect(block: Block, wanted: str, got: str) -> None:
    """Raise an error if a text is not as wanted."""
    if not matches(wanted, got):
        raise BlockError(f"{block.where}: expected\n{wanted}\ngot\n{got}")


def run_python(code: str, where: str) -> str:
    """Return what the code prints."""
    with output, contextlib.redirect_stdout(io.StringIO()) as out:
        try:
            exec(compile(code, where, "exec"), {})
        except Exception as error:
            raise BlockError(f"{where}: {type(error).__name__}: {error}") from error
    return out.getvalue()


def check_definition(block: Block, shell: Shell) -> str:
    """Let the tool read a definition or a manifest, or a part of one."""
    if block.path:
        return check_project(block, shell.folder, shell)
    text = block.completed()
    keys = set(tomllib.loads(text))
    manifest = keys <= MANIFEST.keys() | MORE
    known = MANIFEST if manifest else DEFINITION
    given = "".join(f"{k} = {v}\n" for k, v in known.items() if k not in keys)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "opcast.toml" if manifest else "opdefs/example.toml")
        path.parent.mkdir(exist_ok=True)
        path.write_text(given + text, encoding="utf-8")
        return check_project(block, Path(folder), shell)


def check_project(block: Block, folder: Path, shell: Shell) -> str:
    """Let the tool read the definitions and the manifest of a folder."""
    complete(folder)
    code, said = shell.start(["opcast", "check"], folder)
    if code:
        raise BlockError(f"{block.where}: {said}")
    return "loaded"


def complete(folder: Path) -> None:
    """Write what a project needs to be one."""
    manifest = folder / "opcast.toml"
    if not manifest.exists():
        manifest.write_text("".join(f"{k} = {v}\n" for k, v in MANIFEST.items()), encoding="utf-8")
    (folder / "opdefs").mkdir(exist_ok=True)


def compile_cpp(block: Block, shell: Shell) -> str:
    """Compile a source of the page's project, or of the runtime only."""
    complete(shell.folder)
    source = shell.write(block.path or "example.cc", block.completed())
    code, said = shell.start(["opcast", "gen"])
    if code == 0:
        runtime, ours = ROOT / "backend", shell.folder / "backend/gen"
        options = ["-x", "c++", "-std=c++17", "-Wall", "-fsyntax-only", f"-I{runtime}", f"-I{ours}"]
        if source.suffix == ".cu":  # not every machine has nvcc
            options += ["-DOPCAST_EMULATOR", f"-I{runtime / 'emulator'}"]
        code, said = shell.start(["c++", *options, str(source)])
    if code:
        raise BlockError(f"{block.where}: {said}")
    return "compiled"


def compile_c(block: Block, shell: Shell) -> str:
    """Compile a source with the header of tvm-ffi."""
    config = [sys.executable, "-m", "tvm_ffi.config", "--cflags"]
    flags = subprocess.check_output(config, text=True).split()
    source = shell.write("example.c", block.completed())
    code, said = shell.start(["cc", "-std=c11", "-Wall", "-fsyntax-only", *flags, str(source)])
    if code:
        raise BlockError(f"{block.where}: {said}")
    return "compiled"


def check_op_page(block: Block, shell: Shell) -> str:
    """Hold the signature of an op's page against the function, and parse the formula, which the suite evaluates."""
    op = Path(block.where.partition(":")[0]).stem
    if not block.text.startswith(f"{op}("):
        ast.parse("def formula():\n" + textwrap.indent(block.text, " "))
        return "parsed"
    with output:
        import opcast_numpy  # noqa: PLC0415  # takes a moment, and only these pages need it

        function = getattr(opcast_numpy, op)
    have = ", ".join(
        f"{p.name}={p.default!r}" if p.default is not p.empty else p.name
        for p in inspect.signature(function).parameters.values()
        if p.name != "out"
    )
    (definition,) = ast.parse(f"def {block.text.strip()}: pass").body
    assert isinstance(definition, ast.FunctionDef)
    expect(block, ast.unparse(definition.args).replace("*, ", ""), have + "\n")
    return "compared"


def check_part(block: Block, source: str) -> None:
    """Look for the lines of a block in a file, where a function may have annotations and a docstring, too."""
    whole = [line.strip() for line in (ROOT / source).read_text(encoding="utf-8").splitlines()]
    lines = block.text.splitlines()
    parts = [[x.strip() for x in lines], [x.strip() for x in lines if not x.startswith("def ")]]
    if not any(whole[i : i + len(part)] == part for part in parts for i in range(len(whole))):
        raise BlockError(f"{block.where}: {source} has no such lines")


def check_json(block: Block, shell: Shell) -> str:
    """Parse the block."""
    json.loads(block.completed())
    return "parsed"


LANGUAGES = {
    "toml": check_definition,
    "cpp": compile_cpp,
    "c": compile_c,
    "json": check_json,
}
