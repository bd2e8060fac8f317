"""Analysis of Boolean functions: Fourier transforms, majority, gradients, PolyNets, depth."""

from elegans.theory.boolean import closed_forms as closed_forms
from elegans.theory.boolean import depth as depth
from elegans.theory.boolean import fourier as fourier
from elegans.theory.boolean import gradients as gradients
from elegans.theory.boolean import majority as majority
from elegans.theory.boolean import polynet as polynet
