"""Run every op and the digit network in every adaptor and compare their bits, or train the network."""

from __future__ import annotations

import argparse
import signal
import sys
from importlib import import_module
from pathlib import Path

import train
from processes import ProcessError
from safetensors.numpy import save_file  # pyright: ignore[reportUnknownVariableType]


def main() -> int:
    """Return the exit code: 1 is a finding, 2 wrong usage, 3 a machine that lacks something."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    parser = _parser()
    options = parser.parse_args()
    if not options.train:
        if len(sys.argv) > 1:
            parser.error("options need --train")
        return import_module("run").main()
    job = train.Job(options.framework, options.processes, options.devices, options.steps)
    if wrong := train.fault(job, compare=options.compare):
        parser.error(wrong)
    if lacking := train.lacking(job):
        print(f"{parser.prog}: {lacking}", file=sys.stderr)
        return 3
    try:
        return _train(job, options.compare, options.save)
    except ProcessError as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def _train(job: train.Job, compare: bool, save: Path | None) -> int:
    outcome = train.train(job)
    if save:
        save_file(outcome.weights, save)
    fine = not compare or train.agrees(job, outcome)
    return 0 if fine and (outcome.accuracy >= train.ENOUGH or job.steps < train.STEPS) else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python examples/digits", description=__doc__)
    parser.add_argument("--train", action="store_true", help="train; all else is about this")
    parser.add_argument("--framework", choices=train.FRAMEWORKS, default="torch")
    for name, text in (
        ("processes", "how many processes share each batch"),
        ("devices", "how many simulated devices each process has (jax)"),
        ("steps", f"length of the training; accuracy is only demanded of {train.STEPS} and more"),
    ):
        default = train.STEPS if name == "steps" else 1
        parser.add_argument(f"--{name}", type=_count, default=default, metavar="N", help=text)
    parser.add_argument("--compare", action="store_true", help="and do the same unsplit")
    parser.add_argument("--save", type=Path, metavar="FILE", help="write the weights")
    return parser


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"expected a number from 1, got {text}")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())
