"""The layers of a collection that knows nothing of this repository's ops."""

from __future__ import annotations

from types import MethodType
from typing import Any

import guest_torch
import torch
from guest_torch import layers
from torch import nn

SHAPE = (2, 3)


class TheirAffine(nn.Module):
    """What the collection's layer stands in for."""

    def __init__(self, **settings: Any) -> None:
        super().__init__()
        self.gain, self.bias = nn.Parameter(torch.randn(SHAPE)), nn.Parameter(torch.randn(SHAPE))
        self.limit, self.shape, self.side = 0.5, list(SHAPE), "left"
        self.depth, self.quoted, self.comment = 2, 'it\'s "so"', "none"
        for name, value in settings.items():
            setattr(self, name, value)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Compute what the op does."""
        gain = 1.5 if self.gain is None else self.gain
        shift = 0.0 if self.bias is None else self.bias
        limit = 100.0 if self.limit is None else self.limit
        return (x * gain * 2 + shift).clip(-limit, limit)


class Pair(nn.Module):
    """Two projections side by side, scaled, and one more."""

    def __init__(self) -> None:
        super().__init__()
        self.one, self.two, self.last = nn.Linear(5, 2), nn.Linear(5, 4), nn.Linear(6, 5)
        self.gain, self.bias = nn.Parameter(torch.randn(6)), nn.Parameter(torch.randn(6))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Compute what the op and the three modules do."""
        return self.last(torch.cat([self.one(x), self.two(x)], -1) * self.gain + self.bias)


def says(call: Any) -> str:
    """Return the error of a call."""
    try:
        call()
    except (TypeError, ValueError, NotImplementedError) as error:
        return str(error)
    raise AssertionError("no error")


for data in (SHAPE, (4, *SHAPE), (0, *SHAPE), (2, 5, *SHAPE)):
    for settings in ({}, {"gain": None}, {"bias": None, "limit": None}, {"side": "right"}):
        theirs, x = TheirAffine(**settings), torch.randn(data)
        want = theirs(x)
        lent = MethodType(layers.Affine.forward, theirs)(x)
        assert torch.allclose(lent, want) and lent.shape == want.shape, (data, settings)
        model = nn.Sequential(theirs)
        report = guest_torch.replace(model)
        assert report.swapped == {"0": "Affine for TheirAffine"}, report
        assert report.left == {"": "no layer stands for Sequential"}, report
        assert torch.allclose(model(x), want), (data, settings)

x = torch.randn(*SHAPE)
for settings, text in (
    ({"side": "up"}, "side: expected 'left' or 'right', got 'up'"),
    ({"depth": True}, "depth: expected 2, got True"),
    ({"quoted": "so"}, "quoted: expected 'it\\'s \"so\"', got 'so'"),
    ({"other": 1}, "other: expected no such setting, got 1"),
    ({"bound": 3.0}, "most: expected one value of bound and limit, got two"),
):
    theirs = TheirAffine(**settings)
    assert says(lambda: MethodType(layers.Affine.forward, theirs)(x)) == f"layers.Affine: {text}"  # noqa: B023
    assert guest_torch.replace(theirs).left[""] == f"layers.Affine: {text}"

pair, x = Pair(), torch.randn(3, 5)
want = pair(x)
assert guest_torch.replace(pair).swapped == {"": "PairAffine for Pair"}
assert torch.allclose(pair(x), want, atol=1e-6)
assert torch.allclose(pair(x[0]), want[0], atol=1e-6)
assert pair.gain.grad is None
leaf = x.clone().requires_grad_()
# The op has no gradient by what the layer reads: parameters that learn would not.
text = says(lambda: pair(leaf).sum().backward())
assert text.startswith("affine: scale: no gradient is defined: "), text
for parameter in (pair.gain, pair.bias):
    parameter.requires_grad_(requires_grad=False)
pair(leaf).sum().backward()
assert leaf.grad is not None
assert "guest_torch.layers.PairAffine already" in guest_torch.replace(pair).left[""]
print("holds")
