"""Figures and charts of the studies of induction heads, from their tables."""

from elegans.studies.induction.figures.attention import attention as attention
from elegans.studies.induction.figures.attention import masses_chart as masses_chart
from elegans.studies.induction.figures.attention import scores as scores
from elegans.studies.induction.figures.minimal import gradients as gradients
from elegans.studies.induction.figures.minimal import layers as layers
from elegans.studies.induction.figures.minimal import layers_chart as layers_chart
from elegans.studies.induction.figures.minimal import positions as positions
from elegans.studies.induction.figures.minimal import positions_chart as positions_chart
from elegans.studies.induction.figures.minimal import stationary as stationary
from elegans.studies.induction.figures.mixtures import mixtures as mixtures
from elegans.studies.induction.figures.mixtures import mixtures_chart as mixtures_chart
from elegans.studies.induction.figures.stages import elsewhere as elsewhere
from elegans.studies.induction.figures.stages import stages as stages
from elegans.studies.induction.figures.stages import stages_chart as stages_chart
