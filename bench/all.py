"""Run all benchmarks and print which budgets hold; ``make bench`` does.

What a part prints is in build/bench/parts, and what it measured beside it. All together are the result
build/bench/bench.json and the page build/bench/index.html. A part that fails is told, and its figures
are not measured; so is one that is not done when the 20 minutes are over.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import figures
from figures import ROOT, Figure

_HERE = Path(__file__).parent
_PARTS = ROOT / "build" / "bench" / "parts"
_OPCAST = ROOT / "build" / "bin" / "opcast"
_BUDGETS = _HERE / "budgets.toml"
_PUBLISHED = _HERE / "measured.json"
"""What --publish writes: the rows that the pages of ops show, and the figures that budgets are about."""

_PAGE = ROOT / "docs" / "status.md"
"""Where --publish puts the table of budgets."""

_TAIL = 15
_LIMIT_S = 20 * 60 - 5
"""Seconds for all parts together; the table needs a moment, too."""


@dataclass(frozen=True)
class Part:
    """A benchmark, by its word on the command line; the file for figures is appended to its command."""

    name: str
    command: Sequence[str | Path]

    @property
    def result(self) -> Path:
        """The file for its figures."""
        return _PARTS / f"{self.name}.json"

    def run(self, seconds: float) -> int | str:
        """Run it and return its exit code, or what else has ended it."""
        self.result.unlink(missing_ok=True)
        with self.result.with_suffix(".log").open("w", encoding="utf-8") as log:
            command = [*self.command, self.result]
            run = subprocess.Popen(
                command, stdout=log, stderr=log, cwd=ROOT, env=_environ(), start_new_session=True
            )
            try:
                return run.wait(max(seconds, 1))
            except subprocess.TimeoutExpired:
                return "the end of the time"
            finally:
                if run.poll() is None:  # a signal, or no time: nothing that it started stays
                    os.killpg(run.pid, signal.SIGKILL)
                    run.wait()


def _environ() -> dict[str, str]:
    """Return the environment of all parts: where peers are, and what torch.compile has made before."""
    found = [str(_HERE / "peers"), os.environ.get("PYTHONPATH", "")]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, found)),
        "TORCHINDUCTOR_CACHE_DIR": str(ROOT / "build" / "bench" / "inductor"),
    }


def parts() -> list[Part]:
    """Return all benchmarks. Frameworks are by themselves, since some workloads fill a gigabyte."""
    return [
        Part("overhead", [*_script("overhead.py"), "--rounds", "60", "--figures"]),
        Part("calls", _suite("calls", "torch,jax,numpy", 1, rounds=15, seconds=0.15)),
        Part("cost", _suite("cost", "torch,jax,numpy", 1)),
        Part("work", [*_script("work.py"), "--figures"]),  # compares with cost
        Part("llama", [*_script("llama.py"), "--rounds", "5", "--figures"]),
        Part("workloads-torch", _suite("workloads", "torch", 2, rounds=6, seconds=0.15)),
        Part("workloads-jax", _suite("workloads", "jax", 2, rounds=6, seconds=0.15)),
    ]


def _script(name: str) -> list[str | Path]:
    return [sys.executable, _HERE / name]


def _suite(
    suite: str, adaptors: str, threads: int, rounds: int = 20, seconds: float = 1.0
) -> list[str | Path]:
    """Return the command for a suite of opcast bench."""
    command: list[str | Path] = [_OPCAST, "bench", "--suite", suite, "--adaptor", adaptors]
    command += ["--python", sys.executable, "--no-build", "--threads", str(threads)]
    command += ["--rounds", str(rounds), "--seconds", str(seconds)]
    return [*command, "--report", _PARTS / "pages", "--json"]


def main() -> int:
    """Measure, and hold the figures against the budgets."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", help="run these parts: " + ",".join(p.name for p in parts()))
    parser.add_argument(
        "--publish",
        action="store_true",
        help="write the table and what it shows into the repository",
    )
    options = parser.parse_args()
    if options.publish and options.only:
        parser.error("--publish writes the results of a whole run: leave --only out")
    _PARTS.mkdir(parents=True, exist_ok=True)
    wanted = [p for p in parts() if options.only is None or p.name in options.only.split(",")]
    begin = time.monotonic()
    failed: list[str] = []
    for i, part in enumerate(wanted, 1):
        print(f"{i}/{len(wanted)} {part.name} ...", end="", flush=True)
        started = time.monotonic()
        code = part.run(_LIMIT_S - (started - begin))
        print(f" {time.monotonic() - started:.0f} s", flush=True)
        if code or not part.result.exists():
            part.result.unlink(missing_ok=True)
            failed.append(part.name)
            log = part.result.with_suffix(".log")
            text = log.read_text(encoding="utf-8").splitlines()[-_TAIL:]
            print(f"  ended by {code}: {log}", *text, sep="\n  ")
    _time(time.monotonic() - begin, failed, len(wanted) == len(parts()))
    return _judge(options.publish)


def _time(seconds: float, failed: Sequence[str], whole: bool) -> None:
    """Write how long all has taken, if it was all and came to its end."""
    samples, lacking = ([], f"without {', '.join(failed)}") if failed else ([seconds], "")
    figure = Figure("bench/all/wall", "make bench", "s", samples, missing=lacking)
    result = _PARTS / "all.json"
    result.unlink(missing_ok=True)
    if whole:
        figures.write(result, [figure])
    print(f"{seconds / 60:.1f} minutes in all\n")


def _judge(publish: bool) -> int:
    """Print the table of budgets from all results that are there, and write the whole."""
    found = [part.result for part in parts() if part.result.exists()]
    found += [p for p in [_PARTS / "all.json"] if p.exists()]
    if not found:
        return 1
    command = [_OPCAST, "bench", "--budgets", _BUDGETS]
    code = subprocess.run([*command, *found], cwd=ROOT, check=False).returncode
    lacking = [part.name for part in parts() if not part.result.exists()]
    if publish and lacking:
        print(f"not published: without {', '.join(lacking)}")
    elif publish and code in {0, 1}:
        shown = [figures.shown(path) for path in found]
        written = ["--json", _PUBLISHED, "--markdown", _PAGE, "--report", _PARTS / "pages"]
        run = [*command, *shown, *written]
        code = subprocess.run(run, cwd=ROOT, stdout=subprocess.DEVNULL, check=False).returncode
    return 0 if code == 1 else code  # a missed budget is told; nothing fails for a slow machine


if __name__ == "__main__":
    sys.exit(main())
