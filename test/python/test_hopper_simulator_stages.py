"""Kernels that the compiler makes for sm_90: right and without findings at every stage, and faults found: block-wide
after `pipeline`, and in what `lower` leaves."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.context import new_context
from mlir_gemm.dialect.parse import parse_module
from mlir_gemm.dialect.walk import named
from mlir_gemm.errors import Error
from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.simulator.expected import relative_error
from mlir_gemm.simulator.kernel import Options, Report, simulate
from mlir_gemm.simulator.stages import run_stage
from mlir_gemm.simulator.tile_coroutines import Coroutines
from mlir_gemm.spec.schedule import Schedule

DTYPES: dict[str, Any] = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32}
LIMITS = {"f16": 5e-4, "f32": 1e-5}
GROUPS = "warp=64x128x64,mma=wgmma,mainloop=tma,layout=swizzle128"
WARPS = "warp=32x64x16,mma=mma_sync,mainloop=tma,layout=swizzle128,pad=0"
KERNELS = {
    "plain": ((128, 256, 320), "f16 f32", f"block=128x128x64,{GROUPS},stages=3"),
    "f16 results": ((128, 256, 192), "f16 f16", f"block=128x128x64,{GROUPS},stages=2"),
    "bf16": ((128, 128, 192), "bf16 f32", f"block=128x128x64,{GROUPS},stages=2"),
    "persistent": ((256, 384, 192), "f16 f16", f"block=128x128x64,{GROUPS},stages=3,persistent=2,early_trigger=on"),
    "cluster": ((256, 256, 192), "f16 f32", f"block=128x128x64,{GROUPS},stages=2,cluster_m=2"),
    "persistent clusters": (
        (256, 512, 192),
        "f16 f16",
        f"block=128x128x64,{GROUPS},stages=3,cluster_n=2,persistent=4,early_trigger=on",
    ),
    "split_k_cluster": (
        (128, 128, 448),
        "f16 f16",
        f"block=128x128x64,{GROUPS},stages=2,split_k_cluster=2,early_trigger=on",
    ),
    "square clusters": (
        (256, 512, 192),
        "f16 f16",
        f"block=128x128x64,{GROUPS},stages=2,cluster_m=2,cluster_n=2,persistent=4,early_trigger=on",
    ),
    "swap_ab": (
        (200, 256, 192),
        "f16 f16",
        f"swap_ab=on,block=128x96x64,{GROUPS.replace('128', '96', 1)},stages=3,persistent=2,early_trigger=on",
    ),
    "narrow panels": (
        (128, 320, 192),
        "f16 f16",
        f"block=128x80x64,{GROUPS.replace('128', '80', 1)},stages=2,persistent=2,early_trigger=on",
    ),
    "ragged": ((100, 136, 72), "f16 f32", f"block=64x128x64,{GROUPS},stages=2"),
    "warps": ((200, 264, 200), "f16 f16", f"block=64x128x64,{WARPS},stages=2,persistent=3"),
    "clusters of warps": (
        (256, 256, 192),
        "bf16 f32",
        f"block=64x128x64,{WARPS},stages=2,cluster_m=2,cluster_n=2,persistent=4",
    ),
}


PARTIAL = {("split", "parallelize")}
"""Where the IR computes only parts of sums, which a later stage completes."""


def source(size: tuple[int, ...], element: str, out: str) -> str:
    m, n, k = size
    types = f"tensor<{m}x{k}x{element}>", f"tensor<{k}x{n}x{element}>", f"tensor<{m}x{n}xf32>", f"tensor<{m}x{n}x{out}>"
    narrow = "return %D : " + types[2]
    if out != "f32":
        narrow = f"""%half = tensor.empty() : {types[3]}
  %T = linalg.generic {{indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}}
      ins(%D : {types[2]}) outs(%half : {types[3]}) {{
    ^bb0(%x: f32, %y: {out}):
      %t = arith.truncf %x : f32 to {out}
      linalg.yield %t : {out}
  }} -> {types[3]}
  return %T : {types[3]}"""
    return f"""#id = affine_map<(i, j) -> (i, j)>
func.func @matmul(%A: {types[0]}, %B: {types[1]}) -> {types[3]} {{
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : {types[2]}
  %init = linalg.fill ins(%zero : f32) outs(%empty : {types[2]}) -> {types[2]}
  %D = linalg.matmul ins(%A, %B : {types[0]}, {types[1]}) outs(%init : {types[2]}) -> {types[2]}
  {narrow}
}}"""


@lru_cache
def compiled(name: str) -> Any:
    size, types, schedule = KERNELS[name]
    text = source(size, *types.split())
    return compile_module(text, chip="sm_90a", schedule=Schedule.parse(schedule), until="lower", keep=("all",))


def arrays(name: str) -> tuple[list[Any], Any]:
    (m, n, k), types, _ = KERNELS[name]
    element, out = (DTYPES[each] for each in types.split())
    rng = np.random.default_rng(1)
    a, b = (rng.standard_normal(shape).astype(element) for shape in ((m, k), (k, n)))
    want = a.astype(np.float64) @ b.astype(np.float64)
    return [a, b, np.full((m, n), np.nan, out)], want


def is_right(name: str, result: Any, want: Any) -> bool:
    return relative_error(result, want) <= LIMITS[KERNELS[name][1].split()[1]]


@pytest.mark.parametrize("name", KERNELS)
def test_a_kernel_is_right_at_every_stage_and_finds_nothing(name: str):
    for stage in compiled(name).stages:
        if (name, stage) in PARTIAL:
            continue
        memory, want = arrays(name)
        if stage == "lower":
            report = simulate(compiled(name).ir(stage), memory)
            assert not report.findings, str(report)
        else:
            run_stage(compiled(name).ir(stage), memory)
        assert is_right(name, memory[2], want), stage


# Faults, block-wide.
def broken(text: str, change: Callable[[Any], None]) -> str:
    module = parse_module(text, "kernel.mlir", new_context())
    with module.context, ir.Location.unknown():
        change(module)
        assert module.operation.verify()
        return str(module)


def drop(name: str, place: int) -> Callable[[Any], None]:
    def change(module: Any) -> None:
        operation = named(module, name)[place].operation
        for result, operand in zip(operation.results, operation.operands, strict=False):
            result.replace_all_uses_with(operand)
        operation.erase()

    return change


def number(name: str, place: int, attribute: str, value: int) -> Callable[[Any], None]:
    def change(module: Any) -> None:
        type_ = ir.IntegerType.get_signless(64)
        named(module, name)[place].operation.attributes[attribute] = ir.IntegerAttr.get(type_, value)

    return change


def other_phase(name: str, place: int) -> Callable[[Any], None]:
    """Waits for the phase of the position after this one."""

    def change(module: Any) -> None:
        operation = named(module, name)[place].operation
        arith = dialect("arith")
        with ir.InsertionPoint(operation):
            i32 = ir.IntegerType.get_signless(32)
            one = arith.ConstantOp(i32, 1).result
            operation.operands[2] = arith.XOrIOp(operation.operands[2], one).result

    return change


def other_stage(module: Any) -> None:
    """The products of the loop read the stage of the first one."""
    first, product = (each.operation for each in named(module, "tile.mma"))
    product.operands[0] = first.operands[0]


STAGED: dict[str, tuple[Callable[[Any], None], str]] = {
    "no acquire": (drop("tile.producer_acquire", 0), "which was not acquired"),
    "no wait for a filled stage": (
        drop("tile.consumer_wait", 1),
        "reads a stage that no tile.consumer_wait has waited for",
    ),
    "no wait for the first stage": (drop("tile.consumer_wait", 0), ""),
    "no release": (drop("tile.consumer_release", 0), "deadlock: the producer waits for stage 0 to be empty"),
    "no copy of B": (drop("tile.tma_load", 1), "deadlock"),
    "too many bytes": (number("tile.producer_acquire", 0, "bytes", 32784), "16 bytes are missing"),
    "too few bytes": (number("tile.producer_acquire", 0, "bytes", 16384), "which was not acquired"),
    "no wait for the last products": (drop("tile.mma_wait", 1), "before tile.mma_wait"),
    "a wait for all but one": (number("tile.mma_wait", 1, "pending", 1), "before tile.mma_wait"),
    "a wait for one product too few": (number("tile.mma_wait", 0, "pending", 2), "which a product in flight reads"),
    "no ring": (drop("tile.ring", 0), "without tile.ring"),
    "the stage of another step": (other_stage, ""),
    "the other phase": (other_phase("tile.consumer_wait", 1), "deadlock"),
    "the other phase of an empty stage": (other_phase("tile.producer_acquire", 0), "deadlock"),
}


@pytest.mark.parametrize("fault", STAGED)
def test_a_fault_is_found_block_wide(fault: str):
    change, message = STAGED[fault]
    memory, want = arrays("plain")
    text = broken(compiled("plain").ir("pipeline"), change)
    if not message:
        try:
            run_stage(text, memory)
        except Error:
            return
        assert not is_right("plain", memory[2], want)
        return
    with pytest.raises(Error, match=message) as raised:
        run_stage(text, memory)
    assert raised.value.location is not None or "deadlock" in message or "missing" in message


def test_parts_that_wait_for_each_other():
    coroutines, seen = Coroutines(), list[str]()

    def first() -> None:
        coroutines.wait(lambda: "second" in seen, "the second")
        seen.append("first")

    def second() -> None:
        coroutines.together([("inner", lambda: seen.append("inner"))])
        seen.append("second")

    coroutines.together([("first", first), ("second", second)])
    assert seen == ["inner", "second", "first"]
    with pytest.raises(Error, match="deadlock: one waits for a; other waits for b"):
        coroutines.together(
            [
                ("one", lambda: coroutines.wait(lambda: False, "a")),
                ("other", lambda: coroutines.wait(lambda: False, "b")),
            ]
        )
    coroutines.together([("again", lambda: seen.append("again"))])
    assert seen[-1] == "again"


# Faults in what `lower` leaves. Those of single operations that order something: test_simulator_removals.py.
def without(name: str, operation: str, place: int) -> tuple[Report, bool]:
    memory, want = arrays(name)
    report = simulate(broken(compiled(name).ir("lower"), drop(operation, place)), memory, Options(max_steps=100_000))
    return report, is_right(name, memory[2], want)


def test_a_stage_is_not_given_back_before_what_was_loaded_from_it_is_there():
    report, _ = without("warps", "llvm.inline_asm", 0)
    assert "through the asynchronous proxy, what warp 0 read without a fence.proxy after it" in str(report)


def test_a_stage_is_given_back_behind_a_fence_where_loads_stand_in_a_loop():
    size, types, schedule = KERNELS["warps"]
    text = source(size, *types.split())
    fields = Schedule.parse(f"{schedule},unroll=off")
    lowered = compile_module(text, chip="sm_90a", schedule=fields, until="lower", keep=("lower",)).ir("lower")
    assert "llvm.inline_asm" not in lowered
    memory, want = arrays("warps")
    assert not simulate(lowered, memory).findings
    assert is_right("warps", memory[2], want)
    report = simulate(broken(lowered, drop("nvvm.fence.proxy", 0)), arrays("warps")[0])
    assert "read without a fence.proxy" in str(report)


def test_elements_that_lanes_load_beside_fragments_are_waited_for_too():
    """tf32, whose B in `kn` ldmatrix cannot transpose: what it loads of A says nothing of when B is there."""
    size, fields = (
        (64, 128, 96),
        Schedule.parse(f"block=64x128x32,{WARPS.replace('x16', 'x8')},stages=2,precision=tf32,persistent=1"),
    )
    text = source(size, "f32", "f32")
    lowered = compile_module(text, chip="sm_90a", schedule=fields, until="lower", keep=("lower",)).ir("lower")
    assert "nvgpu.ldmatrix" in lowered and "popc" not in lowered
    rng = np.random.default_rng(1)
    a, b = (rng.integers(-4, 5, shape).astype(np.float32) for shape in ((64, 96), (96, 128)))
    for change, found in ((lambda _: None, False), (drop("nvvm.fence.proxy", 0), True)):
        out = np.full((64, 128), np.nan, np.float32)
        report = simulate(broken(lowered, change), [a, b, out])
        assert ("read without a fence.proxy" in str(report)) == found
        assert np.array_equal(out, a @ b)
