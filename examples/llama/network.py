"""A Llama decoder, written once: `ops` is any adaptor module, and every array is of its framework.

Weights have the names of Hugging Face's LlamaForCausalLM. Nothing computes but the ops of the collection;
between them, arrays are only reshaped and joined.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

import numpy as np
from checkpoint import Config

Array = Any
Weights = Mapping[str, Array]

# Weights that meet the same tokens. Training has them one by one, serving joins them.
JOINED = {
    "self_attn.qkv_proj.weight": [f"self_attn.{name}_proj.weight" for name in "qkv"],
    "mlp.gate_up_proj.weight": [f"mlp.{name}_proj.weight" for name in ("gate", "up")],
}

EMBEDDING, FINAL_NORM, HEAD = "model.embed_tokens.weight", "model.norm.weight", "lm_head.weight"


def hidden(
    ops: ModuleType, w: Weights, config: Config, ids: Array, block: Callable[[int, Array], Array]
) -> Array:
    """Return the last hidden state of each token, (tokens, hidden_size)."""
    x = ops.embedding(ids, w[EMBEDDING])
    for layer in range(config.layers):
        x = block(layer, x)
    return ops.rms_norm(x, w[FINAL_NORM], eps=config.eps)


def block(
    ops: ModuleType,
    xp: Any,
    w: Weights,
    config: Config,
    x: Array,
    rotation: tuple[Array, Array],
    attend: Callable[[Array, Array, Array], Array],
    total: Callable[[Array], Array] = lambda part: part,
) -> Array:
    """Return what one layer makes of the tokens x, (tokens, hidden_size).

    `rotation` is the position of each token and the table of cosines and sines. `attend` turns queries,
    keys and values of (tokens, heads, head_dim) into the attention. Where heads are split over devices,
    each has the weights of its own, and `total` adds up what the devices contribute.
    """
    tokens = x.shape[0]
    y = ops.rms_norm(x, w["input_layernorm.weight"], eps=config.eps)
    qkv = _products(ops, xp, w, y, "self_attn.qkv_proj.weight").reshape(tokens, -1, config.head_dim)
    kv_heads = qkv.shape[1] * config.kv_heads // (config.heads + 2 * config.kv_heads)
    q, k, v = qkv[:, : -2 * kv_heads], qkv[:, -2 * kv_heads : -kv_heads], qkv[:, -kv_heads:]
    q, k = ops.rope(q, k, *rotation)
    o = attend(q, k, v).reshape(tokens, -1)
    x = ops.eltwise_add(x, total(ops.gemm(o, w["self_attn.o_proj.weight"])))
    y = ops.rms_norm(x, w["post_attention_layernorm.weight"], eps=config.eps)
    y = ops.silu_and_mul(_products(ops, xp, w, y, "mlp.gate_up_proj.weight"))
    return ops.eltwise_add(x, total(ops.gemm(y, w["mlp.down_proj.weight"])))


def joined(w: Weights) -> dict[str, Array]:
    """Return NumPy's weights with those in one that meet the same tokens: one product is faster than three."""
    result = dict(w)
    for name in w:
        for whole, parts in JOINED.items():
            if name.endswith(parts[0]):
                start = name.removesuffix(parts[0])
                result[start + whole] = np.concatenate([result.pop(start + part) for part in parts])
    return result


def _products(ops: ModuleType, xp: Any, w: Weights, y: Array, whole: str) -> Array:
    """Return the products of y with some weights, side by side: with one if they have been joined."""
    if whole in w:
        return ops.gemm(y, w[whole])
    return xp.concatenate([ops.gemm(y, w[part]) for part in JOINED[whole]], -1)


def logits(ops: ModuleType, w: Weights, x: Array, temperature: float = 1.0) -> Array:
    """Return the logits of the next token, divided by the temperature, in float32."""
    head = w[HEAD] if HEAD in w else w[EMBEDDING]
    return ops.gemm(x, head, alpha=1 / temperature, out_dtype="float32")


def of_layer(w: Weights, layer: int) -> dict[str, Array]:
    """Return the weights of a layer under the names that `block` uses."""
    start = f"model.layers.{layer}."
    return {name.removeprefix(start): value for name, value in w.items() if name.startswith(start)}
