"""AMD's chips: their matrix instructions on the simulator, what the model chooses, and every part through LLVM's
assembler, without spills."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from draws import draws
from mma_cases import NUMPY, Case, check

import mlir_gemm
from mlir_gemm.errors import DeviceError, InputError, PassError, ScheduleError, TargetError
from mlir_gemm.lowering import wave_products
from mlir_gemm.passes.nvvm.select_math import SelectMath
from mlir_gemm.pipeline import amdgpu
from mlir_gemm.pipeline.amdgpu import Tools, find_tools, readable, usages
from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.simulator.errors import SimulationError
from mlir_gemm.simulator.kernel import simulate
from mlir_gemm.simulator.ops_amdgpu import mfma_lanes, mfma_result, mfma_sides, wmma_lanes, wmma_result
from mlir_gemm.spec.problem import Problem
from mlir_gemm.tile_model.chips import target
from mlir_gemm.tile_model.select import select

MODULES = Path(__file__).parents[1] / "modules"
CHIPS = ("gfx90a", "gfx942", "gfx1100")
TOOLS = pytest.mark.skipif(
    find_tools() is None and not os.environ.get("MLIR_GEMM_NEEDS_AMDGPU"),
    reason="no llc with the AMDGPU back end, version 19 or later (apt-get install llvm-19 lld-19)",
)
MFMA = [
    ("f16", "f32", (16, 16, 16)), ("f16", "f32", (32, 32, 8)), ("bf16", "f32", (16, 16, 16)),
    ("f32", "f32", (16, 16, 4)), ("f32", "f32", (32, 32, 2)), ("f64", "f64", (16, 16, 4)),
    ("i8", "i32", (16, 16, 16)), ("i8", "i32", (32, 32, 8)), ("i8", "i32", (16, 16, 32)), ("i8", "i32", (32, 32, 16)),
]  # fmt: skip
WMMA = [("f16", "f32", (16, 16, 16)), ("bf16", "f32", (16, 16, 16)), ("i8", "i32", (16, 16, 16))]
ORDERS = [("mk", "kn"), ("km", "kn"), ("mk", "nk"), ("km", "nk")]


def product(m: int, n: int, k: int, element: str, acc: str, orders: tuple[str, str]) -> str:
    """A product of two matrices that lie in these orders."""
    sizes, loops = {"m": m, "n": n, "k": k}, {"m": "d0", "n": "d1", "k": "d2"}
    types = [f"tensor<{sizes[order[0]]}x{sizes[order[1]]}x{element}>" for order in orders]
    maps = [f"affine_map<(d0, d1, d2) -> ({loops[order[0]]}, {loops[order[1]]})>" for order in (*orders, "mn")]
    out, whole = f"tensor<{m}x{n}x{acc}>", acc.startswith("i")
    extend = [
        f"%{name} = arith.{'extsi' if whole else 'extf'} %{side} : {element} to {acc}"
        for side, name in (("a", "left"), ("b", "right"))
    ]
    left, right = ("%left", "%right") if element != acc else ("%a", "%b")
    kind = "i" if whole else "f"
    return f"""func.func @f(%x: {types[0]}, %y: {types[1]}) -> {out} {{
      %zero = arith.constant {"0" if whole else "0.0"} : {acc}
      %empty = tensor.empty() : {out}
      %start = linalg.fill ins(%zero : {acc}) outs(%empty : {out}) -> {out}
      %sum = linalg.generic {{
        indexing_maps = [{", ".join(maps)}], iterator_types = ["parallel", "parallel", "reduction"]
      }} ins(%x, %y : {types[0]}, {types[1]}) outs(%start : {out}) {{
      ^bb0(%a: {element}, %b: {element}, %s: {acc}):
        {" ".join(extend) if element != acc else ""}
        %product = arith.mul{kind} {left}, {right} : {acc}
        %more = arith.add{kind} %s, %product : {acc}
        linalg.yield %more : {acc}
      }} -> {out}
      return %sum : {out}
    }}"""


@pytest.mark.parametrize(("element", "acc", "instruction"), MFMA)
@pytest.mark.parametrize("orders", [ORDERS[0], ORDERS[2]])
def test_mfma_multiplies(element: str, acc: str, instruction: tuple[int, int, int], orders: tuple[str, str]) -> None:
    case = Case(element, acc, acc, (32, 64, 32), (32, 32, 32), (29, 60), orders=orders, unit="wave", pad=16)
    assert "amdgpu.mfma" in check(case, "mma-to-mfma", instruction=instruction)


@pytest.mark.parametrize("element", ["f16", "f64", "i8"])
def test_mfma_reads_global_memory_and_columns(element: str) -> None:
    acc, k = {"f16": ("f32", 16), "f64": ("f64", 4), "i8": ("i32", 16)}[element]
    case = Case(element, acc, acc, (32, 32, 32), (16, 32, 16), orders=ORDERS[1], unit="wave", shared=False)
    check(case, "mma-to-mfma", instruction=(16, 16, k))


@pytest.mark.parametrize(("element", "acc", "instruction"), WMMA)
@pytest.mark.parametrize("orders", [ORDERS[0], ORDERS[3]])
def test_wmma_multiplies(element: str, acc: str, instruction: tuple[int, int, int], orders: tuple[str, str]) -> None:
    unsigned = "b" if element == "i8" else ""
    case = Case(element, acc, acc, (32, 32, 32), (16, 32, 16), (32, 30), orders=orders, unsigned=unsigned, pad=16)
    assert "amdgpu.wmma" in check(case, "mma-to-mfma", instruction=instruction)


def published_side(name: str, shape: tuple[int, int, int], row: int, k: int) -> list[tuple[int, int]]:
    """The lanes that have an element of A, by its row and its k, and which of theirs it is; of B the same by its
    column and its k. Of AMD's matrix instruction calculator (ROCm/amd_matrix_instruction_calculator, at 2ef9189), which
    was asked for all forms that are used: MFMA gives each lane neighbours in k, and lanes of further k follow when all
    rows have one; of WMMA a lane has a whole row, which the lane 16 further on has again."""
    if name == "wmma":
        return [(row, k), (row + 16, k)]
    each = shape[0] * shape[2] // 64
    return [(row + shape[0] * (k // each), k % each)]


def published_result(name: str, n: int, double: bool, row: int, column: int) -> tuple[int, int]:
    """The same of an element of C or D. MFMA: the groups of n lanes have four rows each in turn, with f64 one; WMMA:
    the two groups of 16 lanes have the rows in turn."""
    if name == "wmma":
        return column + 16 * (row % 2), row // 2
    groups, together = 64 // n, 1 if double else 4
    turn, place = divmod(row, together)
    return column + n * (turn % groups), together * (turn // groups) + place


@pytest.mark.parametrize(
    ("name", "element", "shape"),
    [*(("mfma", a, shape) for (a, _), shapes in wave_products.MFMA.items() for shape in shapes),
     *(("wmma", a, shape) for (a, _), shapes in wave_products.WMMA.items() for shape in shapes)],
)  # fmt: skip
def test_fragments_are_those_that_are_published(name: str, element: str, shape: tuple[int, int, int]) -> None:
    """Every element of A, B, C and D is where AMD's calculator says."""
    (m, n, depth), double = shape, element == "f64"
    lanes = 32 if name == "wmma" else 64
    left = np.arange(lanes * (depth if name == "wmma" else m * depth // 64)).reshape(lanes, -1)
    a, b = (left[:16], left[:16].T) if name == "wmma" else mfma_sides(left, left, shape)
    for row, k in np.ndindex(m, depth):
        lane, place = published_side(name, shape, row, k)[0]
        assert a[row, k] == left[lane, place] == b[k, row]
    held = np.arange(m * n).reshape(lanes, -1)
    matrix = wmma_result(held) if name == "wmma" else mfma_result(held, shape, double)
    assert all(
        matrix[row, column] == held[published_result(name, n, double, row, column)] for row, column in np.ndindex(m, n)
    )
    again = wmma_lanes(matrix) if name == "wmma" else mfma_lanes(matrix, 64, double)
    np.testing.assert_array_equal(again, held)


@pytest.mark.parametrize("seed", range(draws(8)))
def test_random_products(seed: int) -> None:
    random = np.random.default_rng(seed)
    chip = CHIPS[seed % 3]
    element, acc = [("f16", "f32"), ("i8", "i32"), ("f32", "f32"), ("bf16", "f32"), ("f64", "f64")][random.integers(5)]
    m, n, k = (int(size) for size in random.integers(2, 90, 3))
    orders = ORDERS[random.integers(4)]
    module = compile_module(product(m, n, k, element, acc, orders), chip=chip, until="lower").ir("lower")
    sizes = {"m": m, "n": n, "k": k}
    a, b = (random.integers(-4, 5, [sizes[axis] for axis in order]).astype(NUMPY[element]) for order in orders)
    got = np.zeros((m, n), NUMPY[acc])
    assert not simulate(module, [a, b, got]).findings
    left, right = (x.astype(np.float64) for x in (a if orders[0] == "mk" else a.T, b if orders[1] == "kn" else b.T))
    np.testing.assert_array_equal(got.astype(np.float64), left @ right)


def test_the_simulator_finds_waves_that_part() -> None:
    text = """module attributes {gpu.container_module} {
      func.func @main(%o: memref<64xf32> {tile.role = "result"}) {
        %c1 = arith.constant 1 : index
        %c64 = arith.constant 64 : index
        gpu.launch_func @k::@k blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%o : memref<64xf32>)
        return
      }
      gpu.module @k { gpu.func @k(%o: memref<64xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
        %t = gpu.thread_id x
        %c32 = arith.constant 32 : index
        %a = arith.constant dense<1.0> : vector<4xf16>
        %c = arith.constant dense<0.0> : vector<4xf32>
        %low = arith.cmpi ult, %t, %c32 : index
        scf.if %low {
          %d = amdgpu.mfma 16x16x16 %a * %a + %c blgp = none : vector<4xf16>, vector<4xf16>, vector<4xf32>
          %n = vector.extract %d[0] : f32 from vector<4xf32>
          memref.store %n, %o[%t] : memref<64xf32>
        }
        gpu.return
      } }
    }"""
    (finding,) = simulate(text, [np.zeros(64, np.float32)]).findings
    assert "the other lanes of wave 0" in str(finding)
    with pytest.raises(SimulationError, match="cbsz = 1"):
        simulate(text.replace("blgp", "{cbsz = 1 : i32} blgp"), [np.zeros(64, np.float32)])


PROBLEM = Problem(1024, 1024, 1024, a="f16", b="f16", acc="f32", out="f32", reads_c=False)
BYTES = Problem(1024, 1024, 1024, a="i8", b="i8", acc="i32", out="i32", reads_c=False)
SINGLE = Problem(1024, 1024, 1024, a="f32", b="f32", acc="f32", out="f32", reads_c=False)


def test_what_is_chosen() -> None:
    expected = {
        ("gfx90a", PROBLEM): "mfma", ("gfx942", PROBLEM): "mfma", ("gfx1100", PROBLEM): "rdna_wmma",
        ("gfx90a", BYTES): "mfma", ("gfx942", BYTES): "mfma", ("gfx1100", BYTES): "rdna_wmma",
        ("gfx942", SINGLE): "mfma", ("gfx1100", SINGLE): "simt",
    }  # fmt: skip
    for (chip, problem), mma in expected.items():
        assert select(problem, target(chip)).schedule.mma == mma, (chip, problem)
    assert [select(BYTES, target(chip)).schedule.instruction[2] for chip in CHIPS] == [16, 32, 16]


def test_what_is_refused() -> None:
    unsigned = Problem(64, 64, 64, a="i8", b="i8", acc="i32", out="i32", reads_c=False, unsigned="a")
    assert select(unsigned, target("gfx942")).schedule.mma == "simt"
    for problem, chip, pinned, why in (
        (unsigned, "gfx942", {"mma": "mfma"}, "multiplies signed bytes only"),
        (PROBLEM, "gfx1100", {"mma": "mfma"}, "mfma"),
        (PROBLEM, "gfx942", {"mma": "mma_sync"}, "mma_sync"),
        (PROBLEM, "gfx942", {"mainloop": "cp_async"}, "cp_async"),
    ):
        with pytest.raises(ScheduleError, match=why):
            select(problem, target(chip), pinned)


@pytest.mark.parametrize(("name", "chip"), [("mi210", "gfx90a"), ("MI300X", "gfx942"), ("rx7900", "gfx1100")])
def test_names(name: str, chip: str) -> None:
    assert target(name) == target(chip) and target(chip).backend == "rocdl"


ASSEMBLED = [
    ("gfx90a", "f16", "f32", "mfma", "v_mfma_f32_16x16x16f16"),
    ("gfx90a", "i8", "i32", "mfma", "v_mfma_i32_16x16x16i8"),
    ("gfx90a", "f64", "f64", "simt", "v_fmac_f64"), ("gfx942", "bf16", "f32", "mfma", "v_mfma_f32_16x16x16_bf16"),
    ("gfx942", "i8", "i32", "mfma", "v_mfma_i32_16x16x32_i8"), ("gfx942", "f64", "f64", "mfma", "v_mfma_f64_16x16x4"),
    ("gfx942", "f32", "f32", "simt", "v_fmac_f32"), ("gfx1100", "f16", "f32", "rdna_wmma", "v_wmma_f32_16x16x16_f16"),
    ("gfx1100", "i8", "i32", "rdna_wmma", "v_wmma_i32_16x16x16_iu8"), ("gfx1100", "f32", "f32", "simt", "v_dual_fmac"),
]  # fmt: skip


@TOOLS
@pytest.mark.parametrize(("chip", "element", "acc", "mma", "instruction"), ASSEMBLED)
def test_products_assemble_without_spills(chip: str, element: str, acc: str, mma: str, instruction: str) -> None:
    text = product(200, 192, 128, element, acc, ("mk", "nk"))
    made = compile_module(text, chip=chip, schedule={"mma": mma})
    assert isinstance(made.code, str) and instruction in made.code
    assert "buffer_load" in made.code or element == "f64", "rows beyond the edge are left to the buffer's bounds"
    (usage,) = usages(made.code).values()
    assert 0 < usage.registers <= 512 and not usage.spill_bytes


@TOOLS
@pytest.mark.parametrize("name", ["conv3d", "open_mlp"])
def test_loops_that_llvm_would_unroll_do_not_spill(name: str) -> None:
    """Each step's loads would hold registers at once: these spilled 1924 and 228 bytes."""
    made = compile_module((MODULES / f"front/{name}.mlir").read_text(), chip="gfx1100")
    assert isinstance(made.code, str)
    found = usages(made.code).values()
    assert len(found) > 1 and not any(usage.spill_bytes for usage in found)


def test_scalar_registers_in_lanes_of_vectors_are_no_spills() -> None:
    text = """.amdgpu_metadata
amdhsa.kernels:
  - .name: k
    .private_segment_fixed_size: 0
    .group_segment_fixed_size: 144
    .sgpr_spill_count: 30
    .vgpr_count: 62
    .vgpr_spill_count: 0
.end_amdgpu_metadata
"""
    assert usages(text)["k"].spill_bytes == 0
    assert usages(text.replace("size: 0", "size: 16"))["k"].spill_bytes == 16
    assert usages(text.replace("vgpr_spill_count: 0", "vgpr_spill_count: 3"))["k"].spill_bytes == 12


@TOOLS
def test_barriers_do_not_wait_for_loads_of_the_next_step() -> None:
    text = product(512, 512, 512, "f16", "f32", ("mk", "nk"))
    fixed = {"mma": "mfma", "mainloop": "register_prefetch", "block": (64, 64, 64)}
    made = compile_module(text, chip="gfx942", schedule=fixed)
    assert isinstance(made.code, str)
    lines = made.code.splitlines()
    before = [lines[number - 1] for number, line in enumerate(lines) if "s_barrier" in line]
    assert before and not any("vmcnt" in line for line in before)


@TOOLS
def test_other_kernels_and_a_code_object() -> None:
    text = """func.func @f(%x: tensor<4x300xf32>, %w: tensor<300x64xf32>) -> tensor<4x64xf32> {
      %e = tensor.empty() : tensor<4x300xf32>
      %s = linalg.softmax dimension(1) ins(%x : tensor<4x300xf32>) outs(%e : tensor<4x300xf32>) -> tensor<4x300xf32>
      %zero = arith.constant 0.0 : f32
      %o = tensor.empty() : tensor<4x64xf32>
      %c = linalg.fill ins(%zero : f32) outs(%o : tensor<4x64xf32>) -> tensor<4x64xf32>
      %r = linalg.matmul ins(%s, %w : tensor<4x300xf32>, tensor<300x64xf32>) outs(%c : tensor<4x64xf32>)
        -> tensor<4x64xf32>
      return %r : tensor<4x64xf32>
    }"""
    made = compile_module(text, chip="mi300x")
    assert isinstance(made.code, str) and made.launch is not None
    found = usages(made.code)
    assert {step.entry for step in made.launch.steps} <= set(found)
    assert not any(usage.spill_bytes for usage in found.values())
    assert "v_exp_f32" in made.code and "__ocml" not in made.code
    linked = made.emit("hsaco")
    assert isinstance(linked, bytes) and linked[:4] == b"\x7fELF"
    assert "amdgpu_kernel" in str(made.emit("llvm"))


def test_missing_tools_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    text = product(32, 32, 32, "f16", "f32", ORDERS[0])
    monkeypatch.setattr(amdgpu, "find_tools", lambda: None)
    with pytest.raises(
        TargetError, match=r"llc with the AMDGPU back end, version 19 or later.*apt-get install llvm-19"
    ):
        compile_module(text, chip="gfx942")
    assert "rocdl.kernel" in compile_module(text, chip="gfx942", until="rocdl").ir("rocdl")
    monkeypatch.setattr(amdgpu, "find_tools", lambda: Tools("/nowhere/llc-19", "", "", 19))
    with pytest.raises(TargetError, match=r"no ld\.lld beside /nowhere/llc-19: apt-get install lld-19"):
        amdgpu.code_object("", "gfx942")
    with pytest.raises(InputError, match="cubin"):
        compile_module(text, chip="gfx942", until="rocdl").emit("cubin")
    with pytest.raises(PassError, match="chips must be one of"):
        SelectMath(chips="spirv")


def test_llvm_ir_for_older_versions() -> None:
    buffer = "ptr addrspace(8) @llvm.amdgcn.make.buffer.rsrc"
    new = f"""declare {buffer}.p8.p0(ptr readnone captures(none), i16, i64, i32) #1
  %1 = call {buffer}.p8.p0(ptr %0, i16 0, i64 8192, i32 159744)
  %2 = getelementptr inbounds nuw half, ptr %0, i64 %3
define amdgpu_kernel void @k() #0 {{
attributes #0 = {{ "uniform-work-group-size" }}
attributes #1 = {{ nocreateundeforpoison }}
!2 = !{{!"amdgpu-synchronize-as", !"local"}}
"""
    old = f"""declare {buffer}.p0(ptr readnone, i16, i32, i32)
  %1 = call {buffer}.p0(ptr %0, i16 0, i32 8192, i32 159744)
  %2 = getelementptr inbounds half, ptr %0, i64 %3
define amdgpu_kernel void @k() #0 {{
attributes #0 = {{ "uniform-work-group-size" }}
!2 = !{{!"amdgpu-as", !"local"}}
"""
    assert readable(new, 19) == old
    assert "nocreateundeforpoison" not in readable(new, 99) and "i64 8192" in readable(new, 99)


@TOOLS
def test_runs_on_the_simulator_alone() -> None:
    text = product(40, 24, 32, "f16", "f32", ("mk", "nk"))
    a, b = (np.random.default_rng(0).integers(-4, 5, shape).astype(np.float16) for shape in ((40, 32), (24, 32)))
    kernel = mlir_gemm.compile(text, chip="mi210", device="simulator")
    np.testing.assert_array_equal(kernel(a, b), a.astype(np.float32) @ b.astype(np.float32).T)
    with pytest.raises(DeviceError, match="nothing here launches code for gfx90a: device='simulator'"):
        mlir_gemm.compile(text, chip="mi210", device="gpu")
