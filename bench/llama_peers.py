"""What users would run instead of the llama example: transformers' model, and one in plain jax.numpy.

Each peer is a function that returns a `Continue`: prompts of equal length in, greedy tokens out. Keys and
values stay in a cache; a step decodes one token of each prompt.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import jax
import network
import numpy as np
import torch
import transformers
from checkpoint import Config

_torch: Any = torch  # partly untyped
_jax: Any = jax
_jnp: Any = jax.numpy
_transformers: Any = transformers

Prompts = list[list[int]]
Weights = dict[str, Any]


@dataclass(frozen=True)
class Continued:
    """What follows prompts, and when it came."""

    tokens: list[list[int]]
    prefill_s: float
    """Until the first token of every prompt was there."""
    decode_s: float
    """From then on until the last one was."""


Continue = Callable[[Prompts, int], Continued]


def eager(model: Any) -> Continue:
    """Return a loop around transformers' model with the cache that grows: its default."""

    def run(prompts: Prompts, count: int) -> Continued:
        cache = _transformers.DynamicCache(config=model.config)

        def step(token: Any, _: int) -> Any:
            return model(token, cache=cache)

        return _continued(model, step, cache, prompts, count)

    return run


def compiled(model: Any) -> Continue:
    """Return the loop of transformers' guide: a static cache, and a compiled forward for single tokens."""
    forward = _torch.compile(model.forward, mode="reduce-overhead", fullgraph=True, dynamic=False)

    def run(prompts: Prompts, count: int) -> Continued:
        room = len(prompts[0]) + count
        cache = _transformers.StaticCache(config=model.config, max_cache_len=room)

        def step(token: Any, place: int) -> Any:
            return forward(token, position_ids=_torch.full((1, 1), place), cache=cache)

        return _continued(model, step, cache, prompts, count)

    return run


def _continued(
    model: Any, step: Callable[[Any, int], Any], cache: Any, prompts: Prompts, count: int
) -> Continued:
    with torch.inference_mode():
        begin = time.perf_counter()
        out = model(_torch.tensor(prompts), cache=cache, logits_to_keep=1)
        tokens = [out.logits[:, -1:].argmax(-1)]
        middle = time.perf_counter()
        length = len(prompts[0])
        for place in range(length, length + count - 1):
            tokens.append(step(tokens[-1], place).logits[:, -1:].argmax(-1))
        end = time.perf_counter()
    return Continued(_torch.cat(tokens, 1).tolist(), middle - begin, end - middle)


def plain_jax(config: Config, weights: Mapping[str, Any]) -> Continue:
    """Return a loop around a model in jax.numpy: a static cache, and one `jax.jit` for each step."""
    w = _transposed(weights)
    step = _jax.jit(functools.partial(_step, config), donate_argnums=1)
    angles = _jnp.asarray(config.angles())

    def run(prompts: Prompts, count: int) -> Continued:
        rows, length = len(prompts), len(prompts[0])
        shape = (rows, length + count, config.kv_heads, config.head_dim)
        dtype = w[network.EMBEDDING].dtype
        cache = [[_jnp.zeros(shape, dtype) for _ in "kv"] for _ in range(config.layers)]
        _jax.block_until_ready(cache)
        begin = time.perf_counter()
        token, cache = step(w, cache, angles, np.array(prompts, np.int32), 0)
        tokens = [np.asarray(token)]
        middle = time.perf_counter()
        for place in range(length, length + count - 1):
            token, cache = step(w, cache, angles, token, place)
            tokens.append(np.asarray(token))
        end = time.perf_counter()
        return Continued(np.concatenate(tokens, 1).tolist(), middle - begin, end - middle)

    return run


def _transposed(weights: Mapping[str, Any]) -> Weights:
    """Return matrices as models in JAX have them: rows are inputs."""
    return {
        name: _jnp.asarray(value.T if name.endswith("_proj.weight") else value)
        for name, value in weights.items()
    }


def _step(
    config: Config, w: Weights, cache: Any, angles: Any, ids: Any, place: Any
) -> tuple[Any, Any]:
    """Return the next token of each row, (rows, 1), and the cache; ids come to `place` and after."""
    x: Any = w[network.EMBEDDING][ids]
    new: list[Any] = []
    turn = _jax.lax.dynamic_slice_in_dim(angles, place, ids.shape[1])
    for layer in range(config.layers):
        of = network.of_layer(w, layer)
        y = _norm(x, of["input_layernorm.weight"], config.eps)
        o, kv = _attention(config, of, y, turn, cache[layer], place)
        new.append(kv)
        x = x + o
        y = _norm(x, of["post_attention_layernorm.weight"], config.eps)
        gate, up = (y @ of[f"mlp.{name}_proj.weight"] for name in ("gate", "up"))
        x = x + (_jax.nn.silu(gate) * up) @ of["mlp.down_proj.weight"]
    x = _norm(x[:, -1], w[network.FINAL_NORM], config.eps)
    head = w.get(network.HEAD, w[network.EMBEDDING])
    logits = _jnp.einsum("bd,vd->bv", x, head, preferred_element_type="float32")
    return logits.argmax(-1, keepdims=True).astype("int32"), new


def _attention(
    config: Config, w: Weights, y: Any, turn: Any, cache: Any, place: Any
) -> tuple[Any, Any]:
    """Return the attention, and the cache with the keys and values of these tokens."""
    rows, tokens, _ = y.shape
    q, k, v = (
        (y @ w[f"self_attn.{name}_proj.weight"]).reshape(rows, tokens, -1, config.head_dim)
        for name in "qkv"
    )
    new = (_rotated(k, turn), v)
    k, v = (
        _jax.lax.dynamic_update_slice(old, part, (0, place, 0, 0))
        for old, part in zip(cache, new, strict=True)
    )
    q = _rotated(q, turn).reshape(rows, tokens, config.kv_heads, -1, config.head_dim)
    scores = _jnp.einsum("btkgd,bskd->bkgts", q, k, preferred_element_type="float32")
    seen = _jnp.arange(k.shape[1]) <= place + _jnp.arange(tokens)[:, None]
    scores = _jnp.where(seen, scores * config.head_dim**-0.5, -_jnp.inf)
    shares = _jax.nn.softmax(scores).astype(y.dtype)
    o = _jnp.einsum("bkgts,bskd->btkgd", shares, v).reshape(rows, tokens, -1)
    return o @ w["self_attn.o_proj.weight"], (k, v)


def _norm(x: Any, weight: Any, eps: float) -> Any:
    wide = x.astype("float32")
    scale = _jax.lax.rsqrt((wide * wide).mean(-1, keepdims=True) + eps)
    return (wide * scale).astype(x.dtype) * weight


def _rotated(x: Any, turn: Any) -> Any:
    cos, sin = _jnp.split(turn[:, None].astype(x.dtype), 2, axis=-1)
    a, b = _jnp.split(x, 2, axis=-1)
    return _jnp.concatenate([a * cos - b * sin, b * cos + a * sin], -1)
