"""linearize-memory: every access is of one element of a buffer of one dimension.

Expects a kernel after `vulkan-interface`. Leaves memref.load and memref.store with one index: logical addressing has no
pointers to cast, and buffers in shared memory, which were views of bytes, become buffers of their own in the storage
class Workgroup. Where all accesses of a buffer are of vectors, its elements become what the narrowest of them takes
whole, up to 16 bytes: vectors of numbers, or of words of 32 bits that elements of 8 and 16 bits are packed in
(`width=element` leaves single numbers). Cooperative matrices stay, with one index of their first element.

Refuses memory that is not an argument or in shared memory, views that it does not know, and more shared memory than
`limit` bytes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod
from typing import Any, ClassVar

from mlir_gemm.dialect import constants
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.clone import attributes_of
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.spirv_kernels import as_bits, buffer_type
from mlir_gemm.dialect.walk import body, named
from mlir_gemm.errors import PassError
from mlir_gemm.lowering.buffer_units import Unit, element_bytes, whole_bytes
from mlir_gemm.passes.base import Pass

_MATRICES = ("gpu.subgroup_mma_load_matrix", "gpu.subgroup_mma_store_matrix")
_ACCESSES = ("memref.load", "memref.store", "vector.load", "vector.store", *_MATRICES)
_VIEWS = ("memref.reinterpret_cast", "memref.view", "memref.cast", "memref.get_global", "memref.collapse_shape",
          "builtin.unrealized_conversion_cast")  # fmt: skip
WIDTHS = ("vector", "element")


@dataclass(frozen=True)
class LinearizeMemory(Pass):
    """Address buffers by one index."""

    name: ClassVar[str] = "linearize-memory"
    limit: int = 0
    """Most bytes of shared memory; 0 for no limit."""
    width: str = "vector"
    """What elements of buffers become: `vector` or `element`."""

    def __post_init__(self) -> None:
        if self.width not in WIDTHS:
            raise PassError(f"pass '{self}': width must be one of {', '.join(WIDTHS)}")

    def run(self, module: Any) -> None:
        _ = module.context.dialects["spirv"]  # loads it
        for kernel in named(module, "gpu.func"):
            found = _Views(kernel)
            accesses = [each.operation for each in named(kernel, *_ACCESSES)]
            accesses = [each for each in accesses if not found.is_linear(each)]
            if self.width == "vector":
                found.measure(accesses)
                found.retype()
            for operation in accesses:
                _replace(operation, found)
            taken = sum(_bytes(each) for each in named(kernel, "memref.alloc"))
            if self.limit and taken > self.limit:
                raise pass_error(
                    kernel, f"{taken} bytes of shared memory; the chip has {self.limit} for a workgroup "
                    "(maxComputeSharedMemorySize): expected a smaller block or fewer stages"
                )  # fmt: skip
        for kernel in named(module, "gpu.func"):
            for operation in reversed(named(kernel, *_VIEWS)):
                if all(not list(result.uses) for result in operation.operation.results):
                    operation.operation.erase()
            if not named(kernel, "memref.get_global"):
                for declared in named(kernel.operation.parent, "memref.global"):
                    declared.operation.erase()


def _bytes(alloc: Any) -> int:
    type_ = alloc.operation.results[0].type
    return prod(type_.shape) * whole_bytes(type_.element_type)


@dataclass
class _Views:
    """What the views in a kernel are views of."""

    kernel: Any
    buffers: dict[Any, Any] = field(default_factory=dict[Any, Any])
    """Buffers of shared memory, by the view of bytes that they replace."""
    units: dict[Any, int] = field(default_factory=dict[Any, int])
    """Bytes that every access of a buffer takes whole, by the argument or the view of bytes."""

    def is_linear(self, operation: Any) -> bool:
        """Whether an access is of a buffer with a storage class already."""
        memory = operation.operands[_memory_at(operation)]
        return "spirv.storage_class" in str(memory.type) and not operation.name.startswith("vector.")

    def measure(self, accesses: list[Any]) -> None:
        """Finds what all accesses of each buffer take whole."""
        for each in accesses:
            root, _, _ = self.resolve(each.operands[_memory_at(each)], made=False)
            self.units[root] = min(_unit_bytes(each), self.units.get(root, 16))

    def unit(self, root: Any, element: Any) -> Unit:
        """What a buffer consists of."""
        return Unit.of(element, self.units.get(root, 0))

    def retype(self) -> None:
        """Gives the arguments the types that accesses see."""
        types = list[Any]()
        for argument in body(self.kernel).arguments:
            if argument in self.units:
                unit = self.unit(argument, argument.type.element_type)
                argument.set_type(
                    ir.MemRefType.get(argument.type.shape, unit.type, memory_space=argument.type.memory_space)
                )
            types.append(argument.type)
        if self.units:
            function = ir.TypeAttr.get(ir.FunctionType.get(types, []))
            self.kernel.operation.attributes["function_type"] = function

    def resolve(self, memory: Any, made: bool = True) -> tuple[Any, list[Any], Any]:
        """The buffer, the strides (numbers or values) and the offset of a memref; unless `made`, the view in place of
        a buffer of shared memory."""
        owner = memory.owner
        name = getattr(owner, "name", "")
        if name == "builtin.unrealized_conversion_cast":
            strides, offset = memory.type.get_strides_and_offset()
            return owner.operands[0], list(strides), offset
        if name == "memref.reinterpret_cast":
            buffer, _, _ = self.resolve(owner.operands[0], made)
            return buffer, *_of_cast(owner)
        if name == "memref.cast":
            return self.resolve(owner.operands[0], made)
        if name == "memref.collapse_shape":
            strides, offset = memory.type.get_strides_and_offset()
            return self.resolve(owner.operands[0], made)[0], list(strides), offset
        if name == "memref.view":
            buffer = self._shared(owner) if made else owner.operation
            return buffer, list(memory.type.get_strides_and_offset()[0]), 0
        raise pass_error(
            self.kernel, f"an access of {memory.type} from '{name}'; expected an argument or shared memory"
        )

    def _shared(self, view: Any) -> Any:
        found = self.buffers.get(view.operation)
        if found is None:
            type_ = view.results[0].type
            unit = self.unit(view.operation, type_.element_type)
            count = prod(type_.shape) // unit.count
            with ir.InsertionPoint.at_block_begin(body(self.kernel)), view.location:
                made = buffer_type(unit.type, "Workgroup", count)
                found = self.buffers[view.operation] = dialect("memref").AllocOp(made, [], []).result
        return found


def _unit_bytes(access: Any) -> int:
    """The bytes, up to 16, that an access takes whole: a power of two that divides its size and its place."""
    memory = access.operands[_memory_at(access)]
    size = element_bytes(memory.type.element_type)
    if access.name in _MATRICES:
        value = access.operands[0] if _memory_at(access) else access.results[0]
        rows, columns = (int(each) for each in str(value.type).split("<")[1].split("x")[:2])
        lead = ir.IntegerAttr(access.attributes["leadDimension"]).value
        taken = [size * (rows if "transpose" in access.attributes else columns), size * lead]
    elif access.name.startswith("vector."):
        value = access.operands[0] if _memory_at(access) else access.results[0]
        aligned = ir.IntegerAttr(access.attributes["alignment"]).value if "alignment" in access.attributes else size
        taken = [size * prod(ir.VectorType(value.type).shape), aligned]
    else:
        taken = [size]
    if access.name.startswith("vector.") or access.name in _MATRICES:
        inner = memory.type.get_strides_and_offset()[0][-1]
        if inner != 1:
            taken.append(size)
    shape = prod(memory.type.shape) if memory.type.has_static_shape else 0
    if getattr(memory.owner, "name", "") == "memref.view":
        taken.append(shape * size)
    return min(16, *(each & -each for each in taken))


def _of_cast(cast: Any) -> tuple[list[Any], Any]:
    """The strides and the offset of a memref.reinterpret_cast."""
    dynamic = ir.ShapedType.get_dynamic_stride_or_offset()
    values = list(cast.operands)[1:]
    counts = list(ir.DenseI32ArrayAttr(cast.attributes["operandSegmentSizes"]))
    offsets, strides = values[: counts[1]], values[counts[1] + counts[2] :]
    static = list(ir.DenseI64ArrayAttr(cast.attributes["static_strides"]))
    (offset,) = ir.DenseI64ArrayAttr(cast.attributes["static_offsets"])
    given = iter(strides)
    found = [next(given) if each == dynamic else each for each in static]
    return found, offsets[0] if offset == dynamic else offset


def _memory_at(operation: Any) -> int:
    """Which operand of an access is the memory."""
    return 1 if "store" in operation.name else 0


def _replace(operation: Any, views: _Views) -> None:
    first = _memory_at(operation)
    store = first == 1
    memory = operation.operands[first]
    root, _, _ = views.resolve(memory, made=False)
    buffer, strides, offset = views.resolve(memory)
    element = memory.type.element_type
    unit = views.unit(root, element)
    with ir.InsertionPoint(operation), operation.location:
        place = unit.place(_place(list(operation.operands)[first + 1 :], strides, offset))
        if operation.name in _MATRICES:
            _matrix(operation, buffer, place, unit)
            return
        vector = dialect("vector")
        value = operation.operands[0] if store else operation.results[0]
        is_vector = isinstance(value.type, ir.VectorType)
        count = prod(ir.VectorType(value.type).shape) if is_vector else 1
        places = [_added(place, number) for number in range(count // unit.count)]
        if store:
            numbers = [vector.ExtractOp(value, [], [n]).result for n in range(count)] if is_vector else [value]
            for number, at in enumerate(places):
                unit.store([_stored(each) for each in numbers[number * unit.count :][: unit.count]], buffer, at)
        else:
            loaded = [_loaded(each, element) for at in places for each in unit.load(buffer, at)]
            result = vector.FromElementsOp(value.type, loaded).result if is_vector else loaded[0]
            value.replace_all_uses_with(result)
    operation.erase()


def _matrix(operation: Any, buffer: Any, place: Any, unit: Unit) -> None:
    """A load or store of a cooperative matrix, of a buffer."""
    operands = [*list(operation.operands)[: _memory_at(operation)], buffer, place]
    types = [result.type for result in operation.results]
    attributes = attributes_of(operation)
    lead = ir.IntegerAttr(attributes["leadDimension"])
    attributes["leadDimension"] = ir.IntegerAttr.get(lead.type, lead.value // unit.count)
    made = ir.Operation.create(operation.name, types, operands, attributes)
    for old, new in zip(operation.results, made.results, strict=True):
        old.replace_all_uses_with(new)
    operation.erase()


def _stored(value: Any) -> Any:
    """A truth value as a byte, and a float that SPIR-V lacks as its bits; others as they are."""
    bits = as_bits(value.type)
    if bits == value.type:
        return value
    made = dialect("arith").ExtUIOp if str(value.type) == "i1" else dialect("arith").BitcastOp
    return made(bits, value).result


def _loaded(value: Any, element: Any) -> Any:
    arith = dialect("arith")
    if str(element) != "i1":
        return value if as_bits(element) == element else arith.BitcastOp(element, value).result
    return arith.CmpIOp(arith.CmpIPredicate.ne, value, arith.ConstantOp(value.type, 0).result).result


def _place(indices: list[Any], strides: list[Any], offset: Any) -> Any:
    """The number of an element in its buffer, as a value."""
    arith, total = dialect("arith"), None
    for index, stride in zip(indices, strides, strict=True):
        if isinstance(stride, int):
            term = index if stride == 1 else arith.MulIOp(index, constants.index(stride)).result
        else:
            term = arith.MulIOp(index, stride).result
        total = term if total is None else arith.AddIOp(total, term).result
    total = constants.index(0) if total is None else total
    return _added(total, offset)


def _added(value: Any, number: Any) -> Any:
    if isinstance(number, int):
        return dialect("arith").AddIOp(value, constants.index(number)).result if number else value
    return dialect("arith").AddIOp(value, number).result
