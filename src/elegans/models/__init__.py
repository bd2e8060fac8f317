"""What learns: networks as frozen descriptions with `init(key, task)` and `apply(params, x)`."""

from elegans.models.induction import MinimalInduction as MinimalInduction
from elegans.models.mlp import MLP as MLP
from elegans.models.transformers.attention_only import AttentionOnly as AttentionOnly
