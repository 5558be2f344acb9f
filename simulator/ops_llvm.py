"""llvm: pointers into shared memory as numbers, accesses through them, and structs of registers.

A struct is the lanes' registers as one array, or `Registers` where it is an accumulator of wgmma.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.simulator.access import Access, lane_starts
from mlir_gemm.simulator.decode import Blocking, Decoder, Step, handles
from mlir_gemm.simulator.elements import ELEMENTS, LANES, Element, element_of, spread_to
from mlir_gemm.simulator.errors import unsupported
from mlir_gemm.simulator.mbarriers import RANK, buffer_at, resolved
from mlir_gemm.simulator.memory import View
from mlir_gemm.simulator.ops_flags import GLOBAL, flag_operation
from mlir_gemm.simulator.warps import Stop, Warp
from mlir_gemm.simulator.wgmma import Registers
from mlir_gemm.simulator.wgmma_registers import feeds_products, only_carried

_SHARED = ("!llvm.ptr<3>", "!llvm.ptr<7>")
"""Pointers into the shared memory of the block, and of the cluster."""
_STRUCT = "!llvm.struct<("


def fields_of(operation: Any, type_: Any) -> tuple[int, Element]:
    """How many registers a struct has, and of what type. Raises SimulationError for other structs."""
    text = str(type_)
    names = text.removeprefix(_STRUCT).removesuffix(")>").split(", ") if text.startswith(_STRUCT) else []
    if len(set(names)) != 1 or names[0] not in ELEMENTS:
        raise unsupported(operation, f"values of type {text[:60]} are not simulated")
    return len(names), ELEMENTS[names[0]]


@handles("memref.extract_aligned_pointer_as_index")
def _pointer_of(decoder: Decoder, operation: Any) -> Step:
    source, out = decoder.slot(operation.operation.operands[0]), decoder.slot(operation.operation.results[0])

    def step(warp: Warp) -> None:
        view: View = warp.slots[source]
        if not view.buffer.address:
            raise unsupported(operation, "addresses of other than shared memory, and of flags, are not simulated")
        # It is the pointer of the descriptor: offsets of subviews are not in it. A view of bytes has its shift in it.
        warp.slots[out] = view.buffer.address + view.aligned

    return step


@handles("llvm.inttoptr", "llvm.addrspacecast", "llvm.ptrtoint", "llvm.bitcast")
def _same(decoder: Decoder, operation: Any) -> Step:
    source, out = decoder.slot(operation.operation.operands[0]), decoder.slot(operation.operation.results[0])

    def step(warp: Warp) -> None:
        warp.slots[out] = warp.slots[source]

    return step


@handles("llvm.getelementptr")
def _element_pointer(decoder: Decoder, operation: Any) -> Step:
    op = operation.operation
    type_ = ir.TypeAttr(op.attributes["elem_type"]).value
    element, indices = element_of(type_), list(ir.DenseI32ArrayAttr(op.attributes["rawConstantIndices"]))
    if element is None or len(indices) != 1:
        raise unsupported(operation, f"over {type_} is not simulated; expected one index over numbers")
    base, *dynamic = decoder.all_slots(op.operands)
    out = decoder.slot(op.results[0])

    def step(warp: Warp) -> None:
        index = warp.slots[dynamic[0]] if dynamic else indices[0]
        warp.slots[out] = warp.slots[base] + index * element.bytes

    return step


@handles("llvm.load", "llvm.store")
def _access(decoder: Decoder, operation: Any) -> Step | Blocking:
    op = operation.operation
    loads = op.name == "llvm.load"
    value, pointer = (op.results[0], op.operands[0]) if loads else op.operands
    if str(pointer.type) == GLOBAL and "ordering" in op.attributes:
        return flag_operation(decoder, operation)
    if str(pointer.type) not in _SHARED:
        raise unsupported(operation, f"through {pointer.type} is not simulated; expected {' or '.join(_SHARED)}")
    vector = isinstance(value.type, ir.VectorType)
    element, count = decoder.element(operation, value.type), value.type.shape[0] if vector else 1
    attributes = op.attributes
    alignment = ir.IntegerAttr(attributes["alignment"]).value if "alignment" in attributes else element.bytes
    info = decoder.info(operation)
    access = Access(decoder, info, element, count, alignment)
    access.awaited = loads and feeds_products(value)
    source, held = decoder.slot(pointer), decoder.slot(value)

    def step(warp: Warp) -> None:
        values = warp.slots
        starts, lanes, codes = lane_starts(warp, values[source])
        block, first = resolved(warp, int(starts[0]))
        if np.count_nonzero(starts >> RANK != starts[0] >> RANK):
            raise unsupported(operation, "to several blocks of a cluster at once is not simulated")
        starts = starts & ((1 << RANK) - 1)
        if block is not warp.block:
            block.touched[warp.index] = warp.clock
        found = buffer_at(block, first)
        if found is None:
            info.find("out-of-bounds", warp, int(lanes[0]), "", f"address {starts[0]}, where no shared memory is")
            raise Stop("an access to no shared memory")
        buffer = found[0]
        assert buffer.view is not None
        if loads:
            rows = access.read(warp, buffer.view, starts - buffer.address, lanes, codes)
            full = np.zeros((LANES, count), element.value)
            full[lanes] = rows
            values[held] = full if vector else full[:, 0]
        else:
            rows = np.asarray(values[held], element.value)
            rows = spread_to(rows if vector else rows.reshape(-1, 1), (LANES, count))
            access.write(warp, buffer.view, starts - buffer.address, lanes, codes, rows[lanes])

    return step


@handles("llvm.mlir.constant")
def _constant(decoder: Decoder, operation: Any) -> None:
    result = operation.operation.results[0]
    value = getattr(operation.operation.attributes["value"], "value", None)
    element = decoder.element(operation, result.type)
    if value is None:
        raise unsupported(operation, "a constant that is no number is not simulated")
    decoder.constant(result, element.cast(np.float64(value))[()] if element.is_float else element.wrap(value))


@handles("llvm.mlir.undef", "llvm.mlir.poison", "llvm.mlir.zero")
def _undefined(decoder: Decoder, operation: Any) -> None:
    result = operation.operation.results[0]
    name = operation.operation.name
    if not str(result.type).startswith(_STRUCT):
        element = decoder.element(operation, result.type)
        decoder.constant(result, element.value.type(0) if element.is_float else 0)
        return
    count, element = fields_of(operation, result.type)
    fill = 0 if name.endswith("zero") else np.nan if element.is_float else -1
    decoder.constant(result, Registers.of(np.full((LANES, count), fill, element.value)))


@handles("llvm.insertvalue")
def _insert_value(decoder: Decoder, operation: Any) -> Step:
    container, value = decoder.all_slots(operation.operation.operands)
    out = decoder.slot(operation.operation.results[0])
    (place,) = ir.DenseI64ArrayAttr(operation.operation.attributes["position"])
    info = decoder.info(operation)

    def step(warp: Warp) -> None:
        whole = warp.slots[container]
        lanes = (whole.read(warp, info) if isinstance(whole, Registers) else whole).copy()
        lanes[:, place] = warp.slots[value]
        warp.accesses = warp.fences
        warp.slots[out] = Registers.of(lanes, warp.fences)

    return step


@handles("llvm.extractvalue")
def _extract_value(decoder: Decoder, operation: Any) -> Step | None:
    if only_carried(operation.operation.results[0]):
        return None  # the products take the struct
    source, out = decoder.slot(operation.operation.operands[0]), decoder.slot(operation.operation.results[0])
    (place,) = ir.DenseI64ArrayAttr(operation.operation.attributes["position"])
    info = decoder.info(operation)

    def step(warp: Warp) -> None:
        whole = warp.slots[source]
        lanes = whole.read(warp, info) if isinstance(whole, Registers) else whole
        warp.slots[out] = np.ascontiguousarray(lanes[:, place])

    return step


def tied(decoder: Decoder, operation: Any) -> Step:
    """llvm.inline_asm of no instructions: values tied to their places in the program, one or a struct of them."""
    op = operation.operation
    slots, out = decoder.all_slots(op.operands), decoder.slot(op.results[0])
    struct = str(op.results[0].type).startswith(_STRUCT)
    count, element = fields_of(operation, op.results[0].type) if struct else (1, None)
    if count != len(slots):
        raise unsupported(operation, f"of no instructions, with {len(slots)} operands and {count} results")

    def step(warp: Warp) -> None:
        values = warp.slots
        if element is None:
            values[out] = values[slots[0]]
            return
        lanes = np.empty((LANES, count), element.value)
        for place, slot in enumerate(slots):
            lanes[:, place] = values[slot]
        values[out] = Registers.of(lanes, warp.fences)

    return step
