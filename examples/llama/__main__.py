"""Continue prompts with a Llama that is made of nothing but generated ops."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))  # where the examples share frameworks.py
import checkpoint
import frameworks
from batch import Request
from checkpoint import ModelError
from serve import Server

MODEL = Path(__file__).parent / "model"
PROMPTS = ("ROMEO:\n", "JULIET:\nO ", "Nurse:\nMy lady", "FRIAR LAURENCE:\nGood", "PRINCE:\n")


def main() -> int:
    """Print what follows each prompt in each framework; return 1 if the frameworks differ."""
    options = _parser().parse_args()
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
    server = Server(frameworks.load(name), config, weights, temperature=options.temperature)
    for _ in server.run(requests, options.seed):
        pass
    return [tokenizer.decode(request.tokens) for request in requests]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python examples/llama", description=__doc__)
    parser.add_argument("prompts", nargs="*", default=PROMPTS, metavar="PROMPT")
    parser.add_argument(
        "--framework",
        nargs="+",
        choices=frameworks.NAMES,
        default=[name for name in frameworks.NAMES if not frameworks.why_not(name)],
    )
    parser.add_argument(
        "--model", type=Path, default=MODEL, metavar="FOLDER", help="as Hugging Face stores a Llama"
    )
    parser.add_argument("--dtype", choices=("float32", "float16", "bfloat16"), default="float32")
    parser.add_argument(
        "--tokens", type=int, default=40, metavar="N", help="how many follow a prompt"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--temperature", type=float, default=0.8)
    parser.add_argument(
        "--top-k", type=int, default=0, metavar="K", help="1 always takes the most probable token"
    )
    parser.add_argument("--top-p", type=float, default=0.95, metavar="P")
    return parser


if __name__ == "__main__":
    sys.exit(main())
