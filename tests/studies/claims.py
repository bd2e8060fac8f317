"""How a claim is asked about a made-up table."""


def holds(claim, tables) -> bool:
    """Whether a claim holds on tables; what it says of them can be printed."""
    outcome = claim(tables)
    assert outcome.text
    assert outcome.against
    assert outcome.measured
    return outcome.holds
