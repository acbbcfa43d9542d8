"""Where programs in C and C++ find the collection: ``python -m NAME_backend --cmakedir``."""

from __future__ import annotations

import argparse
from pathlib import Path

from . import library_path

_HOME = Path(__file__).parent

_PLACES = {
    "cmakedir": (_HOME / "cmake", "the folder for find_package of CMake"),
    "includedir": (_HOME / "include", "the folder of the header NAME/ops.h"),
    "libfile": (library_path(), "the library"),
}


def main() -> None:
    """Print what is asked for, a line each."""
    parser = argparse.ArgumentParser(prog=f"python -m {__package__}", description=__doc__)
    for name, (_, text) in _PLACES.items():
        parser.add_argument(f"--{name}", action="store_true", help=f"print {text}")
    asked = vars(parser.parse_args())
    if not any(asked.values()):
        parser.error("nothing is asked for")
    for name, (place, _) in _PLACES.items():
        if asked[name]:
            print(place)


main()
