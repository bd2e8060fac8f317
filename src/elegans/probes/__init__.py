"""What is looked at while a network trains: functions of a view, called at each evaluation.

A probe is called with one `View` and returns scalars, small arrays, or a tree of them. It is
compiled apart from training and evaluation, so that watching does not change a bit of a record.
"""

from elegans.probes.attention import Attended as Attended
from elegans.probes.attention import AttentionMasses as AttentionMasses
from elegans.probes.first_layer import SupNormPath as SupNormPath
from elegans.probes.first_layer import support_weight as support_weight
from elegans.probes.margins import features as features
from elegans.probes.margins import margin as margin
from elegans.probes.parameters import parameters as parameters
from elegans.probes.strategies import Divergences as Divergences
