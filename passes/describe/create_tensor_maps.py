"""create-tensor-maps: copies and stores by the copy engine (TMA) go through tensor maps, which the host makes.

Expects tile.tma_load from arguments of the function, and tile.tma_store to them, inside an scf.forall. Leaves a
tile.tensor_map before the loop for each memory and box, in the memory's place. A box is one panel of a tile, or of
a store's buffer: 128 bytes of its columns, or 64 or 32 as the buffer's layout says, and its rows, or an equal part of
them where they are more than 256. A tile.load from memory that is stored to is marked `written`, as the map hides that.
Windows of an image are moved in the mode im2col: the copy says what its indices count through (`pixels`, `window` and
`corner`). A copy that has a map already is left alone, so that a second run changes nothing.
Refuses what the copy engine cannot move: memory whose last dimension is not contiguous or does not run along the tile's
columns (of stores, neither side of the tile), more than five dimensions, strides or a start that are not known to be
multiples of 16 bytes, and buffers of other layouts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import im2col, stores, tile, windows
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.memory import offset_divisor, stride_divisors
from mlir_gemm.dialect.walk import is_within, named
from mlir_gemm.lowering.shared_address import panel_bytes
from mlir_gemm.passes.base import Pass

MOST_DIMS, MOST_ROWS, ALIGNED = 5, 256, 16
"""Of a tensor map: dimensions, elements of one dimension of a box, bytes that strides are multiples of."""


@dataclass(frozen=True)
class CreateTensorMaps(Pass):
    """Make tensor maps for copies."""

    name: ClassVar[str] = "create-tensor-maps"
    tf32: bool = False
    """f32 that is copied in is rounded to tf32, to nearest, on the way."""

    def run(self, module: Any) -> None:
        for forall in named(module, "scf.forall"):
            maps: dict[tuple[Any, tuple[int, ...], int], Any] = {}
            for copy in named(forall, "tile.tma_load", "tile.tma_store"):
                source = copy.operation.operands[1]
                if isinstance(source.type, ir.MemRefType):
                    box, panel = _box(copy.operation, forall)
                    key = source, box, panel
                    if key not in maps:
                        with ir.InsertionPoint(forall), copy.location:
                            maps[key] = stores.tensor_map(source, box, str(panel))
                        if (
                            self.tf32
                            and copy.operation.name == "tile.tma_load"
                            and str(source.type.element_type) == "f32"
                        ):
                            maps[key].owner.attributes["element"] = ir.StringAttr.get("tf32")
                    if windows.is_windows(source):
                        _mark_windows(copy.operation, source)
                    if copy.operation.name == "tile.tma_store":
                        _mark_loads(forall, source)
                    copy.operation.operands[1] = maps[key]


def _mark_windows(copy: Any, source: Any) -> None:
    """Says on a copy what the indices of a view by windows count through, which its map hides."""
    found = im2col.of(source)
    if isinstance(found, str):
        raise pass_error(copy, f"the copy engine cannot move {found}")
    for name, attribute in found.attributes().items():
        copy.attributes[name] = attribute


def _mark_loads(forall: Any, memory: Any) -> None:
    """Says of the loads from a memory inside the loop that it is stored to as well."""
    for load in named(forall, "tile.load"):
        if tile.memory_of(load) == memory:
            load.operation.attributes[tile.WRITTEN] = ir.UnitAttr.get()


def _box(copy: Any, forall: Any) -> tuple[tuple[int, ...], int]:
    """The box of a copy, one size for each dimension of the memory, and the bytes of its rows. Raises PassError for
    what cannot be moved."""
    memory = copy.operands[1]
    buffer = copy.operands[0 if copy.name == "tile.tma_load" else 2]
    shape = buffer.type.shape[-2:]
    why = cannot_describe(memory)
    if why:
        raise pass_error(copy, f"the copy engine cannot move {memory.type}: {why}")
    if not hasattr(memory.owner, "operations") and is_within(memory.owner, forall):
        raise pass_error(copy, "a copy of memory that is made inside the loop over blocks has no tensor map")
    place = tile.place_of(copy)
    runs = [dim for dim in place.dims if dim >= 0]
    transposed = copy.name == "tile.tma_store" and runs == [1, 0]
    if (runs != [0, 1] and not transposed) or place.dims[-1] < 0:
        raise pass_error(copy, f"a tile along the dimensions {place.dims} of the memory; expected rows, then columns")
    if not box_rows(shape[0]):
        raise pass_error(copy, f"a tile of {shape[0]} rows; more than {MOST_ROWS} must be a multiple of 8")
    panel = panel_bytes(buffer)
    rows, columns = runs
    sizes = {-1: 1, rows: box_rows(shape[0]), columns: panel * 8 // memory.type.element_type.width}
    return tuple(sizes[dim] for dim in place.dims), panel


def box_rows(rows: int) -> int:
    """Rows of the boxes that a tile's rows are copied in: all of them, or the most that divide them into equal boxes of
    whole 8 rows, after which the swizzle repeats. 0 where there is no such number."""
    if rows <= MOST_ROWS:
        return rows
    return next((height for height in range(MOST_ROWS, 0, -8) if rows % height == 0), 0)


def cannot_describe(memory: Any) -> str:
    """Why no tensor map describes a memory; empty if one does."""
    if windows.is_windows(memory):
        found = im2col.of(memory)
        return found if isinstance(found, str) else ""
    type_ = memory.type
    strides, item = stride_divisors(memory), type_.element_type.width // 8
    if not 1 <= len(strides) <= MOST_DIMS:
        return f"{len(strides)} dimensions; it takes 1 to {MOST_DIMS}"
    if strides[-1] != 1:
        return "its last dimension is not contiguous"
    if any(stride * item % ALIGNED for stride in strides[:-1]) or offset_divisor(memory) * item % ALIGNED:
        return f"its rows do not start at multiples of {ALIGNED} bytes"
    return ""
