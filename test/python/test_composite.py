"""Products of elements with several components, by structure constants, beside NumPy."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mlir_gemm
from mlir_gemm import ScheduleError
from mlir_gemm.spec import bilinear_plans as plans
from mlir_gemm.spec.bilinear import BUILT_IN, Bilinear, Steps, exchanged, known
from mlir_gemm.spec.bilinear_plans import Side, Work
from mlir_gemm.spec.kernel_record import products_of
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.tile_model.chips import target as target_of
from mlir_gemm.tile_model.decisions import decide
from mlir_gemm.tile_model.select import select
from mlir_gemm.tracing import composite
from mlir_gemm.tracing import einsum as traced
from mlir_gemm.tracing.contraction import Contraction, Operand

SIZES = {"m": 19, "n": 13, "k": 11, "b": 2}
ON = {"device": "simulator", "chip": "sm_90a"}
C3 = Bilinear(
    "cyclic group of 3", [[[float((i + j) % 3 == to) for to in range(3)] for j in range(3)] for i in range(3)]
)
EISENSTEIN = Bilinear("eisenstein", [[[1, 0], [0, 1]], [[0, 1], [-1, -1]]])


def numbers(rng: Any, letters: str, count: int, dtype: str) -> Any:
    return rng.integers(-3, 4, (*(SIZES[letter] for letter in letters), count)).astype(dtype)


def by_constants(equation: str, a: Any, b: Any, algebra: Bilinear) -> Any:
    sides, result = equation.split("->")
    left, right = sides.split(",")
    wide = a.astype(float), b.astype(float), np.array(algebra.table, float)
    return np.einsum(f"{left}X,{right}Y,XYZ->{result}Z", *wide)


@pytest.mark.parametrize(
    ("algebra", "equation", "dtype"),
    [
        ("dual", "mk,kn->mn", "float16"), ("split-complex", "km,nk->nm", "float32"),
        ("complex", "bmk,bkn->bmn", "int8"),
        ("quaternion", "mk,nk->mn", "float64"), (EISENSTEIN, "km,kn->mn", "float16"), (C3, "mk,kn->nm", "float32"),
    ],
)  # fmt: skip
def test_is_what_the_constants_say(algebra: str | Bilinear, equation: str, dtype: str) -> None:
    rng = np.random.default_rng(11)
    whole = known()[algebra] if isinstance(algebra, str) else algebra
    a, b = (numbers(rng, letters, whole.components, dtype) for letters in equation.partition("->")[0].split(","))
    found = mlir_gemm.einsum(equation, a, b, algebra=algebra, **ON)
    np.testing.assert_array_equal(found, by_constants(equation, a, b, whole).astype(found.dtype))


OPEN = """
#a = affine_map<(m, n, k, p) -> (m, k, p)>
#b = affine_map<(m, n, k, p) -> (n, k, p)>
#d = affine_map<(m, n, k, p) -> (m, n, p)>
func.func @f(%A: tensor<?x?x2xf32>, %B: tensor<?x?x2xf32>) -> tensor<?x?x2xf32> {
  %0 = arith.constant 0 : index
  %m = tensor.dim %A, %0 : tensor<?x?x2xf32>
  %n = tensor.dim %B, %0 : tensor<?x?x2xf32>
  %z = arith.constant 0.0 : f32
  %e = tensor.empty(%m, %n) : tensor<?x?x2xf32>
  %i = linalg.fill ins(%z : f32) outs(%e : tensor<?x?x2xf32>) -> tensor<?x?x2xf32>
  %p = linalg.generic {indexing_maps = [#a, #b, #d], tile.algebra = "ALGEBRA",
                       iterator_types = ["parallel", "parallel", "reduction", "parallel"]}
      ins(%A, %B : tensor<?x?x2xf32>, tensor<?x?x2xf32>) outs(%i : tensor<?x?x2xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %t = arith.mulf %x, %y : f32
    %u = arith.addf %s, %t : f32
    linalg.yield %u : f32
  } -> tensor<?x?x2xf32>
  return %p : tensor<?x?x2xf32>
}"""


@pytest.mark.parametrize(("algebra", "kernels"), [("complex", 1), ("dual", 6)])
def test_all_sizes_may_be_known_at_run_time_only(algebra: str, kernels: int) -> None:
    """By one kernel that reads components as they lie, and by several with kernels in front."""
    kernel = mlir_gemm.compile(OPEN.replace("ALGEBRA", algebra), **ON)
    assert len(kernel.kernels) <= kernels
    rng = np.random.default_rng(19)
    for m, n, k in ((1, 1, 1), (19, 40, 7)):
        a, b = (rng.integers(-3, 4, (*shape, 2)).astype("float32") for shape in ((m, k), (n, k)))
        wanted = np.einsum("mkX,nkY,XYZ->mnZ", a, b, np.array(known()[algebra].table, float))
        np.testing.assert_array_equal(kernel(a, b), wanted)


NILPOTENT = Bilinear(
    "sums of x^2, x, 1", [[[float(i + j == to) for to in range(3)] for j in range(3)] for i in range(3)]
)


@pytest.mark.parametrize(
    ("algebra", "equation", "dtype"),
    [("dual", "bmk,bkn->bmn", "float16"), ("dual", "mk,kn->mn", "float32"), (NILPOTENT, "km,nk->mn", "float64")],
)
def test_groups_read_parts_of_what_the_largest_one_reads(
    algebra: str | Bilinear, equation: str, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where multiplications cost more than bytes: dual numbers have three of them, not four."""
    monkeypatch.setattr(plans, "FLOPS_PER_BYTE", {})
    monkeypatch.setattr(plans, "ELSE", 1e-6)
    rng = np.random.default_rng(17)
    whole = known()[algebra] if isinstance(algebra, str) else algebra
    a, b = (numbers(rng, letters, whole.components, dtype) for letters in equation.partition("->")[0].split(","))
    found = mlir_gemm.einsum(equation, a, b, algebra=algebra, **ON)
    np.testing.assert_array_equal(found, by_constants(equation, a, b, whole).astype(found.dtype))


@pytest.mark.parametrize("algebra", [BUILT_IN[1], EISENSTEIN, Bilinear("odd", [[[0, 2], [0, 0]], [[0, 0], [-1, 0.5]]])])
def test_components_may_have_arrays_of_their_own(algebra: Bilinear) -> None:
    rng = np.random.default_rng(12)
    a, b = (numbers(rng, letters, 2, "float32") for letters in ("mk", "nk"))
    planes = [tuple(np.ascontiguousarray(each[..., n]) for n in range(2)) for each in (a, b)]
    found = mlir_gemm.einsum("mk,nk->mn", *planes, algebra=algebra, **ON)
    assert isinstance(found, tuple)
    np.testing.assert_array_equal(np.stack(found, -1), by_constants("mk,nk->mn", a, b, algebra))


def test_large_dual_numbers_in_planes_are_three_products() -> None:
    """Where that is expected to be faster than one that reads and writes every plane once."""
    sides = [Operand("A", "mk", (4096, 4096), "f16"), Operand("B", "kn", (4096, 4096), "f16")]
    text = composite.planes_module(known()["dual"], sides, "mn", "", "", {"m": 4096, "n": 4096})
    kernels = mlir_gemm.compile(text, chip="h200", device="simulator").kernels
    problems = products_of(kernels).values()
    assert sorted((p.m, p.n, p.k, p.a, p.out, p.epilogue_matrices) for p in problems) == [
        (4096, 4096, 4096, "f16", "f16", 0), (4096, 4096, 4096, "f16", "f16", 1), (4096, 4096, 4096, "f16", "f32", 0),
    ]  # fmt: skip


def test_what_follows_sees_one_component() -> None:
    rng = np.random.default_rng(13)
    a, b = (numbers(rng, letters, 2, "float32") for letters in ("mk", "kn"))
    bias, init, scale = rng.random((13, 2), np.float32), rng.random((19, 13, 2), np.float32), np.float32([2.0] * 13)
    found = mlir_gemm.einsum(
        "mk,kn->mn", a, b, algebra="dual", epilogue=lambda d, bias, scale: (d + bias) * scale, bias=("n", bias),
        scale=("n", scale), init=init, **ON,
    )  # fmt: skip
    wanted = (by_constants("mk,kn->mn", a, b, BUILT_IN[1]) + init + bias) * 2
    np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-5)


def test_ways_of_all_shapes() -> None:
    """Each way computes the table: what is laid out, multiplied and added up, as numbers."""
    work = Work(Side(64 * 4096, True), Side(4096 * 4096, False), 64 * 4096 * 4096, 64 * 4096, "b", "f32", 4, 4)
    complex_, dual = BUILT_IN[0].table, BUILT_IN[1].table
    assert plans.chosen(work, complex_, None)[0].kind == plans.OUTER  # few rows: all of B stays where it is
    large = Work(Side(1 << 24, True), Side(1 << 24, False), 1 << 36, 1 << 24, "b", "f64", 8, 8)
    steps = BUILT_IN[0].steps
    assert plans.chosen(large, complex_, None)[0].kind == plans.LAID
    assert plans.chosen(large, complex_, steps)[0].kind == plans.STEPS
    for asked, rate, kind, said in (
        (True, 15, plans.STEPS, "3 products of sums of components, not 4"),
        (True, 1500, plans.LAID, "4 products of components, though fewer are allowed"),
        (False, 15, plans.STEPS, 'their bound 2 times that of the others (algorithm = "schoolbook"'),
        (False, 60, plans.LAID, "though fewer are allowed"),
    ):
        way, why = plans.chosen(large, complex_, steps, asked, {"f64": rate})
        assert (way.kind, said in why) == (kind, True)
    assert plans.chosen(large, dual, None)[0].kind == plans.GROUPS
    narrow = Work(Side(1 << 24, True), Side(1 << 24, False), 1 << 36, 1 << 24, "b", "f16", 2, 4)
    assert {way.kind for way in plans.ways(narrow, EISENSTEIN.table, None)} == {plans.OUTER}  # sums would be rounded
    assert exchanged(exchanged(C3.table)) == C3.table


def test_constants_and_algorithms_are_checked() -> None:
    for algebra in BUILT_IN:
        algebra.check()
    with pytest.raises(mlir_gemm.Error, match="no table of 2 x 2 x 2 numbers"):
        mlir_gemm.register(Bilinear("thin", [[[1, 0]], [[0, 1]]]))
    steps = BUILT_IN[0].steps
    assert steps is not None
    with pytest.raises(mlir_gemm.Error, match="an algorithm that computes other products than its constants say"):
        mlir_gemm.register(Bilinear("wrong", BUILT_IN[1].table, (steps.left, steps.right, steps.result)))
    assert Steps(steps.left, steps.right, steps.result).table() == BUILT_IN[0].table


def test_a_registered_algebra_has_a_name() -> None:
    mlir_gemm.register(EISENSTEIN)
    try:
        assert known()["eisenstein"].components == 2
        with pytest.raises(mlir_gemm.Error, match="'eisenstein' is registered already"):
            mlir_gemm.register(EISENSTEIN)
    finally:
        mlir_gemm.unregister("eisenstein")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"algebra": "duel"}, "'duel' is not an algebra; did you mean 'dual'"),
        ({"algebra": "dual", "algorithm": "fewest"}, "the algebra 'dual': there is no algorithm with fewer"),
        ({"algebra": "complex", "algorithm": "gauss"}, "algorithm='gauss'; expected one of 'auto', 'schoolbook'"),
        ({"algebra": "quaternion"}, "'tile.algebra' of 4 components with operand 0 of 2"),
        ({"algebra": "dual", "plus": np.minimum}, "with plus, times or one operand"),
    ],
)
def test_refusals(options: dict[str, Any], message: str) -> None:
    a, b = np.ones((4, 4, 2), np.float32), np.ones((4, 4, 2), np.float32)
    with pytest.raises(mlir_gemm.InputError, match=message):
        mlir_gemm.einsum("mk,kn->mn", a, b, **options, **ON)


def test_refusals_of_planes_and_orders() -> None:
    a = np.ones((2, 4, 4), np.float32)
    with pytest.raises(mlir_gemm.InputError, match="the components of A do not lie side by side"):
        mlir_gemm.einsum("mk,kn->mn", a.transpose(1, 2, 0), np.ones((4, 4, 2), np.float32), algebra="dual", **ON)
    with pytest.raises(mlir_gemm.InputError, match="operands as tuples: expected algebra= and for each a tuple"):
        mlir_gemm.einsum("mk,kn->mn", (a[0], a[1]), (a[0], a[1]), **ON)
    with pytest.raises(mlir_gemm.InputError, match="expected no functions, other arrays, init or algorithm"):
        mlir_gemm.einsum("mk,kn->mn", (a[0], a[1]), (a[0], a[1]), algebra="dual", epilogue=lambda d: d, **ON)


@pytest.mark.parametrize(
    "epilogue", ["(d + v) * (1 + 2j)", "v - d", "np.conj(d) * 2j - v * v", "d - d * 1j", "d / (v + 5j)", "abs(d - v)"]
)
def test_what_follows_a_complex_product(epilogue: str) -> None:
    rng = np.random.default_rng(15)
    a, b, v = (numbers(rng, letters, 2, "float32").view(np.complex64)[..., 0] for letters in ("mk", "kn", "n"))
    function = eval(f"lambda d, v: {epilogue}", {"np": np})
    found = mlir_gemm.einsum("mk,kn->mn", a, b, epilogue=function, v=("n", v), **ON)
    np.testing.assert_allclose(found, function(a @ b, v), rtol=1e-6, atol=1e-5)


def test_magnitudes_and_quotients_at_the_ends() -> None:
    """Neither overflows in between; NumPy's magnitude of infinite numbers."""
    text = """
func.func @f(%x: tensor<6xcomplex<f32>>, %y: tensor<6xcomplex<f32>>) -> (tensor<6xf32>, tensor<6xcomplex<f32>>) {
  %e = tensor.empty() : tensor<6xf32>
  %f = tensor.empty() : tensor<6xcomplex<f32>>
  %a = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<6xcomplex<f32>>) outs(%e : tensor<6xf32>) {
    ^bb0(%p: complex<f32>, %o: f32):
      %r = complex.abs %p : complex<f32>
      linalg.yield %r : f32
  } -> tensor<6xf32>
  %q = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                       iterator_types = ["parallel"]}
      ins(%x, %y : tensor<6xcomplex<f32>>, tensor<6xcomplex<f32>>) outs(%f : tensor<6xcomplex<f32>>) {
    ^bb0(%p: complex<f32>, %s: complex<f32>, %o: complex<f32>):
      %r = complex.div %p, %s : complex<f32>
      linalg.yield %r : complex<f32>
  } -> tensor<6xcomplex<f32>>
  return %a, %q : tensor<6xf32>, tensor<6xcomplex<f32>>
}
"""
    inf, nan = float("inf"), float("nan")
    parts = np.array([[0, 0], [1e30, 1e30], [1e-30, 1e-30], [inf, nan], [nan, 1], [-3, 4]], np.float32)
    below = np.array([[1, 0], [1e30, 1e30], [1e-30, 0], [1, 1], [1, 1], [0, -2]], np.float32)
    x, y = (each.view(np.complex64)[:, 0] for each in (parts, below))
    size, quotient = mlir_gemm.compile(text, **ON)(x, y)
    np.testing.assert_allclose(size, np.abs(x), rtol=1e-6)
    np.testing.assert_allclose(quotient[[0, 1, 2, 5]], (x.astype(complex) / y)[[0, 1, 2, 5]], rtol=1e-6)


def test_the_example_of_an_algebra_of_ones_own() -> None:
    path = Path(__file__).resolve().parents[2] / "examples" / "algebra.py"
    spec = importlib.util.spec_from_file_location("algebra_example", path)
    assert spec is not None
    assert spec.loader is not None
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    mlir_gemm.register(example.EISENSTEIN)
    try:
        signals = np.random.default_rng(16).integers(-20, 21, (6, 30, 2))
        spectra = example.transform(signals, **ON)
        root = np.exp(2j * np.pi / 3)
        numbers_of = signals[..., 0] + signals[..., 1] * root
        wanted = np.exp(2j * np.pi / 6) ** np.outer(np.arange(6), np.arange(6)) @ numbers_of
        np.testing.assert_allclose(spectra[..., 0] + spectra[..., 1] * root, wanted, atol=1e-9)
        np.testing.assert_array_equal(example.transform(spectra, back=True, algorithm="fewest", **ON), 6 * signals)
    finally:
        mlir_gemm.unregister("eisenstein")


ONE_KERNEL = (
    ("complex", "mk,kn->mn", "float16", "sm_80", None), ("complex", "km,nk->mn", "float16", "sm_75", None),
    ("complex", "mk,nk->mn", "float32", "sm_86", "precision=tf32,mma=mma_sync"),
    ("quaternion", "mk,kn->mn", "float32", "sm_80", "precision=tf32,mma=mma_sync,mainloop=register_prefetch"),
    ("dual", "mk,kn->mn", "float32", "sm_90a", "mma=simt,layout=mn_major"),
    ("dual", "mk,nk->mn", "float64", "sm_80", None), ("split-complex", "mk,kn->mn", "float64", "sm_70", None),
    ("quaternion", "mk,nk->mn", "float32", "sm_80", "mma=simt,mainloop=direct"),
    (EISENSTEIN, "mk,kn->mn", "float32", "sm_70", None), ("complex", "bmk,bkn->bmn", "float16", "sm_80", None),
    ("dual", "bmk,kbn->bmn", "float64", "sm_90a", None), ("quaternion", "bmk,bnk->bmn", "float32", "sm_80", "mma=simt"),
)  # fmt: skip


@pytest.mark.parametrize(("algebra", "equation", "dtype", "chip", "schedule"), ONE_KERNEL)
def test_one_kernel_reads_every_component_once(
    algebra: str | Bilinear, equation: str, dtype: str, chip: str, schedule: str | None
) -> None:
    """Ragged sizes, whole numbers, exact; and the kernel takes the elements as they are."""
    rng = np.random.default_rng(17)
    whole = known()[algebra] if isinstance(algebra, str) else algebra
    a, b = (numbers(rng, letters, whole.components, dtype) for letters in equation.partition("->")[0].split(","))
    before = set(traced._CALLS)
    found = mlir_gemm.einsum(
        equation, a, b, algebra=algebra, epilogue=lambda d: d + 1, device="simulator", chip=chip, schedule=schedule
    )
    np.testing.assert_array_equal(found, (by_constants(equation, a, b, whole) + 1).astype(found.dtype))
    (key,) = set(traced._CALLS) - before
    products = [each.problem for each in traced._CALLS[key].kernel.kernels if each.problem is not None]
    assert [each.composite for each in products] == [whole.components]
    assert equation[0] == "k" or len(traced._CALLS[key].kernel.kernels) == 1


def test_rows_of_an_open_number_by_one_kernel() -> None:
    operands = [Operand("A", "mkp", (77, 22, 2), "f64"), Operand("B", "knp", (22, 26, 2), "f64")]
    text = Contraction(tuple(operands), "mnp", algebra='"complex"', component="p").module()
    rows = "{\n  %at = arith.constant 0 : index\n  %m = tensor.dim %A, %at : tensor<?x22x2xf64>\n"
    text = text.replace("tensor<77x", "tensor<?x").replace("tensor.empty()", "tensor.empty(%m)")
    text = text.replace("{\n", rows, 1)
    kernel = mlir_gemm.compile(text, chip="sm_90a", device="simulator")
    rng = np.random.default_rng(20)
    b = rng.integers(-3, 4, (22, 26, 2)).astype(float)
    for count in (1, 19):
        a = rng.integers(-3, 4, (count, 22, 2)).astype(float)
        np.testing.assert_array_equal(kernel(a, b), by_constants("mk,kn->mn", a, b, known()["complex"]))
    assert [each.problem.composite for each in kernel.kernels if each.problem is not None] == [2]


IN_PLANES = (
    ("complex", "mk,kn->mn", "float16", "sm_80", None), ("complex", "bmk,bnk->bmn", "float16", "sm_90a", None),
    ("complex", "mk,nk->mn", "float32", "sm_80", "precision=tf32"), ("dual", "bmk,kbn->bmn", "float64", "sm_90a", None),
    ("quaternion", "mk,kn->mn", "float32", "sm_75", None), ("split-complex", "mk,nk->nm", "float32", "sm_90a", None),
)  # fmt: skip


@pytest.mark.parametrize(("algebra", "equation", "dtype", "chip", "schedule"), IN_PLANES)
def test_one_kernel_reads_and_writes_every_plane_once(
    algebra: str, equation: str, dtype: str, chip: str, schedule: str | None
) -> None:
    rng = np.random.default_rng(19)
    whole = known()[algebra]
    a, b = (numbers(rng, letters, whole.components, dtype) for letters in equation.partition("->")[0].split(","))
    planes = [tuple(np.ascontiguousarray(each[..., n]) for n in range(whole.components)) for each in (a, b)]
    before = set(traced._CALLS)
    found = mlir_gemm.einsum(equation, *planes, algebra=algebra, device="simulator", chip=chip, schedule=schedule)
    np.testing.assert_array_equal(np.stack(found, -1), by_constants(equation, a, b, whole).astype(dtype))
    (key,) = set(traced._CALLS) - before
    (kernel,) = traced._CALLS[key].kernel.kernels
    assert kernel.problem is not None
    assert (kernel.problem.composite, kernel.problem.planes) == (whole.components, "abd")


def test_the_model_says_why_elements_are_read_as_they_lie() -> None:
    problem = Problem(4096, 8192, 8192, out="f16", reads_c=False, laid_out="2 kn")
    on_a100, on_h200 = (decide(problem, target_of(chip)) for chip in ("sm_80", "h200"))
    assert "read as they lie" in "".join(on_a100.rewrites["components"].why())
    assert (on_a100.choice.schedule.mma, on_h200.choice.schedule.mma) == ("mma_sync", "wgmma")
    assert "components" not in on_h200.rewrites


def test_what_is_not_for_elements_with_components() -> None:
    problem = Problem(64, 64, 64, reads_c=False, composite=2)
    wrong = {"mma=wgmma": "expected mma=mma_sync or simt", "split_k_workspace=2": "expected 1",
             "mma=mma_sync,promote_a=off": "expected on", "block=64x64x31": "that 2 divides"}  # fmt: skip
    for field, said in wrong.items():
        with pytest.raises(ScheduleError, match=said):
            select(problem, target_of("h200"), Schedule.parse(field))
