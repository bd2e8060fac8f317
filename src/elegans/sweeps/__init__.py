"""Many runs: experiments, grids of them, and where finished runs live."""
