"""Ops of which no part of a call is a call: what long rows give, computed from what they repeat."""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from definition import call
from long_arrays import WINDOW, total
from opcast_backend import op_call

if TYPE_CHECKING:
    from sizes import Case

EDGE = 3  # numbers that are compared at each end


def near(got: np.ndarray, want: np.ndarray) -> None:
    """Compare both ends of a long row."""
    got, want = (np.asarray(x, np.float64).reshape(-1) for x in (got, want))
    assert np.allclose(got, want, 2e-2, 1e-30), f"got {got}, want {want}"


def ends(x: np.ndarray) -> np.ndarray:
    """Return the first and the last numbers of a row."""
    flat = x.reshape(-1)
    return np.concatenate([flat[:EDGE], flat[-EDGE:]]).astype(np.float64)


def weight(x: np.ndarray) -> np.ndarray:
    """Return exp(x - 40): the weights of a softmax over numbers of which the largest is 40."""
    return np.exp(x - 40)


def softmax(case: "Case", inputs: list[np.ndarray], outputs: list[np.ndarray]) -> None:
    """Compare with the sum over all that the row repeats."""
    inputs[0].reshape(-1)[-1] = 40  # else all are too small for 16 bits
    call(case.op, inputs, outputs)
    near(
        ends(outputs[0])[-1:],
        np.exp(ends(inputs[0])[-1:] - 40) / total(weight, inputs[0]),
    )


def rms_norm(case: "Case", inputs: list[np.ndarray], outputs: list[np.ndarray]) -> None:
    """Compare with the mean over all that the row repeats."""
    call(case.op, inputs, outputs)
    scale = (total(np.square, inputs[0]) / case.size + 1e-6) ** -0.5
    near(ends(outputs[0]), ends(inputs[0]) * scale * ends(inputs[1]))


def cross_entropy(case: "Case", inputs: list[np.ndarray], outputs: list[np.ndarray]) -> None:
    """Let the target be the last class."""
    inputs[1][...] = case.size - 1 if inputs[1].itemsize == 8 else min(case.size, 2**31) - 1
    call(case.op, inputs, outputs)
    target = float(inputs[0].reshape(-1)[int(inputs[1].reshape(-1)[0])])
    near(outputs[0], np.array(np.log(total(np.exp, inputs[0])) - target))


def gemm(case: "Case", inputs: list[np.ndarray], outputs: list[np.ndarray]) -> None:
    """One sum of products."""
    for x in inputs[:2]:
        np.abs(x.reshape(-1)[-WINDOW:], out=x.reshape(-1)[-WINDOW:])
    call(case.op, inputs, outputs)
    want = total(np.multiply, inputs[0], inputs[1])
    assert (
        math.isinf(float(outputs[0].reshape(-1)[0]))
        or abs(float(outputs[0].reshape(-1)[0]) / want - 1) < 0.05
    )


def last(case: "Case", inputs: list[np.ndarray], outputs: list[np.ndarray]) -> None:
    """Put what is looked for at the end: an op that finds it says where."""
    inputs[0].reshape(-1)[-1] = 99
    call(case.op, inputs, outputs)
    where = outputs[-1].reshape(-1)[0]
    assert where == case.size - 1, f"got {where}, want {case.size - 1}"


def drawn(case: "Case", inputs: list[np.ndarray], outputs: list[np.ndarray]) -> None:
    """Only the last id has a probability."""
    flat = inputs[0].reshape(-1)
    for part in (flat[: WINDOW // 4], flat[WINDOW // 4 : WINDOW // 2], flat[-WINDOW // 2 :]):
        part[...] = 0
    last(case, inputs, outputs)


def kept(case: "Case", inputs: list[np.ndarray], outputs: list[np.ndarray]) -> None:
    """With p = 0, nothing is dropped."""
    op_call(case.op.name, inputs, outputs, {"p": 0.0})
    assert ends(outputs[0]).tobytes() == ends(inputs[0]).tobytes()


def looked_up(case: "Case", inputs: list[np.ndarray], outputs: list[np.ndarray]) -> None:
    """Look up the last row of a long table."""
    inputs[0][...] = min(case.size, 2**31) - 1
    call(case.op, inputs, outputs)
    assert outputs[0].tobytes() == inputs[1][int(inputs[0].reshape(-1)[0])].tobytes()


SPECIAL: dict[tuple[str, str], Callable[["Case", list[np.ndarray], list[np.ndarray]], None]] = {
    ("cross_entropy", "V"): cross_entropy,
    ("dropout", "N"): kept,
    ("embedding", "V"): looked_up,
    ("gemm", "K"): gemm,
    ("rms_norm", "N"): rms_norm,
    ("softmax", "N"): softmax,
    ("top_k_top_p_min_p_sampling_from_probs", "V"): drawn,
    ("topk", "N"): last,
}
