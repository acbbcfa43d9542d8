"""Measures workloads with one number of threads; ``workloads.py`` starts it in a process of its own."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
import workload_attention as attention
import workload_draws as draws
import workload_experts as experts
import workload_groups as groups
import workload_products as products
import workload_quant as quant
import workload_rows as rows
from kernel_agree import check
from kernel_clock import Timed, measure
from workload_calls import calls

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kernel_case import Case
    from workload_calls import Call

_any: Any = torch
_REST_S = 0.006  # as in kernel_run.py
# A peer that takes so long, and so many times ours, is called no more.
_SLOW_NS, _HOPELESS = 3e8, 4.0
MAKE: dict[str, Callable[[Call], Case]] = {
    "chain_speculative_sampling": draws.chain_speculative_sampling,
    "cross_entropy": rows.cross_entropy,
    "cross_entropy_backward": rows.cross_entropy_backward,
    "dequantize": quant.dequantize,
    "dropout": rows.dropout,
    "dropout_backward": rows.dropout_backward,
    "embedding": rows.embedding,
    "embedding_backward": rows.embedding_backward,
    "flash_attn_varlen": attention.flash_attn_varlen,
    "flash_attn_varlen_backward": attention.flash_attn_varlen_backward,
    "flash_mla_sparse_decode": attention.flash_mla_sparse,
    "flash_mla_sparse_decode_splitk": attention.flash_mla_sparse,
    "fused_add_layer_norm": rows.fused_add_layer_norm,
    "fused_moe": products.fused_moe,
    "gelu_and_mul": partial(rows.gate, approximate="none"),
    "gelu_and_mul_backward": partial(rows.gate_backward, approximate="none"),
    "gelu_tanh_and_mul": partial(rows.gate, approximate="tanh"),
    "gelu_tanh_and_mul_backward": partial(rows.gate_backward, approximate="tanh"),
    "gemm": products.gemm,
    "gemm_a8w8": quant.gemm_a8w8,
    "gemm_a8w8_blockscale": quant.gemm_a8w8_blockscale,
    "gemm_backward": products.gemm,
    "gemm_w4a16": quant.gemm_w4a16,
    "grouped_gemm": products.grouped_gemm,
    "grouped_gemm_backward": products.grouped_gemm_backward,
    "grouped_topk": experts.grouped_topk,
    "group_norm": groups.group_norm,
    "group_norm_backward": groups.group_norm_backward,
    "layer_norm": rows.layer_norm,
    "swigluoai_and_mul": groups.gate,
    "swigluoai_and_mul_backward": groups.gate,
    "layer_norm_backward": rows.layer_norm_backward,
    "merge_state": attention.merge_state,
    "merge_states": attention.merge_states,
    "mla_prefill": attention.mla_prefill,
    "moe_align_block_size": experts.moe_align_block_size,
    "moe_permute": experts.moe_permute,
    "moe_permute_backward": experts.moe_unpermute,
    "moe_unpermute": experts.moe_unpermute,
    "moe_unpermute_backward": experts.moe_unpermute_backward,
    "paged_attention": attention.paged,
    "paged_decode_attention": attention.paged,
    "per_tensor_quant": quant.per_tensor_quant,
    "per_token_group_quant": quant.per_group_quant,
    "per_token_quant": quant.per_group_quant,
    "reshape_and_cache": attention.reshape_and_cache,
    "rms_norm": rows.measured,
    "rms_norm_backward": rows.measured,
    "rope": rows.rope,
    "rope_backward": rows.rope,
    "silu_and_mul": rows.measured,
    "silu_and_mul_backward": rows.measured,
    "softmax": rows.measured,
    "softmax_backward": rows.measured,
    "top_k_top_p_min_p_sampling_from_probs": draws.sampling,
    "topk": draws.topk,
    "topk_softmax": experts.topk_softmax,
    "warp_bitonic_sort": draws.warp_bitonic_sort,
}
_RANDOM = {  # whose results differ between frameworks
    "chain_speculative_sampling",
    "dropout",
    "dropout_backward",
    "top_k_top_p_min_p_sampling_from_probs",
}
_OVERWRITING = {"fused_add_layer_norm"}  # each call begins with what the last one left
_LISTS = {"adamw": {"f32": torch.float32, "bf16": torch.bfloat16}}  # no workload can say them


def main() -> None:
    """Measure, and write a line of JSON for each result to a file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--rounds", type=int, required=True)
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--dtypes", required=True)
    parser.add_argument("--ops", required=True)
    parser.add_argument("--to", type=Path, required=True)
    options = parser.parse_args()
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: options.threads])
    torch.set_num_threads(options.threads)
    torch.set_grad_enabled(False)
    with options.to.open("w", encoding="utf-8") as file:
        for named, make in _cases(options):
            _any.manual_seed(0)
            try:
                line = named | _time(make(), options)
            except Exception as error:  # one case that fails must not end the rest
                line = named | {"failed": {"opcast": _reason(error)}}
            print(json.dumps(line), file=file, flush=True)
            print(_text(line | {"threads": options.threads}), flush=True)


def _cases(options: argparse.Namespace) -> Iterator[tuple[dict[str, Any], Callable[[], Case]]]:
    prefixes, dtypes = options.ops.split(","), options.dtypes.split(",")
    for call in calls(prefixes, dtypes):
        named = {"op": call.op, "workload": call.label, "dtype": call.dtype}
        yield named, partial(_made, call)
    if any("adamw".startswith(prefix) for prefix in prefixes):
        for name, dtype in _LISTS["adamw"].items():
            label = "47 arrays, 7.1 M numbers"
            yield (
                {"op": "adamw", "workload": label, "dtype": name},
                partial(draws.adamw, dtype, label),
            )


def _made(call: Call) -> Case:
    return MAKE[call.op](call)


def _time(case: Case, options: argparse.Namespace) -> dict[str, Any]:
    """Return the fastest times of all, and the ratio of the fastest peer's to ours."""
    ours = Timed(case.call("fresh"))
    ours.call()
    own = _once(ours.call)
    slow: dict[str, Timed] = {}
    peers: dict[str, Timed] = {}
    failed: dict[str, str] = {}
    for name, build in case.peers("fresh").items():
        try:
            call = build()
            if name == "torch" and call() is None:
                continue  # a peer of that name has no formula
            _agree(case, call)
            once, limit = _once(call), max(_SLOW_NS, _HOPELESS * own)
            if once > limit and (once := min(once, _once(call))) > limit:
                slow[name] = Timed(call, [once])
            else:
                peers[name] = Timed(call)
        except Exception as error:  # whatever a peer raises
            failed[name] = _reason(error)
    rest = _REST_S if options.threads > 1 else 0.0
    measure([ours, *peers.values()], options.rounds, options.seconds, rest)
    peers |= slow
    least = min(ours.samples)
    line: dict[str, Any] = {"us": _us(least)}
    line["peers_us"] = {name: _us(min(t.samples)) for name, t in peers.items()}
    if peers:
        line["beside"] = min(peers, key=lambda name: min(peers[name].samples))
        line["ratio"] = round(min(peers[line["beside"]].samples) / least, 3)
    return line | {"failed": failed} if failed else line


def _once(call: Callable[[], Any]) -> float:
    begin = time.perf_counter_ns()
    call()
    return float(time.perf_counter_ns() - begin)


def _agree(case: Case, peer: Callable[[], Any]) -> None:
    """Raise an error where a peer's results are not ours, or for random ones not of the same kind."""
    if case.op in _OVERWRITING | {"adamw", "reshape_and_cache"}:
        kept = [x.clone() for x in case.arrays]
        theirs = [x.clone() for x in _results(peer())]
        for x, old in zip(case.arrays, kept):
            x.copy_(old)
        if theirs:
            check(theirs, case.call("fresh")())
        return
    theirs, own = _results(peer()), _results(case.call("fresh")())
    if case.op in _RANDOM:
        theirs, own = ([x.double().abs().mean().float() for x in xs] for xs in (theirs, own))
        if "sampling" in case.op:
            return
    check(theirs, own)


def _results(results: Any) -> list[torch.Tensor]:
    if isinstance(results, (tuple, list)):
        several: list[Any] = list(results)  # pyright: ignore[reportUnknownArgumentType]
        return [x for result in several for x in _results(result)]
    if results is None:
        return []
    return [results if isinstance(results, torch.Tensor) else torch.from_dlpack(results)]


def _reason(error: Exception) -> str:
    text = str(error).strip().split("\n", 1)[0]
    return f"{type(error).__name__}: {text}"[:300]


def _us(nanoseconds: float) -> float:
    return float(f"{nanoseconds / 1e3:.4g}")


def _text(line: dict[str, Any]) -> str:
    text = f"{line['op']:38}{line['workload']:44}{line['dtype']:15}{line['threads']:2}"
    if "ratio" in line:
        others = ", ".join(f"{name} {us:g}" for name, us in line["peers_us"].items())
        text += f"{line['us']:11g}{line['ratio']:8.2f}  {line['beside']} ({others})"
    return text + "".join(f"; without {k}: {v}" for k, v in line.get("failed", {}).items())


if __name__ == "__main__":
    sys.exit(main())
