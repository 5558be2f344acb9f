"""nvvm: rounding to tf32, stmatrix, and mma.sync on registers (bytes, f64), whose results llvm.extractvalue takes.

The larger mma.sync of f64 come as assembly, of which nothing else is known here.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.lowering.assembly import NO_BITS
from mlir_gemm.lowering.l2_eviction import POLICIES
from mlir_gemm.lowering.release_after_loads import AFTER_LOADS
from mlir_gemm.lowering.wgmma_registers import PERMUTE
from mlir_gemm.simulator.access import Access
from mlir_gemm.simulator.decode import Blocking, Decoder, Step, handles, integers
from mlir_gemm.simulator.elements import ELEMENTS, LANES
from mlir_gemm.simulator.errors import unsupported
from mlir_gemm.simulator.mbarriers import buffer_at
from mlir_gemm.simulator.ops_gpu import check_collective
from mlir_gemm.simulator.ops_llvm import tied
from mlir_gemm.simulator.ops_nvgpu import gathered, spread
from mlir_gemm.simulator.ops_wgmma import multiply_by_registers, multiply_sparse
from mlir_gemm.simulator.ops_wgmma_registers import permuted
from mlir_gemm.simulator.shadow import ANY_LANE
from mlir_gemm.simulator.warps import Warp
from mlir_gemm.simulator.wgmma_registers import is_product
from mlir_gemm.simulator.wgmma_sparse import is_sparse

_CUT = 13
"""Bits of f32 that tf32 does not have."""
_KINDS: dict[str, Any] = {
    "#nvvm.mma_type<s8>": np.int8,
    "#nvvm.mma_type<u8>": np.uint8,
    "#nvvm.mma_type<f64>": np.float64,
}
"""What a register of an operand holds, by its type."""


@handles("nvvm.convert.float.to.tf32")
def _to_tf32(decoder: Decoder, operation: Any) -> Step:
    source, out = decoder.slot(operation.operation.operands[0]), decoder.slot(operation.operation.results[0])
    mode = str(operation.operation.attributes["rnd"])
    if "rna" not in mode:
        raise unsupported(operation, f"rounding by {mode} is not simulated; expected rna")

    def step(warp: Warp) -> None:
        value = np.atleast_1d(np.asarray(warp.slots[source], np.float32))
        bits = value.view(np.uint32)
        # Half of the last bit that stays is added to the magnitude: to nearest, ties away from zero.
        nearest = (bits + np.uint32(1 << (_CUT - 1))) & np.uint32(-(1 << _CUT) & 0xFFFFFFFF)
        warp.slots[out] = np.where(np.isfinite(value), nearest, bits).view(np.int32)

    return step


@handles("nvvm.mma.sync")
def _mma_sync(decoder: Decoder, operation: Any) -> Step:
    op = operation.operation
    attributes = op.attributes
    shape = [int(number) for number in re.findall(r"= (\d+)", str(attributes["shape"]))]
    double = shape == [8, 8, 4]
    kinds = [str(attributes[f"multiplicand{side}PtxType"]) for side in "AB"]
    storage = [_KINDS.get(kind) for kind in kinds]
    wraps = double or "wrapped" in str(attributes["intOverflowBehavior"])
    if None in storage or not wraps or (not double and shape != [16, 8, 32]):
        raise unsupported(operation, f"of {kinds}, {shape}, is not simulated; expected f64, or bytes that wrap around")
    slots = decoder.all_slots(op.operands)
    sizes = integers(attributes["operandSegmentSizes"])
    out = decoder.slot(op.results[0])
    info = decoder.info(operation, collective=True)
    counters = decoder.report.counters
    value, wide = (np.float64, np.float64) if double else (np.int32, np.int32)

    def registers(warp: Warp, first: int, count: int) -> Any:
        values = [np.broadcast_to(np.asarray(warp.slots[slot], value), LANES) for slot in slots[first:][:count]]
        return np.stack(values, axis=1)

    def step(warp: Warp) -> None:
        if warp.mask is not None:
            check_collective(info, warp)
        sides = [registers(warp, first, count) for first, count in zip((0, sizes[0]), sizes, strict=False)]
        left, right = (
            side.view(type_).reshape(LANES, side.shape[1], -1).astype(wide)
            for side, type_ in zip(sides, storage, strict=True)
        )
        sums = registers(warp, sizes[0] + sizes[1], sizes[2]).reshape(LANES, -1, 2)
        a, b, c = gathered(left, right, sums, shape[0], shape[2])
        warp.slots[out] = spread(a @ b + c).reshape(LANES, -1)
        counters.tensor_operations += 1
        counters.flops += 2 * shape[0] * shape[1] * shape[2]

    return step


_BYTES: dict[str, Any] = {"signed": np.int8, "unsigned": np.uint8}


@handles("nvvm.dot.accumulate.4way")
def _dot_accumulate(decoder: Decoder, operation: Any) -> Step:
    """dp4a: the sum wraps around."""
    op = operation.operation
    a, b, c = decoder.all_slots(op.operands)
    out = decoder.slot(op.results[0])
    kinds = [re.findall(r"<(\w+)>", str(op.attributes[f"{side}_type"]))[0] for side in "ab"]
    left, right = (_BYTES[kind] for kind in kinds)

    def step(warp: Warp) -> None:
        sides = (np.asarray(warp.slots[slot], np.int8).view(type_).astype(np.int32)
                 for slot, type_ in ((a, left), (b, right)))  # fmt: skip
        products = np.multiply(*sides).sum(axis=-1, dtype=np.int32)
        warp.slots[out] = np.asarray(warp.slots[c], np.int32) + products

    return step


_ASSEMBLY = re.compile(
    r"mma\.sync\.aligned\.m16n8k(4|8|16)\.row\.col\.f64\.f64\.f64\.f64 "
    r"\{([^}]*)\}, \{([^}]*)\}, \{([^}]*)\}, \{([^}]*)\};"
)


@handles("llvm.inline_asm")
def _assembly(decoder: Decoder, operation: Any) -> Step | Blocking:
    op = operation.operation
    text = ir.StringAttr(op.attributes["asm_string"]).value
    if not text:
        return tied(decoder, operation)
    if text == AFTER_LOADS:
        return _behind_loads(decoder, operation)
    if is_sparse(text):
        return multiply_sparse(decoder, operation)
    if is_product(text):
        return multiply_by_registers(decoder, operation)
    if text == PERMUTE:
        return permuted(decoder, operation)
    if text == NO_BITS:
        return _no_bits(decoder, operation)
    if text in POLICIES:
        return _policy(decoder, operation)
    found = _ASSEMBLY.fullmatch(text)
    if found is None:
        raise unsupported(operation, f"'{text}' is not simulated; expected mma.sync of f64, m16n8k4, k8 or k16")
    depth = int(found[1])
    lists = [re.findall(r"\$(\d+)", found[place]) for place in range(2, 6)]
    counts = [len(each) for each in lists]
    in_order = [int(number) for each in lists for number in each] == list(range(sum(counts)))
    given = ",".join([*["=d"] * counts[0], *["d"] * sum(counts[1:])])
    if not in_order or counts != [4, depth // 2, depth // 4, 4] or len(op.operands) != sum(counts[1:]):
        raise unsupported(operation, f"'{text}' does not take its registers in order")
    if ir.StringAttr(op.attributes["constraints"]).value != given or "has_side_effects" not in op.attributes:
        raise unsupported(operation, f"'{text}' must have side effects and the constraints {given}")
    slots = decoder.all_slots(op.operands)
    out = decoder.slot(op.results[0])
    info = decoder.info(operation, collective=True)
    counters = decoder.report.counters

    def registers(warp: Warp, first: int, count: int) -> Any:
        values = [np.broadcast_to(np.asarray(warp.slots[slot], np.float64), LANES) for slot in slots[first:][:count]]
        return np.stack(values, axis=1)

    def step(warp: Warp) -> None:
        if warp.mask is not None:
            check_collective(info, warp)
        left = registers(warp, 0, counts[1])[:, :, None]
        right = registers(warp, counts[1], counts[2])[:, :, None]
        sums = registers(warp, counts[1] + counts[2], 4).reshape(LANES, 2, 2)
        a, b, c = gathered(left, right, sums, 16, depth)
        warp.slots[out] = spread(a @ b + c).reshape(LANES, -1)
        counters.tensor_operations += 1
        counters.flops += 2 * 16 * 8 * depth

    return step


def _no_bits(decoder: Decoder, operation: Any) -> Step:
    out, source = decoder.slot(operation.operation.results[0]), decoder.slot(operation.operation.operands[0])

    def step(warp: Warp) -> None:
        warp.slots[out] = np.zeros_like(np.asarray(warp.slots[source], np.int32))

    return step


def _policy(decoder: Decoder, operation: Any) -> Step:
    """What L2 is told of lines: its number in POLICIES. Caches are not simulated, but the bytes are counted."""
    out = decoder.slot(operation.operation.results[0])
    number = POLICIES.index(ir.StringAttr(operation.operation.attributes["asm_string"]).value)

    def step(warp: Warp) -> None:
        warp.slots[out] = np.full(LANES, number, np.int64)

    return step


def _behind_loads(decoder: Decoder, operation: Any) -> Step:
    """An address that is known once a word is that ldmatrix loaded last: all that it loaded is in registers then."""
    address, _ = decoder.all_slots(operation.operation.operands)
    out = decoder.slot(operation.operation.results[0])

    def step(warp: Warp) -> None:
        warp.slots[out] = warp.slots[address]
        if not np.any(warp.unfenced):  # that is not a fence for what lanes have stored, or loaded by themselves
            fence = warp.block.cluster.agents.fence(warp.index)
            warp.seen[fence] = warp.clock
            warp.clock += 1

    return step


_ROWS, _ROW_BYTES = 8, 16
"""Of the matrices that stmatrix stores."""


@handles("nvvm.stmatrix")
def _stmatrix(decoder: Decoder, operation: Any) -> Step:
    op = operation.operation
    pointer, *sources = decoder.all_slots(op.operands)
    transposed = "col" in str(op.attributes["layout"])
    if re.findall(r"= (\d+)", str(op.attributes["shape"])) != ["8", "8"] or "b16" not in str(op.attributes["eltType"]):
        raise unsupported(operation, "of other than 8x8 matrices of b16 is not simulated")
    info = decoder.info(operation, collective=True)
    access = Access(decoder, info, ELEMENTS["i32"], _ROW_BYTES // 4, _ROW_BYTES)
    used = len(sources) * _ROWS

    def step(warp: Warp) -> None:
        check_collective(info, warp)
        places = np.broadcast_to(np.asarray(warp.slots[pointer], np.int64), LANES)[:used]
        registers = [np.broadcast_to(np.asarray(warp.slots[slot], np.int32), LANES) for slot in sources]
        rows = np.ascontiguousarray(np.stack(registers)).reshape(-1, _ROWS, 4)  # matrix, row, register of the row
        if transposed:
            rows = np.ascontiguousarray(rows.view(np.int16).transpose(0, 2, 1)).view(np.int32)
        found = buffer_at(warp.block, int(places[0]))
        if found is None:
            info.find("out-of-bounds", warp, 0, "", f"address {places[0]}, where no shared memory is")
            return
        view = found[0].view
        assert view is not None
        access.write(warp, view, places - found[0].address, None, warp.code + ANY_LANE, rows.reshape(-1, 4))

    return step
