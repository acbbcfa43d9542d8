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
            "packages": {
                d.name.lower().replace("_", "-"): d.version
                for d in metadata.distributions()
                if d.name
            },
        }
    )
)
