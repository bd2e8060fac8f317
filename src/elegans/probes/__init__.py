"""What is looked at while a network trains: functions of a view, called at each evaluation.

A probe is called with one `View` and returns scalars, small arrays, or a tree of them. It is
compiled apart from training and evaluation, so that watching does not change a bit of a record.
"""

from elegans.probes.activity import Activity as Activity
from elegans.probes.attention import Attended as Attended
from elegans.probes.attention import AttentionMasses as AttentionMasses
from elegans.probes.cls_attention import ClsAttention as ClsAttention
from elegans.probes.first_layer import SupNormPath as SupNormPath
from elegans.probes.margins import MarginRatio as MarginRatio
from elegans.probes.margins import features as features
from elegans.probes.margins import margin as margin
from elegans.probes.parameters import parameters as parameters
from elegans.probes.progress import FourierGap as FourierGap
from elegans.probes.progress import RelevantLead as RelevantLead
from elegans.probes.progress import RelevantProduct as RelevantProduct
from elegans.probes.progress import SupportShare as SupportShare
from elegans.probes.strategies import Divergences as Divergences
