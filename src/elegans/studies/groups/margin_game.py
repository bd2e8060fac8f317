r"""Which representations a network of maximum margin uses: a matrix game, solved for many groups.

Exact numbers for each group: $\gamma^*$ from the game, the margin of the network that is built from
the game's shares, the bound $B(\tau)$, and the best single neuron that alternating maximisation
finds under $\tau$, which may not exceed the bound. Theorem 7.9 gives a closed form under a
condition on the character table; where it fails, representations may be left out.

One group is trained as well, at a penalty at which the exact optimum leaves a representation out. A
neuron of norm $\rho$ in it has the objective $\delta \rho^3$ with $\delta > 0$, so that under
gradient flow $\dot\rho = -3 \delta \rho^2$ and $\rho(t) = \rho_0 / (1 + 3 \delta \rho_0 t)$, where
$t$ is the sum of the learning rates, over $1 - \mu$ with momentum $\mu$: the neuron's share of
$\|\theta\|^3$ falls as $t^{-3}$ in the end. The slope is $\delta = \lambda - k \sum_C p_C M[S, C]$,
$p_C$ the probability of mistakes of class $C$.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float

from elegans import constructions
from elegans.fields import configuration
from elegans.report.result import Tables
from elegans.runs import Run, Runs
from elegans.studies.groups import margin_game_claims, networks
from elegans.studies.groups.margin_lines import DIRECTIONS, MarginLine
from elegans.studies.study import Scale, Study
from elegans.sweeps.sweep import Sweep
from elegans.tasks import GroupOperation
from elegans.tasks.groups import (
    Alternating,
    Cyclic,
    Dicyclic,
    Dihedral,
    FiniteGroup,
    Product,
    Quaternion,
    Symmetric,
)
from elegans.theory import groups as theory
from elegans.theory.groups.game import element_weights, margin_unit, payoff

SMALL: dict[str, FiniteGroup] = {
    **{f"Z{p}": Cyclic(p) for p in (3, 4, 5, 6, 7, 8)},
    "Z2xZ2": Dihedral(2),
    "S3": Symmetric(3),
    **{f"D{k}": Dihedral(k) for k in (4, 5, 6, 7)},
    "Q8": Quaternion(),
    "Dic3": Dicyclic(3),
    "A4": Alternating(4),
    "S4": Symmetric(4),
    "S3xS3": Product(Symmetric(3), Symmetric(3)),
    "D4xS3": Product(Dihedral(4), Symmetric(3)),
    "A5": Alternating(5),
}
CHARACTERS_ONLY: dict[str, FiniteGroup] = {"S5": Symmetric(5), "S6": Symmetric(6)}
LINES: dict[str, FiniteGroup] = {"S3": Symmetric(3), "A4": Alternating(4)}
LATE = 0.25  # of all time, from which on the fall of a share is compared with the prediction
MORE = {**CHARACTERS_ONLY, "S7": Symmetric(7), "S8": Symmetric(8)}


@configuration
class Game:
    """A computation: the game of a group and, if asked, the network and neurons that certify it.

    Attributes:
        group: Any finite group.
        certified: Whether a network is built, which needs the group's table.
        restarts: Random neurons from which the best one is sought.
    """

    group: FiniteGroup
    certified: bool = True
    restarts: int = 20

    def __call__(self, seed: int) -> pd.DataFrame:
        """One row per representation other than the trivial one, with the group's numbers."""
        best = theory.maximum_margin(self.group)
        table = theory.real_character_table(self.group)
        condition = theory.class_condition(self.group)[1:].max()
        total = float(np.sum((table.dimensions**2.5 / table.commutants)[1:]))
        network = neuron = np.nan
        if self.certified:
            model, params = constructions.max_margin(self.group)
            network = theory.normalised_margin(model, params, GroupOperation(self.group))
            neuron = best_neuron(self.group, best.tau, self.restarts, seed)
        status = {
            i: name for name in ("required", "optional", "never") for i in getattr(best, name)
        }
        rows = [
            {
                "order": self.group.order,
                "value": best.value,
                "bound": best.bound,
                "network": network,
                "neuron": neuron,
                "condition": float(condition),
                "formula": 2 / (3 * np.sqrt(3 * self.group.order)) / total,
                "representation": label,
                "dimension": int(table.dimensions[i]),
                "type": table.types[i],
                "share": float(best.shares[i]),
                "low": float(best.low[i]),
                "high": float(best.high[i]),
                "use": status[i],
            }
            for i, label in enumerate(best.labels)
            if i > 0
        ]
        return pd.DataFrame(rows)


def best_neuron(
    group: FiniteGroup, tau: Float[np.ndarray, " classes"], restarts: int, seed: int
) -> float:
    r"""The largest mean weighted margin of a unit neuron, by alternating maximisation.

    It is $\frac{2}{n^2} \sum_{ab} u_a v_b\,(w_{ab} - \sum_c \tau(a b c^{-1}) w_c)$, linear in each
    of $u$, $v$ and $w$; at a maximum the three have equal norms.
    """
    n, product, inverse = group.order, group.table, group.inverses
    # (I - K) w, K[x, c] = tau(x c^-1), is what a neuron's readout counts for at the product x.
    margin = np.eye(n) - element_weights(group, tau)[product[:, inverse]]
    rng = np.random.default_rng([n, seed])
    left = product[inverse]  # a^-1 x, for which a (a^-1 x) = x
    largest = 0.0
    for _ in range(restarts):
        u, v, w = (_unit(rng.standard_normal(n)) for _ in range(3))
        value = 0.0
        for _ in range(200):
            table = (margin @ w)[product]
            u = _unit(table @ v)
            v = _unit(u @ table)
            slope = margin.T @ np.einsum("a,ax->x", u, v[left])
            previous, value = value, float(np.linalg.norm(slope))
            w = _unit(slope)
            if value - previous < 1e-13 * value:
                break
        largest = max(largest, value)
    return 2 / n**2 * largest / 3**1.5


def _unit(vector: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
    return vector / np.linalg.norm(vector)


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Groups to solve (a network is built for `certified`), and the one to train."""

    certified: Mapping[str, FiniteGroup]
    solved: Mapping[str, FiniteGroup]
    recipe: networks.Recipe
    training_group: str
    seeds: int


QUICK = Settings(
    certified=SMALL,
    solved=CHARACTERS_ONLY,
    training_group="Dic3",
    recipe=networks.Recipe(
        width=60, weight=3.6e-3, steps=10_000, doublings=tuple(range(200, 1201, 200))
    ),
    seeds=3,
)
LAPTOP = Settings(
    certified=SMALL,
    solved=MORE,
    training_group="A5",
    recipe=networks.Recipe(
        width=1000,
        weight=1e-4,
        steps=3500,
        learning_rate=0.4,
        doublings=tuple(range(50, 301, 50)),
        momentum=0.95,
        evaluations=35,
    ),
    seeds=3,
)


def runs(settings: Settings) -> dict[str, Sweep]:
    """Every group once, and the training runs."""
    points: list[tuple[dict[str, str], Any]] = [
        ({"group": name}, Game(group)) for name, group in settings.certified.items()
    ]
    points += [
        ({"group": name}, Game(group, certified=False)) for name, group in settings.solved.items()
    ]
    task = GroupOperation(settings.certified[settings.training_group])
    experiment = networks.experiment(task, settings.recipe)
    labels = {"group": settings.training_group}
    lines = [
        ({"group": name, "direction": direction}, MarginLine(group, direction))
        for name, group in LINES.items()
        for direction in DIRECTIONS
    ]
    return {
        "games": Sweep.of(points),
        "lines": Sweep.of(lines),
        "training": networks.sweep([(labels, experiment)], settings.seeds),
    }


def tables(settings: Settings, runs: Mapping[str, Runs]) -> dict[str, pd.DataFrame]:
    """The groups, their representations, and how shares moved in training."""
    games = runs["games"].table.drop(columns="seed")
    names = ["group", "order", "value", "bound", "network", "neuron", "condition", "formula"]
    groups = games[names].drop_duplicates().reset_index(drop=True)
    uses = games.groupby(["group", "use"]).size().unstack(fill_value=0)
    for use in ("required", "optional", "never"):
        count = uses[use] if use in uses else pd.Series(0, index=uses.index)
        groups[use] = groups["group"].map(count)
    return {
        "groups": groups,
        "representations": games.drop(columns=names[2:]),
        "curves": networks.curves(runs["training"]),
        "shares": networks.share_curves(runs["training"]),
        "optimum": networks.share_table(runs["training"]),
        "decay": runs["training"].rows(decay),
        "ends": networks.end_table(runs["training"]),
        "lines": runs["lines"].table.drop(columns="seed"),
    }


def slopes(group: FiniteGroup, weight: float) -> Float[np.ndarray, " reps"]:
    r"""The slope $\delta$ of the objective in each representation's norm cubed, at the optimum.

    It is zero for representations that the optimum uses, and positive for those that it leaves out.
    """
    table = theory.real_character_table(group)
    optimum = theory.regularised_optimum(group, weight)
    unit, game = margin_unit(group), payoff(table)
    margins = unit * optimum.norm**3 * optimum.shares[1:] @ game
    mistakes = table.sizes[1:] * np.exp(-margins)
    gain = unit * game @ (mistakes / (1 + mistakes.sum()))
    return np.concatenate([[weight], weight - gain])  # the trivial one has no gain


def decay(run: Run) -> pd.DataFrame:
    """The share of representations that the optimum leaves out, late in training.

    `predicted` starts from the neurons at the first of these evaluations.
    """
    group, seen = run.experiment.task.group, run.probes
    weight = float(run.experiment.training.regulariser.strength)
    optimum = theory.regularised_optimum(group, weight)
    time = networks.flow_times(run.experiment.training, np.asarray(seen["step"]))
    late = np.flatnonzero(time >= LATE * time[-1])
    norms, homes = seen["features.norms"].astype(float), seen["features.home"]
    parts = []
    for i, label in enumerate(theory.real_character_table(group).labels):
        if i == 0 or optimum.shares[i] > margin_game_claims.ABSENT:
            continue
        first = norms[late[0]][homes[late[0]] == i]
        age = (time[late] - time[late[0]])[:, None]
        left = first / (1 + 3 * slopes(group, weight)[i] * first * age)
        predicted = (left**3).sum(axis=1) / (norms[late] ** 3).sum(axis=1)
        columns = {"time": time[late], "share": seen["features.shares"][late, i]}
        parts.append(pd.DataFrame({"representation": label, **columns, "predicted": predicted}))
    empty = pd.DataFrame(columns=["representation", "time", "share", "predicted"])
    return pd.concat(parts, ignore_index=True) if parts else empty


def facts(settings: Settings, tables: Tables) -> dict[str, Any]:
    """What was trained."""
    return {"trained": settings.training_group, "weight": settings.recipe.weight}


STUDY = Study(
    name="margin-game",
    title="A matrix game says which features a network of largest margin uses",
    summary=(
        "A network that multiplies in a finite group can be built from the group's irreducible "
        "representations, its elementary symmetries. How much of the network's norm should each "
        "get, if the right answer is to win by the largest possible margin? That is a game between "
        "representations and classes of mistakes, and one small linear program solves it for every "
        "finite group. For most small groups every representation is needed; in some, such as the "
        "rotations of the icosahedron (A5), one is never used. A network is trained where the "
        "theory leaves a representation out, to see it die."
    ),
    source="Thesis, Theorem 7.9 and appendix D.9",
    scales={
        "quick": Scale(QUICK, minutes=0.2),
        "laptop": Scale(LAPTOP, minutes=6),
    },
    runs=runs,
    tables=tables,
    facts=facts,
    claims=(
        margin_game_claims.networks_meet_the_bound,
        margin_game_claims.theorem_holds_under_its_condition,
        margin_game_claims.condition_matters,
        margin_game_claims.forbidden_representation_dies,
        margin_game_claims.training_reaches_the_optimum,
        margin_game_claims.shares_are_those_of_the_optimum,
    ),
    figures={
        "figure": "elegans.studies.groups.figures:margin_game",
        "lines": "elegans.studies.groups.figures:margin_lines",
    },
    shown=("groups",),
    formats={
        "value": ".6g",
        "bound": ".6g",
        "network": ".6g",
        "neuron": ".6g",
        "formula": ".6g",
        "condition": ".3f",
        "share": ".3f",
        "low": ".3f",
        "high": ".3f",
    },
    captions={
        "figure": (
            "Left: norm share of each representation in a network of largest margin, the size of "
            "the dot being its dimension; open rings are never used, bars are the range over all "
            "optimal networks. Right: trained networks; the share of each representation against "
            "the time of gradient flow, the sum of learning rates over 1 - momentum. Dotted are "
            "the shares of the exact optimum at this penalty, which leaves the red one out; dashed "
            "is how its share should fall from a quarter of the time on."
        ),
        "groups": (
            "One row per group: the value of the game, the bound for all networks, the margin of "
            "the network that is built, the best single neuron found, Theorem 7.9's condition "
            "(negative or zero where its formula holds), and how many representations are used."
        ),
        "representations": "One row per group and representation; low and high over all optima.",
        "curves": "Margin and norm of the trained networks.",
        "shares": "Norm share per representation while training.",
        "ends": "Margin, norm and loss of the trained networks, beside the exact optimum.",
        "optimum": "Norm shares at the end, beside those of the exact optimum at this penalty.",
        "lines": (
            "Figure 7.3 of the thesis, computed: the margin g and the mean weighted margin g' "
            "along straight lines through a network of largest margin. g' is above g everywhere, "
            "no network of norm 1 has more than the dashed line, and at the network of largest "
            "margin all three meet, which proves that it is the best. On the right the line leads "
            "to a network that stores the table pair by pair; all wrong labels have the same logit "
            "there, so that g and g' are one curve."
        ),
        "decay": "The share that the optimum leaves out, late in training, and its prediction.",
        "games": "Everything that was computed.",
    },
)
