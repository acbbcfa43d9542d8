"""A Llama as Hugging Face stores it: a folder with config.json, *.safetensors and tokenizer.json."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ml_dtypes  # also teaches NumPy, and so safetensors, the name bfloat16
import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file  # pyright: ignore[reportUnknownVariableType]
from tokenizers import Tokenizer

Values = NDArray[Any]

ARCHITECTURE = {"model_type": "llama", "hidden_act": "silu"}
WITHOUT = ("attention_bias", "mlp_bias", "quantization_config")


class ModelError(Exception):
    """A folder does not hold a model that the example can run; the text says why."""


@dataclass(frozen=True)
class Config:
    """What config.json says of a Llama."""

    vocabulary: int
    width: int
    inner: int
    layers: int
    heads: int
    kv_heads: int
    head_dim: int
    eps: float
    positions: int
    """How many tokens a sequence may have."""
    rope: dict[str, Any]
    tied: bool
    """Whether the head is the table of embeddings."""
    end: tuple[int, ...]
    """Tokens that end a text."""

    def angles(self) -> Values:
        """Return float32 cosines, then sines, of each position's head_dim / 2 angles."""
        steps = np.arange(0, self.head_dim, 2) / self.head_dim
        speeds = self.rope["rope_theta"] ** -steps
        if self.rope["rope_type"] == "llama3":
            speeds = _stretched(speeds, self.rope)
        angles = np.arange(self.positions)[:, None] * speeds
        return np.concatenate([np.cos(angles), np.sin(angles)], -1).astype(np.float32)

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Return the shape of each weight, by its name."""
        head = self.head_dim
        layer = {
            "input_layernorm": (self.width,),
            "self_attn.q_proj": (self.heads * head, self.width),
            "self_attn.k_proj": (self.kv_heads * head, self.width),
            "self_attn.v_proj": (self.kv_heads * head, self.width),
            "self_attn.o_proj": (self.width, self.heads * head),
            "post_attention_layernorm": (self.width,),
            "mlp.gate_proj": (self.inner, self.width),
            "mlp.up_proj": (self.inner, self.width),
            "mlp.down_proj": (self.width, self.inner),
        }
        table = (self.vocabulary, self.width)
        shapes: dict[str, tuple[int, ...]] = {"model.embed_tokens.weight": table}
        for number in range(self.layers):
            for name, shape in layer.items():
                shapes[f"model.layers.{number}.{name}.weight"] = shape
        shapes["model.norm.weight"] = (self.width,)
        return shapes if self.tied else {**shapes, "lm_head.weight": table}


def read_config(folder: Path) -> Config:
    """Read config.json; raise ModelError if the model is no plain Llama."""
    path = folder / "config.json"
    try:
        said: dict[str, Any] = dict(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, TypeError, ValueError) as error:
        raise ModelError(f"{path}: {error}") from error
    for key, want in ARCHITECTURE.items():
        if said.get(key, want) != want:
            raise ModelError(f"{path}: {key}: expected {want}, got {said[key]}")
    for key in WITHOUT:
        if said.get(key):
            raise ModelError(f"{path}: {key} is not supported")
    rope: dict[str, Any] = {"rope_theta": said.get("rope_theta", 10000.0)}
    rope |= said.get("rope_parameters") or said.get("rope_scaling") or {}  # the second is older
    rope.setdefault("rope_type", rope.get("type", "default"))  # so do older files call it
    if rope["rope_type"] not in {"default", "llama3"}:
        raise ModelError(f"{path}: rope_type: expected default or llama3, got {rope['rope_type']}")
    try:
        config = _config(said, rope)
        config.angles()
        return config
    except KeyError as error:
        raise ModelError(f"{path}: {error.args[0]} is missing") from error


def _config(said: dict[str, Any], rope: dict[str, Any]) -> Config:
    heads, width = said["num_attention_heads"], said["hidden_size"]
    end = said.get("eos_token_id")
    return Config(
        vocabulary=said["vocab_size"],
        width=width,
        inner=said["intermediate_size"],
        layers=said["num_hidden_layers"],
        heads=heads,
        kv_heads=said.get("num_key_value_heads") or heads,
        head_dim=said.get("head_dim") or width // heads,
        eps=said.get("rms_norm_eps", 1e-6),
        positions=said.get("max_position_embeddings", 2048),
        rope=rope,
        tied=said.get("tie_word_embeddings", False),
        end=() if end is None else tuple(np.atleast_1d(end).tolist()),
    )


def read_weights(folder: Path, config: Config, dtype: str = "float32") -> dict[str, Values]:
    """Read the weights in a dtype; raise ModelError if they are not those of the config."""
    found: dict[str, Values] = {}
    for path in sorted(folder.glob("*.safetensors")):
        try:
            found |= load_file(path)
        except (SafetensorError, KeyError, OSError) as error:
            raise ModelError(f"{path}: {error}") from error
    weights: dict[str, Values] = {}
    for name, shape in config.shapes().items():
        if name not in found:
            raise ModelError(f"{folder}: no file *.safetensors has {name}")
        if found[name].shape != shape:
            raise ModelError(
                f"{folder}: {name}: expected shape {list(shape)}, got {list(found[name].shape)}"
            )
        weights[name] = found[name].astype(dtype)
    return weights


def write(folder: Path, like: Path, weights: dict[str, Any]) -> None:
    """Write a folder with these weights, in bfloat16, and what else the model of another folder has."""
    for path in like.glob("*.json"):
        if folder != like:
            shutil.copy(path, folder)
    stored = {name: np.asarray(value).astype(ml_dtypes.bfloat16) for name, value in weights.items()}
    save_file(stored, folder / "model.safetensors", metadata={"format": "pt"})


def read_tokenizer(folder: Path) -> Any:
    """Read tokenizer.json."""
    path = folder / "tokenizer.json"
    try:
        return Tokenizer.from_file(str(path))
    except Exception as error:  # the library has no narrower one
        raise ModelError(f"{path}: {error}") from error


def _stretched(speeds: Values, rope: dict[str, Any]) -> Values:
    """Return the angles per position of Llama 3.1, which slows down those that turn slowly."""
    turns = rope["original_max_position_embeddings"] * speeds / (2 * np.pi)
    low, high = rope["low_freq_factor"], rope["high_freq_factor"]
    kept = np.clip((turns - low) / (high - low), 0, 1)
    return kept * speeds + (1 - kept) * speeds / rope["factor"]
