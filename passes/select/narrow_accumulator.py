"""narrow-accumulator: a product of f16 whose results are all f16 is added up in f16.

Expects a kernel after `import`: linalg on memrefs, in which a product adds up into an f32 buffer of the kernel's own
that starts as zero, and elementwise operations take it from there into the kernel's arguments. Leaves an f16 buffer,
a body that multiplies and adds in f16, and operations that extend what they read of it; one that only rounded the sum
takes it as it is. Sums then keep 11 bits, rounded at every instruction. It runs only where the schedule allows that
(`precision=f16`) and an mma has such sums. Other operands, a wider result, and a sum that starts elsewhere or
that something else reads are left alone. A second run changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import constants
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.clone import attributes_of
from mlir_gemm.dialect.linalg import structured
from mlir_gemm.dialect.linalg.products import Product, element_of, product_of
from mlir_gemm.dialect.walk import body, in_block, named, users
from mlir_gemm.passes.base import Pass


@dataclass(frozen=True)
class NarrowAccumulator(Pass):
    """Add up products of f16 with f16 results in f16."""

    name: ClassVar[str] = "narrow-accumulator"

    def run(self, module: Any) -> None:
        for function in named(module, "func.func"):
            operations = in_block(body(function)) if function.operation.regions[0].blocks else []
            for product in [product_of(each) for each in operations if structured.is_generic(each)]:
                if product is not None and _may_narrow(product, function):
                    _narrow(product)


def _may_narrow(product: Product, function: Any) -> bool:
    if product.algebra is not None:
        return False
    memory = product.accumulator
    maker = getattr(memory.owner, "operation", None)
    if {element_of(product.a), element_of(product.b)} != {"f16"} or str(structured.element_of(memory)) != "f32":
        return False
    if maker is None or maker.name != "memref.alloc":
        return False
    readers = [user for user in users(memory) if user != product.op]
    fills = [user for user in readers if user.name == "linalg.fill"]
    behind = [user for user in readers if user.name == "linalg.generic"]
    if len(fills) != 1 or not _is_zero(fills[0].operands[0]) or len(fills) + len(behind) != len(readers):
        return False
    if any(memory in structured.read(user).outputs for user in behind):
        return False
    return all(str(structured.element_of(written)) == "f16" for written in _written(function))


def _written(function: Any) -> list[Any]:
    """The function's arguments that its operations write."""
    arguments = list(body(function).arguments)
    generics = [structured.read(each) for each in in_block(body(function)) if structured.is_generic(each)]
    return [memory for generic in generics for memory in generic.outputs if memory in arguments]


def _narrow(product: Product) -> None:
    memory = product.accumulator
    alloc = memory.owner.operation
    f16 = ir.F16Type.get()
    with ir.InsertionPoint(alloc), alloc.location:
        type_ = ir.MemRefType.get(memory.type.shape, f16)
        narrow = ir.Operation.create(
            "memref.alloc", results=[type_], operands=list(alloc.operands), attributes=attributes_of(alloc)
        ).results[0]
    for user in users(memory):
        if user == product.op:
            _multiply_narrow(product, narrow)
        elif user.name == "linalg.fill":
            with ir.InsertionPoint(user), user.location:
                zero = dialect("arith").ConstantOp(f16, constants.zero_of(f16)).result
                structured.make_named("linalg.fill", zero, narrow)
            user.erase()
        else:
            _read_narrow(user, memory, narrow)
    alloc.erase()


def _multiply_narrow(product: Product, narrow: Any) -> None:
    """Multiplies what was extended, and adds to an f16."""
    op, block = product.op, product.generic.body
    f16, sums = ir.F16Type.get(), block.arguments[len(product.generic.inputs)]
    op.operands[len(product.generic.inputs)] = narrow
    sums.set_type(f16)
    with ir.InsertionPoint(product.multiplication), product.multiplication.location:
        term = dialect("arith").MulFOp(product.a.core, product.b.core).result
        total = dialect("arith").AddFOp(sums, term).result
    in_block(block)[-1].operation.operands[0] = total
    product.addition.erase()
    product.multiplication.erase()
    for factor in (product.a, product.b):
        _drop_unused(factor.value, factor.core)


def _drop_unused(value: Any, core: Any) -> None:
    """Erases the extensions from `core` to `value` that nothing uses any more."""
    while value != core and not users(value):
        extension = value.owner.operation
        value = extension.operands[0]
        extension.erase()


def _read_narrow(op: Any, memory: Any, narrow: Any) -> None:
    """Extends what an operation after the product reads; roundings to f16 take it as it is."""
    f32, f16 = ir.F32Type.get(), ir.F16Type.get()
    block = body(op)
    for number, operand in enumerate(list(op.operands)):
        if operand != memory:
            continue
        op.operands[number] = narrow
        argument = block.arguments[number]
        reading = users(argument)
        argument.set_type(f16)
        if not reading:
            continue
        with ir.InsertionPoint.at_block_begin(block), op.location:
            wide = dialect("arith").ExtFOp(f32, argument).result
        for user in reading:
            if user.name == "arith.truncf" and user.results[0].type == f16:
                user.results[0].replace_all_uses_with(argument)
                user.erase()
                continue
            for place, value in enumerate(list(user.operands)):
                if value == argument:
                    user.operands[place] = wide
        if not users(wide):
            wide.owner.erase()


def _is_zero(value: Any) -> bool:
    owner = value.owner
    if getattr(owner, "name", "") != "arith.constant":
        return False
    attribute: Any = owner.attributes["value"]
    return isinstance(attribute, ir.FloatAttr) and attribute.value == 0.0
