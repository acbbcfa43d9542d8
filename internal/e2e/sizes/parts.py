"""How a call of both ends of a long dim tells what both ends of the long call are."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Values = Callable[[int], Any]


@dataclass(frozen=True)
class Part:
    """What a dim needs besides: arrays whose middle adds nothing to a sum, and positions."""

    # What lies between both ends of arrays.
    middle: Mapping[str, float] = field(default_factory=dict[str, float])
    # Values of arrays, or of their ends, from the last position.
    contents: Mapping[str, Values] = field(default_factory=dict[str, Values])
    sizes: dict[str, int] = field(default_factory=dict[str, int])
    along: tuple[str, ...] = ()  # dims that grow as well
    edge: int = 3  # elements that are compared at each end
    unit: int = 1  # what sizes are multiples of
    last: int = 2**31 - 1  # the largest position
    repeats: bool = False  # whether rows repeat four numbers: their means are those of a short row
    pages: bool = False  # whether a position is where something lies, not where it ends

    def whole(self) -> bool:
        """Say whether a result is a sum over the long dim: then all of the loops run, and results are near."""
        return self.repeats or bool(self.middle)


def until(last: int) -> list[int]:
    """Return the offsets of one sequence, as long as positions reach."""
    return [0, last]


def back(last: int) -> int:
    """Return the last of so many."""
    return last - 1


def only_last(_: int) -> list[int]:
    """Return offsets of sequences of which the last alone has an element."""
    return [0, 0, 0, 0, 0, 0, 1]


def some(value: float | list[int]) -> Values:
    """Return what gives the same for all."""
    return lambda _: value


LAST: dict[str, Values] = {"cu_seqlens_k": lambda n: [n - 2, n]}
PAGE: dict[str, Values] = {"block_tables": some(0), "seq_lens": some(1)}
ONE_QUERY: dict[str, Values] = {"cu_seqlens_q": some([0, 1])}
ONE: dict[str, Values] = {"kv_indptr": some([0, 1]), "kv_indices": some(0)}
ROW = Part(repeats=True, edge=2048)
GATES = ("gelu_and_mul", "gelu_tanh_and_mul", "silu_and_mul", "swigluoai_and_mul")
PARTS: dict[tuple[str, str], Part] = {
    ("conv2d", "C"): Part({"x": 0}),
    ("conv2d", "H"): Part(along=("P",)),
    ("conv2d", "O"): Part(),
    ("conv2d", "R"): Part({"x": 0}, along=("H",)),
    ("conv2d", "S"): Part({"x": 0}, along=("W",)),
    ("conv2d", "W"): Part(along=("Q",)),
    ("cross_entropy_backward", "V"): Part(contents={"target": some(0)}),
    ("dequantize", "G"): Part(along=("N",)),
    ("dequantize", "N"): Part(repeats=True, edge=2048, unit=2),
    ("flash_attn_varlen", "D"): Part({"q": 0, "k": 0}, {"cu_seqlens_q": some([0, 1]), "cu_seqlens_k": some([0, 1])}),
    ("flash_attn_varlen", "Hk"): Part(along=("Hq",)),
    ("flash_attn_varlen", "Hq"): Part(),
    ("flash_attn_varlen", "Tk"): Part(contents=LAST, pages=True),
    ("flash_attn_varlen", "Tq"): Part(contents={"cu_seqlens_q": until}),
    ("flash_attn_varlen_backward", "D"): Part({"q": 0, "k": 0}),
    ("flash_attn_varlen_backward", "Dv"): Part({"v": 0, "o": 0, "grad_o": 0}),
    ("flash_attn_varlen_backward", "Hk"): Part(along=("Hq",)),
    ("flash_attn_varlen_backward", "Tk"): Part(contents=LAST, pages=True),
    ("gated_delta_rule", "N"): Part(contents={"cu_seqlens": some([0, 1]), "state_indices": some(0)}),
    ("gated_delta_rule", "P"): Part(contents={"cu_seqlens": some([0, 1]), "state_indices": back}, pages=True),
    ("gemm_a8w8", "K"): Part({"a": 0}, edge=16),
    ("gemm_a8w8_blockscale", "K"): Part({"a": 0}, edge=256, unit=128),
    ("gemm_a8w8_blockscale", "N"): Part(edge=256, unit=128),
    ("gemm_backward", "*"): Part({"grad_c": 0}),
    ("gemm_backward", "K"): Part(),
    ("gemm_w4a16", "K"): Part({"a": 0}, edge=32, unit=16),
    ("group_norm", "C"): ROW,
    ("group_norm", "S"): ROW,
    ("group_norm_backward", "C"): ROW,
    ("group_norm_backward", "S"): ROW,
    ("grouped_gemm", "E"): Part(contents={"expert_offsets": only_last}),
    ("grouped_gemm", "K"): Part({"a": 0}),
    ("grouped_gemm", "M"): Part(contents={"expert_offsets": until}),
    ("grouped_gemm_backward", "E"): Part(contents={"expert_offsets": only_last}),
    ("grouped_gemm_backward", "M"): Part({"grad_c": 0}, {"expert_offsets": until}),
    ("grouped_gemm_fp8", "E"): Part(contents={"expert_offsets": only_last}),
    ("grouped_gemm_fp8", "M"): Part(contents={"expert_offsets": until}),
    ("layer_norm", "N"): ROW,
    ("layer_norm_backward", "N"): ROW,
    ("layernorm2d", "N"): ROW,
    ("merge_states", "S"): Part({"s_parts": -np.inf}),
    ("mla_paged_attention", "Dr"): Part({"q_pe": 0}, PAGE | ONE_QUERY),
    ("mla_paged_attention", "H"): Part(contents=PAGE | ONE_QUERY),
    ("mla_paged_attention", "M"): Part(contents=PAGE, sizes={"B": 2}),
    ("mla_paged_attention", "N"): Part(contents=PAGE | {"cu_seqlens_q": until}),
    ("mla_paged_attention", "P"): Part(contents=PAGE | ONE_QUERY | {"block_tables": back}, pages=True),
    ("mla_paged_attention", "S"): Part(contents=ONE_QUERY | {"block_tables": some(1), "seq_lens": some(3)}, sizes={"P": 2}),
    ("mla_prefill", "D"): Part({"q": 0, "kv": 0}, edge=32),
    ("mla_prefill", "Tk"): Part(contents=LAST, pages=True),
    ("mla_prefill", "Tq"): Part(contents={"cu_seqlens_q": until}),
    ("paged_attention", "B"): Part(contents=PAGE, along=("N",)),
    ("paged_attention", "D"): Part({"q": 0}, PAGE),
    ("paged_attention", "Hk"): Part(contents=PAGE, along=("Hq",)),
    ("paged_attention", "Hq"): Part(contents=PAGE, along=("Hk",)),
    ("paged_attention", "M"): Part(contents=PAGE, sizes={"B": 2}),
    ("paged_attention", "N"): Part(contents=PAGE, along=("B",)),
    ("paged_attention", "P"): Part(contents=PAGE | {"block_tables": back}, pages=True),
    ("paged_attention", "S"): Part(contents={"block_tables": some(1), "seq_lens": some(3)}, sizes={"P": 2}),
    ("paged_decode_attention", "B"): Part(contents=ONE | {"kv_indptr": only_last}, along=("N",)),
    ("paged_decode_attention", "D"): Part({"q": 0}, ONE),
    ("paged_decode_attention", "Hk"): Part(contents=ONE, along=("Hq",)),
    ("paged_decode_attention", "Hq"): Part(contents=ONE, along=("Hk",)),
    ("paged_decode_attention", "M"): Part(contents={"kv_indptr": lambda n: [n - 3, n], "kv_indices": some(0)}),
    ("paged_decode_attention", "N"): Part(contents=ONE | {"kv_indptr": only_last}, along=("B",)),
    ("paged_decode_attention", "P"): Part(contents=ONE | {"kv_indices": back}, pages=True),
    ("paged_decode_attention", "S"): Part(contents={"kv_indptr": some([0, 1]), "kv_indices": some(1), "kv_last_page_len": some(3)}, sizes={"P": 2}),
    ("per_token_group_quant", "N"): Part(edge=32, unit=16),
    ("per_token_quant", "N"): ROW,
    ("reshape_and_cache", "D"): Part(contents={"slot_mapping": some(0)}),
    ("reshape_and_cache", "Dv"): Part(contents={"slot_mapping": some(0)}),
    ("reshape_and_cache", "H"): Part(contents={"slot_mapping": some(0)}),
    ("reshape_and_cache", "N"): Part(contents={"slot_mapping": lambda _: range(6)}, sizes={"P": 6}),
    ("reshape_and_cache", "P"): Part(contents={"slot_mapping": back}, last=2**62, pages=True),
    ("reshape_and_cache", "S"): Part(contents={"slot_mapping": back}, last=2**62, pages=True),
    ("rms_norm_backward", "N"): ROW,
    ("rms_norm_gated", "N"): ROW,
    ("selective_state_update", "B"): Part(along=("M",)),
    ("selective_state_update", "M"): Part(),
    ("selective_state_update", "N"): Part({"c": 0}, {"dt": some(1)}),
    ("softmax_backward", "N"): Part({"y": 0}),
    ("top_k_mask_logits", "V"): Part({"logits": -np.inf}),
    ("top_k_top_p_min_p_renorm_probs", "V"): Part({"probs": 0}),
} | {(gate + end, "D"): Part() for gate in GATES for end in ("", "_backward")}  # fmt: skip
INTERLEAVED = ("swigluoai_and_mul", "swigluoai_and_mul_backward")  # others have gates, then values


def places(
    op: Any, grown: tuple[str, ...], edge: int, text: str, size: int, env: dict[str, Any]
) -> Any:
    """Return the indices of both ends of an axis; None if it does not grow."""
    each, first, last = size, edge, edge
    if text.replace(" ", "") in [f"2*{d}" for d in grown]:
        if op.name in INTERLEAVED:
            first = last = 2 * edge
        else:
            each //= 2
    elif text not in grown:
        text = re.sub(r"ceildiv\((\w+), ?(\d+)\)", r"\1 // \2", text)
        m = re.fullmatch(r"(\w+) ?(\+ ?1|// ?(\w+))", text)
        if m is None or m[1] not in grown:
            return None
        if m[3]:
            first = last = edge // (int(m[3]) if m[3].isdigit() else env[m[3]])
        else:
            last = edge + 1
    return [h + i for h in range(0, size, each) for i in [*range(first), *range(each - last, each)]]
