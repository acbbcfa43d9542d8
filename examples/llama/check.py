"""Hold the example against Hugging Face's LlamaForCausalLM: the same weights must give the same greedy tokens.

Also held against itself: a prompt is continued in the same way in a batch with others and alone.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[1]))  # where the examples share frameworks.py
import checkpoint
import frameworks
import torch
import transformers
from batch import Request
from serve import Server

PROMPTS = (
    "ROMEO:\n",
    "JULIET:\nO ",
    "O",
    "Now old desire doth in his death-bed lie",
    "Nurse:\nMy lady",
)
TOKENS = 48

_transformers: Any = transformers  # partly untyped
_transformers.utils.logging.disable_progress_bar()


def main() -> int:
    """Print a line for each framework; return 1 if tokens differ."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", nargs="?", type=Path, default=Path(__file__).parent / "model")
    folder = parser.parse_args().model
    tokenizer = checkpoint.read_tokenizer(folder)
    prompts: list[list[int]] = [tokenizer.encode(prompt).ids for prompt in PROMPTS]
    model = _transformers.LlamaForCausalLM.from_pretrained(folder, dtype=torch.float32)
    want = [_expected(model, prompt) for prompt in prompts]
    differ = False
    for name in ("torch", "jax", "numpy"):
        for rows in (1, 3):  # alone, and in a batch that prompts join and leave
            got = _continued(name, folder, prompts, rows)
            wrong = sum(a != b for a, b in zip(got, want, strict=True))
            differ |= wrong > 0
            verdict = f"{wrong} DIFFER" if wrong else "as transformers' LlamaForCausalLM"
            print(f"{name}, batches of {rows}: {sum(map(len, got))} greedy tokens, {verdict}")
    return int(differ)


def _expected(model: Any, prompt: list[int]) -> list[int]:
    ids = torch.tensor([prompt])
    mask = torch.ones_like(ids)
    out = model.generate(
        ids, attention_mask=mask, max_new_tokens=TOKENS, do_sample=False, pad_token_id=0
    )
    return out[0, len(prompt) :].tolist()


def _continued(name: str, folder: Path, prompts: list[list[int]], rows: int) -> list[list[int]]:
    config = checkpoint.read_config(folder)
    weights = checkpoint.read_weights(folder, config)
    server = Server(frameworks.load(name), config, weights, rows=rows)
    requests = [Request(prompt, TOKENS, top_k=1) for prompt in prompts]
    for _ in server.run(requests):
        pass
    return [request.tokens for request in requests]


if __name__ == "__main__":
    sys.exit(main())
