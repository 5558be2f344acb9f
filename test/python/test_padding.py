"""Operands re-laid out in aligned rows: when that is done, and products on them, run by the simulator."""

from __future__ import annotations

import re
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from mlir_gemm.pipeline.compilation import Compilation
from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.pipeline.runner import run_passes
from mlir_gemm.simulator.program import simulate_launch
from mlir_gemm.tile_model import relayout

DTYPES: dict[str, Any] = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "i8": np.int8}
SPACE = 3
"""Elements after each row of the user's operands; they hold what must not be read."""


def strided(rows: int, columns: int, element: str) -> str:
    """The type of a matrix with such rows."""
    return f"memref<{rows}x{columns}x{element}, strided<[{columns + SPACE}, 1]>>"


def product(m: int, n: int, k: int, element: str = "f16", spaced: bool = False) -> str:
    """D = A B."""
    acc = "i32" if element == "i8" else "f32"
    dense = (f"memref<{m}x{k}x{element}>", f"memref<{k}x{n}x{element}>")
    a, b = (strided(m, k, element), strided(k, n, element)) if spaced else dense
    return f"""func.func @f(%A: {a}, %B: {b}, %D: memref<{m}x{n}x{acc}>) {{
      %zero = arith.constant 0{"" if acc == "i32" else ".0"} : {acc}
      linalg.fill ins(%zero : {acc}) outs(%D : memref<{m}x{n}x{acc}>)
      linalg.matmul ins(%A, %B : {a}, {b}) outs(%D : memref<{m}x{n}x{acc}>)
      return
    }}"""


def generic(m: int, n: int, k: int, element: str, orders: tuple[str, str]) -> str:
    """The product of operands in these orders."""
    size, acc = {"m": m, "n": n, "k": k}, "i32" if element == "i8" else "f32"
    extend, letter = ("arith.extsi", "i") if acc == "i32" else ("arith.extf", "f")
    a, b = (f"memref<{'x'.join(str(size[axis]) for axis in order)}x{element}>" for order in orders)
    maps = ", ".join(f"affine_map<(m, n, k) -> ({', '.join(order)})>" for order in (*orders, "mn"))
    return f"""func.func @f(%A: {a}, %B: {b}, %D: memref<{m}x{n}x{acc}>) {{
      %zero = arith.constant 0{"" if acc == "i32" else ".0"} : {acc}
      linalg.fill ins(%zero : {acc}) outs(%D : memref<{m}x{n}x{acc}>)
      linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel", "parallel", "reduction"]}}
          ins(%A, %B : {a}, {b}) outs(%D : memref<{m}x{n}x{acc}>) {{
      ^bb0(%x: {element}, %y: {element}, %c: {acc}):
        %u = {extend} %x : {element} to {acc}
        %v = {extend} %y : {element} to {acc}
        %p = arith.mul{letter} %u, %v : {acc}
        %t = arith.add{letter} %c, %p : {acc}
        linalg.yield %t : {acc}
      }}
      return
    }}"""


def padded(text: str, step: str, **options: Any) -> Compilation:
    """A module compiled to `lower` with `pad-operands` after `import`."""
    imported = compile_module(text, chip="sm_90", until="import", keep=("import",)).ir("import")
    return compile_module(run_passes(imported, [step]), chip="sm_90", until="lower", keep=("all",), **options)


def numbers(element: str, *shape: int) -> Any:
    """Small integers, so that every sum is exact."""
    return np.random.default_rng(list(shape)).integers(-4, 5, shape).astype(DTYPES[element])


def poisoned(values: Any) -> Any:
    """The same numbers in the first columns of longer rows, whose rest is no number, or large."""
    rest = 77 if values.dtype == np.int8 else np.nan
    base = np.full((*values.shape[:-1], values.shape[-1] + SPACE), rest, values.dtype)
    base[..., : values.shape[-1]] = values
    return base[..., : values.shape[-1]]


def run(compiled: Compilation, *arrays: Any) -> None:
    """Runs it, and asserts that the simulator found nothing."""
    assert compiled.launch is not None
    report = simulate_launch(compiled.ir("lower"), compiled.launch, arrays)
    assert not report.findings, "\n".join(map(str, report.findings))
    assert not report.stopped


CP_ASYNC = {"mainloop": "cp_async", "stages": 3, "block": (32, 32, 64), "warp": (16, 32, 32)}


class TestRun:
    @pytest.mark.parametrize(("m", "n", "k"), [(37, 29, 45), (64, 33, 65), (1, 40, 9), (33, 31, 130)])
    @pytest.mark.parametrize("orders", ["a=mk", "b=kn", "a=mk b=kn", "a=km b=nk"])
    @pytest.mark.parametrize("block", ["1,1,1", "32,32,64"])
    def test_ragged_sizes(self, m: int, n: int, k: int, orders: str, block: str) -> None:
        a, b, d = numbers("f16", m, k), numbers("f16", k, n), np.full((m, n), 99, np.float32)
        compiled = padded(product(m, n, k, spaced=True), f"pad-operands{{{orders} block={block}}}", schedule=CP_ASYNC)
        run(compiled, poisoned(a), poisoned(b), d)
        assert np.array_equal(d, a.astype(np.float32) @ b.astype(np.float32))

    @pytest.mark.parametrize("element", ["bf16", "f32", "i8"])
    @pytest.mark.parametrize("orders", ["a=mk b=kn", "a=mk b=nk"])
    def test_types(self, element: str, orders: str) -> None:
        a, b = numbers(element, 35, 51), numbers(element, 51, 45)
        d = np.full((35, 45), 99, np.int32 if element == "i8" else np.float32)
        run(padded(product(35, 45, 51, element, spaced=True), f"pad-operands{{{orders}}}"), poisoned(a), poisoned(b), d)
        assert np.array_equal(d, a.astype(d.dtype) @ b.astype(d.dtype))

    @pytest.mark.parametrize("mma", ["mma_sync", "simt"])
    def test_batches_in_a_program(self, mma: str) -> None:
        x, w = "tensor<3x19x21xf16>", "tensor<3x21x23xf16>"
        text = f"""func.func @main(%x: {x}, %w: {w}, %s: tensor<23xf32>) -> tensor<3x19x23xf32> {{
          %zero = arith.constant 0.0 : f32
          %e = tensor.empty() : tensor<3x19x23xf32>
          %f = linalg.fill ins(%zero : f32) outs(%e : tensor<3x19x23xf32>) -> tensor<3x19x23xf32>
          %p = linalg.batch_matmul ins(%x, %w : {x}, {w}) outs(%f : tensor<3x19x23xf32>) -> tensor<3x19x23xf32>
          %r = linalg.generic {{
              indexing_maps = [affine_map<(b, i, j) -> (b, i, j)>, affine_map<(b, i, j) -> (j)>,
                               affine_map<(b, i, j) -> (b, i, j)>],
              iterator_types = ["parallel", "parallel", "parallel"]}}
              ins(%p, %s : tensor<3x19x23xf32>, tensor<23xf32>) outs(%e : tensor<3x19x23xf32>) {{
          ^bb0(%u: f32, %v: f32, %o: f32):
            %y = arith.addf %u, %v : f32
            linalg.yield %y : f32
          }} -> tensor<3x19x23xf32>
          return %r : tensor<3x19x23xf32>
        }}"""
        compiled = padded(text, "pad-operands{a=mk b=nk block=16,16,16}", schedule={"mma": mma})
        a, b, bias = numbers("f16", 3, 19, 21), numbers("f16", 3, 21, 23), numbers("f32", 23)
        d = np.zeros((3, 19, 23), np.float32)
        run(compiled, a, b, bias, d)
        assert np.array_equal(d, a.astype(np.float32) @ b.astype(np.float32) + bias)
        assert [kernel.name for kernel in compiled.kernels] == ["main_0_a", "main_0"]
        assert "beside it, in blocks of its own: main_0_b" in compiled.kernels[0].note

    def test_vectors_of_16_bytes_and_no_guards(self) -> None:
        lowered = padded(product(37, 29, 45), "pad-operands{a=mk b=kn block=32,32,64}", schedule=CP_ASYNC).ir("lower")
        copies = [line for line in lowered.splitlines() if "nvgpu.device_async_copy" in line]
        assert copies and all(", 8 {bypassL1}" in line for line in copies)

    @pytest.mark.parametrize(
        ("m", "n", "k"), [(160, 240, 320), (272, 96, 397), (80, 304, 48), (143, 77, 131), (201, 335, 63)]
    )
    @pytest.mark.parametrize("block", [(128, 144, 128), (64, 64, 128)])
    def test_the_copy_engine_needs_no_whole_tiles(
        self, m: int, n: int, k: int, block: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(relayout, "WORTH", np.inf)  # whatever the copies take
        orders, element = (("km", "kn"), "i8") if m % 16 == 0 else (("mk", "kn"), "f16")
        tiles = {"mma": "wgmma", "block": block if element == "i8" else (*block[:2], 64)}
        text = generic(m, n, k, element, orders)
        compiled = compile_module(text, chip="sm_90a", until="lower", keep=("select", "lower"), schedule=tiles)
        a, b = numbers(element, *(m, k) if orders[0] == "mk" else (k, m)), numbers(element, k, n)
        d = np.full((m, n), 99, np.int32 if element == "i8" else np.float32)
        run(compiled, a, b, d)
        assert np.array_equal(d, (a if orders[0] == "mk" else a.T).astype(d.dtype) @ b.astype(d.dtype))
        shapes = re.findall(r"tile.padded = array<i64: (\d+), (\d+)>", compiled.ir("select"))
        assert shapes
        vector, line = (16, 128) if element == "i8" else (8, 64)
        rows = {size for each in (m, n, k) for size in (each, -(-each // line) * line)}
        whole = {(each, size if size % vector == 0 else -(-size // line) * line) for each in rows for size in (m, n, k)}
        assert {(int(down), int(along)) for down, along in shapes} <= whole

    def test_a_kernel_may_read_both_factors_and_more_from_one_operand(self) -> None:
        text = """func.func @f(%A: memref<19x19xf16>, %D: memref<19x19xf32>) {
          %zero = arith.constant 0.0 : f32
          linalg.fill ins(%zero : f32) outs(%D : memref<19x19xf32>)
          linalg.matmul ins(%A, %A : memref<19x19xf16>, memref<19x19xf16>) outs(%D : memref<19x19xf32>)
          return
        }"""
        a, d = numbers("f16", 19, 19), np.zeros((19, 19), np.float32)
        run(padded(text, "pad-operands{a=mk b=nk}"), a, d)
        assert np.array_equal(d, a.astype(np.float32) @ a.astype(np.float32))


class TestChoice:
    def test_large_products_are_re_laid_out(self) -> None:
        compiled = compile_module(product(8191, 8191, 8191), chip="sm_90", until="select", keep=("import", "select"))
        assert "tile.padded" not in compiled.ir("import")
        assert [kernel.name for kernel in compiled.kernels] == ["f_0_a", "f_0_b", "f_0"]
        assert [kernel.kind for kernel in compiled.kernels] == ["elementwise", "elementwise", "product"]
        assert "its rows are 16382 bytes apart, those of the copy 16384" in compiled.kernels[0].note
        assert compiled.problem is not None and compiled.schedule is not None
        assert (compiled.problem.m, compiled.problem.a_vector, compiled.problem.b_vector) == (8191, 128, 128)
        assert compiled.schedule.mainloop == "cp_async"
        assert "tile.padded = array<i64: 8192, 8192>" in compiled.ir("select")

    def test_only_the_operand_that_needs_it(self) -> None:
        compiled = compile_module(product(8192, 8192, 8191), chip="sm_90", until="select")
        assert [kernel.name for kernel in compiled.kernels] == ["f_0_a", "f_0"]

    def test_i8_is_turned(self) -> None:
        compiled = compile_module(product(4096, 4096, 4096, "i8"), chip="sm_90", until="select")
        assert [kernel.name for kernel in compiled.kernels] == ["f_0_b", "f_0"]
        assert compiled.problem is not None and compiled.problem.b_order == "nk"

    @pytest.mark.parametrize("size", [100, 257, 1000, 4096])
    def test_others_stay_one_kernel(self, size: int) -> None:
        compiled = compile_module(product(size, size, size), chip="sm_90", until="select")
        assert [kernel.name for kernel in compiled.kernels] == ["f"]

    def test_what_is_pinned_counts(self) -> None:
        narrow = {"vector": 16, "mainloop": "register_prefetch"}
        compiled = compile_module(product(8191, 8191, 8191), chip="sm_90", until="select", schedule=narrow)
        assert [kernel.name for kernel in compiled.kernels] == ["f"]

    def test_a_saved_stage_is_not_re_laid_out_again(self) -> None:
        once = compile_module(product(2047, 2047, 2047), chip="sm_90", until="select", keep=("select",))
        again = compile_module(once.ir("select"), until="tile", keep=("tile",))
        assert [kernel.name for kernel in again.kernels] == [kernel.name for kernel in once.kernels]
