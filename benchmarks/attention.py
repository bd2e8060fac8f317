"""The network of the AND experiments beside eager PyTorch loops: one process, one core.

T = 100 bits, width 64, 16 heads, 100 examples in one batch, AdamW. Ours computes keys and values of
the 201 different tokens once per step. The loop beside it has the same block and, like ours, asks
the query of [CLS] alone; below it stands the block as published, which computes all queries. With
dropout of embeddings every example has keys of its own, on both sides. Compilation is left out.
"""

import os
import time
from typing import Any

os.environ.setdefault(
    "XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
)

import jax
import jax.numpy as jnp
import numpy as np
import torch
from threadpoolctl import threadpool_limits

import elegans as el
from benchmarks.line import Line, at_least, at_most, table
from elegans.keys import keys_of
from elegans.models.transformers.dropout import Dropout
from elegans.studies.attention.protocol import HALF, Network, recipe
from elegans.training import loop, program

T, M, DIM, HEADS = 100, 100, 64, 16
BARS = {"no embedding dropout": (0.0, 8.0), "embedding dropout": (0.1, 4.0)}
STEPS = {"no embedding dropout": 2_000, "embedding dropout": 200}
TORCH_STEPS = 60
REPEATS = 3


def our_rate(embedding: float, steps: int) -> float:
    """Steps per second of the compiled update alone."""
    model = el.models.TransformerClassifier(
        heads=HEADS, dim=DIM, dropout=Dropout(embedding=embedding, attention=0.1, output=0.1)
    )
    e = el.Experiment(el.tasks.Conjunction(T, 3, p=HALF), model, recipe(M, steps))
    structure, numbers = program.split(e.task, e.model, e.training)
    keys = keys_of(0)
    state = loop.stacked([program.start(structure, e.model, numbers, keys)])
    rows = loop.stacked([program.whole_training_set(structure, numbers, keys)])
    numbers, keys = loop.stacked([numbers]), loop.stacked([keys])

    def advance(state: Any, count: int) -> Any:
        counts = jnp.full(1, count, jnp.int32)
        return jax.block_until_ready(
            program.advance(structure, 1, numbers, state, keys, counts, rows)
        )

    state = advance(state, 0)
    began = time.perf_counter()
    advance(state, steps)
    return steps / (time.perf_counter() - began)


class Block(torch.nn.Module):
    """minGPT's block with a [CLS] token, as a researcher writes it."""

    def __init__(self, embedding: float, *, asks_cls_alone: bool) -> None:
        super().__init__()
        self.asks_cls_alone = asks_cls_alone
        self.tokens = torch.nn.Embedding(3, DIM)
        self.positions = torch.nn.Parameter(0.02 * torch.randn(T + 1, DIM))
        self.before, self.between, self.after = (torch.nn.LayerNorm(DIM) for _ in range(3))
        self.query, self.key, self.value, self.output = (
            torch.nn.Linear(DIM, DIM) for _ in range(4)
        )
        self.hidden, self.back = torch.nn.Linear(DIM, 4 * DIM), torch.nn.Linear(4 * DIM, DIM)
        self.readout = torch.nn.Linear(DIM, 2, bias=False)
        self.embedding_dropout = torch.nn.Dropout(embedding)
        self.dropout = torch.nn.Dropout(0.1)

    def heads(self, z: torch.Tensor) -> torch.Tensor:
        """(batch, tokens, dim) as (batch, heads, tokens, width)."""
        return z.view(len(z), -1, HEADS, DIM // HEADS).transpose(1, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The logits of a batch of tokens, [CLS] last."""
        z = self.embedding_dropout(self.tokens(x) + self.positions)
        normed = self.before(z)
        asked = normed[:, -1:] if self.asks_cls_alone else normed
        q, k, v = (
            self.heads(part) for part in (self.query(asked), self.key(normed), self.value(normed))
        )
        weights = torch.softmax(q @ k.transpose(-2, -1) / (DIM // HEADS) ** 0.5, dim=-1)
        mixed = (self.dropout(weights) @ v).transpose(1, 2).reshape(len(x), -1, DIM)
        z = (z[:, -1:] if self.asks_cls_alone else z) + self.dropout(self.output(mixed))
        hidden = torch.nn.functional.gelu(self.hidden(self.between(z)))
        z = z + self.dropout(self.back(hidden))
        return self.readout(self.after(z)[:, -1])


def torch_rate(embedding: float, *, asks_cls_alone: bool) -> float:
    """Steps per second of the eager loop."""
    torch.manual_seed(0)
    bits = (torch.rand(M, T) < HALF).long()
    x = torch.cat([bits, torch.full((M, 1), 2)], dim=1)
    y = bits[:, :3].prod(dim=1)
    model = Block(embedding, asks_cls_alone=asks_cls_alone)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=1e-4)

    def step() -> None:
        loss = torch.nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    for _ in range(5):
        step()
    began = time.perf_counter()
    for _ in range(TORCH_STEPS):
        step()
    return TORCH_STEPS / (time.perf_counter() - began)


def structures_of_a_sweep() -> tuple[int, int]:
    """How many programs a sweep over T and m takes, and how many (T, powers of two) there are."""
    lengths, sizes = (100, 300), range(50, 210, 10)
    programs = set()
    for length in lengths:
        for m in sizes:
            task = el.tasks.UniqueConjunction(length, 3, p=HALF, samples=m, test_rows=1000)
            training = recipe(m, 1000, test_samples=1000)
            programs.add(program.split(task, Network().model(m % 5), training)[0])
    return len(programs), len(lengths) * len({(m - 1).bit_length() for m in sizes})


def lines() -> list[Line]:
    """All lines of this table, sides alternating so that a slow minute hits both."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    torch.set_num_threads(1)
    result = []
    with threadpool_limits(1):
        for name, (embedding, bar) in BARS.items():
            rounds = [
                (
                    our_rate(embedding, STEPS[name]),
                    torch_rate(embedding, asks_cls_alone=True),
                    torch_rate(embedding, asks_cls_alone=False),
                )
                for _ in range(REPEATS)
            ]
            ours, alone, published = np.median(rounds, axis=0)
            label = f"{name}: steps/s / PyTorch's, [CLS] query alone ({ours:,.0f} / {alone:,.0f})"
            result.append(at_least(label, ours / alone, bar, "x"))
            label = f"{name}: steps/s / the published block's ({ours:,.0f} / {published:,.1f})"
            result.append(at_least(label, ours / published, bar, "x"))
    count, least = structures_of_a_sweep()
    result.append(at_most("programs of a sweep over T and 16 m", count, least, ""))
    return result


if __name__ == "__main__":
    print(table(lines()))
