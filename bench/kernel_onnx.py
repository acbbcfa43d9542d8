"""ONNX Runtime: a model of one node for each op, on arrays that are bound, so that nothing is copied."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Callable

    from kernel_case import Case

NAME = "onnxruntime"
_EXTRA = "com.microsoft"
_OPSET = 23
_runtime: Any = None
_onnx: Any = None


def load() -> None:
    """Import it."""
    global _runtime, _onnx
    _onnx, _runtime = importlib.import_module("onnx"), importlib.import_module("onnxruntime")
    _runtime.set_default_logger_severity(4)


def add(case: Case) -> None:
    """Add ONNX Runtime to the peers of a case, if it has the op."""
    name, _, detail = case.op.partition(", ")
    if case.op == "fused_add_rms_norm":
        # It has no form that works in place; the results are new arrays.
        node = ("SkipSimplifiedLayerNormalization", {"epsilon": 1e-6, "domain": _EXTRA})
        outs = case.arrays[:2]
        case.others["in place"][NAME] = lambda: _session(node, case.arrays, outs, fresh=True)
        return
    nodes: dict[str, tuple[str, dict[str, Any]]] = {
        "eltwise_add": ("Add", {}),
        "eltwise_relu": ("Relu", {}),
        "gelu": ("Gelu", {"approximate": "tanh" if detail == "tanh" else "none"}),
        "rms_norm": ("RMSNormalization", {"epsilon": 1e-6}),
        "layernorm2d": ("LayerNormalization", {"epsilon": 1e-5}),
        "softmax": ("Softmax", {}),
        "gemm": ("Gemm", {"transB": 1}),
        "conv2d": ("Conv", {"pads": [int(detail == "3x3")] * 4}),
    }
    if name in nodes:
        node, arrays, outs = nodes[name], case.arrays, case.out
        case.others["fresh"][NAME] = lambda: _session(node, arrays, outs, fresh=True)
        case.others["out"][NAME] = lambda: _session(node, arrays, outs, fresh=False)


def _session(
    node: tuple[str, dict[str, Any]],
    arrays: list[torch.Tensor],
    outs: list[torch.Tensor],
    *,
    fresh: bool,
) -> Callable[[], Any]:
    """Return the call of a model of one node on these arrays."""
    ins = [f"x{i}" for i in range(len(arrays))]
    names = [f"y{i}" for i in range(len(outs))]
    options: Any = _runtime.SessionOptions()
    options.intra_op_num_threads = torch.get_num_threads()
    options.inter_op_num_threads = 1
    # Its threads would go on looking for work while the next call of somebody else needs the CPUs.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.enable_cpu_mem_arena = False  # or memory that is there would count as fresh
    text = _model(node, dict(zip(ins, arrays)), dict(zip(names, outs)))
    session: Any = _runtime.InferenceSession(text, options, providers=["CPUExecutionProvider"])
    bound: Any = session.io_binding()
    for name, x in zip(ins, arrays):
        bound.bind_input(name, "cpu", 0, _element(x), list(x.shape), x.data_ptr())
    if not fresh:
        for name, y in zip(names, outs):
            bound.bind_output(name, "cpu", 0, _element(y), list(y.shape), y.data_ptr())
        return lambda: session.run_with_iobinding(bound)

    def call() -> list[Any]:
        bound.clear_binding_outputs()
        for name in names:
            bound.bind_output(name, "cpu")
        session.run_with_iobinding(bound)
        return bound.get_outputs()

    return call


def _model(
    node: tuple[str, dict[str, Any]], ins: dict[str, torch.Tensor], outs: dict[str, torch.Tensor]
) -> bytes:
    helper: Any = _onnx.helper
    kind, attributes = node
    slots = list(outs)
    if attributes.get("domain") == _EXTRA:
        slots[1:1] = ["", ""]  # mean and deviation
    made = helper.make_node(kind, list(ins), slots, **attributes)
    infos = [
        [helper.make_tensor_value_info(n, _element(x), list(x.shape)) for n, x in group.items()]
        for group in (ins, outs)
    ]
    graph = helper.make_graph([made], kind, *infos)
    sets = [helper.make_opsetid("", _OPSET), helper.make_opsetid(_EXTRA, 1)]
    model = helper.make_model(graph, opset_imports=sets)
    model.ir_version = 10
    return model.SerializeToString()


def _element(x: torch.Tensor) -> int:
    kinds: Any = _onnx.TensorProto
    return {
        torch.float32: kinds.FLOAT,
        torch.float16: kinds.FLOAT16,
        torch.bfloat16: kinds.BFLOAT16,
    }[x.dtype]
