"""Pictures of the study: losses and divergences in time."""

from elegans.report.induction_curves import draw as draw
from elegans.report.induction_curves import page as page
