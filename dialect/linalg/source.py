"""What a source must not contain: attributes that are the compiler's own, names that PTX does not allow, and sizes that
no memory holds."""

from __future__ import annotations

import re
from typing import Any

from mlir_gemm.dialect.attributes import OWN, unknown
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.locations import input_error
from mlir_gemm.dialect.walk import operations
from mlir_gemm.spec.attributes import (
    ALGEBRA,
    BANDED,
    BLOCK_DIAGONAL,
    BLOCKS,
    CHECKS,
    CHIP,
    LEAST,
    MOST,
    NAME,
    OPEN_STRIDES,
    ROWS,
    SCALAR,
    SCHEDULE,
    SPARSE,
    STAND_INS,
    SYMMETRIC,
    TRIANGULAR,
)

ON_MODULE = (CHIP, STAND_INS)
ON_FUNCTION = (SCHEDULE, ROWS)
ON_GENERIC = (ALGEBRA,)
PROMISES = (SYMMETRIC, TRIANGULAR, BANDED, BLOCK_DIAGONAL, BLOCKS, SPARSE)
ON_ARGUMENT = (NAME, CHECKS, LEAST, MOST, *PROMISES)
"""Those that a source may have; name-sizes, which runs before everything else, writes tile.stand_ins."""
STRINGS = (CHIP, NAME)
CHECKED = (STAND_INS, SCALAR, OPEN_STRIDES)
"""Those that `fix-strides`, `scalar-arguments` and `name-sizes`, which come first, have refused in a source, and may
have written."""

MOST_BYTES = 1 << 48
"""The most that one tensor or memref may take: beyond what any GPU addresses, and far from where 64-bit indices end."""

_NAME = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")
_BITS = re.compile(r"(?:bf|f|i)(\d+)")


def check_attributes(module: Any) -> None:
    """Refuses attributes in which the compiler writes down what it has found out or decided itself."""
    _check(module.operation, ON_MODULE, "a module")
    for operation in operations(module):
        is_function = operation.operation.name == "func.func"
        allowed = ON_FUNCTION if is_function else ON_GENERIC if operation.operation.name == "linalg.generic" else ()
        _check(operation.operation, allowed, f"'{operation.operation.name}'")
        if is_function and "arg_attrs" in operation.operation.attributes:
            for each in ir.ArrayAttr(operation.operation.attributes["arg_attrs"]):
                for named in ir.DictAttr(each):
                    _check_one(operation, named, ON_ARGUMENT, "an argument")


def check_name(function: Any) -> None:
    """Refuses a function whose name cannot be part of a kernel's name."""
    name = ir.StringAttr(function.operation.attributes["sym_name"]).value
    if not _NAME.fullmatch(name):
        raise input_error(
            function,
            f"the function's name '{name}' cannot name a kernel in PTX; expected letters, digits, _ and $, and no "
            "digit in front",
        )


def check_extent(operation: Any, what: str, type_: Any) -> None:
    """Refuses a tensor or memref of static sizes that no GPU has the memory for."""
    unknown = ir.ShapedType.get_dynamic_stride_or_offset()
    shape = list(type_.shape)
    if not type_.has_static_shape or 0 in shape:
        return
    elements = 1
    for size in shape:
        elements *= size
    if isinstance(type_, ir.MemRefType) and not is_row_major(type_):
        try:
            strides, offset = type_.get_strides_and_offset()
        except Exception:  # a layout without strides is refused elsewhere
            return
        if unknown in (*strides, offset):
            return
        elements = 1 + offset + sum(abs(stride) * (size - 1) for stride, size in zip(strides, shape, strict=True))
    width = _BITS.match(str(type_.element_type))
    taken = elements * max(int(width[1]) // 8, 1) if width else elements
    if taken > MOST_BYTES:
        raise input_error(operation, f"{what} takes {taken} bytes ({type_}); at most 2^48 can be addressed")


def is_row_major(type_: Any) -> bool:
    """Whether a memref's layout is the one that it has when none is written: dense, the last dimension innermost.
    Asking for its strides would not tell: those before a size of 0 come out as unknown."""
    return type_.layout == ir.AffineMapAttr.get(ir.AffineMap.get_identity(type_.rank))


def _check(operation: Any, allowed: tuple[str, ...], where: str) -> None:
    attributes = operation.attributes
    for named in [attributes[position] for position in range(len(attributes))]:
        _check_one(operation, named, allowed, where)


def _check_one(operation: Any, named: Any, allowed: tuple[str, ...], where: str) -> None:
    if not named.name.startswith(OWN) or named.name in CHECKED:
        return
    if reason := unknown(named.name):
        raise input_error(operation, reason)
    if named.name not in allowed:
        raise input_error(
            operation,
            f"'{named.name}' on {where}: the compiler writes such attributes itself; a source may have "
            f"{' and '.join(ON_FUNCTION)} on its function, {', '.join(PROMISES[:-1])} or {PROMISES[-1]} on its "
            "arguments, "
            f"{ON_MODULE[0]} on its module and {ON_GENERIC[0]} on a linalg.generic",
        )
    if named.name in STRINGS and not isinstance(named.attr, ir.StringAttr):
        raise input_error(operation, f"'{named.name}' is {named.attr}; expected a string")
