"""swizzle-accesses: the 16-byte chunks of a buffer's rows change places, against bank conflicts.

Expects a dense buffer in shared memory (memref.view, alloc or get_global) with `tile.layout = "xor"`, accessed directly
(after fold-subviews) by vector.load and store, memref.load and store, nvgpu.ldmatrix and nvgpu.device_async_copy. In
each access the number of the chunk is XORed with a number made from that of the row, so that the chunks of one column
lie in different banks: for rows of 128 bytes and more with the row modulo 8 (within each 128 bytes), for 64 bytes with
row / 2 modulo 4, for 32 bytes with row / 4 modulo 2. What the copy engine fills (`swizzle128`, `swizzle64` and
`swizzle32`) lies so too, in panels of 128, 64 or 32 bytes of columns, each with all rows; its accesses become those of
a row of elements. Those who ask for the buffer's address know how it lies. The attribute is removed, so a second run
changes nothing. Refuses any other use of the buffer, rows of other than whole chunks or panels, and accesses that may
cross from one chunk to another. A layout of one's own whose chunks change places in another way is a pass derived from
this one, with its name among `layouts` and another `place`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import gcd, prod
from typing import Any, ClassVar

from mlir_gemm.dialect import constants, indexing
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.rings import PANELS
from mlir_gemm.dialect.walk import named, users
from mlir_gemm.passes.base import Pass
from mlir_gemm.passes.lower.fold_subviews import on_memory, places_of
from mlir_gemm.spec.attributes import LAYOUT

XOR = "xor"
CHUNK = 16
"""Bytes that move together: what a lane reads or copies at most, and a row of ldmatrix."""
SPAN = 128
"""Bytes of all banks together; chunks change places within them."""
_ADDRESS = "memref.extract_aligned_pointer_as_index"


@dataclass(frozen=True)
class SwizzleAccesses(Pass):
    """Swizzle accesses to shared memory."""

    name: ClassVar[str] = "swizzle-accesses"
    layouts: ClassVar[tuple[str, ...]] = (XOR, *PANELS)
    """What `tile.layout` says of the buffers that it is for."""

    def run(self, module: Any) -> None:
        for buffer in named(module, "memref.view", "memref.alloc", "memref.get_global"):
            attributes = buffer.operation.attributes
            layout = ir.StringAttr(attributes[LAYOUT]).value if LAYOUT in attributes else ""
            if layout in self.layouts:
                _swizzle(buffer, layout, self.place)
                del buffer.operation.attributes[LAYOUT]

    @staticmethod
    def place(column: Any, by: Any, width: int) -> Any:
        """Where an element of a row goes, at the insertion point. `width` elements, a power of 2, change places among
        each other; `by` is that of a chunk's first element which tells the row from its neighbours."""
        return dialect("arith").XOrIOp(column, by).result


Place = Callable[[Any, Any, int], Any]


def check_rows(buffer: Any, layout: str = XOR) -> None:
    """Refuses a buffer (the operation that makes it) whose rows are not whole chunks, or panels."""
    type_ = buffer.operation.results[0].type
    bits = getattr(type_.element_type, "width", 0)
    dense = type_.has_static_shape and len(type_.shape) > 1 and isinstance(type_.layout, ir.AffineMapAttr)
    unit = PANELS.get(layout, CHUNK)
    if not dense or not bits or type_.shape[-1] * bits % (8 * unit):
        raise pass_error(
            buffer, f"layout {layout} for {type_}; expected a dense buffer with rows of a multiple of {unit} bytes"
        )


def _swizzle(buffer: Any, layout: str, place: Place) -> None:
    check_rows(buffer, layout)
    result = buffer.operation.results[0]
    flat = _flat(buffer) if layout in PANELS else None
    for user in users(result):
        if flat is not None and user.name == _ADDRESS:
            continue
        places = places_of(user)
        elements = _elements_of(user)
        if elements is None or not any(user.operands[at] == result for at, _ in places):
            raise pass_error(
                user,
                f"'{user.name}' of a buffer with layout {layout}; expected accesses of vectors and elements, ldmatrix "
                "and asynchronous copies only (take layout=pad)",
            )
        _check_width(user, elements, result.type, layout)
        for at, indices in places:
            if user.operands[at] != result:
                continue
            if flat is not None:
                _to_flat(user, flat, at, indices, result.type, PANELS[layout], place)
            else:
                _move(user, result.type, indices, place)


def _flat(buffer: Any) -> Any:
    """The same memory as a row of elements."""
    op, type_ = buffer.operation, buffer.operation.results[0].type
    if op.name != "memref.view":
        raise pass_error(buffer, f"'{op.name}' of panels; expected memref.view, which place-shared makes")
    with ir.InsertionPoint.after(op), op.location:
        new = ir.MemRefType.get([prod(type_.shape)], type_.element_type, memory_space=type_.memory_space)
        return dialect("memref").ViewOp(new, op.operands[0], op.operands[1], []).result


def _to_flat(access: Any, flat: Any, at: int, indices: list[int], type_: Any, panel: int, place: Place) -> None:
    """Makes an access one of the row of elements. Its place is what the loop over stages changes, and constants, added
    to what only the lane, the warp and the column decide: then accesses at constant distances share one address."""
    *stage, row, column = (access.operands[index] for index in indices)
    *_, rows, columns = type_.shape
    width = panel * 8 // type_.element_type.width
    with ir.InsertionPoint(access), access.location:
        arith = dialect("arith")
        dynamic, down = _apart(row)
        if down % (SPAN // CHUNK):  # it changes which chunks change places
            dynamic, down = row, 0
        across, inside = (make(column, constants.index(width)).result for make in (arith.DivUIOp, arith.RemUIOp))
        inside = _moved(dynamic, inside, type_.element_type.width, panel, place)
        own = indexing.add(indexing.mul(across, rows * width), indexing.add(indexing.mul(dynamic, width), inside))
        for number in stage:
            own = indexing.add(own, indexing.mul(number, rows * columns))
        own = indexing.add(own, down * width)
    on_memory(access, flat, at, indices, [own])


def _apart(value: Any) -> tuple[Any, int]:
    """A sum as what is not constant in it, at the insertion point, and the constant."""
    leaves, constant, pending = list[Any](), 0, [value]
    while pending:
        each = pending.pop(0)
        number = constants.integer_of(each)
        if number is not None:
            constant += number
        elif getattr(each.owner, "name", "") == "arith.addi":
            pending[:0] = list(each.owner.operation.operands)
        else:
            leaves.append(each)
    total = leaves[0] if leaves else constants.index(0)
    for leaf in leaves[1:]:
        total = indexing.add(total, leaf)
    return total, constant


def _elements_of(access: Any) -> int | None:
    """How many elements of a row an access takes from its index on; None for what is not an access."""
    if access.name in ("memref.load", "memref.store"):
        return 1
    if access.name in ("vector.load", "vector.store"):
        vector = access.results[0] if access.name == "vector.load" else access.operands[0]
        return vector.type.shape[-1]
    if access.name == "nvgpu.ldmatrix":
        return CHUNK * 8 // access.results[0].type.element_type.width
    return ir.IntegerAttr(access.attributes["dstElements"]).value if access.name == "nvgpu.device_async_copy" else None


def _check_width(access: Any, elements: int, type_: Any, layout: str) -> None:
    """Refuses an access that is not known to stay in a chunk: too wide, or not aligned to its size."""
    size = elements * type_.element_type.width // 8
    known = size
    if access.name.startswith("vector."):
        has = "alignment" in access.attributes
        known = ir.IntegerAttr(access.attributes["alignment"]).value if has else type_.element_type.width // 8
    if CHUNK % size or known % size:
        raise pass_error(
            access,
            f"an access of {size} bytes aligned to {known} in a buffer with layout {layout}; expected a power of 2 up "
            f"to {CHUNK} and that alignment",
        )


def _move(access: Any, type_: Any, indices: list[int], place: Place) -> None:
    """Rewrites the last one of an access's indices, whose positions among its operands are given."""
    bits = type_.element_type.width
    span = gcd(type_.shape[-1] * bits // 8, SPAN)
    if span == CHUNK:
        return  # rows of an odd number of chunks start at different banks as it is
    row, column = (access.operands[position] for position in indices[-2:])
    with ir.InsertionPoint(access), access.location:
        access.operands[indices[-1]] = _moved(row, column, bits, span, place)


def _moved(row: Any, column: Any, bits: int, span: int, place: Place) -> Any:
    """Where an element of a row is once chunks have changed places within `span` bytes, at the insertion point."""
    arith = dialect("arith")
    if span < SPAN:  # as many rows as fill all banks share a number
        row = arith.ShRUIOp(row, constants.index((SPAN // span).bit_length() - 1)).result
    number = arith.AndIOp(row, constants.index(span // CHUNK - 1)).result
    shift = constants.index((CHUNK * 8 // bits).bit_length() - 1)
    return place(column, arith.ShLIOp(number, shift).result, span * 8 // bits)
