"""What learns: networks as frozen descriptions with `init(key, task)` and `apply(params, x)`."""

from elegans.models.mlp import MLP as MLP
