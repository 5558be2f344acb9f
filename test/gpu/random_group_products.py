"""Random products and schedules of `mma=wgmma`: all layouts, types and epilogues, legal by the model's rules.

Case `number` of a seed is the same whatever else is drawn, so that one case can be run by itself.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "simulator"))

import random_groups
from random_products import EPILOGUES, Product

from mlir_gemm.parts.fields import applying
from mlir_gemm.parts.registry import mmas
from mlir_gemm.spec.element_types import ELEMENT_BYTES
from mlir_gemm.spec.problem import Problem as ModelProblem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.tile_model.chips import target
from mlir_gemm.tile_model.rules import broken
from mlir_gemm.tile_model.swap import as_computed

F8 = "f8E4M3FN"
KINDS = {
    "f16": ("f16", "f16", ("f32", "f16"), "full"),
    "bf16": ("bf16", "bf16", ("f32", "bf16"), "full"),
    "tf32": ("f32", "f32", ("f32", "f16"), "tf32"),
    "s8": ("i8", "i8", ("i32",), "full"),
    "fp8": ("bf16", F8, ("f32", "f16"), "f8"),
}
"""Kind of `random_products`, element type, possible results, and the precision that the mma asks for. Its products
of `bf16` stand for 8-bit floats too: the element type is put in their place."""
SHARES = (6, 3, 2, 2, 2)
CLUSTERS: tuple[dict[str, Any], ...] = (
    {"cluster_m": 4}, {"cluster_n": 4}, {"split_k_cluster": 4}, {"split_k_cluster": 3}, {"split_k_cluster": 5},
    {"cluster_m": 2, "cluster_n": 2},
    {"cluster_m": 4, "cluster_n": 2}, {"split_k_cluster": 2, "cluster_m": 2, "cluster_n": 2},
    {"split_k_cluster": 3, "cluster_m": 2},
)  # fmt: skip
"""Of four blocks and more, or of odd numbers of them."""
CHOSEN = ("mma=wgmma", "mma=wgmma,batch_invariant=on")
"""Schedules that leave the rest to the model: A and B swapped, ping-pong, slices of k."""
TRIES = 2000
TOGETHER = 0.45
"""Part of the cases in which blocks form clusters, share the steps of k, or warpgroups ping-pong."""


@dataclass(frozen=True)
class GroupCase:
    """A product under a schedule of `wgmma`."""

    number: int
    kind: str
    product: Product
    schedule: str

    @property
    def element(self) -> str:
        """MLIR's element type of A and B."""
        return KINDS[self.kind][1]

    def module(self) -> str:
        """The MLIR source."""
        text = self.product.module()
        return text.replace(self.product.kind, F8) if self.kind == "fp8" else text

    @property
    def arguments(self) -> list[tuple[str, list[int], str]]:
        """Name, shape and element type of each input besides the result."""
        return [
            (name, shape, self.element if name in ("A", "B") else dtype)
            for name, shape, dtype in self.product.arguments
        ]

    def __str__(self) -> str:
        p = self.product
        batch = f"{p.batch} x " if p.batch else ""
        rows = "tensors" if p.pad is None else f"rows padded by {p.pad}"
        sizes = f"{batch}{p.m}x{p.n}x{p.k} {self.kind}->{p.out} {p.a_order},{p.b_order}"
        return f"{sizes} {p.epilogue} ({rows})"


def draw(seed: int, number: int, chip: str) -> GroupCase:
    """Case `number` of a seed: legal, as far as the model's rules know."""
    rng = random.Random(f"{seed} {number}")
    # Most of what is drawn together is not legal together: without this there would be few of them.
    together = rng.random() < TOGETHER
    for _ in range(TRIES):
        kind = rng.choices(list(KINDS), SHARES)[0]
        drawn = random_groups.draw(rng)
        product = _product(rng, drawn, kind)
        if not together and rng.random() < 0.25:
            if rng.random() < 0.5:  # few rows: A and B may be swapped
                few = rng.randint(1, 63)
                product = replace(product, m=few if product.a_order == "mk" else rounded_up(few, 8))
            elif rng.random() < 0.5:  # few columns: narrow panels
                product = replace(product, n=8 * rng.randint(1, 8))
            return GroupCase(number, kind, product, _with_precision(rng.choice(CHOSEN), kind))
        fields = _fields(rng, drawn, kind)
        model = model_problem(product, kind)
        operation = mmas()["wgmma"].instruction_of(model, target(chip))
        schedule = Schedule(**{"storage": "dynamic", **fields, "instruction": operation})
        if together and schedule.cluster == 1 and not schedule.ping_pong and not schedule.stream_k:
            continue
        if schedule.swap_ab and product.epilogue == "accumulate":
            continue
        if next(broken(as_computed(model, schedule), schedule, target(chip)), None) is None:
            return GroupCase(number, kind, product, shown(fields))
    raise RuntimeError(f"seed {seed}, case {number}: no legal schedule in {TRIES} tries")


def drawn(seed: int, numbers: Sequence[int], chip: str) -> list[GroupCase]:
    return [draw(seed, number, chip) for number in numbers]


TRAITS = (
    "cluster",
    "split_k",
    "persistent",
    "stream",
    "ping_pong",
    "throttle",
    "promotion",
    "smem_epilogue",
    "dependent_launch",
    "swap_ab",
    "keep",
)
"""Fields, or beginnings of their names, by which small cases should differ."""


def varied(seed: int, count: int, chip: str) -> list[GroupCase]:
    """A few small cases that differ as much as possible: one of each kind, then one for each kind, layout and trait
    until there are enough."""
    found: dict[tuple[Any, ...], GroupCase] = {}
    kinds: dict[str, GroupCase] = {}
    number = 0
    while (len(found) < count or len(kinds) < len(KINDS)) and number < 40 * count:
        case = draw(seed, number, chip)
        number += 1
        p = case.product
        traits = [name for name in TRAITS if name in case.schedule]
        if model_problem(p, case.kind).out_vector < 128:
            traits.append("rows")  # of the result that start between vectors
        if p.m * p.n * p.k * max(p.batch, 1) <= 1 << 25:
            found.setdefault((case.kind, p.a_order, p.b_order, *traits), case)
            kinds.setdefault(case.kind, case)
    others = [case for case in found.values() if kinds[case.kind] is not case]
    return [*kinds.values(), *others][:count]


def _product(rng: random.Random, drawn: random_groups.Case, kind: str) -> Product:
    base, element, outs, _ = KINDS[kind]
    size = ELEMENT_BYTES[element]
    orders = ("km" if drawn.transposed[0] else "mk", "nk" if drawn.transposed[1] else "kn")
    if size != 2:
        orders = ("mk", "nk")
    m, n, k = drawn.size
    k = max(1, k * 2 // size)
    epilogue = rng.choice(EPILOGUES) if rng.random() < 0.6 else "none"
    if drawn.adds and rng.random() < 0.5:
        epilogue = "accumulate"
    # What the copy engine needs: rows of operands begin at multiples of 16 bytes.
    unit = 16 // size
    m, k = (
        rounded_up(m, unit) if orders[0] == "km" else m,
        rounded_up(k, unit) if "mk" in orders or "nk" in orders else k,
    )
    n = rounded_up(n, unit) if orders[1] == "kn" else n
    return Product(
        m, n, k, base,
        **lying(rng, outs, orders),
        epilogue=epilogue,
    )  # fmt: skip


def lying(rng: random.Random, outs: Sequence[str], orders: tuple[str, str]) -> dict[str, Any]:
    """How many products there are, and how they lie: fields of a Product."""
    return {
        "out": rng.choice(outs), "a_order": orders[0], "b_order": orders[1],
        "batch": rng.choice((0, 0, 0, 0, 1, 3)), "pad": rng.choice((None, None, 0, 16, 48)),
    }  # fmt: skip


def _fields(rng: random.Random, drawn: random_groups.Case, kind: str) -> dict[str, Any]:
    """The fields drawn, for elements of another size, and those that the simulator has no use for."""
    fields = Schedule.parse(drawn.schedule)
    size = ELEMENT_BYTES[KINDS[kind][1]]
    for name in ("block", "warp"):
        m, n, k = fields[name]
        fields[name] = (m, n, k * 2 // size)
    fields["stages"] = rng.choice((2, 2, 3, 4, 5, 8))
    if rng.random() < 0.2:
        fields["dependent_launch"] = False
    if rng.random() < 0.15:
        fields |= {"cluster_m": 1, "cluster_n": 1, **rng.choice(CLUSTERS)}
        fields.pop("persistent", None)
    if fields["block"] == fields["warp"] and rng.random() < 0.3:
        fields |= {"ping_pong": True, "persistent": rng.choice((1, 2, 5, 132)), "throttle": rng.choice((0, 2, 4))}
    elif fields.get("persistent") and rng.random() < 0.3:
        fields["persistent"] = rng.choice((7, 12, 132))
    if not fields.get("ping_pong") and rng.random() < 0.15:
        fields["split_k_cluster"] = 1
        if rng.random() < 0.6:
            fields |= {"cluster_m": 1, "cluster_n": 1}
        fields |= {"persistent": rng.choice((2, 4, 5, 7, 8, 12, 132)), "stream_k": rng.choice((1, 2, 2, 3, 4, 8))}
    if rng.random() < 0.1:
        fields["batch_invariant"] = True
    if KINDS[kind][3] != "full":
        fields["precision"] = KINDS[kind][3]
    return applying(fields | kept(rng) | promoted(rng, fields, kind))


def promoted(rng: random.Random, fields: dict[str, Any], kind: str) -> dict[str, int]:
    """After how many steps other accumulators take over, if they do and there are registers for them."""
    m, n, _ = fields["warp"]
    if kind == "s8" or m * n > 64 * 128:
        return {}
    whole = not fields.get("ping_pong") and not fields.get("stream_k") and fields.get("split_k_cluster", 1) == 1
    return {"promotion": rng.choice((1, 2, 3, 5))} if whole and rng.random() < 0.25 else {}


def kept(rng: random.Random) -> dict[str, int]:
    """What L2 is told to keep, if anything."""
    return {"l2_keep_a": rng.choice((0, 5, 32)), "l2_keep_b": rng.choice((0, 1, 11, 32))} if rng.random() < 0.25 else {}


def model_problem(product: Product, kind: str) -> ModelProblem:
    """What the model's rules look at."""
    size = ELEMENT_BYTES[KINDS[kind][1]]

    def vector(neighbours: int, bytes_: int) -> int:
        bits = 8 * bytes_ * (neighbours + (product.pad or 0))
        return min(128, bits & -bits)

    return ModelProblem(
        product.m, product.n, product.k, KINDS[kind][1], KINDS[kind][1], "i32" if kind == "s8" else "f32", product.out,
        reads_c=product.epilogue == "accumulate",
        batch=max(1, product.batch),
        a_order=product.a_order,
        b_order=product.b_order,
        a_vector=vector(product.k if product.a_order == "mk" else product.m, size),
        b_vector=vector(product.n if product.b_order == "kn" else product.k, size),
        out_vector=vector(product.n, ELEMENT_BYTES[product.out]),
    )  # fmt: skip


def _with_precision(text: str, kind: str) -> str:
    precision = KINDS[kind][3]
    return text if precision == "full" else f"{text},precision={precision}"


def rounded_up(size: int, unit: int) -> int:
    """The next multiple of a unit."""
    return -(-size // unit) * unit


def shown(fields: dict[str, Any]) -> str:
    """Fields of a schedule as `--schedule` takes them."""
    return ",".join(f"{name}={_text(value)}" for name, value in fields.items())


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return "x".join(map(str, value)) if isinstance(value, tuple) else str(value)


INVARIANT_ROWS = (1, 7, 16, 33, 63, 64, 128, 200, 257, 1000)
"""Values of M among which rows of the result must be the same: with few rows and many columns A and B are swapped."""


def invariant(seed: int, number: int) -> list[GroupCase]:
    """One product with several M, each with `batch_invariant=on`, the largest first."""
    rng = random.Random(f"invariant {seed} {number}")
    kind = rng.choices(list(KINDS), SHARES)[0]
    base, element, outs, _ = KINDS[kind]
    size = ELEMENT_BYTES[element]
    n = rng.choice((64, 256, 520, 1024, 2112, 4096, 8192))
    k = rng.choice((64, 136, 512, 1000, 2048, 4096, 8192)) * 2 // size
    unit = 16 // size
    first = Product(
        max(INVARIANT_ROWS), rounded_up(n, unit), rounded_up(k, unit), base,
        out=rng.choice(outs),
        b_order=rng.choice(("kn", "nk")) if size == 2 else "nk",
        pad=rng.choice((None, 0)),
        epilogue=rng.choice(("none", "none", "relu", "bias_n", "scaled")),
    )  # fmt: skip
    schedule = _with_precision("batch_invariant=on", kind)
    return [GroupCase(number, kind, replace(first, m=m), schedule) for m in sorted(INVARIANT_ROWS, reverse=True)]
