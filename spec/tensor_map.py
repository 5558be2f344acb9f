"""Tensor maps: what the tensor copy engine of sm_90 and later needs to know of an array whose tiles it moves.

A map is made for an address, so it is not part of the compiled code: a launch says what is in it, and whoever launches
has the driver encode it (`cuTensorMapEncodeTiled`, for windows of an image `cuTensorMapEncodeIm2col`) and passes its
128 bytes by value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from mlir_gemm.spec.element_types import Derived, of_modules
from mlir_gemm.spec.sizes import product

Extent: TypeAlias = Any
"""A number; in a launch with sizes that are known at run time only also a `Size` of symbols."""

DATA_TYPES = Derived(lambda rows: {**{row.name: row.tensor_map for row in of_modules(rows)}, "tf32": "TFLOAT32"})
"""The driver's name for elements of an MLIR type. `tf32` is f32 that is rounded on the way."""
ITEM_BYTES = Derived(lambda rows: {**{row.name: row.bytes for row in of_modules(rows)}, "tf32": 4})
SWIZZLES = {
    "128": "CU_TENSOR_MAP_SWIZZLE_128B", "64": "CU_TENSOR_MAP_SWIZZLE_64B", "32": "CU_TENSOR_MAP_SWIZZLE_32B",
    "none": "CU_TENSOR_MAP_SWIZZLE_NONE",
}  # fmt: skip
"""The driver's names for the ways that a tile can lie in shared memory. With a swizzle its rows have at most as many
bytes."""
ALIGNMENT = 16
"""Bytes that the address and all distances are multiples of. This and the limits below: CUDA driver API,
cuTensorMapEncodeTiled."""
MOST_DIMENSIONS = 5
MOST_IN_BOX = 256
MOST_SIZE = 2**32
MOST_STRIDE = 2**40
_RULE = f"the copy engine needs a multiple of {ALIGNMENT}"


@dataclass(frozen=True)
class TensorMap:
    """A kernel's parameter that is a tensor map of some memory. Dimensions are in the order of the memref, outermost
    first; the driver takes them the other way round."""

    memory: int
    """The number of the memory, as a plain pointer among a step's parameters has it."""
    dtype: str
    """Element type by its MLIR name."""
    sizes: tuple[Extent, ...]
    """In elements."""
    strides_bytes: tuple[Extent, ...]
    """The distance of neighbours in each dimension but the innermost, whose elements lie side by side. That of a
    dimension of size 1 means nothing."""
    box: tuple[int, ...]
    """Elements of a tile in each dimension."""
    swizzle: str
    """`128`, `64`, `32` or `none`."""
    element_offset: Extent = 0
    """Elements between the memory's address and element [0, ..., 0]."""
    lower: tuple[int, ...] = ()
    """In the mode im2col, for each dimension but the first and the last, where the box of first pixels begins, from the
    begin of the image; `box` is then pixels, 1, ..., channels."""
    upper: tuple[int, ...] = ()
    """And where it ends, from the end of the image."""
    steps: tuple[int, ...] = ()
    """And how far pixels are apart."""

    @property
    def offset_bytes(self) -> Extent:
        """`element_offset` in bytes."""
        return product([self.element_offset, ITEM_BYTES[self.dtype]])

    @property
    def data_type(self) -> str:
        """The driver's name for the element type."""
        return f"CU_TENSOR_MAP_DATA_TYPE_{DATA_TYPES[self.dtype]}"

    @property
    def driver_swizzle(self) -> str:
        """The driver's name for the swizzle."""
        return SWIZZLES[self.swizzle]

    @property
    def is_empty(self) -> bool:
        """Whether the memory has no elements. The driver makes no map of that."""
        return 0 in self.sizes

    @property
    def strides(self) -> tuple[Extent, ...]:
        """`strides_bytes` for the driver, which also reads the strides that have no meaning."""
        return tuple(
            ALIGNMENT if size == 1 else stride for size, stride in zip(self.sizes[:-1], self.strides_bytes, strict=True)
        )

    def problem(self) -> str | None:
        """Why the driver would refuse it at any address, as far as the sizes are numbers; None if it would not."""
        rank, item = len(self.sizes), ITEM_BYTES[self.dtype]
        if not 1 <= rank <= MOST_DIMENSIONS:
            return f"it has {rank} dimensions; a tensor map has 1 to {MOST_DIMENSIONS}"
        if len(self.box) != rank or len(self.strides_bytes) != rank - 1:
            return f"its box {self.box} has {len(self.box)} entries for {rank} dimensions"
        if self.swizzle not in SWIZZLES:
            return f"its swizzle '{self.swizzle}' is none of {', '.join(SWIZZLES)}"
        if not all(1 <= each <= MOST_IN_BOX for each in self.box):
            return f"its box {self.box} must have 1 to {MOST_IN_BOX} elements in each dimension"
        row = self.box[-1] * item
        swizzled = self.swizzle != "none"
        if row % ALIGNMENT or (swizzled and row > int(self.swizzle)):
            most = f", {self.swizzle} at most with swizzle {self.swizzle}" if swizzled else ""
            return f"a row of its box has {row} bytes; they must be a multiple of {ALIGNMENT}{most}"
        if isinstance(self.offset_bytes, int) and self.offset_bytes % ALIGNMENT:
            return f"its first element lies {self.offset_bytes} bytes after its address; {_RULE}"
        for size, stride in zip(self.sizes, self.strides, strict=False):
            if isinstance(stride, int) and stride % ALIGNMENT:
                return f"its neighbours in a dimension of {size} are {stride} bytes apart; {_RULE}"
            if isinstance(stride, int) and stride >= MOST_STRIDE:
                return f"its neighbours in a dimension of {size} are {stride} bytes apart; that must be below 2^40"
        if any(isinstance(size, int) and size > MOST_SIZE for size in self.sizes):
            return f"its sizes {self.sizes} must be at most 2^32"
        return None

    def to_json(self) -> dict[str, Any]:
        """The arguments of `cuTensorMapEncodeTiled`, innermost dimension first, as plain data; with `steps` those of
        `cuTensorMapEncodeIm2col`."""
        windows = {"lower_corner": self.lower[::-1], "upper_corner": self.upper[::-1], "steps": self.steps[::-1]}
        return {
            "memory": self.memory,
            "dtype": self.dtype,
            "offset_bytes": self.offset_bytes,
            "data_type": self.data_type,
            "global_dim": self.sizes[::-1],
            "global_strides": self.strides_bytes[::-1],
            "box_dim": self.box[::-1],
            "swizzle": self.driver_swizzle,
            **(windows if self.steps else {}),
        }

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> TensorMap:
        """What `to_json` gave, with tuples for the lists of JSON. Raises KeyError, TypeError or ValueError for other
        data."""
        dtype, offset = data["dtype"], data["offset_bytes"]
        item = ITEM_BYTES[dtype]
        return TensorMap(
            memory=data["memory"],
            dtype=dtype,
            sizes=data["global_dim"][::-1],
            strides_bytes=data["global_strides"][::-1],
            box=data["box_dim"][::-1],
            swizzle={driver: name for name, driver in SWIZZLES.items()}[data["swizzle"]],
            element_offset=offset // item if isinstance(offset, int) else ("floordiv", offset, item),
            lower=data.get("lower_corner", ())[::-1],
            upper=data.get("upper_corner", ())[::-1],
            steps=data.get("steps", ())[::-1],
        )
