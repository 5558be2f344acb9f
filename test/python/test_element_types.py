"""An element type is one row, and can be registered from outside: the 8-bit floats of MLIR that the package lacks."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from assembled import usage
from math_formulas import evaluate, unary
from test_layers import modules

import mlir_gemm
from mlir_gemm.dialect import plain_values
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.runtime import arrays, dlpack
from mlir_gemm.simulator.elements import ELEMENTS
from mlir_gemm.simulator.expected import TOLERANCE
from mlir_gemm.simulator.tile_numbers import DTYPES
from mlir_gemm.spec import element_types, extensions, tensor_map
from mlir_gemm.spec.eight_bit_floats import MLIR_NAMES
from mlir_gemm.spec.element_types import FORMATS, ROWS, TYPES, numpy_dtype
from mlir_gemm.tools.main import main

CODES = {"f8E3M4": 7, "f8E4M3": 8, "f8E4M3B11FNUZ": 9, "f8E5M2FNUZ": 13}
"""Of DLPack (dlpack.h, DLDataTypeCode)."""
IN_PACKAGE = ("f8E4M3FNUZ",)
"""Of the same kind, with a row in the package."""
ERRORS = {"f8E3M4": 1.6e-2, "f8E5M2FNUZ": 6.3e-2}
TABLES: dict[str, Any] = {
    "bytes in memory": element_types.ELEMENT_BYTES, "bytes of arrays": element_types.ITEM_BYTES,
    "rows": TYPES, "names": element_types.NAMES, "formats": FORMATS, "DLPack": dlpack.CODES,
    "tensor maps": tensor_map.DATA_TYPES, "bytes of tensor maps": tensor_map.ITEM_BYTES,
    "tolerances": TOLERANCE, "simulator": ELEMENTS, "simulator above lower": DTYPES,
}  # fmt: skip
ABOUT_OPERATIONS = (
    "bench.cublaslt", "bench.problems", "lowering.mma_sync", "lowering.wgmma", "parts.mma.mma_sync",
    "parts.mma.wgmma.part", "simulator.ops_mma", "simulator.ops_nvgpu", "simulator.wgmma", "tile_model.long_sums",
)  # fmt: skip
"""Modules that say what an instruction, or a library, multiplies."""


def row(name: str) -> mlir_gemm.ElementType:
    common = f"float8_{name[2:].lower()}"
    return mlir_gemm.ElementType(name, common, "float", 1, CODES[name], "UINT8", error=ERRORS.get(name, 3.2e-2))


@pytest.fixture(params=[*CODES, *IN_PACKAGE])
def added(request: pytest.FixtureRequest) -> Iterator[str]:
    """The name of a type that is registered meanwhile, or that the package has."""
    if request.param in IN_PACKAGE:
        yield request.param
        return
    mlir_gemm.register(row(request.param))
    yield request.param
    mlir_gemm.unregister(request.param)


def product(a: str, b: str, out: str, m: int = 32, n: int = 48, k: int = 64) -> str:
    return f"""func.func @f(%a: tensor<{m}x{k}x{a}>, %b: tensor<{k}x{n}x{b}>) -> tensor<{m}x{n}x{out}> {{
      %zero = arith.constant 0.0 : {out}
      %empty = tensor.empty() : tensor<{m}x{n}x{out}>
      %start = linalg.fill ins(%zero : {out}) outs(%empty : tensor<{m}x{n}x{out}>) -> tensor<{m}x{n}x{out}>
      %sum = linalg.matmul ins(%a, %b : tensor<{m}x{k}x{a}>, tensor<{k}x{n}x{b}>)
        outs(%start : tensor<{m}x{n}x{out}>) -> tensor<{m}x{n}x{out}>
      return %sum : tensor<{m}x{n}x{out}>
    }}"""


def test_no_other_table_lists_the_types():
    """A name of an 8-bit float in the code outside its row is about an operation: of all other tables a row is made."""
    found = {
        name
        for name, path in modules().items()
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and node.value in MLIR_NAMES
    }
    assert found - set(ABOUT_OPERATIONS) == {"spec.element_types", "spec.eight_bit_floats"}


@pytest.mark.parametrize("name", CODES)
def test_a_row_is_in_every_table_while_it_is_registered(name: str):
    before = {what: list(table) for what, table in TABLES.items()}
    mlir_gemm.register(row(name))
    assert [what for what, table in TABLES.items() if set(table) != {*before[what], name}] == []
    view = arrays.view(np.zeros((2, 3), numpy_dtype(name)), "numpy", None, 0)
    assert (view.dtype, view.strides) == (name, (3, 1))
    mlir_gemm.unregister(name)
    assert {what: list(table) for what, table in TABLES.items()} == before
    assert name not in TYPES


def test_the_names_are_those_of_the_bindings():
    """f8E8M0FNU alone is no format of numbers: it has no sign, and no zero."""
    classes = [name for name in dir(ir) if name.startswith("Float8") and name.endswith("Type")]
    assert {f"f{name.removeprefix('Float').removesuffix('Type')}" for name in classes} == {*MLIR_NAMES, "f8E8M0FNU"}
    assert {each.name for each in ROWS if each.format is not None} | set(CODES) == set(MLIR_NAMES)
    assert set(MLIR_NAMES) < set(plain_values.TYPES)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": "f16"}, "'f16': mlir-gemm has it already"),
        (
            {"name": "f8E2M5"},
            "'f8E2M5': MLIR has no such 8-bit float of numbers; expected one of f8E3M4, f8E4M3, f8E4M3B11FNUZ, ",
        ),
        ({"name": "f8E8M0FNU"}, "MLIR has no such 8-bit float of numbers"),
        ({"name": "i4", "kind": "integer"}, "'i4': MLIR has no such 8-bit float"),
        ({"bytes": 2}, "float of 2 bytes, moved as UINT8; expected a float of 1, moved as UINT8"),
        ({"common_name": "float8_e4m3"}, "'float8_e4m3'; NumPy knows it as ml_dtypes.float8_e3m4"),
        ({"type_string": "|f1"}, "'|f1'; NumPy has no way to write it"),
        ({"dlpack": 10}, "DLPack's code 10 is that of f8E4M3FN"),
        ({"dlpack": 256}, "DLPack's code 256 is that of no type"),
        ({"error": 0.0}, "an error of 0.0; expected 0.015625 to 0.0625: its mantissa has 4 bits"),
    ],
)
def test_what_is_no_row_is_refused(changes: dict[str, Any], message: str):
    with pytest.raises(mlir_gemm.Error) as caught:
        mlir_gemm.register(dataclasses.replace(row("f8E3M4"), **changes))
    assert message in str(caught.value)
    assert extensions.of(mlir_gemm.ElementType) == ()


def test_without_a_row_a_type_is_refused():
    with pytest.raises(mlir_gemm.InputError, match="element type f8E3M4; expected one of f16, bf16"):
        compile_module(product("f8E3M4", "f8E3M4", "f32"), chip="sm_80", until="select")


def same_bits(got: Any, want: Any) -> None:
    """The same numbers with the same signs, infinities and NaN."""
    want = np.asarray(want)
    nan = np.isnan(want)
    assert np.array_equal(np.isnan(got), nan)
    bits = f"u{want.itemsize}"
    assert np.array_equal(got.view(bits)[~nan], want.view(bits)[~nan])


@pytest.mark.parametrize("wide", ["f16", "f32", "f64"])
def test_every_value_is_extended(added: str, wide: str):
    bits = np.arange(256, dtype=np.uint8)
    got = evaluate(unary("arith.extf", added, wide), bits.view(np.int8))
    same_bits(got, bits.view(numpy_dtype(added)).astype(got.dtype))


@pytest.mark.parametrize("wide", ["f16", "f32"])
def test_every_value_is_rounded_to(added: str, wide: str):
    """All values themselves, those half-way between neighbours and their neighbours, and beyond the largest."""
    dtype, source = numpy_dtype(added), numpy_dtype(wide)
    every = np.arange(256, dtype=np.uint8).view(dtype).astype(np.float64)
    positive = np.unique(np.abs(every[np.isfinite(every)]))
    steps = np.append(positive, 2 * positive[-1] - positive[-2])
    between = ((steps[1:] + steps[:-1]) / 2).astype(source)
    around = [np.nextafter(between, source.type(end)) for end in (0, np.inf)]
    anything = np.exp2(np.random.default_rng(0).uniform(-30, 15, 20000)).astype(source)
    x = np.concatenate([steps.astype(source), between, *around, anything, [np.inf, np.nan]]).astype(source)
    x = np.concatenate([x, -x])
    with np.errstate(over="ignore", invalid="ignore"):
        got = evaluate(unary("arith.truncf", wide, added), x)
        same_bits(got.view(dtype), x.astype(dtype))


def test_integers(added: str):
    """By way of f32, as those of the package."""
    x = np.arange(-20, 21, dtype=np.int32)
    got = evaluate(unary("arith.sitofp", "i32", added), x).view(numpy_dtype(added))
    same_bits(got, x.astype(np.float32).astype(numpy_dtype(added)))


@pytest.mark.parametrize("out", ["f32", "f16", "bf16", "itself"])
def test_a_product_on_the_simulator(added: str, out: str):
    out, dtype = added if out == "itself" else out, numpy_dtype(added)
    kernel = mlir_gemm.compile(product(added, added, out), chip="sm_80", device="simulator")
    rng = np.random.default_rng(3)
    a, b = (rng.uniform(-0.5, 0.5, shape).astype(dtype) for shape in ((32, 64), (64, 48)))
    got = kernel(a, b)
    want = a.astype(np.float64) @ b.astype(np.float64)
    assert got.dtype == numpy_dtype(out)
    assert np.linalg.norm(got.astype(np.float64) - want) <= TOLERANCE[out] * np.linalg.norm(want)


@pytest.mark.parametrize("chip", ["sm_80", "sm_90a"])
@pytest.mark.parametrize("other", ["f16", "f8E4M3FN"])
def test_ptx_of_a_product(added: str, chip: str, other: str):
    ptx = compile_module(product(added, other, "f16", 256, 256, 256), chip=chip).ptx
    assert ptx is not None and "mma" in ptx
    assert usage(ptx, chip).spill_bytes == 0


def test_it_is_shown_and_known_on_the_command_line(capsys: pytest.CaptureFixture[str]):
    mlir_gemm.register(row("f8E3M4"))
    try:
        assert main(["info", "--chip", "sm_80"]) == 0
    finally:
        mlir_gemm.unregister("f8E3M4")
    shown = next(line for line in capsys.readouterr().out.splitlines() if "f8E3M4" in line)
    assert "ElementType 'f8E3M4'" in shown and f"registered by {__name__}" in shown


def test_its_values_are_part_of_the_key():
    prints: set[str] = {extensions.fingerprint()}
    for error in (1.6e-2, 2e-2):
        mlir_gemm.register(dataclasses.replace(row("f8E3M4"), error=error))
        prints.add(extensions.fingerprint())
        mlir_gemm.unregister("f8E3M4")
    assert len(prints) == 3


def test_pytorch_may_lack_it(added: str):
    class Torch:
        __version__ = "2.9"
        float8_e5m2fnuz = "its type"

    if added == "f8E5M2FNUZ":
        assert arrays.torch_dtype(Torch, added) == "its type"
        return
    with pytest.raises(mlir_gemm.ArgumentError, match=f"PyTorch 2.9 has no type float8_{added[2:].lower()}"):
        arrays.torch_dtype(Torch, added)


def test_dlpack_marks_and_reads_it(added: str):
    memory = np.zeros(4, np.uint8)

    class Array:
        def __dlpack__(self, **options: Any) -> Any:
            return dlpack.mark(memory.__dlpack__(), added)

    assert dlpack.read(Array(), None).dtype == added


def test_constants_of_the_type(added: str):
    """A splat, numbers written out, and their bits."""
    text = f"""func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {{
      %c = arith.constant dense<[1.0, -2.0, 0.5, 0x01]> : tensor<4x{added}>
      %empty = tensor.empty() : tensor<4xf32>
      %sum = linalg.generic {{indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>,
          affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}}
          ins(%x, %c : tensor<4xf32>, tensor<4x{added}>) outs(%empty : tensor<4xf32>) {{
        ^bb0(%a: f32, %b: {added}, %o: f32):
          %wide = arith.extf %b : {added} to f32
          %s = arith.addf %a, %wide : f32
          linalg.yield %s : f32
      }} -> tensor<4xf32>
      return %sum : tensor<4xf32>
    }}"""
    got = mlir_gemm.compile(text, chip="sm_80", device="simulator")(np.zeros(4, np.float32))
    least = np.uint8(1).view(numpy_dtype(added)).astype(np.float32)
    assert np.array_equal(got, np.array([1, -2, 0.5, least], np.float32))


def test_the_packages_types_of_ml_dtypes():
    beyond = {each.name: numpy_dtype(each.name) for each in ROWS if not each.type_string}
    assert beyond == {
        "bf16": np.dtype(ml_dtypes.bfloat16), "f8E4M3FN": np.dtype(ml_dtypes.float8_e4m3fn),
        "f8E5M2": np.dtype(ml_dtypes.float8_e5m2), "f8E4M3FNUZ": np.dtype(ml_dtypes.float8_e4m3fnuz),
    }  # fmt: skip
