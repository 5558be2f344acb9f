"""coop_matrix: cooperative matrices of Vulkan (VK_KHR_cooperative_matrix), a subgroup at a time.

Which shapes and types there are, each driver says (vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR): a chip's row
lists those that its drivers have. Fragments are opaque, so operands come from shared memory and results go through it
unless they can be stored as they are."""

from __future__ import annotations

from collections.abc import Iterable

from mlir_gemm.parts.base import Form, Mma, Rules
from mlir_gemm.parts.layout import layout_field, pad_of
from mlir_gemm.parts.registry import layout_of
from mlir_gemm.parts.resources import operand_bytes
from mlir_gemm.parts.warp_level.clocks import tensor_core_rate
from mlir_gemm.parts.warp_level.cost import LANES
from mlir_gemm.parts.warp_level.search import searching
from mlir_gemm.parts.waves import registers_needed
from mlir_gemm.parts.wording import multiples, shown_tile
from mlir_gemm.spec.element_types import ELEMENT_BYTES
from mlir_gemm.spec.passes import Placed, at, step
from mlir_gemm.spec.problem import Problem, element_bytes
from mlir_gemm.spec.schedule import Schedule, Tile
from mlir_gemm.spec.target import Target
from mlir_gemm.spec.threads import LANES as WARP
from mlir_gemm.spec.tile_space import HALVES

ROW = 16
"""Bytes at whose multiples rows in memory begin (SPV_KHR_cooperative_matrix: the lesser of 16 and a row's)."""
HALF = "CooperativeMatrixKHR.f16.f16"
_F16: tuple[Tile, ...] = ((16, 16, 16), (8, 16, 16), (8, 8, 16), (8, 8, 8))
_I8: tuple[Tile, ...] = ((16, 16, 32), (16, 16, 16), (8, 16, 32), (8, 8, 32), (8, 8, 8))


def _needs(kind: str, shape: Tile) -> frozenset[str]:
    return frozenset({f"CooperativeMatrixKHR.{kind}.{shown_tile(shape)}"})


def _passes(schedule: Schedule, target: Target) -> Iterable[Placed]:
    instruction, subgroup = schedule.instruction, target.subgroup
    narrow = {"subgroup": subgroup} if subgroup != WARP else {}
    half = {} if HALF in target.capabilities else {"half": False}
    yield at("accumulate", "initialise", step("sink-init", loads=True))
    yield at("lower", "mma", step("coop-matrix-epilogue", rows=instruction[0], **half))
    yield at("lower", "mma", step("mma-to-coop-matrix", instruction=instruction, **narrow), step("tiles-to-lanes"))
    yield at("spirv", "registers", step("number-subgroups", size=subgroup))


def _scratch(problem: Problem, schedule: Schedule) -> int:
    """A chunk of rows for each warp, beside the operands: SPIR-V has no memory of two types. None where whole matrices
    are loaded, added, converted and stored."""
    m, n, _ = schedule.block
    other = problem.dynamic or problem.batch > 1 or problem.epilogue_ops or problem.extra_bytes
    whole = not (other or problem.m % m or problem.n % n) and problem.out == problem.acc
    if whole and problem.out_order == "mn" and min(problem.out_vector, problem.epilogue_vector) >= 8 * ROW:
        return operand_bytes(problem, schedule)
    row = schedule.warp[1] * ELEMENT_BYTES[problem.acc] + ROW
    return operand_bytes(problem, schedule) + schedule.warps * schedule.instruction[0] * row


def adds_up(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    """Operands come from shared memory, and sums stay in the matrices."""
    for name in ("promote", "accumulate"):
        if not getattr(schedule, name):
            return f"{name}=off with mma=coop_matrix; expected {name}=on"
    return None


def alike(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    """No driver multiplies signed by unsigned bytes."""
    if problem.unsigned in ("", "ab"):
        return None
    return f"{problem.unsigned.upper()} alone unsigned: not with mma=coop_matrix, whose operands are both signed or not"


def divided(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    """The subgroups of 32 lanes divide a warp tile along n."""
    unit = schedule.instruction[1] * WARP // target.subgroup
    if schedule.warp[1] % unit == 0:
        return None
    return (
        f"warp={shown_tile(schedule.warp)} with subgroups of {target.subgroup}: its n must be a multiple of {unit}; "
        f"the nearest: {multiples(schedule.warp[1], unit)}"
    )


def rows_aligned(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    """Matrices are loaded from rows that begin at multiples of 16 bytes."""
    for operand in "ab":
        if layout_of(schedule, operand).swizzled:
            given = layout_field(schedule, operand)
            return f"{given} with mma=coop_matrix, which reads whole rows; expected {given.partition('=')[0]}=pad"
    m, n, k = schedule.block
    for operand, columns in (
        ("a", k if problem.a_order == "mk" else m),
        ("b", n if problem.b_order == "kn" else k),
    ):
        pad, unit = pad_of(schedule, operand), ROW // element_bytes(problem, operand)
        if (columns + pad) % unit:
            return (
                f"pad={pad}: rows of {columns} elements in shared memory must begin at multiples of {unit} (16 bytes); "
                f"the nearest: {multiples(pad, unit, least=0)}"
            )
    return None


def stored_once(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    """Results are handed over through shared memory, once: a tile is stored at one place."""
    if schedule.space not in HALVES:
        return None
    return f"space={schedule.space} with mma=coop_matrix: a tile is stored at one place; expected space=all"


PART = Mma(
    "coop_matrix",
    rank=1,
    forms=(
        *(Form(("f16",), False, "f32", shape, needs=_needs("f16", shape)) for shape in _F16),
        *(Form(("f16",), False, "f16", shape, "f16", _needs("f16", shape) | {HALF}) for shape in _F16),
        *(Form(("i8",), False, "i32", shape, needs=_needs("i8", shape)) for shape in _I8),
    ),
    passes=_passes,
    search=searching("coop_matrix"),
    family=LANES,
    rate=tensor_core_rate,
    registers=registers_needed,
    needs=frozenset({"CooperativeMatrixKHR"}),
    rules=Rules(problem=(alike,), shape=(adds_up, divided, rows_aligned, stored_once)),
    rival=True,
    by_matrix=lambda _, __: True,
    scratch=_scratch,
)
