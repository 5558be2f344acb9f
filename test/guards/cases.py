"""The listed set of the guards: what schedules are chosen for, and which kernels are pinned."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from zlib import crc32

import sources
from kinds import KINDS

from mlir_gemm.bench import cases as wmma_cases
from mlir_gemm.bench.problems import PROBLEMS, drawn
from mlir_gemm.bench.sweep_space import precision_of
from mlir_gemm.tile_model.chips import CHIPS

SEED, COUNT = 14, 260
"""Of the random problems."""
FIRST = "sm_90a"
"""The chip on which a schedule is chosen for every problem, less those that differ from another one in bf16 instead of
f16 only: of these for one in TWINS. On each of the other chips for one in OTHERS."""
TWINS, OTHERS = 4, 16
PINNED, PINNED_OTHERS = 4, 25
"""One in so many of the choices on FIRST is pinned, and on the other chips."""
MODULE_CHIPS = ("sm_75", "sm_80", FIRST)
"""Chips for which every module is pinned ..."""
ONE_MORE = ("sm_70", "sm_86", "sm_87", "sm_89", "sm_90", "sm_100", "sm_103", "sm_120", "sm_121")
"""... and of these for one more, each for another one: a new chip leaves the others' as they are."""
RANDOM_GROUPS, RANDOM_WARPS, RANDOM_SEED = 60, 20, 14


@dataclass(frozen=True)
class Case:
    """A module compiled for a chip."""

    name: str
    source: str
    """Text that `sources.source` reads."""
    chip: str
    fields: str = ""
    """The fields of the schedule that are fixed; in the list of pinned kernels all of them, shortened, for each product
    in order, with `;` between them."""

    @property
    def key(self) -> str:
        return f"{self.name} | {self.chip}"


def chosen() -> list[Case]:
    """The products and modules for which schedules are chosen, without anything fixed but a precision."""
    return sorted({case.key: case for case in [*_benchmark(), *_modules()]}.values(), key=lambda case: case.key)


def _benchmark() -> Iterator[Case]:
    for problem in (*PROBLEMS, *drawn(COUNT, SEED)):
        precision = ",".join(f"{name}={value}" for name, value in precision_of(problem).items())
        twin = problem.dtype == "bf16"
        for chip in CHIPS:
            if _one_in((TWINS if twin else 1) if chip == FIRST else OTHERS, f"{problem.name} {chip}"):
                yield Case(problem.name, f"bench {problem.name}", chip, precision)


def _modules() -> Iterator[Case]:
    for kind in ("module", "example"):
        for name in sources.files(kind):
            for chip in CHIPS:
                yield Case(f"{kind} {name}", f"{kind} {name}", chip)


def to_pin() -> list[Case]:
    """The kernels to pin, with the fields from which their schedules follow."""
    found: list[Case] = []
    for case in chosen():
        if case.source.startswith("bench"):
            wanted = _one_in(PINNED if case.chip == FIRST else PINNED_OTHERS, f"pinned {case.key}")
        else:
            wanted = case.chip in (*MODULE_CHIPS, ONE_MORE[crc32(case.name.encode()) % len(ONE_MORE)])
        if wanted:
            found.append(case)
    for name, source, chips, fields in KINDS:
        found += [Case(f"kind {name}", source, chip, fields) for chip in chips.split()]
    found += [*_random_groups(), *_random_wmma()]
    return sorted(found, key=lambda case: case.key)


def _random_groups() -> Iterator[Case]:
    """Legal schedules of every kind, at random: those of the checks on the GPU."""
    from random_group_products import KINDS as ELEMENTS
    from random_group_products import draw
    from random_warp_products import draw_warps

    drawn_cases = [("group", draw(RANDOM_SEED, number, FIRST)) for number in range(RANDOM_GROUPS)]
    drawn_cases += [("warps", draw_warps(RANDOM_SEED, number, FIRST)) for number in range(RANDOM_WARPS)]
    for what, case in drawn_cases:
        product, fields = case.product, []
        for field in dataclasses.fields(product):
            value = getattr(product, field.name)
            if value != field.default:
                fields.append(f"{field.name}={value}")
        if ELEMENTS[case.kind][0] != case.element and case.kind == "fp8":
            fields.append(f"element={case.element}")
        yield Case(f"random {what} {case.number}", f"product {','.join(fields)}", FIRST, case.schedule)


def _random_wmma() -> Iterator[Case]:
    for number, case in enumerate(wmma_cases.correctness("")):
        if number % 12 == 0:
            epilogue = {"memref": "accumulate", "tensor": "none", "add": "accumulate"}[case.form]
            pad = ",pad=0" if case.form == "memref" else ""
            text = f"product m={case.m},n={case.n},k={case.k},out={case.out},epilogue={epilogue}{pad}"
            chip = ("sm_70", "sm_75", "sm_80", "sm_90")[number // 12 % 4]
            yield Case(f"random wmma {number}", text, chip, ",".join(filter(None, ("mma=wmma", case.schedule))))


def _one_in(count: int, text: str) -> bool:
    """Whether this text is one of every `count`: the same whatever else is listed."""
    return crc32(text.encode()) % count == 0
