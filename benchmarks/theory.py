"""Fourier analysis: against plain additions, and against boofun. One core."""

import warnings

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.line import Line, at_least, at_most, seconds, table
from elegans.theory.boolean import fourier


def transform() -> Line:
    """Walsh-Hadamard of 2**24 values, beside 24 additions into an array that is there already."""
    a = np.random.default_rng(0).standard_normal(2**24)
    b, out = a.copy(), np.empty_like(a)

    def additions() -> None:
        for _ in range(24):
            np.add(a, b, out=out)

    ratio = seconds(lambda: fourier.walsh_hadamard(a)) / seconds(additions)
    return at_most("Walsh-Hadamard of 2**24 values / 24 additions", ratio, 1.5, "x")


def everything() -> Line:
    """All coefficients, influences and the noise stability of a 16-bit function, beside boofun."""
    n, rho = 16, 0.7
    bits = np.random.default_rng(0).integers(0, 2, 2**n)

    def ours() -> float:
        spectrum = fourier.Spectrum(fourier.coefficients(1.0 - 2.0 * bits, n))
        fourier.influences(spectrum, n)
        return fourier.noise_stability(spectrum, n, rho)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import boofun

        def theirs() -> float:
            witness = boofun.create(bits.astype(bool))
            witness.fourier()
            witness.influences()
            return float(witness.noise_stability(rho))

        if abs(ours() - theirs()) > 1e-9:
            raise AssertionError("elegans and boofun disagree about the noise stability.")
        ratio = seconds(theirs) / seconds(ours, repeats=10)
    name = "coefficients, influences, stability of 16 bits: boofun's time / ours"
    return at_least(name, ratio, 50, "x")


def lines() -> list[Line]:
    """All lines of this table."""
    with threadpool_limits(1):
        return [transform(), everything()]


if __name__ == "__main__":
    print(table(lines()))
