"""An independent formula."""


def independent(torch, x, weight, bias, eps):
    variance, mean = torch.var_mean(x, dim=-1, correction=0)
    y = torch.nn.functional.layer_norm(x, x.shape[-1:], weight, bias, eps)
    return y, mean, (variance + eps).rsqrt()
