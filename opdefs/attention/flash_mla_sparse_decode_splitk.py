"""The formula, an independent one, and a cache whose bytes mean something."""

import ml_dtypes
import numpy as np

PLAIN, TOKEN = 448, 584


def codes(fp8):
    """Return what each byte means."""
    byte = np.arange(256)
    exponent, mantissa = byte >> 3 & 15, (byte & 7) / 8
    bias = 8 if fp8 == "e4m3fnuz" else 7
    number = np.where(exponent == 0, mantissa * 2, 1 + mantissa) * 2.0 ** (exponent - bias)
    number = np.where(byte > 127, -number, number)
    return np.where(byte == 128 if fp8 == "e4m3fnuz" else byte & 127 == 127, np.nan, number)


def unpack(packed, fp8):
    """Return the tokens of a cache, 512 numbers each."""
    tokens = packed.reshape(-1, TOKEN).astype(np.uint32)
    scales = np.where(tokens[:, 576:583] == 255, np.nan, 2.0 ** (tokens[:, 576:583] - 127.0))
    plain = codes(fp8)[tokens[:, :PLAIN]] * np.repeat(scales, 64, axis=1)
    halves = tokens[:, PLAIN:576:2] | tokens[:, PLAIN + 1 : 576 : 2] << 8
    rotary = (halves << 16).view(np.float32).astype(np.float64)
    return np.concatenate([plain, rotary], axis=1)


def reference(q, kv_packed, indices, topk_length, sm_scale, fp8):
    kv = unpack(kv_packed, fp8)
    o, lse = np.zeros(q.shape), np.full(q.shape[:-1], -np.inf)
    for at in np.ndindex(q.shape[:2]):
        named = indices[at] if topk_length is None else indices[at][: topk_length[at[0]]]
        named = named[(named >= 0) & (named < len(kv))]
        if len(named):
            rows = kv[named]
            s = q[at] @ rows.T * sm_scale
            m = s.max(axis=1, keepdims=True)
            p = np.exp(s - m)
            o[at] = p @ rows / p.sum(axis=1, keepdims=True)
            lse[at] = m[:, 0] + np.log(p.sum(axis=1))
    return o, lse


def independent(torch, q, kv_packed, indices, topk_length, sm_scale, fp8):
    packed = kv_packed.reshape(-1, 584).numpy()
    plain = packed[:, :448].view("float8_" + fp8).astype(np.float64).reshape(-1, 7, 64)
    scales = packed[:, 576:583].view(ml_dtypes.float8_e8m0fnu).astype(np.float64)
    rotary = np.ascontiguousarray(packed[:, 448:576]).view(ml_dtypes.bfloat16).astype(np.float64)
    rows = np.concatenate([(plain * scales[..., None]).reshape(-1, 448), rotary], axis=1)
    counts = torch.arange(indices.shape[-1])[None, None]
    there = (indices >= 0) & (indices < len(rows))
    if topk_length is not None:
        there = there & (counts < topk_length[:, None, None])
    kv = torch.from_numpy(rows)[
        torch.where(there, indices, 0).long() if len(rows) else indices[..., :0].long()
    ]
    scores = torch.einsum("bshd,bskd->bshk", q, kv) * sm_scale
    scores = scores.masked_fill(~there[..., : kv.shape[2]][:, :, None], -torch.inf)
    weights = torch.softmax(scores, dim=-1)
    weights = torch.where(there.any(-1)[..., None, None], weights, 0)
    return torch.einsum("bshk,bskd->bshd", weights, kv), torch.logsumexp(scores, dim=-1)


def samples(rng, sizes):
    tokens = sizes["NB"] * sizes["PS"]
    packed = rng.integers(0, 256, (tokens, TOKEN), dtype=np.uint8)
    packed[:, :PLAIN][packed[:, :PLAIN] % 128 >= 126] = 40  # no NaN
    packed[:, :PLAIN][packed[:, :PLAIN] == 128] = 0
    rotary = rng.standard_normal((tokens, 64)).astype(ml_dtypes.bfloat16)
    packed[:, PLAIN:576] = rotary.view(np.uint8)
    packed[:, 576:583] = rng.integers(115, 122, (tokens, 7))
    shape = (sizes["B"], sizes["S"], sizes["K"])
    indices = rng.integers(-1 - tokens // 4, tokens + 2, shape)
    indices[rng.random(shape[:2]) < 0.2] = -1  # nothing is left
    return {
        "kv_packed": packed.reshape(sizes["NB"], sizes["PS"], TOKEN),
        "indices": indices.astype(np.int32),
    }


def eager(torch, q, kv_packed, indices, topk_length, sm_scale, fp8):
    tokens = kv_packed.flatten(0, 1)
    there = (indices >= 0) & (indices < len(tokens))
    if topk_length is not None:
        places = torch.arange(indices.shape[-1], device=q.device)
        there &= places < topk_length[:, None, None]
    rows = tokens[torch.where(there, indices, 0)]
    plain = rows[..., :448].view(getattr(torch, "float8_" + fp8)).float().unflatten(-1, (7, 64))
    scales = rows[..., 576:583].view(torch.float8_e8m0fnu).float()
    rotary = rows[..., 448:576].contiguous().view(torch.bfloat16)
    kv = torch.cat([(plain * scales[..., None]).to(q.dtype).flatten(-2), rotary], dim=-1)
    scores = (q @ kv.mT).float() * sm_scale
    scores = scores.masked_fill(~there[:, :, None], -torch.inf)
    weights = torch.softmax(scores, dim=-1).nan_to_num(0)  # a position may have no tokens
    return weights.to(q.dtype) @ kv, None


def peers(framework):
    return {"torch": {"torch": eager}}.get(framework)
