"""A maximum and the sum of exponentials after it, found in one pass over long rows: `online-softmax`, and kernels of
rows that carry both."""

from __future__ import annotations

import numpy as np
import pytest
from row_kernels import Case, Rows, compiled, fields, nothing, numbers, pinned, run

from mlir_gemm.bench.row_modules import module
from mlir_gemm.errors import PassError
from mlir_gemm.pipeline.driver import compile_module


def running(m: int, n: int, element: str = "f32") -> Case:
    """The maximum of each row, and its sum of exponentials, as `online-softmax` leaves them."""
    rows = Rows({"m": m, "n": n})
    rows.argument("A", "mn", element)
    rows.argument("M", "m", "f32")
    rows.argument("S", "m", "f32")
    maps = "affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>, affine_map<(m, n) -> (m)>"
    wide = [] if element == "f32" else [f"%x = arith.extf %x0 : {element} to f32"]
    rows.lines += [
        "%least = arith.constant 0xFF800000 : f32", "%zero = arith.constant 0.0 : f32",
        "%bound = arith.constant -1.0e4 : f32", "%one = arith.constant 1.0 : f32",
        f"linalg.fill ins(%least : f32) outs(%M : memref<{m}xf32>)",
        f"linalg.fill ins(%zero : f32) outs(%S : memref<{m}xf32>)",
        f'linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel", "reduction"]}}',
        f"  ins(%A : memref<{m}x{n}x{element}>) outs(%M, %S : memref<{m}xf32>, memref<{m}xf32>) {{",
        f"^bb0({'%x' if element == 'f32' else '%x0'}: {element}, %m: f32, %s: f32):", *wide,
        "%greatest = arith.maximumf %x, %m : f32", "%d = arith.subf %x, %m : f32", "%p = math.absf %d : f32",
        "%q = arith.negf %p : f32", "%e = arith.maxnumf %q, %bound : f32", "%f = math.exp %e : f32",
        "%g = arith.mulf %s, %f : f32", "%grown = arith.addf %g, %one : f32", "%h = arith.mulf %one, %f : f32",
        "%added = arith.addf %s, %h : f32", "%t = arith.cmpf ogt, %x, %m : f32",
        "%r = arith.select %t, %grown, %added : f32", "linalg.yield %greatest, %r : f32, f32", "}",
    ]  # fmt: skip
    a = numbers(np.random.default_rng([m, n]), (m, n), element)
    if m > 2:
        a[0, ::3] = -np.inf
        a[1, n // 2] = np.nan
    return wanted(rows.text(), a)


def wanted(text: str, a: np.ndarray) -> Case:
    wide = a.astype(np.float64)
    most = wide.max(1)
    return Case(text, [a, nothing(most.shape, "f32"), nothing(most.shape, "f32")],
                [most, np.exp(wide - most[:, None]).sum(1)], 2**-19)  # fmt: skip


@pytest.mark.parametrize(("m", "n", "element"), [(3, 40, "f32"), (5, 701, "f16")])
def test_the_running_form_of_rows_that_are_held(m: int, n: int, element: str) -> None:
    case = running(m, n, element)
    kernel = compiled(case)
    assert [each.kind for each in kernel.kernels] == ["rows"]
    arrays, report = run(case, kernel)
    assert not report.findings, report.findings[0]
    case.check(arrays)


@pytest.mark.parametrize(
    "schedule",
    [
        fields(32, 32, 2, "1, 64"), fields(64, 32, 1, "2, 32", "unroll = 3 : i64"),
        fields(32, 32, 2, "1, 64", "unroll = 2 : i64, cluster = 2 : i64"),
    ],
)  # fmt: skip
def test_the_running_form_however_rows_are_divided(schedule: str) -> None:
    case = pinned(running(3, 333), schedule)
    arrays, report = run(case)
    assert not report.findings, report.findings[0]
    case.check(arrays)


def test_a_part_with_nothing_but_infinities_adds_nothing() -> None:
    """Long rows are divided among kernels, of which one may meet nothing else: its sum is then 0 and not NaN."""
    case = running(3, 333)
    a = case.arrays[0]
    a[2, :] = -np.inf
    sums = case.wanted[1]
    sums[2] = 0.0
    case.wanted[0][2] = -np.inf
    for schedule in (fields(32, 32, 2, "1, 64"), fields(32, 32, 2, "1, 64", "unroll = 2 : i64, cluster = 2 : i64")):
        arrays, report = run(pinned(case, schedule))
        assert not report.findings, report.findings[0]
        case.check(arrays)


def test_another_body_is_no_running_form() -> None:
    text = running(3, 40).text
    for before, after in (("%g, %one", "%s, %one"), ("ogt, %x, %m", "ogt, %m, %x"), ("-1.0e4", "-1.0")):
        assert before in text
        try:
            kernel = compile_module(text.replace(before, after), chip="sm_90a", until="select")
        except PassError:
            continue
        assert "rows" not in [each.kind for each in kernel.kernels]


@pytest.mark.parametrize(
    ("rows", "length", "element", "both"),
    [
        (1, 1 << 21, "f32", True), (8, 1 << 19, "f32", True), (8, 1 << 19, "f16", False), (2, 500000, "f32", False),
        (1, 1 << 24, "f32", True),
    ],
)  # fmt: skip
def test_only_what_no_cluster_holds_takes_that_form(rows: int, length: int, element: str, both: bool) -> None:
    """8 x 524288 f16 are a megabyte a row, which the shared memory of 8 blocks holds. Of 64 MB, which no blocks hold
    that run at the same time, each step is a kernel of its own."""
    found = compile_module(module("softmax", rows, length, element), chip="sm_90a", until="select")
    assert [each.kind for each in found.kernels] == ["rows"] * (1 if length < 1 << 24 else 2)
    assert ("math.absf" in str(found.ir("import"))) == both
