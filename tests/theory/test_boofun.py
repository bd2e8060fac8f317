"""boofun, from PyPI, as an outside witness: collected where it is installed."""

import importlib.util
import warnings

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from elegans.theory.boolean import fourier

if importlib.util.find_spec("boofun"):

    @settings(max_examples=20)
    @given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.floats(0.0, 1.0))
    def test_boofun_finds_the_same_numbers(seed, n, rho):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import boofun

            bits = np.random.default_rng(seed).integers(0, 2, 2**n)
            witness = boofun.create(bits.astype(bool))
            coefficients = np.asarray(witness.fourier())
            influences = np.asarray(witness.influences())
            stability = float(witness.noise_stability(rho))
        f = 1.0 - 2.0 * bits
        np.testing.assert_allclose(fourier.coefficients(f, n), coefficients, atol=1e-12)
        np.testing.assert_allclose(fourier.influences(f, n), influences, atol=1e-12)
        assert abs(fourier.noise_stability(f, n, rho) - stability) < 1e-9
