"""Reductions by bodies of a user's own: those that give the same in any order are kernels of rows."""

from __future__ import annotations

import numpy as np
import pytest
from row_bodies import BODIES, REFUSED, Body, by_body
from row_kernels import check_stages, compiled, run

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.linalg import structured
from mlir_gemm.dialect.reductions import combinations_of, why_uncombined
from mlir_gemm.dialect.walk import named
from mlir_gemm.spec.stages import STAGES

WHOLE = STAGES[: STAGES.index("lower")]
KNOWN = "magnitude", "complex product", "xor", "counts, means, squares"


@pytest.mark.parametrize("length", [1, 7, 1000, 5000])
@pytest.mark.parametrize("name", KNOWN)
def test_numbers_of_rows(name: str, length: int) -> None:
    case = by_body(name, 3, length)
    kernel = compiled(case, "lower")
    assert kernel.ir("lower").count('tile.kind = "rows"') == (length > 1)
    arrays, report = run(case, kernel)
    assert not report.findings, report.findings[0]
    case.check(arrays)


@pytest.mark.parametrize("name", [name for name in BODIES if name not in ("magnitude", "xor")])
def test_every_stage_gives_the_same_numbers(name: str) -> None:
    case = by_body(name, 5, 77)
    kernel = compiled(case, *WHOLE, "lower")
    check_stages(case, kernel, WHOLE)
    arrays, report = run(case, kernel)
    assert not report.findings, report.findings[0]
    case.check(arrays)


def _why_not(text: str) -> str:
    with ir.Context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        generic = structured.read(next(iter(named(module, "linalg.generic"))))
        why = why_uncombined(generic)
        assert (combinations_of(generic) is None) == bool(why)
        return why


@pytest.mark.parametrize("name", BODIES)
def test_bodies_of_any_order(name: str) -> None:
    assert not _why_not(BODIES[name].text(4, 8))


@pytest.mark.parametrize("name", REFUSED)
def test_bodies_whose_order_matters(name: str) -> None:
    body, word = REFUSED[name]
    why = _why_not(body.text(4, 8))
    assert why and word in why


def test_nan_comes_out_wherever_it_stands() -> None:
    for name in ("largest by magnitude", "hypot"):
        case = by_body(name, 3, 500)
        for row, place in ((0, 0), (2, 377)):
            case.arrays[0][row, place] = np.nan
            case.wanted[0][row] = np.nan
        arrays, _ = run(case)
        case.check(arrays)


def test_what_is_combined_and_where_it_starts_may_matter() -> None:
    """Sums of 0 and 1 that end at 3 are the same in any order, other sums are not; nor is a start that is greater."""
    lines = ["%x = arith.constant 1 : i32", "%u = arith.andi %x0, %x : i32", "%k = arith.constant 3 : i32",
             "%s = arith.addi %a0, %u : i32", "%r0 = arith.minsi %s, %k : i32"]  # fmt: skip
    assert not _why_not(Body(["0"], lines, "i32").text(4, 8))
    assert "starts" in _why_not(Body(["2147483647"], lines, "i32").text(4, 8))
    assert "order" in _why_not(Body(["0"], [*lines[:3], lines[3].replace("%u", "%x0"), lines[4]], "i32").text(4, 8))


def test_few_long_rows_are_combined_in_parts() -> None:
    case = by_body("largest by magnitude", 1, 300_000)
    program = compiled(case)
    arrays, _ = run(case, program)
    case.check(arrays)
