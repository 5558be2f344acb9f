"""Ragged kernels: right and without findings as they are; without any one of their guards, found out.

The modules stand at stage `import`, so that nothing here depends on what the front end accepts.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import pytest

from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.context import new_context
from mlir_gemm.dialect.parse import parse_module
from mlir_gemm.dialect.walk import named
from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.simulator.bisect import after_each_pass
from mlir_gemm.simulator.errors import SimulationError
from mlir_gemm.simulator.expected import TOLERANCE, relative_error
from mlir_gemm.simulator.kernel import Options, Report, simulate
from mlir_gemm.simulator.reference import evaluate
from mlir_gemm.simulator.stages import run_stage
from mlir_gemm.simulator.tile_numbers import DTYPES
from mlir_gemm.spec.schedule import Schedule

CHIP = "sm_90"


def ragged(m: int, n: int, k: int, a: str, b: str, sums: str, out: str) -> str:
    """out = a b + bias[n], at stage `import`."""
    kind, sign = ("i", "si") if sums.startswith("i") else ("f", "f")

    def wide(name: str, element: str) -> str:
        return f"%{name}w = arith.ext{sign} %{name} : {element} to {sums}"

    narrow = "" if out == sums else f"%t = arith.trunc{kind} %s : {sums} to {out}"
    types = [
        f"memref<{x}>" for x in (f"{m}x{k}x{a}", f"{k}x{n}x{b}", f"{n}x{sums}", f"{m}x{n}x{out}", f"{m}x{n}x{sums}")
    ]
    roles = zip(("A", "B", "bias", "R"), types, ("in", "in", "in", "out"), strict=False)
    arguments = ", ".join(f'%{x}: {t} {{tile.name = "{x}", tile.role = "{role}"}}' for x, t, role in roles)
    extend = "\n".join(wide(name, element) for name, element in (("x", a), ("y", b)) if element != sums)
    left, right = ("xw" if a != sums else "x"), ("yw" if b != sums else "y")
    return f"""#row = affine_map<(i, j) -> (j)>
#id = affine_map<(i, j) -> (i, j)>
module attributes {{tile.chip = "{CHIP}", tile.stage = "import"}} {{
  func.func @f({arguments}) {{
    %zero = arith.constant {"0" if kind == "i" else "0.0"} : {sums}
    %e = memref.alloc() : {types[4]}
    linalg.fill ins(%zero : {sums}) outs(%e : {types[4]})
    linalg.generic {{indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
        affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}}
        ins(%A, %B : {types[0]}, {types[1]}) outs(%e : {types[4]}) {{
      ^bb0(%x: {a}, %y: {b}, %z: {sums}):
        {extend}
        %p = arith.mul{kind} %{left}, %{right} : {sums}
        %s = arith.add{kind} %z, %p : {sums}
        linalg.yield %s : {sums}
    }}
    linalg.generic {{indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}}
        ins(%e, %bias : {types[4]}, {types[2]}) outs(%R : {types[3]}) {{
      ^bb0(%x: {sums}, %y: {sums}, %z: {out}):
        %s = arith.add{kind} %x, %y : {sums}
        {narrow}
        linalg.yield %{"s" if out == sums else "t"} : {out}
    }}
    return
  }}
}}"""


TILES = "block=32x32x32,warp=16x16x16"
KERNELS = {
    "sync, cp.async": ((37, 43, 50), "f16 f16 f32 f32", f"{TILES},mma=mma_sync,mainloop=cp_async,stages=3"),
    "sync, swizzled": (
        (40, 48, 56),
        "f16 f16 f32 f16",
        "block=32x32x64,warp=16x16x16,mma=mma_sync,mainloop=cp_async,stages=2,layout=xor",
    ),
    "sync, prefetch": ((37, 43, 50), "bf16 bf16 f32 bf16", f"{TILES},mma=mma_sync,mainloop=register_prefetch"),
    "simt": ((33, 35, 17), "f32 f32 f32 f32", "block=32x32x16,warp=16x16x16,mma=simt,mainloop=direct"),
    "bytes": ((35, 40, 48), "i8 i8 i32 i32", "block=32x32x32,warp=16x16x32,mma=mma_sync,mainloop=direct"),
}


@lru_cache
def lowered(name: str) -> Any:
    size, types, schedule = KERNELS[name]
    source = ragged(*size, *types.split())
    return compile_module(source, chip=CHIP, schedule=Schedule.parse(schedule), until="lower", keep=("all",))


def arrays(name: str) -> list[Any]:
    (m, n, k), types, _ = KERNELS[name]
    rng = np.random.default_rng(1)
    elements = [DTYPES[each] for each in types.split()]
    shapes = ((m, k), (k, n), (n,), (m, n))
    dtypes = (elements[0], elements[1], elements[2], elements[3])
    return [rng.integers(-4, 5, shape).astype(dtype) for shape, dtype in zip(shapes, dtypes, strict=True)]


@lru_cache
def expected(name: str) -> Any:
    size, types, _ = KERNELS[name]
    return evaluate(ragged(*size, *types.split()), arrays(name))[0]


def error(name: str, result: Any) -> float:
    return relative_error(result, expected(name).astype(np.float64))


def bound(name: str) -> float:
    return TOLERANCE[KERNELS[name][1].split()[3]]


@pytest.mark.parametrize("name", KERNELS)
def test_a_ragged_kernel_is_right_at_every_stage_and_finds_nothing(name: str):
    compiled = lowered(name)
    for stage in compiled.stages:
        memory = arrays(name)
        run_stage(compiled.ir(stage), memory)
        assert error(name, memory[3]) <= bound(name), stage
    memory = arrays(name)
    report = simulate(compiled.ir("lower"), memory, Options(checks=True))
    assert not report.findings, str(report)
    assert error(name, memory[3]) <= bound(name)


@pytest.mark.parametrize("name", KERNELS)
def test_every_pass_of_a_ragged_kernel_is_right(name: str):
    """Where neither interpreter runs what stands between tiles and lanes, the pass is passed over."""
    compiled = lowered(name)
    previous, ran = compiled.ir("select"), 0
    for stage in compiled.stages[compiled.stages.index("select") + 1 :]:
        for step, text in after_each_pass(stage, previous):
            memory = arrays(name)
            try:
                run_stage(text, memory)
            except SimulationError:
                assert stage == "lower", step
                continue
            ran += 1
            assert error(name, memory[3]) <= bound(name), step
        previous = compiled.ir(stage)
    assert ran > 15


def run(name: str, change: Any) -> tuple[Report, float]:
    module = parse_module(lowered(name).ir("lower"), "kernel.mlir", new_context())
    with module.context, ir.Location.unknown():
        change(module)
        assert module.operation.verify()
    memory = arrays(name)
    report = simulate(module, memory, Options(max_steps=50_000))
    return report, error(name, memory[3])


def guards(module: Any) -> list[Any]:
    """Conditions on lanes: what a kernel branches by."""
    (kernel,) = named(module, "gpu.func")
    return named(kernel, "scf.if")


def clipped(module: Any) -> list[Any]:
    """Asynchronous copies that copy fewer elements than they write."""
    (kernel,) = named(module, "gpu.func")
    copies = named(kernel, "nvgpu.device_async_copy")
    return [copy for copy in copies if list(copy.operation.attributes["operandSegmentSizes"])[-1]]


def always(place: int) -> Any:
    def change(module: Any) -> None:
        operation = guards(module)[place].operation
        with ir.InsertionPoint(operation):
            boolean = ir.IntegerType.get_signless(1)
            operation.operands[0] = dialect("arith").ConstantOp(boolean, ir.IntegerAttr.get(boolean, 1)).result

    return change


def whole(place: int) -> Any:
    def change(module: Any) -> None:
        operation = clipped(module)[place].operation
        elements = ir.IntegerAttr(operation.attributes["dstElements"]).value
        with ir.InsertionPoint(operation):
            operation.operands[len(operation.operands) - 1] = (
                dialect("arith").ConstantOp(ir.IndexType.get(), elements).result
            )

    return change


@pytest.mark.parametrize("name", KERNELS)
def test_a_kernel_without_a_guard_is_found_out(name: str):
    """Without a guard a kernel leaves a buffer, or the guard never mattered: no result is wrong without a finding."""
    module = parse_module(lowered(name).ir("lower"), "kernel.mlir", new_context())
    places = range(len(guards(module)))
    changes = [*map(always, places), *map(whole, range(len(clipped(module))))]
    assert changes
    found = 0
    for change in changes:
        report, wrong = run(name, change)
        assert report.checks_found or wrong <= bound(name)
        found += "out-of-bounds" in report.checks_found
    assert found > len(changes) // 2, f"{found} of {len(changes)}"
