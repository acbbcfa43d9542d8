"""Continuous batching: requests join a running batch when there is room, and leave it when they end.

A batch has a fixed number of rows. Keys and values of all requests lie in one cache of pages; a request owns
as many as it can fill, from when it joins until it ends.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any

import batch
import network
import numpy as np
from batch import PAGE, Batch, Request, Rows
from checkpoint import Config, Values
from frameworks import Framework


class Server:
    """A model and its cache, in one framework."""

    def __init__(
        self,
        framework: Framework,
        config: Config,
        weights: dict[str, Values],
        *,
        rows: int = 4,
        pages: int = 64,
        temperature: float = 1.0,
    ) -> None:
        if not temperature > 0:
            raise ValueError(f"expected a temperature above 0, got {temperature}")
        self._fw, self._config, self._temperature = framework, config, temperature
        joined = network.joined(weights)
        self._weights = {name: framework.array(value) for name, value in joined.items()}
        self._angles = framework.array(config.angles())
        shape = (pages, PAGE, config.kv_heads, config.head_dim)
        dtype = weights[network.EMBEDDING].dtype
        self._caches = [
            tuple(framework.array(np.zeros(shape, dtype)) for _ in "kv")
            for _ in range(config.layers)
        ]
        self._free, self._rows = list(range(pages)), rows
        self._step = framework.compiled(self._forward)

    def run(self, requests: Sequence[Request], seed: int = 0) -> Iterator[tuple[Request, int]]:
        """Yield each request with its next token, in the order in which they are computed."""
        self._check(requests)
        waiting, rows, step = deque(requests), Rows([None] * self._rows), 0
        try:
            while waiting or any(rows):
                chosen = self._join(waiting, rows)
                if any(chosen):
                    inputs = batch.of_prompts(chosen)
                elif not any(rows):
                    raise RuntimeError("another run of this server has all pages of the cache")
                else:
                    chosen = list(rows)
                    inputs = batch.of_last_tokens(rows, -(-self._config.positions // PAGE))
                tokens = self._next(
                    {**inputs, "seed": np.array(seed, np.int32), "offset": np.array(step, np.int32)}
                )
                if any(
                    request and token < 0 for request, token in zip(chosen, tokens, strict=True)
                ):
                    raise ValueError("the model gives no probabilities: its logits are not finite")
                step += 1
                for row, (request, token) in enumerate(zip(chosen, tokens, strict=True)):
                    if request:
                        request.tokens.append(token)
                        if len(request.tokens) == request.most or token in self._config.end:
                            self._leave(rows, row)
                        yield request, token
        finally:
            for row in range(self._rows):
                self._leave(rows, row)

    def _check(self, requests: Sequence[Request]) -> None:
        room = min(self._config.positions, len(self._free) * PAGE)
        for request in requests:
            if not request.prompt or request.most < 1:
                raise ValueError("expected a prompt and a number of new tokens of at least 1")
            if request.tokens:
                raise ValueError("expected requests that have not run yet")
            if not 0 <= min(request.prompt) <= max(request.prompt) < self._config.vocabulary:
                raise ValueError(f"expected tokens below {self._config.vocabulary}, the vocabulary")
            if request.length > room:
                raise ValueError(
                    f"a prompt of {len(request.prompt)} tokens and {request.most} new ones"
                    f" are more than the {room} that the model and the cache have room for"
                )

    def _join(self, waiting: deque[Request], rows: Rows) -> Rows:
        """Move requests into free rows while pages last; return those that came, each in its row."""
        joined = Rows([None] * self._rows)
        for row in range(self._rows):
            if rows[row] or not waiting:
                continue
            count = -(-waiting[0].length // PAGE)
            if count > len(self._free):
                break
            request = rows[row] = joined[row] = waiting.popleft()
            request.pages, self._free = self._free[:count], self._free[count:]
        return joined

    def _leave(self, rows: Rows, row: int) -> None:
        if request := rows[row]:
            self._free += request.pages
            rows[row] = None

    def _next(self, inputs: Batch) -> list[int]:
        """Return the next token of each row."""
        with self._fw.inference():
            self._caches, ids = self._step(self._caches, self._weights, self._angles, inputs)
        return self._fw.values(ids).tolist()

    def _forward(self, caches: Any, w: Any, angles: Any, inputs: dict[str, Any]) -> tuple[Any, Any]:
        """Return the caches, which now have the batch's tokens, and the next token of each row."""
        ops, caches = self._fw.ops, list(caches)
        # Here rather than by the caller: what JAX compiles takes NumPy's arrays faster than it makes its own.
        inputs = {name: self._fw.array(values) for name, values in inputs.items()}

        def block(layer: int, x: Any) -> Any:
            def attend(q: Any, k: Any, v: Any) -> Any:
                caches[layer] = cache = ops.reshape_and_cache(k, v, *caches[layer], inputs["slots"])
                if "tables" in inputs:
                    return ops.paged_attention(q, *cache, inputs["tables"], inputs["lengths"])[0]
                starts = inputs["starts"]
                return ops.flash_attn_varlen(q, k, v, starts, starts, causal=True)[0]

            weights, rotation = network.of_layer(w, layer), (inputs["positions"], angles)
            return network.block(ops, self._fw.xp, weights, self._config, x, rotation, attend)

        x = network.hidden(ops, w, self._config, inputs["ids"], block)
        x = ops.embedding(inputs["last"], x)  # the rows of the last tokens
        probabilities = ops.softmax(network.logits(ops, w, x, self._temperature))
        choice = (inputs[name] for name in ("seed", "offset", "top_k", "top_p"))
        return caches, ops.top_k_top_p_min_p_sampling_from_probs(probabilities, *choice)
