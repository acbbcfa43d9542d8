"""Train the digit network in plain NumPy and write weights.safetensors.

The network is rms_norm, gemm, silu_and_mul, gemm, softmax, as in network.py; here it is written out
in float64 with its gradients. Every step sees images that are shifted, turned, scaled and sheared a
little, since 1,437 of them are few. Width, decay and the strength of the deformation were chosen on
the last 360 of those.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import data
import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save_file  # pyright: ignore[reportUnknownVariableType]

Array = NDArray[np.float64]
Weights = dict[str, Array]

WIDTH, CLASSES = 128, 10
EPOCHS, BATCH, RATE = 200, 64, 2e-3
DECAY, SMOOTHING, SEED = 0.5, 0.05, 0
EPS = 1e-6  # the default of rms_norm


def initial(rng: np.random.Generator, pixels: int) -> Weights:
    """Return random weights with outputs of unit scale."""
    return {
        "norm": np.ones(pixels),
        "up": rng.normal(0, pixels**-0.5, (2 * WIDTH, pixels)),
        "up_bias": np.zeros(2 * WIDTH),
        "down": rng.normal(0, WIDTH**-0.5, (CLASSES, WIDTH)),
        "down_bias": np.zeros(CLASSES),
    }


def deform(rng: np.random.Generator, images: Array) -> Array:
    """Return each image under a small random affine map, sampled bilinearly."""
    count, side = len(images), 8
    padded = np.pad(images.reshape(count, side, side), ((0, 0), (2, 2), (2, 2)))
    matrix = np.eye(2) + rng.normal(0, 0.1, (count, 2, 2))
    shift = rng.normal(0, 0.5, (count, 2, 1, 1))
    centre = (side - 1) / 2
    place = np.einsum("nij,jhw->nihw", matrix, np.mgrid[0:side, 0:side] - centre)
    place = (place + shift + centre + 2).clip(0, side + 2.999)
    corner = place.astype(int)
    fraction = place - corner
    result = np.zeros((count, side, side))
    for step in np.ndindex(2, 2):
        y, x = (corner[:, axis] + step[axis] for axis in (0, 1))
        wy, wx = (np.abs(1 - step[axis] - fraction[:, axis]) for axis in (0, 1))
        result += wy * wx * padded[np.arange(count)[:, None, None], y, x]
    return result.reshape(count, side * side)


def gradients(w: Weights, images: Array, labels: NDArray[np.int64]) -> tuple[Weights, Array]:
    """Return the gradient of the smoothed cross-entropy for each weight, and the probabilities."""
    scaled = images / np.sqrt(np.mean(images * images, axis=1, keepdims=True) + EPS)
    normed = scaled * w["norm"]
    gate, value = np.split(normed @ w["up"].T + w["up_bias"], 2, axis=1)
    sigmoid = 1 / (1 + np.exp(-gate))
    hidden = gate * sigmoid * value
    logits = hidden @ w["down"].T + w["down_bias"]
    exponent = np.exp(logits - logits.max(axis=1, keepdims=True))
    probabilities = exponent / exponent.sum(axis=1, keepdims=True)

    target = np.eye(CLASSES)[labels] * (1 - SMOOTHING) + SMOOTHING / CLASSES
    d_logits = (probabilities - target) / len(images)
    d_hidden = d_logits @ w["down"]
    d_gate = d_hidden * value * sigmoid * (1 + gate * (1 - sigmoid))
    d_up = np.concatenate([d_gate, d_hidden * gate * sigmoid], axis=1)
    return {
        "norm": np.sum((d_up @ w["up"]) * scaled, axis=0),
        "up": d_up.T @ normed,
        "up_bias": d_up.sum(axis=0),
        "down": d_logits.T @ hidden,
        "down_bias": d_logits.sum(axis=0),
    }, probabilities


def batches(rng: np.random.Generator, count: int) -> Iterator[NDArray[np.int64]]:
    """Yield the indices of each batch; every pass has an order of its own and drops the rest."""
    for _ in range(EPOCHS):
        yield from rng.permutation(count)[: count - count % BATCH].reshape(-1, BATCH)


def train(images: Array, labels: NDArray[np.int64]) -> Weights:
    """Return weights after EPOCHS passes of AdamW with a cosine schedule."""
    rng = np.random.default_rng(SEED)
    w = initial(rng, images.shape[1])
    mean = {name: np.zeros_like(value) for name, value in w.items()}
    square = {name: np.zeros_like(value) for name, value in w.items()}
    steps = EPOCHS * (len(images) // BATCH)
    for step, chosen in enumerate(batches(rng, len(images)), start=1):
        slope, _ = gradients(w, deform(rng, images[chosen]), labels[chosen])
        rate = RATE * (1 + np.cos(np.pi * step / steps)) / 2
        for name, value in w.items():
            mean[name] += 0.1 * (slope[name] - mean[name])
            square[name] += 0.01 * (slope[name] ** 2 - square[name])
            spread = np.sqrt(square[name] / (1 - 0.99**step)) + 1e-8
            move = mean[name] / (1 - 0.9**step) / spread
            w[name] = value - rate * (move + (DECAY * value if value.ndim == 2 else 0))
    return w


def main() -> None:
    """Train, print the accuracy on the held-out images, and save float32 weights."""
    (images, labels), (test_images, test_labels) = data.load()
    w = train(images.astype(np.float64), labels)
    _, probabilities = gradients(w, test_images.astype(np.float64), test_labels)
    right = int(np.sum(probabilities.argmax(axis=1) == test_labels))
    path = Path(__file__).with_name("weights.safetensors")
    save_file({name: value.astype(np.float32) for name, value in w.items()}, path)
    print(f"{right} of {len(test_labels)} held-out digits ({right / len(test_labels):.1%})")


if __name__ == "__main__":
    main()
