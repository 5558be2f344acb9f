"""Correct kernels, broken one fault at a time in their IR: every fault is found, by the check that is meant for it."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import pytest

from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.context import new_context
from mlir_gemm.dialect.parse import parse_module
from mlir_gemm.dialect.walk import body, named
from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.simulator.kernel import Options, Report, simulate
from mlir_gemm.spec.schedule import Schedule

SIZE = 64
TILES = "block=32x32x16,warp=16x16x16"
WMMA = "mma=wmma,layout=pad,pad=8"
SCHEDULES = {
    "one": (f"{TILES},{WMMA},stages=1,mainloop=register_prefetch", "f32"),
    "two": (f"{TILES},{WMMA},stages=2,mainloop=register_prefetch", "f32"),
    "plain": (f"{TILES},{WMMA},stages=1,mainloop=direct", "f32"),
    "half": (f"{TILES},{WMMA},stages=1,mainloop=register_prefetch", "f16"),
    "turned": (f"{TILES},{WMMA},stages=1,mainloop=register_prefetch", "f32"),
    "ring": (f"{TILES},mma=mma_sync,layout=xor,stages=3,mainloop=cp_async", "f32"),
}
"""Prefetch with one buffer and with two, plain copies, an epilogue in f16 through scratch in shared memory, operands in
the other orders, and a ring of asynchronous copies for ldmatrix and mma.sync."""

INTO_C = """func.func @matmul(%A: memref<64x64xf16>, %B: memref<64x64xf16>, %C: memref<64x64xf32>) {
  linalg.matmul ins(%A, %B : memref<64x64xf16>, memref<64x64xf16>) outs(%C : memref<64x64xf32>)
  return
}"""
TURNED = INTO_C.replace(
    "linalg.matmul",
    "linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (n, k)>, "
    "affine_map<(m, n, k) -> (m, n)>]",
)
TO_HALF = """#id = affine_map<(i, j) -> (i, j)>
func.func @matmul(%A: tensor<64x64xf16>, %B: tensor<64x64xf16>) -> tensor<64x64xf16> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<64x64xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x64xf32>) -> tensor<64x64xf32>
  %D = linalg.matmul ins(%A, %B : tensor<64x64xf16>, tensor<64x64xf16>)
                     outs(%init : tensor<64x64xf32>) -> tensor<64x64xf32>
  %half = tensor.empty() : tensor<64x64xf16>
  %T = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%D : tensor<64x64xf32>) outs(%half : tensor<64x64xf16>) {
    ^bb0(%x: f32, %y: f16):
      %t = arith.truncf %x : f32 to f16
      linalg.yield %t : f16
  } -> tensor<64x64xf16>
  return %T : tensor<64x64xf16>
}"""


@lru_cache
def lowered(schedule: str) -> str:
    fields, out = SCHEDULES[schedule]
    source = TURNED if schedule == "turned" else INTO_C if out == "f32" else TO_HALF
    compiled = compile_module(source, chip="sm_90", schedule=Schedule.parse(fields), until="lower", keep=("lower",))
    return compiled.ir("lower")


def run(schedule: str, change: Callable[[Any], None]) -> tuple[Report, bool]:
    """The report of a kernel after a change, and whether its result is right."""
    module = parse_module(lowered(schedule), "kernel.mlir", new_context())
    with module.context, ir.Location.unknown():
        change(module)
        assert module.operation.verify()
    rng = np.random.default_rng(1)
    a, b = (rng.standard_normal((SIZE, SIZE)).astype(np.float16) for _ in range(2))
    out = np.dtype(np.float32 if SCHEDULES[schedule][1] == "f32" else np.float16)
    c = rng.standard_normal((SIZE, SIZE)).astype(out)
    left, right = (a.T, b.T) if schedule == "turned" else (a, b)
    want = left.astype(np.float64) @ right.astype(np.float64) + (c if out == np.float32 else 0)
    report = simulate(module, [a, b, c], Options(max_steps=5000))
    return report, bool(np.allclose(c, want, rtol=1e-3, atol=1e-2))


WAIT, MATRIX = "nvgpu.device_async_wait", "nvgpu.ldmatrix"
LOAD, STORE, COMPUTE = (f"gpu.subgroup_mma_{kind}" for kind in ("load_matrix", "store_matrix", "compute"))
WRONG = "wrong result"


# Ways to break a kernel.
def nth(name: str, place: int) -> Callable[[Any], Any]:
    return lambda module: named(body(named(module, "gpu.func")[0]).owner, name)[place]


def drop(name: str, place: int) -> Callable[[Any], None]:
    def change(module: Any) -> None:
        operation = nth(name, place)(module).operation
        for result, operand in zip(operation.results, reversed(list(operation.operands)), strict=False):
            result.replace_all_uses_with(operand)
        operation.erase()

    return change


def move(name: str, place: int, before: tuple[str, int]) -> Callable[[Any], None]:
    return lambda module: nth(name, place)(module).operation.move_before(nth(*before)(module).operation)


def number(value: int, at: Any) -> Any:
    with ir.InsertionPoint(at):
        return dialect("arith").ConstantOp(ir.IndexType.get(), value).result


def shift(name: str, place: int, operand: int, by: int) -> Callable[[Any], None]:
    """Adds a constant to an operand."""

    def change(module: Any) -> None:
        operation = nth(name, place)(module).operation
        old = operation.operands[operand]
        with ir.InsertionPoint(operation):
            operation.operands[operand] = dialect("arith").AddIOp(old, number(by, operation)).result

    return change


def fix(name: str, place: int, operand: int, value: int) -> Callable[[Any], None]:
    """Makes an operand a constant."""

    def change(module: Any) -> None:
        operation = nth(name, place)(module).operation
        operation.operands[operand] = number(value, operation)

    return change


def take(name: str, place: int, operand: int, other: str, other_place: int) -> Callable[[Any], None]:
    """Makes an operand the result of another operation."""

    def change(module: Any) -> None:
        value = nth(other, other_place)(module).operation.results[0]
        nth(name, place)(module).operation.operands[operand] = value

    return change


def attribute(name: str, place: int, key: str, text: str) -> Callable[[Any], None]:
    def change(module: Any) -> None:
        nth(name, place)(module).operation.attributes[key] = ir.Attribute.parse(text)

    return change


def by_rows(name: str) -> Callable[[Any], None]:
    """All fragments of A loaded row by row, and the products, where they are said to be, told so."""

    def change(module: Any) -> None:
        for product in named(body(named(module, "gpu.func")[0]).owner, COMPUTE):
            del product.operation.operands[0].owner.attributes["transpose"]
            if name == COMPUTE:
                del product.operation.attributes["a_transpose"]

    return change


def text(old: str, new: str) -> Callable[[Any], None]:
    """Replaces an operation by its text: for changes of types."""

    def change(module: Any) -> None:
        written = str(module)
        assert old in written
        other = ir.Module.parse(written.replace(old, new), module.context)
        for operation in list(module.body.operations):
            operation.operation.erase()
        for operation in list(other.body.operations):
            module.body.append(operation.operation.detach_from_parent())

    return change


def guard(name: str, place: int, operand_of: Callable[[Any], Any], limit: int) -> Callable[[Any], None]:
    """Puts an operation under `if value < limit`."""

    def change(module: Any) -> None:
        operation = nth(name, place)(module).operation
        arith, scf = dialect("arith"), dialect("scf")
        with ir.InsertionPoint(operation):
            condition = arith.CmpIOp(6, operand_of(module), number(limit, operation)).result  # ult
            branch = scf.IfOp(condition)
        with ir.InsertionPoint(branch.then_block):
            end = scf.YieldOp([])
        operation.move_before(end.operation)

    return change


def thread(module: Any) -> Any:
    return nth("gpu.thread_id", 0)(module).operation.results[0]


def ahead_of_fragments(module: Any) -> None:
    """The stores of the next k tile right after the barrier, in front of the loads of this one."""
    first = named(body(named(module, "scf.for")[0]).owner, "gpu.subgroup_mma_load_matrix")[0]
    for store in named(body(named(module, "scf.for")[0]).owner, "vector.store"):
        store.operation.move_before(first.operation)


FAULTS: dict[str, tuple[str, Callable[[Any], None], str]] = {
    # Barriers.
    "one: drop the barrier before the products": ("one", drop("gpu.barrier", 0), "race-shared"),
    "one: drop the barrier after the products": ("one", drop("gpu.barrier", 1), "race-shared"),
    "one: drop the barrier after the loop": ("one", drop("gpu.barrier", 2), "race-shared"),
    "two: drop the barrier in the loop": ("two", drop("gpu.barrier", 0), "race-shared"),
    "two: drop the barrier after the loop": ("two", drop("gpu.barrier", 1), "race-shared"),
    "plain: drop the barrier before the products": ("plain", drop("gpu.barrier", 0), "race-shared"),
    "plain: drop the barrier after the products": ("plain", drop("gpu.barrier", 1), "race-shared"),
    "half: drop the barrier before the scratch": ("half", drop("gpu.barrier", 3), "race-shared"),
    "half: drop the warp barrier": ("half", drop("nvvm.bar.warp.sync", 0), "race-shared"),
    "one: move a barrier after the loads": ("one", move("gpu.barrier", 0, (COMPUTE, 0)), "race-shared"),
    "one: stores in front of the fragment loads": ("one", ahead_of_fragments, "race-shared"),
    "one: move the last barrier after the loads": ("one", move("gpu.barrier", 2, (STORE, 0)), "race-shared"),
    "half: warp barrier after the reads": ("half", move("nvvm.bar.warp.sync", 0, ("arith.truncf", 0)), "race-shared"),
    "one: a barrier that only some lanes reach": ("one", guard("gpu.barrier", 0, thread, 5), "divergent-barrier"),
    "plain: a barrier that only some warps reach": ("plain", guard("gpu.barrier", 0, thread, 64), "divergent-barrier"),
    "half: a warp barrier for half of a warp": (
        "half",
        guard("nvvm.bar.warp.sync", 0, thread, 16),
        "divergent-barrier",
    ),
    "one: fragments for half of a warp": ("one", guard(STORE, 0, thread, 16), "divergent-collective"),
    # Indices.
    "one: store a row too far": ("one", shift("vector.store", 0, 2, 1), "out-of-bounds"),
    "one: store a column off the vector": ("one", shift("vector.store", 0, 3, 1), "misaligned"),
    "one: read A a row down": ("one", shift(LOAD, 1, 1, 1), "out-of-bounds"),
    "one: read A a column on": ("one", shift(LOAD, 1, 2, 8), "uninitialized-shared"),
    "one: read B from an odd element": ("one", shift(LOAD, 2, 2, 1), "misaligned"),
    "plain: load A of the wrong rows": ("plain", shift("vector.load", 0, 1, -1), "out-of-bounds"),
    "two: load the same k tile again": ("two", fix("vector.load", 2, 2, 0), WRONG),
    "one: store results 16 rows down": ("one", shift(STORE, 0, 2, 16), "race-global"),
    "one: every warp stores the same tile": ("one", fix(STORE, 0, 2, 0), "race-global"),
    "half: store results a row down": ("half", shift("vector.store", 4, 2, 1), "uninitialized-output"),
    "half: store results a vector to the right": ("half", shift("vector.store", 4, 3, 8), "out-of-bounds"),
    # Stages.
    "two: read the other stage": ("two", shift("arith.remsi", 1, 0, 1), "uninitialized-shared"),
    "two: write the stage that is read": ("two", fix("vector.store", 2, 2, 0), "race-shared"),
    "two: the last step reads the wrong stage": ("two", fix(LOAD, 3, 1, 0), WRONG),
    "two: a stage that does not exist": ("two", fix(LOAD, 3, 1, 2), "out-of-bounds"),
    # Sizes, places and layouts.
    "one: shrink shared memory": ("one", text("2816xi8", "2048xi8"), "out-of-bounds"),
    "one: buffers overlap": ("one", fix("memref.view", 1, 1, 640), "race-shared"),
    "one: a buffer on an odd place": ("one", fix("memref.view", 1, 1, 1284), "misaligned"),
    "half: every warp takes the same scratch": ("half", fix(STORE, 0, 2, 0), "race-shared"),
    "one: wrong leading dimension of A": (
        "one",
        attribute(LOAD, 1, "leadDimension", "32 : index"),
        "uninitialized-shared",
    ),
    "one: leading dimension that is not aligned": (
        "one",
        attribute(LOAD, 1, "leadDimension", "20 : index"),
        "misaligned",
    ),
    "one: A transposed": ("one", attribute(LOAD, 1, "transpose", "unit"), "undefined"),
    "turned: A by rows": ("turned", by_rows(LOAD), "undefined"),
    "turned: A by rows, and so multiplied": ("turned", by_rows(COMPUTE), WRONG),
    "turned: columns of A at the wrong distance": (
        "turned",
        attribute(LOAD, 1, "leadDimension", "48 : index"),
        "out-of-bounds",
    ),
    "turned: columns of B at an odd place": ("turned", shift(LOAD, 2, 2, 1), "misaligned"),
    "turned: columns of B too far in k": ("turned", shift(LOAD, 2, 2, 8), "uninitialized-shared"),
    "one: vectors said to be wider aligned": (
        "one",
        attribute("vector.load", 0, "alignment", "16 : i64"),
        "misaligned",
    ),
    # Values.
    "half: sums do not start at zero": ("half", text("0.000000e+00", "1.000000e+00"), WRONG),
    "one: the last product forgets the others": ("one", take(COMPUTE, 1, 2, LOAD, 0), WRONG),
    "one: fragments of A from the buffer of B": ("one", take(LOAD, 1, 0, "memref.view", 1), "out-of-bounds"),
    "two: rows of A and of B swapped": ("two", take(LOAD, 2, 1, "arith.select", 0), "race-shared"),
    "half: the result is not stored": ("half", drop("vector.store", 4), "uninitialized-output"),
    "one: the first tile of A is not stored": ("one", drop("vector.store", 0), "uninitialized-shared"),
    # Who does what.
    "one: two threads copy the same vector": ("one", fix("arith.divui", 4, 1, 8), "race-shared"),
    "one: warps of 16 lanes": ("one", fix("arith.divui", 0, 1, 16), "divergent-collective"),
    "one: blocks compute the same tile": ("one", fix("arith.remui", 1, 1, 2), "race-global"),
    "half: blocks compute the same tile": ("half", fix("arith.remui", 1, 1, 2), "race-global"),
    # Asynchronous copies.
    "ring: drop the wait in the loop": ("ring", drop(WAIT, 0), "async-not-awaited"),
    "ring: wait for a group too few": ("ring", attribute(WAIT, 0, "numGroups", "2 : i32"), "async-not-awaited"),
    "ring: drop the barrier after the wait": ("ring", drop("gpu.barrier", 0), "race-shared"),
    "ring: fragments from an odd place": ("ring", shift(MATRIX, 0, 3, 1), "misaligned"),
    "ring: fragments of A that are not swizzled": ("ring", fix(MATRIX, 0, 3, 0), WRONG),
    # Loops.
    "one: a step too few": ("one", fix("scf.for", 0, 1, 2), WRONG),
    "one: a step too many": ("one", fix("scf.for", 0, 1, 4), "out-of-bounds"),
    "plain: a loop that never ends": ("plain", fix("scf.for", 0, 2, 0), "endless"),
}


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_the_kernel_is_right_before_it_is_broken(schedule: str):
    report, right = run(schedule, lambda module: None)
    assert right
    assert str(report).endswith("no findings")


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found(fault: str):
    schedule, change, expected = FAULTS[fault]
    report, right = run(schedule, change)
    if expected == WRONG:
        assert not right
        assert not report.findings, str(report)
    else:
        assert expected in report.checks_found, str(report)
