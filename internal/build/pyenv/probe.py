"""Describe this Python as JSON; imports nothing that it describes."""

import json
import platform
import sys
import sysconfig
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path


def path(module: str, *parts: str) -> str:
    """Return a folder or file of a package, or "" where there is none."""
    spec = find_spec(module)
    roots = (spec and spec.submodule_search_locations) or []
    found = [p for root in roots if (p := Path(root, *parts)).exists()]
    return str(found[0]) if found else ""


def nvcc() -> str:
    """Return the program of the CUDA compiler's wheels: the newest, should there be several."""
    spec = find_spec("nvidia")
    roots = (spec and spec.submodule_search_locations) or []
    found = [str(p) for root in roots for p in Path(root).glob("cu*/bin/nvcc")]
    return max(found, default="")


def packages() -> dict[str, str]:
    """Return the versions of all distributions. Their whole metadata would take ten times as long to read."""
    found: dict[str, str] = {}
    for distribution in metadata.distributions():
        text = distribution.read_text("METADATA") or distribution.read_text("PKG-INFO") or ""
        lines = [line.partition(":") for line in text.partition("\n\n")[0].splitlines()]
        field = {name: value.strip() for name, _, value in reversed(lines)}  # the first one counts
        if field.get("Name") and field.get("Version"):
            found.setdefault(field["Name"].lower().replace("_", "-"), field["Version"])
    return found


ninja = Path(sysconfig.get_path("scripts"), "ninja")
print(
    json.dumps(
        {
            "version": platform.python_version(),
            "site": sysconfig.get_path("purelib"),
            "tvmInclude": path("tvm_ffi", "include"),
            "tvmLibrary": path("tvm_ffi", "lib", "libtvm_ffi.so"),
            "includes": {name: path(name, "include") for name in sys.argv[2:]},
            "ninja": str(ninja) if ninja.exists() else "",
            "nvcc": nvcc(),
            "packages": packages(),
        }
    )
)
