"""An independent formula."""


def independent(torch, weight, ids):
    return torch.nn.functional.embedding(ids.long(), weight)


def eager(torch, ids, weight):
    return torch.nn.functional.embedding(ids, weight)


def fused(jax, ids, weight):
    return jax.numpy.take(weight, ids, axis=0)


def peers(framework):
    return {"torch": {"torch": eager}, "jax": {"jax.jit": fused}}.get(framework)
