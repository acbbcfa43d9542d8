"""Times the llama example and its peers on one case, in rounds in which each continues the same prompts once.

Prints nothing: it writes a line of JSON for each runner of each case to the file ``--to``.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import random
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).parents[1]
sys.path += [str(_ROOT / "examples" / "llama"), str(_ROOT / "examples")]
import checkpoint
import frameworks
import llama_peers as peers
import numpy as np
import torch
import transformers
from batch import PAGE, Request
from llama_peers import Continue, Continued, Prompts
from serve import Server

_torch: Any = torch  # partly untyped
_transformers: Any = transformers

_SEED = 0
_REST_S = 0.01  # threads that wait for more work of the runner before stop doing so

# Of SmolLM2-135M, which has 30 layers. No token ends a text, so that all texts are equally long.
_SHAPES: dict[str, Any] = {
    "vocab_size": 49152,
    "hidden_size": 576,
    "intermediate_size": 1536,
    "num_attention_heads": 9,
    "num_key_value_heads": 3,
    "max_position_embeddings": 2048,
    "rope_parameters": {"rope_type": "default", "rope_theta": 100000.0},
    "rms_norm_eps": 1e-5,
    "tie_word_embeddings": True,
    "bos_token_id": None,
    "eos_token_id": None,
}

# How much less than the best a token's logit may be, of transformers' model in float32.
_TOLERANCE = {"float32": 1e-4, "bfloat16": 0.1}


def main() -> int:
    """Time the cases and write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    for name in ("threads", "layers", "rounds", "prompt", "tokens"):
        add(f"--{name}", type=int, required=True)
    add("--model", type=Path, required=True)
    add("--dtype", required=True)
    add("--batches", required=True)
    add("--runners", required=True)
    add("--to", type=Path, required=True)
    options = parser.parse_args()
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: options.threads])
    torch.set_num_threads(options.threads)
    _transformers.utils.logging.disable_progress_bar()
    _make_model(options.model, options.layers)
    wide = _transformers.LlamaForCausalLM.from_pretrained(options.model, dtype=torch.float32)
    with options.to.open("w", encoding="utf-8") as file:
        for rows in map(int, options.batches.split(",")):
            for line in _case(rows, options, wide):
                file.write(json.dumps(line) + "\n")
                file.flush()
    return 0


def _make_model(folder: Path, layers: int) -> None:
    """Write a model as transformers begins to train it, unless the folder has one."""
    if not (folder / "model.safetensors").exists():
        _torch.manual_seed(_SEED)
        config = _transformers.LlamaConfig(num_hidden_layers=layers, **_SHAPES)
        _transformers.LlamaForCausalLM(config).save_pretrained(folder)


def _case(rows: int, options: argparse.Namespace, wide: Any) -> Iterator[dict[str, Any]]:
    """Yield what each runner needed, in seconds, for prompts and for tokens after the first."""
    config = checkpoint.read_config(options.model)
    rng = np.random.default_rng(_SEED)
    prompts = rng.integers(0, config.vocabulary, (rows, options.prompt)).tolist()
    runners = dict(_runners(rows, options))
    for name, run in runners.items():
        error = _loss(wide, prompts, run(prompts, options.tokens).tokens)
        if error > _TOLERANCE[options.dtype]:
            raise ValueError(f"{name}: a token's logit is {error:.2g} less than the best one's")
    gc.collect()
    samples: dict[str, list[Continued]] = {name: [] for name in runners}
    order = list(runners)
    shuffle = random.Random(_SEED).shuffle  # what ran before has an influence
    for _ in range(options.rounds):
        shuffle(order)
        for name in order:
            time.sleep(_REST_S)
            samples[name].append(runners[name](prompts, options.tokens))
    for name, all_of in samples.items():
        yield {
            "runner": name,
            "dtype": options.dtype,
            "rows": rows,
            "prefill_s": [sample.prefill_s for sample in all_of],
            "decode_s": [sample.decode_s for sample in all_of],
        }


def _loss(model: Any, prompts: Prompts, tokens: list[list[int]]) -> float:
    """Return by how much a token's logit is less than the best one's, at most, given those before it."""
    given = _torch.tensor([prompt + new for prompt, new in zip(prompts, tokens, strict=True)])
    chosen = _torch.tensor(tokens)
    with torch.inference_mode():
        logits = model(given[:, :-1], logits_to_keep=chosen.shape[1]).logits
        of_chosen = logits.gather(-1, chosen[..., None])[..., 0]
        return float((logits.amax(-1) - of_chosen).max())


def _runners(rows: int, options: argparse.Namespace) -> Iterator[tuple[str, Continue]]:
    config = checkpoint.read_config(options.model)
    weights = checkpoint.read_weights(options.model, config, options.dtype)
    dtype = getattr(torch, options.dtype)
    model = _transformers.LlamaForCausalLM.from_pretrained(options.model, dtype=dtype).eval()
    pages = rows * -(-(options.prompt + options.tokens) // PAGE)
    made = {
        "torch": lambda: _example("torch", config, weights, rows, pages),
        "eager": lambda: peers.eager(model),
        "compiled": lambda: peers.compiled(model),
        "jax": lambda: _example("jax", config, weights, rows, pages),
        "jit": lambda: peers.plain_jax(config, weights),
    }
    for name in options.runners.split(","):
        yield name, made[name]()


def _example(name: str, config: Any, weights: dict[str, Any], rows: int, pages: int) -> Continue:
    """Return what serves the prompts with the example: it draws tokens from the one most probable."""
    server = Server(frameworks.load(name), config, weights, rows=rows, pages=pages)

    def run(prompts: Prompts, count: int) -> Continued:
        requests = [Request(prompt, count, top_k=1) for prompt in prompts]
        times = [time.perf_counter()]
        for _ in server.run(requests):
            times.append(time.perf_counter())
        tokens = [request.tokens for request in requests]
        return Continued(tokens, times[rows] - times[0], times[-1] - times[rows])

    return run


if __name__ == "__main__":
    sys.exit(main())
