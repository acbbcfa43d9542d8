"""States of which none is named twice."""


def samples(rng, sizes):
    return {"slots": rng.permutation(sizes["P"])[: sizes["B"]]}
