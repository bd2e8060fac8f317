"""Full batches of modular addition beside eager PyTorch and the core's own matrix products.

One step of a quadratic network of width 500 on all pairs modulo 71 is 6 p^3 width operations, three
matrix products. One process, one core; compilation is left out.
"""

import os
import time

os.environ.setdefault(
    "XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
)

import numpy as np
import torch

import elegans as el
from benchmarks.line import Line, at_least, at_most, seconds
from elegans.tasks.groups import Cyclic, Symmetric
from elegans.theory.groups import irreducibles, maximum_margin
from elegans.training.optimizers import SGD
from elegans.training.recipe import Stop
from elegans.training.regularisers import Norm

P, WIDTH, WEIGHT, STEPS = 71, 500, 1e-4, 60
OPERATIONS = 6 * P**3 * WIDTH
MARGIN_GOAL = 0.99


def experiment(steps: int) -> el.Experiment:
    """The network of Figure 7.1."""
    training = el.Training(
        loss="cross-entropy",
        samples=None,
        batch=None,
        steps=steps,
        evaluate_every=steps,
        learning_rate=0.05,
        regulariser=Norm(WEIGHT, a=2.0, b=3.0, power=3.0),
    )
    task = el.tasks.GroupOperation(Cyclic(P))
    return el.Experiment(task, el.models.TwoEmbedding(width=WIDTH), training)


def to_goal() -> el.Experiment:
    """A network of twice the width, with momentum: the schedule of the laptop scale.

    With as few neurons per frequency as in Figure 7.1 networks end below the goal.
    """
    stop = Stop(test_error=None, probe=el.probes.MarginRatio(), at_least=MARGIN_GOAL)
    return experiment(10_000).varied(
        {
            "model.width": 2 * WIDTH,
            "training.learning_rate": 25.6,
            "training.optimizer": SGD(momentum=0.9),
            "training.evaluate_every": 100,
            "training.stop": stop,
        }
    )


def our_step() -> float:
    """Seconds of one step of the engine, from two runs that differ in their steps alone."""
    times = []
    for steps in (STEPS, 3 * STEPS):
        runs = el.Sweep(experiment(steps), seeds=3).run(workers=0, progress=False)
        times.append(float(runs["seconds"].min()))
    return (times[1] - times[0]) / (2 * STEPS)


def torch_step() -> float:
    """Seconds of one step of an eager loop."""
    torch.set_num_threads(1)
    rng = torch.Generator().manual_seed(0)
    u, v = (
        ((torch.rand(P, WIDTH, generator=rng) - 0.5) / P**0.5).requires_grad_() for _ in range(2)
    )
    w = ((torch.rand(WIDTH, P, generator=rng) - 0.5) / WIDTH**0.5).requires_grad_()
    pairs = torch.arange(P)
    labels = ((pairs[:, None] + pairs[None, :]) % P).reshape(-1)

    def steps() -> None:
        for _ in range(STEPS):
            hidden = (u[:, None, :] + v[None, :, :]).reshape(-1, WIDTH) ** 2
            loss = torch.nn.functional.cross_entropy(hidden @ w, labels)
            squares = (u**2).sum(0) + (v**2).sum(0) + (w**2).sum(1)
            slopes = torch.autograd.grad(loss + WEIGHT * (squares**1.5).sum(), (u, v, w))
            with torch.no_grad():
                for weight, slope in zip((u, v, w), slopes, strict=True):
                    weight -= 0.05 * slope

    return seconds(steps) / STEPS


def product_rate() -> float:
    """Float32 operations a second of one core's matrix product: the best shape and library.

    The step's own forward shape, which is narrow, and a large square one, by PyTorch and by NumPy.
    """
    torch.set_num_threads(1)
    rates = []
    for n, m, k in ((P * P, WIDTH, P), (1024, 1024, 1024)):
        a, b = torch.rand(n, m), torch.rand(m, k)
        for left, right in ((a, b), (a.numpy(), b.numpy())):
            time_of = seconds(lambda left=left, right=right: [left @ right for _ in range(20)])
            rates.append(2 * n * m * k * 20 / time_of)
    return max(rates)


def minutes_to_goal() -> float:
    """Minutes until the margin is 0.99 of the largest one; infinite if it is not reached."""
    start = time.perf_counter()
    run = el.run(to_goal(), seed=0)
    return (time.perf_counter() - start) / 60 if run.success else float(np.inf)


def lines() -> list[Line]:
    """All lines of the table."""
    rate = product_rate()
    step, eager = our_step(), torch_step()
    share = 100 * OPERATIONS / step / rate
    core = f"p = 71, width 500: of the core's rate ({rate / 1e9:.0f} Gflop/s)"
    loop = f"p = 71, width 500: over an eager loop ({1e3 * step:.1f}, {1e3 * eager:.1f} ms)"
    return [
        at_least(core, share, 45, "%"),
        at_least(loop, eager / step, 1.5, "x"),
        at_most("Z_71 to 0.99 of the largest margin", minutes_to_goal(), 20, "min"),
        at_most("maximum_margin of S8", seconds(lambda: maximum_margin(Symmetric(8)), 1), 2, "s"),
        at_most("representations of S5", seconds(lambda: irreducibles(Symmetric(5)), 1), 2, "s"),
    ]
