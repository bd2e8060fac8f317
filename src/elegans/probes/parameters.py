"""The network itself, for small ones: a stored run can then be looked at again at any step."""

from jaxtyping import PyTree

from elegans.protocols import View


def parameters(view: View) -> PyTree:
    """All parameters of the network now."""
    return view.params
