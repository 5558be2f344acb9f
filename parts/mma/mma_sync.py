"""mma_sync: ldmatrix and mma.sync, a warp at a time.

Shapes and fragment layouts: PTX ISA, "Matrix multiply-accumulate operation using mma instruction"."""

from __future__ import annotations

from mlir_gemm.parts.base import Form, Mma
from mlir_gemm.parts.warp_level.clocks import tensor_core_rate
from mlir_gemm.parts.warp_level.cost import LANES
from mlir_gemm.parts.warp_level.registers import fragments, registers_needed
from mlir_gemm.parts.warp_level.search import searching
from mlir_gemm.spec.element_types import TYPES
from mlir_gemm.spec.passes import PassSpec, at, step
from mlir_gemm.spec.problem import Problem, element_bytes
from mlir_gemm.spec.schedule import Schedule, Tile
from mlir_gemm.spec.target import Target

_K32 = frozenset({"mma.sync.k32"})
_F64 = _K32 | {"mma.sync.f64"}
_F8 = frozenset({"mma.sync.f8"})


def by_matrix(problem: Problem, operand: str) -> bool:
    """Whether the fragments of an operand are loaded as 8x8 matrices: always for 16-bit elements, which ldmatrix can
    transpose; for bytes and 32 bits when neighbours lie along k; never for 64. Of 8-bit floats along k each lane loads
    its four at once. The rest is loaded element by element."""
    size = element_bytes(problem, operand)
    if TYPES[problem.a if operand == "a" else problem.b].is_float and size == 1:
        return False
    along_k = problem.a_order == "mk" if operand == "a" else problem.b_order == "nk"
    return size == 2 or (along_k and size != 8)


def _features(schedule: Schedule, target: Target) -> str:
    """LLVM writes an older PTX for sm_75 than has its instructions, and for sm_89, the one chip with 8-bit floats and
    without the larger products of f64, than has those."""
    if not target.capabilities >= _K32:
        return "+ptx65"
    return "+ptx84" if schedule.precision == "f8" and not target.capabilities >= _F64 else ""


def to_sync(schedule: Schedule, instruction: Tile) -> PassSpec:
    """The pass. Where the first fragments of a k tile are loaded ahead, those of each step come just before its
    products: the assembler moves them up, but over no barrier."""
    single = {"double_buffer": False} if schedule.fragments_ahead else {}
    return step("mma-to-sync", instruction=instruction, **single)


PART = Mma(
    "mma_sync",
    rank=1,
    forms=(
        Form(("f16",), False, "f32", (16, 8, 16), needs=_K32),
        Form(("f16",), False, "f32", (16, 8, 8)),
        Form(("f16",), False, "f16", (16, 8, 16), "f16", needs=_K32),
        Form(("f16",), False, "f16", (16, 8, 8), "f16"),
        Form(("bf16",), False, "f32", (16, 8, 16), needs=_K32),
        Form(("f32",), False, "f32", (16, 8, 8), "tf32", needs=_K32),
        Form(("f64",), False, "f64", (16, 8, 16), needs=_F64),
        Form(("f64",), False, "f64", (16, 8, 8), needs=_F64),
        Form(("f64",), False, "f64", (8, 8, 4), needs=_K32),
        Form(("i8",), False, "i32", (16, 8, 32), needs=_K32),
        Form(("i8",), False, "i32", (8, 8, 16)),
        Form(("f8E4M3FN", "f8E5M2"), True, "f32", (16, 8, 32), "f8", needs=_F8),
    ),
    passes=lambda schedule, _: [at("lower", "mma", to_sync(schedule, schedule.instruction))],
    search=searching("mma_sync"),
    family=LANES,
    rate=tensor_core_rate,
    registers=registers_needed,
    features=_features,
    needs=frozenset({"mma.sync"}),
    reads_rings=True,
    stores_rows=True,
    rival=True,
    by_matrix=by_matrix,
    fragments=fragments,
)
