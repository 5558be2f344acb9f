"""nvgpu: ldmatrix, mma.sync on vectors of each lane, and asynchronous copies to shared memory.

Which lane holds which element is PTX's. All the shapes of mma.sync follow one rule: eight groups of four lanes hold
eight rows of A (columns of B), a register holds `4 / bytes` elements along k (one of f64), and A's registers go first
over halves of the rows, then over k. A copy reads its source when it is issued and reaches its target when it is waited
for, the latest that the machine may take.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.simulator.access import Access, addresses, lane_starts
from mlir_gemm.simulator.decode import Decoder, Step, handles, integers
from mlir_gemm.simulator.elements import LANES, Element, spread_to, truncated
from mlir_gemm.simulator.errors import unsupported
from mlir_gemm.simulator.ops_gpu import check_collective
from mlir_gemm.simulator.shadow import ANY_LANE
from mlir_gemm.simulator.warps import Warp

_ROWS = 8
"""Rows of the matrices that ldmatrix loads."""
_ROW_BYTES = 16
_REGISTER = 4
"""Bytes that ldmatrix gives a lane of each matrix."""


@handles("nvgpu.ldmatrix")
def _ldmatrix(decoder: Decoder, operation: Any) -> Step:
    memory, *indices = operation.operation.operands
    attributes, result = operation.operation.attributes, operation.operation.results[0]
    element = decoder.element(operation, result.type)
    tiles = ir.IntegerAttr(attributes["numTiles"]).value
    transposed = ir.BoolAttr(attributes["transpose"]).value
    if _REGISTER % element.bytes or (transposed and element.bytes != 2):
        raise unsupported(operation, f"of {element.name}{' transposed' * transposed} is not what the machine has")
    info = decoder.info(operation, collective=True)
    columns = _ROW_BYTES // element.bytes
    address = addresses(decoder, operation, memory, indices, (columns,), info)
    access = Access(decoder, info, element, columns, _ROW_BYTES)
    out = decoder.slot(result)
    if list(result.type.shape) != [tiles, _REGISTER // element.bytes]:
        raise unsupported(operation, f"into {result.type}; expected {tiles} registers of {_REGISTER} bytes")

    def step(warp: Warp) -> None:
        check_collective(info, warp)
        view, base = address(warp)
        starts = spread_to(base, (LANES,))[: tiles * _ROWS]
        rows = access.read(warp, view, starts, None, warp.code + ANY_LANE).reshape(tiles, _ROWS, columns)
        if transposed:
            rows = rows.transpose(0, 2, 1)
        warp.slots[out] = np.ascontiguousarray(rows.reshape(tiles, LANES, -1).transpose(1, 0, 2))

    return step


_SHAPES: dict[tuple[int, ...], tuple[str, ...]] = {
    (8, 8, 4): ("f64",),
    (16, 8, 4): ("f32",),
    (16, 8, 8): ("f16", "bf16", "f32"),
    (16, 8, 16): ("f16", "bf16", "i8", "f8E4M3FN", "f8E5M2"),
    (16, 8, 32): ("i8", "f8E4M3FN", "f8E5M2"),
}
"""The shapes of mma.sync, with the types of A and B that each takes."""


def gathered(left: Any, right: Any, sums: Any, rows: int, depth: int) -> tuple[Any, Any, Any]:
    """The matrices A, B and C whose elements the lanes hold in vectors (lanes, registers, elements of a register)."""
    halves = rows // _ROWS
    each = left.shape[2]
    steps = depth // (4 * each)
    a = left.reshape(8, 4, steps, halves, each).transpose(3, 0, 2, 1, 4).reshape(rows, depth)
    b = right.reshape(8, 4, steps, each).transpose(2, 1, 3, 0).reshape(depth, 8)
    c = sums.reshape(8, 4, halves, 2).transpose(2, 0, 1, 3).reshape(rows, 8)
    return a, b, c


def spread(matrix: Any) -> Any:
    """A result matrix as the vectors of the lanes."""
    halves = len(matrix) // _ROWS
    return matrix.reshape(halves, 8, 4, 2).transpose(1, 2, 0, 3).reshape(LANES, halves, 2)


def multiplied(a: Any, b: Any, c: Any, operand: Element, element: Element) -> Any:
    """a b + c as the tensor cores compute it: exact products, sums in the accumulator's type or f32."""
    if not operand.is_float:
        return (a.astype(np.int32) @ b.astype(np.int32) + c).astype(element.value)
    if operand.name == "f64":
        return a @ b + c
    if operand.name == "f32":
        a, b = truncated(a), truncated(b)
    return element.cast(a.astype(np.float32) @ b.astype(np.float32) + c)


@handles("nvgpu.mma.sync")
def _mma_sync(decoder: Decoder, operation: Any) -> Step:
    slots = decoder.all_slots(operation.operation.operands)
    out = decoder.slot(operation.operation.results[0])
    shape = integers(operation.operation.attributes["mmaShape"])
    operands = [decoder.element(operation, value.type) for value in list(operation.operation.operands)[:2]]
    operand = operands[0]
    element = decoder.element(operation, operation.operation.results[0].type)
    right_kind = {"f64": ("f64",), "i8": ("i32",)}.get(operand.name, ("f32", "f16"))
    if any(each.name not in _SHAPES.get(tuple(shape), ()) for each in operands) or element.name not in right_kind:
        form = f"m{shape[0]}n{shape[1]}k{shape[2]} of {operand.name} into {element.name}"
        raise unsupported(operation, f"{form} is not simulated")
    if operand.name == "f32" and "tf32Enabled" not in operation.operation.attributes:
        raise unsupported(operation, "on f32 multiplies in tf32; expected the attribute tf32Enabled")
    info = decoder.info(operation, collective=True)
    counters = decoder.report.counters
    work = 2 * shape[0] * shape[1] * shape[2]

    def step(warp: Warp) -> None:
        if warp.mask is not None:
            check_collective(info, warp)
        values = warp.slots
        left, right, sums = (_of_lanes(values[slot]) for slot in slots)
        a, b, c = gathered(left, right, sums, shape[0], shape[2])
        values[out] = spread(multiplied(a, b, c, operand, element))
        counters.tensor_operations += 1
        counters.flops += work

    return step


def _of_lanes(value: Any) -> Any:
    return spread_to(value, (LANES, *value.shape[1:]))


@handles("nvgpu.device_async_copy")
def _async_copy(decoder: Decoder, operation: Any) -> Step:
    attributes = operation.operation.attributes
    operands = list(operation.operation.operands)
    _, to_rank, _, from_rank, partial = integers(attributes["operandSegmentSizes"])
    target, source = operands[0], operands[1 + to_rank]
    elements = ir.IntegerAttr(attributes["dstElements"]).value
    element = decoder.element(operation, target.type)
    info = decoder.info(operation)
    width = elements * element.bytes
    if width not in (4, 8, 16):
        raise unsupported(operation, f"of {width} bytes; cp.async copies 4, 8 or 16")
    if "bypassL1" in attributes and width != _ROW_BYTES:
        raise unsupported(operation, f"of {width} bytes past L1; only copies of {_ROW_BYTES} bytes may bypass it")
    to = addresses(decoder, operation, target, operands[1 : 1 + to_rank], (elements,), info)
    indices = operands[2 + to_rank : 2 + to_rank + from_rank]
    access = Access(decoder, info, element, elements, width)
    by_length = {
        length: (
            addresses(decoder, operation, source, indices, (length,), info),
            Access(decoder, info, element, length, width),
        )
        for length in (range(1, elements + 1) if partial else (elements,))
    }
    kept = decoder.slot(operands[-1]) if partial else None
    decoder.slot(operation.operation.results[0])

    def step(warp: Warp) -> None:
        view, base = to(warp)
        starts, lanes, codes = lane_starts(warp, base)
        lengths = np.full(LANES, elements) if kept is None else spread_to(warp.slots[kept], (LANES,))
        rows = np.zeros((LANES, elements), element.value)
        read(warp, lengths, rows)
        warp.copies.append(access.write_later(warp, view, starts, lanes, codes, rows[lanes]))

    def read(warp: Warp, lengths: Any, rows: Any) -> None:
        """The elements that are copied; those after them stay zero, and no byte of them is read."""
        before = warp.mask
        active = np.ones(LANES, np.bool_) if before is None else before
        wrong = active & ((lengths < 0) | (lengths > elements))
        if np.count_nonzero(wrong):
            lane = int(wrong.argmax())
            message = f"{lengths[lane]} elements of the source are copied; expected 0 to {elements}"
            info.find("undefined", warp, lane, "", message)
        for length, (whence, reader) in by_length.items():
            these = active & (lengths == length)
            if not np.count_nonzero(these):
                continue
            warp.mask = None if np.count_nonzero(these) == LANES else these
            view, base = whence(warp)
            starts, lanes, codes = lane_starts(warp, base)
            rows[lanes, :length] = reader.read(warp, view, starts, lanes, codes)
        warp.mask = before

    return step


@handles("nvgpu.device_async_create_group")
def _create_group(decoder: Decoder, operation: Any) -> Step:
    decoder.slot(operation.operation.results[0])

    def step(warp: Warp) -> None:
        warp.groups.append(warp.copies)
        warp.copies = []

    return step


@handles("nvgpu.device_async_wait")
def _wait(decoder: Decoder, operation: Any) -> Step:
    attributes = operation.operation.attributes
    pending = ir.IntegerAttr(attributes["numGroups"]).value if "numGroups" in attributes else 0

    def step(warp: Warp) -> None:
        while len(warp.groups) > pending:
            for arrive in warp.groups.popleft():
                arrive(warp)

    return step
