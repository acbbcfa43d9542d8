"""Continue prompts with a Llama that is made of nothing but generated ops."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[1]))  # where the examples share frameworks.py
import checkpoint
import frameworks
import numpy as np
from batch import PAGE, Request
from checkpoint import ModelError
from serve import Server

FRAMEWORKS = ["torch", "jax", "numpy"]  # on one device, so equal to the last bit
MODEL = Path(__file__).parent / "model"
PROMPTS = ("ROMEO:\n", "JULIET:\nO ", "Nurse:\nMy lady", "FRIAR LAURENCE:\nGood", "PRINCE:\n")


def main() -> int:
    """Print what follows each prompt in each framework; return 1 if the frameworks differ."""
    parser = _parser()
    options = parser.parse_args()
    for name in options.framework:
        if reason := frameworks.why_not(name):
            parser.error(f"--framework {name}: {reason}")
    try:
        texts = {name: _continued(name, options) for name in options.framework}
    except (ModelError, ValueError) as error:
        print(f"python examples/llama: {error}", file=sys.stderr)
        return 2
    first, *others = texts.values()
    for prompt, text in zip(options.prompts, first, strict=True):
        print(f"{prompt}\033[1m{text}\033[0m\n" if sys.stdout.isatty() else f"{prompt}{text}\n")
    if not others:
        return 0
    same = all(other == first for other in others)
    *names, last = options.framework
    print(f"{', '.join(names)} and {last} give {'the same tokens' if same else 'OTHER TOKENS'}.")
    return 0 if same else 1


def _continued(name: str, options: argparse.Namespace) -> list[str]:
    """Return what follows each prompt."""
    config = checkpoint.read_config(options.model)
    weights = checkpoint.read_weights(options.model, config, options.dtype)
    tokenizer = checkpoint.read_tokenizer(options.model)
    requests = [
        Request(tokenizer.encode(prompt).ids, options.tokens, options.top_k, options.top_p)
        for prompt in options.prompts
    ]
    sampling: Any = {"temperature": options.temperature, "pages": options.pages}
    server = Server(frameworks.load(name), config, weights, **sampling)
    for _ in server.run(requests, options.seed):
        pass
    return [tokenizer.decode(request.tokens) for request in requests]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python examples/llama", description=__doc__)
    add = parser.add_argument
    add("prompts", nargs="*", default=PROMPTS, metavar="PROMPT")
    add("--framework", type=_frameworks, default=FRAMEWORKS, help="such as torch,numpy")
    add("--model", type=Path, default=MODEL, metavar="FOLDER", help="as Hugging Face stores it")
    add("--dtype", choices=("float32", "float16", "bfloat16"), default="float32")
    add("--tokens", type=_int32, default=40, metavar="N", help="how many follow a prompt")
    add("--seed", type=_int32, default=0)
    add("--temperature", type=float, default=0.8)
    add("--top-k", type=_int32, default=0, metavar="K", help="1 takes the most probable token")
    add("--top-p", type=float, default=0.95, metavar="P")
    add("--pages", type=_int32, default=64, metavar="N", help=f"of {PAGE} tokens in the cache")
    return parser


def _frameworks(text: str) -> list[str]:
    names = list(dict.fromkeys(text.split(",")))
    if unknown := [name for name in names if name not in frameworks.NAMES]:
        known = ", ".join(frameworks.NAMES)
        raise argparse.ArgumentTypeError(f"expected some of {known}, got {unknown[0]}")
    return names


def _int32(text: str) -> int:
    try:
        return int(np.int32(int(text)))
    except (ValueError, OverflowError) as error:
        raise argparse.ArgumentTypeError(f"expected an int32, got {text}") from error


if __name__ == "__main__":
    sys.exit(main())
