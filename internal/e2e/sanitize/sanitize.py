"""Run the C++ tests, and the suite's callers that need no framework, under sanitizers.

First AddressSanitizer and UndefinedBehaviorSanitizer, then ThreadSanitizer. Each gets a copy of the project in
``build/sanitize/<name>`` with a library of its own. Ends with 1 if a test fails or a sanitizer reports anything, and also if
it does not notice an error that is planted into the copy at the end. Needs GCC; docs/sanitizers.md has more.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent.parent.parent
COPIED = ("opcast.toml", "opdefs", "tune", "bench", "csrc", "backend", "adaptors", "docs")
PYTHON = ROOT / ".venv" / "bin" / "python"


class Kind(NamedTuple):
    """A run: compiler flags, the library that must be loaded first, options, and an error that must be found."""

    flags: list[str]
    runtime: str
    options: dict[str, str]
    planted: str
    callers: tuple[str, ...]


# GCC takes addresses of functions in constant expressions for unknown under the three checks that are left out. What they
# find, null pointers, AddressSanitizer finds, too, when they are used.
NULLS = "-fno-sanitize=null,nonnull-attribute,returns-nonnull-attribute"

KINDS = {
    "address": Kind(
        ["-fsanitize=address,undefined", NULLS, "-fno-sanitize-recover=all"],
        "libasan.so",
        {
            # Python and the library keep memory to the end on purpose; the suite's check `leaks` counts what calls leave.
            "ASAN_OPTIONS": "detect_leaks=0",
            "UBSAN_OPTIONS": "print_stacktrace=1",
        },
        "volatile char* planted = new char[n_]; planted[n_] = 1; delete[] planted;",
        ("backend", "native"),
    ),
    "thread": Kind(
        ["-fsanitize=thread"],
        "libtsan.so",
        # Children of a process with threads start threads of their own, which the pool supports.
        # What tvm-ffi's handler of signals does is not the library's.
        {"TSAN_OPTIONS": "die_after_fork=0:report_signal_unsafe=0"},
        # GCC instruments no variable whose address stays in the function, so all write a member of the job. The pause
        # keeps the calling thread from taking all chunks before another one wakes.
        "*const_cast<volatile int64_t*>(&n_) = n_;"
        " timespec pause{0, 5000000}; nanosleep(&pause, nullptr);",
        (
            "backend",
        ),  # how Go synchronises its threads and uses memory again is not seen: false reports
    ),
}

PLACE = "        try {\n          body_("  # where a thread takes a chunk
OPTIMISED = "-O3 -g0"
GROWN = "random calls: the process grew by 0 bytes of malloc and by"


def run(words: list[str], folder: Path = ROOT, extra: dict[str, str] | None = None) -> int:
    """Run a command, and return its exit code."""
    return subprocess.run(
        words, cwd=folder, env={**os.environ, **(extra or {})}, check=False
    ).returncode


def output(words: list[str]) -> str:
    """Return what a command prints."""
    return subprocess.run(
        words, cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.strip()


def steady() -> list[str]:
    """Return what starts a program so that its memory lies where sanitizers expect it.

    Where the kernel chooses addresses from more than 28 random bits, GCC's sanitizers before version 14 may refuse to run.
    """
    bits = Path("/proc/sys/vm/mmap_rnd_bits")
    return ["setarch", "-R"] if bits.is_file() and int(bits.read_text()) > 28 else []


class Run:
    """All that is done under one kind of sanitizer."""

    def __init__(self, name: str, options: argparse.Namespace) -> None:
        self.kind = KINDS[name]
        self.options = options
        self.folder = ROOT / "build" / "sanitize" / name
        self.compiler = [*shlex.split(os.environ.get("CXX", "g++")), *self.kind.flags]
        self.reports = self.folder / "reports"

    def tests(self) -> bool:
        """Compile and run the C++ tests."""
        extra = {
            **self.kind.options,
            "CXX": shlex.join([*self.compiler, "-g1"]),
            "OPCAST_TEST_PYTHON": str(PYTHON),
        }
        words = [
            os.environ.get("GO", "go"),
            "test",
            "-count=1",
            "-timeout=40m",
            "-run=^TestCPP",
            "./internal/e2e",
        ]
        return run([*steady(), *words], extra=extra) == 0

    def copy(self) -> None:
        """Copy the project, as git sees it; sources that it has no more do not stay in the copy."""
        names = output(["git", "ls-files", "--cached", "--others", "--exclude-standard", *COPIED])
        for folder in ("csrc", "opdefs", "adaptors/*/csrc", "backend/opcast", "backend/gen"):
            for path in self.folder.glob(f"{folder}/**/*"):
                if path.is_file() and not (ROOT / path.relative_to(self.folder)).is_file():
                    path.unlink()
        for name in names.splitlines():
            source, copy = ROOT / name, self.folder / name
            if source.suffix == ".go":
                continue  # it would be part of this module
            if source.is_file() and not (
                copy.is_file() and copy.read_bytes() == source.read_bytes()
            ):
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, copy)

    def build(self) -> bool:
        """Build the library with the recipe of packages that build themselves; `opcast build` allows no such symbols."""
        recipe = (self.folder / "backend/python/src/opcast_backend/recipes/cpu.ninja").read_text()
        if OPTIMISED not in recipe:
            raise SystemExit(f"sanitize: the recipe does not say {OPTIMISED}")
        headers = output(
            [str(PYTHON), "-c", "import tvm_ffi.libinfo as i; print(i.find_include_path())"]
        )
        variables = {
            "cxx": shlex.join(self.compiler),
            "cxx_flags": "-fno-gnu-unique",
            "project": str(self.folder),
            "build_id": "sanitize",
            "sources": self.sources(),
            "tvm_ffi": headers,
        }
        lines = [f"{name} = {value}\n" for name, value in variables.items()]
        out = self.folder / "build" / "release"
        out.mkdir(parents=True, exist_ok=True)
        (out / "build.ninja").write_text("".join(lines) + recipe.replace(OPTIMISED, "-O1 -g1"))
        words = [str(PYTHON.with_name("ninja")), "--quiet", "-f", "build/release/build.ninja"]
        if run([*words, "build/release/libopcast.so"], self.folder) != 0:
            return False
        home = self.folder / "backend/python/src/opcast_backend/lib"
        home.mkdir(exist_ok=True)
        shutil.copyfile(out / "libopcast.so", home / "libopcast.so")
        return True

    def sources(self) -> str:
        """Return the digest of the sources, which are those of the library that `make build` has made."""
        words = ["objcopy", "-O", "binary", "--only-section=.opcast"]
        return output([*words, str(ROOT / "build/release/libopcast.so"), "/dev/stdout"]).strip("\0")

    def suite(self, only: str, ops: list[str]) -> tuple[int, list[Path]]:
        """Run checks of the suite; return its exit code and the reports of the sanitizers."""
        shutil.rmtree(self.reports, ignore_errors=True)
        self.reports.mkdir(parents=True)
        checks = self.folder / "build" / "only"
        checks.write_text(only)
        # The C++ library comes second, since Python does not link it, and exceptions are looked up when the first one loads.
        loaded = [
            output([*self.compiler, f"-print-file-name={name}"])
            for name in (self.kind.runtime, "libstdc++.so")
        ]
        extra = {
            name: f"{text}:log_path={self.reports / 'report'}"
            for name, text in self.kind.options.items()
        }
        extra |= {
            "LD_PRELOAD": " ".join(str(Path(path).resolve()) for path in loaded),
            "OPCAST_NUM_THREADS": "4",
            "OPENBLAS_NUM_THREADS": "1",  # NumPy's threads wait in ways that ThreadSanitizer does not see
            "PYTHONMALLOC": "malloc",  # so that even small arrays have bounds
        }
        words = [
            str(ROOT / "build/bin/opcast"),
            "test",
            "--no-build",  # it would put a library without the sanitizer in place of ours
            "-C",
            str(self.folder),
            "--python",
            str(PYTHON.parent.parent),
        ]
        words += [
            "--adaptor",
            ",".join(self.kind.callers),
            "--only",
            str(checks),
            "--random",
            "300",
        ]
        words += ["--jobs", str(self.options.jobs), "--report", str(self.folder / "report")]
        code = run([*steady(), *words, *ops], extra=extra)
        return code, sorted(self.reports.iterdir())

    def checks(self) -> bool:
        """Run every check of the two callers on all ops, and show the reports."""
        code, reports = self.suite(
            "".join(f"* {c} *\n" for c in self.kind.callers), self.options.ops
        )
        for report in reports[:10]:
            print(f"{report}:\n{report.read_text(errors='replace')[:4000]}", flush=True)
        return (code == 0 or self.only_grown()) and not reports

    def only_grown(self) -> bool:
        """Say whether nothing failed but the bound on resident memory, which is not meant for sanitizers.

        They keep what is freed, and remember accesses; what malloc gave out is counted all the same.
        """
        failed = [
            r["reason"]
            for r in json.loads((self.folder / "report" / "report.json").read_text())["results"]
            if r["status"] not in {"pass", "skip", "unsupported"}
        ]
        return bool(failed) and all(GROWN in reason for reason in failed)

    def plant(self) -> bool:
        """Plant an error into the copy, and see that it is reported."""
        job = self.folder / "backend/opcast/job.h"
        text = job.read_text()
        if text.count(PLACE) != 1:
            raise SystemExit("sanitize: the place for the planted error is gone from job.h")
        job.write_text(text.replace(PLACE, f"        {self.kind.planted}\n{PLACE}"))
        try:
            built = self.build()
        finally:
            job.write_text(text)
        if not built:
            return False
        # Of all checks, these make the most calls that several threads share.
        checks = "* backend leaks\n* backend sizes\n* backend threads\n"
        _, reports = self.suite(checks, self.options.ops)
        return any("job.h" in report.read_text(errors="replace") for report in reports)


def main() -> int:
    """Run everything, and say what passed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kind", choices=KINDS, action="append", help="only this kind")
    parser.add_argument(
        "--step", choices=("tests", "checks", "plant"), action="append", help="only this step"
    )
    parser.add_argument("--jobs", type=int, default=2, help="how many processes the suite uses")
    parser.add_argument("ops", nargs="*", help="only these ops")
    options = parser.parse_args()
    lines: list[str] = []
    passed = True
    for name in options.kind or KINDS:
        one = Run(name, options)
        one.copy()
        steps = {
            "tests": ("the C++ tests", one.tests),
            "build": ("the library builds", one.build),
            "checks": (f"the suite: {' and '.join(one.kind.callers)}", one.checks),
            "plant": ("a planted error is found", one.plant),
        }
        for step, (what, act) in steps.items():
            if options.step and step not in {"build", *options.step}:
                continue
            begin = time.monotonic()
            good = act()
            passed = passed and good
            lines.append(
                f"{'ok' if good else 'FAILED':7}{name:9}{what} ({time.monotonic() - begin:.0f} s)"
            )
            print(lines[-1], flush=True)
    print("\nsanitize:", "passed" if passed else "FAILED", *lines, sep="\n")
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
