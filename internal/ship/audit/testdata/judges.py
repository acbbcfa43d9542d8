"""Judge libraries by auditwheel and kernel-abi-check: one JSON object for each path on stdin."""

import json
import sys
import tempfile
import zipfile
from pathlib import Path

from auditwheel.architecture import Architecture
from auditwheel.libc import Libc
from auditwheel.wheel_abi import analyze_wheel_abi
from kernel_abi_check import ObjectFile

STANDARD = "manylinux_2_28"


def by_auditwheel(library: Path, folder: Path) -> dict[str, object]:
    """Put the library into a wheel, which is what auditwheel judges."""
    wheel = folder / "demo-1-py3-none-linux_x86_64.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.write(library, "demo/lib.so")
        for name in ("WHEEL", "RECORD"):
            text = "Tag: py3-none-linux_x86_64\n" if name == "WHEEL" else "demo/lib.so,,\n"
            archive.writestr(f"demo-1.dist-info/{name}", text)
    info = analyze_wheel_abi(
        Libc.GLIBC,
        Architecture.x86_64,
        wheel,
        frozenset(),
        disable_isa_ext_check=True,
        allow_graft=False,
    )
    standard = info.policies.get_policy_by_name(f"{STANDARD}_x86_64")
    return {
        "versions": not info.sym_policy < standard,
        "libraries": sorted(info.external_refs[standard.name].libs),
    }


def judge(path: Path, folder: Path) -> dict[str, object]:
    """Say what each judge thinks; a judge that cannot read the file says why."""
    result: dict[str, object] = {}
    try:
        result["auditwheel"] = by_auditwheel(path, folder)
    except Exception as error:  # whatever it trips over
        result["auditwheel_error"] = repr(error)
    try:
        file = ObjectFile(str(path))
        result["kernel"] = {
            "versions": not file.check_manylinux(STANDARD),
            "python": sorted(v.name for v in file.check_python_abi("3.9")),
        }
    except Exception as error:
        result["kernel_error"] = repr(error)
    return result


with tempfile.TemporaryDirectory() as temporary:
    for number, line in enumerate(sys.stdin):
        own = Path(temporary) / str(number)  # auditwheel remembers what it said of a path
        own.mkdir()
        print(json.dumps(judge(Path(line.strip()), own)))
