"""Workloads of what sorts, chooses and draws."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import torch
from kernel_agree import check
from kernel_case import Case
from kernel_rows import ops

if TYPE_CHECKING:
    from workload_calls import Call

_jax: Any = jax
_jnp: Any = jnp
_any: Any = torch


def topk(call: Call) -> Case:
    """Return the case of the largest numbers of rows; with ties, indices are as good as each other."""
    n, k = call.size("N", "k")
    x = torch.randn(*call.lead, n).to(call.torch("T"))

    def ours(x: Any) -> Any:
        return ops.topk(x, k=k)[0]

    def eager(x: Any) -> Any:
        values, indices = x.topk(k)
        indices.int()
        return values

    def lax(x: Any) -> Any:
        return _jax.lax.top_k(x, k)

    case = Case(call.op, call.label, [x], ours, eager)
    case.others["fresh"]["jax.jit"] = partial(_first, lax, x)
    return case


def _first(lax: Any, x: torch.Tensor) -> Any:
    """Return a call that computes all results of a function in JAX, and returns the first."""
    jitted, own = _jax.jit(lax), _jax.dlpack.from_dlpack(x)
    return lambda: _jax.block_until_ready(jitted(own))[0]


def warp_bitonic_sort(call: Call) -> Case:
    """Return the case of sorted rows; PyTorch's sort gives places, too, and cannot leave them out."""

    def eager(x: Any) -> Any:
        return x.sort(-1, descending=True).values

    def lax(x: Any) -> Any:
        return _jnp.sort(x, -1, descending=True)

    x = torch.randn(*call.lead, call.values["L"])
    return Case(call.op, call.label, [x], ops.warp_bitonic_sort, eager, lax)


def _drawn(rows: Any, ids: Any, top_k: Any, top_p: Any, min_p: Any) -> Any:
    """Draw from rows of probabilities that fall, and have these ids."""
    rows = rows.masked_fill(torch.arange(rows.shape[1]) >= top_k[:, None], 0)
    sums = rows.cumsum(-1)
    gone = (sums - rows > top_p[:, None]) | (rows < rows[:, :1] * min_p[:, None])
    chosen = torch.multinomial(rows.masked_fill(gone, 0), 1)
    return ids.gather(1, chosen)[:, 0].int()


def sampling(call: Call) -> Case:
    """Return the case of filtered draws, as SGLang computes them with PyTorch: on sorted rows.

    Where all k are small, a user can choose before sorting.
    """
    b, v = call.size("B", "V")

    def eager(probs: Any, _: Any, *filters: Any) -> Any:
        rows, ids = probs.sort(-1, descending=True)
        return _drawn(rows, ids, *filters)

    def chosen(probs: Any, _: Any, top_k: Any, *others: Any) -> Any:
        rows, ids = probs.topk(int(top_k.max()))
        return _drawn(rows, ids, top_k, *others)

    def lax(probs: Any, seed: Any, top_k: Any, top_p: Any, min_p: Any) -> Any:
        rows, ids = _jax.lax.top_k(probs, v)
        rows = _jnp.where(_jnp.arange(v) < top_k[:, None], rows, 0)
        sums = rows.cumsum(-1)
        gone = (sums - rows > top_p[:, None]) | (rows < rows[:, :1] * min_p[:, None])
        kept = _jnp.where(gone, -_jnp.inf, _jnp.log(rows))
        key = _jax.random.key(seed[0])
        return _jnp.take_along_axis(ids, _jax.random.categorical(key, kept)[:, None], 1)[:, 0]

    def formula() -> Any:
        jitted = _jax.jit(lax)
        own = [_jax.dlpack.from_dlpack(x) for x in arrays]
        return lambda: _jax.block_until_ready(jitted(*own))

    filters = [torch.full((b,), 50).int(), torch.full((b,), 0.9), torch.full((b,), 0.01)]
    probs = (2 * torch.randn(b, v)).softmax(-1)
    arrays = [probs, torch.tensor([1, 2]), *filters]
    case = Case(call.op, call.label, arrays, getattr(ops, call.op), eager)
    case.others["fresh"] |= {"torch, chosen first": lambda: lambda: chosen(*arrays)}
    case.others["fresh"]["jax.jit"] = formula
    return case


def chain_speculative_sampling(call: Call) -> Case:
    """Return the case of draft tokens of which most are accepted."""
    b, s, v = call.size("B", "S", "V")

    def behind(xp: Any, draft: Any, target: Any, accepted: Any, rows: Any) -> Any:
        """Return what the next token is drawn from."""
        at = xp.clip(accepted, 0, s - 1)
        more = xp.clip(target[rows, accepted] - draft[rows, at], 0, 1)
        return xp.where((accepted < s)[:, None], more, target[rows, s])

    def eager(draft: Any, ids: Any, target: Any, _: Any) -> Any:
        rows, steps = torch.arange(b), torch.arange(s)
        p, q = (x[rows[:, None], steps, ids.long()] for x in (draft, target))
        accepted = (torch.rand(b, s) * p < q).int().cumprod(1).sum(1)
        left = behind(torch, draft, target, accepted, rows)
        last = torch.multinomial(left, 1).int()
        tokens = torch.cat([ids, last], 1)
        tokens = tokens.scatter(1, accepted[:, None], last)
        return tokens.masked_fill(torch.arange(s + 1) > accepted[:, None], -1), accepted.int()

    def lax(draft: Any, ids: Any, target: Any, seed: Any) -> Any:
        rows, steps = _jnp.arange(b), _jnp.arange(s)
        p, q = (x[rows[:, None], steps, ids] for x in (draft, target))
        first, second = _jax.random.split(_jax.random.key(seed[0]))
        fine = _jax.random.uniform(first, (b, s)) * p < q
        accepted = fine.astype(_jnp.int32).cumprod(1).sum(1)
        sums = behind(_jnp, draft, target, accepted, rows).cumsum(-1)
        share = _jax.random.uniform(second, (b, 1)) * sums[:, -1:]
        last = (sums <= share).sum(-1).astype(_jnp.int32)
        tokens = _jnp.pad(ids, ((0, 0), (0, 1))).at[rows, accepted].set(last)
        behind_it = _jnp.arange(s + 1) > accepted[:, None]
        return _jnp.where(behind_it, -1, tokens), accepted

    logits = 2 * torch.randn(b, s + 1, v)
    draft = (logits[:, :s] + 0.3 * torch.randn(b, s, v)).softmax(-1)
    ids = torch.multinomial(draft.view(-1, v), 1).view(b, s).int()
    arrays = [draft, ids, logits.softmax(-1), torch.tensor([1, 2])]
    return Case(call.op, call.label, arrays, ops.chain_speculative_sampling, eager, lax)


_WIDTH, _FEED, _LAYERS, _WORDS = 256, 688, 5, 6000


def _shapes() -> list[tuple[int, ...]]:
    """Return the shapes of the parameters of a small Llama."""
    square, feed = (_WIDTH, _WIDTH), (_FEED, _WIDTH)
    layer = [square] * 4 + [feed] * 2 + [feed[::-1], (_WIDTH,), (_WIDTH,)]
    return [(_WORDS, _WIDTH), *layer * _LAYERS, (_WIDTH,), (_WORDS, _WIDTH)]


def adamw(dtype: torch.dtype, label: str) -> Case:
    """Return the case of the parameters of a small Llama, of which all frameworks get the same."""
    shapes = _shapes()
    params, grads = ([torch.randn(s).to(dtype) for s in shapes] for _ in range(2))
    means = [torch.zeros(s) for s in shapes]
    squares = [torch.zeros(s) for s in shapes]
    lr, step = torch.tensor(1e-3), torch.tensor(5, dtype=torch.int32)

    def ours(_: torch.Tensor) -> Any:
        return ops.adamw(params, grads, means, squares, lr, step)

    def with_torch(kind: str) -> Any:
        own = [p.clone().requires_grad_() for p in params]
        for p, g in zip(own, grads):
            p.grad = g
        optimiser: Any = _any.optim.AdamW(own, lr=1e-3, **{kind: True})
        optimiser.step()
        copies = [[x.clone() for x in xs] for xs in (params, grads, means, squares)]
        check(own, ops.adamw(*copies, lr, torch.ones_like(step))[: len(own)])
        return optimiser.step

    def with_jax() -> Any:
        jitted = _jax.jit(_adamw_lax, donate_argnums=(0, 2, 3))
        copies = [
            [_jnp.array(_jax.dlpack.from_dlpack(x)) for x in xs]
            for xs in (params, grads, means, squares)
        ]
        p, g, m, v = copies

        def move() -> None:
            p[:], m[:], v[:] = _jax.block_until_ready(jitted(p, g, m, v, 5.0))

        return move

    case = Case("adamw", label, [params[0]], ours, _nothing)
    for kind in "fused", "foreach":
        case.others["fresh"][f"torch, {kind}"] = partial(with_torch, kind)
    case.others["fresh"]["jax.jit"] = with_jax
    return case


def _nothing(_: torch.Tensor) -> None:
    """Stand for a peer that is made below."""


def _adamw_lax(params: Any, grads: Any, means: Any, squares: Any, step: Any) -> Any:
    made: Any = []
    for p, g, m, v in zip(params, grads, means, squares):
        wide = g.astype(_jnp.float32)
        mean, square = 0.9 * m + 0.1 * wide, 0.999 * v + 0.001 * wide * wide
        root = _jnp.sqrt(square / (1 - 0.999**step)) + 1e-8
        moved = p * (1 - 1e-5) - 1e-3 / (1 - 0.9**step) * mean / root
        made.append((moved.astype(p.dtype), mean, square))
    return tuple(list(part) for part in zip(*made))
