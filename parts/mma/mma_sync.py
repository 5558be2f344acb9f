"""mma_sync: ldmatrix and mma.sync, a warp at a time.

Shapes and fragment layouts: PTX ISA, "Matrix multiply-accumulate operation using mma instruction"."""

from __future__ import annotations

from collections.abc import Iterator

from mlir_gemm.parts.base import Form, Mma, Rules
from mlir_gemm.parts.composite_rules import whole_elements
from mlir_gemm.parts.registry import mainloop_of
from mlir_gemm.parts.sparse_rules import sparse_form, untried
from mlir_gemm.parts.warp_level.clocks import tensor_core_rate
from mlir_gemm.parts.warp_level.cost import LANES
from mlir_gemm.parts.warp_level.registers import fragments, registers_needed
from mlir_gemm.parts.warp_level.search import searching
from mlir_gemm.spec.element_types import TYPES
from mlir_gemm.spec.passes import PassSpec, Placed, at, step
from mlir_gemm.spec.problem import Problem, element_bytes
from mlir_gemm.spec.schedule import Schedule, Tile
from mlir_gemm.spec.sparse import DEPTH
from mlir_gemm.spec.target import Target

_K32 = frozenset({"mma.sync.k32"})
_F64 = _K32 | {"mma.sync.f64"}
_F8 = frozenset({"mma.sync.f8"})
_ORDERED = frozenset({"mma.sp.ordered"})
SPARSE = (16, 8, DEPTH)
"""Two products with a 2:4 sparse A, of 32 of k each, for which lanes have a word of metadata. Nothing else has this
shape."""
NOT_SPARSE = (
    "split_k_workspace",
    "stream_k",
    "space",
    "cluster_m",
    "cluster_n",
    "split_k_cluster",
    "tiles_per_block",
    "promote_a",
    "promote_b",
    "promote_c",
    "promote_result",
    "prefetch_c",
    "fragments_ahead",
)
"""Fields that products with a 2:4 sparse operand have not been tried with."""


def by_matrix(problem: Problem, operand: str) -> bool:
    """Whether the fragments of an operand are loaded as 8x8 matrices: always for 16-bit elements, which ldmatrix can
    transpose; for bytes and 32 bits when neighbours lie along k; never for 64. Of 8-bit floats along k each lane loads
    its four at once. The rest is loaded element by element."""
    size = element_bytes(problem, operand)
    if problem.composite and operand == "b":
        return False
    if TYPES[problem.a if operand == "a" else problem.b].is_float and size == 1:
        return False
    along_k = problem.a_order == "mk" if operand == "a" else problem.b_order == "nk"
    return size == 2 or (along_k and size != 8)


def _features(schedule: Schedule, target: Target) -> str:
    """LLVM writes an older PTX for sm_75 than has its instructions, for sm_80 than has sparse ones, and for sm_89, the
    one chip with 8-bit floats and without the larger products of f64, than has those."""
    if schedule.instruction == SPARSE and not target.capabilities >= _F64:
        return "+ptx84" if target.capabilities >= _F8 else "+ptx71"
    if not target.capabilities >= _K32:
        return "+ptx65"
    return "+ptx84" if schedule.precision == "f8" and not target.capabilities >= _F64 else ""


def to_sync(schedule: Schedule, instruction: Tile, target: Target) -> PassSpec:
    """The pass. Where the first fragments of a k tile are loaded ahead, those of each step come just before its
    products: the assembler moves them up, but over no barrier."""
    single = {"double_buffer": False} if schedule.fragments_ahead else {}
    ordered = {"ordered": True} if instruction == SPARSE and target.capabilities >= _ORDERED else {}
    return step("mma-to-sync", instruction=instruction, **single, **ordered)


def _rate(problem: Problem, target: Target) -> float:
    return tensor_core_rate(problem, target) * (target.rates.sparse if problem.sparse else 1)


def sparse_operand(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    """What has a 2:4 sparse A, beside the tiles of its instruction."""
    if not problem.sparse:
        return None
    if reason := sparse_form(problem):
        return reason
    if mainloop_of(schedule).producer or not schedule.promote:
        what = "promote=off" if not schedule.promote else f"mainloop={schedule.mainloop}"
        return f"{what} with a 2:4 sparse operand and mma=mma_sync: expected copies by threads to shared memory"
    return untried(schedule, NOT_SPARSE)


def _passes(schedule: Schedule, target: Target) -> Iterator[Placed]:
    if schedule.instruction == SPARSE:
        yield at("tensorize", "tensorize", step("compress-operand"))
    yield at("tensorize", "tensorize", step("stage-components"))
    yield at("lower", "mma", to_sync(schedule, schedule.instruction, target))


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
        Form(("f16",), False, "f32", SPARSE, needs=_K32, sparse=True),
        Form(("bf16",), False, "f32", SPARSE, needs=_K32, sparse=True),
    ),
    passes=_passes,
    search=searching("mma_sync"),
    family=LANES,
    rate=_rate,
    rules=Rules(shape=(sparse_operand, whole_elements)),
    composites=True,
    registers=registers_needed,
    features=_features,
    needs=frozenset({"mma.sync"}),
    reads_rings=True,
    stores_rows=True,
    rival=True,
    by_matrix=by_matrix,
    fragments=fragments,
)
