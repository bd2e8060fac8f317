"""Finite groups, and the task of multiplying in one.

Importing this package computes nothing: a group is a name until its `table` is asked for.
"""

from elegans.tasks.groups.cayley import CayleyTable as CayleyTable
from elegans.tasks.groups.cayley import from_table as from_table
from elegans.tasks.groups.families import Alternating as Alternating
from elegans.tasks.groups.families import Cyclic as Cyclic
from elegans.tasks.groups.families import Dicyclic as Dicyclic
from elegans.tasks.groups.families import Dihedral as Dihedral
from elegans.tasks.groups.families import Product as Product
from elegans.tasks.groups.families import Quaternion as Quaternion
from elegans.tasks.groups.families import Symmetric as Symmetric
from elegans.tasks.groups.group import FiniteGroup as FiniteGroup
from elegans.tasks.groups.group import check_group as check_group
from elegans.tasks.groups.operation import GroupOperation as GroupOperation
from elegans.tasks.groups.operation import Pairs as Pairs
