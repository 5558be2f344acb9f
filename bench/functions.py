"""Functions of more than one product, or of none, to be measured: kernels of rows, and blocks of models around
products."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, cast

from mlir_gemm.bench import row_modules
from mlir_gemm.bench.block_functions import BLOCKS, Block

GROUPS = {
    "rows": "softmax, norms and sums, at listed sizes and at 60 random ones",
    "blocks": "blocks of models around products, as PyTorch writes them",
}
DTYPES = {"f16": "float16", "bf16": "bfloat16", "f32": "float32"}
"""PyTorch's names of the types of rows."""
RANDOM, SEED = 60, 7
"""How many random sizes, and the seed that draws them."""
ENOUGH = 1024
"""Rows, or columns, whose error in all is no chance: what the elements of one share, the roundings of its sum and of
what follows, is one draw: that of 12 softmaxes of a million is 3e-9 to 1.2e-7, 5.2e-8 in all (in the simulator)."""
MOST_DRAWN = 1 << 31
"""Elements of all inputs of one function: eager PyTorch takes 3 ms for a softmax of one row of ten million."""
ADDED = 4
"""Roundings of f32 for each number that is added, which the error of a sum may have: of few results it is chance."""


@dataclass(frozen=True)
class Drawn:
    """A function with inputs."""

    inputs: list[Any]
    outputs: list[Any]
    """What ours writes to, after the inputs; none where it returns results."""
    run: Callable[[], Any]
    """The same by PyTorch, from these inputs."""
    compiled: Callable[[], Any]
    """The same by torch.compile; its first call compiles."""
    exact: Callable[[], tuple[Any, ...]]
    """The results in float64."""
    noise: float
    """A relative error that is allowed whatever PyTorch's is."""


@dataclass(frozen=True)
class Function:
    """One function that is measured."""

    group: str
    name: str
    source: str
    """Its MLIR; empty where nobody has exported it."""
    bytes: int
    """What must be moved at least: each input read, and each result written, once; 0 where nobody counted."""
    draw: Callable[[Any, int], Drawn]
    """Random inputs, from the library and a seed."""
    draws: int = 1
    """From how many seeds its error is: of few results, that from one is chance."""


@dataclass(frozen=True)
class Rows:
    """A kind of rows at a size."""

    kind: str
    m: int
    n: int
    element: str

    @property
    def name(self) -> str:
        """Such as `softmax 256x50257 f16`."""
        return f"{self.kind} {self.m}x{self.n} {self.element}"


_SIZES = ((2048, 4096), (16384, 4096), (4096, 1024), (65536, 1024), (64, 8192), (256, 50257))
_OF_SUMS = ((4096, 4096), (65536, 1024), (256, 50257), (1000000, 64), (4, 1000000))


def listed_rows() -> list[Rows]:
    """The sizes of softmax and norms that were measured from outside, long rows, odd ones, and sums."""
    found = [Rows(kind, *size, "f16") for kind in ("softmax", "layer_norm", "rms_norm") for size in _SIZES]
    found += [Rows("log_softmax", 256, 50257, "f16"), Rows("log_softmax", 4096, 128256, "bf16")]
    found += [Rows("softmax", m, n, "f32") for m, n in ((1, 1000000), (8, 1000000), (1, 10000000), (64, 100000))]
    found += [Rows(kind, 20000, n, "f16") for kind in ("softmax", "layer_norm") for n in (1001, 1535, 1999)]
    return found + [Rows(kind, *size, "f16") for kind in ("row_sum", "column_sum") for size in _OF_SUMS]


def drawn_rows(count: int, seed: int) -> list[Rows]:
    """Random cases: rows and columns log-uniform, of at most 2^27 elements."""
    generator = random.Random(seed)
    found: list[Rows] = []
    while len(found) < count:
        m, n = (round(math.exp(generator.uniform(0, math.log(limit)))) for limit in (200_000, 200_000))
        if 4096 <= m * n <= 1 << 27:
            kind = generator.choice(sorted(_DRAWN))
            found.append(Rows(kind, m, n, generator.choice(sorted(DTYPES))))
    return found


_DRAWN = ("softmax", "log_softmax", "layer_norm", "rms_norm", "row_sum", "column_sum")


def of_rows(rows: Rows) -> Function:
    """Rows as what is measured."""
    kind = row_modules.KINDS[rows.kind]
    size = {"f16": 2, "bf16": 2, "f32": 4}[rows.element]
    results = {"mn": rows.m * rows.n * size, "m": rows.m * 4, "n": rows.n * 4}[kind.result]
    bytes_ = (rows.m * rows.n + kind.operands * rows.n) * size + results
    independent = rows.n if kind.result == "n" else rows.m
    draws = max(1, min(-(-ENOUGH // independent), MOST_DRAWN // (rows.m * rows.n)))
    return Function("rows", rows.name, row_modules.module(rows.kind, rows.m, rows.n, rows.element), bytes_,
                    lambda torch, seed: _draw_rows(rows, torch, seed), draws=draws)  # fmt: skip


def _draw_rows(rows: Rows, torch: Any, seed: int) -> Drawn:
    kind = row_modules.KINDS[rows.kind]
    generator = torch.Generator("cuda").manual_seed(seed)
    dtype = getattr(torch, DTYPES[rows.element])
    shape = {"mn": (rows.m, rows.n), "m": (rows.m,), "n": (rows.n,)}[kind.result]
    matrix = torch.randn((rows.m, rows.n), generator=generator, device="cuda").to(dtype)
    vectors = [torch.randn(rows.n, generator=generator, device="cuda").to(dtype) for _ in range(kind.operands)]
    out = torch.empty(shape, device="cuda", dtype=dtype if kind.result == "mn" else torch.float32)

    def exact() -> tuple[Any, ...]:
        wide = matrix.double()
        return (kind.torch(torch, wide, [vector.double() for vector in vectors]),)

    noise = 2 * 2.0**-24
    if kind.result != "mn":
        noise = ADDED * 2.0**-24 * float(matrix.double().norm() / exact()[0].norm().clamp_min(1e-300))

    def given(x: Any, v: list[Any]) -> Any:
        return kind.torch(torch, x, v)

    function = cache(lambda: torch.compile(given, dynamic=False))
    return Drawn([matrix, *vectors], [out], lambda: kind.torch(torch, matrix, vectors),
                 lambda: function()(matrix, vectors), exact, noise)  # fmt: skip


def of_block(name: str, folder: Path) -> Function:
    """A block as what is measured."""
    path = folder / f"{name}.mlir"
    source = path.read_text(encoding="utf-8") if path.is_file() else ""
    return Function("blocks", name, source, 0, lambda torch, seed: _draw_block(BLOCKS[name], torch, seed))


def _draw_block(block: Block, torch: Any, seed: int) -> Drawn:
    """Weights are as large as their rows are long, so that what a layer computes is as large as what it gets."""
    generator = torch.Generator("cuda").manual_seed(seed)
    given: list[Any] = []
    for number, shape in enumerate(block.shapes):
        dtype = getattr(torch, block.dtype_of(number))
        if not dtype.is_floating_point:
            low, high = (0, block.classes) if dtype == torch.int64 else (-127, 128)
            given.append(torch.randint(low, high, shape, generator=generator, device="cuda", dtype=dtype))
            continue
        factor = shape[-1] ** -0.5 if number and len(shape) == 2 else 1.0
        given.append((torch.randn(shape, generator=generator, device="cuda") * factor).to(dtype))

    def exact() -> tuple[Any, ...]:
        wide = [each.double() if each.dtype.is_floating_point else each for each in given]
        return results_of(block.function(torch, *wide))

    def whole(*arguments: Any) -> Any:
        return block.function(torch, *arguments)

    function = torch.compile(whole, dynamic=False)
    return Drawn(given, [], lambda: block.function(torch, *given), lambda: function(*given), exact, 2 * 2.0**-24)


def results_of(value: Any) -> tuple[Any, ...]:
    """What a function returned, as a tuple."""
    return cast("tuple[Any, ...]", value) if isinstance(value, tuple) else (value,)


def select(groups: Sequence[str], folder: Path) -> list[Function]:
    """The functions of groups; `folder` holds the exported blocks."""
    found: list[Function] = []
    if "rows" in groups:
        found += [of_rows(rows) for rows in (*listed_rows(), *drawn_rows(RANDOM, SEED))]
    if "blocks" in groups:
        found += [of_block(name, folder) for name in BLOCKS]
    return found
