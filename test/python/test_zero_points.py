"""Products of quantised bytes: multiplied on tensor cores, right for every zero point, type and form."""

from __future__ import annotations

import numpy as np
import pytest
from quantised import DEQUANTISED, Quantised

from mlir_gemm.pipeline import assembler
from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.simulator.program import simulate_launch

CASES = [
    Quantised(48, 40, 64, (-5, 0)),
    Quantised(48, 40, 64, (0, 17), orders=("k, m", "n, k")),
    Quantised(33, 20, 50, (128, 99), extensions=("extui", "extui")),
    Quantised(40, 48, 96, (-128, 127), given=(True, True)),
    Quantised(24, 32, 36, (7, 3), given=(False, True), extensions=("extui", "extsi")),
    Quantised(40, 32, 64, (3, -9), given=(True, False), open=True),
]


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("chip", ["sm_80", "sm_90a"])
def test_quantised(case: Quantised, chip: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MLIR_GEMM_CACHE", "off")
    compiled = compile_module(case.text(), chip=chip)
    assert ".s8" in compiled.ptx or ".u8" in compiled.ptx
    assert "mma" in compiled.ptx
    a, b, given, c = case.arrays(np.random.default_rng(0))
    out = np.full(c.shape, -1, np.int32)
    report = simulate_launch(compiled.ir("lower"), compiled.launch, [a, b, *given, c, out])
    assert not report.findings
    assert np.array_equal(out, case.expected(a, b, c))


@pytest.mark.parametrize("extensions", [("extui", "extsi"), ("extsi", "extui")], ids="-".join)
def test_bytes_with_and_without_sign_assemble(extensions: tuple[str, str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MLIR_GEMM_CACHE", "off")
    text = Quantised(256, 256, 256, (7, 3), extensions=extensions).text()
    compiled = compile_module(text, chip="sm_90a", schedule={"mma": "wgmma"})
    assert "wgmma" in compiled.ptx
    used = assembler.usages(compiled.ptx, "sm_90a")
    assert used is not None, "no ptxas that knows sm_90a: the test extra's packages are not installed"
    assert not any(each.spill_bytes for each in used.values())


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


@pytest.mark.parametrize(("m", "extend"), [(33, "extsi"), (33, "extui"), ("?", "extsi")])
def test_dequantised(m: int | str, extend: str, monkeypatch: pytest.MonkeyPatch):
    """A quantised linear layer as frameworks write it, in floating point, multiplies bytes."""
    monkeypatch.setenv("MLIR_GEMM_CACHE", "off")
    compiled = compile_module(
        DEQUANTISED.format(m=m, n=40, k=48, x="i8", extend=extend, rows="%rows" if m == "?" else ""), chip="sm_80"
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
