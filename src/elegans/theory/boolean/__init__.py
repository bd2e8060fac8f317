"""Analysis of Boolean functions: Fourier transforms, majority, gradients at initialisation."""

from elegans.theory.boolean import fourier as fourier
from elegans.theory.boolean import gradients as gradients
from elegans.theory.boolean import majority as majority
