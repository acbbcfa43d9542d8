"""Write a Llama of random weights: one head of keys, a table of its own for logits, slow angles, two files."""

import shutil
import sys
from pathlib import Path
from typing import Any

import torch
import transformers

_torch: Any = torch
_transformers: Any = transformers

folder, tokenizer = map(Path, sys.argv[1:])
_torch.manual_seed(0)
config = _transformers.LlamaConfig(
    vocab_size=1024,
    hidden_size=48,
    intermediate_size=80,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=1,
    head_dim=24,
    max_position_embeddings=128,
    rms_norm_eps=1e-5,
    rope_parameters={
        "rope_type": "llama3",
        "rope_theta": 500.0,
        "factor": 4.0,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "original_max_position_embeddings": 32,
    },
    tie_word_embeddings=False,
    initializer_range=0.3,  # so that logits are far apart
    eos_token_id=None,
)
_transformers.LlamaForCausalLM(config).save_pretrained(folder, max_shard_size="300KB")
shutil.copy(tokenizer, folder / "tokenizer.json")
print(len(list(folder.glob("*.safetensors"))))
