"""An independent formula: PyTorch's optimiser."""


def independent(
    torch, params, grads, exp_avg, exp_avg_sq, lr, step, beta1, beta2, eps, weight_decay
):
    settings = {"lr": float(lr), "betas": (beta1, beta2), "eps": eps, "weight_decay": weight_decay}
    optimiser = torch.optim.AdamW([p.requires_grad_() for p in params], **settings)
    for p, g, m, v in zip(params, grads, exp_avg, exp_avg_sq, strict=True):
        p.grad = g
        optimiser.state[p] = {"step": step.double() - 1, "exp_avg": m, "exp_avg_sq": v}
    optimiser.step()
    return [p.detach() for p in params], exp_avg, exp_avg_sq
