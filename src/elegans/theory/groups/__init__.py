"""Finite groups: characters, real irreducible representations, maximum margins.

Representations are numbered alike in `irreducibles`, `real_character_table`, and the shares of
`maximum_margin` and `regularised_optimum`; number 0 is the trivial one.
"""

from elegans.theory.groups.characters import CharacterTable as CharacterTable
from elegans.theory.groups.characters import RealCharacterTable as RealCharacterTable
from elegans.theory.groups.characters import character_table as character_table
from elegans.theory.groups.characters import conjugacy_classes as conjugacy_classes
from elegans.theory.groups.characters import inverse_closed_classes as inverse_closed_classes
from elegans.theory.groups.characters import real_character_table as real_character_table
from elegans.theory.groups.closed_forms import class_condition as class_condition
from elegans.theory.groups.closed_forms import closed_form_margin as closed_form_margin
from elegans.theory.groups.closed_forms import cyclic_margin as cyclic_margin
from elegans.theory.groups.closed_forms import parity_margin as parity_margin
from elegans.theory.groups.closed_forms import real_group_margin as real_group_margin
from elegans.theory.groups.game import MaximumMargin as MaximumMargin
from elegans.theory.groups.game import maximum_margin as maximum_margin
from elegans.theory.groups.game import single_neuron_bound as single_neuron_bound
from elegans.theory.groups.margins import Certificate as Certificate
from elegans.theory.groups.margins import certificate as certificate
from elegans.theory.groups.margins import example_margins as example_margins
from elegans.theory.groups.margins import norm_shares as norm_shares
from elegans.theory.groups.margins import normalised_margin as normalised_margin
from elegans.theory.groups.margins import weighted_margins as weighted_margins
from elegans.theory.groups.optimum import RegularisedOptimum as RegularisedOptimum
from elegans.theory.groups.optimum import parity_optimum as parity_optimum
from elegans.theory.groups.optimum import regularised_optimum as regularised_optimum
from elegans.theory.groups.representations import Representation as Representation
from elegans.theory.groups.representations import irreducibles as irreducibles
from elegans.theory.groups.representations import maximal_power as maximal_power
from elegans.theory.groups.representations import powers as powers
