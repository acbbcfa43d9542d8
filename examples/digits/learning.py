"""What training is, written once: arrays are of the framework whose adaptor `ops` and namespace `xp` are.

There is no gradient here: the framework derives it, through the gradient ops of the collection.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import ModuleType
from typing import Any, NamedTuple

import network
import numpy as np
from data import CLASSES, SEED, Images, load

WIDTH, PIXELS = 128, 64
RATE, DECAY = 1e-2, 0.2
TINY = 1e-30

Weights = dict[str, Any]


class Job(NamedTuple):
    """A run of training: in which framework, over what each batch is split, and how long."""

    framework: str
    processes: int
    devices: int
    """How many simulated devices each process has."""
    steps: int


class Outcome(NamedTuple):
    """What training gives."""

    losses: list[float]
    weights: dict[str, Images]
    accuracy: float
    """Which part of the held-out digits is right."""


def initial() -> dict[str, Images]:
    """Return random weights with outputs of unit scale."""
    rng = np.random.default_rng(SEED)
    weights = {
        "norm": np.ones(PIXELS),
        "up": rng.normal(0, PIXELS**-0.5, (2 * WIDTH, PIXELS)),
        "up_bias": np.zeros(2 * WIDTH),
        "down": rng.normal(0, WIDTH**-0.5, (CLASSES, WIDTH)),
        "down_bias": np.zeros(CLASSES),
    }
    return {name: value.astype(np.float32) for name, value in weights.items()}


def loss(ops: ModuleType, xp: Any, w: Mapping[str, Any], images: Any, targets: Any) -> Any:
    """Return the mean cross-entropy of a batch.

    A gradient -t/p goes into the gradient op of softmax, which multiplies it with p. That is exact to
    the last bits for any p that float32 can invert, so smaller ones count as TINY.
    """
    p = network.probabilities(ops, images, w)
    return -(targets * xp.log(xp.clip(p, TINY))).sum() / len(targets)


def no_moments(w: Mapping[str, Any]) -> Weights:
    """Return what the optimiser starts with."""
    return {name: (0 * value, 0 * value) for name, value in w.items()}


def schedule(step: int, steps: int) -> tuple[float, float, float]:
    """Return the rate of a step, from 1 to steps, and how biased both moments still are."""
    rate = RATE * (1 + math.cos(math.pi * step / steps)) / 2
    return rate, 1 - 0.9**step, 1 - 0.99**step


def adamw(
    w: Weights, slopes: Weights, moments: Weights, scale: tuple[Any, Any, Any]
) -> tuple[Weights, Weights]:
    """Return the weights and moments after a step of AdamW, which decays matrices only."""
    rate, first, second = scale
    new_w: Weights = {}
    new_moments: Weights = {}
    for name, value in w.items():
        mean, square = moments[name]
        mean = mean + 0.1 * (slopes[name] - mean)
        square = square + 0.01 * (slopes[name] ** 2 - square)
        move = mean / first / ((square / second) ** 0.5 + 1e-8)
        decay = DECAY if value.ndim == 2 else 0
        new_w[name] = value - rate * (move + decay * value)
        new_moments[name] = mean, square
    return new_w, new_moments


def log(losses: list[float]) -> None:
    """Print the last loss now and then."""
    if len(losses) % 100 == 0:
        print(f"step {len(losses)}: loss {losses[-1]:.4f}", flush=True)


def accuracy(ops: ModuleType, xp: Any, w: Weights) -> float:
    """Return which part of the held-out digits is right."""
    _, (images, labels) = load()
    found = network.probabilities(ops, xp.asarray(images), w).argmax(-1)
    return float((found == xp.asarray(labels)).sum()) / len(labels)
