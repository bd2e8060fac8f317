"""The engine: from a task, a model and a recipe to a trained network and its record."""

from elegans.training.layerwise import layerwise as layerwise
from elegans.training.loop import Job as Job
from elegans.training.loop import train as train
from elegans.training.program import compile_count as compile_count
from elegans.training.recipe import Group as Group
from elegans.training.recipe import Stop as Stop
from elegans.training.recipe import Training as Training
