"""place-shared: shared-memory buffers get their places in one block of shared memory.

Expects a kernel function (inside a gpu.module) with memref.alloc in memory space 3 at its top level. Leaves one
memref.global of bytes, a memref.view of it for each buffer, and on the launch the bytes it takes. Buffers whose uses do
not overlap in time, with a barrier in between, share memory; a buffer that is copied to asynchronously is in use until
all copies are waited for. Where the blocks of a cluster add up parts of a sum, they meet first: buffers marked
`tile.from_reduction` share memory with those marked `tile.until_reduction`. `tile.layout` moves from a buffer to its
view.

Storage `static` declares the size (at most `limit` bytes); `dynamic` declares an external array whose size is given at
launch; `auto` takes static when it fits. A second run changes nothing. Refuses buffers whose size or layout is not
constant.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import constants
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.memory import SHARED, in_shared
from mlir_gemm.dialect.rings import PANELS
from mlir_gemm.dialect.walk import ancestor_in, body, in_block, named, parents, users
from mlir_gemm.errors import PassError
from mlir_gemm.passes.base import Pass
from mlir_gemm.spec.attributes import FROM_REDUCTION, LAYOUT, UNTIL_REDUCTION

VIEWS = ("memref.subview", "memref.view", "memref.cast", "memref.reinterpret_cast", "memref.expand_shape",
         "memref.collapse_shape")  # fmt: skip
"""What only makes another name for a buffer."""
ALIGNMENT, SWIZZLED = 128, 1024
"""Bytes: the start of every buffer falls on the first bank; with the copy engine's swizzle, where its pattern
starts (256 and 512 would do for panels of 32 and 64 bytes)."""


@dataclass(frozen=True)
class PlaceShared(Pass):
    """Place shared-memory buffers."""

    name: ClassVar[str] = "place-shared"
    storage: str = "auto"
    """`static`, `dynamic` or `auto`."""
    limit: int = 49152
    """Most bytes that may be declared statically."""

    def run(self, module: Any) -> None:
        if self.storage not in ("static", "dynamic", "auto"):
            raise PassError(f"pass 'place-shared': storage '{self.storage}'; expected static, dynamic or auto")
        for kernel in named(module, "gpu.func"):
            buffers = [
                op
                for op in in_block(body(kernel))
                if op.operation.name == "memref.alloc" and in_shared(op.operation.results[0])
            ]
            if buffers:
                _place(module, kernel, buffers, self)


@dataclass(frozen=True)
class _Life:
    """When a buffer is in use: from the first to the last operation of the kernel's body that touches it."""

    alloc: Any
    bytes: int
    first: int
    last: int


def _place(module: Any, kernel: Any, buffers: list[Any], options: PlaceShared) -> None:
    if len(kernel.regions[0].blocks) != 1:
        raise pass_error(kernel, "a kernel of several basic blocks; expected structured control flow")
    for alloc in buffers:
        _check(alloc)
    order = in_block(body(kernel))
    numbers = {operation.operation: number for number, operation in enumerate(order)}
    barriers = [n for n, operation in enumerate(order) if operation.operation.name == "gpu.barrier"]
    waits = [n for n, operation in enumerate(order) if _waits_for_all(operation)]
    lives = [_life(alloc, numbers, body(kernel), waits) for alloc in buffers]
    alignment = max(_alignment(alloc) for alloc in buffers)
    offsets = _offsets(lives, barriers, alignment)
    size = max(offset + life.bytes for offset, life in zip(offsets, lives, strict=True))
    dynamic = options.storage == "dynamic" or (options.storage == "auto" and size > options.limit)
    if not dynamic and size > options.limit:
        raise pass_error(
            buffers[0], f"{size} bytes of shared memory cannot be static (at most {options.limit}); use storage=dynamic"
        )
    storage = _declare(kernel, 0 if dynamic else size, alignment)
    for offset, life in zip(offsets, lives, strict=True):
        _replace(life, storage, offset)
    if dynamic:
        _tell_launches(module, kernel, size)


def _alignment(alloc: Any) -> int:
    attributes = alloc.operation.attributes
    layout = str(attributes[LAYOUT]).strip('"') if LAYOUT in attributes else ""
    return SWIZZLED if layout in PANELS else ALIGNMENT


def _check(alloc: Any) -> None:
    """Refuses a buffer that cannot be a view of bytes: sizes must be constant, and only rows may be padded."""
    type_ = alloc.operation.results[0].type
    if type_.has_static_shape and type_.shape and getattr(type_.element_type, "width", 1) % 8 == 0:
        strides, offset = type_.get_strides_and_offset()
        dense = [strides[axis + 1] * _padded(type_)[axis + 1] for axis in range(len(strides) - 1)]
        if not offset and strides == [*dense, 1] and _padded(type_)[-1] >= type_.shape[-1]:
            return
    raise pass_error(
        alloc, f"a buffer of {type_} in shared memory; expected constant sizes, whole bytes and dense rows"
    )


def _padded(type_: Any) -> list[int]:
    """The shape of a buffer with the padding of its rows."""
    strides, _ = type_.get_strides_and_offset()
    return [*type_.shape[:-1], strides[-2]] if len(type_.shape) > 1 else list(type_.shape)


def _waits_for_all(operation: Any) -> bool:
    """Whether no asynchronous copy is in flight after an operation."""
    op = operation.operation
    if op.name != "nvgpu.device_async_wait":
        return False
    return "numGroups" not in op.attributes or ir.IntegerAttr(op.attributes["numGroups"]).value == 0


def _life(alloc: Any, numbers: dict[Any, int], block: Any, waits: list[int]) -> _Life:
    """Follows views of the buffer to everything that touches it. Uses that cannot be followed (a loop that carries it,
    a yield, its address) may access it at any time. An asynchronous copy may touch it until the next of `waits`."""
    touched: list[int] = []
    pending = [alloc.operation.results[0]]
    while pending:
        for user in users(pending.pop()):
            if user.name in VIEWS:  # making a view touches nothing yet
                pending += user.results
            elif user.name.startswith(("scf.", "cf.")) or any(_may_be_address(result) for result in user.results):
                touched += numbers.values()
            else:
                touched.append(numbers[ancestor_in(block, user)])
                if user.name == "nvgpu.device_async_copy":
                    touched.append(min((wait for wait in waits if wait > touched[-1]), default=len(numbers)))
    type_ = alloc.operation.results[0].type
    strides, _ = type_.get_strides_and_offset()
    size = strides[0] * type_.shape[0] * type_.element_type.width // 8
    return _Life(alloc, size, min(touched, default=0), max(touched, default=0))


def _may_be_address(value: Any) -> bool:
    return isinstance(value.type, ir.MemRefType | ir.IndexType) or str(value.type).startswith("!llvm.ptr")


def _offsets(lives: list[_Life], barriers: list[int], alignment: int) -> list[int]:
    """First fit: each buffer goes to the lowest place free of those it may not share memory with."""
    placed: list[tuple[int, _Life]] = []
    for life in lives:
        taken = sorted((offset, offset + other.bytes) for offset, other in placed if not _apart(life, other, barriers))
        place = 0
        for start, end in taken:
            if place + life.bytes <= start:
                break
            place = max(place, -(-end // alignment) * alignment)
        placed.append((place, life))
    return [offset for offset, _ in placed]


def _apart(one: _Life, other: _Life, barriers: list[int]) -> bool:
    """Whether one buffer's last use and the other's first have a barrier of the whole block between them, or a meeting
    of the blocks that add up."""
    if any(UNTIL_REDUCTION in a.alloc.operation.attributes and FROM_REDUCTION in b.alloc.operation.attributes
           for a, b in ((one, other), (other, one))):  # fmt: skip
        return True
    early, late = sorted((one, other), key=lambda life: life.first)
    return any(early.last < barrier < late.first for barrier in barriers)


def _declare(kernel: Any, size: int, alignment: int) -> Any:
    """The global in the kernel's module and a reference to it in the kernel; size 0 declares an external array."""
    memref = dialect("memref")
    space = constants.integer(SHARED)
    type_ = ir.MemRefType.get([size], ir.IntegerType.get_signless(8), memory_space=space)
    name = f"{ir.StringAttr(kernel.attributes['sym_name']).value}_shared"
    attributes = {
        "sym_name": ir.StringAttr.get(name),
        "type": ir.TypeAttr.get(type_),
        "alignment": constants.integer(alignment),
    }
    if size:  # without an initial value it is a declaration, which must not be private
        attributes["sym_visibility"] = ir.StringAttr.get("private")
        attributes["initial_value"] = ir.UnitAttr.get()
    with ir.InsertionPoint(kernel), kernel.location:
        ir.Operation.create("memref.global", attributes=attributes)
    with ir.InsertionPoint(in_block(body(kernel))[0]), kernel.location:
        return memref.GetGlobalOp(type_, ir.FlatSymbolRefAttr.get(name)).result


def _replace(life: _Life, storage: Any, offset: int) -> None:
    alloc = life.alloc
    old = alloc.operation.results[0]
    type_ = old.type
    padded = _padded(type_)
    whole = ir.MemRefType.get(padded, type_.element_type, memory_space=type_.memory_space)
    with ir.InsertionPoint(alloc), alloc.location:
        view = dialect("memref").ViewOp(whole, storage, constants.index(offset), []).result
        if padded != list(type_.shape):
            view = dialect("_memref_ops_gen").SubViewOp(
                type_, view, [], [], [], [0] * len(padded), type_.shape, [1] * len(padded)
            ).result  # fmt: skip
    if LAYOUT in alloc.operation.attributes:
        view.owner.attributes[LAYOUT] = alloc.operation.attributes[LAYOUT]
    old.replace_all_uses_with(view)
    alloc.operation.erase()


def _tell_launches(module: Any, kernel: Any, size: int) -> None:
    """Sets the dynamic shared memory of every launch of the kernel."""
    path = [ir.StringAttr(symbol.attributes["sym_name"]).value for symbol in (next(parents(kernel)), kernel)]
    for launch in named(module, "gpu.launch_func"):
        if ir.SymbolRefAttr(launch.attributes["kernel"]).value == path:
            _rebuild_launch(launch, size)


def _rebuild_launch(launch: Any, size: int) -> None:
    gpu = dialect("gpu")
    if launch.asyncToken is not None or list(launch.asyncDependencies) or launch.clusterSizeX is not None:
        raise pass_error(launch, "an asynchronous launch, or one with clusters, cannot get dynamic shared memory")
    kernel = ir.SymbolRefAttr(launch.attributes["kernel"]).value
    with ir.InsertionPoint(launch), launch.location:
        bytes_ = dialect("arith").ConstantOp(ir.IntegerType.get_signless(32), size).result
        gpu.LaunchFuncOp(
            kernel,
            (launch.gridSizeX, launch.gridSizeY, launch.gridSizeZ),
            (launch.blockSizeX, launch.blockSizeY, launch.blockSizeZ),
            list(launch.kernelOperands),
            dynamic_shared_memory_size=bytes_,
        )
    launch.operation.erase()
