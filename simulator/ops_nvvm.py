"""nvvm: rounding to tf32, stmatrix, dp4a, and the inline assembly that lowering writes."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.lowering.assembly import NO_BITS, OWN
from mlir_gemm.lowering.cluster_exchange import STORE
from mlir_gemm.lowering.l2_eviction import POLICIES
from mlir_gemm.lowering.release_after_loads import AFTER_LOADS
from mlir_gemm.lowering.wgmma_registers import PERMUTE
from mlir_gemm.simulator.access import Access
from mlir_gemm.simulator.decode import Blocking, Decoder, Step, handles
from mlir_gemm.simulator.elements import ELEMENTS, LANES
from mlir_gemm.simulator.errors import unsupported
from mlir_gemm.simulator.mbarriers import buffer_at
from mlir_gemm.simulator.ops_exchange import store_counted
from mlir_gemm.simulator.ops_gpu import check_collective
from mlir_gemm.simulator.ops_llvm import tied
from mlir_gemm.simulator.ops_mma import multiply_by_assembly
from mlir_gemm.simulator.ops_wgmma import multiply_by_registers, multiply_sparse
from mlir_gemm.simulator.ops_wgmma_registers import permuted
from mlir_gemm.simulator.shadow import ANY_LANE
from mlir_gemm.simulator.warps import Warp
from mlir_gemm.simulator.wgmma_registers import is_product
from mlir_gemm.simulator.wgmma_sparse import is_sparse

_CUT = 13
"""Bits of f32 that tf32 does not have."""


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


@handles("llvm.inline_asm")
def _assembly(decoder: Decoder, operation: Any) -> Step | Blocking:
    op = operation.operation
    text = ir.StringAttr(op.attributes["asm_string"]).value
    if not text:
        return tied(decoder, operation)
    if text == AFTER_LOADS:
        return _behind_loads(decoder, operation)
    if text.startswith(STORE):
        return store_counted(decoder, operation)
    if is_sparse(text):
        return multiply_sparse(decoder, operation)
    if is_product(text):
        return multiply_by_registers(decoder, operation)
    if text == PERMUTE:
        return permuted(decoder, operation)
    if text == NO_BITS:
        return _no_bits(decoder, operation)
    if text == OWN:
        return _own(decoder, operation)
    if text in POLICIES:
        return _policy(decoder, operation)
    return multiply_by_assembly(decoder, operation, text)


def _own(decoder: Decoder, operation: Any) -> Step:
    out, source = decoder.slot(operation.operation.results[0]), decoder.slot(operation.operation.operands[0])

    def step(warp: Warp) -> None:
        warp.slots[out] = warp.slots[source]

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
