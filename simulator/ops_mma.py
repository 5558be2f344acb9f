"""mma.sync on registers, as nvvm has it (bytes, f64, f16 with 8 of k) or as assembly (the larger ones of f64, 8-bit
floats), whose results llvm.extractvalue takes."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.simulator.decode import Decoder, Step, handles, integers
from mlir_gemm.simulator.elements import ELEMENTS, LANES, spread_to
from mlir_gemm.simulator.errors import unsupported
from mlir_gemm.simulator.ops_gpu import check_collective
from mlir_gemm.simulator.ops_nvgpu import gathered, spread
from mlir_gemm.simulator.warps import Warp
from mlir_gemm.simulator.wgmma_sparse import whole_of

_KINDS: dict[str, Any] = {
    "s8": (np.int32, np.int8), "u8": (np.int32, np.uint8), "f64": (np.float64, np.float64),
    "f16": (np.float16, np.float16), "e4m3": (np.int32, ELEMENTS["f8E4M3FN"].storage),
    "e5m2": (np.int32, ELEMENTS["f8E5M2"].storage),
}  # fmt: skip
"""The type of a register, and of what it holds, for a type of an operand."""
_SHAPES: dict[tuple[int, ...], tuple[str, ...]] = {
    (8, 8, 4): ("f64", "f16"),
    (16, 8, 32): ("s8", "u8"),
    (8, 8, 16): ("s8", "u8"),
    (16, 8, 8): ("f16",),
}
"""What nvvm.mma.sync multiplies here."""
_WIDE: dict[str, Any] = {"f64": np.float64, "i32": np.int32, "f32": np.float32, "f16": np.float32}
"""What sums of an accumulator's type are computed in."""


def _product(decoder: Decoder, operation: Any, kinds: list[str], shape: list[int], acc: str, sizes: list[int]) -> Step:
    """A product of registers: `sizes` of A, of B and of the accumulator, in this order."""
    slots = decoder.all_slots(operation.operation.operands)
    out = decoder.slot(operation.operation.results[0])
    info = decoder.info(operation, collective=True)
    counters = decoder.report.counters
    wide, work = _WIDE[acc], 2 * shape[0] * shape[1] * shape[2]
    kept = ELEMENTS[acc].storage

    def registers(warp: Warp, first: int, count: int, type_: Any) -> Any:
        found = [np.asarray(warp.slots[slot], type_) for slot in slots[first:][:count]]
        return np.stack([spread_to(each, (LANES, *each.shape[1:])) for each in found], axis=1)

    def step(warp: Warp) -> None:
        if warp.mask is not None:
            check_collective(info, warp)
        left, right = (
            registers(warp, first, count, _KINDS[kind][0]).view(_KINDS[kind][1]).reshape(LANES, count, -1).astype(wide)
            for first, count, kind in zip((0, sizes[0]), sizes, kinds, strict=False)
        )
        sums = registers(warp, sizes[0] + sizes[1], sizes[2], kept).reshape(LANES, -1, 2)
        a, b, c = gathered(left, right, sums, shape[0], shape[2])
        found = spread((a @ b + c).astype(kept))
        warp.slots[out] = found if acc == "f16" else found.reshape(LANES, -1)
        counters.tensor_operations += 1
        counters.flops += work

    return step


@handles("nvvm.mma.sync")
def _mma_sync(decoder: Decoder, operation: Any) -> Step:
    op = operation.operation
    attributes = op.attributes
    shape = [int(number) for number in re.findall(r"= (\d+)", str(attributes["shape"]))]
    named = [f"multiplicand{side}PtxType" for side in "AB"]
    kinds = [re.findall(r"<(\w+)>", str(attributes[name]))[0] for name in named]
    if shape == [8, 8, 4] and kinds == ["f16", "f16"] and "f32" in str(op.results[0].type):
        return _by_quad_pairs(decoder, operation, ["row" in str(attributes[f"layout{side}"]) for side in "AB"])
    if ["row" in str(attributes[f"layout{side}"]) for side in "AB"] != [True, False]:
        raise unsupported(operation, "of other than rows of A and columns of B is not simulated")
    wraps = kinds[0] not in ("s8", "u8") or "wrapped" in str(attributes["intOverflowBehavior"])
    if not wraps or any(kind not in _SHAPES.get(tuple(shape), ()) for kind in kinds):
        expected = "expected f64, f16 with 8 of k, or bytes that wrap around"
        raise unsupported(operation, f"of {kinds}, {shape}, is not simulated; {expected}")
    acc = "f16" if "vector<2xf16>" in str(op.results[0].type) else {"f64": "f64", "f16": "f32"}.get(kinds[0], "i32")
    return _product(decoder, operation, kinds, shape, acc, integers(attributes["operandSegmentSizes"]))


_LANE = np.arange(LANES)
_QUADS = _LANE // 4 % 4
"""The quad-pair of each lane."""
_UPPER = _LANE // 16 * 4
"""The first of the rows of A, and of the columns of B, that a lane and its three neighbours have."""


def _by_quad_pairs(decoder: Decoder, operation: Any, rows: list[bool]) -> Step:
    """m8n8k4 of f16: the four quad-pairs multiply matrices of their own. `rows`: whether A and B are stored so (PTX:
    "Matrix Fragments for mma.m8n8k4 with .f16 floating point type")."""
    op = operation.operation
    slots = decoder.all_slots(op.operands)
    out = decoder.slot(op.results[0])
    info = decoder.info(operation, collective=True)
    counters = decoder.report.counters
    own, steps = (_LANE % 4 + _UPPER)[:, None], np.arange(4)[None, :]
    across, single = _UPPER[:, None] + steps, (_LANE % 4)[:, None]
    lane_quads, numbers = _QUADS[:, None], np.arange(8)[None, :]
    row = (_LANE & 1)[:, None] + (numbers & 2) + _UPPER[:, None]
    column = (numbers & 4) + (_LANE & 2)[:, None] + (numbers & 1)

    def registers(warp: Warp, first: int) -> Any:
        found = [np.broadcast_to(np.asarray(warp.slots[slot], np.float16), (LANES, 2)) for slot in slots[first:][:2]]
        return np.concatenate(found, axis=1).astype(np.float32)

    def step(warp: Warp) -> None:
        if warp.mask is not None:
            check_collective(info, warp)
        a, b = np.zeros((4, 8, 4), np.float32), np.zeros((4, 4, 8), np.float32)
        a[(lane_quads, own, steps) if rows[0] else (lane_quads, across, single)] = registers(warp, 0)
        b[(lane_quads, single, across) if rows[1] else (lane_quads, steps, own)] = registers(warp, 2)
        sums = [np.broadcast_to(np.asarray(warp.slots[slot], np.float32), LANES) for slot in slots[4:]]
        c = np.zeros((4, 8, 8), np.float32)
        c[lane_quads, row, column] = np.stack(sums, axis=1)
        warp.slots[out] = np.ascontiguousarray((a @ b + c)[lane_quads, row, column])
        counters.tensor_operations += 1
        counters.flops += 4 * 2 * 8 * 8 * 4

    return step


_ASSEMBLY = re.compile(
    r"mma\.sync\.aligned\.m(\d+)n8k(\d+)\.row\.col\.(f64|f32)\.(f64|e4m3|e5m2)\.(f64|e4m3|e5m2)\.(f64|f32) "
    r"\{([^}]*)\}, \{([^}]*)\}, \{([^}]*)\}, \{([^}]*)\};"
)


_SPARSE = re.compile(
    r"mma\.sp(?:::ordered_metadata)?\.sync\.aligned\.m16n8k32\.row\.col\.f32\.(b?f16)\.(b?f16)\.f32 "
    r"\{([^}]*)\}, \{([^}]*)\}, \{([^}]*)\}, \{([^}]*)\}, \$(\d+), ([01]);"
)
_SPARSE_WORK = 2 * 16 * 8 * 32


def _multiply_sparse(decoder: Decoder, operation: Any, found: re.Match[str]) -> Step:
    """mma.sp of m16n8k32: lanes hold the values of A as those of a dense one of 16 columns (PTX ISA, "Matrix Fragments
    for sparse mma.m16n8k32 with .f16 and .bf16 types")."""
    op = operation.operation
    lists = [re.findall(r"\$(\d+)", found[place]) for place in range(3, 7)]
    in_order = [int(number) for each in [*lists, [found[7]]] for number in each] == list(range(17))
    given = ",".join([*["=f"] * 4, *["r"] * 8, *["f"] * 4, "r"])
    right = ir.StringAttr(op.attributes["constraints"]).value == given and "has_side_effects" in op.attributes
    if found[1] != found[2] or [len(each) for each in lists] != [4] * 4 or not in_order or not right:
        raise unsupported(operation, f"'{found[0]}' does not take its registers in order, with side effects")
    slots, out = decoder.all_slots(op.operands), decoder.slot(op.results[0])
    info, counters, selector = decoder.info(operation, collective=True), decoder.report.counters, int(found[8])
    storage = ELEMENTS[found[1]].storage

    def registers(warp: Warp, first: int, type_: Any) -> Any:
        own = [np.broadcast_to(np.asarray(warp.slots[slot], type_), LANES) for slot in slots[first:][:4]]
        return np.stack(own, axis=1)

    def step(warp: Warp) -> None:
        if warp.mask is not None:
            check_collective(info, warp)
        left, right = (
            registers(warp, first, np.int32).view(storage).reshape(LANES, 4, 2).astype(np.float32) for first in (0, 4)
        )
        sums = registers(warp, 8, np.float32).reshape(LANES, 2, 2)
        values, _, c = gathered(left, left[:, :2], sums, 16, 16)
        _, b, _ = gathered(np.concatenate([left, left], axis=1), right, sums, 16, 32)
        words = np.broadcast_to(np.asarray(warp.slots[slots[12]], np.int32), LANES)
        whole, ordered = whole_of(values, words, selector)
        if not ordered:
            info.find("undefined", warp, -1, "", "metadata names places that are not in order, or twice one")
        warp.slots[out] = spread(whole.astype(np.float32) @ b.astype(np.float32) + c).reshape(LANES, -1)
        counters.tensor_operations += 1
        counters.flops += _SPARSE_WORK

    return step


def multiply_by_assembly(decoder: Decoder, operation: Any, text: str) -> Step:
    """A product as assembly."""
    op = operation.operation
    sparse = _SPARSE.fullmatch(text)
    if sparse is not None:
        return _multiply_sparse(decoder, operation, sparse)
    found = _ASSEMBLY.fullmatch(text)
    acc, kinds = (found[3], [found[4], found[5]]) if found else ("", [])
    shape = [int(found[1]), 8, int(found[2])] if found else []
    double = acc == "f64" and kinds == ["f64", "f64"] and shape[2] in (4, 8, 16)
    eight = acc == "f32" and "f64" not in kinds and shape[2] == 32
    if found is None or shape[0] != 16 or found[6] != acc or not (double or eight):
        expected = "mma.sync of f64, m16n8k4, k8 or k16, or of 8-bit floats, m16n8k32"
        raise unsupported(operation, f"'{text}' is not simulated; expected {expected}")
    lists = [re.findall(r"\$(\d+)", found[place]) for place in range(7, 11)]
    counts = [len(each) for each in lists]
    in_order = [int(number) for each in lists for number in each] == list(range(sum(counts)))
    sums, operand = "dd" if double else "fr"
    given = ",".join([*[f"={sums}"] * 4, *[operand] * (counts[1] + counts[2]), *[sums] * 4])
    wanted = [4, shape[2] // 2, shape[2] // 4, 4] if double else [4, 4, 2, 4]
    if not in_order or counts != wanted or len(op.operands) != sum(counts[1:]):
        raise unsupported(operation, f"'{text}' does not take its registers in order")
    if ir.StringAttr(op.attributes["constraints"]).value != given or "has_side_effects" not in op.attributes:
        raise unsupported(operation, f"'{text}' must have side effects and the constraints {given}")
    return _product(decoder, operation, kinds, shape, acc, counts[1:])
