"""In-context learning of Markov chains beside eager PyTorch loops: one process, one core.

Two layers, one head, 16 dimensions, 100 tokens of 2 states, batches of 64, AdamW, cross-entropy at
every position; each step draws fresh chains, and that is counted. One loop is research code: its
data set builds each sequence in Python, and it looks up a position embedding for every pair, as
minGPT with relative positions does. The other is tuned: it draws a batch with vectorised
operations, and multiplies queries with positions before it looks up pairs. The minimal model
(equation 8.8, SGD) is compared with data built in Python. Sides take turns, so that what else the
machine does falls on both, and the best turn of each counts. Seconds are those of the processor, of
all threads together: on a free machine they are the clock's, and on a busy one they leave out the
waiting.
"""

import math
import os
import random
import time
from collections.abc import Callable
from typing import Any

os.environ.setdefault(
    "XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
)

import jax
import jax.numpy as jnp
import numpy as np
import torch
from threadpoolctl import threadpool_limits
from torch.nn import functional

import elegans as el
from benchmarks.line import Line, at_least, at_most, table
from elegans.keys import keys_of
from elegans.training import loop, program
from elegans.training import source as data

STATES, LENGTH, DIM, BATCH = 2, 100, 16, 64
TASK = el.tasks.MarkovChains(states=STATES, length=LENGTH)
TURNS = 4
Draw = Callable[[], torch.Tensor]


def training(optimizer: str, rate: float) -> el.Training:
    """The recipe of our side."""
    return el.Training(
        loss="cross-entropy", optimizer=optimizer, learning_rate=rate, batch=BATCH, steps=10_000
    )


def our_steps(model: Any, recipe: el.Training) -> Callable[[int], None]:
    """A function that makes so many of our steps, compiled."""
    structure, numbers = program.split(TASK, model, recipe)
    keys = keys_of(0)
    held = [loop.stacked([program.start(structure, model, numbers, keys)])]
    rest = loop.stacked([numbers]), loop.stacked([keys])

    def work(count: int) -> None:
        counts = jnp.full(1, count, jnp.int32)
        held[0] = jax.block_until_ready(
            program.advance(structure, 1, rest[0], held[0], rest[1], counts, ())
        )

    work(0)
    return work


def our_batches(recipe: el.Training) -> Callable[[int], None]:
    """A function that draws the batches of so many of our steps, as the engine does."""
    keys, bulk = keys_of(0), data.steps_in_bulk(TASK, BATCH)
    draw = jax.jit(lambda step: data.batches(TASK, recipe, keys, step + jnp.arange(bulk)))
    jax.block_until_ready(draw(0))

    def work(count: int) -> None:
        for step in range(0, count, bulk):
            jax.block_until_ready(draw(step))

    return work


def sequence() -> torch.Tensor:
    """One sequence, a token at a time."""
    rows = np.random.dirichlet(np.ones(STATES), size=STATES)  # noqa: NPY002, as research code does
    a, b = rows[0, 0], rows[1, 1]
    tokens = random.choices(range(STATES), weights=[1 - b, 1 - a])
    edges = rows.cumsum(1).tolist()
    for _ in range(LENGTH):
        tokens.extend(random.choices(range(STATES), cum_weights=edges[tokens[-1]]))
    return torch.tensor(tokens)


def batch_in_python() -> torch.Tensor:
    """A batch of sequences, each built in Python."""
    return torch.stack([sequence() for _ in range(BATCH)])


def batch_vectorised() -> torch.Tensor:
    """A batch of sequences, all built at once, position by position."""
    rows = torch.distributions.Dirichlet(torch.ones(STATES, STATES)).sample((BATCH,))
    a, b = rows[:, 0, 0], rows[:, 1, 1]
    uniforms = torch.rand(LENGTH + 1, BATCH)
    tokens = torch.empty(LENGTH + 1, BATCH, dtype=torch.long)
    tokens[0] = (uniforms[0] > (1 - b) / (2 - a - b)).long()
    edges, every = rows[:, :, 0], torch.arange(BATCH)
    for t in range(LENGTH):
        tokens[t + 1] = (uniforms[t + 1] > edges[every, tokens[t]]).long()
    return tokens.T


class Head(torch.nn.Module):
    """Equation 8.5; tuned, it meets queries with positions before it looks up pairs."""

    def __init__(self, *, is_tuned: bool) -> None:
        super().__init__()
        self.is_tuned = is_tuned
        self.query, self.key, self.value = (torch.nn.Linear(DIM, DIM, bias=False) for _ in range(3))
        self.position = torch.nn.Parameter(torch.randn(LENGTH, DIM) / math.sqrt(DIM))
        places = torch.arange(LENGTH)
        self.back = (places[:, None] - places[None, :]).clamp(min=0)
        self.above = places[:, None] < places[None, :]

    def forward(self, z: torch.Tensor) -> torch.Tensor:
        q = self.query(z)
        if self.is_tuned:
            near = torch.gather(q @ self.position.T, 2, self.back.expand(len(z), LENGTH, LENGTH))
        else:
            pairs = functional.embedding(self.back, self.position)
            near = torch.einsum("ijd,bid->bij", pairs, q)
        scores = (q @ self.key(z).transpose(1, 2) + near) / math.sqrt(DIM)
        return scores.masked_fill(self.above, -math.inf).softmax(-1) @ self.value(z)


class Transformer(torch.nn.Module):
    """Equation 8.4."""

    def __init__(self, *, is_tuned: bool) -> None:
        super().__init__()
        self.embedding = torch.nn.Embedding(STATES, DIM)
        self.heads = torch.nn.ModuleList([Head(is_tuned=is_tuned) for _ in range(2)])
        self.readout = torch.nn.Linear(DIM, STATES, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        z = self.embedding(x)
        for head in self.heads:
            z = z + head(z)
        return self.readout(z)


class Minimal(torch.nn.Module):
    """Equation 8.8."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(STATES, STATES))
        self.position = torch.nn.Parameter(torch.full((LENGTH,), 0.01))
        places = torch.arange(LENGTH)
        self.back = (places[:, None] - places[None, :]).clamp(min=0)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        tokens = functional.one_hot(x, STATES).float()
        seen = self.position[self.back].tril() @ tokens
        return (tokens @ self.weight @ seen.transpose(1, 2)).tril() @ tokens


def torch_steps(model: torch.nn.Module, optimizer: Any, draw: Draw) -> Callable[[int], None]:
    """A function that makes so many steps of the loop that a researcher writes."""

    def work(count: int) -> None:
        for _ in range(count):
            tokens = draw()
            logits = model(tokens[:, :-1]).reshape(-1, STATES)
            loss = functional.cross_entropy(logits, tokens[:, 1:].reshape(-1))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    work(3)
    return work


def rates(sides: dict[str, tuple[Callable[[int], None], int]]) -> dict[str, float]:
    """Steps a second of each side in its best turn."""
    best = dict.fromkeys(sides, 0.0)
    for _ in range(TURNS):
        for name, (work, steps) in sides.items():
            began = time.process_time()
            work(steps)
            best[name] = max(best[name], steps / (time.process_time() - began))
    return best


def lines() -> list[Line]:
    """All ratios beside their bars."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    adamw, sgd = training("adamw", 1e-3), training("sgd", 2e-3)
    both = {name: Transformer(is_tuned=name == "tuned") for name in ("research", "tuned")}
    draws = {"research": batch_in_python, "tuned": batch_vectorised}
    minimal = Minimal()
    with threadpool_limits(1):
        found = rates(
            {
                "ours": (our_steps(el.models.AttentionOnly(2, 1, DIM), adamw), 120),
                "ours, minimal": (our_steps(el.models.MinimalInduction(), sgd), 600),
                "data": (our_batches(adamw), 600),
                **{
                    name: (
                        torch_steps(
                            model, torch.optim.AdamW(model.parameters(), lr=1e-3), draws[name]
                        ),
                        20,
                    )
                    for name, model in both.items()
                },
                "minimal": (
                    torch_steps(
                        minimal, torch.optim.SGD(minimal.parameters(), lr=2e-3), batch_in_python
                    ),
                    20,
                ),
            }
        )
    ours, least = found["ours"], found["ours, minimal"]
    return [
        at_least(
            f"transformer, {ours:.0f} steps/s: over a loop with data built in Python",
            ours / found["research"],
            8,
            "x",
        ),
        at_least("transformer: over a loop with vectorised data", ours / found["tuned"], 3, "x"),
        at_least(
            f"minimal model, {least:.0f} steps/s: over a loop with data built in Python",
            least / found["minimal"],
            10,
            "x",
        ),
        at_most("data, of a transformer's step", 100 * ours / found["data"], 10, "%"),
    ]


if __name__ == "__main__":
    print(table(lines()))
