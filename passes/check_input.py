"""check-input: refuses a module that the pipeline cannot compile, naming what is wrong, where, and what would be right.

Expects a module as a user or a framework wrote it. Leaves it unchanged.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.locations import input_error, location_of
from mlir_gemm.dialect.walk import body, in_block, named
from mlir_gemm.errors import InputError, Location
from mlir_gemm.passes.base import Pass

AROUND = (
    "arith.constant", "tensor.empty", "memref.alloc", "memref.dealloc", "memref.copy",
    "linalg.fill", "linalg.copy", "linalg.generic", "linalg.matmul", "func.return",
)  # fmt: skip
"""Operations that may stand beside the product in its function."""

_MATMUL_MAPS = (
    "affine_map<(d0, d1, d2) -> (d0, d2)>",
    "affine_map<(d0, d1, d2) -> (d2, d1)>",
    "affine_map<(d0, d1, d2) -> (d0, d1)>",
)


@dataclass(frozen=True)
class CheckInput(Pass):
    """Refuses modules that cannot be compiled."""

    name: ClassVar[str] = "check-input"

    def run(self, module: Any) -> None:
        function = the_function(module)
        product = the_product(function)
        for operation in in_block(body(function)):
            _check_operation(operation)
        _check_returned(in_block(body(function))[-1])
        _check_product(product)
        _check_operands(function, product)
        for argument in [*body(function).arguments]:
            _check_argument(function, argument)


def the_function(module: Any) -> Any:
    """The one function of a module that has a body. Raises InputError if there is none or more than one."""
    functions = [f for f in named(module, "func.func") if len(f.regions[0].blocks)]
    if not functions:
        inside = in_block(body(module))
        place = location_of(inside[0]) if inside else Location("-", 1, 1)
        raise InputError(
            "the module has no function with a body; expected a func.func that holds one linalg.matmul", place
        )
    if len(functions) > 1:
        raise input_error(
            functions[1], "the module has more than one function; expected one that holds one linalg.matmul"
        )
    if len(functions[0].regions[0].blocks) > 1:
        raise input_error(functions[0], "the function branches between blocks; expected straight-line code")
    return functions[0]


def the_product(function: Any) -> Any:
    """The one linalg.matmul of a function. Raises InputError if there is none or more than one."""
    products = named(function, "linalg.matmul")
    if not products:
        others = [op.operation.name for op in in_block(body(function)) if op.operation.name.startswith("linalg.")]
        found = f" (it has {', '.join(dict.fromkeys(others))})" if others else ""
        raise input_error(function, f"the function has no linalg.matmul{found}; there is nothing to compile")
    if len(products) > 1:
        raise input_error(products[1], "a second linalg.matmul; this version compiles one product a function")
    return products[0]


def _check_operation(operation: Any) -> None:
    name = operation.operation.name
    if name not in AROUND:
        raise input_error(
            operation, f"'{name}' is not supported here; beside the product there may be {', '.join(AROUND)}"
        )
    for result in operation.operation.results:
        if isinstance(result.type, ir.ShapedType) and not result.type.has_static_shape:
            raise input_error(
                operation, f"'{name}' makes a value of dynamic sizes ({result.type}); they must be static"
            )
    if name != "linalg.generic":
        return
    for inner in in_block(body(operation)):
        if not inner.operation.name.startswith(("arith.", "math.", "linalg.yield")):
            raise input_error(
                inner,
                f"'{inner.operation.name}' inside a linalg.generic; only arith and math operations are fused",
            )
    iterators = {str(i) for i in operation.attributes["iterator_types"]}
    if iterators != {"#linalg.iterator_type<parallel>"}:
        raise input_error(
            operation, "a linalg.generic with a reduction; only elementwise ones (all iterators parallel) are fused"
        )
    for map_ in operation.attributes["indexing_maps"]:
        if map_.value != ir.AffineMap.get_identity(2):
            raise input_error(
                operation,
                f"a linalg.generic with indexing map {map_.value}; only identity maps over two dimensions are fused",
            )


def _check_returned(return_: Any) -> None:
    """Bufferisation makes an argument of each tensor returned, so each must be a value of its own."""
    returned = list(return_.operation.operands)
    for position, value in enumerate(returned):
        if value in returned[:position]:
            raise input_error(
                return_, f"result {position} is returned twice; expected a value of its own for each result"
            )
        if isinstance(value.type, ir.RankedTensorType) and hasattr(value.owner, "operations"):
            raise input_error(return_, f"result {position} is an argument returned as it is; expected a computed value")


def _check_product(product: Any) -> None:
    for position, operand in enumerate(product.operation.operands):
        type_ = ir.ShapedType(operand.type)
        element = str(type_.element_type)
        name = "ABC"[position]
        if not type_.has_static_shape:
            raise input_error(
                product, f"operand {name} of linalg.matmul has dynamic sizes ({operand.type}); sizes must be static"
            )
        allowed = ("f16",) if position < 2 else ("f16", "f32")
        if element not in allowed:
            raise input_error(
                product,
                f"operand {name} of linalg.matmul has element type {element}; supported: {' or '.join(allowed)}",
            )
        if 0 in type_.shape:
            raise input_error(
                product, f"operand {name} of linalg.matmul is empty ({operand.type}); sizes must be at least 1"
            )
    if "indexing_maps" in product.operation.attributes:
        maps = tuple(str(m) for m in product.operation.attributes["indexing_maps"])
        if maps != _MATMUL_MAPS:
            raise input_error(
                product,
                "linalg.matmul with indexing maps of its own (a transpose or broadcast); "
                "only plain A[M,K] B[K,N] is supported",
            )
    attributes = product.operation.attributes
    if "cast" in attributes and "unsigned" in str(attributes["cast"]):
        raise input_error(
            product, "linalg.matmul with an unsigned cast; only signed or floating-point ones are supported"
        )


def _check_operands(function: Any, product: Any) -> None:
    """A and B must come from outside, unchanged, and the accumulator must hold something before the product."""
    *factors, accumulator = product.operation.operands
    arguments = list(body(function).arguments)
    written = _written_before(function, product)
    for name, operand in zip("AB", factors, strict=True):
        if operand not in arguments or operand in written:
            raise input_error(
                product, f"operand {name} of linalg.matmul is computed in the function; expected an argument as it is"
            )
    if accumulator not in arguments and accumulator not in written:
        raise input_error(
            product,
            "the accumulator of linalg.matmul (its outs) has no value yet; fill it first (linalg.fill), "
            "or take it as an argument",
        )


def _written_before(function: Any, product: Any) -> list[Any]:
    """The values that linalg operations and copies before the product make, and the memrefs that they write."""
    written: list[Any] = []
    for operation in in_block(body(function)):
        if operation.operation == product.operation:
            break
        name = operation.operation.name
        operands = list(operation.operation.operands)
        if name == "arith.constant" or name.startswith("linalg."):
            written += list(operation.operation.results)
        if name == "memref.copy":
            written.append(operands[1])
        elif name.startswith("linalg.") and "operandSegmentSizes" in operation.operation.attributes:
            inputs = ir.DenseI32ArrayAttr(operation.operation.attributes["operandSegmentSizes"])[0]
            written += operands[inputs:]
    return written


def _check_argument(function: Any, argument: Any) -> None:
    if not isinstance(argument.type, (ir.MemRefType, ir.RankedTensorType)):
        raise input_error(
            function, f"argument {argument.arg_number} has type {argument.type}; expected tensors or memrefs"
        )
    if not argument.type.has_static_shape:
        raise input_error(
            function, f"argument {argument.arg_number} has dynamic sizes ({argument.type}); sizes must be static"
        )
    if isinstance(argument.type, ir.RankedTensorType):
        return
    if argument.type.layout != ir.AffineMapAttr.get(ir.AffineMap.get_identity(argument.type.rank)):
        raise input_error(
            function,
            f"argument {argument.arg_number} has a strided layout ({argument.type}); "
            "only dense row-major memrefs are supported",
        )
    if argument.type.memory_space is not None:
        raise input_error(
            function,
            f"argument {argument.arg_number} is in memory space {argument.type.memory_space}; "
            "expected the default one (global memory)",
        )
