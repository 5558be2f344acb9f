"""Memory on whole arrays: a memref is a NumPy array that shares the memory of its buffer.

A view that leaves its buffer is an error. Unwritten memory holds NaN, so that reading it shows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mlir_gemm.dialect import windows
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.grid_exchange import WORDS
from mlir_gemm.dialect.stream_k import FLAGS, scratch_of
from mlir_gemm.dialect.walk import named
from mlir_gemm.simulator.constants import dense_contents
from mlir_gemm.simulator.elements import is_array
from mlir_gemm.simulator.errors import SimulationError
from mlir_gemm.simulator.memory import strided
from mlir_gemm.simulator.tile_numbers import dtype_of, written_dtype
from mlir_gemm.simulator.tile_program import Decoder, Frame, Function, Maker, Step, StepMaker, uniform

_WHERE: Any = np.where
POISON = 0xFF
"""Every byte of memory that nobody wrote: NaN in every floating-point type."""


def poisoned(count: int, dtype: Any) -> Any:
    """A new array of `count` elements that nobody has written."""
    return np.full(count * dtype.itemsize, POISON, np.uint8).view(dtype)


def gather(memory: Any, indices: Sequence[Any]) -> Any:
    """Elements at indices that are integers or broadcastable arrays, zero beyond the bounds."""
    if all(_fits(index, size) for index, size in zip(indices, memory.shape, strict=True)):
        return memory[tuple(indices)]
    inside = _inside(memory, indices)
    clipped = tuple(np.clip(index, 0, size - 1) for index, size in zip(indices, memory.shape, strict=True))
    found = memory[clipped]
    return _WHERE(inside, found, np.zeros_like(found))[()]


def scatter(memory: Any, indices: Sequence[Any], value: Any) -> None:
    """Writes elements at indices that are integers or broadcastable arrays, nothing beyond the bounds."""
    if all(_fits(index, size) for index, size in zip(indices, memory.shape, strict=True)):
        memory[tuple(indices)] = value
        return
    inside = _inside(memory, indices)
    places = tuple(np.broadcast_to(index, inside.shape)[inside] for index in indices)
    memory[places] = np.broadcast_to(value, inside.shape)[inside]


def _fits(index: Any, size: int) -> bool:
    if type(index) is int:
        return 0 <= index < size
    return bool(index.size == 0 or (index.min() >= 0 and index.max() < size))


def _inside(memory: Any, indices: Sequence[Any]) -> Any:
    inside: Any = np.True_
    for index, size in zip(indices, memory.shape, strict=True):
        inside = inside & (np.asarray(index) >= 0) & (np.asarray(index) < size)
    return inside


def _alloc(operation: Any) -> Function:
    type_ = operation.operation.results[0].type
    dtype = dtype_of(type_, operation)
    sizes = _sizes(type_)
    dense = not type_.has_static_shape
    if dense and not type_.affine_map == ir.AffineMap.get_identity(type_.rank):
        raise SimulationError(f"'{operation.operation.name}' of {type_}: dynamic sizes with strides")
    strides: list[int] = [] if dense else list(type_.get_strides_and_offset()[0])
    steps = [stride * dtype.itemsize for stride in strides]
    zeros = scratch_of(operation) in (FLAGS, WORDS)

    def alloc(*dynamic: Any) -> Any:
        shape = sizes(dynamic)
        if zeros:
            return np.zeros(shape, dtype)
        count = math.prod(shape)
        if dense or 0 in shape:
            return poisoned(count, dtype).reshape(shape)
        count = 1 + sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True))
        # Padded rows in full.
        count = max([count, *(size * stride for size, stride in zip(shape, strides, strict=True))])
        return strided(poisoned(count, dtype), shape, steps)

    return alloc


def _position(operation: Any) -> Function:
    """Positions: a new array of linear indices, the offset plus each index times its stride; or one size."""
    type_ = operation.operation.results[0].type
    dtype, sizes = dtype_of(type_, operation), _sizes(type_)
    strides, offset = list[int](), 0
    if not isinstance(type_, ir.RankedTensorType):
        strides, offset = type_.get_strides_and_offset()
    dense = not strides or ir.ShapedType.get_dynamic_stride_or_offset() in strides

    def position(*dynamic: Any) -> Any:
        shape = sizes(dynamic)
        if dense:
            first = 0 if shape else sum(dynamic)  # a size of the call, where that is what it is
            return np.arange(first, first + math.prod(shape), dtype=dtype).reshape(shape)
        found: Any = np.full(shape, offset, dtype)
        for axis, stride in enumerate(strides):
            along: Any = np.arange(shape[axis], dtype=dtype) * stride
            found = found + along.reshape([-1, *[1] * (len(shape) - 1 - axis)])
        return found

    return position


def _sizes(type_: Any) -> Callable[[Sequence[Any]], list[int]]:
    """A function from the operands for a type's dynamic sizes to all sizes."""
    static = [None if type_.is_dynamic_dim(axis) else size for axis, size in enumerate(type_.shape)]

    def sizes(dynamic: Sequence[Any]) -> list[int]:
        rest = iter(dynamic)
        return [uniform(next(rest), "a size") if size is None else size for size in static]

    return sizes


def _empty(operation: Any) -> Function:
    type_ = ir.ShapedType(operation.operation.results[0].type)
    dtype, sizes = dtype_of(type_, operation), _sizes(type_)

    def empty(*dynamic: Any) -> Any:
        shape = sizes(dynamic)
        return poisoned(math.prod(shape), dtype).reshape(shape)

    return empty


def _copy(_: Any) -> Function:
    def copy(source: Any, target: Any) -> None:
        target[...] = source

    return copy


def _subview(operation: Any) -> Function:
    attributes = operation.operation.attributes
    marker = ir.ShapedType.get_dynamic_size()
    static = [list(attributes[f"static_{name}"]) for name in ("offsets", "sizes", "strides")]
    kept = _kept_dimensions(static[1], list(operation.operation.results[0].type.shape))

    def subview(memory: Any, *dynamic: Any) -> Any:
        rest = iter(dynamic)
        offsets, sizes, strides = (
            [uniform(next(rest), "a subview") if number == marker else number for number in numbers]
            for numbers in static
        )
        for offset, size, stride, extent in zip(offsets, sizes, strides, memory.shape, strict=True):
            if offset < 0 or offset + (size - 1) * stride >= extent:
                raise IndexError(f"a view of {sizes} at {offsets} leaves its buffer of {list(memory.shape)}")
        slices = [
            slice(offset, offset + (size - 1) * stride + 1, stride)
            for offset, size, stride in zip(offsets, sizes, strides, strict=True)
        ]
        return memory[tuple(s if keep else s.start for s, keep in zip(slices, kept, strict=True))]

    return subview


def _kept_dimensions(sizes: list[int], shape: list[int]) -> list[bool]:
    """Which dimensions of a subview its result keeps: a result of lower rank drops some of size 1."""
    kept: list[bool] = []
    rest = list(shape)
    for size in sizes:
        keep = bool(rest) and rest[0] == size
        kept.append(keep)
        if keep:
            rest.pop(0)
    return kept


def _from_elements(operation: Any) -> Function:
    type_ = operation.operation.results[0].type
    shape = list(type_.shape)
    dtype = np.dtype(np.int64) if isinstance(type_.element_type, ir.IndexType) else dtype_of(type_, operation)

    def from_elements(*elements: Any) -> Any:
        return np.array([uniform(each, "an element") for each in elements], dtype).reshape(shape)

    return from_elements


def _reshape(operation: Any) -> Function:
    type_ = operation.operation.results[0].type
    static = [None if type_.is_dynamic_dim(axis) else size for axis, size in enumerate(type_.shape)]

    def reshape(tensor: Any, sizes: Any) -> Any:
        wanted = [int(size) for size in sizes]
        fits = all(size in (None, given) for size, given in zip(static, wanted, strict=True))
        if not fits or min(wanted, default=0) < 0 or math.prod(wanted) != tensor.size:
            raise IndexError(f"a tensor of {list(tensor.shape)} as one of {wanted}; expected {type_}")
        return tensor.reshape(wanted)

    return reshape


def _view(operation: Any) -> Function:
    type_ = operation.operation.results[0].type
    dtype, shape = dtype_of(type_, operation), list(type_.shape)
    size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize

    def view(memory: Any, offset: Any) -> Any:
        start = uniform(offset, "the start of a view")
        if start < 0 or start + size > memory.size:
            raise IndexError(f"a view of {size} bytes at {start} leaves its buffer of {memory.size} bytes")
        return memory[start : start + size].view(dtype).reshape(shape)

    return view


def _same(_: Any) -> Function:
    def same(memory: Any, *_: Any) -> Any:
        return memory

    return same


def _assert(operation: Any) -> Function:
    message = ir.StringAttr(operation.operation.attributes["msg"]).value

    def check(condition: Any) -> None:
        if not np.all(condition):
            raise SimulationError(f"a check of the program fails: {message}")

    return check


def _load(_: Any) -> Function:
    def load(memory: Any, *indices: Any) -> Any:
        return memory[checked(memory, indices)]

    return load


def _store(_: Any) -> Function:
    def store(value: Any, memory: Any, *indices: Any) -> None:
        memory[checked(memory, indices)] = value

    return store


def checked(memory: Any, indices: Sequence[Any]) -> tuple[Any, ...]:
    """Indices for NumPy, which must be in bounds: a memref access, unlike a tile operation, has no meaning beyond."""
    for axis, (index, size) in enumerate(zip(indices, memory.shape, strict=True)):
        if not _fits(index, size):
            raise IndexError(f"index {axis} is outside a memref of {list(memory.shape)}")
    return tuple(indices)


def _get_global(decoder: Decoder, operation: Any) -> Step:
    name = ir.FlatSymbolRefAttr(operation.operation.attributes["name"]).value
    slot, shared = decoder.slot(operation.operation.results[0]), decoder.state.shared
    content = _global_contents(decoder.module, name)
    if content is not None:

        def fixed(frame: Frame) -> None:
            frame[slot] = content

        return fixed

    def step(frame: Frame) -> None:
        frame[slot] = shared[name]

    return step


def _global_contents(module: Any, name: str) -> Any | None:
    """What a constant of the module holds; None for memory whose contents come with the block."""
    for operation in named(module, "memref.global"):
        attributes = operation.operation.attributes
        if ir.StringAttr(attributes["sym_name"]).value != name or "initial_value" not in attributes:
            continue
        type_ = ir.TypeAttr(attributes["type"]).value
        if isinstance(attributes["initial_value"], ir.UnitAttr):  # uninitialized
            return None
        array = dense_contents(attributes["initial_value"], written_dtype(type_), operation)
        array = array.astype(dtype_of(type_), copy=False)
        array.flags.writeable = False
        return array
    return None


def _dim(_: Any) -> Function:
    def dim(memory: Any, axis: Any) -> int:
        return memory.shape[uniform(axis, "a dimension")]

    return dim


def _reassociate(operation: Any) -> Function:
    """memref and tensor: collapse_shape and expand_shape."""
    attributes = operation.operation.attributes
    groups = [[ir.IntegerAttr(place).value for place in group] for group in attributes["reassociation"]]
    if operation.operation.name.endswith("expand_shape"):
        static, marker = list(attributes["static_output_shape"]), ir.ShapedType.get_dynamic_size()

        def expand(memory: Any, *dynamic: Any) -> Any:
            rest = iter(dynamic)
            return _reshaped(memory, [uniform(next(rest), "a size") if n == marker else n for n in static])

        return expand

    def collapse(memory: Any) -> Any:
        return _reshaped(memory, [math.prod(memory.shape[place] for place in group) for group in groups])

    return collapse


def _reshaped(memory: Any, shape: list[int]) -> Any:
    """The same memory in another shape."""
    found = memory.reshape(shape)
    if found.size and not np.may_share_memory(found, memory):
        raise ValueError(f"strides {memory.strides} do not allow the shape {shape}")
    return found


def _transpose(operation: Any) -> Function:
    order = [e.position for e in operation.operation.attributes["permutation"].value.results]

    def transpose(memory: Any) -> Any:
        return memory.transpose(order)

    return transpose


def _reinterpret(operation: Any) -> Function:
    attributes = operation.operation.attributes
    marker = ir.ShapedType.get_dynamic_size()
    static = [list(attributes[f"static_{name}"]) for name in ("offsets", "sizes", "strides")]

    def reinterpret(memory: Any, *dynamic: Any) -> Any:
        rest = iter(dynamic)
        offsets, sizes, strides = (
            [uniform(next(rest), "a view") if number == marker else number for number in numbers] for numbers in static
        )
        return view_from_start(memory, offsets[0], sizes, strides)

    return reinterpret


def _windows(operation: Any) -> Function:
    value = operation.operation.results[0]
    parts, offset, image = windows.parts_of(value), windows.offset_of(value), windows.image_of(value)

    def seen(memory: Any, *dynamic: Any) -> Any:
        wide = np.pad(memory.reshape([max(n, -1) for n in image.shape]), [*zip(image.low, image.high, strict=True)])
        return wide.reshape(-1)[windows.places(windows.closed(parts, [uniform(n, "windows") for n in dynamic]), offset)]

    return seen


def view_from_start(memory: Any, offset: int, sizes: Sequence[int], strides: Sequence[int]) -> Any:
    """A view of a buffer from its first byte on; offset and strides in elements. Raises IndexError beyond its end."""
    if 0 in sizes:
        return np.empty(sizes, memory.dtype)
    room = (
        1 + sum((size - 1) * step for size, step in zip(memory.shape, memory.strides, strict=True)) // memory.itemsize
    )
    reach = offset + sum((size - 1) * stride for size, stride in zip(sizes, strides, strict=True))
    if min(memory.shape, default=1) == 0 or not 0 <= offset <= reach < max(room, _room(memory)):
        raise IndexError(f"a view of {list(sizes)} with strides {list(strides)} leaves its buffer of {memory.shape}")
    flat = strided(memory, (reach + 1,), (memory.itemsize,))
    return strided(flat[offset:], sizes, [stride * memory.itemsize for stride in strides])


def _room(memory: Any) -> int:
    """Elements of an array's buffer, from the array's first on."""
    room, base = 0, memory.base
    while base is not None:  # views of views: a kernel's bare pointer is one of them
        if is_array(base) and base.flags.forc:
            room = max(room, (base.nbytes - (memory.ctypes.data - base.ctypes.data)) // memory.itemsize)
        base = getattr(base, "base", None)
    return room


FUNCTIONS: dict[str, Maker] = {
    "memref.alloc": _alloc, "memref.alloca": _alloc, "memref.copy": _copy, "memref.subview": _subview,
    "tile.position": _position, "tile.windows": _windows, "cf.assert": _assert,
    "memref.view": _view, "memref.cast": _same, "memref.load": _load, "memref.store": _store,
    "memref.assume_alignment": _same, "memref.memory_space_cast": _same, "memref.dim": _dim, "tensor.dim": _dim,
    "memref.collapse_shape": _reassociate, "memref.expand_shape": _reassociate, "memref.transpose": _transpose,
    "memref.extract_aligned_pointer_as_index": _same,  # for tile.run: the memory stands for its address
    "tensor.reshape": _reshape, "tensor.from_elements": _from_elements,
    "memref.reinterpret_cast": _reinterpret, "tensor.empty": _empty, "bufferization.alloc_tensor": _empty,
}  # fmt: skip
STEPS: dict[str, StepMaker] = {
    "memref.get_global": _get_global,
    **dict.fromkeys(("memref.dealloc", "memref.global"), lambda _, __: None),
}
