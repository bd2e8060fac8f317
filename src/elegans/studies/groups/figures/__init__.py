"""Figures and charts of the studies of chapter 7, from their tables."""

from elegans.studies.groups.figures.charts import frequency_chart as frequency_chart
from elegans.studies.groups.figures.charts import representation_chart as representation_chart
from elegans.studies.groups.figures.exact import margin_game as margin_game
from elegans.studies.groups.figures.exact import margin_lines as margin_lines
from elegans.studies.groups.figures.exact import regularisation_path as regularisation_path
from elegans.studies.groups.figures.features import group_features as group_features
from elegans.studies.groups.figures.features import modular_addition as modular_addition
from elegans.studies.groups.figures.features import modular_grokking as modular_grokking
from elegans.studies.groups.figures.features import parity_margin as parity_margin
