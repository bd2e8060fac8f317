"""What learns: networks, as frozen descriptions with `init_params` and `apply`."""

from elegans.models import zoo as zoo
from elegans.models.induction import MinimalInduction as MinimalInduction
from elegans.models.mlp import MLP as MLP
from elegans.models.polynet import DisjointPolyNet as DisjointPolyNet
from elegans.models.polynet import PolyNet as PolyNet
from elegans.models.power_network import PowerNetwork as PowerNetwork
from elegans.models.transformers.attention_only import AttentionOnly as AttentionOnly
from elegans.models.transformers.bounded import BoundedTransformer as BoundedTransformer
from elegans.models.transformers.classifier import TransformerClassifier as TransformerClassifier
from elegans.models.two_embedding import TwoEmbedding as TwoEmbedding
