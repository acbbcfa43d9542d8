"""Train a small Llama on a play, in one framework: alone, on a mesh of devices, or in processes of torchrun.

Prints the loss of every step, and the norm of all gradients.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import checkpoint
import network
import numpy as np
from checkpoint import Config, Values

HERE = Path(__file__).parent
TEXT, MODEL = HERE / "romeo_and_juliet.txt", HERE / "model"
SEQUENCE, SEQUENCES = 64, 32  # tokens of a sequence, sequences of a batch
RATE, WARMUP, LEAST, DECAY, BETA2 = 4e-3, 40, 0.05, 0.1, 0.95
SEED, STEPS = 0, 1500

Batches = Iterator[tuple[float, Values, Values]]


class Step(NamedTuple):
    """What a step of training gives."""

    loss: float
    norm: float
    """Of the gradients of all weights."""
    weights: dict[str, Any]
    """After the step, as the framework has them."""


def main() -> int:
    """Train and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--framework", choices=("torch", "jax"), default="torch")
    parser.add_argument(
        "--mesh",
        type=_mesh,
        default=(1, 1),
        metavar="DxT",
        help="jax: D simulated devices share each batch, and T of them each layer",
    )
    parser.add_argument("--steps", type=_count, default=STEPS, metavar="N")
    parser.add_argument("--save", type=Path, metavar="FOLDER", help="write the model")
    options = parser.parse_args()
    config = checkpoint.read_config(MODEL)
    if wrong := _fault(options, config):
        parser.error(wrong)
    run = import_module(f"train_{options.framework}").run
    rank = int(os.environ.get("RANK", "0"))
    weights = initial(config)
    steps: Iterator[Step] = run(config, weights, batches(options.steps), options.mesh)
    for number, step in enumerate(steps, start=1):
        if rank == 0:
            print(f"step {number}: loss {step.loss:.6f}, gradients {step.norm:.6f}", flush=True)
        weights = step.weights
    if options.save:
        checkpoint.write(options.save.resolve(), MODEL.resolve(), weights)
    return 0


def _fault(options: argparse.Namespace, config: Config) -> str:
    """Return why the options make no sense; empty if they do."""
    data, tensor = options.mesh
    processes = int(os.environ.get("WORLD_SIZE", "1"))
    if options.framework == "torch" and data * tensor > 1:
        return "--mesh: only jax simulates devices: start torch with torchrun --nproc-per-node"
    if options.framework == "jax" and processes > 1:
        return "expected torch under torchrun, got jax"
    if options.save and not options.save.is_dir():
        return f"--save: expected a folder, got {options.save}"
    if options.save and processes > 1:
        return "--save: expected one process, which has all weights"
    if SEQUENCES % (data * processes):
        return (
            f"expected a number of parts that divides {SEQUENCES} sequences, got {data * processes}"
        )
    if config.kv_heads % tensor or config.inner % tensor:
        return f"--mesh: expected a number that divides {config.kv_heads} heads, got {tensor}"
    return ""


def _mesh(text: str) -> tuple[int, int]:
    data, cross, tensor = text.partition("x")
    if not cross:
        raise argparse.ArgumentTypeError(f"expected two numbers such as 4x2, got {text}")
    return _count(data), _count(tensor)


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"expected a number from 1, got {text}")
    return int(text)


def batches(steps: int) -> Batches:
    """Yield a learning rate, tokens, and the tokens that follow them, (SEQUENCES, SEQUENCE) each.

    They are the same ones each time.
    """
    text = TEXT.read_text(encoding="utf-8")
    tokens = np.array(checkpoint.read_tokenizer(MODEL).encode(text).ids, np.int32)
    rng = np.random.default_rng(SEED)
    for step in range(1, steps + 1):
        places = rng.integers(len(tokens) - SEQUENCE, size=(SEQUENCES, 1)) + np.arange(SEQUENCE)
        yield rate(step, steps), tokens[places], tokens[places + 1]


def rate(step: int, steps: int) -> float:
    """Return the learning rate of a step, from 1 to steps: it rises, then falls along a cosine."""
    if step < WARMUP:
        return RATE * step / WARMUP
    done = (step - WARMUP) / max(steps - WARMUP, 1)
    return RATE * (LEAST + (1 - LEAST) * (1 + math.cos(math.pi * done)) / 2)


def initial(config: Config) -> dict[str, Values]:
    """Return random weights; those whose products are added to the stream are smaller."""
    rng = np.random.default_rng(SEED)
    weights: dict[str, Values] = {}
    for name, shape in config.shapes().items():
        added = name.endswith(("o_proj.weight", "down_proj.weight"))
        scale = 0.02 / math.sqrt(2 * config.layers) if added else 0.02
        value = rng.normal(0, scale, shape) if len(shape) == 2 else np.ones(shape)
        weights[name] = value.astype(np.float32)
    return weights


def starts(sequences: int) -> Values:
    """Return where each of a batch's sequences starts among its tokens, and where the last one ends."""
    return np.arange(sequences + 1, dtype=np.int32) * SEQUENCE


def positions(sequences: int) -> Values:
    """Return the position of each token of a batch in its sequence."""
    return np.tile(np.arange(SEQUENCE, dtype=np.int32), sequences)


def loss(ops: ModuleType, w: network.Weights, x: Any, following: Any) -> Any:
    """Return the mean cross entropy of the tokens that follow the last hidden states x."""
    return ops.cross_entropy(network.logits(ops, w, x), following).mean()


if __name__ == "__main__":
    sys.exit(main())
