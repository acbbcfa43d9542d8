"""Layers: constructed, lent and swapped. Each function is a claim; what is wrong with one ends the script."""

from __future__ import annotations

import copy
import inspect
import pickle
import re
from collections.abc import Callable
from types import MethodType
from typing import Any, cast

import layers_models as models
import opcast_torch
import torch
from opcast_torch import layers
from torch import Tensor, nn

LAYERS, TORCH = cast("Any", layers), cast("Any", torch)
TOLERANCE = {torch.float32: 2e-6, torch.bfloat16: 2e-2, torch.float16: 2e-3}
"""How far results may be apart, as a part of the largest: the roundings of some layers in a row."""


def near(what: str, got: Tensor, want: Tensor) -> float:
    """Hold two results against each other."""
    assert got.shape == want.shape and got.dtype == want.dtype, f"{what}: {got.shape}, {got.dtype}"
    apart = (got - want).abs().max().item() if got.numel() else 0.0
    allowed = TOLERANCE[got.dtype] * max(1.0, want.abs().max().item() if got.numel() else 0.0)
    assert apart <= allowed, f"{what}: {apart} apart, at most {allowed} allowed"
    return apart


def refused(text: str, call: Callable[[], Any]) -> None:
    """Expect an error whose text is as given."""
    try:
        call()
    except (TypeError, ValueError) as error:
        assert re.fullmatch(text, str(error)), f"expected {text}, got {error}"
    else:
        raise AssertionError(f"expected {text}, got no error")


def gradients(model: nn.Module, x: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
    """Return the result, and the gradients of all parameters."""
    model.zero_grad()
    y = model(x)
    (y.float() ** 2).mean().backward()
    return y.detach(), {n: p.grad for n, p in model.named_parameters() if p.grad is not None}


def same_gradients(what: str, got: dict[str, Tensor], want: dict[str, Tensor]) -> None:
    """Hold gradients against each other, as parts of the largest of all."""
    assert got.keys() == want.keys(), f"{what}: gradients of {got.keys() ^ want.keys()}"
    scale = max(g.abs().max().item() for g in want.values())
    for name, g in want.items():
        near(f"{what}: gradient of {name}", got[name] / scale, g / scale)


def swapped(name: str, counts: tuple[int, int], dtype: torch.dtype, **options: Any) -> Any:
    """Swap the modules of a model; results and gradients stay."""
    model, x = getattr(models, name)()
    model = model.to(dtype).eval()
    x = x.to(dtype) if x.is_floating_point() else x
    want, slopes = gradients(model, x)
    names: dict[str, Any] = {n: type(m) for n, m in model.named_modules()}
    report = opcast_torch.replace(model, **options)
    assert report.swapped.keys() | report.left.keys() == names.keys() and all(report.left.values())
    got = (len(report.swapped), len(report.left))
    assert got == counts, f"{name}: {got} modules swapped and left\n{report}"
    assert all(isinstance(m, names[n]) for n, m in model.named_modules())
    if options.get("gradients", True):
        y, found = gradients(model, x)
        same_gradients(name, found, slopes)
    else:
        with torch.no_grad():
            y = model(x)
    near(name, y, want)
    with torch.no_grad():
        for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
            near(f"a copy of {name}", other(x), y)
    again = opcast_torch.replace(model, **options)
    assert not again.swapped
    assert all(again.left[n].endswith(" already") for n in report.swapped)
    return report


def replaces_models() -> None:
    """Swap modules of whole models: results and gradients stay, and every module has a line."""
    for dtype in (torch.float32, torch.bfloat16):
        report = swapped("llama", (24, 8), dtype)
        assert report.swapped["1.mlp"] == "SiluMLP for LlamaMLP"
        assert report.left["1.mlp.act_fn"] == "no layer stands for SiLU"
        assert "swapped 3: RMSNorm for LlamaRMSNorm" in str(report).split("\n")
        swapped("bert", (22, 10), dtype)
    report = swapped("resnet", (3, 19), torch.float32)
    assert report.left["0"] == "conv2d has no gradient: gradients=False swaps it"
    assert report.left["2"] == "layers.ReLU: inplace: expected False, got True"
    assert report.left["1"] == "no layer stands for BatchNorm2d"
    swapped("resnet", (10, 12), torch.float32, gradients=False)


def leaves_what_differs() -> None:
    """Leave what a layer does not honour, and say why."""

    class Shifted(nn.LayerNorm):
        def forward(self, input: Tensor) -> Tensor:
            return super().forward(input) + 1

    own: Any = nn.Linear(4, 4)
    own.forward = nn.Identity().forward
    extra: Any = nn.RMSNorm(4)
    extra.offset = 1.0
    buffered = nn.RMSNorm(4)
    buffered.register_buffer("shift", torch.ones(4))
    number: Any = nn.LayerNorm(4)
    number.eps = "small"
    for module, reason in (
        (nn.Softmax(dim=0), "layers.Softmax: dim: expected -1, got 0"),
        (nn.Softmax(), "layers.Softmax: dim: expected -1, got None"),
        (nn.Conv2d(1, 1, 3, padding_mode="circular"), "layers.Conv2d: padding_mode: expected 'zeros', got 'circular'"),
        (nn.Conv2d(1, 1, 3, padding="same"), r"layers.Conv2d: padding: expected int\[2\], got 'same'"),
        (nn.ConvTranspose2d(1, 1, 3), "no layer stands for ConvTranspose2d"),
        (nn.Linear(4, 4, dtype=torch.float64), "layers.Linear: dtype: expected float32 or float16 or bfloat16, got float64"),
        (nn.utils.weight_norm(nn.Linear(4, 4)), "layers.Linear: weight_g: expected no such parameter, got Parameter"),
        (nn.utils.parametrizations.weight_norm(nn.Linear(4, 4)), "no layer stands for ParametrizedLinear, which is a torch.nn.Linear that may compute something else"),
        (Shifted(4), "no layer stands for Shifted, which is a torch.nn.LayerNorm that may compute something else"),
        (own, "has a forward of its own already"),
        (extra, "layers.RMSNorm: offset: expected no such setting, got 1.0"),
        (buffered, "layers.RMSNorm: shift: expected no such buffer, got Tensor"),
        (number, "layers.LayerNorm: eps: expected float, got 'small'"),
        (cast("Any", nn.LayerNorm)(()), "layers.LayerNorm: normalized_shape: expected at least 1 dimension, got 0"),
    ):  # fmt: skip
        report = opcast_torch.replace(module, gradients=False)
        assert not report.swapped, report
        assert re.fullmatch(reason, report.left[""]), f"expected {reason}, got {report.left['']}"
    mlp: Any = models.LlamaMLP()
    mlp.act_fn = nn.GELU()
    report = opcast_torch.replace(mlp)
    assert (
        report.left[""] == "layers.SiluMLP: act_fn: expected 'SiLU' or 'SiLUActivation', got GELU"
    )
    wide = nn.Sequential(nn.Linear(4, 4), nn.Softmax(-1)).double()
    assert not opcast_torch.replace(
        wide
    ).swapped  # a module without parameters gets what the others give


def constructs() -> None:
    """Make layers as the modules for which they stand, with all that these have."""
    norm = LAYERS.RMSNorm(8)
    assert repr(norm) == repr(nn.RMSNorm(8)) == "RMSNorm((8,), eps=None, elementwise_affine=True)"
    assert isinstance(norm, layers.RMSNorm) and isinstance(norm, nn.RMSNorm)
    linear = LAYERS.Linear(8, 4, bias=False, dtype=torch.bfloat16)
    assert list(linear.state_dict()) == ["weight"] and linear.weight.dtype == torch.bfloat16
    before = linear.weight.detach().clone()
    linear.reset_parameters()
    assert not torch.equal(before, linear.weight)
    assert repr(LAYERS.Conv2d(1, 2, 3)) == repr(nn.Conv2d(1, 2, 3))
    assert repr(LAYERS.FlashMLADecode(sm_scale=2.0)) == "FlashMLADecode(sm_scale=2.0)"
    assert type(copy.deepcopy(norm)) is type(norm) is type(pickle.loads(pickle.dumps(norm)))
    a, b = torch.randn(2, 3), torch.randn(2, 3)
    assert torch.equal(LAYERS.EltwiseAdd()(a, b), a + b)
    refused("layers.Softmax: dim: expected -1, got 0", lambda: LAYERS.Softmax(dim=0))
    refused(
        "layers.Conv2d: padding_mode: expected 'zeros', .*",
        lambda: LAYERS.Conv2d(1, 1, 3, padding_mode="reflect"),
    )
    refused(
        "layers.SiluMLP: expected no construction like this: it stands in for .*", LAYERS.SiluMLP
    )
    refused(
        "layers.FlashMLADecode: unexpected keyword argument 'scale'",
        lambda: LAYERS.FlashMLADecode(scale=1.0),
    )
    refused(".*takes settings by name", lambda: LAYERS.FlashMLADecode(1.0))


def drops_in() -> None:
    """Compute what the modules of PyTorch do, for every form of data and of settings."""
    TORCH.manual_seed(1)
    pairs: list[tuple[str, tuple[Any, ...], dict[str, Any], tuple[int, ...]]] = []
    for shape in ((7,), (3, 7), (2, 3, 7)):
        for data in (shape, (5, *shape), (0, *shape), (4, 5, *shape)):
            for more in ({}, {"elementwise_affine": False}, {"eps": 1e-2}):
                pairs += [("RMSNorm", (shape,), more, data), ("LayerNorm", (shape,), more, data)]
            pairs.append(("LayerNorm", (shape,), {"bias": False}, data))
    for data in ((6,), (2, 6), (4, 2, 6), (0, 6), (3, 1, 2, 6)):
        pairs += [
            ("Linear", (6, 5), {}, data),
            ("Linear", (6, 5), {"bias": False}, data),
            ("Softmax", (-1,), {}, data),
        ]
        pairs += [("GELU", (), {"approximate": a}, data) for a in ("none", "tanh")] + [
            ("ReLU", (), {}, data)
        ]
    for data in ((4, 9, 8), (2, 4, 9, 8)):
        pairs += [
            ("Conv2d", (4, 6, 3), {"stride": 2, "padding": (1, 0), "groups": 2, "bias": b}, data)
            for b in (True, False)
        ]
    for name, args, settings, data in pairs:
        for dtype in (torch.float32, torch.bfloat16):
            theirs = getattr(nn, name)(*args, **settings).to(dtype)
            ours = getattr(LAYERS, name)(*args, **settings).to(dtype)
            for p in theirs.parameters():
                nn.init.normal_(p)
            ours.load_state_dict(theirs.state_dict())
            x, what = torch.randn(data, dtype=dtype), f"{theirs} of {data} {dtype}"
            if name == "Conv2d":
                near(what, ours.requires_grad_(False)(x), theirs.requires_grad_(False)(x))
                continue
            sides = [x.clone().requires_grad_() for _ in range(2)]
            got, want = (m(s) for m, s in zip((ours, theirs), sides))
            near(what, got, want)
            slope = torch.randn_like(want)
            for y in (got, want):
                y.backward(slope)
            near(f"{what}: gradient", cast("Any", sides[0].grad), cast("Any", sides[1].grad))
            for p, q in zip(ours.parameters(), theirs.parameters()):
                near(f"{what}: gradient of a parameter", p.grad, q.grad)
    refused(
        r"layers.LayerNorm: data: expected a shape that ends with \[3, 7\], got \[7, 3\]",
        lambda: LAYERS.LayerNorm((3, 7))(torch.ones(7, 3)),
    )


def lends() -> None:
    """Lend forward: it reads what the module calls its settings, and refuses what it does not honour."""

    def lent(layer: Any, module: Any) -> Any:
        module.forward = MethodType(layer.forward, module)
        return module

    x = torch.randn(3, 8) * 1e-2
    theirs = models.LlamaRMSNorm(8, eps=1e-2)
    near("a lent forward", lent(layers.RMSNorm, copy.deepcopy(theirs))(x), theirs(x))
    near("eps None", lent(layers.RMSNorm, nn.RMSNorm(8))(x), nn.RMSNorm(8)(x))
    refused(
        "layers.Softmax: dim: expected -1, got 0",
        lambda: lent(layers.Softmax, nn.Softmax(dim=0))(x),
    )
    circular = nn.Conv2d(1, 1, 3, padding=1, padding_mode="circular").requires_grad_(False)
    refused(
        "layers.Conv2d: padding_mode: expected 'zeros', got 'circular'",
        lambda: lent(layers.Conv2d, circular)(torch.ones(1, 1, 5, 5)),
    )

    class Nameless(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.ones(8))

    refused(
        "layers.RMSNorm: eps: expected a setting eps or variance_epsilon, got a Nameless without it",
        lambda: lent(layers.RMSNorm, Nameless())(x),
    )
    both: Any = models.LlamaRMSNorm(8)
    both.eps = 1e-5
    refused(
        "layers.RMSNorm: eps: expected one value of eps and variance_epsilon, got two",
        lambda: lent(layers.RMSNorm, both)(x),
    )
    shifted = nn.LayerNorm(8)
    refused(
        "layers.RMSNorm: bias: expected no such parameter, got Parameter",
        lambda: lent(layers.RMSNorm, shifted)(x),
    )
    for name in layers.__all__:  # the rules of Hugging Face kernels
        cls = getattr(layers, name)
        members = {n for n, _ in inspect.getmembers(cls)} - {
            n for n, _ in inspect.getmembers(nn.Module)
        }
        assert cls.__init__ is nn.Module.__init__ and members <= {
            "has_backward",
            "can_torch_compile",
        }, name


def compiles() -> None:
    """Compile what is swapped as a whole graph, and refuse there too."""
    model, x = models.bert()
    model.eval()
    opcast_torch.replace(model)
    near("compiled", torch.compile(model, fullgraph=True, backend="aot_eager")(x), model(x))
    module: Any = nn.Softmax(dim=0)
    module.forward = MethodType(layers.Softmax.forward, module)
    try:
        torch.compile(module, fullgraph=True, backend="aot_eager")(torch.ones(2, 2))
    except Exception as error:  # a tracer wraps it
        assert "layers.Softmax: dim: expected -1" in str(error), error
    else:
        raise AssertionError("a module that is not honoured was compiled")


for claim in (replaces_models, leaves_what_differs, constructs, drops_in, lends, compiles):
    TORCH.manual_seed(0)
    claim()
    print(claim.__name__, "holds")
