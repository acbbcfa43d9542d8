"""Small models with the classes, the names and the arithmetic of well-known ones, with random weights."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

SIZE, HEADS, WORDS = 32, 4, 50


class LlamaRMSNorm(nn.Module):
    """The normalisation of Llama."""

    def __init__(self, hidden_size: int, eps: float = 1e-6) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(hidden_size) + torch.rand(hidden_size))
        self.variance_epsilon = eps

    def forward(self, hidden_states: Tensor) -> Tensor:
        """Normalise in float32, scale in the dtype of the data."""
        wide = hidden_states.to(torch.float32)
        wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.variance_epsilon)
        return self.weight * wide.to(hidden_states.dtype)


class LlamaMLP(nn.Module):
    """The gated projections of Llama."""

    def __init__(self, config: Any = None) -> None:
        super().__init__()
        self.config, self.hidden_size, self.intermediate_size = config, SIZE, 3 * SIZE
        self.gate_proj = nn.Linear(SIZE, 3 * SIZE, bias=False)
        self.up_proj = nn.Linear(SIZE, 3 * SIZE, bias=False)
        self.down_proj = nn.Linear(3 * SIZE, SIZE, bias=False)
        self.act_fn = nn.SiLU()

    def forward(self, x: Tensor) -> Tensor:
        """Gate one projection with the other."""
        return self.down_proj(self.act_fn(self.gate_proj(x)) * self.up_proj(x))


class Attention(nn.Module):
    """Attention of several heads; the scores go through a module."""

    def __init__(self, causal: bool, bias: bool) -> None:
        super().__init__()
        self.q_proj, self.k_proj = (
            nn.Linear(SIZE, SIZE, bias=bias),
            nn.Linear(SIZE, SIZE, bias=bias),
        )
        self.v_proj, self.o_proj = (
            nn.Linear(SIZE, SIZE, bias=bias),
            nn.Linear(SIZE, SIZE, bias=bias),
        )
        self.softmax, self.causal = nn.Softmax(dim=-1), causal

    def forward(self, x: Tensor) -> Tensor:
        """Attend."""
        heads = (*x.shape[:-1], HEADS, SIZE // HEADS)
        q, k, v = [
            p(x).view(heads).transpose(1, 2) for p in (self.q_proj, self.k_proj, self.v_proj)
        ]
        scores = q @ k.transpose(-1, -2) / heads[-1] ** 0.5
        if self.causal:
            above = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
            scores = scores.masked_fill(above, -torch.inf)
        mixed = self.softmax(scores) @ v
        return self.o_proj(mixed.transpose(1, 2).reshape(x.shape))


class LlamaDecoderLayer(nn.Module):
    """A block of Llama, without the rotation of its queries and keys."""

    def __init__(self) -> None:
        super().__init__()
        self.input_layernorm, self.self_attn = LlamaRMSNorm(SIZE), Attention(True, False)
        self.post_attention_layernorm, self.mlp = LlamaRMSNorm(SIZE), LlamaMLP()

    def forward(self, x: Tensor) -> Tensor:
        """Add both parts to the stream."""
        x = x + self.self_attn(self.input_layernorm(x))
        return x + self.mlp(self.post_attention_layernorm(x))


class GELUActivation(nn.Module):
    """The exact activation of BERT, as its library has it."""

    def __init__(self) -> None:
        super().__init__()
        self.act = nn.functional.gelu

    def forward(self, x: Tensor) -> Tensor:
        """Apply it."""
        return self.act(x)


class BertLayer(nn.Module):
    """A block of BERT."""

    def __init__(self) -> None:
        super().__init__()
        self.attention, self.first = Attention(False, True), nn.LayerNorm(SIZE, eps=1e-12)
        self.dense, self.act = nn.Linear(SIZE, 4 * SIZE), GELUActivation()
        self.output, self.second = nn.Linear(4 * SIZE, SIZE), nn.LayerNorm(SIZE, eps=1e-12)
        self.dropout = nn.Dropout(0.1)

    def forward(self, x: Tensor) -> Tensor:
        """Normalise after each part."""
        x = self.first(x + self.dropout(self.attention(x)))
        return self.second(x + self.dropout(self.output(self.act(self.dense(x)))))


class BasicBlock(nn.Module):
    """A block of ResNet."""

    def __init__(self, inplanes: int, planes: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inplanes, planes, 3, stride, padding=1, bias=False)
        self.conv2 = nn.Conv2d(planes, planes, 3, padding=1, bias=False)
        self.bn1, self.bn2, self.relu = nn.BatchNorm2d(planes), nn.BatchNorm2d(planes), nn.ReLU()
        self.downsample = nn.Conv2d(inplanes, planes, 1, stride, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """Add the block to its input."""
        y = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
        return self.relu(y + self.downsample(x))


def llama() -> tuple[nn.Module, Tensor]:
    """Return a model, and what it takes."""
    blocks = [LlamaDecoderLayer() for _ in range(2)]
    head = nn.Linear(SIZE, WORDS, bias=False)
    return nn.Sequential(nn.Embedding(WORDS, SIZE), *blocks, LlamaRMSNorm(SIZE), head), words()


def bert() -> tuple[nn.Module, Tensor]:
    """Return a model, and what it takes."""
    blocks = [BertLayer() for _ in range(2)]
    norm, head = nn.LayerNorm(SIZE, eps=1e-12), nn.Sequential(nn.Linear(SIZE, SIZE), nn.Tanh())
    return nn.Sequential(nn.Embedding(WORDS, SIZE), norm, *blocks, head), words()


def resnet() -> tuple[nn.Module, Tensor]:
    """Return a model, and what it takes."""
    stem = (nn.Conv2d(3, 8, 7, 2, padding=3, bias=False), nn.BatchNorm2d(8), nn.ReLU(inplace=True))
    blocks = (nn.MaxPool2d(3, 2, 1), BasicBlock(8, 8, 1), BasicBlock(8, 16, 2))
    head = (nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 10))
    return nn.Sequential(*stem, *blocks, *head), torch.randn(2, 3, 32, 32)


def words() -> Tensor:
    """Return two rows of words."""
    return torch.randint(0, WORDS, (2, 9))
