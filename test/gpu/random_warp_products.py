"""Random products and schedules of `mma=mma_sync` on stages that the copy engine fills: all layouts, types and
epilogues, legal by the model's rules. Cases are those of `random_group_products`, with a schedule of their own.
"""

from __future__ import annotations

import random
from typing import Any

from random_group_products import KINDS, GroupCase, kept, lying, model_problem, rounded_up, shown
from random_products import EPILOGUES, Product

from mlir_gemm.parts.fields import applying
from mlir_gemm.parts.registry import mmas
from mlir_gemm.spec.element_types import ELEMENT_BYTES
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.tile_model.chips import target
from mlir_gemm.tile_model.rules import broken

SHARES = {"f16": 6, "bf16": 3, "tf32": 2, "s8": 2}
"""How often each kind is drawn: those of KINDS that mma.sync has."""
ROWS, COLUMNS = (16, 32, 48, 64), (16, 32, 48, 64, 96)
"""Sides of warp tiles."""
GRIDS = ((1, 4), (2, 2), (4, 1), (2, 4), (4, 2), (1, 8), (3, 4))
"""Warps of a block, below and beside each other."""
TRIES = 2000


def draw_warps(seed: int, number: int, chip: str) -> GroupCase:
    """Case `number` of a seed: legal, as far as the model's rules know."""
    rng = random.Random(f"warps {seed} {number}")
    for _ in range(TRIES):
        kind = rng.choices(list(SHARES), list(SHARES.values()))[0]
        product = _product(rng, kind)
        model = model_problem(product, kind)
        fields = _fields(rng, kind)
        schedule = Schedule(**fields, instruction=mmas()["mma_sync"].instruction_of(model, target(chip)))
        if next(broken(model, schedule, target(chip)), None) is None:
            return GroupCase(number, kind, product, shown(fields))
    raise RuntimeError(f"seed {seed}, case {number}: no legal schedule in {TRIES} tries")


def _product(rng: random.Random, kind: str) -> Product:
    base, element, outs, _ = KINDS[kind]
    unit = 16 // ELEMENT_BYTES[element]
    orders = rng.choice(("mk", "km")), rng.choice(("kn", "nk"))
    sizes = [rng.choice((1, 8, 33, 64, 100, 128, 200, 257, 400, 700)) for _ in "mn"]
    m = rounded_up(sizes[0], unit) if orders[0] == "km" else sizes[0]
    n = rounded_up(sizes[1], unit) if orders[1] == "kn" else sizes[1]
    k = rounded_up(rng.choice((1, 8, 31, 64, 120, 256, 500, 1024)), unit)
    return Product(
        m, n, k, base,
        **lying(rng, outs, orders),
        epilogue=rng.choice(EPILOGUES) if rng.random() < 0.6 else "none",
    )  # fmt: skip


def _fields(rng: random.Random, kind: str) -> dict[str, Any]:
    size = ELEMENT_BYTES[KINDS[kind][1]]
    down, across = rng.choice(GRIDS)
    rows, columns = rng.choice(ROWS), rng.choice(COLUMNS)
    deep = rng.choice((32, 64, 64, 128)) * 2 // size
    fields: dict[str, Any] = {
        "mma": "mma_sync", "mainloop": "tma", "layout": "swizzle128", "pad": 0,
        "block": (down * rows, across * columns, deep), "warp": (rows, columns, 32 // size),
        "stages": rng.choice((2, 2, 3, 4, 6)), "persistent": rng.choice((0, 0, 1, 3, 7, 12, 132)),
        "raster": rng.choice(("grouped", "snake", "row")), "raster_group": rng.choice((1, 3, 8)),
    }  # fmt: skip
    if rng.random() < 0.3:
        fields |= rng.choice(({"cluster_m": 2}, {"cluster_n": 2}, {"cluster_m": 2, "cluster_n": 2}, {"cluster_n": 4}))
    if rng.random() < 0.2:
        fields["dependent_launch"] = False
    if KINDS[kind][3] != "full":
        fields["precision"] = KINDS[kind][3]
    return applying(fields | kept(rng))
