"""Definitions of ops, and small sizes for them."""

import re
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import tomllib
from opcast_backend import op_call

DTYPES = {
    "i8": np.int8, "u8": np.uint8, "i32": np.int32, "i64": np.int64, "u64": np.uint64, "f16": np.float16,
    "f32": np.float32, "f64": np.float64, "bf16": ml_dtypes.bfloat16, "f8e4m3fn": ml_dtypes.float8_e4m3fn,
    "f8e4m3fnuz": ml_dtypes.float8_e4m3fnuz,
}  # fmt: skip
# Sizes other than 1, and attributes without a default.
GIVEN: dict[str, dict[str, Any]] = {
    "chain_speculative_sampling": {"V": 4},
    "dequantize": {"N": 2, "G": 2},
    "flash_attn_varlen": {"sm_scale": 1.0},
    "flash_attn_varlen_backward": {"sm_scale": 1.0},
    "flash_mla_decode": {"T": 4},
    "flash_mla_sparse_decode": {"K": 4, "NB": 2},
    "flash_mla_sparse_decode_splitk": {"K": 4, "NB": 2},
    "fused_moe_fp4": {"D": 2, "I": 2},
    "fused_moe_fp8": {"out_dtype": "f16"},
    "gelu": {"approximate": "none"},
    "gelu_backward": {"approximate": "none"},
    "gemm_a8w8": {"K": 16},
    "gemm_a8w8_blockscale": {"K": 128},
    "gemm_w4a16": {"K": 16, "group_size": 16},
    "group_norm": {"C": 2, "S": 2, "num_groups": 1},
    "group_norm_backward": {"C": 2, "S": 2, "num_groups": 1},
    "grouped_topk": {"E": 4, "k": 1, "num_groups": 2, "topk_groups": 1},
    "mla_paged_attention": {"sm_scale": 1.0, "causal": False},
    "mla_prefill": {"D": 16, "kv_lora_rank": 16, "sm_scale": 1.0},
    "moe_align_block_size": {"num_experts": 1, "block_size": 1},
    "moe_permute": {"num_experts": 1},
    "paged_attention": {"sm_scale": 1.0},
    "paged_decode_attention": {"sm_scale": 1.0},
    "per_tensor_quant": {"out_dtype": "i8"},
    "per_token_group_quant": {"N": 16, "group_size": 16, "out_dtype": "i8"},
    "per_token_quant": {"N": 2, "out_dtype": "i8"},
    "rope": {"D": 2, "R": 2, "P": 4},
    "rope_backward": {"D": 2, "R": 2, "P": 4},
    "softmax": {"N": 2},
    "topk": {"k": 1},
    "topk_softmax": {"E": 4, "k": 1},
    "warp_bitonic_sort": {"L": 2},
}


def ceildiv(a: int, b: int) -> int:
    """Return a quotient, rounded up."""
    return -(-a // b)


class Op:
    """A definition, and how its sizes are chosen."""

    def __init__(self, path: Path) -> None:
        self.name = path.stem
        self.text = tomllib.loads(path.read_text())
        given = GIVEN.get(self.name, {})
        attrs = self.text.get("attrs", [])
        self.attrs = {a["name"]: given[a["name"]] for a in attrs if a["name"] in given}
        self.defaults = {
            a["name"]: a["default"] for a in attrs if type(a.get("default")) in (int, str)
        }
        self.defaults.update(
            {a["name"]: [a["default"]] * 2 for a in attrs if a["type"] == "int[2]"}
        )
        for variable, dtypes in self.text.get("dtypes", {}).items():
            bound = [a for a in attrs if a.get("binds") == variable]
            best = "f16" if "f16" in dtypes else dtypes[0]
            self.defaults[variable] = self.attrs.get(bound[0]["name"], best) if bound else best
        for a in attrs:
            if a.get("default") in self.text.get("dtypes", {}):
                self.defaults[a["binds"]] = self.defaults[a["default"]]
            elif a["type"] == "dtype" and a["name"] not in self.attrs:
                self.defaults[a["binds"]] = a["default"]
        self.args = [*self.text["inputs"], *self.text.get("outputs", [])]

    def dims(self, arg: dict[str, Any]) -> list[str]:
        """Return the dims of an argument's type as they are written."""
        inside = arg["type"].partition("[")[2][:-1]
        inside = re.sub(r"(\w+) if layout == 'NHD' else \w+", r"\1", inside)  # the default
        return [d.strip() for d in re.split(r",(?![^()]*\))", inside) if d.strip()]

    def symbols(self) -> list[str]:
        """Return the sizes that stand alone in the types of inputs, or doubled."""
        alone = [d.removeprefix("2*") for a in self.text["inputs"] for d in self.dims(a)]
        return list(dict.fromkeys(d for d in alone if d.isidentifier() or d == "*"))

    def env(self, sizes: dict[str, int]) -> dict[str, Any]:
        """Return the values of all names of a case, of which some sizes are given."""
        given = {n: v for n, v in GIVEN.get(self.name, {}).items()}
        env: dict[str, Any] = {"ceildiv": ceildiv, "sum": sum, "len": len, **self.defaults}
        read = [
            n
            for a in self.text["inputs"]
            for d in self.dims(a)
            for n in re.findall(r"\b[A-Za-z]\w*", d)
        ]
        env |= dict.fromkeys([n for n in [*read, "*"] if n not in env], 1) | given | sizes
        for _ in self.text.get("let", {}):
            for name, text in self.text.get("let", {}).items():
                try:
                    env[name] = eval(text, {}, env)
                except NameError:
                    continue
        return env

    def shape(self, arg: dict[str, Any], env: dict[str, Any]) -> list[int]:
        """Return the shape of an argument."""
        return [env["*"] if d == "*" else eval(d, {}, env) for d in self.dims(arg)]

    def dtype(self, arg: dict[str, Any], env: dict[str, Any]) -> Any:
        """Return the dtype of an argument."""
        name = arg["type"].partition("[")[0]
        return DTYPES[env[name] if name in self.text.get("dtypes", {}) else name]

    def parallel(self) -> list[str]:
        """Return the dims along which slices of the inputs give slices of the outputs."""
        results = [a for a in self.args[len(self.text["inputs"]) :] if not a.get("saved")]
        results += [a for a in self.text["inputs"] if a.get("mutated")]
        leading = ["*"] if all("*" in self.dims(a) for a in results) else []
        return leading + [d for d in self.text.get("parallel", []) if d in self.symbols()]


def call(op: Op, inputs: list[Any], outputs: list[Any]) -> None:
    """Call the library."""
    lists = [[x] if a.get("list") else x for a, x in zip(op.text["inputs"], inputs)]
    chosen = [
        a["name"] for a in op.text.get("attrs", []) if a["type"] == "dtype"
    ]  # outputs have it
    op_call(op.name, lists, outputs, {n: v for n, v in op.attrs.items() if n not in chosen})
