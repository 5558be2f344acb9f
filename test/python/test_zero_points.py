"""Products of quantised bytes: multiplied on tensor cores, right for every zero point, type and form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.simulator.program import simulate_launch


@dataclass(frozen=True)
class Case:
    """A product of `m`x`k` and `k`x`n` less zero points, of `u8` where `extension` is arith.extui; each zero point is a
    constant or an argument."""

    m: int
    n: int
    k: int
    points: tuple[int, int]
    given: tuple[bool, bool] = (False, False)
    extensions: tuple[str, str] = ("extsi", "extsi")
    orders: tuple[str, str] = ("m, k", "k, n")
    open: bool = False

    def text(self) -> str:
        size = {"m": "?" if self.open else self.m, "n": self.n, "k": self.k}
        a, b = ("x".join(str(size[each]) for each in order.split(", ")) for order in self.orders)
        out = f"tensor<{size['m']}x{self.n}xi32>"
        arguments = [f"%{name}: i32" for name, given in zip(("za", "zb"), self.given, strict=True) if given]
        constants = [
            f"%{name} = arith.constant {point} : i32"
            for name, point, given in zip(("za", "zb"), self.points, self.given, strict=True) if not given
        ]  # fmt: skip
        loops, given = "(m, n, k)", "".join(f", {each}" for each in arguments)
        maps = [*self.orders, "", "", "m, n"]
        return f"""
        func.func @quantised(%a: tensor<{a}xi8>, %b: tensor<{b}xi8>{given}, %c: {out}) -> {out} {{
          {chr(10).join(constants)}
          %r = linalg.generic {{indexing_maps = [{", ".join(f"affine_map<{loops} -> ({each})>" for each in maps)}],
                               iterator_types = ["parallel", "parallel", "reduction"]}}
              ins(%a, %b, %za, %zb : tensor<{a}xi8>, tensor<{b}xi8>, i32, i32) outs(%c : {out}) {{
          ^bb0(%x: i8, %y: i8, %p: i32, %q: i32, %s: i32):
            %0 = arith.{self.extensions[0]} %x : i8 to i32
            %1 = arith.subi %0, %p : i32
            %2 = arith.{self.extensions[1]} %y : i8 to i32
            %3 = arith.subi %2, %q : i32
            %4 = arith.muli %1, %3 : i32
            %5 = arith.addi %s, %4 : i32
            linalg.yield %5 : i32
          }} -> {out}
          return %r : {out}
        }}"""


CASES = [
    Case(48, 40, 64, (-5, 0)),
    Case(48, 40, 64, (0, 17), orders=("k, m", "n, k")),
    Case(33, 20, 50, (128, 99), extensions=("extui", "extui")),
    Case(40, 48, 96, (-128, 127), given=(True, True)),
    Case(24, 32, 36, (7, 3), given=(False, True), extensions=("extui", "extsi")),
    Case(40, 32, 64, (3, -9), given=(True, False), open=True),
]


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("chip", ["sm_80", "sm_90a"])
def test_quantised(case: Case, chip: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MLIR_GEMM_CACHE", "off")
    compiled = compile_module(case.text(), chip=chip)
    assert ".s8" in compiled.ptx or ".u8" in compiled.ptx
    assert "mma" in compiled.ptx
    random = np.random.default_rng(0)
    sizes = {"m": case.m, "n": case.n, "k": case.k}
    a, b = (
        random.integers(-128, 128, [sizes[each] for each in order.split(", ")]).astype(np.int8) for order in case.orders
    )
    c = random.integers(-(2**31), 2**31, (case.m, case.n)).astype(np.int32)
    given: list[Any] = [
        np.array(point, np.int32) for point, is_given in zip(case.points, case.given, strict=True) if is_given
    ]
    out = np.full((case.m, case.n), -1, np.int32)
    report = simulate_launch(compiled.ir("lower"), compiled.launch, [a, b, *given, c, out])
    assert not report.findings
    wide = [
        (each.view(np.uint8) if extension == "extui" else each).astype(np.int64) - point
        for each, extension, point in zip((a, b), case.extensions, case.points, strict=True)
    ]
    wide = [each.T if order in ("k, m", "n, k") else each for each, order in zip(wide, case.orders, strict=True)]
    assert np.array_equal(out, (wide[0] @ wide[1] + c).astype(np.int32))


def test_an_image_is_read_by_windows():
    """Nothing but the sums is copied in front of a quantised convolution."""
    text = """
    func.func @conv(%x: tensor<2x7x8x32xi8>, %w: tensor<3x3x32x24xi8>, %o: tensor<2x5x6x24xi32>)
        -> tensor<2x5x6x24xi32> {
      %zx = arith.constant -3 : i32
      %zw = arith.constant 5 : i32
      %0 = linalg.conv_2d_nhwc_hwcf_q ins(%x, %w, %zx, %zw : tensor<2x7x8x32xi8>, tensor<3x3x32x24xi8>, i32, i32)
          outs(%o : tensor<2x5x6x24xi32>) -> tensor<2x5x6x24xi32>
      return %0 : tensor<2x5x6x24xi32>
    }"""
    compiled = compile_module(text, chip="sm_80")
    assert "tile.windows" in compiled.ir("import")
    random = np.random.default_rng(1)
    x, w = (random.integers(-128, 128, shape).astype(np.int8) for shape in ((2, 7, 8, 32), (3, 3, 32, 24)))
    o = random.integers(-1000, 1000, (2, 5, 6, 24)).astype(np.int32)
    out = np.full((2, 5, 6, 24), -1, np.int32)
    assert not simulate_launch(compiled.ir("lower"), compiled.launch, [x, w, o, out]).findings
    image, weights = x.astype(np.int64) + 3, w.astype(np.int64) - 5
    wanted = sum(
        np.einsum("nhwc,cf->nhwf", image[:, i : i + 5, j : j + 6], weights[i, j]) for i in range(3) for j in range(3)
    )
    assert np.array_equal(out, (wanted + o).astype(np.int32))


DEQUANTISED = """
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @linear(%x: tensor<{m}x48x{x}>, %w: tensor<40x48xi8>, %ws: tensor<40xf32>, %xs: f32) -> tensor<{m}x40xf32> {{
  %z = arith.constant 0.0 : f32
  %xz = arith.constant 7 : i32
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<{m}x48x{x}>
  %e0 = tensor.empty({rows}) : tensor<{m}x48xf32>
  %xf = linalg.generic {{indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}}
      ins(%x : tensor<{m}x48x{x}>) outs(%e0 : tensor<{m}x48xf32>) {{
  ^bb0(%a: {x}, %o: f32):
    %1 = arith.{extend} %a : {x} to i32
    %2 = arith.subi %1, %xz : i32
    %3 = arith.sitofp %2 : i32 to f32
    %4 = arith.mulf %3, %xs : f32
    linalg.yield %4 : f32
  }} -> tensor<{m}x48xf32>
  %e1 = tensor.empty() : tensor<40x48xf32>
  %wf = linalg.generic {{indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}}
      ins(%w, %ws : tensor<40x48xi8>, tensor<40xf32>) outs(%e1 : tensor<40x48xf32>) {{
  ^bb0(%a: i8, %s: f32, %o: f32):
    %3 = arith.sitofp %a : i8 to f32
    %4 = arith.mulf %3, %s : f32
    linalg.yield %4 : f32
  }} -> tensor<40x48xf32>
  %e2 = tensor.empty() : tensor<48x40xf32>
  %t = linalg.transpose ins(%wf : tensor<40x48xf32>) outs(%e2 : tensor<48x40xf32>) permutation = [1, 0]
  %e = tensor.empty({rows}) : tensor<{m}x40xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<{m}x40xf32>) -> tensor<{m}x40xf32>
  %r = linalg.matmul ins(%xf, %t : tensor<{m}x48xf32>, tensor<48x40xf32>) outs(%f : tensor<{m}x40xf32>)
      -> tensor<{m}x40xf32>
  return %r : tensor<{m}x40xf32>
}}"""


@pytest.mark.parametrize(("m", "extend"), [(33, "extsi"), (33, "extui"), ("?", "extsi")])
def test_dequantised(m: int | str, extend: str, monkeypatch: pytest.MonkeyPatch):
    """A quantised linear layer as frameworks write it, in floating point, multiplies bytes."""
    monkeypatch.setenv("MLIR_GEMM_CACHE", "off")
    compiled = compile_module(
        DEQUANTISED.format(m=m, x="i8", extend=extend, rows="%rows" if m == "?" else ""), chip="sm_80"
    )
    assert "mma.sync.aligned.m16n8k32.row.col.s32" in compiled.ptx
    random = np.random.default_rng(2)
    x, w = (random.integers(-128, 128, shape).astype(np.int8) for shape in ((33, 48), (40, 48)))
    scales, scale = random.uniform(0.5, 2, 40).astype(np.float32), np.array(0.25, np.float32)
    out = np.full((33, 40), np.nan, np.float32)
    assert not simulate_launch(compiled.ir("lower"), compiled.launch, [x, w, scales, scale, out]).findings
    wide = (x.view(np.uint8) if extend == "extui" else x).astype(np.int64) - 7
    wanted = (wide @ w.astype(np.int64).T) * 0.25 * scales.astype(np.float64)
    assert np.allclose(out, wanted, rtol=2.0**-22, atol=0)
