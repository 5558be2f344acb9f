"""check-module: refuses a module with operations that the compiler does not know, naming each, its place and what to
write instead.

Expects a module as a user or a framework wrote it: one function with a body, of straight-line linalg, tensor and memref
operations. Leaves it unchanged. docs/inputs.md lists what is accepted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import positions
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.linalg.generics import owner_of, shape_of
from mlir_gemm.dialect.linalg.reshapes import root_of
from mlir_gemm.dialect.linalg.source import check_attributes, check_extent, check_name, is_row_major
from mlir_gemm.dialect.locations import input_error, location_of
from mlir_gemm.dialect.walk import body, in_block, named, operations
from mlir_gemm.errors import InputError, Location
from mlir_gemm.passes.base import Pass
from mlir_gemm.spec.attributes import SCHEDULE, STAND_INS
from mlir_gemm.spec.element_types import TYPES
from mlir_gemm.spec.schedule import default_of

PRODUCTS = (
    "matmul", "batch_matmul", "batch_reduce_matmul", "matvec", "vecmat", "batch_matvec", "batch_vecmat", "dot",
    "contract", "quantized_matmul", "quantized_batch_matmul", "matmul_transpose_a", "matmul_transpose_b",
    "batch_matmul_transpose_a", "batch_matmul_transpose_b", "mmt4d", "batch_mmt4d",
)  # fmt: skip
"""The named products of linalg."""

ELEMENTWISE = (
    "add", "sub", "mul", "div", "div_unsigned", "max", "min", "powf", "exp", "log", "abs", "ceil", "floor", "negf",
    "reciprocal", "round", "sqrt", "rsqrt", "square", "tanh", "erf", "select", "elementwise", "map",
)  # fmt: skip
MOVEMENT = ("fill", "copy", "transpose", "broadcast")
WINDOWS = ("linalg.conv_", "linalg.depthwise_conv_", "linalg.pooling_")
"""Named operations that read through windows: convolutions are products over them, poolings reductions."""

LINALG = tuple(f"linalg.{name}" for name in (*PRODUCTS, *ELEMENTWISE, *MOVEMENT, "generic", "reduce"))
OTHERS = (
    "arith.constant", "complex.constant", "complex.create", "func.return",
    "tensor.empty", "tensor.collapse_shape", "tensor.expand_shape", "tensor.cast", "tensor.extract_slice",
    "tensor.insert_slice", "tensor.concat", "tensor.pad",
    "memref.alloc", "memref.dealloc", "memref.copy", "memref.get_global", "memref.cast", "memref.subview",
    "memref.collapse_shape", "memref.expand_shape", "memref.transpose",
)  # fmt: skip
"""What may stand around linalg operations."""


@dataclass(frozen=True)
class CheckModule(Pass):
    """Refuses modules that hold what is not understood."""

    name: ClassVar[str] = "check-module"

    def run(self, module: Any) -> None:
        _check_top(module)
        function = the_function(module)
        check_attributes(module)
        check_name(function)
        _check_schedule(function)
        for argument in body(function).arguments:
            _check_argument(function, argument)
        inside = in_block(body(function))
        for operation in inside:
            _check_operation(operation)
        if not len(inside[-1].operation.operands) and not any(_writes(operation) for operation in inside):
            raise input_error(function, "the function computes nothing: it returns no tensor and writes no memref")


def _check_schedule(function: Any) -> None:
    """Refuses fields that no schedule has, also where the function holds no product that would ask for them."""
    if SCHEDULE in function.attributes:
        given = function.attributes[SCHEDULE]
        if not isinstance(given, ir.DictAttr):
            raise input_error(function, f"'{SCHEDULE}' is {given}; expected a dictionary of a schedule's fields")
        for number in range(len(given)):
            default_of(given[number].name, location_of(function))


def the_function(module: Any) -> Any:
    """The one function of a module that has a body. Raises InputError if there is none or more than one."""
    functions = [f for f in in_block(body(module)) if f.operation.name == "func.func" and len(f.regions[0].blocks)]
    if not functions:
        inside = in_block(body(module))
        place = location_of(inside[0]) if inside else Location("-", 1, 1)
        raise InputError("the module has no function with a body; expected one func.func that computes", place)
    if len(functions) > 1:
        raise input_error(
            functions[1], "the module has more than one function with a body; expected one, compile each on its own"
        )
    if len(functions[0].regions[0].blocks) > 1:
        raise input_error(functions[0], "the function branches between blocks; expected straight-line code")
    return functions[0]


def _writes(operation: Any) -> bool:
    """Whether an operation writes memory."""
    name = operation.operation.name
    return name == "memref.copy" or (name.startswith("linalg.") and not len(operation.operation.results))


def _check_top(module: Any) -> None:
    for operation in in_block(body(module)):
        name = operation.operation.name
        if name == "ml_program.global":
            raise input_error(
                operation,
                "'ml_program.global' in the module: random numbers are not compiled (dropout in training, rand); "
                "export with .eval(), or cut the program there and give the numbers as an argument",
            )
        if name not in ("func.func", "memref.global"):
            raise input_error(operation, f"'{name}' in the module; expected one func.func, and memref.global constants")


def _check_argument(function: Any, argument: Any) -> None:
    what = f"argument {argument.arg_number}"
    if not isinstance(argument.type, (ir.MemRefType, ir.RankedTensorType)):
        raise input_error(function, f"{what} has type {argument.type}; expected tensors, memrefs, or numbers")
    _check_type(function, what, argument.type)
    if not isinstance(argument.type, ir.MemRefType):
        return
    if argument.type.memory_space is not None:
        raise input_error(
            function,
            f"{what} is in memory space {argument.type.memory_space}; expected the default one (global memory)",
        )
    if is_row_major(argument.type):
        return
    try:
        strides, offset = argument.type.get_strides_and_offset()
    except Exception:
        raise input_error(function, f"{what} has a layout without strides ({argument.type})") from None
    if ir.ShapedType.get_dynamic_stride_or_offset() in [*strides, offset]:
        raise input_error(function, f"{what} has dynamic strides or offset ({argument.type}); they must be static")


def _check_type(operation: Any, what: str, type_: Any) -> None:
    if not isinstance(type_, (ir.MemRefType, ir.RankedTensorType)):
        if isinstance(type_, ir.ShapedType):
            raise input_error(operation, f"{what} has type {type_}; expected ranked tensors or memrefs")
        if str(type_) != "none" and _real(type_) not in TYPES:
            raise input_error(operation, f"{what} has type {type_}; expected one of {', '.join(TYPES)}")
        return
    element = _real(type_.element_type)
    if element not in TYPES:
        raise input_error(operation, f"{what} has element type {element}; expected one of {', '.join(TYPES)}")
    if isinstance(type_, ir.RankedTensorType) and type_.encoding is not None:
        raise input_error(operation, f"{what} has an encoding ({type_}); expected a plain tensor")
    if not type_.has_static_shape:
        raise input_error(operation, f"{what} has dynamic sizes ({type_}); sizes must be static")
    check_extent(operation, what, type_)


def _real(type_: Any) -> str:
    """The name of an element type, of a complex one of floating-point parts that of these."""
    part = ir.ComplexType(type_).element_type if isinstance(type_, ir.ComplexType) else type_
    return str(part if isinstance(part, ir.FloatType) else type_)


def _check_operation(operation: Any) -> None:
    name = operation.operation.name
    windows = name.startswith(WINDOWS)
    numbers = _makes_numbers(operation)
    if name not in (*LINALG, *OTHERS) and not windows and not numbers and not _is_size(operation):
        raise input_error(operation, f"'{name}' is not understood; {_understood(name)}")
    for what, values in (("a result", operation.operation.results), ("an operand", operation.operation.operands)):
        for value in values:
            if not isinstance(value.type, ir.IndexType):
                _check_type(operation, f"{what} of '{name}'", value.type)
    if name == "func.return":
        _check_return(operation)
    if name == "memref.get_global":
        _check_global(operation)
    if not name.startswith("linalg."):
        return
    if "indexing_maps" in operation.operation.attributes:
        _check_maps(operation)
    _check_reads(operation)
    _check_body(operation)


def _check_reads(operation: Any) -> None:
    """What a body reads must have been computed: a tensor.empty has no values."""
    block = body(operation)
    for argument, operand in zip(block.arguments, operation.operation.operands, strict=False):
        if not isinstance(operand.type, ir.RankedTensorType) or not list(argument.uses):
            continue
        owner = owner_of(root_of(operand))
        if owner is not None and owner.name == "tensor.empty":
            raise input_error(
                operation,
                f"'{operation.operation.name}' reads operand {argument.arg_number}, a tensor.empty, which has no "
                "values yet; fill it first (linalg.fill)",
            )


def _understood(name: str) -> str:
    """The operations that could be used instead of one that is not understood."""
    if name.startswith("linalg."):
        return "of linalg: " + ", ".join(
            [*PRODUCTS, *ELEMENTWISE, *MOVEMENT, "generic", "reduce", "and convolutions and poolings"]
        )
    if name.startswith(("scf.", "cf.", "affine.")):
        return (
            "expected straight-line linalg operations, loops over elements of memrefs, loops with constant bounds and "
            "branches whose condition follows from them"
        )
    if name.startswith(("arith.", "math.")):
        return "arithmetic stands in the body of a linalg.generic; outside it only arith.constant"
    if name.startswith("func."):
        return "expected one function without calls"
    return "beside linalg operations there may be " + ", ".join(OTHERS)


def _check_return(operation: Any) -> None:
    for position, value in enumerate(operation.operation.operands):
        if not isinstance(value.type, ir.RankedTensorType):
            raise input_error(operation, f"result {position} has type {value.type}; expected tensors")


def _check_global(operation: Any) -> None:
    symbol = ir.FlatSymbolRefAttr(operation.operation.attributes["name"]).value
    module = operation.operation.parent
    while module.operation.parent is not None:
        module = module.operation.parent
    for found in named(module, "memref.global"):
        if ir.StringAttr(found.attributes["sym_name"]).value == symbol:
            attributes = found.operation.attributes
            if "initial_value" not in attributes or str(attributes["initial_value"]) == "unit":
                raise input_error(operation, f"@{symbol} has no initial value; expected a constant memref.global")
            if "constant" not in attributes:
                raise input_error(operation, f"@{symbol} may change; expected a memref.global marked constant")


def _check_maps(operation: Any) -> None:
    """Results are written through maps of whole loops; what is read may be indexed by sums of loops too."""
    op = operation.operation
    inputs = ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"])[0]
    for number, attribute in enumerate(op.attributes["indexing_maps"]):
        results = list(attribute.value.results)
        loops = [ir.AffineDimExpr(e).position for e in results if isinstance(e, ir.AffineDimExpr)]
        rest = [e for e in results if not isinstance(e, ir.AffineDimExpr)]
        ones = all(isinstance(e, ir.AffineConstantExpr) and ir.AffineConstantExpr(e).value == 0 for e in rest)
        if number >= inputs and (len(set(loops)) < len(loops) or not ones):
            raise input_error(
                operation,
                f"'{op.name}' with indexing map {attribute.value} of a result; expected each loop at most once, and "
                "nothing else but 0",
            )
    if "iterator_types" in op.attributes:
        _check_parallel(operation)


def _check_parallel(operation: Any) -> None:
    """Points of a parallel loop must not write the same element: nothing says which of them comes last."""
    op = operation.operation
    maps = [attribute.value for attribute in op.attributes["indexing_maps"]]
    loops: list[list[int | None]] = [
        [ir.AffineDimExpr(e).position if isinstance(e, ir.AffineDimExpr) else None for e in each.results]
        for each in maps
    ]
    sizes: dict[int | None, int] = {}
    for operand, each in zip(op.operands, loops, strict=True):
        sizes.update(zip(each, shape_of(operand) or (), strict=False))
    inputs = ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"])[0]
    for loop, iterator in enumerate(op.attributes["iterator_types"]):
        if "parallel" not in str(iterator) or sizes.get(loop) == 1:
            continue
        for position in range(inputs, len(maps)):
            if loop not in loops[position]:
                raise input_error(
                    operation,
                    f"'{op.name}' writes an element for each step of loop d{loop}, which is parallel but not in the "
                    f"map {maps[position]} of its result; expected it there, or a reduction",
                )


def _check_body(operation: Any) -> None:
    live = _live(operation)
    for inner in operations(operation):
        name = inner.operation.name
        if name == "linalg.yield" or inner.operation not in live:
            continue
        if not name.startswith(("arith.", "math.", "complex.")) and name not in _IN_BODIES:
            raise input_error(
                inner,
                f"'{name}' in the body of '{operation.operation.name}'; expected arith and math operations, "
                "linalg.index and tensor.extract",
            )
        for result in inner.operation.results:
            if not isinstance(result.type, ir.IndexType):
                _check_type(inner, f"a result of '{name}'", result.type)


_IN_BODIES = ("linalg.index", "tensor.extract", "cf.assert")


def _is_size(operation: Any) -> bool:
    """Whether an operation is a size that is known at run time only, as name-sizes writes it."""
    op = operation.operation
    return (
        op.name == positions.NAME and bool(positions.size_in(op.results[0])) and STAND_INS in _module_of(op).attributes
    )


def _module_of(op: Any) -> Any:
    while op.parent is not None:
        op = op.parent.operation
    return op


def _makes_numbers(operation: Any) -> bool:
    """Whether an operation computes an index, or a number that makes one: an offset of a slice."""
    op = operation.operation
    if op.name != "tensor.extract" and not op.name.startswith("arith."):
        return False
    return all(isinstance(value.type, ir.IndexType | ir.IntegerType) for value in op.results)


def _live(operation: Any) -> list[Any]:
    """The operations of a body on which a result depends that somebody uses."""
    block = body(operation)
    inner = in_block(block)
    if not inner:
        return []
    results = list(operation.operation.results)
    pending: list[Any] = [
        value
        for position, value in enumerate(inner[-1].operation.operands)
        if not results or list(results[position].uses)
    ]
    live: list[Any] = []
    while pending:
        owner = pending.pop().owner
        if hasattr(owner, "operations") or owner.operation.block != block or owner.operation in live:
            continue
        live.append(owner.operation)
        pending += owner.operation.operands
    return live
