"""Contents with structure: scales that sum to one."""


def samples(rng, sizes):
    return {"scale": rng.dirichlet([1.0] * sizes["R"]) if sizes["R"] else []}
